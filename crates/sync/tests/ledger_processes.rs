//! Several processes on one ledger, and processes that are killed: this test runs itself as its own children.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "an edge: processes are started here")]

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use jiff::Timestamp;
use stepmark_model::journal::ArtifactKey;
use stepmark_sync::{
    Error, ErrorKind,
    breaker::{Breaker, BreakerSettings, Circuit, Failure, Reason, Route, RouteAdmission, Scope},
    ledger::{Lease, Ledger, Link, SqliteLedger},
    ticket::{Marker, RemoteTicket},
};

const ROLE: &str = "LEDGER_TEST_ROLE";
const FILE: &str = "LEDGER_TEST_FILE";

fn child(role: &str, file: &Path) -> Child {
    child_command(role, file).spawn().unwrap()
}

fn child_command(role: &str, file: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", "as_a_child", "--nocapture", "--include-ignored"])
        .env(ROLE, role)
        .env(FILE, file);
    command.stdout(Stdio::piped());
    command
}

/// Returns what a child prints, apart from what the test harness prints.
fn said(child: Child) -> Vec<String> {
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().filter_map(|line| line.split_once("said ").map(|(_, word)| word.to_owned())).collect()
}

fn marker(number: u32) -> Marker {
    Marker::new("p", ArtifactKey::of_id(&number.to_string())).unwrap()
}

fn link(number: u32) -> Link {
    let id = number.to_string();
    let remote =
        RemoteTicket { key: format!("#{id}"), url: String::new(), other_ids: Default::default(), id };
    Link {
        tracker: "gh".parse().unwrap(),
        marker: marker(number),
        remote,
        digest: None,
        linked_at: Timestamp::UNIX_EPOCH,
    }
}

/// The part of this test that runs in a process of its own. Without a role it has nothing to do.
#[test]
#[ignore = "a child of the other tests"]
fn as_a_child() {
    let (Ok(role), Ok(file)) = (env::var(ROLE), env::var(FILE)) else { return };
    let mut ledger = SqliteLedger::open(Path::new(&file)).unwrap();
    match role.as_str() {
        "count" => count(&mut ledger),
        "probe" => println!("said {}", probe(&mut ledger)),
        "write" => write_for_ever(&mut ledger),
        "live" => {
            println!("said {}", ledger.mark_alive("gh", 7).unwrap());
            std::io::stdin().read_line(&mut String::new()).unwrap();
        }
        other => panic!("{other}"),
    }
}

/// Counts fifty times in the number of a lease, which it takes from whoever has it.
fn count(ledger: &mut SqliteLedger) {
    for _ in 0..50 {
        let mut transaction = ledger.write().unwrap();
        let number = transaction.lease("gh").unwrap().map_or(0, |lease| lease.number);
        let until = Timestamp::UNIX_EPOCH;
        transaction
            .put_lease(&Lease { name: "gh".to_owned(), holder: "x".to_owned(), number: number + 1, until })
            .unwrap();
        transaction.commit().unwrap();
    }
}

fn route() -> Route {
    Route { host: "h".to_owned(), credential: "c".to_owned(), endpoint: "e".to_owned(), tickets: Vec::new() }
}

/// Asks once whether a request may be made.
fn probe(ledger: &mut SqliteLedger) -> &'static str {
    let mut transaction = ledger.write().unwrap();
    let mut circuit = Circuit::load(&route(), |scope| transaction.breaker(scope)).unwrap();
    let admission = circuit.admit(Timestamp::from_second(10_000).unwrap(), &BreakerSettings::default());
    for (scope, breaker) in circuit.breakers() {
        transaction.put_breaker(scope, breaker).unwrap();
    }
    transaction.commit().unwrap();
    if admission == RouteAdmission::Pass { "pass" } else { "refused" }
}

fn write_for_ever(ledger: &mut SqliteLedger) {
    for number in 0.. {
        let mut transaction = ledger.write().unwrap();
        transaction.put_link(&link(number), None).unwrap();
        transaction.commit().unwrap();
        println!("said {number}");
    }
}

#[test]
fn no_update_is_lost_between_processes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ledger.db");
    // All of them find no file and make it.
    let children: Vec<Child> = (0..6).map(|_| child("count", &file)).collect();
    children.into_iter().for_each(|child| drop(said(child)));
    let mut ledger = SqliteLedger::open_existing(&file).unwrap().unwrap();
    assert_eq!(ledger.read().unwrap().lease("gh").unwrap().unwrap().number, 300);
}

#[test]
fn one_process_of_many_gets_the_probe() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ledger.db");
    let mut ledger = SqliteLedger::open(&file).unwrap();
    let failure = Failure::new(Reason::Quota, "");
    let open = Breaker::default().failed(&failure, Timestamp::UNIX_EPOCH, &BreakerSettings::default());
    let mut transaction = ledger.write().unwrap();
    transaction.put_breaker(&Scope::Host { host: "h".to_owned() }, &open).unwrap();
    transaction.commit().unwrap();
    let children: Vec<Child> = (0..6).map(|_| child("probe", &file)).collect();
    let answers: Vec<String> = children.into_iter().flat_map(said).collect();
    assert_eq!(answers.iter().filter(|answer| *answer == "pass").count(), 1, "{answers:?}");
    assert_eq!(answers.len(), 6);
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ledger.db");
    for _ in 0..5 {
        let mut child = child("write", &file);
        let mut acknowledged = None;
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            let Some((_, number)) = line.split_once("said ") else { continue };
            acknowledged = Some(number.parse::<u32>().unwrap());
            if acknowledged >= Some(40) {
                break;
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let mut ledger = SqliteLedger::open(&file).unwrap();
        let links = ledger.read().unwrap().links(&"gh".parse().unwrap()).unwrap();
        let last = acknowledged.unwrap();
        assert!((0..=last).all(|number| links.iter().any(|link| link.marker == marker(number))));
        drop(ledger);
        fs::remove_file(&file).unwrap();
        for end in ["-wal", "-shm"] {
            drop(fs::remove_file(folder.path().join(format!("ledger.db{end}"))));
        }
    }
}

#[test]
fn a_sign_of_life_ends_with_its_process() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ledger.db");
    let mut ledger = SqliteLedger::open(&file).unwrap();
    let mut child = child_command("live", &file).stdin(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let said = lines.map(Result::unwrap).find(|line| line.contains("said ")).unwrap();
    assert!(said.ends_with("said true"), "{said}");
    assert!(!ledger.is_holder_dead("gh", 7).unwrap());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(ledger.is_holder_dead("gh", 7).unwrap());
    assert!(ledger.mark_alive("gh", 8).unwrap());
    ledger.unmark_alive("gh").unwrap();
    let left = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(left.filter(|path| path.extension().is_some_and(|end| end == "lock")).count(), 0);
}

#[test]
fn a_writer_that_never_ends_is_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ledger.db");
    let mut first = SqliteLedger::open(&file).unwrap();
    let mut second = SqliteLedger::open(&file).unwrap();
    second.set_patience(std::time::Duration::from_millis(50)).unwrap();
    let held = first.write().unwrap();
    assert!(matches!(second.write(), Err(Error { kind: ErrorKind::Busy, .. })));
    assert!(second.read().unwrap().links(&"gh".parse().unwrap()).unwrap().is_empty(), "readers do not wait");
    drop(held);
    second.write().unwrap().commit().unwrap();
}
