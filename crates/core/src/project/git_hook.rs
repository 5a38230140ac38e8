//! Our lines in the hooks of git. Pure: a hook as it is → as it should be.

/// The hooks after which files may be others: gates are rebuilt in each.
pub const GATE_HOOKS: [&str; 3] = ["post-checkout", "post-merge", "post-rewrite"];

/// What is added to the name of a hook that is no shell script, and is called by ours.
pub const KEPT_SUFFIX: &str = ".stepmark-kept";

const BEGIN: &str = "# >>> stepmark >>> `stepmark hook uninstall` takes these lines out";
const END: &str = "# <<< stepmark <<<";
const SHEBANG: &str = "#!/bin/sh";

/// A hook that stands where git looks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundHook<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Whether git would run it.
    pub is_executable: bool,
    /// Whether it is a link to a file that others may use too.
    pub is_link: bool,
}

/// What is to be done with a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookPlan {
    /// Nothing.
    Keep,
    /// It gets these bytes.
    Write(Vec<u8>),
    /// It gets the name with [`KEPT_SUFFIX`], and these bytes stand in its place.
    SetAside(Vec<u8>),
    /// It goes; what was set aside gets its place back.
    Remove,
}

/// How to add our lines to the hook `name`, for the project at `root`, seen from the top of the work tree (`.`: the top
/// itself).
pub fn install(name: &str, root: &str, found: Option<FoundHook<'_>>) -> HookPlan {
    let block = block(root);
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
    // A hook that git did not run is not to run now.
    let call = if found.is_executable {
        format!("exec \"$(dirname \"$0\")/{name}{KEPT_SUFFIX}\" \"$@\"\n")
    } else {
        String::new()
    };
    HookPlan::SetAside(format!("{SHEBANG}\n{block}{call}").into_bytes())
}

/// How to take our lines out again. `has_kept`: another hook was set aside for ours.
pub fn uninstall(found: Option<FoundHook<'_>>, has_kept: bool) -> HookPlan {
    let Some(found) = found else { return HookPlan::Keep };
    let Some((before, after)) = split(found.bytes) else { return HookPlan::Keep };
    let rest = [before, after].concat();
    let is_ours_alone = rest.trim_ascii() == SHEBANG.as_bytes();
    if is_ours_alone || has_kept { HookPlan::Remove } else { HookPlan::Write(rest) }
}

/// Our lines. They never fail, since git tells the person of a hook that does, and read nothing of what git writes to hooks.
fn block(root: &str) -> String {
    let root = format!("'{}'", root.replace('\'', r"'\''"));
    format!(
        "{BEGIN}\nif command -v stepmark >/dev/null 2>&1 && [ -d {root} ]; then\n    \
         stepmark project --gates --quiet --root {root} </dev/null || true\nfi\n{END}\n"
    )
}

/// What stands before and after our lines.
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let start = memchr::memmem::find(bytes, BEGIN.as_bytes())?;
    let end = start + memchr::memmem::find(&bytes[start..], END.as_bytes())? + END.len();
    let end = end + usize::from(bytes.get(end) == Some(&b'\n'));
    Some((&bytes[..start], &bytes[end..]))
}

/// Whether a shell runs the file: by its first line, or, without one, by what git does with a text.
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

    #[test]
    fn what_is_added_is_taken_out_again() {
        for script in [
            &b"#!/bin/sh\necho mine\nexit 0\n"[..],
            b"#!/usr/bin/env -S bash\necho mine",
            b"#! /bin/dash\r\nx\n",
            b"#!/bin/sh",
            b"echo no shebang\n",
        ] {
            let HookPlan::Write(with) = install("post-merge", ".", hook(script)) else {
                panic!("{script:?}")
            };
            let text = String::from_utf8(with.clone()).unwrap();
            assert!(
                text.contains("stepmark project --gates --quiet --root '.' </dev/null || true\n"),
                "{text}"
            );
            assert!(!script.starts_with(b"#!") || text.starts_with("#!"), "{text}");
            assert_eq!(install("post-merge", ".", hook(&with)), HookPlan::Keep);
            assert!(
                matches!(install("post-merge", "it's", hook(&with)), HookPlan::Write(moved) if moved != with)
            );
            match uninstall(hook(&with), false) {
                HookPlan::Write(without) => {
                    let without = without.strip_suffix(b"\n").unwrap_or(&without);
                    assert_eq!(without, script.strip_suffix(b"\n").unwrap_or(script));
                }
                HookPlan::Remove => assert_eq!(script, b"#!/bin/sh", "nothing but our own first line"),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(uninstall(hook(b"#!/bin/sh\necho mine\n"), false), HookPlan::Keep);
        assert_eq!(uninstall(None, false), HookPlan::Keep);
    }

    #[test]
    fn what_is_no_shell_script_is_set_aside_and_called() {
        let HookPlan::Write(own) = install("post-merge", ".", None) else { panic!() };
        assert_eq!(uninstall(hook(&own), false), HookPlan::Remove);
        for (bytes, is_executable, is_link) in [
            (&b"#!/usr/bin/env python3\nprint()\n"[..], true, false),
            (b"\x7fELF\0", true, false),
            (b"#!/bin/sh\n", true, true),
            (b"#!/bin/sh\necho off\n", false, false),
        ] {
            let found = FoundHook { bytes, is_executable, is_link };
            let HookPlan::SetAside(text) = install("post-merge", ".", Some(found)) else {
                panic!("{bytes:?}")
            };
            let calls =
                String::from_utf8(text.clone()).unwrap().contains("/post-merge.stepmark-kept\" \"$@\"");
            assert_eq!(calls, is_executable);
            assert_eq!(uninstall(hook(&text), true), HookPlan::Remove);
        }
    }
}
