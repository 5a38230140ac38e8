//! The index is disposable: whatever happens to it, the answers stay.

use crate::history::restless;
use std::{fs, path::PathBuf};

use crate::disk::{file_reading::coarse_clock, root::Root};
use crate::history::{
    History, index::Index, index::LAYOUT, scratch_journal::ScratchJournal, scratch_journal::chain,
    scratch_journal::key, scratch_journal::path,
};
use stepmark_model::journal::Event;

const PRD: (&str, &str) = ("path:docs/prd.md", "docs/prd.md");

fn journal() -> (ScratchJournal, Vec<Event>) {
    let project = ScratchJournal::new();
    let events = chain(PRD, 60);
    project.segment_of("main-a", &events);
    (project, events)
}

fn database(project: &ScratchJournal) -> PathBuf {
    project.place(".stepmark/local/cache/journal.db")
}

fn assert_knows(history: &History, events: &[Event]) {
    let lineage = history.lineage(&key(PRD.0), &path(PRD.1)).unwrap();
    assert!(lineage.events() == events, "{} events", lineage.events().len());
    let heads = history.heads(&key(PRD.0), &path(PRD.1)).unwrap();
    assert_eq!(heads, events[events.len() - 1..]);
}

#[test]
fn it_is_made_anew_when_it_is_deleted_even_under_a_handle() {
    let (project, events) = journal();
    let history = project.history();
    assert_knows(&history, &events);
    fs::remove_dir_all(project.place(".stepmark/local/cache")).unwrap();
    assert_knows(&history, &events);
    assert_knows(&project.history(), &events);
    assert!(database(&project).exists());
}

#[test]
fn an_index_that_is_emptied_before_it_is_asked_is_no_empty_history() {
    let (project, events) = journal();
    let (history, other) = (project.history(), Root::open(project.place("")).unwrap());
    let count = |index: &Index| {
        Ok(index.connection().query_row("SELECT COUNT(*) FROM events", [], |row| row.get::<_, usize>(0))?)
    };
    let is_emptied = std::cell::Cell::new(false);
    let empty_once = || {
        if !is_emptied.replace(true) {
            drop(LAYOUT.open(&other).unwrap().renew().unwrap());
        }
    };
    assert_eq!(history.ask_watched(count, empty_once).unwrap(), events.len());
    let always = || drop(LAYOUT.open(&other).unwrap().renew().unwrap());
    assert_eq!(history.ask_watched(count, always).unwrap_err().to_string(), restless().to_string());
    assert_knows(&history, &events);
}

#[cfg(unix)]
#[test]
fn a_database_elsewhere_is_not_touched_through_a_link() {
    let (project, events) = journal();
    let outside = tempfile::tempdir().unwrap();
    let precious = outside.path().join("precious.db");
    let connection = rusqlite::Connection::open(&precious).unwrap();
    connection.execute_batch("CREATE TABLE events (y)").unwrap();
    drop(connection);
    let before = fs::read(&precious).unwrap();
    fs::create_dir_all(project.place(".stepmark/local/cache")).unwrap();
    std::os::unix::fs::symlink(&precious, database(&project)).unwrap();
    assert_knows(&project.history(), &events);
    assert!(fs::read(&precious).unwrap() == before);
    assert!(fs::symlink_metadata(database(&project)).unwrap().is_file());
}

#[test]
fn it_is_made_anew_when_it_is_damaged() {
    let (project, events) = journal();
    assert_knows(&project.history(), &events);
    let connection = rusqlite::Connection::open(database(&project)).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(connection);
    let whole = fs::read(database(&project)).unwrap();
    assert!(whole.len() > 20 * 4096, "all that was indexed stands in the file");
    let log = project.place(".stepmark/local/cache/journal.db-wal");
    let mut damages: Vec<Vec<u8>> =
        vec![b"this is no database, and long enough to be read as one".repeat(100)];
    damages.push(whole[..whole.len() / 2].to_vec());
    damages.push(Vec::new());
    for page in 0..whole.len() / 4096 {
        let mut damaged = whole.clone();
        damaged[page * 4096..(page + 1) * 4096].fill(0x5a);
        damages.push(damaged);
    }
    for (number, damaged) in damages.into_iter().enumerate() {
        let _absent = fs::remove_file(&log);
        fs::write(database(&project), damaged).unwrap();
        let history = project.history();
        assert_knows(&history, &events);
        let ids = history.latest(100).unwrap().len();
        assert_eq!(ids, events.len(), "damage {number}");
        for event in &events {
            assert!(history.contains(event.id).unwrap(), "damage {number}");
        }
    }
    fs::write(&log, vec![7; 10_000]).unwrap();
    assert_knows(&project.history(), &events);
}

#[test]
fn it_is_made_anew_when_it_is_of_another_version_or_lies() {
    let (project, events) = journal();
    assert_knows(&project.history(), &events);
    let change = |sql: &str| {
        rusqlite::Connection::open(database(&project)).unwrap().execute_batch(sql).unwrap();
        assert_knows(&project.history(), &events);
        assert_knows(&project.history(), &events);
    };
    change("PRAGMA user_version = 77");
    change("DROP TABLE heads");
    change("UPDATE events SET start = start + 1 WHERE seq = 60");
    change("UPDATE events SET length = 1000000 WHERE seq = 7");
    change("UPDATE events SET length = 9223372036854775807 WHERE seq = 7");
    change("UPDATE events SET segment = 99 WHERE seq = 7");
}

