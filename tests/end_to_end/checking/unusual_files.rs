//! Files as other people write them: status lines, boxes, conflicts.

use crate::harness::Sandbox;

const STORY: &str = "_bmad-output/implementation-artifacts/1-1-pick.md";
const LEDGER: &str = "_bmad-output/implementation-artifacts/sprint-status.yaml";

fn project(story: &str) -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.write(STORY, story);
    sandbox.write(LEDGER, "development_status:\n  epic-1: in-progress\n  1-1-pick: review\n");
    sandbox
}

fn text(sandbox: &Sandbox, path: &str) -> String {
    String::from_utf8(sandbox.read(path)).unwrap()
}

#[test]
fn the_status_of_a_line_is_its_first_word_and_the_rest_stays() {
    let body = "# Story 1.1\n\n**Status:** review (2 findings left)\n\n## Log\n\nStatus: done\n";
    let sandbox = project(body);
    let run = sandbox.stepmark(&["import", "stories", "--prefer", "status-line"]);
    assert_eq!(run.code, 0, "{run}");
    assert_eq!(text(&sandbox, STORY), format!("---\nstatus: review\n---\n{body}"));
    assert!(text(&sandbox, LEDGER).contains("1-1-pick: review\n"));
    assert_eq!(sandbox.stepmark(&["transition", STORY, "in-progress"]).code, 0);
    assert!(text(&sandbox, STORY).contains("**Status:** in-progress (2 findings left)\n"));
    assert!(text(&sandbox, STORY).ends_with("Status: done\n"), "a log is no status");
    assert_eq!(sandbox.stepmark(&["check"]).code, 0);
}

#[test]
fn one_status_in_two_spellings_is_one() {
    for (status, line) in [
        ("ready-for-dev", "Ready for Dev"),
        ("done", "`Done`"),
        ("done", "done (closed by #12)"),
        ("review", "REVIEW."),
        ("in-progress", "In Progress, since May"),
    ] {
        let sandbox = Sandbox::empty();
        sandbox.write(STORY, format!("---\nstatus: {status}\n---\n# Story 1.1\n\nStatus: {line}\n"));
        let run = sandbox.stepmark(&["check"]);
        assert!(!run.to_string().contains("SM302"), "{line}: {run}");
    }
    let sandbox = Sandbox::empty();
    sandbox.write(STORY, "---\nstatus: done\n---\n# Story 1.1\n\nStatus: review (again)\n");
    assert!(sandbox.stepmark(&["check"]).to_string().contains("SM302"));
}

#[test]
fn work_with_open_boxes_is_not_done_without_a_word() {
    let boxes = "- [x] One\n- [~] Two\n1. [ ] Three\n+ [ ] Four\n- [ x] Five\n- [] Six\n* [X] Seven\n\
                 - [A](https://example.org)\n\n```\n- [ ] code\n```\n";
    let sandbox = project(&format!("---\nstatus: review\n---\n# Story 1.1\n\n## Tasks\n\n{boxes}"));
    assert_eq!(sandbox.stepmark(&["check"]).code, 0);
    let run = sandbox.stepmark(&["transition", STORY, "done"]);
    assert!(run.code == 0 && run.stderr.contains("5 of its 7 boxes are open"), "{run}");
    let run = sandbox.stepmark(&["check"]);
    assert!(run.code == 1 && run.stdout.contains("5 of 7 boxes are open"), "{run}");
}

#[test]
fn a_file_with_a_conflict_in_its_body_has_no_state_and_takes_no_write() {
    let conflict = "<<<<<<< HEAD\nStatus: review\n=======\nStatus: done\n>>>>>>> lane-b\n";
    let story = format!("---\nstatus: in-progress\n---\n# Story 1.1\n\n{conflict}");
    for story in [story.clone(), story.replace("---\nstatus: in-progress\n---\n", "")] {
        let sandbox = project(&story);
        let run = sandbox.stepmark(&["check"]);
        assert!(run.code == 1 && run.stdout.contains("between `HEAD` and `lane-b`"), "{run}");
        assert_eq!(run.stdout.matches("SM").count(), 1, "{run}");
        for arguments in [
            &["transition", STORY, "done"][..],
            &["set", STORY, "owner=ann"],
            &["import", "stories", "--prefer", "furthest"],
            &["project", "--ledgers"],
        ] {
            sandbox.stepmark(arguments);
            assert_eq!(text(&sandbox, STORY), story, "{arguments:?}");
            assert!(text(&sandbox, LEDGER).contains("1-1-pick: review\n"), "{arguments:?}");
        }
    }
    let fenced = format!("---\nstatus: review\n---\n# Story 1.1\n\n```\n{conflict}```\n");
    assert_eq!(project(&fenced).stepmark(&["check"]).code, 0, "an example is none");
    let sandbox = Sandbox::empty();
    sandbox.write(
        "prd.md",
        "---\n<<<<<<< HEAD\nstepsCompleted: [1, 2, 3]\n=======\nstepsCompleted: [1, 2, 4]\n>>>>>>> b\n---\n",
    );
    let run = sandbox.stepmark(&["check"]);
    assert!(run.stdout.contains("together [1, 2, 3, 4]"), "{run}");
}

#[test]
fn a_value_that_wants_quotes_gets_them_and_nothing_else_changes() {
    let sandbox = Sandbox::empty();
    let file = |title: &str, owner: &str| {
        format!("---\nstatus: draft\ntitle: {title} # note\nowner: {owner}\n---\n# B: c\n")
            .replace('\n', "\r\n")
    };
    sandbox.write("prd.md", file("Rust: the book", "@ada"));
    let shown = sandbox.stepmark(&["check", "--fix", "--unsafe-fixes", "--diff"]);
    assert!(shown.stdout.contains("+title: 'Rust: the book' # note"), "{shown}");
    assert_eq!(text(&sandbox, "prd.md"), file("Rust: the book", "@ada"), "a look changes nothing");
    let run = sandbox.stepmark(&["check", "--fix", "--unsafe-fixes"]);
    assert_eq!(run.code, 0, "{run}");
    assert_eq!(text(&sandbox, "prd.md"), file("'Rust: the book'", "'@ada'"));
}
