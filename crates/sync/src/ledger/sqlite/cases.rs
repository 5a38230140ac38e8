//! Cases of the ledger in a file.
#![expect(clippy::disallowed_methods, reason = "tests write files directly")]

use std::{collections::BTreeMap, fs, sync::Barrier, thread};

use rusqlite::Connection;

use super::SqliteLedger;
use crate::{
    Error, ErrorKind,
    ledger::{Ledger as _, Link, TrackerRecord},
    ticket::{RemoteTicket, Ticket, sample::marker, sample::ticket},
};

fn listed() -> TrackerRecord {
    TrackerRecord { listed_at: Some(jiff::Timestamp::UNIX_EPOCH), ..Default::default() }
}

#[test]
fn what_is_committed_is_there_when_it_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    assert!(SqliteLedger::open_existing(&path).unwrap().is_none());
    assert!(!path.exists(), "looking makes nothing");
    let mut ledger = SqliteLedger::open(&path).unwrap();
    let mut transaction = ledger.write().unwrap();
    transaction.put_record(&"gh".parse().unwrap(), &listed()).unwrap();
    // Readers of another handle do not wait for a writer.
    let mut reader = SqliteLedger::open_existing(&path).unwrap().unwrap();
    assert_eq!(reader.read().unwrap().record(&"gh".parse().unwrap()).unwrap(), TrackerRecord::default());
    transaction.commit().unwrap();
    assert!(reader.read().unwrap().record(&"gh".parse().unwrap()).unwrap() == listed());
    assert!(
        reader
            .write()
            .and_then(|mut ledger| ledger.remove_link(&"gh".parse().unwrap(), &marker("a")))
            .is_err()
    );
    drop(ledger);
    let mut again = SqliteLedger::open(&path).unwrap();
    assert!(again.read().unwrap().record(&"gh".parse().unwrap()).unwrap() == listed());
}

#[test]
fn a_file_of_a_newer_stepmark_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    drop(SqliteLedger::open(&path).unwrap());
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let error = SqliteLedger::open(&path).unwrap_err();
    assert!(error.message.contains("version 99"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_link_is_not_followed_to_the_database_of_somebody_else() {
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("project/sync.db"), folder.path().join("other.db"));
    fs::create_dir_all(folder.path().join("project")).unwrap();
    symlink(&other, &path).unwrap();
    let told = |error: &Error| std::error::Error::source(error).unwrap().to_string();
    assert!(told(&SqliteLedger::open(&path).unwrap_err()).contains("delete the link"));
    assert!(!other.exists(), "nothing is made where it leads to");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE links (x)").unwrap();
    let before = fs::read(&other).unwrap();
    assert!(SqliteLedger::open(&path).is_err() && SqliteLedger::open_existing(&path).is_err());
    assert_eq!(fs::read(&other).unwrap(), before);
    fs::remove_file(&path).unwrap();
    // A folder is the business of whoever names it.
    symlink(folder.path().join("project"), folder.path().join("named")).unwrap();
    assert!(SqliteLedger::open(&folder.path().join("named/sync.db")).is_ok());
}

#[test]
fn what_cannot_be_read_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    fs::write(&path, "not a database at all, but long enough to have a header".repeat(9)).unwrap();
    let error = SqliteLedger::open(&path).unwrap_err().to_string();
    assert!(error.contains("stepmark sync adopt"), "{error}");
    fs::remove_file(&path).unwrap();
    let mut ledger = SqliteLedger::open(&path).unwrap();
    let sql =
        "INSERT INTO deliveries VALUES ('gh', 'p/id:a', '{}'), ('gh', 'nonsense', '{\"state\":\"due\"}')";
    Connection::open(&path).unwrap().execute(sql, []).unwrap();
    let reader = ledger.read().unwrap();
    let error = reader.delivery(&"gh".parse().unwrap(), &marker("a")).unwrap_err();
    assert!(error.kind == ErrorKind::Corrupt && error.message.contains("a delivery that"), "{error}");
    assert!(reader.deliveries(&"gh".parse().unwrap()).is_err());
}

#[test]
fn many_may_make_the_file_at_once() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let together = Barrier::new(8);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    together.wait();
                    SqliteLedger::open(&path).unwrap()
                });
            }
        });
    }
}

