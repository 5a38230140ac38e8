//! stepmark's lines in git hooks. Pure: current → wanted content.

use std::collections::BTreeSet;

/// Supported hooks with their purpose. The first [`NEEDED`] keep history and stop commits with losses; others
/// are optional.
pub const HOOKS: [(&str, &str); 7] = [
    ("pre-commit", "adds the history of what is staged to the commit, and checks it"),
    ("pre-merge-commit", "does the same for a merge"),
    ("post-commit", "keeps the history that a commit got in the work tree"),
    ("pre-push", "checks what is pushed"),
    ("post-checkout", "rebuilds gates"),
    ("post-merge", "rebuilds gates, and keeps the history that a merge got in the work tree"),
    ("post-rewrite", "rebuilds gates"),
];

/// Default number of [`HOOKS`].
pub const NEEDED: usize = 3;

/// Used by earlier versions; `uninstall` cleans it.
pub const FORMER_HOOK: &str = "commit-msg";

/// For an existing hook that is no shell script; ours calls it.
pub const KEPT_SUFFIX: &str = ".stepmark-kept";

const BEGIN: &str = "# >>> stepmark >>> `stepmark hook uninstall` takes these lines out";
const END: &str = "# <<< stepmark <<<";
const SHEBANG: &str = "#!/bin/sh";

/// Every project below the top when the hook runs.
pub const EVERY_PROJECT: &str = "*";

const ROOT: &str = "--root ";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundHook<'a> {
    pub bytes: &'a [u8],
    pub is_executable: bool,
    pub is_link: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookPlan {
    Keep,
    Write(Vec<u8>),
    /// Rename with [`KEPT_SUFFIX`], then write these bytes.
    SetAside(Vec<u8>),
    /// Restores a hook that was set aside.
    Remove,
}

/// `roots` are relative to the top of the work tree (`.`: the top). Projects in the hook are kept.
pub fn install(name: &str, roots: &[String], found: Option<FoundHook<'_>>) -> HookPlan {
    let mut all = found.as_ref().map(|found| roots_of(found.bytes)).unwrap_or_default();
    all.extend(roots.iter().cloned());
    if all.contains(EVERY_PROJECT) {
        all = BTreeSet::from([EVERY_PROJECT.to_owned()]);
    }
    let block = block(name, &all);
    let Some(found) = found else { return HookPlan::Write(format!("{SHEBANG}\n{block}").into_bytes()) };
    if let Some((before, after)) = split(found.bytes) {
        let text = [before, block.as_bytes(), after].concat();
        return if text == found.bytes { HookPlan::Keep } else { HookPlan::Write(text) };
    }
    if is_shell(found.bytes) && found.is_executable && !found.is_link {
        let line = if found.bytes.starts_with(b"#!") {
            memchr::memchr(b'\n', found.bytes).map_or(found.bytes.len(), |end| end + 1)
        } else {
            0
        };
        let (first, rest) = found.bytes.split_at(line);
        let end: &[u8] = if first.is_empty() || first.ends_with(b"\n") { b"" } else { b"\n" };
        return HookPlan::Write([first, end, block.as_bytes(), rest].concat());
    }
    // A hook that git did not run must not run now.
    let call = if found.is_executable {
        format!("exec \"$(dirname \"$0\")/{name}{KEPT_SUFFIX}\" \"$@\"\n")
    } else {
        String::new()
    };
    HookPlan::SetAside(format!("{SHEBANG}\n{block}{call}").into_bytes())
}

