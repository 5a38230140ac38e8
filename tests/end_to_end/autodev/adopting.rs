//! `stepmark import autodev`, and the summary.

use insta::assert_snapshot;

use super::{FILE, PLAN, add_files, done, text};
use crate::{changing::delegate::events, harness::Sandbox};

const OLD: &str = "_docs/_autopilot_state.md";
const CONFIG: &str = ".stepmark/config.yaml";

/// A project with a configuration that does not name autodev.
fn project(path: &str, text: &str) -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.write(CONFIG, "# Mine\nproject_id: p-1 # keep\n");
    add_files(&sandbox);
    sandbox.write(path, text);
    sandbox
}

#[test]
fn a_state_file_is_taken_in_as_it_is() {
    let sandbox = project(FILE, PLAN);
    assert_snapshot!(sandbox.reads_only(&["import", "autodev", "--dry-run"]), @r"
    exit 0
    ── stdout
    _docs/_autodev_state.md: greenfield, step 3 `Plan`, in_progress
      phase 4 architecture-review-risk-assessment
    `autodev` would be switched on in .stepmark/config.yaml
    ");
    assert_snapshot!(sandbox.stepmark(&["import", "autodev"]), @r"
    exit 0
    ── stdout
    _docs/_autodev_state.md: greenfield, step 3 `Plan`, in_progress
      phase 4 architecture-review-risk-assessment
    `autodev` is switched on in .stepmark/config.yaml
    ");
    assert_eq!(text(&sandbox), PLAN);
    assert_snapshot!(String::from_utf8(sandbox.read(CONFIG)).unwrap(), @r"
    # Mine
    project_id: p-1 # keep
    autodev: {}
    ");
    done(&sandbox, &["status"]);
    let again = sandbox.stepmark(&["import", "autodev", "--json"]).json("stepmark.import-autodev/1");
    assert_eq!((again["lacks_key"].as_bool(), again["written"].as_bool()), (Some(false), Some(false)));
}

#[test]
fn a_file_elsewhere_is_named_in_the_configuration() {
    let sandbox = project("state/_autodev_state.md", PLAN);
    assert_eq!(sandbox.stepmark(&["import", "autodev", "state/_autodev_state.md"]).code, 0);
    let configuration = String::from_utf8(sandbox.read(CONFIG)).unwrap();
    assert!(configuration.contains("state/_autodev_state.md"), "{configuration}");
    done(&sandbox, &["status"]);
    assert_eq!(sandbox.stepmark(&["check"]).code, 0);
}

#[test]
fn an_older_file_is_converted_by_choice() {
    let old = PLAN.replace(
        "sub_step:\n  phase: 4\n  name: architecture-review-risk-assessment\n  detail: \"\"",
        "sub_step: 4 — Architecture Review",
    );
    let sandbox = project(OLD, &old);
    assert_snapshot!(sandbox.reads_only(&["import", "autodev"]), @r"
    exit 1
    ── stdout
    _docs/_autodev_state.md: greenfield, step 3 `Plan`, in_progress
      phase 4 architecture-review (4 — Architecture Review)
    `autodev` would be switched on in .stepmark/config.yaml
    ── stderr
    error: `_docs/_autopilot_state.md` is of an older generation; nothing was written
      help: `--convert` writes it as shown
    ");
    assert_eq!(sandbox.stepmark(&["import", "autodev", "--convert"]).code, 0);
    assert_eq!(sandbox.read(OLD), old.as_bytes(), "it stays");
    assert_snapshot!(text(&sandbox), @r"
    # Autodev State

    ## Current Step
    flow: greenfield
    step: 3
    name: Plan
    status: in_progress
    sub_step: {phase: 4, name: architecture-review, detail: 4 — Architecture Review}
    retry_count: 0
    cycle: 1
    ");
    let told = events(&sandbox).pop().unwrap();
    assert_eq!((told["kind"].as_str(), told["data"]["from"].as_str()), (Some("import"), Some(OLD)));
    let both = sandbox.stepmark(&["import", "autodev", OLD, "--convert"]);
    assert!(both.code == 1 && both.stderr.contains("is there already"), "{both}");
}

#[test]
fn what_cannot_be_taken_in_changes_nothing() {
    let none = Sandbox::empty();
    none.write(CONFIG, "");
    assert_snapshot!(none.reads_only(&["import", "autodev"]), @r"
    exit 1
    ── stderr
    error: there is no state file of autodev in `_docs`
    ");
    let damaged = project(FILE, &PLAN.replace("flow: greenfield", "flow: ["));
    assert_snapshot!(damaged.reads_only(&["import", "autodev"]), @r"
    exit 1
    ── stderr
    error: `_docs/_autodev_state.md` says no position
      cause: the frontmatter is no YAML that can be read
      cause: not YAML: while parsing a flow mapping, did not find expected ',' or '}'
    ");
    let other = project("docs/state.md", PLAN);
    assert_snapshot!(other.reads_only(&["import", "autodev", "docs/state.md"]), @r"
    exit 1
    ── stderr
    error: `docs/state.md` is called neither `_autodev_state.md` nor `_autopilot_state.md`
    ");
}

#[test]
fn a_project_without_a_configuration_gets_one() {
    let bare = project(FILE, PLAN);
    std::fs::remove_dir_all(bare.place(".stepmark")).unwrap();
    assert_eq!(bare.stepmark(&["import", "autodev"]).code, 0);
    assert_eq!(bare.read(CONFIG), b"autodev: {}\n");
    done(&bare, &["status"]);
}

#[test]
fn a_summary_is_written_where_the_configuration_says() {
    let sandbox = project(FILE, PLAN);
    sandbox.write(CONFIG, "autodev: {}\n");
    assert!(!sandbox.stepmark(&["project"]).stderr.contains("autodev"));
    sandbox.write(CONFIG, "autodev: {summary: _docs/summary.md}\n");
    assert_snapshot!(sandbox.stepmark(&["project", "--autodev"]), @r"
    exit 0
    ── stdout
    autodev-summary: 1 state file, 1 written, 0 removed, 0 unchanged
    ");
    assert_snapshot!(String::from_utf8(sandbox.read("_docs/summary.md")).unwrap(), @r"
    # autodev: greenfield, cycle 1

    - [x] 1. Problem
    - [x] 2. Research
    - [ ] 3. Plan: in_progress, phase 4 architecture-review-risk-assessment
    - [ ] 4. UI Design
    - [ ] 5. Decompose
    - [ ] 6. Implement
    - [ ] 7. Run Tests
    - [ ] 8. Security Audit
    - [ ] 9. Performance Test
    - [ ] 10. Deploy
    - [ ] 11. Retrospective
    ");
    let again = sandbox.reads_only(&["project", "--autodev"]);
    assert_eq!(again.code, 0, "{again}");
    sandbox.write("_docs/summary.md", "mine\n");
    done(&sandbox, &["complete"]);
    assert_eq!(sandbox.stepmark(&["project"]).code, 0);
    assert_eq!(sandbox.read("_docs/summary.md.edited"), b"mine\n");
}
