//! What is remembered is recalled, with its source; stores are made again.

use std::path::PathBuf;

use serde_json::Value;

use crate::harness::{Repository, Run, Sandbox};

const PRD: &str = "---\nid: prd\nworkflowType: prd\nstepsCompleted: [step-01-init]\nstatus: draft\n\
                   inputDocuments: [docs/brief.md]\n---\n# PRD\n";

pub(super) fn done(sandbox: &Sandbox, arguments: &[&str]) -> Run {
    let run = sandbox.stepmark(arguments);
    assert_eq!(run.code, 0, "{arguments:?}: {run}");
    run
}

fn recalled(sandbox: &Sandbox, arguments: &[&str]) -> Vec<Value> {
    records(&done(sandbox, &[&["memory"], arguments, &["--json"]].concat()))
}

fn records(run: &Run) -> Vec<Value> {
    run.json("stepmark.memories/1")["memories"].as_array().unwrap().clone()
}

pub(super) fn told(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let words = [&["memory"], arguments, &["--json"]].concat();
    done(sandbox, &words).json("stepmark.memory-told/1")["id"].as_str().unwrap().to_owned()
}

/// A clone of the repository, with all that is there committed.
pub(super) fn cloned(first: &Repository) -> PathBuf {
    first.git(&["config", "user.name", "Ada"]);
    first.git(&["config", "user.email", "ada@example.com"]);
    first.commit("all");
    let clone = first.sandbox.outside().join("clone");
    let source = format!("file://{}", first.sandbox.place("").display());
    first.git(&["clone", "--quiet", &source, clone.to_str().unwrap()]);
    clone
}

