//! What the system does not permit. The superuser is permitted everything, so the program runs without its
//! powers.
#![cfg(unix)]

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::Command,
};

use insta::assert_snapshot;

use crate::harness::{
    Run, Sandbox,
    demo::{ARCHITECTURE, PRD},
    skip, tool,
};

/// Takes the superuser's power to pass over permissions, where the tests run as the superuser.
struct Powerless {
    wrapper: Vec<String>,
}

impl Powerless {
    fn find() -> Option<Self> {
        let plain = Self { wrapper: Vec::new() };
        if plain.is_powerless() {
            return Some(plain);
        }
        let test = "tests of permissions";
        let setpriv = tool("setpriv", test)?.display().to_string();
        let wrapper = [&setpriv, "--bounding-set=-all", "--inh-caps=-all"].map(str::to_owned).to_vec();
        let wrapped = Self { wrapper };
        if !wrapped.is_powerless() {
            skip(test, "this user passes over permissions, and cannot be kept from it");
            return None;
        }
        Some(wrapped)
    }

    fn is_powerless(&self) -> bool {
        let sandbox = Sandbox::empty();
        sandbox.write("file", "");
        allow(&sandbox.place("file"), 0o000);
        let mut command = self.command(&sandbox, "/bin/cat", &["file"]);
        Run::of(&mut command).code != 0
    }

    fn command(&self, sandbox: &Sandbox, program: &str, arguments: &[&str]) -> Command {
        let mut words: Vec<&str> = self.wrapper.iter().map(String::as_str).collect();
        words.push(program);
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).args(arguments);
        sandbox.isolate(&mut command);
        command
    }

    /// Runs `stepmark ARGUMENTS…` and makes sure that nothing has changed, as far as this test may look.
    fn reads_only(&self, sandbox: &Sandbox, arguments: &[&str]) -> Run {
        sandbox.changes_nothing(&mut self.command(sandbox, env!("CARGO_BIN_EXE_stepmark"), arguments))
    }
}