/// Removes lines for `roots`, or for `every` project. `has_kept`: another hook was set aside.
pub fn uninstall(
    name: &str,
    (roots, every): (&[String], &[String]),
    found: Option<FoundHook<'_>>,
    has_kept: bool,
) -> HookPlan {
    let Some(found) = found else { return HookPlan::Keep };
    let Some((before, after)) = split(found.bytes) else { return HookPlan::Keep };
    let mut others = roots_of(found.bytes);
    let takes_all = roots.iter().any(|root| root == EVERY_PROJECT);
    if others.contains(EVERY_PROJECT) && !takes_all {
        others = every.iter().cloned().collect();
    }
    let is_known = takes_all || others.iter().any(|own| roots.contains(own));
    others.retain(|own| !takes_all && !roots.contains(own));
    match (others.is_empty(), is_known) {
        (false, true) => {
            return HookPlan::Write([before, block(name, &others).as_bytes(), after].concat());
        }
        (false, false) => return HookPlan::Keep,
        (true, _) => {}
    }
    let rest = [before, after].concat();
    let is_ours_alone = rest.trim_ascii() == SHEBANG.as_bytes();
    if is_ours_alone || has_kept { HookPlan::Remove } else { HookPlan::Write(rest) }
}

fn block(name: &str, roots: &BTreeSet<String>) -> String {
    let each = |lines: fn(&str) -> String| {
        let quoted = roots.iter().map(|root| quoted(root));
        quoted.map(|root| lines(&root)).collect::<String>()
    };
    let lines = match name {
        "pre-commit" | "pre-merge-commit" => checking(each(check_lines)),
        "post-commit" => each(after_commit_lines),
        // A merge runs no post-commit.
        "post-merge" => each(after_commit_lines) + &each(gate_lines),
        "pre-push" => push_lines(&each(range_lines)),
        _ => each(gate_lines),
    };
    format!("{BEGIN}\n{lines}{END}\n")
}

fn roots_of(bytes: &[u8]) -> BTreeSet<String> {
    let (before, after) = split(bytes).unwrap_or((bytes, &[]));
    let own = String::from_utf8_lossy(&bytes[before.len()..bytes.len() - after.len()]).into_owned();
    let named = own.match_indices(ROOT).filter_map(|(at, _)| unquoted(&own[at + ROOT.len()..]));
    named.collect()
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn unquoted(text: &str) -> Option<String> {
    let rest = text.strip_prefix('\'')?;
    let mut read = String::new();
    let mut parts = rest.split('\'');
    read.push_str(parts.next()?);
    while parts.next() == Some("\\") {
        // Skips `\'` and the quote after it.
        parts.next()?;
        read.push('\'');
        read.push_str(parts.next()?);
    }
    Some(read)
}

/// Never fails, since git shows failed hooks; reads nothing of the input that git writes to hooks.
fn gate_lines(root: &str) -> String {
    where_stepmark_is(root, &format!("stepmark project --gates --quiet --root {root} </dev/null || true"))
}

/// The hook before staged segments in the index only, and `git commit FILE` leaves them out.
fn after_commit_lines(root: &str) -> String {
    where_stepmark_is(
        root,
        &format!("stepmark journal seal --after-commit --quiet --root {root} </dev/null || true"),
    )
}

fn where_stepmark_is(root: &str, line: &str) -> String {
    let folder = folder(root);
    format!("if command -v stepmark >/dev/null 2>&1 && [ -d {folder} ]; then\n    {line}\nfi\n")
}

/// Without stepmark installed, commits pass with a message.
fn checking(lines: String) -> String {
    format!(
        "if ! command -v stepmark >/dev/null 2>&1; then\n    \
         echo 'stepmark is not on the search path: artifacts are not checked' >&2\n\
         else\n    stepmark_found=\n{lines}    [ -z \"$stepmark_found\" ] || exit 1\nfi\n"
    )
}

/// Without this folder, the project at the quoted `root` does not exist.
fn folder(root: &str) -> &str {
    if unquoted(root).as_deref() == Some(EVERY_PROJECT) { "." } else { root }
}

/// Adds history of staged files to the commit; if that fails, the check reports it. Findings stop the commit
/// after all projects are checked.
fn check_lines(root: &str) -> String {
    let folder = folder(root);
    format!(
        "    if [ -d {folder} ]; then\n        \
         stepmark journal seal --before-commit --quiet --root {root} </dev/null || true\n        \
         stepmark check --staged --quiet --root {root} </dev/null || stepmark_found=1\n    fi\n"
    )
}

/// Finds the pushed range; commits unknown locally do not count.
fn range_lines(root: &str) -> String {
    let folder = folder(root);
    format!(
        "        if [ -d {folder} ]; then\n            \
         stepmark check --quiet --from \"$stepmark_from\" --to \"$stepmark_to\" --root {root} </dev/null || stepmark_found=1\n        \
         fi\n"
    )
}

/// Git writes a line per ref (githooks(5), "pre-push"); later parts of the hook read them, too.
fn push_lines(each: &str) -> String {
    let loop_lines = format!(
        "    while read -r stepmark_ref stepmark_to stepmark_remote_ref stepmark_from; do\n        \
         [ -n \"$stepmark_to\" ] || continue\n        \
         git cat-file -e \"$stepmark_from^{{commit}}\" 2>/dev/null || \
         stepmark_from=$(printf %s \"$stepmark_from\" | tr 0-9a-f 0)\n\
         {each}    done <<STEPMARK\n$stepmark_refs\nSTEPMARK\n"
    );
    format!("stepmark_refs=$(cat)\n{}exec <<STEPMARK\n$stepmark_refs\nSTEPMARK\n", checking(loop_lines))
}

pub fn is_installed(found: &FoundHook<'_>) -> bool {
    found.is_executable && split(found.bytes).is_some()
}

fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let start = memchr::memmem::find(bytes, BEGIN.as_bytes())?;
    let end = start + memchr::memmem::find(&bytes[start..], END.as_bytes())? + END.len();
    let end = end + usize::from(bytes.get(end) == Some(&b'\n'));
    Some((&bytes[..start], &bytes[end..]))
}

