//! Transcripts, run by trycmd.
#![cfg(unix)]

use std::{
    env, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{book::folder, fences::fences};

/// The time that the program reads in transcripts.
const TIME: &str = "2026-11-22T10:15:00Z";

/// What stands for ids that the program makes at random.
const TEST_ID: &str = "00000000-0000-4000-8000-000000000001";

/// The line of a configuration block that says where it stands.
const CONFIGURATION_MARK: &str = "# .stepmark/config.yaml\n";

#[test]
fn transcripts_are_what_the_program_prints() {
    let scratch = tempfile::tempdir().unwrap();
    let pages = pages();
    for page in &pages {
        prepare(page, scratch.path());
    }
    let (home, programs) = (scratch.path().join("home"), scratch.path().join("programs"));
    for folder in [&home, &programs] {
        fs::create_dir(folder).unwrap();
    }
    let cases = trycmd::TestCases::new();
    let stepmark = ("stepmark", PathBuf::from(env!("CARGO_BIN_EXE_stepmark")));
    for (name, program) in [stepmark, ("git", installed("git")), ("sed", installed("sed"))] {
        let script = programs.join(name);
        fs::write(&script, isolated(&program, &home, &programs)).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        cases.register_bin(name, script.as_path());
    }
    cases.case(scratch.path().join("*.md"));
    cases.run();
    drop(cases);
    if env::var_os("TRYCMD").is_some_and(|word| word == "overwrite") {
        for page in &pages {
            fs::copy(scratch.path().join(page.file_name().unwrap()), page).unwrap();
        }
    }
}

/// The pages of the book that have a transcript.
fn pages() -> Vec<PathBuf> {
    let listing = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> =
        listing.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect();
    pages.retain(|path| {
        fences(&fs::read_to_string(path).unwrap()).iter().any(|fence| fence.kind == "console")
    });
    pages.sort();
    pages
}

/// Puts a page into `scratch`, with its project beside it, where trycmd looks for it.
fn prepare(page: &Path, scratch: &Path) {
    let text = fs::read_to_string(page).unwrap();
    let copy = scratch.join(page.file_name().unwrap());
    fs::write(&copy, &text).unwrap();
    let project = copy.with_extension("in");
    fs::create_dir(&project).unwrap();
    // That the folder is there tells trycmd to work in a copy of the project.
    fs::create_dir(copy.with_extension("out")).unwrap();
    if let Some(name) = text.strip_prefix("<!-- project: ").and_then(|rest| rest.split(" -->").next()) {
        copy_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/repos").join(name), &project);
    }
    let blocks = fences(&text);
    let configuration: String = blocks
        .iter()
        .filter(|fence| fence.kind == "yaml")
        .filter_map(|fence| fence.text.strip_prefix(CONFIGURATION_MARK))
        .collect();
    if !configuration.is_empty() {
        fs::create_dir_all(project.join(".stepmark")).unwrap();
        fs::write(project.join(".stepmark/config.yaml"), configuration).unwrap();
    }
}

/// A script that starts `program` with nothing of this machine but its own folder of programs.
fn isolated(program: &Path, home: &Path, programs: &Path) -> String {
    let (program, home, programs) = (program.display(), home.display(), programs.display());
    format!(
        "#!/bin/sh\nexec env -i HOME='{home}' PATH='{programs}:/usr/bin:/bin' STEPMARK_TEST_TIME={TIME} STEPMARK_TEST_ID={TEST_ID} STEPMARK_ACTOR=human:ada \
         GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.org GIT_COMMITTER_NAME=Ada \
         GIT_COMMITTER_EMAIL=ada@example.org '{program}' \"$@\"\n"
    )
}

/// Where a program of this machine stands.
fn installed(name: &str) -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).map(|folder| folder.join(name)).find(|place| place.is_file());
    found.unwrap_or_else(|| panic!("transcripts need `{name}`"))
}

#[test]
fn trackers_of_the_book_can_be_configured() {
    let mut tried = 0;
    for entry in fs::read_dir(folder()).unwrap() {
        let place = entry.unwrap().path();
        let Ok(text) = fs::read_to_string(&place) else { continue };
        let blocks = fences(&text).into_iter();
        for block in blocks.filter(|block| block.kind == "yaml" && block.text.contains("trackers:\n")) {
            let project = tempfile::tempdir().unwrap();
            fs::create_dir(project.path().join(".stepmark")).unwrap();
            let configuration = format!("project_id: p\n{}", block.text.replace("project_id:", "#"));
            fs::write(project.path().join(".stepmark/config.yaml"), configuration).unwrap();
            let mut command = Command::new(env!("CARGO_BIN_EXE_stepmark"));
            let command = command.args(["sync", "plan"]).current_dir(project.path()).env_clear();
            let output = command.env("HOME", project.path()).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let place = format!("{}:{}: {said}", place.display(), block.line);
            assert!(output.status.success() && !said.contains("has no effect"), "{place}");
            tried += 1;
        }
    }
    assert!(tried >= 3, "{tried}");
}

pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display())) {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
