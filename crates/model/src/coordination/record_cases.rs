//! Records in files and back.

use proptest::prelude::*;
use serde_json::json;

use super::{
    Record, RecordKind,
    sample::{any_values, task},
};
use crate::artifact::{Artifact, ProjectPath};
use crate::records::{RecordError, RecordKinds as _, values_digest};
use stepmark_frontmatter::{Region, apply};

fn artifact(bytes: &[u8]) -> Artifact {
    Artifact::read(ProjectPath::new(".coordination/tasks/t.md").unwrap(), bytes.to_vec())
}

fn file(record: &Record) -> String {
    String::from_utf8(record.to_file().unwrap()).unwrap()
}

fn of(text: &str) -> Result<Record, RecordError> {
    Record::of(&artifact(text.as_bytes()))
}

#[test]
fn a_record_is_written_in_the_order_of_its_keys() {
    let mut written = task(
        "task-1",
        json!({"x": 1, "created_at": "2026-11-24T10:00:00Z", "status": "available", "description": "Do: it",
               "context": {"hints": "", "files": ["a.rs"]}, "dependencies": [], "claimed_by": null, "priority": 5,
               "stepmark_id": "theirs"}),
    );
    written.order = Some(3);
    assert_eq!(
        file(&written),
        "---\nstepmark_kind: task\nid: task-1\ndescription: 'Do: it'\nstatus: available\npriority: 5\nclaimed_by: null\n\
         dependencies: []\ncontext:\n  files: [a.rs]\n  hints: ''\ncreated_at: '2026-11-24T10:00:00Z'\nx: 1\nforeign:\n  \
         stepmark_id: theirs\nstepmark_order: 3\n---\n"
    );
    assert_eq!(of(&file(&written)).unwrap(), written);
}

#[test]
fn a_body_is_kept_to_the_byte() {
    for body in ["", "# Plan\n", "no line end", "\n\n---\na: b\n---\r\n", "\u{FEFF}x\r\n"] {
        let mut root = Record::new(RecordKind::Coordination, "coordination", serde_json::Map::new());
        root.body = body.to_owned();
        assert_eq!(of(&file(&root)).unwrap(), root, "{body:?}");
        let mut other = root.clone();
        other.body = "other".to_owned();
        other.set("goal", "G");
        let changed = root.rewrite(&artifact(&root.to_file().unwrap()), &other).unwrap();
        assert_eq!(Record::of(&artifact(&changed)).unwrap(), other, "{body:?}");
    }
}

#[test]
fn an_artifact_that_is_no_record_says_why() {
    for (text, wanted) in [
        ("# Notes\n", "`stepmark_kind` is null"),
        ("---\nstepmark_kind: story\n---\n", "`stepmark_kind` is \"story\""),
        ("---\nstepmark_kind: task\nid: 3\n---\n", "`id` should be a text, the id of the task"),
        ("---\nstepmark_kind: agent\nid: w\n---\n", "`agent` should be a text, the id of the agent"),
        ("---\nstepmark_kind: task\nid: a\nid: b\n---\n", "`id` stands twice"),
    ] {
        let error = of(text).unwrap_err().to_string();
        assert!(error.contains(wanted), "{text}: {error}");
    }
}

#[test]
fn an_edit_touches_what_differs_and_no_more() {
    let text = "---\nstepmark_kind: task\nid: t # mine\nstatus: available # open\nclaimed_by: null\ncontext:\n  hints: a\n  \
                files: [x]\n---\nNotes.\n";
    let before = of(text).unwrap();
    let mut after = before.clone();
    after.set("status", "claimed");
    after.set("claimed_by", "w");
    after.set("claimed_at", "2026");
    after.set("context", json!({"hints": "b", "files": ["x"]}));
    let edited = apply(text.as_bytes(), &Region::Frontmatter, &before.edits_to(&after)).unwrap().bytes;
    let wanted = text
        .replace("available", "claimed")
        .replace("claimed_by: null", "claimed_by: w")
        .replace("hints: a", "hints: b")
        .replace("---\nNotes", "claimed_at: '2026'\n---\nNotes");
    assert_eq!(String::from_utf8(edited).unwrap(), wanted);
    assert!(before.edits_to(&before).is_empty());
}

#[test]
fn spelling_and_what_says_nothing_are_not_in_the_digest() {
    let digest = |values| values_digest(&task("t", values));
    let one = digest(
        json!({"status": "done", "created_at": "2026-11-24T10:00:00.500000", "n": 1.0, "last_seen": "x"}),
    );
    assert_eq!(
        one,
        digest(
            json!({"n": 1, "tags": [], "claimed_by": null, "created_at": "2026-11-24T10:00:00.5Z", "status": "done"})
        )
    );
    assert_ne!(one, digest(json!({"status": "done", "created_at": "2026-11-24T10:00:01", "n": 1})));
}

const KEYS: &[&str] =
    &["description", "status", "priority", "context", "result", "agent", "content", "created_at"];

proptest! {
    #[test]
    fn any_values_are_read_back(
        kind in prop::sample::select(RecordKind::ALL),
        mut before in any_values(KEYS),
        mut after in any_values(KEYS),
        order in prop::option::of(0..9_i64),
    ) {
        // The body stands for it.
        for values in [&mut before, &mut after] {
            values.retain(|key, _| key != "id" && kind.body_key() != Some(key));
        }
        let record = Record { order, ..Record::new(kind, "x", before) };
        let bytes = record.to_file().unwrap();
        prop_assert_eq!(&Record::of(&artifact(&bytes)).unwrap(), &record);
        let wanted = Record::new(kind, "x", after);
        let changed = record.rewrite(&artifact(&bytes), &wanted).unwrap();
        prop_assert_eq!(&Record::of(&artifact(&changed)).unwrap(), &wanted);
    }
}