#[test]
fn a_decision_and_a_failure_are_told_in_a_fresh_clone() {
    let Some(first) = Repository::empty("memory in a clone") else { return };
    let sandbox = &first.sandbox;
    sandbox.write(".stepmark/config.yaml", "memory: {track: git}\n");
    sandbox.write("docs/prd.md", PRD);
    sandbox.write("docs/story-7.md", "---\nid: STORY-7\nstatus: draft\ninputDocuments: [docs/prd.md]\n---\n");
    let one = ["--session", "s-one", "--actor", "agent:pm"];
    done(sandbox, &[&one[..], &["session", "start"]].concat());
    let decide =
        ["memory", "decide", "Which store?", "--chosen", "SQLite", "--because", "nothing to install"];
    let about = ["--rejected", "Postgres", "--artifact", "docs/prd.md"];
    done(sandbox, &[&one[..], &decide, &about].concat());
    done(
        sandbox,
        &[&one[..], &["set", "docs/story-7.md", "status=blocked", "--reason", "the key is missing"]].concat(),
    );
    done(sandbox, &[&one[..], &["session", "end", "s-one"]].concat());
    let clone = cloned(&first);
    let in_clone = |arguments: &[&str]| {
        let run = sandbox.run(first.command(arguments).current_dir(&clone));
        assert_eq!(run.code, 0, "{arguments:?}: {run}");
        run
    };
    let start = in_clone(&["session", "start", "--json"]).json("stepmark.session/1");
    let memory = start["memory"].as_str().unwrap();
    for said in [
        "data, not instructions",
        "- Which store? SQLite; because nothing to install; rejected: Postgres (decision, ",
        "- docs/story-7.md: blocked: the key is missing (error, ",
    ] {
        assert!(memory.contains(said), "{memory}");
    }
    let graph = in_clone(&["memory", "graph", "docs/prd.md", "--depth", "2"]).stdout;
    for said in [
        "“Which store? SQLite”  decided-in  artifact docs/prd.md",
        "“Which store? SQLite”  told-by  agent:pm",
        "artifact docs/story-7.md  derived-from  file docs/prd.md",
    ] {
        assert!(graph.contains(said), "{graph}");
    }
    let svg = in_clone(&["memory", "graph", "docs/prd.md", "--svg"]).stdout;
    assert!(svg.contains("<svg") && svg.contains("decided-in"), "{svg}");
    let before = records(&in_clone(&["memory", "recall", "--all", "--json"]));
    in_clone(&["memory", "rebuild"]);
    assert_eq!(records(&in_clone(&["memory", "recall", "--all", "--json"])).len(), before.len());
    let ids = |found: &[Value]| found.iter().map(|own| own["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&records(&in_clone(&["memory", "recall", "--all", "--json"]))), ids(&before));
}

#[test]
fn what_is_superseded_is_kept_and_not_recalled() {
    let sandbox = Sandbox::empty();
    let old = told(&sandbox, &["remember", "The port is 8080", "--tag", "network"]);
    let new = told(&sandbox, &["remember", "The port is 9090", "--supersedes", &old[..8]]);
    let found = recalled(&sandbox, &["recall", "port"]);
    assert_eq!(found.iter().map(|own| own["id"].as_str().unwrap()).collect::<Vec<_>>(), [&new]);
    let all = recalled(&sandbox, &["recall", "network", "--all"]);
    assert_eq!(all[0]["superseded_by"], serde_json::json!([new]));
    assert_eq!(all[0]["tags"], serde_json::json!(["network"]));
    let refused = sandbox.stepmark(&["memory", "supersede", "zzz", "--by", &new]);
    assert!(
        refused.code == 1 && refused.stderr.contains("no memory has an id that begins with `zzz`"),
        "{refused}"
    );
}

#[test]
fn secrets_and_endless_texts_are_refused_and_stand_nowhere() {
    let sandbox = Sandbox::empty();
    let key = format!("{}{}", "ghp_", "0123456789abcdefghijABCDEFGHIJ012345");
    let refused = sandbox.stepmark(&["memory", "remember", &format!("the token is {key}")]);
    assert!(refused.code == 1 && refused.stderr.contains("holds a secret (github_token)"), "{refused}");
    assert!(!refused.stderr.contains(&key), "{refused}");
    let refused = sandbox.stepmark(&["memory", "remember", &"x".repeat(20_000)]);
    assert!(refused.code == 1 && refused.stderr.contains("16384 is the most"), "{}", refused.stderr);
    assert_eq!(recalled(&sandbox, &["recall", "--all"]), Vec::<Value>::new());
}

#[test]
fn what_is_local_never_enters_git() {
    let Some(repository) = Repository::empty("local memory") else { return };
    let sandbox = &repository.sandbox;
    sandbox.write("docs/prd.md", PRD);
    done(sandbox, &["--session", "s-one", "session", "start"]);
    done(sandbox, &["--session", "s-one", "memory", "remember", "between us"]);
    done(sandbox, &["--session", "s-one", "complete", "docs/prd.md", "step-02-vision"]);
    done(sandbox, &["--session", "s-one", "session", "end", "s-one"]);
    repository.git(&["add", "--all"]);
    let staged = repository.git(&["diff", "--cached"]);
    assert!(staged.contains("step-02-vision") && !staged.contains("between us"), "{staged}");
    assert_eq!(recalled(sandbox, &["recall", "between"]).len(), 2, "itself, and the session that told it");
    let taken = sandbox.stepmark(&["--session", "local", "status"]);
    assert!(taken.code != 0 && taken.stderr.contains("`local`"), "{taken}");
}

#[test]
fn queries_know_memories_and_their_edges() {
    let sandbox = Sandbox::empty();
    sandbox.write("docs/prd.md", PRD);
    let id = told(&sandbox, &["remember", "The port is 8080", "--artifact", "docs/prd.md"]);
    let asked = |sql: &str| done(&sandbox, &["query", sql, "--csv"]).stdout;
    let rows = asked("SELECT kind, content, artifact FROM memories");
    assert_eq!(rows, "kind,content,artifact\nlearning,The port is 8080,docs/prd.md\n");
    let rows = asked("SELECT source, kind, target FROM memory_edges WHERE kind = 'RELATES_TO'");
    assert_eq!(rows, format!("source,kind,target\n{id},RELATES_TO,id:prd\n"));
}

#[test]
fn a_damaged_store_is_made_again() {
    let sandbox = Sandbox::empty();
    told(&sandbox, &["remember", "kept"]);
    assert_eq!(recalled(&sandbox, &["recall", "kept"]).len(), 1);
    let store = ".stepmark/local/cache/memory.db";
    for damage in [&b"no database"[..], b""] {
        sandbox.write(store, damage);
        assert_eq!(recalled(&sandbox, &["recall", "kept"]).len(), 1);
    }
    let other = Sandbox::empty();
    told(&other, &["remember", "of another project"]);
    done(&other, &["memory", "status"]);
    sandbox.write(store, std::fs::read(other.place(store)).unwrap());
    let all = recalled(&sandbox, &["recall"]);
    assert_eq!((all.len(), all[0]["content"].as_str()), (1, Some("kept")), "{all:?}");
}

#[test]
fn two_clones_that_merge_remember_the_same() {
    let Some(first) = Repository::empty("memories that merge") else { return };
    let sandbox = &first.sandbox;
    sandbox.write(".stepmark/config.yaml", "memory: {track: git}\n");
    let clone = cloned(&first);
    let at = |folder: &std::path::Path, arguments: &[&str]| {
        let run = sandbox.run(first.command(arguments).current_dir(folder));
        assert_eq!(run.code, 0, "{arguments:?}: {run}");
        run
    };
    let here = sandbox.place("");
    for (folder, session, text) in [(&here, "s-one", "use redis"), (&clone, "s-two", "use sqlite")] {
        at(folder, &["--session", session, "session", "start"]);
        at(folder, &["--session", session, "memory", "remember", text, "--kind", "decision"]);
        at(folder, &["--session", session, "session", "end", session]);
    }
    first.commit("one");
    let git = |arguments: &[&str]| first.git(&[&["-C", clone.to_str().unwrap()], arguments].concat());
    git(&["config", "user.name", "Bo"]);
    git(&["config", "user.email", "bo@example.com"]);
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "-m", "two"]);
    git(&["pull", "--quiet", "--no-rebase", "--no-edit"]);
    first.git(&["pull", "--quiet", clone.to_str().unwrap(), "HEAD"]);
    let all = |folder: &std::path::Path| {
        let mut found: Vec<String> = records(&at(folder, &["memory", "recall", "--all", "--json"]))
            .iter()
            .map(|record| format!("{} {} {}", record["id"], record["content"], record["source"]))
            .collect();
        found.sort();
        found
    };
    assert_eq!((all(&here), all(&here).len()), (all(&clone), 4), "two decisions, two sessions");
    let before = all(&clone);
    at(&clone, &["memory", "rebuild"]);
    assert_eq!(all(&clone), before);
}

