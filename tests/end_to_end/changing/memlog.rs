//! `stepmark memlog`: memlogs of BMAD, for many at once.

use std::process::Stdio;

use crate::harness::{Repository, Sandbox};

const FILE: &str = "docs/.memlog.md";

/// As many as claim at once elsewhere.
const WRITERS: usize = 92;

#[test]
fn entries_of_many_at_once_are_all_kept_and_told() {
    let sandbox = Sandbox::empty();
    let init = ["memlog", "init", "--workspace", "docs", "--field", "topic=A: \u{fc}"];
    let begun = sandbox.stepmark(&init);
    assert_eq!(begun.stdout, "{\"ok\": true, \"memlog\": \"docs/.memlog.md\", \"entries\": 0}\n", "{begun}");
    let again = sandbox.stepmark(&init);
    assert!(
        again.code == 2 && again.stderr.contains("already exists; use append/set to update it"),
        "{again}"
    );
    let writers: Vec<_> = (0..WRITERS)
        .map(|number| {
            let text = format!("entry {number}");
            let words = ["memlog", "append", "--workspace", "docs", "--type", "idea", "--text", &text];
            sandbox.command(&words).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for writer in writers {
        assert!(writer.wait_with_output().unwrap().status.success());
    }
    let shown = sandbox.reads_only(&["memlog", "show", "--path", FILE, "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(shown["entries"].as_array().unwrap().len(), WRITERS, "{shown}");
    assert_eq!(shown["fields"][0], serde_json::json!(["topic", "A: \u{fc}"]));
    let log = sandbox.stepmark(&["log", FILE, "--limit", "200", "--json"]);
    assert_eq!(log.stdout.matches("- (idea) entry ").count(), WRITERS, "{log}");
}

#[test]
fn what_the_script_would_drop_stays_and_what_would_break_it_is_refused() {
    let sandbox = Sandbox::empty();
    sandbox
        .write(FILE, "---\r\ntopic: x # y\r\n# note\r\nlist:\r\n  - a\r\nupdated: old\r\n---\r\n\r\n- a\r\n");
    for words in [&["append", "--text", "b"][..], &["set", "--key", "topic", "--value", "c"]] {
        let run = sandbox.stepmark(&[&["memlog"], words, &["--path", FILE]].concat());
        assert_eq!(run.code, 0, "{run}");
    }
    let text = String::from_utf8(sandbox.read(FILE)).unwrap();
    assert!(text.starts_with("---\r\ntopic: c\r\n# note\r\nlist:\r\n  - a\r\nupdated: "), "{text}");
    assert!(text.ends_with("\r\n---\r\n\r\n- a\r\n- b\r\n"), "{text}");
    for (words, told) in [
        (&["set", "--key", "a:b", "--value", "c"][..], "`a:b` cannot be a key of a memlog"),
        (&["set", "--key", "list", "--value", "c"], "has lines below it"),
        (&["append", "--text", "b", "--type", "a\nb"], "stand on one line"),
    ] {
        let run = sandbox.stepmark(&[&["memlog"], words, &["--path", FILE]].concat());
        assert!(run.code == 1 && run.stderr.contains(told), "{run}");
    }
    for (bytes, told) in [("# none\n", "does not begin with a line `---`"), ("---\na: b\n", "never closed")] {
        sandbox.write(FILE, bytes);
        let run = sandbox.stepmark(&["memlog", "append", "--text", "b", "--path", FILE]);
        assert!(run.code == 1 && run.stderr.contains(told), "{run}");
    }
}

#[test]
fn an_entry_that_was_changed_since_the_last_commit_is_found() {
    let Some(repository) = Repository::empty("memlogs") else { return };
    let path = "_bmad-output/specs/spec-a/.memlog.md";
    let text = "---\nupdated: x\n---\n\n- (decision) one\n- two\n";
    repository.sandbox.write(path, text);
    repository.commit("begin");
    let found = || repository.stepmark(&["check", "--json"]).json("stepmark.check/1")["findings"].clone();
    repository.sandbox.write(path, format!("{text}- three\n"));
    assert_eq!(found(), serde_json::json!([]));
    for (now, entry) in [
        (text.replace("one", "won"), "(decision) one"),
        (text.replace("- two\n", ""), "two"),
        (text.replace("- (decision) one\n- two", "- two\n- (decision) one"), "(decision) one"),
    ] {
        repository.sandbox.write(path, now);
        let findings = found();
        assert!(
            findings[0]["id"] == "SMB05" && findings[0]["message"].as_str().unwrap().contains(entry),
            "{findings}"
        );
    }
    repository.sandbox.write(path, text);
    let list = "- id: '1'\n  title: A\n- id: '1-2'\n  title: B\n  status: done\n";
    repository.sandbox.write("_bmad-output/specs/spec-a/stories.yaml", list);
    let findings = found();
    assert_eq!(findings.as_array().unwrap().len(), 2, "{findings}");
    assert_eq!(
        (findings[0]["id"].as_str(), findings[0]["line"].as_u64()),
        (Some("SMB06"), Some(3)),
        "{findings}"
    );
}