fn allow(place: &Path, mode: u32) {
    fs::set_permissions(place, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_file_that_may_not_be_read() {
    let Some(powerless) = Powerless::find() else { return };
    let demo = Sandbox::demo();
    allow(&demo.place(PRD), 0o000);
    assert_snapshot!(powerless.reads_only(&demo, &["show", PRD]), @r"
    exit 4
    ── stderr
    error: cannot read `_bmad-output/planning-artifacts/prd.md`
      cause: Permission denied (os error 13)
    ");
    assert_snapshot!(powerless.reads_only(&demo, &["complete", PRD, "4"]), @r"
    exit 4
    ── stderr
    error: cannot read `_bmad-output/planning-artifacts/prd.md`
      cause: Permission denied (os error 13)
    ");
    let status = powerless.reads_only(&demo, &["status"]);
    assert_eq!((status.code, status.stdout.lines().count()), (4, 2 + 6), "the others are shown: {status}");
    assert_snapshot!(status.stderr, @"warning: cannot read `_bmad-output/planning-artifacts/prd.md`: Permission denied (os error 13)");
}

#[test]
fn a_folder_that_may_not_be_read() {
    let Some(powerless) = Powerless::find() else { return };
    let demo = Sandbox::demo();
    let folder = demo.place("_bmad-output/planning-artifacts");
    allow(&folder, 0o000);
    let status = powerless.reads_only(&demo, &["status"]);
    let missing = powerless.reads_only(&demo, &["show", PRD]);
    allow(&folder, 0o755);
    assert_eq!((status.code, status.stdout.lines().count()), (4, 2 + 2), "the others are shown: {status}");
    assert_snapshot!(status.stderr, @"warning: _bmad-output/planning-artifacts: the folder cannot be read: Permission denied (os error 13)");
    assert_snapshot!(missing, @r"
    exit 4
    ── stderr
    error: cannot follow `_bmad-output/planning-artifacts/prd.md` to its file
      cause: Permission denied (os error 13)
    ");
}

#[test]
fn a_step_file_that_may_not_be_read() {
    let Some(powerless) = Powerless::find() else { return };
    let demo = Sandbox::demo();
    allow(
        &demo.place("_bmad/bmm/workflows/3-solutioning/create-architecture/steps/step-03-starter.md"),
        0o000,
    );
    assert_snapshot!(powerless.reads_only(&demo, &["next", ARCHITECTURE]), @r"
    exit 4
    ── stderr
    error: cannot read `_bmad/bmm/workflows/3-solutioning/create-architecture/steps/step-03-starter.md` of a workflow
      cause: Permission denied (os error 13)
    ");
    assert_snapshot!(powerless.reads_only(&demo, &["complete", ARCHITECTURE, "6"]), @r"
    exit 4
    ── stderr
    error: cannot read `_bmad/bmm/workflows/3-solutioning/create-architecture/steps/step-03-starter.md` of a workflow
      cause: Permission denied (os error 13)
    ");
    assert_eq!(powerless.reads_only(&demo, &["next", PRD]).code, 0, "other workflows go on");
}

#[test]
fn a_folder_that_may_not_be_written() {
    let Some(powerless) = Powerless::find() else { return };
    let demo = Sandbox::demo();
    let folder = demo.place("_bmad-output/planning-artifacts");
    let before = demo.read(PRD);
    allow(&folder, 0o555);
    let run =
        demo.run(&mut powerless.command(&demo, env!("CARGO_BIN_EXE_stepmark"), &["complete", PRD, "4"]));
    allow(&folder, 0o755);
    assert_snapshot!(run, @r"
    exit 4
    ── stderr
    error: cannot write the new content of `_bmad-output/planning-artifacts/prd.md` to a temporary file beside it; that file is as it was
      cause: Permission denied (os error 13)
    ");
    assert_eq!(demo.read(PRD), before);
    assert_eq!(demo.tree().files_named(".stepmark-").len(), 0);
    assert_eq!(demo.stepmark(&["complete", PRD, "4"]).code, 0, "the next run works");
}

#[test]
fn a_project_that_may_not_be_written() {
    let Some(powerless) = Powerless::find() else { return };
    let demo = Sandbox::demo();
    let expected = ["status", "check"].map(|command| demo.stepmark(&[command]));
    allow(demo.root(), 0o555);
    let found = ["status", "check"].map(|command| powerless.reads_only(&demo, &[command]));
    let done = powerless.reads_only(&demo, &["complete", PRD, "step-01-init"]);
    let complete = powerless.reads_only(&demo, &["complete", PRD, "4"]);
    let init = powerless.reads_only(&demo, &["init"]);
    allow(demo.root(), 0o755);
    assert_eq!(found, expected, "reading needs no right to write");
    assert_eq!(done.code, 0, "and neither does what is done already: {done}");
    assert_snapshot!(complete, @r"
    exit 4
    ── stderr
    error: cannot lock `_bmad-output/planning-artifacts/prd.md`: its lock file `[ROOT]/.stepmark/local/locks/68115fa20d8415209363d627b392ef08.lock` cannot be opened for writing
      cause: cannot make the folder `[ROOT]/.stepmark/local/locks` for the state of this clone: allow writing there, and run the command again
      cause: Permission denied (os error 13)
    ");
    assert_snapshot!(init, @r"
    exit 4
    ── stderr
    error: cannot make the folder `[ROOT]/.stepmark` for `.stepmark/.gitignore`; no file was written
      cause: Permission denied (os error 13)
    ");
}

#[test]
fn memory_is_recalled_and_a_report_written_without_a_cache() {
    let Some(powerless) = Powerless::find() else { return };
    let demo = Sandbox::demo();
    assert_eq!(demo.stepmark(&["memory", "remember", "The lamp is red"]).code, 0);
    let local = demo.place(".stepmark/local");
    let _gone = fs::remove_dir_all(local.join("cache"));
    allow(&local, 0o555);
    let page = demo.outside().join("page.html").display().to_string();
    let run = |arguments: &[&str]| powerless.reads_only(&demo, arguments);
    let recalled = run(&["memory", "recall", "lamp"]);
    let asked = run(&["query", "select content from memories"]);
    let report = demo.run(&mut powerless.command(&demo, env!("CARGO_BIN_EXE_stepmark"), &["report", &page]));
    allow(&local, 0o755);
    for run in [recalled, asked] {
        assert!(run.code == 0 && run.stdout.contains("The lamp is red"), "{run}");
    }
    assert_eq!(report.code, 0, "{report}");
    assert!(fs::read_to_string(page).unwrap().contains("The lamp is red"));
}

/// As in a container whose user is not that of the checkout: git's own rule decides.
#[test]
fn a_checkout_of_another_user_is_used_where_git_is_told_to_trust_it() {
    let Some(repository) = crate::harness::Repository::of_demo("a checkout of another user") else { return };
    let sandbox = &repository.sandbox;
    let git = sandbox.place(".git");
    for place in [sandbox.place(".stepmark"), git.clone()] {
        std::fs::create_dir_all(&place).unwrap();
        if std::os::unix::fs::chown(&place, Some(65534), None).is_err() {
            return skip("a checkout of another user", "only the superuser gives files away");
        }
    }
    std::fs::remove_dir(sandbox.place(".stepmark")).unwrap();
    std::os::unix::fs::chown(sandbox.root(), Some(65534), None).unwrap();
    let refused = repository.stepmark(&["set", PRD, "owner=Ada"]);
    assert!(refused.code == 4 && refused.stderr.contains("safe.directory"), "{refused}");
    assert!(!sandbox.place(".stepmark").exists(), "history is begun in no second place");
    sandbox.write("sub/a.md", "---\nstatus: draft\n---\n");
    std::os::unix::fs::chown(sandbox.place("sub"), Some(65534), None).unwrap();
    let below = repository.stepmark(&["--root", "sub", "set", "sub/a.md", "owner=Ada"]);
    assert!(below.code == 4 && below.stderr.contains("safe.directory"), "{below}");
    std::fs::remove_dir_all(sandbox.place("sub")).unwrap();
    std::fs::create_dir(sandbox.place(".stepmark")).unwrap();
    std::os::unix::fs::chown(sandbox.place(".stepmark"), Some(65534), None).unwrap();
    let refused = repository.stepmark(&["set", PRD, "owner=Ada"]);
    assert!(
        refused.code == 4 && refused.stderr.contains("`git config --global --add safe.directory"),
        "{refused}"
    );
    assert!(!refused.stderr.contains("cut off earlier"), "nothing was: {refused}");
    let mut command = repository.command(&["set", PRD, "owner=Ada"]);
    let top = sandbox.place("").canonicalize().unwrap();
    command.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", "safe.directory");
    let run = sandbox.run(command.env("GIT_CONFIG_VALUE_0", top));
    assert_eq!(run.code, 0, "{run}");
    assert!(git.join("stepmark/journal").is_dir());
}
