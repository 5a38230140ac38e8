//! Joining segments, seen from outside.
#![expect(clippy::disallowed_methods, reason = "tests of an edge module")]

use std::{collections::BTreeSet, fs, path::PathBuf};

use crate::commit::{Compacted, FsyncPolicy, compact_segments, journal::compaction::compact_up_to};
use crate::disk::root::Root;
use crate::history::{History, SEALED_FOLDER, SegmentPlace, verify_segments};
use stepmark_model::journal::{Actor, Event, EventDraft, Header, Kind, SegmentName};

/// A clone of a project, of which only the folder of sealed segments matters.
struct Clone {
    _folder: tempfile::TempDir,
    root: Root,
}

impl Clone {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        fs::create_dir_all(root.path().join(SEALED_FOLDER)).unwrap();
        Self { _folder: folder, root }
    }

    fn place(&self, file: &str) -> PathBuf {
        self.root.path().join(SEALED_FOLDER).join(file)
    }

    fn files(&self) -> Vec<String> {
        let files = fs::read_dir(self.place("")).unwrap();
        let mut files: Vec<String> =
            files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        files.sort();
        files
    }

    fn compact(&self) -> Compacted {
        compact_up_to(&self.root, FsyncPolicy::Never, 200_000).unwrap()
    }

    fn merge(&self, other: &Self, base: &[String]) {
        let (own, others) = (self.files(), other.files());
        for file in base.iter().filter(|file| own.contains(file) && !others.contains(file)) {
            fs::remove_file(self.place(file)).unwrap();
        }
        for file in others.iter().filter(|file| !own.contains(file) && !base.contains(file)) {
            fs::copy(other.place(file), self.place(file)).unwrap();
        }
    }

    fn events(&self) -> Vec<Event> {
        let events = History::open(&self.root).unwrap().latest(100_000).unwrap();
        let verified = verify_segments(&self.root).unwrap();
        assert_eq!(verified.problems, []);
        assert_eq!(usize::try_from(verified.events).unwrap(), events.len());
        events
    }
}

fn event(segment: usize, number: usize) -> Event {
    let draft = EventDraft::new(Kind::CHECKPOINT).with("number", format!("{segment}/{number}"));
    Event::new(draft, Actor::human("Ada"), "2026-11-22T10:00:00Z".parse().unwrap()).sealed()
}

fn segment(number: usize, events: usize) -> (String, Vec<u8>) {
    let name = format!("s-{number:03}");
    let (mut bytes, mut chain) = Header::new(&SegmentName::new(&name).unwrap(), None).line();
    (0..events).for_each(|at| bytes.extend(chain.add(&event(number, at))));
    (format!("{name}.jsonl"), bytes)
}

fn project(segments: std::ops::Range<usize>) -> Clone {
    let clone = Clone::new();
    segments.for_each(|number| {
        let (file, bytes) = segment(number, 30);
        fs::write(clone.place(&file), bytes).unwrap();
    });
    clone
}

#[test]
fn many_segments_become_one_file_with_the_same_bytes() {
    let clone = project(0..20);
    let events = clone.events();
    let compacted = clone.compact();
    assert_eq!((compacted.segments.len(), compacted.before.count, compacted.after.count), (20, 20, 1));
    assert_eq!(compacted.after.bytes, compacted.before.bytes);
    assert!(clone.files()[0].starts_with("2026-11-"), "{:?}", clone.files());
    assert_eq!(clone.events(), events);
    let history = History::open(&clone.root).unwrap();
    assert!(history.segments().unwrap().iter().all(|segment| segment.place == SegmentPlace::Joined));
    for event in events.iter().step_by(97) {
        assert_eq!(history.event(&event.id.to_string()).unwrap(), *event);
    }
    assert_eq!(clone.compact(), Compacted::default());
    // A new segment joins those that are there.
    let (file, bytes) = segment(20, 30);
    fs::write(clone.place(&file), bytes).unwrap();
    assert_eq!(clone.compact().after.count, 1);
    assert_eq!(clone.events().len(), 21 * 30);
}

#[test]
fn clones_that_compact_differently_stay_right() {
    let base = project(0..10);
    let begin = base.files();
    let (one, other) = (Clone::new(), Clone::new());
    one.merge(&base, &[]);
    other.merge(&base, &[]);
    for (clone, number) in [(&one, 10), (&other, 11)] {
        let (file, bytes) = segment(number, 5);
        fs::write(clone.place(&file), bytes).unwrap();
        clone.compact();
    }
    one.merge(&other, &begin);
    assert_eq!(one.files().len(), 2, "a file of each");
    assert_eq!(one.events().len(), 310);
    let (file, bytes) = segment(12, 5);
    fs::write(one.place(&file), bytes).unwrap();
    assert_eq!(one.compact().after.count, 1);
    assert_eq!(one.events().len(), 315);
    // The same segments give the same file, wherever they are joined.
    let again = project(0..10);
    for number in 10..13 {
        let (file, bytes) = segment(number, 5);
        fs::write(again.place(&file), bytes).unwrap();
    }
    again.compact();
    assert_eq!(again.files(), one.files());
}

#[test]
fn a_full_file_stays_as_it_is() {
    let clone = project(0..0);
    for number in 0..12 {
        let (file, bytes) = segment(number, 100);
        fs::write(clone.place(&file), bytes).unwrap();
    }
    clone.compact();
    let full = clone.files();
    let (file, bytes) = segment(99, 5);
    fs::write(clone.place(&file), &bytes).unwrap();
    clone.compact();
    let after = clone.files();
    assert!(after.len() == 2 && after.contains(&full[0]), "{after:?}");
    assert_eq!(clone.events().len(), 12 * 100 + 5);
    // What a merge brings back is joined already.
    let (file, bytes) = segment(0, 100);
    fs::write(clone.place(&file), bytes).unwrap();
    assert_eq!((clone.compact().segments.len(), clone.files()), (1, after));
}

#[test]
fn what_is_damaged_or_not_the_same_stays() {
    let clone = project(0..3);
    clone.compact();
    let (file, mut bytes) = segment(1, 30);
    let place = bytes.len() - 20;
    bytes[place] ^= 1;
    fs::write(clone.place(&file), &bytes).unwrap();
    fs::write(clone.place("s-no.jsonl"), "no segment\n").unwrap();
    let before = clone.files();
    clone.compact();
    assert_eq!(clone.files(), before);
    assert_eq!(fs::read(clone.place(&file)).unwrap(), bytes);
    let verified = verify_segments(&clone.root).unwrap();
    let words: BTreeSet<&str> = verified.problems.iter().map(|problem| problem.word()).collect();
    assert!(words.contains("replaced") && words.contains("not-an-event"), "{words:?}");
}

#[test]
fn a_run_that_was_killed_is_finished_by_the_next() {
    let clone = project(0..3);
    clone.compact();
    let joined = clone.files();
    let (file, bytes) = segment(1, 30);
    fs::write(clone.place(&file), &bytes).unwrap();
    fs::write(clone.place(&format!(".{}.tmp", joined[0])), "half").unwrap();
    assert_eq!(clone.compact().segments.len(), 1);
    assert!(!clone.place(&file).exists() && clone.files().contains(&joined[0]));
    assert_eq!(clone.events().len(), 90);
}

#[test]
fn without_sealed_segments_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::open(folder.path()).unwrap();
    assert_eq!(compact_segments(&root, FsyncPolicy::Never).unwrap(), Compacted::default());
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}