/// By its first line, or, without one, as git runs a text.
fn is_shell(bytes: &[u8]) -> bool {
    let Some(line) = bytes.strip_prefix(b"#!") else {
        return std::str::from_utf8(bytes).is_ok_and(|text| !text.contains('\0'));
    };
    let line =
        String::from_utf8_lossy(line.split(|byte| *byte == b'\n').next().unwrap_or_default()).into_owned();
    let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let program = match words.next() {
        Some("env") => words.find(|word| !word.starts_with('-')),
        program => program,
    };
    program.is_some_and(|program| ["sh", "bash", "dash", "ash", "ksh", "zsh"].contains(&program))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn hook(bytes: &[u8]) -> Option<FoundHook<'_>> {
        Some(FoundHook { bytes, is_executable: true, is_link: false })
    }

    fn roots(roots: &[&str]) -> Vec<String> {
        roots.iter().map(|root| (*root).to_owned()).collect()
    }

    #[test]
    fn several_projects_share_a_hook() {
        for name in HOOKS.map(|(name, _)| name).iter() {
            let HookPlan::Write(one) = install(name, &roots(&["packages/a b"]), None) else {
                panic!("{name}")
            };
            let both = install(name, &roots(&["it's $HOME"]), hook(&one));
            let HookPlan::Write(both) = both else { panic!("{name}") };
            assert_eq!(roots_of(&both), BTreeSet::from(["it's $HOME".to_owned(), "packages/a b".to_owned()]));
            assert_eq!(install(name, &roots(&["packages/a b"]), hook(&both)), HookPlan::Keep);
            assert_eq!(uninstall(name, (&roots(&["other"]), &[]), hook(&both), false), HookPlan::Keep);
            let left = uninstall(name, (&roots(&["it's $HOME"]), &[]), hook(&both), false);
            assert_eq!(left, HookPlan::Write(one.clone()), "{name}");
            assert_eq!(
                uninstall(name, (&roots(&["packages/a b"]), &[]), hook(&one), false),
                HookPlan::Remove
            );
        }
    }

    #[test]
    fn what_is_added_is_taken_out_again() {
        for script in [
            &b"#!/bin/sh\necho mine\nexit 0\n"[..],
            b"#!/usr/bin/env -S bash\necho mine",
            b"#! /bin/dash\r\nx\n",
            b"#!/bin/sh",
            b"echo no shebang\n",
        ] {
            let HookPlan::Write(with) = install("post-merge", &roots(&["."]), hook(script)) else {
                panic!("{script:?}")
            };
            let text = String::from_utf8(with.clone()).unwrap();
            assert!(
                text.contains("stepmark project --gates --quiet --root '.' </dev/null || true\n"),
                "{text}"
            );
            assert!(!script.starts_with(b"#!") || text.starts_with("#!"), "{text}");
            assert!(is_installed(&hook(&with).unwrap()) && !is_installed(&hook(script).unwrap()));
            assert_eq!(install("post-merge", &roots(&["."]), hook(&with)), HookPlan::Keep);
            assert!(
                matches!(install("post-merge", &roots(&["it's"]), hook(&with)), HookPlan::Write(more) if more != with)
            );
            match uninstall("post-merge", (&roots(&["."]), &[]), hook(&with), false) {
                HookPlan::Write(without) => {
                    let without = without.strip_suffix(b"\n").unwrap_or(&without);
                    assert_eq!(without, script.strip_suffix(b"\n").unwrap_or(script));
                }
                HookPlan::Remove => assert_eq!(script, b"#!/bin/sh", "nothing but our own first line"),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(
            uninstall("post-merge", (&roots(&["."]), &[]), hook(b"#!/bin/sh\necho mine\n"), false),
            HookPlan::Keep
        );
        assert_eq!(uninstall("post-merge", (&roots(&["."]), &[]), None, false), HookPlan::Keep);
    }

    #[test]
    fn every_hook_has_lines_of_its_own() {
        for (name, line) in [
            ("pre-commit", "stepmark check --staged --quiet --root 'a b' </dev/null || stepmark_found=1\n"),
            ("pre-commit", "stepmark journal seal --before-commit --quiet --root 'a b' </dev/null || true\n"),
            ("post-commit", "stepmark journal seal --after-commit --quiet --root 'a b' </dev/null || true\n"),
            ("post-merge", "stepmark journal seal --after-commit --quiet --root 'a b' </dev/null || true\n"),
            ("pre-merge-commit", "stepmark check --staged --quiet --root 'a b'"),
            (
                "pre-push",
                "stepmark check --quiet --from \"$stepmark_from\" --to \"$stepmark_to\" --root 'a b'",
            ),
            ("post-merge", "stepmark project --gates --quiet --root 'a b'"),
        ] {
            let HookPlan::Write(text) = install(name, &roots(&["a b"]), None) else { panic!("{name}") };
            assert!(String::from_utf8(text).unwrap().contains(line), "{name}");
        }
    }

    #[test]
    fn what_is_no_shell_script_is_set_aside_and_called() {
        let HookPlan::Write(own) = install("post-merge", &roots(&["."]), None) else { panic!() };
        assert_eq!(uninstall("post-merge", (&roots(&["."]), &[]), hook(&own), false), HookPlan::Remove);
        for (bytes, is_executable, is_link) in [
            (&b"#!/usr/bin/env python3\nprint()\n"[..], true, false),
            (b"\x7fELF\0", true, false),
            (b"#!/bin/sh\n", true, true),
            (b"#!/bin/sh\necho off\n", false, false),
        ] {
            let found = FoundHook { bytes, is_executable, is_link };
            let HookPlan::SetAside(text) = install("post-merge", &roots(&["."]), Some(found)) else {
                panic!("{bytes:?}")
            };
            let calls =
                String::from_utf8(text.clone()).unwrap().contains("/post-merge.stepmark-kept\" \"$@\"");
            assert_eq!(calls, is_executable);
            assert_eq!(uninstall("post-merge", (&roots(&["."]), &[]), hook(&text), true), HookPlan::Remove);
        }
    }
}
