//! Specs of BMAD 6.12, which stand in for story files: `spec-N-M-slug.md`, found in the ledger by the two
//! numbers. What the ledger says beside them is what the steps of `bmad-build` write.

use insta::assert_snapshot;

use crate::harness::{
    Sandbox, changed_lines,
    sprint::{LEDGER, ledger, path},
};

fn spec(status: &str) -> String {
    format!(
        "---\ntitle: 'Digest'\ntype: 'feature' # feature | bugfix\ncreated: '2026-11-02'\nstatus: '{status}' # draft | done\ncontext: []\n---\n\n## Intent\n"
    )
}

/// Specs: name, status, and the entry of the ledger.
fn project(specs: &[(&str, &str, (&str, &str))]) -> Sandbox {
    let sandbox = Sandbox::empty();
    let mut entries = vec![("epic-2", "in-progress")];
    for (name, status, entry) in specs {
        sandbox.write(&path(name), spec(status));
        entries.push(*entry);
    }
    sandbox.write(LEDGER, ledger(&entries));
    sandbox
}

fn sprint() -> Sandbox {
    project(&[
        ("spec-2-1-plan", "ready-for-dev", ("2-1-plan-a-meal", "backlog")),
        ("spec-2-2-list", "in-progress", ("2-2-shopping-list", "ready-for-dev # Ana")),
        ("spec-2-3-share", "in-review", ("2-3-share-a-list", "in-progress")),
        ("spec-2-4-print", "done", ("2-4-print-a-list", "review")),
        ("spec-2-5-scan", "blocked", ("2-5-scan", "in-progress")),
        ("spec-2-6-sort", "draft", ("2-6-sort", "backlog")),
        ("spec-2-10-find", "in-progress", ("2-10-find", "done")),
    ])
}

#[test]
fn check_says_where_a_spec_and_its_ledger_disagree() {
    let sandbox = sprint();
    let check = sandbox.reads_only(&["check", "--json"]).json("stepmark.check/1");
    let findings = check["findings"].as_array().unwrap();
    let about = |finding: &&serde_json::Value| finding["id"] == "SM307";
    let named: Vec<&str> =
        findings.iter().filter(about).map(|finding| finding["path"].as_str().unwrap()).collect();
    assert_eq!(named, [path("spec-2-10-find"), path("spec-2-2-list")]);
}

#[test]
fn the_ledger_follows_a_spec_as_bmad_build_writes_it() {
    let sandbox = sprint();
    let before = sandbox.read(LEDGER);
    assert_snapshot!(sandbox.stepmark(&["project", "--ledgers"]), @r"
    exit 0
    ── stdout
    _bmad-output/implementation-artifacts/sprint-status.yaml: 2-10-find: `done` → `in-progress`
    _bmad-output/implementation-artifacts/sprint-status.yaml: 2-2-shopping-list: `ready-for-dev` → `in-progress`
    ledgers: 7 story files, 1 written, 0 removed, 0 unchanged
    ");
    assert_snapshot!(changed_lines(&before, &sandbox.read(LEDGER)), @r"
    -  2-2-shopping-list: ready-for-dev # Ana
    +  2-2-shopping-list: in-progress # Ana
    -  2-10-find: done
    +  2-10-find: in-progress
    ");
    let listed = || {
        let text = String::from_utf8(sandbox.read(LEDGER)).unwrap();
        let line = text.lines().find(|line| line.contains("2-2-")).unwrap().trim().to_owned();
        line.strip_prefix("2-2-shopping-list: ")
            .and_then(|rest| rest.strip_suffix(" # Ana"))
            .unwrap()
            .to_owned()
    };
    for (status, expected) in [
        ("in-review", "in-progress"),
        ("done", "review"),
        ("in-review", "review"),
        ("in-progress", "in-progress"),
    ] {
        let moved = sandbox.stepmark(&["transition", &path("spec-2-2-list"), status]);
        assert_eq!((moved.code, moved.stderr.as_str()), (0, ""), "{moved}");
        assert_eq!(listed(), expected, "{status}");
    }
}

#[test]
fn an_import_brings_specs_and_ledger_together_in_the_words_of_each() {
    let sandbox = sprint();
    assert_snapshot!(sandbox.stepmark(&["import", "stories", "--prefer", "sprint-status"]), @r"
    exit 0
    ── stdout
    STORY                                                    FRONTMATTER  STATUS LINE  SPRINT STATUS  CHOSEN
    _bmad-output/implementation-artifacts/spec-2-2-list.md   in-progress  -            ready-for-dev  ready-for-dev
    _bmad-output/implementation-artifacts/spec-2-10-find.md  in-progress  -            done           done
    2 stories written, 0 unchanged; 0 values of ledgers written
    ");
    let status = |name: &str| {
        let text = String::from_utf8(sandbox.read(&path(name))).unwrap();
        text.lines().find(|line| line.starts_with("status:")).unwrap().to_owned()
    };
    assert_eq!(status("spec-2-2-list"), "status: 'ready-for-dev' # draft | done");
    assert_eq!(status("spec-2-10-find"), "status: 'done' # draft | done");
    assert_eq!(status("spec-2-3-share"), "status: 'in-review' # draft | done");
    let again = sandbox.reads_only(&["import", "stories"]);
    assert_eq!((again.code, again.stderr.as_str()), (0, ""), "{again}");
    assert_eq!(sandbox.reads_only(&["project", "--ledgers"]).code, 0);
}

/// Numbers in a name may be those of something else, and two files may have the same.
#[test]
fn no_entry_is_made_or_chosen_for_a_spec() {
    let sandbox = project(&[
        ("spec-3-1-plan", "done", ("2-1-plan", "backlog")),
        ("spec-2-2-list", "done", ("2-2-shopping-list", "ready-for-dev")),
        ("spec-2-2-list-2", "in-progress", ("2-3-one", "backlog")),
        ("spec-2-3-one", "done", ("2-3-another", "backlog")),
    ]);
    let before = sandbox.read(LEDGER);
    let projected = sandbox.stepmark(&["project", "--ledgers"]);
    assert_eq!(projected.code, 1, "{projected}");
    assert!(projected.stderr.contains("several files are about this entry"), "{projected}");
    let moved = sandbox.stepmark(&["transition", &path("spec-2-3-one"), "in-review"]);
    assert_eq!((moved.code, moved.stderr.as_str()), (0, ""), "{moved}");
    assert_eq!(sandbox.read(LEDGER), before);
}
