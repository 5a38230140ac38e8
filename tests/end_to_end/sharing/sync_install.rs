//! `stepmark sync install`.

use std::{fs, process::Command};

use crate::harness::{Run, Sandbox, tool};

fn project() -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.write(
        ".stepmark/config.yaml",
        "project_id: demo\ntrackers:\n  file:\n    path: out/tickets.jsonl\n",
    );
    sandbox
}

fn install(sandbox: &Sandbox, arguments: &[&str]) -> Run {
    let arguments = [&["sync", "install", "--manager", "systemd"], arguments].concat();
    sandbox.run(sandbox.command(&arguments).env("GH_TOKEN", "ghp_SECRET"))
}

#[test]
fn a_unit_is_printed_written_and_taken_away() {
    let sandbox = project();
    let before = sandbox.tree();
    let printed = install(&sandbox, &["--print"]);
    assert_eq!((printed.code, printed.stderr.as_str()), (0, ""));
    assert!(!printed.stdout.contains("SECRET"), "{printed}");
    assert!(printed.stdout.contains("\"--root\" \"[ROOT]\" \"sync\" \"run\"\n"), "{printed}");
    let written = install(&sandbox, &[]);
    let (outcome, path) = written.stdout.lines().next().unwrap().split_once(' ').unwrap();
    assert_eq!(outcome, "written", "{written}");
    assert!(written.stdout.contains("systemctl --user enable --now stepmark-sync-project-"), "{written}");
    let unit = path.trim().replace("[FOLDER]", &sandbox.root().parent().unwrap().display().to_string());
    let text = fs::read_to_string(&unit).unwrap();
    assert_eq!(
        text.replace(&sandbox.root().display().to_string(), "[ROOT]"),
        hidden(&sandbox, &printed.stdout)
    );
    assert!(install(&sandbox, &[]).stdout.starts_with("unchanged "));
    assert!(install(&sandbox, &["--uninstall"]).stdout.starts_with("removed "));
    assert!(!fs::exists(&unit).unwrap());
    assert!(install(&sandbox, &["--uninstall"]).stdout.starts_with("not there "));
    assert!(before == sandbox.tree(), "nothing in the project has changed");
}

/// The text with the home as it is written in files.
fn hidden(sandbox: &Sandbox, text: &str) -> String {
    text.replace("[FOLDER]", &sandbox.root().parent().unwrap().display().to_string())
}

#[test]
fn systemd_finds_nothing_wrong_with_the_unit() {
    let Some(analyze) = tool("systemd-analyze", "the unit of `sync install`") else { return };
    let sandbox = project();
    assert_eq!(install(&sandbox, &[]).code, 0);
    let folder = sandbox.root().with_file_name("home").join(".config/systemd/user");
    let unit = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let runtime = sandbox.outside();
    let mut command = Command::new(analyze);
    command.args(["--user", "--man=no", "verify"]).arg(&unit).env("XDG_RUNTIME_DIR", runtime);
    let verified = Run::of(&mut command);
    assert_eq!((verified.code, verified.stderr.contains(".service")), (0, false), "{verified}");
}

#[test]
fn an_agent_of_launchd_is_printed() {
    let sandbox = project();
    let printed =
        sandbox.reads_only(&["sync", "install", "--manager", "launchd", "--print", "--tracker", "file"]);
    assert_eq!(printed.code, 0, "{printed}");
    for line in ["<string>[ROOT]</string>", "<string>--tracker</string>", "<key>KeepAlive</key>"] {
        assert!(printed.stdout.contains(line), "{line} in {printed}");
    }
}

#[test]
fn what_could_not_run_is_not_installed() {
    let sandbox = Sandbox::empty();
    sandbox.write(".stepmark/config.yaml", "project_id: demo\n");
    let run = sandbox.reads_only(&["sync", "install"]);
    assert!(run.code == 2 && run.stderr.contains("names no tracker"), "{run}");
}
