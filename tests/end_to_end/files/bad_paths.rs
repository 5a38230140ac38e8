//! Files and folders that cannot be used: the answer says what was intended, what is wrong where, and what to
//! do; nothing is changed.

use std::fs;

use insta::assert_snapshot;

use crate::harness::{
    Run, Sandbox,
    demo::{ARCHITECTURE, PRD},
};

/// Every command that names an artifact, with what else it needs.
const ON_ARTIFACTS: [(&str, &[&str]); 8] = [
    ("show", &[]),
    ("next", &[]),
    ("check", &[]),
    ("complete", &["1"]),
    ("reopen", &["1"]),
    ("set", &["a=b"]),
    ("scope", &["small"]),
    ("track", &[]),
];

/// Runs every command on `path`, each as text and as JSON: all end with `code`, change nothing, and say the
/// same in both forms. Returns the text of `complete`.
fn refused_by_all(sandbox: &Sandbox, path: &str, code: i32) -> Run {
    let mut answer = None;
    for (command, others) in ON_ARTIFACTS {
        let arguments = [&[command, path], others].concat();
        let run = sandbox.reads_only(&arguments);
        assert_eq!((run.code, run.stdout.as_str()), (code, ""), "{command}: {run}");
        let json = sandbox.reads_only(&[&arguments[..], &["--json"]].concat());
        assert_eq!((json.code, json.stdout.as_str()), (code, ""), "{command}: {json}");
        let error = json.json_error();
        assert_eq!(error["exit"], code);
        let message = error["error"].as_str().unwrap();
        assert!(run.stderr.starts_with(&format!("error: {message}\n")), "{message}: {run}");
        if command == "complete" {
            answer = Some(run);
        }
    }
    answer.unwrap()
}

