//! Changing one file from beginning to end.
#![expect(clippy::disallowed_methods, reason = "tests write files as another program would")]

use std::{convert::Infallible, fs, io, thread, time::Duration};

use crate::commit::{
    CommitError, CommitOptions, Expected, LockError, Outcome, PublishError, scratch_project::OLD,
    scratch_project::PRD, scratch_project::ScratchProject, scratch_project::UpdateError,
    scratch_project::fast, scratch_project::named, scratch_project::update,
};
use stepmark_model::artifact::FileHash;

fn append(project: &ScratchProject, line: &str) -> Result<Outcome, UpdateError<Infallible>> {
    update(&project.root, &named(PRD), &fast(), |old| Ok(Some([old, line.as_bytes()].concat())))
}

#[test]
fn writes_what_is_decided_and_nothing_else() {
    let project = ScratchProject::new();
    let written = append(&project, "more\n").unwrap();
    let after = FileHash::of(b"old\nmore\n");
    assert_eq!(written, Outcome::Written { before: Expected::of(Some(OLD)), after, attempts: 1 });
    assert_eq!(project.read(PRD), b"old\nmore\n");

    let modified = || fs::metadata(project.place(PRD)).unwrap().modified().unwrap();
    let before = modified();
    assert_eq!(append(&project, "").unwrap(), Outcome::Unchanged);
    let nothing = update(&project.root, &named(PRD), &fast(), |_| Ok::<_, Infallible>(None)).unwrap();
    assert_eq!((nothing, modified()), (Outcome::Unchanged, before));

    let refused = update(&project.root, &named(PRD), &fast(), |_| Err(io::Error::other("no")));
    assert!(matches!(refused, Err(UpdateError::Decide(_))));
    let missing = update(&project.root, &named("x.md"), &fast(), |_| Ok::<_, Infallible>(None));
    assert!(matches!(missing, Err(UpdateError::Commit(CommitError::Missing { .. }))));
    assert_eq!(project.names("docs"), ["prd.md"]);
}

#[test]
fn what_is_not_to_be_changed_leaves_no_trace() {
    let project = ScratchProject::new();
    let refuse = |_: &[u8]| Err::<Option<Vec<u8>>, _>(io::Error::other("no"));
    assert!(matches!(update(&project.root, &named(PRD), &fast(), refuse), Err(UpdateError::Decide(_))));
    assert_eq!(append(&project, "").unwrap(), Outcome::Unchanged);
    let nothing = |_: &[u8]| Ok::<_, Infallible>(None);
    for path in ["x.md", "docs"] {
        let refused = update(&project.root, &named(path), &fast(), nothing);
        assert!(matches!(refused, Err(UpdateError::Commit(_))), "{path}: {refused:?}");
    }
    assert_eq!(project.names(""), ["docs"]);
}

#[test]
fn what_a_writer_has_not_flushed_yet_is_waited_for() {
    let project = ScratchProject::new();
    let held = project.lock(PRD);
    let hurried = CommitOptions { lock_timeout: Duration::from_millis(1), ..fast() };
    let nothing = |_: &[u8]| Ok::<_, Infallible>(None);
    let waited = update(&project.root, &named(PRD), &hurried, nothing);
    assert!(matches!(waited, Err(UpdateError::Commit(CommitError::Lock(LockError::Timeout { .. })))));
    drop(held);
    assert_eq!(append(&project, "").unwrap(), Outcome::Unchanged);
}

#[test]
fn starts_again_from_what_another_program_wrote() {
    let project = ScratchProject::new();
    let mut edits = 0;
    let outcome = update(&project.root, &named(PRD), &fast(), |old| {
        if edits < 3 {
            edits += 1;
            project.write(PRD, format!("edit {edits}\n").as_bytes());
        }
        Ok::<_, Infallible>(Some([old, b"ours\n"].concat()))
    });
    // The first of the three fell into the time before the lock was taken.
    assert!(matches!(outcome.unwrap(), Outcome::Written { attempts: 3, .. }));
    assert_eq!(project.read(PRD), b"edit 3\nours\n");
}

