//! Cases of files of tickets.
#![expect(clippy::disallowed_methods, reason = "tests read and write files directly")]

use std::{
    fs,
    future::Future,
    path::Path,
    pin::pin,
    task::{Context, Poll, Waker},
};

use stepmark_model::artifact::ProjectPath;
use stepmark_store::{disk::Root, workspace::Clock};

use super::{FileTracker, Line, LineKind};
use crate::{
    breaker::Reason,
    ticket::sample::ticket,
    tracker::{Change, Condition, Creation, Outcome, Tracker as _},
};

fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a file does not let anybody wait"),
    }
}

fn tracker(path: &Path) -> FileTracker {
    let clock = Clock::Fixed(jiff::Timestamp::UNIX_EPOCH);
    let root = Root::open(path.parent().unwrap()).unwrap();
    let path = ProjectPath::new(path.file_name().unwrap()).unwrap();
    FileTracker::new("file".parse().unwrap(), root, path, clock)
}

fn creation(id: &str) -> Creation {
    Creation { ticket: ticket(id, |_| {}), parent: None }
}

fn lines(path: &Path) -> Vec<Line> {
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_change_is_a_line_and_the_last_one_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tickets.jsonl");
    let tracker = tracker(&path);
    let made = ready(tracker.create(&[creation("a"), creation("b")])).outcomes;
    let [Outcome::Done(a), Outcome::Done(b)] = made.as_slice() else { panic!("{made:?}") };
    assert_eq!((a.remote.key.as_str(), b.remote.key.as_str()), ("#1", "#2"));
    let desired = ticket("b", |facts| facts.title = "New".to_owned());
    let change = Change {
        remote: b.remote.clone(),
        desired,
        before: None,
        parent: Some(a.remote.clone()),
        condition: Condition::Marked,
    };
    let changed = ready(tracker.update(std::slice::from_ref(&change))).outcomes;
    assert!(matches!(changed.as_slice(), [Outcome::Done(done)] if done.missing.is_empty()));
    let told: Vec<_> = lines(&path).iter().map(|line| (line.number, line.done, line.parent)).collect();
    let (created, updated) = (LineKind::Created, LineKind::Updated);
    assert_eq!(told, [(1, created, None), (2, created, None), (2, updated, Some(1))]);
    let page = ready(tracker.list("p", None, crate::tracker::Listing::Labelled)).unwrap();
    assert_eq!(
        page.tickets.iter().map(|ticket| ticket.title.as_str()).collect::<Vec<_>>(),
        ["Artifact a", "New"]
    );
    assert!(tracker.compare(&change.desired, None, &page.tickets[1]).unwrap().is_empty());
    assert!(
        ready(tracker.list("other", None, crate::tracker::Listing::Labelled)).unwrap().tickets.is_empty()
    );
    let read = ready(tracker.read(std::slice::from_ref(&b.remote))).outcomes;
    assert_eq!(read, [Outcome::Done(Some(page.tickets[1].clone()))]);
}

#[test]
fn a_ticket_that_is_not_there_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let tracker = tracker(&folder.path().join("tickets.jsonl"));
    let remote = tracker.remote(7);
    let desired = ticket("a", |_| {});
    let change =
        Change { remote: remote.clone(), desired, before: None, parent: None, condition: Condition::Marked };
    let outcomes = ready(tracker.update(&[change])).outcomes;
    assert!(matches!(outcomes.as_slice(), [Outcome::Failed(failure)] if failure.reason == Reason::Gone));
    assert_eq!(ready(tracker.read(&[remote])).outcomes, [Outcome::Done(None)]);
}