#[test]
fn a_file_that_is_not_there() {
    assert_snapshot!(refused_by_all(&Sandbox::demo(), "docs/absent.md", 2), @r"
    exit 2
    ── stderr
    error: there is no file `docs/absent.md` in the project
      help: `stepmark status` lists the artifacts
    ");
}

#[test]
fn a_path_outside_the_project() {
    let demo = Sandbox::demo();
    fs::write(demo.outside().join("prd.md"), "---\nstepsCompleted: []\n---\n").unwrap();
    assert_snapshot!(refused_by_all(&demo, "../outside/prd.md", 2), @r"
    exit 2
    ── stderr
    error: `[ROOT]/../outside/prd.md` is not inside the project `[ROOT]`; choose another project with --root
    ");
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_outside() {
    let demo = Sandbox::demo();
    fs::write(demo.outside().join("prd.md"), "---\nstepsCompleted: []\n---\n").unwrap();
    std::os::unix::fs::symlink("../outside/prd.md", demo.place("link.md")).unwrap();
    assert_snapshot!(refused_by_all(&demo, "link.md", 2), @r"
    exit 2
    ── stderr
    error: `link.md` leads out of the project: it resolves to `[FOLDER]/outside/prd.md`, which is not inside `[ROOT]`; replace the link by a file, or run stepmark with the --root that holds both
    ");
    std::os::unix::fs::symlink("../outside", demo.place("folder")).unwrap();
    refused_by_all(&demo, "folder/prd.md", 2);
    let status = demo.reads_only(&["status"]);
    assert_eq!(status.code, 0, "{status}");
    assert_snapshot!(status.stderr, @"warning: link.md: the link leads to no file: it leads out of the project");
    assert!(!status.stdout.contains("link.md"), "{status}");
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere() {
    let demo = Sandbox::demo();
    std::os::unix::fs::symlink("two.md", demo.place("one.md")).unwrap();
    std::os::unix::fs::symlink("one.md", demo.place("two.md")).unwrap();
    assert_snapshot!(refused_by_all(&demo, "one.md", 4), @r"
    exit 4
    ── stderr
    error: cannot follow `one.md` to its file
      cause: Too many levels of symbolic links (os error 40)
    ");
    std::os::unix::fs::symlink("nowhere.md", demo.place("broken.md")).unwrap();
    refused_by_all(&demo, "broken.md", 2);
    let status = demo.reads_only(&["status"]);
    assert_eq!((status.code, status.stderr.lines().count()), (0, 3), "{status}");
}

#[test]
fn a_folder_as_artifact() {
    let demo = Sandbox::demo();
    for (command, others) in ON_ARTIFACTS.iter().filter(|(command, _)| *command != "check") {
        let run = demo.reads_only(&[&[command, "_bmad-output"], *others].concat());
        assert_eq!(run.code, 4, "{command}: {run}");
        assert!(run.stderr.contains("`_bmad-output`"), "{run}");
    }
    assert_snapshot!(demo.reads_only(&["complete", "_bmad-output", "1"]), @r"
    exit 4
    ── stderr
    error: `_bmad-output` is not a regular file
    ");
    assert_snapshot!(demo.reads_only(&["show", "_bmad-output"]), @r"
    exit 4
    ── stderr
    error: cannot read `_bmad-output`
      cause: it is a folder
      help: name a file in it
    ");
    let root = demo.reads_only(&["show", "."]);
    assert_eq!(root.code, 2, "{root}");
}

#[cfg(unix)]
#[test]
fn a_pipe_as_artifact_is_not_waited_for() {
    let demo = Sandbox::demo();
    let made = std::process::Command::new("mkfifo").arg(demo.place("pipe.md")).status().unwrap();
    assert!(made.success());
    assert_snapshot!(refused_by_all(&demo, "pipe.md", 4), @r"
    exit 4
    ── stderr
    error: `pipe.md` is not a regular file
    ");
    assert_eq!(demo.reads_only(&["status"]).code, 0);
}

#[test]
fn a_file_that_is_too_large() {
    let demo = Sandbox::demo();
    let large = fs::File::create(demo.place("large.md")).unwrap();
    large.set_len(64 * 1024 * 1024 + 1).unwrap();
    assert_snapshot!(refused_by_all(&demo, "large.md", 4), @r"
    exit 4
    ── stderr
    error: `large.md` has 67108865 bytes, more than the 67108864 that stepmark reads
    ");
}

// Other systems take no such name.
#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_not_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let demo = Sandbox::demo();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.md");
    fs::write(demo.root().join(name), "---\nstepsCompleted: []\n---\n").unwrap();
    assert_snapshot!(demo.changes_nothing(demo.command(&["show"]).arg(name)), @r"
    exit 2
    ── stderr
    error: cannot use this path
      cause: `caf�.md` is not a UTF-8 path
      help: rename the file: such a name differs from system to system
    ");
    assert_snapshot!(demo.reads_only(&["check", "."]).stderr, @"warning: caf�.md: the name is not UTF-8, so no manifest can list it");
    assert_eq!(demo.reads_only(&["check", "_bmad-output/brainstorming"]).code, 0, "it lies elsewhere");
    fs::rename(demo.root().join(name), demo.root().join(std::ffi::OsStr::from_bytes(b"caf\xe9.png")))
        .unwrap();
    assert_eq!(demo.reads_only(&["status"]).code, 0, "a picture is no artifact, whatever its name");
}

#[test]
fn a_configuration_that_cannot_be_used() {
    let demo = Sandbox::demo();
    demo.write(".stepmark/config.yaml", "project_id: a\nartifacts:\n  include: docs\n");
    assert_snapshot!(refused_by_all(&demo, PRD, 4), @r#"
    exit 4
    ── stderr
    error: `[ROOT]/.stepmark/config.yaml`:3:12 cannot be used: artifacts.include: invalid type: string "docs", expected a sequence
      help: fix that line; nothing was changed
    "#);
    let status = demo.reads_only(&["status"]);
    assert_eq!(status, demo.reads_only(&["init"]), "{status}");
    demo.write(".stepmark/config.yaml", "artifacts: [\n");
    assert_snapshot!(demo.reads_only(&["status"]), @r"
    exit 4
    ── stderr
    error: `[ROOT]/.stepmark/config.yaml`:1:12 cannot be used: artifacts: invalid type: sequence, expected a mapping with `include` and `exclude`
      help: fix that line; nothing was changed
    ");
    fs::remove_file(demo.place(".stepmark/config.yaml")).unwrap();
    fs::create_dir(demo.place(".stepmark/config.yaml")).unwrap();
    assert_snapshot!(demo.reads_only(&["status"]), @r"
    exit 4
    ── stderr
    error: cannot read the configuration `[ROOT]/.stepmark/config.yaml`
      cause: it is not a regular file
      help: correct or remove it: without a configuration the defaults count
    ");
}

#[test]
fn a_root_that_is_none() {
    let demo = Sandbox::demo();
    assert_snapshot!(demo.reads_only(&["status", "--root", "absent"]), @r"
    exit 2
    ── stderr
    error: cannot open the project folder `[ROOT]/absent`: name an existing folder with --root
      cause: No such file or directory (os error 2)
    ");
    assert_snapshot!(demo.reads_only(&["init", "--root", PRD]), @r"
    exit 2
    ── stderr
    error: `[ROOT]/_bmad-output/planning-artifacts/prd.md` is not a folder: the root of a project is one
    ");
}

#[test]
fn a_place_where_init_can_write_nothing() {
    let empty = Sandbox::empty();
    empty.write(".stepmark", "a file\n");
    assert_snapshot!(empty.reads_only(&["init"]), @r"
    exit 4
    ── stderr
    error: cannot read the configuration `[ROOT]/.stepmark/config.yaml`
      cause: Not a directory (os error 20)
      help: correct or remove it: without a configuration the defaults count
    ");
}

#[test]
fn a_read_only_file() {
    let demo = Sandbox::demo();
    let place = demo.place(ARCHITECTURE);
    let mut permissions = fs::metadata(&place).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&place, permissions).unwrap();
    let before = demo.read(ARCHITECTURE);
    let run = demo.stepmark(&["complete", ARCHITECTURE, "6"]);
    assert_snapshot!(run, @r"
    exit 4
    ── stderr
    error: cannot change `_bmad-output/planning-artifacts/architecture.md`: it is marked read-only; allow writing first, for instance with `chmod u+w`
    ");
    assert_eq!(demo.read(ARCHITECTURE), before);
    assert_eq!(demo.tree().files_named(".stepmark-"), [""; 0].map(std::path::PathBuf::from));
}

#[test]
fn a_workflow_whose_files_cannot_be_read() {
    let demo = Sandbox::demo();
    let step = "_bmad/bmm/workflows/2-plan-workflows/create-prd/steps-c/step-05-domain.md";
    demo.write(step, b"---\nname: \xff\nnextStepFile: [\n---\n");
    let broken = demo.reads_only(&["next", PRD]);
    assert_eq!(broken.code, 0, "a step file that says nothing has its place by its number: {broken}");
}