#[test]
fn a_refusal_of_what_is_half_written_is_not_final() {
    let project = ScratchProject::new();
    project.write(PRD, b"");
    let mut readings = Vec::new();
    let outcome = update(&project.root, &named(PRD), &fast(), |old| {
        readings.push(old.to_vec());
        if old.is_empty() {
            project.write(PRD, b"whole\n");
            return Err(io::Error::other("no frontmatter"));
        }
        Ok(Some(b"ours\n".to_vec()))
    });
    assert!(matches!(outcome.unwrap(), Outcome::Written { attempts: 1, .. }));
    assert_eq!(readings, [&b""[..], b"whole\n"]);

    let mut calls = 0;
    let refused = update(&project.root, &named(PRD), &fast(), |_| {
        calls += 1;
        Err(io::Error::other("no"))
    });
    assert!(matches!(refused, Err(UpdateError::Decide(_))));
    assert_eq!(calls, 1, "what stays as it is was whole");
}

#[test]
fn gives_up_when_the_other_program_does_not_stop() {
    let project = ScratchProject::new();
    let mut calls = 0;
    let refused = update(&project.root, &named(PRD), &fast(), |old| {
        calls += 1;
        project.write(PRD, format!("edit {calls}\n").as_bytes());
        Ok::<_, Infallible>(Some([old, b"ours\n"].concat()))
    });
    let Err(UpdateError::Commit(CommitError::Publish(PublishError::Conflict(conflict)))) = refused else {
        panic!("{refused:?}")
    };
    assert!(matches!(&conflict.found, crate::commit::Found::Bytes(bytes) if bytes == b"edit 9\n"));
    assert_eq!((calls, project.read(PRD).as_slice()), (9, &b"edit 9\n"[..]));
}

#[test]
fn no_append_of_many_threads_is_lost() {
    let project = ScratchProject::new();
    thread::scope(|scope| {
        for writer in 0..8 {
            let project = &project;
            scope.spawn(move || {
                for number in 0..20 {
                    append(project, &format!("{writer}-{number}\n")).unwrap();
                }
            });
        }
    });
    let text = String::from_utf8(project.read(PRD)).unwrap();
    let mut lines: Vec<&str> = text.lines().skip(1).collect();
    lines.sort_unstable();
    let mut wanted: Vec<String> =
        (0..8).flat_map(|writer| (0..20).map(move |number| format!("{writer}-{number}"))).collect();
    wanted.sort_unstable();
    assert_eq!(lines, wanted);
    assert_eq!(project.names("docs"), ["prd.md"]);
}

#[cfg(unix)]
#[test]
fn keeps_mode_and_owner_and_link() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    let project = ScratchProject::new();
    let metadata = || fs::metadata(project.place(PRD)).unwrap();
    symlink("prd.md", project.place("docs/link.md")).unwrap();
    for mode in [0o664, 0o600, 0o755, 0o2644] {
        fs::set_permissions(project.place(PRD), fs::Permissions::from_mode(mode)).unwrap();
        let (owner, group, inode) = (metadata().uid(), metadata().gid(), metadata().ino());
        let change = |old: &[u8]| Ok::<_, Infallible>(Some([old, b"x"].concat()));
        update(&project.root, &named("docs/link.md"), &fast(), change).unwrap();
        assert_eq!(metadata().mode() & 0o7777, mode, "{mode:o}");
        assert_eq!((metadata().uid(), metadata().gid()), (owner, group));
        assert_ne!(metadata().ino(), inode, "the file is replaced, not written in place");
    }
    assert_eq!(fs::read_link(project.place("docs/link.md")).unwrap().to_str(), Some("prd.md"));
    assert_eq!(project.read(PRD), b"old\nxxxx");
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_project_is_refused() {
    let project = ScratchProject::new();
    let outside = tempfile::NamedTempFile::new().unwrap();
    fs::write(outside.path(), "theirs").unwrap();
    std::os::unix::fs::symlink(outside.path(), project.place("docs/out.md")).unwrap();
    let change = |_: &[u8]| Ok::<_, Infallible>(Some(b"ours".to_vec()));
    let refused = update(&project.root, &named("docs/out.md"), &fast(), change);
    assert!(matches!(refused, Err(UpdateError::Commit(CommitError::Lock(LockError::Resolve(_))))));
    assert_eq!(fs::read(outside.path()).unwrap(), b"theirs");
}
