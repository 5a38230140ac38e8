//! The contract: every command, in chapters that go on from one command to the next. A chapter keeps what was
//! typed, what was printed, how it ended, and at last the bytes of every file that was written.
//!
//! A line of a chapter begins with
//! * `$ `: typed into a shell in the project, with `stepmark` and `git`; a minute after the one before
//! * `$+ `: the same, and once more with `--json`, which changes nothing
//! * two blanks: printed to stdout; `! `: to stderr; `? `: the exit code, where it is not 0
//! * `= `: a file that was written, with its text below it
//! * `#`: a word to the reader; `# project: NAME` begins with a copy of `fixtures/repos/NAME`
//!
//! `STEPMARK_WRITE_CONTRACT=1 cargo test contract` writes what is so now. A change of a chapter is a commit
//! of its own that says why.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value as Json;

use crate::harness::{Run, Sandbox, changed_lines, tool};

macro_rules! chapters {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            walk(stringify!($name));
        })*
    };
}

chapters! {
    asdd autodev bmad broken classic coordination flows git mcp memory own_lifecycle specs stories sync words
}

/// Walks through a chapter, and holds what happens against what is written there.
fn walk(name: &str) {
    let (Some(git), Some(shell)) = (tool("git", name), tool("sh", name)) else { return };
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/end_to_end/contract/{name}.txt"));
    let expected = fs::read_to_string(&place).unwrap();
    let project = expected.lines().find_map(|line| line.strip_prefix("# project: "));
    let chapter = Chapter { sandbox: project.map_or_else(Sandbox::empty, Sandbox::of), git, shell };
    let before = chapter.files();
    let mut found = String::new();
    let mut minute = 0;
    for line in expected.lines().take_while(|line| !line.starts_with("= ")) {
        let typed = line.strip_prefix("$ ").or_else(|| line.strip_prefix("$+ "));
        if let Some(typed) = typed {
            minute += 1;
            writeln!(found, "{line}").unwrap();
            found += &shown(&chapter.run(typed, minute));
            if line.starts_with("$+ ") {
                let run = chapter.run(&format!("{typed} --json"), minute);
                found += &shown(&Run { stdout: indented(&run.stdout), ..run });
            }
        } else if line.starts_with('#') {
            writeln!(found, "{line}").unwrap();
        }
    }
    for (path, text) in chapter.files() {
        if before.get(&path) != Some(&text) {
            writeln!(found, "= {path}").unwrap();
            text.lines().for_each(|line| writeln!(found, "  {line}").unwrap());
        }
    }
    if std::env::var_os("STEPMARK_WRITE_CONTRACT").is_some() {
        fs::write(&place, found).unwrap();
    } else {
        assert!(found == expected, "{name} is another:\n{}", changed(&expected, &found));
    }
}

struct Chapter {
    sandbox: Sandbox,
    git: PathBuf,
    shell: PathBuf,
}

impl Chapter {
    /// Runs a line of shell in the project, at a minute of the chapter's own day.
    fn run(&self, typed: &str, minute: usize) -> Run {
        let time = format!("2026-01-31T{:02}:{:02}:00Z", 8 + minute / 60, minute % 60);
        let program = Path::new(env!("CARGO_BIN_EXE_stepmark")).parent().unwrap().display();
        let mut command = Command::new(&self.shell);
        self.sandbox.isolate(command.args(["-c", typed]));
        command
            .env("PATH", format!("{program}:{}:/usr/bin:/bin", self.git.parent().unwrap().display()))
            .env("STEPMARK_TEST_TIME", &time)
            .env("STEPMARK_TEST_ID", format!("00000000-0000-4000-8000-{minute:012}"))
            .env("STEPMARK_ACTOR", "human:Ada")
            .env("COLUMNS", "100");
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "Ada").env(format!("GIT_{role}_EMAIL"), "ada@localhost");
            command.env(format!("GIT_{role}_DATE"), &time);
        }
        self.sandbox.run(&mut command)
    }

    /// The files of the project, with stepmark's in git's folder, in order of their paths: the text of each,
    /// nothing of one that is none. What can be thrown away, and locks, are nobody's contract.
    fn files(&self) -> BTreeMap<String, String> {
        const LEFT_OUT: [&str; 5] = ["/cache/", "/redo/", "/locks/", ".lock", "/clone-key"];
        let mut files = BTreeMap::new();
        let mut folders = vec![self.sandbox.root().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let place = entry.unwrap().path();
                let path = place.strip_prefix(self.sandbox.root()).unwrap().to_str().unwrap().to_owned();
                if path.starts_with(".git/") && !path.starts_with(".git/stepmark") {
                    continue;
                }
                if place.is_dir() {
                    folders.push(place);
                } else if place.is_file() && LEFT_OUT.iter().all(|part| !path.contains(part)) {
                    let text = String::from_utf8(fs::read(&place).unwrap_or_default()).unwrap_or_default();
                    let is_json = path.ends_with(".gate") || path.contains("/leases/");
                    files.insert(path, if is_json { indented(&text) } else { text });
                }
            }
        }
        files
    }
}

/// The lines of a run: stdout, stderr, and the exit code.
fn shown(run: &Run) -> String {
    let mut shown = String::new();
    for (sign, text) in [("  ", &run.stdout), ("! ", &run.stderr)] {
        text.lines().for_each(|line| writeln!(shown, "{}", format!("{sign}{line}").trim_end()).unwrap());
    }
    if run.code != 0 {
        writeln!(shown, "? {}", run.code).unwrap();
    }
    shown
}

/// JSON with a line for each value; other text as it is.
fn indented(text: &str) -> String {
    let mut value: Json = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(_) => return text.to_owned(),
    };
    hide_stat(&mut value);
    serde_json::to_string_pretty(&value).unwrap()
}

/// Hides what the file system of this machine says of a file.
fn hide_stat(value: &mut Json) {
    match value {
        Json::Object(entries) => {
            for (key, value) in entries {
                match key.as_str() {
                    "modified" | "changed" | "inode" if !value.is_array() => *value = "[STAT]".into(),
                    _ => hide_stat(value),
                }
            }
        }
        Json::Array(items) => items.iter_mut().for_each(hide_stat),
        _ => {}
    }
}

/// The lines that differ: the first hundred.
fn changed(expected: &str, found: &str) -> String {
    let lines = changed_lines(expected.as_bytes(), found.as_bytes());
    lines.lines().take(100).collect::<Vec<_>>().join("\n")
}
