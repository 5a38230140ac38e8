//! `stepmark import bmad-7`: a sprint of BMAD 6 becomes tickets, and nothing is lost.

use crate::harness::Sandbox;

const OLD: &str = "_bmad-output/implementation-artifacts";
const EPIC: &str = "_bmad-output/product/epic-lending";

fn project() -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.write("_bmad/config.toml", "[core]\noutput_folder = \"_bmad-output\"\n");
    let ledger = "# ours\ndevelopment_status:\n  epic-1: in-progress\n  1-1-lend: in-progress\n  1-2-return: review\n  1-3a-count: done\n  \
                  1-4-sell: backlog\n  epic-1-retrospective: optional\n  notes-x: done\naction_items: []\n";
    sandbox.write(&format!("{OLD}/sprint-status.yaml"), ledger);
    let spec = "---\ntitle: 'Lend' # short\ntype: 'feature'\nstatus: 'in-review' # words\ncontext: []\n---\nThe plan\n";
    sandbox.write(&format!("{OLD}/spec-1-1-lend.md"), spec);
    let story =
        "---\nowner: Ana\nstatus: in-progress\n---\n# Story 1.2: Return\n\nStatus: review\n\nThe story\n";
    sandbox.write(&format!("{OLD}/1-2-return.md"), story);
    let epics = "---\nstepsCompleted: []\n---\n## Epic 1: Lending\n### Story 1.4: Sell it\n";
    sandbox.write("_bmad-output/planning-artifacts/epics.md", epics);
    sandbox
}

#[test]
fn a_sprint_becomes_tickets_after_a_yes_and_goes_back_by_undo() {
    let sandbox = project();
    let shown = sandbox.stepmark(&["import", "bmad-7"]);
    assert!(shown.code == 1 && shown.stderr.contains("nothing was written"), "{shown}");
    let shown = sandbox.reads_only(&["import", "bmad-7", "--dry-run", "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(answer["unplaced"], serde_json::json!(["notes-x"]));
    let rows = answer["rows"].as_array().unwrap();
    let said =
        |row: &serde_json::Value| format!("{} {} {}", row["key"], row["ticket"], row["to"]).replace('"', "");
    let rows: Vec<String> = rows.iter().map(said).collect();
    let expected = [
        "epic-1 epic-lending in-progress",
        "1-1-lend 1.1 in-review",
        "1-2-return 1.2 in-review",
        "1-3a-count 1.3a done",
        "1-4-sell 1.4 planned",
    ];
    assert_eq!(rows, expected);
    let done = sandbox.stepmark(&["import", "bmad-7", "--yes"]);
    assert!(
        done.code == 0 && done.stderr.contains("1-2-return: stays in the archive alone: owner"),
        "{done}"
    );
    let text = |path: &str| String::from_utf8(sandbox.read(path)).unwrap();
    let plan = text(&format!("{EPIC}/story-lend-plan.md"));
    assert!(
        plan.contains("status: 'in-review' # words\n") && plan.contains("ticket: 1\n---\nThe plan\n"),
        "{plan}"
    );
    let leaf = text(&format!("{EPIC}/story-return.md"));
    assert!(leaf.contains("parent: epic-lending\n") && leaf.ends_with("The story\n"), "{leaf}");
    let archived = "_bmad-output/archive-v6/implementation-artifacts/1-2-return.md";
    assert!(text(archived).contains("owner: Ana"));
    let verified = sandbox.reads_only(&["import", "bmad-7", "--verify"]);
    assert!(verified.code == 0 && verified.stdout.contains("nothing is lost of 5"), "{verified}");
    let tickets = sandbox.stepmark(&["tickets", "--json"]).json("stepmark.tickets/1");
    assert_eq!(tickets["counts"], serde_json::json!({"total": 4, "planned": 1, "review": 2, "done": 1}));
    assert_eq!(sandbox.stepmark(&["check"]).code, 0);
    std::fs::remove_file(sandbox.place(&format!("{EPIC}/story-return.md"))).unwrap();
    let lost = sandbox.reads_only(&["import", "bmad-7", "--verify"]);
    assert!(lost.code == 1 && lost.stdout.contains("1-2-return"), "{lost}");
    sandbox.write(&format!("{EPIC}/story-return.md"), leaf);
    let undone = sandbox.stepmark(&["import", "bmad-7", "--undo"]);
    assert_eq!(undone.code, 0, "{undone}");
    assert_eq!(text(&format!("{OLD}/1-2-return.md")).matches("owner: Ana").count(), 1);
    assert!(!sandbox.place(&format!("{EPIC}/story-return.md")).exists());
}

#[test]
fn a_word_that_nobody_knows_is_asked_for() {
    let sandbox = project();
    let ledger = String::from_utf8(sandbox.read(&format!("{OLD}/sprint-status.yaml"))).unwrap();
    sandbox.write(
        &format!("{OLD}/sprint-status.yaml"),
        ledger.replace("1-3a-count: done", "1-3a-count: shipped"),
    );
    let asked = sandbox.stepmark(&["import", "bmad-7", "--yes"]);
    assert!(asked.code == 1 && asked.stderr.contains("--word shipped=STATUS"), "{asked}");
    let told = sandbox.stepmark(&["import", "bmad-7", "--yes", "--word", "shipped=done"]);
    assert_eq!(told.code, 0, "{told}");
    let again = sandbox.stepmark(&["import", "bmad-7", "--yes"]);
    assert!(again.code == 1 && again.stderr.contains("no `sprint-status.yaml`"), "{again}");
}
