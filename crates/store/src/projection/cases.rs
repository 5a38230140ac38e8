//! Tests of what becomes of the files of a projection.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests write and read files directly")]

use super::*;
use crate::Error;
use crate::ErrorKind;
use crate::commit::{scratch_project::ScratchProject, scratch_project::fast, scratch_project::named};

const PLACE: &str = "out/copy.txt";

/// A copy of `text`.
struct Copy<'p> {
    project: &'p ScratchProject,
    text: &'p str,
    path: ProjectPath,
    on_edit: OnEdit,
}

impl Projection for Copy<'_> {
    const FACTS: ProjectionFacts = ProjectionFacts::CATALOGUES;

    fn files(&self) -> Vec<ProjectedFile<'_>> {
        let found = std::fs::read(self.project.place(PLACE)).ok();
        vec![ProjectedFile {
            path: Cow::Borrowed(&self.path),
            bytes: Cow::Borrowed(self.text.as_bytes()),
            found: found.as_deref().map(FileHash::of),
            witness: Witness::Memory,
            on_edit: self.on_edit,
            is_foreign: found.is_some_and(|bytes| bytes.starts_with(b"#!")),
        }]
    }
}

fn publish_text(project: &ScratchProject, text: &str, on_edit: OnEdit) -> Result<Published, Error> {
    publish(&project.root, &fast(), &Copy { project, text, path: named(PLACE), on_edit })
}

fn write(project: &ScratchProject, text: &str) {
    std::fs::create_dir_all(project.place("out")).unwrap();
    std::fs::write(project.place(PLACE), text).unwrap();
}

#[test]
fn a_file_that_was_changed_is_told_from_one_that_is_behind() {
    let project = ScratchProject::new();
    let publish = |text: &str| {
        let done = publish_text(&project, text, OnEdit::Replace).unwrap();
        assert_eq!(project.read(PLACE), text.as_bytes());
        (done.written.len(), done.unchanged, done.edited.len())
    };
    assert_eq!((publish("one"), publish("one"), publish("two")), ((1, 0, 0), (0, 1, 0), (1, 0, 0)));
    write(&project, "by hand");
    assert_eq!(publish("two"), (1, 0, 1));
    std::fs::remove_file(project.place(PLACE)).unwrap();
    assert_eq!(publish("two"), (1, 0, 0), "it was missing");
    write(&project, "three");
    assert_eq!(publish("three"), (0, 1, 0), "another clone wrote it: that is remembered");
    assert_eq!(publish("four"), (1, 0, 0));
    std::fs::remove_dir_all(project.place(".stepmark/local/projections")).unwrap();
    write(&project, "by hand");
    assert_eq!(publish("four"), (1, 0, 0), "without the memory nobody knows");
}

#[test]
fn what_was_edited_is_kept_where_the_projection_wants_that() {
    let project = ScratchProject::new();
    let kept = |text: &str| publish_text(&project, text, OnEdit::Keep).unwrap().kept;
    assert_eq!((kept("one"), kept("two")), (Vec::new(), Vec::new()));
    for (edited, copy) in [
        ("by hand", "out/copy.txt.edited"),
        ("again", "out/copy.txt.edited-2"),
        ("by hand", "out/copy.txt.edited"),
    ] {
        write(&project, edited);
        assert_eq!(kept("two"), [named(copy)]);
        assert_eq!((project.read(copy), project.read(PLACE)), (edited.as_bytes().to_vec(), b"two".to_vec()));
    }
}

#[test]
fn a_file_of_somebody_else_is_never_replaced() {
    let project = ScratchProject::new();
    write(&project, "#!/bin/sh");
    let refused = publish_text(&project, "one", OnEdit::Keep).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Exists, "{refused}");
    assert_eq!(project.read(PLACE), b"#!/bin/sh");
}

/// Hands out what it has found before, whatever stands there now.
struct Late(ProjectedFile<'static>);

impl Projection for Late {
    const FACTS: ProjectionFacts = ProjectionFacts::CATALOGUES;

    fn files(&self) -> Vec<ProjectedFile<'_>> {
        vec![self.0.clone()]
    }
}

#[test]
fn what_was_written_meanwhile_is_not_replaced() {
    let project = ScratchProject::new();
    write(&project, "theirs");
    let file = ProjectedFile {
        path: Cow::Owned(named(PLACE)),
        bytes: Cow::Borrowed(b"ours"),
        found: Some(FileHash::of(b"before")),
        witness: Witness::Memory,
        on_edit: OnEdit::Replace,
        is_foreign: false,
    };
    let refused = publish(&project.root, &fast(), &Late(file)).unwrap_err();
    assert!(refused.is_conflict(), "{refused}");
    assert!(refused.conflict().is_some());
    assert_eq!(project.read(PLACE), b"theirs");
}
