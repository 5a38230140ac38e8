//! Characters that steer a terminal or hide: visible wherever people read, exact in JSON.
#![cfg(unix)]

use crate::harness::Sandbox;

/// What turns text round, hides, or steers.
const HIDDEN: [char; 8] =
    ['\u{202E}', '\u{2066}', '\u{200B}', '\u{200F}', '\u{61C}', '\u{1b}', '\u{9b}', '\u{FEFF}'];

const PATH: &str = "docs/a\u{202E}dm\u{200B}.md";

fn project() -> Sandbox {
    let project = Sandbox::empty();
    project.write(".stepmark/config.yaml", "trackers:\n  log: {kind: file, path: t.jsonl}\n");
    project.write(
        PATH,
        "---\nid: PRD\u{2066}1\ntitle: \"Don\u{202E}e \\e[31m \u{200F}\u{FEFF}\"\nstepsCompleted: [step\u{200B}-01, 1, \"\\x9b2J\"]\nstatus: do\u{61C}ne\n---\n# Don\u{202E}e\n",
    );
    project
}

#[test]
fn nothing_hidden_reaches_a_terminal() {
    let project = project();
    let absent = "docs/no\u{202E}ne.md";
    for arguments in [
        &["status"][..],
        &["show", PATH],
        &["next", PATH],
        &["resume", PATH],
        &["check"],
        &["check", "--format", "short"],
        &["list"],
        &["complete", PATH, "step\u{202E}-02"],
        &["set", PATH, "note=a\u{200B}b"],
        &["transition", PATH, "nowh\u{202E}ere"],
        &["log"],
        &["log", PATH],
        &["show", absent],
        &["complete", absent, "1"],
        &["query", "SELECT path, title, status FROM artifacts"],
        &["query", "SELECT \u{202E}x"],
        &["list", "--where", "status=\u{202E}("],
        &["manifest", "write"],
        &["manifest", "verify"],
        &["tree"],
        &["replay", "--verify"],
        &["doctor"],
        &["sync", "plan"],
        &["checkpoint", PATH, "-m", "a\u{202E}b"],
        &["lease", "take", PATH],
        &["lease", "show", PATH],
        &["session", "start", "--name", "ni\u{202E}ght"],
        &["session", "list"],
        &["context", PATH],
        &["gate", "check", PATH, "step\u{200B}-01"],
        &["config", "show"],
    ] {
        let run = project.stepmark(arguments);
        for (stream, text) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
            let hidden: Vec<char> = text.chars().filter(|shown| HIDDEN.contains(shown)).collect();
            assert!(hidden.is_empty(), "{arguments:?} shows {hidden:?} on {stream}: {text:?}");
        }
    }
    let shown = project.stepmark(&["show", PATH]).stdout;
    assert!(shown.contains("docs/a<U+202E>dm<U+200B>.md"), "{shown}");
}

#[test]
fn json_is_exact() {
    let project = project();
    let json = project.stepmark(&["show", PATH, "--json"]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(json.to_string().contains("do\u{61C}ne") && json.to_string().contains(PATH), "{json}");
}

/// What a terminal would obey stands there as JSON writes it; programs read the same.
#[test]
fn json_holds_no_raw_control_or_bidi_character() {
    let project = project();
    for arguments in
        [&["show", PATH, "--json"][..], &["query", "SELECT path, status FROM artifacts", "--json"]]
    {
        let run = project.stepmark(arguments);
        let hidden: Vec<char> = run.stdout.chars().filter(|shown| HIDDEN.contains(shown)).collect();
        assert!(hidden.is_empty() && run.stdout.contains("\\u202e"), "{hidden:?}: {run}");
    }
    let typed = project.stepmark(&["show", "--no\u{1b}[31m\u{202E}such"]);
    assert!(typed.code == 2 && !typed.stderr.contains(['\u{1b}', '\u{202E}']), "{typed:?}");
}
