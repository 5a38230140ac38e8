//! Other programs write a file that follows while stepmark does: no task is lost, and what they changed is
//! told and stays.

use std::{
    fs,
    io::Write as _,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use serde_json::Value;

use super::coordination::{succeeds, tasks};
use crate::harness::Sandbox;

const TASKS: &str = ".coordination/tasks.json";

/// A way in which another program writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// It holds the lock of the file while it reads and writes, and writes in place.
    Locked,
    /// It takes no lock, and writes in place.
    InPlace,
    /// It takes no lock, and puts a new file there.
    Replacing,
}

/// Tasks for each of three agents, and one that another program writes into.
fn project() -> Sandbox {
    let sandbox = Sandbox::empty();
    succeeds(&sandbox, &["coordination", "init", "--goal", "Ship"]);
    for id in ["theirs", "a0", "a1", "b0", "b1", "c0", "c1"] {
        succeeds(&sandbox, &["task", "add", "Do it", "--id", id]);
    }
    sandbox
}

/// Changes `theirs` in the file until all `is_over`, as another program would, and returns the last change.
fn change(sandbox: &Sandbox, manner: Manner, is_over: &AtomicBool) -> u64 {
    let place = sandbox.place(TASKS);
    let mut number = 0;
    while number == 0 || !is_over.load(Ordering::Relaxed) {
        number += 1;
        let lock = (manner == Manner::Locked).then(|| {
            let lock = fs::File::create(sandbox.place(".coordination/tasks.json.lock")).unwrap();
            lock.lock().unwrap();
            lock
        });
        let read = || serde_json::from_slice::<Value>(&fs::read(&place).ok()?).ok();
        let mut file = loop {
            match read() {
                Some(file) => break file,
                // It writes in place itself, so nobody else is half through.
                None => assert_ne!(manner, Manner::Locked, "a file is read whole under its lock"),
            }
        };
        let tasks = file["tasks"].as_array_mut().unwrap();
        let own = tasks.iter_mut().find(|task| task["id"] == "theirs");
        own.expect("a task is in the file")["note"] = number.into();
        let bytes = file.to_string().into_bytes();
        thread::sleep(Duration::from_millis(5));
        if manner == Manner::Replacing {
            fs::write(place.with_extension("new"), bytes).unwrap();
            fs::rename(place.with_extension("new"), &place).unwrap();
        } else {
            let mut file = fs::File::create(&place).unwrap();
            let (first, rest) = bytes.split_at(bytes.len() / 2);
            file.write_all(first).unwrap();
            thread::sleep(Duration::from_millis(2));
            file.write_all(rest).unwrap();
        }
        drop(lock);
        thread::sleep(Duration::from_millis(15));
    }
    number
}

/// Claims and ends both tasks of an agent, and returns what it was told.
fn work(sandbox: &Sandbox, agent: &str) -> String {
    let mut told = String::new();
    for number in 0..2 {
        let id = format!("{agent}{number}");
        for step in [&["claim"][..], &["start"], &["done", "--output", "It is done"]] {
            let arguments = [&["task", step[0], &id, "--agent", agent], &step[1..]].concat();
            told += &succeeds(sandbox, &arguments).stderr;
        }
    }
    told
}

/// The project after all have written, what the agents were told, and the last change of the other program.
fn write_at_once(manner: Manner) -> (Sandbox, String, u64) {
    let (sandbox, is_over) = (project(), AtomicBool::new(false));
    let (told, last) = thread::scope(|scope| {
        let other = scope.spawn(|| change(&sandbox, manner, &is_over));
        let workers = ["a", "b", "c"].map(|agent| {
            let sandbox = &sandbox;
            scope.spawn(move || work(sandbox, agent))
        });
        let told = workers.map(|worker| worker.join()).map(|told| told.unwrap_or_default()).concat();
        is_over.store(true, Ordering::Relaxed);
        (told, other.join().unwrap())
    });
    (sandbox, told, last)
}

/// The records in drift, told and not overwritten.
fn drift(sandbox: &Sandbox) -> Vec<String> {
    let run = sandbox.stepmark(&["coordination", "project", "--json"]);
    let told = run.json("stepmark.coordination-files/1");
    assert_eq!(run.code, i32::from(told["drift"] != Value::Array(Vec::new())), "{run}");
    let ids = told["drift"].as_array().unwrap().iter().map(|own| own["id"].as_str().unwrap().to_owned());
    ids.collect()
}

fn all_are_done(sandbox: &Sandbox) {
    let records = sandbox.reads_only(&["task", "list", "--json"]).json("stepmark.tasks/1");
    let records = records["tasks"].as_array().unwrap();
    assert_eq!(records.len(), 7, "no task is lost");
    let open = records.iter().filter(|task| task["status"] != "done").map(|task| &task["id"]);
    assert_eq!(open.collect::<Vec<_>>(), ["theirs"]);
}

#[test]
fn under_its_lock_each_writer_sees_what_the_other_wrote() {
    let (sandbox, told, last) = write_at_once(Manner::Locked);
    all_are_done(&sandbox);
    assert!(!told.contains("could not be read") && told.contains("`theirs` was changed"), "{told}");
    assert_eq!(drift(&sandbox), ["theirs"], "only what it changed");
    let found = tasks(&sandbox);
    assert_eq!(found[0]["note"], last, "the last change stays: {found:?}");
    assert!(found[1..].iter().all(|task| task["status"] == "done"), "the others go on: {found:?}");
    succeeds(&sandbox, &["import", "coordination", "--take", "file"]);
    assert_eq!(drift(&sandbox), Vec::<String>::new());
    assert_eq!(tasks(&sandbox)[0]["note"], last);
    assert_eq!(sandbox.stepmark(&["check"]).code, 0);
}

#[test]
fn without_a_lock_nothing_that_stands_there_is_lost() {
    for manner in [Manner::InPlace, Manner::Replacing] {
        let (sandbox, told, _) = write_at_once(manner);
        all_are_done(&sandbox);
        // It may have put back what it had read before others wrote: that is told, too.
        let (ids, stands) = (drift(&sandbox), tasks(&sandbox)[0]["note"].is_u64());
        assert_eq!(ids.contains(&"theirs".to_owned()), stands, "{manner:?}: {ids:?}");
        let was_half_written = told.contains("could not be read and was made again");
        assert!(stands || was_half_written && manner == Manner::InPlace, "{manner:?}: {told}");
        succeeds(&sandbox, &["coordination", "project", "--overwrite"]);
        assert_eq!(drift(&sandbox), Vec::<String>::new());
        assert!(tasks(&sandbox)[1..].iter().all(|task| task["status"] == "done"));
    }
}

#[test]
fn a_lock_that_nobody_lets_go_is_told() {
    let sandbox = project();
    let lock = fs::File::create(sandbox.place(".coordination/tasks.json.lock")).unwrap();
    lock.lock().unwrap();
    let claimed = succeeds(&sandbox, &["task", "claim", "a0", "--agent", "a"]);
    assert!(claimed.stderr.contains("another program holds `.coordination/tasks.json.lock`"), "{claimed}");
    assert_eq!(tasks(&sandbox)[1]["status"], "available", "the file is behind");
    drop(lock);
    succeeds(&sandbox, &["coordination", "project"]);
    assert_eq!(tasks(&sandbox)[1]["status"], "claimed");
}