#[test]
fn a_lease_shows_whether_its_holder_lives() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let [mut first, mut second] = [SqliteLedger::open(&path).unwrap(), SqliteLedger::open(&path).unwrap()];
    let locks = || {
        fs::read_dir(folder.path())
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|end| end == "lock"))
            .count()
    };
    assert!(!second.is_holder_dead("gh", 1).unwrap(), "nothing is known");
    assert!(first.mark_alive("gh", 1).unwrap() && first.mark_alive("gh", 1).unwrap());
    assert!(!second.mark_alive("gh", 1).unwrap() && second.mark_alive("other", 1).unwrap());
    assert!(!first.is_holder_dead("gh", 1).unwrap() && !second.is_holder_dead("gh", 1).unwrap());
    // Another number takes the place of the first.
    assert!(first.mark_alive("gh", 2).unwrap() && second.mark_alive("gh", 1).unwrap());
    first.unmark_alive("gh").unwrap();
    assert!(!second.is_holder_dead("gh", 2).unwrap(), "it ended well, and gave its lease back");
    drop(second);
    assert_eq!(locks(), 1);
    assert!(first.is_holder_dead("other", 1).unwrap(), "it ended and gave nothing back");
    assert!(first.mark_alive("other", 2).unwrap());
    first.unmark_alive("other").unwrap();
    assert_eq!(locks(), 0);
}

/// The journal of a first transaction that was not finished: it takes the file back to no pages at all
/// (SQLite's "Database File Format", §3).
fn journal_of_a_new_file() -> Vec<u8> {
    let mut journal = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7".to_vec();
    for number in [0_u32, 0x5EED, 0, 512, 4096] {
        journal.extend(number.to_be_bytes());
    }
    journal.resize(512, 0);
    journal
}

#[test]
fn a_ledger_whose_making_was_cut_off_is_made_by_the_next_call() {
    let page = |sql: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new.db");
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        fs::read(path).unwrap()
    };
    let plain = page("PRAGMA user_version = 1");
    let logged = page("PRAGMA journal_mode = WAL; PRAGMA user_version = 0");
    let journal = journal_of_a_new_file();
    for (name, database, others) in [
        ("made, nothing in it", &[][..], &[][..]),
        ("a journal was begun", &[], &[("-journal", &journal[..])]),
        ("the first page is not acknowledged", &plain[..], &[("-journal", &journal[..])]),
        ("the page of a log is not acknowledged", &logged, &[("-journal", &journal[..])]),
        ("the page is torn", &plain[..100], &[("-journal", &journal[..])]),
        ("a journal that never got its head", &logged, &[("-journal", &[0; 512][..])]),
        ("a log, and no table", &logged, &[]),
        ("an empty log", &logged, &[("-wal", &[][..]), ("-shm", &[][..])]),
        (
            "the head of a log, cut off",
            &logged,
            &[("-wal", &[0x37, 0x7f, 6, 0x82][..]), ("-shm", &[0; 32768][..])],
        ),
    ] {
        for is_looked_at in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("sync.db");
            fs::write(&path, database).unwrap();
            for (suffix, bytes) in others {
                fs::write(folder.path().join(format!("sync.db{suffix}")), bytes).unwrap();
            }
            if is_looked_at {
                let seen =
                    SqliteLedger::open_existing(&path).unwrap_or_else(|error| panic!("{name}: {error:?}"));
                assert!(seen.is_none(), "{name}");
            }
            let mut made = SqliteLedger::open(&path).unwrap_or_else(|error| panic!("{name}: {error:?}"));
            let mut transaction = made.write().unwrap();
            transaction.put_record(&"gh".parse().unwrap(), &listed()).unwrap();
            transaction.commit().unwrap();
            let mut seen = SqliteLedger::open_existing(&path).unwrap().unwrap();
            assert!(seen.read().unwrap().record(&"gh".parse().unwrap()).unwrap() == listed(), "{name}");
        }
    }
}

#[test]
fn an_older_stepmark_can_read_what_a_ticket_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let mut ledger = SqliteLedger::open(&path).unwrap();
    let file_at_commit = Some("https://h/blob/1/a.md".to_owned());
    let said = Ticket { file_at_commit, ..ticket("a", |_| {}) };
    let link = Link {
        tracker: "gh".parse().unwrap(),
        marker: marker("a"),
        remote: RemoteTicket {
            id: "1".to_owned(),
            key: String::new(),
            url: String::new(),
            other_ids: BTreeMap::new(),
        },
        digest: None,
        linked_at: jiff::Timestamp::UNIX_EPOCH,
    };
    let mut transaction = ledger.write().unwrap();
    transaction.put_link(&link, Some(&said)).unwrap();
    transaction.commit().unwrap();
    assert_eq!(ledger.read().unwrap().projected(&link.tracker, &link.marker).unwrap(), Some(said));
    let stored: String = Connection::open(&path)
        .unwrap()
        .query_row("SELECT projected FROM links", [], |row| row.get(0))
        .unwrap();
    assert!(stored.contains("\"standing\":") && !stored.contains("\"state\":"), "{stored}");
}