#[test]
fn a_line_that_was_cut_off_is_taken_away() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tickets.jsonl");
    let tracker = tracker(&path);
    ready(tracker.create(&[creation("a"), creation("b")]));
    let whole = fs::read(&path).unwrap();
    assert!(whole.starts_with(Line::BEGINNING.as_bytes()));
    fs::write(&path, &whole[..whole.len() - 5]).unwrap();
    let made = ready(tracker.create(&[creation("c")])).outcomes;
    assert!(matches!(made.as_slice(), [Outcome::Done(done)] if done.remote.id == "2"), "{made:?}");
    assert_eq!(lines(&path).len(), 2);
}

#[test]
fn a_file_of_something_else_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tickets.jsonl");
    for content in ["# Notes\n", "{}\n", "# Notes without an end", "{\"schema\":\"other/1\"}"] {
        fs::write(&path, content).unwrap();
        let outcomes = ready(tracker(&path).create(&[creation("a"), creation("b")])).outcomes;
        let [Outcome::Failed(failure), Outcome::Failed(_)] = outcomes.as_slice() else {
            panic!("{outcomes:?}")
        };
        assert_eq!(failure.reason, Reason::Unreadable);
        assert!(failure.detail.contains("line 1 of"), "{}", failure.detail);
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
}

/// Returns what the tracker answers where its file is `path` of the project at `root`: why nothing was done.
fn refusal(root: &Path, path: &str) -> String {
    let (root, path) = (Root::open(root).unwrap(), ProjectPath::new(path).unwrap());
    let tracker = FileTracker::new("file".parse().unwrap(), root, path, Clock::System);
    let made = ready(tracker.create(&[creation("a")])).outcomes;
    let [Outcome::Failed(failure)] = made.as_slice() else { panic!("{made:?}") };
    let listed = ready(tracker.list("p", None, crate::tracker::Listing::Labelled)).unwrap_err();
    assert_eq!((failure.reason, &listed.detail), (Reason::Unreachable, &failure.detail));
    failure.detail.clone()
}

#[cfg(unix)]
#[test]
fn only_a_place_for_files_of_the_project_is_written() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let (root, outside) = (folder.path().join("project"), folder.path().join("outside"));
    for made in [root.join(".git/hooks"), root.join("docs"), outside.clone()] {
        fs::create_dir_all(made).unwrap();
    }
    fs::write(root.join("docs/empty"), "").unwrap();
    symlink(outside.join("dangling"), root.join("dangling")).unwrap();
    symlink("docs/empty", root.join("inside")).unwrap();
    symlink("docs", root.join("folder")).unwrap();
    symlink(".git", root.join("link")).unwrap();
    symlink(&outside, root.join("out")).unwrap();
    for (path, expected) in [
        (".git/hooks/post-commit", "git"),
        (".GIT/hooks/post-commit", "git"),
        ("sub/.git/config", "git"),
        ("link/hooks/new", "git"),
        ("out/new", "outside"),
        ("dangling", "outside"),
        ("inside", "a link stands"),
        ("folder/new", "a link stands"),
        ("docs", "no regular file"),
        (".stepmark/journal/live.jsonl", "stepmark's own"),
        ("sub/.Stepmark/config.yaml", "stepmark's own"),
        (".gitmodules", "git's"),
        ("sub/.gitattributes", "git's"),
        ("sub/.GitAttributes", "git's"),
        (".git\u{200C}modules", "git's"),
        (".gitmodule\u{17F}", "git's"),
        (".gitignore. ", "git's"),
        ("GITMOD~1", "git's"),
    ] {
        let refused = refusal(&root, path);
        assert!(refused.contains(expected) && refused.contains(path), "{path}: {refused}");
    }
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    assert_eq!(fs::read_dir(root.join(".git/hooks")).unwrap().count(), 0);
    assert_eq!(fs::read_dir(root.join("docs")).unwrap().count(), 1);
    assert!(!root.join(".stepmark").exists() && !root.join(".gitmodules").exists());
    let made = ready(tracker(&root.join("docs/empty")).create(&[creation("a")])).outcomes;
    assert!(matches!(made.as_slice(), [Outcome::Done(_)]), "an empty file is free: {made:?}");
}