#[test]
fn it_lies_in_memory_where_it_cannot_be_written() {
    let (project, events) = journal();
    fs::create_dir_all(project.place(".stepmark")).unwrap();
    fs::write(project.place(".stepmark/local/cache"), "a file where the folder should be").unwrap();
    assert_knows(&project.history(), &events);
    fs::remove_file(project.place(".stepmark/local/cache")).unwrap();
    assert_knows(&project.history(), &events);
}

#[cfg(unix)]
#[test]
fn it_lies_in_memory_in_a_folder_without_the_right_to_write() {
    use std::os::unix::fs::PermissionsExt;
    let (project, events) = journal();
    // Root may write everywhere, so this says something for other users only; both must get the answer.
    let folder = project.place(".stepmark");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    assert_knows(&project.history(), &events);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_database_that_another_process_keeps_for_itself_is_done_without() {
    let (project, events) = journal();
    assert_knows(&project.history(), &events[..]);
    let other = rusqlite::Connection::open(database(&project)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE; UPDATE segments SET is_settled = 0").unwrap();
    let mut more = chain(PRD, 60);
    assert_eq!(more, events);
    let next = crate::history::scratch_journal::event(
        PRD,
        &[(&events[59], &crate::history::scratch_journal::steps(60))],
        &crate::history::scratch_journal::steps(61),
        99,
    );
    more.push(next);
    project.segment_of("main-b", &more[60..]);
    assert_knows(&project.history(), &more);
    other.execute_batch("ROLLBACK").unwrap();
    assert_knows(&project.history(), &more);
}

#[test]
fn many_may_bring_it_up_to_date_at_once() {
    let project = ScratchJournal::new();
    let events = chain(PRD, 200);
    let mut segment = project.segment("main-a");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut seen = 0;
                while seen < 200 {
                    let history = project.history();
                    let lineage = history.lineage(&key(PRD.0), &path(PRD.1)).unwrap();
                    assert!(lineage.events() == &events[..lineage.events().len()]);
                    assert!(lineage.events().len() >= seen);
                    seen = lineage.events().len();
                }
            });
        }
        events.iter().for_each(|event| segment.append(event));
    });
    assert_knows(&project.history(), &events);
}

#[test]
fn a_segment_that_becomes_another_is_read_again() {
    let (project, events) = journal();
    let history = project.history();
    assert_knows(&history, &events);
    for count in [30, 59, 12] {
        project.segment_of("main-a", &events[..count]);
        assert_knows(&history, &events[..count]);
    }
    let other = chain(("path:docs/prd.md", "docs/prd.md"), 12);
    let mut other: Vec<Event> = other[..11].to_vec();
    let state = serde_json::json!({"another": "branch"});
    let last = crate::history::scratch_journal::event(
        PRD,
        &[(&other[10], &crate::history::scratch_journal::steps(11))],
        &state,
        11,
    );
    other.push(last);
    project.segment_of("main-a", &other);
    assert_knows(&history, &other);
}

/// A file system that counts in steps of 2 s, as FAT does, gives both files the same time.
#[test]
fn a_merged_segment_that_becomes_another_within_one_step_of_a_coarse_clock_is_read_again() {
    let project = ScratchJournal::new();
    let history = project.history();
    let first = chain(PRD, 2);
    let last = |word: &str| {
        let state = serde_json::json!({"branch": word});
        crate::history::scratch_journal::event(
            PRD,
            &[(&first[1], &crate::history::scratch_journal::steps(2))],
            &state,
            9,
        )
    };
    let branches = [last("one"), last("two")];
    let sealed = project.file("main-a", crate::history::SegmentPlace::Sealed);
    fs::create_dir_all(sealed.parent().unwrap()).unwrap();
    let step = coarse_clock::pretend();
    let merge = |last: &Event| {
        project.segment_of("main-a", &[first.as_slice(), std::slice::from_ref(last)].concat());
        let live = project.file("main-a", crate::history::SegmentPlace::Live);
        // In place, so that the file keeps its number, which a file system may give to the next one, too.
        fs::write(&sealed, fs::read(&live).unwrap()).unwrap();
        fs::remove_file(live).unwrap();
        coarse_clock::set(&sealed, step);
        coarse_clock::set(sealed.parent().unwrap(), step);
        fs::metadata(&sealed).unwrap().len()
    };
    let lengths = branches.each_ref().map(|last| {
        let length = merge(last);
        let known = branches.each_ref().map(|other| history.contains(other.id).unwrap());
        assert_eq!(known, branches.each_ref().map(|other| other.id == last.id));
        assert_knows(&project.history(), &[first.as_slice(), std::slice::from_ref(last)].concat());
        length
    });
    assert_eq!(lengths[0], lengths[1]);
}

/// A project that was unpacked from somewhere may bring one; it is read again at each question, and the
/// question ends.
#[test]
fn an_empty_segment_of_the_future_makes_no_question_endless() {
    let project = ScratchJournal::new();
    let events = chain(PRD, 2);
    project.segment_of("main-a", &events);
    let live = project.file("main-b", crate::history::SegmentPlace::Live);
    fs::write(&live, "").unwrap();
    let step = coarse_clock::pretend();
    coarse_clock::set(&live, step + std::time::Duration::from_secs(1_000_000));
    let history = project.history();
    for _ in 0..3 {
        assert_knows(&history, &events);
    }
}