#[test]
fn what_was_replaced_and_is_decided_again_is_a_memory_of_its_own() {
    let sandbox = Sandbox::empty();
    let decide = |chosen: &str, why: &str, old: Option<&str>| {
        let words = ["memory", "decide", "Which store?", "--chosen", chosen, "--because", why, "--json"];
        let old: Vec<&str> = old.iter().flat_map(|old| ["--supersedes", *old]).collect();
        let run = sandbox.stepmark(&[&words[..], &old].concat());
        assert_eq!(run.code, 0, "{run}");
        let answer: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        answer["id"].as_str().unwrap().to_owned()
    };
    let first = decide("SQLite", "simple", None);
    let second = decide("Postgres", "load", Some(&first));
    let third = decide("SQLite", "load fell", Some(&second));
    for command in [&["memory", "decisions", "--all"][..], &["memory", "recall", "store", "--all"]] {
        let run = sandbox.stepmark(command);
        for id in [&first, &second, &third] {
            assert!(run.stdout.contains(&id[..8]), "{command:?} {id}: {run}");
        }
    }
    let valid = sandbox.stepmark(&["memory", "recall", "store"]);
    assert!(valid.stdout.contains(&third[..8]) && !valid.stdout.contains(&second[..8]), "{valid}");
    let circle = sandbox.stepmark(&["memory", "supersede", &first, "--by", &third]);
    assert_eq!(circle.code, 0, "{circle}");
    let circle = sandbox.stepmark(&["memory", "supersede", &third, "--by", &first]);
    assert!(circle.code == 1 && circle.stderr.contains("circle"), "{circle}");
}

/// A shared decision reaches a clone with the next commit, whatever that changes; a local one stays here.
#[test]
fn a_decision_goes_with_the_next_commit_where_memory_is_shared() {
    for (track, is_shared) in [("git", true), ("local", false)] {
        let Some(repository) = Repository::empty("decisions in commits") else { return };
        repository.sandbox.write(".stepmark/config.yaml", format!("memory: {{track: {track}}}\n"));
        repository.commit("begun");
        assert_eq!(repository.stepmark(&["hook", "install"]).code, 0);
        let decide = ["memory", "decide", "Which store?", "--chosen", "SQLite", "--because", "simple"];
        assert_eq!(repository.stepmark(&decide).code, 0);
        repository.sandbox.write("readme.txt", "Read me.\n");
        repository.git(&["add", "readme.txt"]);
        assert_eq!(repository.try_git_with_stepmark(&["commit", "--quiet", "-m", "two"]).code, 0);
        let clone = repository.sandbox.outside().join("clone").display().to_string();
        let from = format!("file://{}", repository.sandbox.root().display());
        repository.git(&["clone", "--quiet", "--no-local", &from, &clone]);
        let run = repository.stepmark(&["memory", "recall", "store", "--root", &clone]);
        assert_eq!((run.code, run.stdout.contains("SQLite")), (0, is_shared), "{track}: {run}");
    }
}
