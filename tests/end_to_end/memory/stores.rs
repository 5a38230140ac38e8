//! Stores beside the embedded one: what they lack is told, and nothing waits for them.

use super::recalling::{cloned, done, told};
use crate::harness::{Repository, Sandbox};

const CONFIGURATION: &str = "project_id: p\nmemory:\n  stores:\n    kuzu: {kind: kuzu-memory}\n";

#[test]
fn a_store_that_cannot_be_reached_is_behind_and_holds_nobody_up() {
    let sandbox = Sandbox::empty();
    sandbox.write(".stepmark/config.yaml", CONFIGURATION);
    told(&sandbox, &["remember", "the clock is in UTC", "--kind", "error"]);
    told(&sandbox, &["remember", "handlers are small", "--kind", "pattern"]);
    let run = sandbox.stepmark(&["memory", "sync"]);
    assert_eq!(run.code, 5, "{run}");
    assert!(
        run.stdout.contains("no program `kuzu-memory` is on the search path; `pip install kuzu-memory`"),
        "{run}"
    );
    let state = done(&sandbox, &["memory", "status", "--json"]).json("stepmark.memory-status/1");
    let kuzu = &state["stores"]["kuzu"];
    assert_eq!(
        (&kuzu["units"], &kuzu["held"]),
        (&1.into(), &0.into()),
        "a pattern waits for a milestone: {state}"
    );
    assert_eq!(kuzu["behind"][0]["label"], "the clock is in UTC");
    let check = done(&sandbox, &["check", "--format", "short"]).stdout;
    assert!(
        check.contains(".stepmark/config.yaml:4:5: note SMM01 the store `kuzu` lacks one memory"),
        "{check}"
    );
    let run = sandbox.stepmark(&["memory", "recall", "clock", "--store", "kuzu"]);
    assert_eq!((run.code, run.stderr.contains("the store `kuzu` cannot be asked")), (5, true), "{run}");
    let run = sandbox.stepmark(&["memory", "sync", "--store", "other"]);
    assert_eq!((run.code, run.stderr.contains("no store of memory is called `other`")), (2, true), "{run}");
    done(&sandbox, &["memory", "recall", "clock"]);
}

#[cfg(unix)]
#[test]
fn a_store_is_given_each_memory_once_and_patterns_at_a_milestone() {
    use std::os::unix::fs::PermissionsExt as _;

    // Its arguments are kept. Where it holds nothing, it answers with words and not with JSON.
    const PROGRAM: &str = "#!/bin/sh\ncase \"$*\" in\n*' store '*) echo \"$*\" >> given;;\n*' recent '*) [ -f given ] || { echo 'No memories found'; exit 0; }\n\
        printf '{\"memories\": ['; comma=; while read -r line; do rest=${line#*--source }; printf '%s{\"source\": \"%s\"}' \"$comma\" \
        \"${rest%% *}\"; comma=,; done < given; echo ']}';;\nesac\n";
    let sandbox = Sandbox::empty();
    sandbox.write(".stepmark/config.yaml", CONFIGURATION);
    let folder = sandbox.outside().join("programs");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("kuzu-memory"), PROGRAM).unwrap();
    std::fs::set_permissions(folder.join("kuzu-memory"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let sync = |name: &str| {
        let run = sandbox.run(sandbox.command(&["memory", "sync"]).env("PATH", &folder));
        assert_eq!((run.code, run.stdout.trim()), (0, name), "{run}");
    };
    let one = ["--session", "s1"];
    done(&sandbox, &[&one[..], &["memory", "remember", "the clock is in UTC", "--kind", "error"]].concat());
    done(
        &sandbox,
        &[&one[..], &["memory", "remember", "handlers are [small]", "--kind", "pattern"]].concat(),
    );
    sync("kuzu  1 unit given, 0 there");
    sync("kuzu  0 units given, 1 there");
    done(&sandbox, &[&one[..], &["session", "end", "s1"]].concat());
    sync("kuzu  2 units given, 1 there");
    let given = sandbox.place(".stepmark/local/cache/kuzu/given");
    let text = std::fs::read_to_string(&given).unwrap();
    for part in ["-- pattern: handlers are (small) (memory ", "--session-id s1"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!done(&sandbox, &["check", "--format", "short"]).stdout.contains("SMM01"));
    // A store that was deleted is filled again.
    std::fs::remove_file(&given).unwrap();
    sync("kuzu  3 units given, 0 there");
    // The process that runs all the time does so, too, without any tracker.
    std::fs::remove_file(&given).unwrap();
    let mut runs = sandbox.command(&["sync", "run"]).env("PATH", &folder).spawn().unwrap();
    let is_filled = || std::fs::read_to_string(&given).is_ok_and(|text| text.lines().count() == 3);
    let filled = (0..500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        is_filled()
    });
    runs.kill().unwrap();
    runs.wait().unwrap();
    assert!(filled, "sync run delivers memory");
}

#[test]
fn a_memory_whose_successor_stayed_in_another_clone_is_told() {
    let Some(first) = Repository::empty("memories of two clones") else { return };
    let sandbox = &first.sandbox;
    let track = |place: &str| sandbox.write(".stepmark/config.yaml", format!("memory: {{track: {place}}}\n"));
    track("git");
    let session = |words: &[&str]| done(sandbox, &[&["--session", "s-one"], words].concat());
    session(&["session", "start"]);
    let old = told_in(&session(&["memory", "remember", "use redis", "--kind", "decision", "--json"]));
    track("local");
    let new = told_in(&session(&["memory", "remember", "use sqlite", "--kind", "decision", "--json"]));
    track("git");
    session(&["memory", "supersede", &old, "--by", &new]);
    session(&["session", "end", "s-one"]);
    assert!(!done(sandbox, &["check", "--format", "short"]).stdout.contains("SMM03"));
    let clone = cloned(&first);
    let run = sandbox.run(first.command(&["check", "--format", "short"]).current_dir(&clone));
    let said = format!("SMM03 memory {old:.8} was superseded by {new:.8}, which is not there");
    assert_eq!((run.code, run.stdout.contains(&said)), (1, true), "{run}");
}

fn told_in(run: &crate::harness::Run) -> String {
    run.json("stepmark.memory-told/1")["id"].as_str().unwrap().to_owned()
}
