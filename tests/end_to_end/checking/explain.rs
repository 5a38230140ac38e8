//! `stepmark explain`

use crate::harness::Sandbox;

#[test]
fn prints_the_page_of_a_rule() {
    let sandbox = Sandbox::empty();
    let run = sandbox.reads_only(&["explain", "SM106"]);
    assert_eq!(sandbox.reads_only(&["explain", "key-twice"]), run);
    let page = include_str!("../../../docs/rules/SM106.md");
    assert_eq!((run.code, run.stdout.as_str()), (0, page));
    assert!(page.contains("## How to fix it\n\nKeep one of them."));
    let json = sandbox.reads_only(&["explain", "sm106", "--json"]).json("stepmark.explain/1");
    assert_eq!((json["id"].as_str(), json["page"].as_str()), (Some("SM106"), Some(page)));
}

#[test]
fn lists_all_rules() {
    let sandbox = Sandbox::empty();
    let json = sandbox.reads_only(&["explain", "--json"]).json("stepmark.rules/1");
    let run = sandbox.reads_only(&["explain"]);
    let rules = json["rules"].as_array().unwrap();
    assert_eq!(run.stdout.lines().count(), rules.len() + 1, "a line a rule, and a header");
    for rule in rules {
        let (id, name) = (rule["id"].as_str().unwrap(), rule["name"].as_str().unwrap());
        assert!(run.stdout.lines().any(|line| line.starts_with(id) && line.contains(name)), "{id}: {run}");
        assert_eq!(sandbox.reads_only(&["explain", id]).code, 0);
    }
}

#[test]
fn what_is_no_rule_is_said() {
    let run = Sandbox::empty().reads_only(&["explain", "SM999"]);
    assert_eq!(run.code, 2, "{run}");
    assert!(run.stderr.contains("there is no rule `SM999`"), "{run}");
}
