//! Changes beside moves of the status: frozen states, lists that only grow, closed keys, writers,
//! approvals, verified attempts.

use crate::artifact::{Artifact, ProjectPath};
use crate::lifecycle::*;

const RUNS: &str = "
name: runs
states:
  - {name: open, initial: true}
  - {name: held, return_to: [safe, held_from]}
  - {name: closed, terminal: true, frozen: true}
  - {name: accepted, terminal: true}
moves:
  - {from: open, to: closed, guards: [verified, 'at-least(reviews, 2)']}
  - {from: closed, to: accepted, guards: [approved]}
  - {from: open, to: held}
counters:
  - {key: tries, entering: closed, at_most: most_tries}
append_only: [attempts, log.entries]
closed: {attempts: [attempt_id, agent], attempt: [attempt_id]}
writers: custodian
approvers: tech_lead
";

fn runs() -> std::sync::Arc<Lifecycle> {
    DeclaredLifecycle::of(&serde_yaml::from_str(RUNS).unwrap()).unwrap().lifecycle
}

fn artifact(frontmatter: &str) -> serde_json::Value {
    let file = format!("---\n{frontmatter}\n---\n").into_bytes();
    Artifact::read(ProjectPath::new("run.md").unwrap(), file).state_value().unwrap_or_default()
}

fn refused(before: &str, after: &str) -> Vec<String> {
    let refused = runs().judge_change([Some(&artifact(before)), Some(&artifact(after))], None);
    refused.iter().map(ToString::to_string).collect()
}

#[test]
fn a_list_that_only_grows_begins_with_what_it_was() {
    let lost = |key: &str, before: u8, which: &str| {
        vec![format!(
            "`{key}` only grows by the lifecycle `runs`: of its {before} entries the {which} was changed or taken away"
        )]
    };
    for (key, before, after, expected) in [
        ("attempts", "attempts: []", "attempts: [{agent: a}]", vec![]),
        ("attempts", "x: 1", "attempts: [{agent: a}]", vec![]),
        ("attempts", "attempts: [{agent: a}]", "attempts: [{agent: a}, {agent: b}]\nx: 1", vec![]),
        (
            "attempts",
            "attempts: [{agent: a}, {agent: b}]",
            "attempts: [{agent: a}]",
            lost("attempts", 2, "2nd"),
        ),
        (
            "attempts",
            "attempts: [{agent: a}]",
            "attempts: [{agent: b}, {agent: a}]",
            lost("attempts", 1, "1st"),
        ),
        ("attempts", "attempts: [{agent: a}]", "x: 1", lost("attempts", 1, "1st")),
        ("attempts", "attempts: [{agent: a}]", "attempts: gone", lost("attempts", 1, "1st")),
        ("log.entries", "log: {entries: [1]}", "log: {entries: [2]}", lost("log.entries", 1, "1st")),
    ] {
        assert_eq!(refused(before, after), expected, "{key}: {before} → {after}");
    }
    let table = runs();
    let refusals = table.judge_change([Some(&artifact("attempts: [1]")), Some(&artifact("x: 1"))], None);
    assert!(!refusals[0].may_be_forced());
}

#[test]
fn only_a_move_leaves_a_frozen_state() {
    let frozen =
        "it is `closed`, which the lifecycle `runs` leaves as it is: only a move to `accepted` changes it";
    for (before, after, expected) in [
        ("status: open", "status: open\nx: 1", None),
        ("status: closed", "status: closed\nx: 1", Some(frozen)),
        ("status: closed\nx: 1", "status: accepted", None),
        ("status: closed", "status: open", Some(frozen)),
        ("status: closed", "x: 1", Some(frozen)),
        ("status: closed", "status: Closed", Some(frozen)),
        ("status: closed", "status: closed # still", None),
    ] {
        assert_eq!(refused(before, after).first().map(String::as_str), expected, "{before} → {after}");
    }
    let gone = runs().judge_change([Some(&artifact("status: closed")), None], None);
    assert!(matches!(gone.as_slice(), [ChangeRefusal::Frozen { .. }]), "{gone:?}");
}

#[test]
fn no_unknown_name_comes_under_a_closed_key() {
    let closed = "under `attempts` the lifecycle `runs` has no `notes`: it has `attempt_id` and `agent`";
    for (before, after, expected) in [
        ("x: 1", "attempts: [{agent: a}, {notes: n}]", Some(closed)),
        ("attempts: [{notes: n}]", "attempts: [{notes: n}, {notes: m}]", None),
        ("x: 1", "attempt: {attempt_id: a}", None),
        (
            "x: 1",
            "attempt: {context: a}",
            Some("under `attempt` the lifecycle `runs` has no `context`: it has `attempt_id`"),
        ),
    ] {
        assert_eq!(refused(before, after).first().map(String::as_str), expected, "{before} → {after}");
    }
}

#[test]
fn only_writers_write() {
    let (table, roles) = (runs(), Roles::default());
    assert_eq!(table.judge_writer("agent:knowledge", &roles), None);
    assert_eq!(
        table.judge_writer("human:Ada", &roles).map(|refusal| refusal.to_string()).as_deref(),
        Some(
            "only the role `custodian` changes it by the lifecycle `runs`, and `human:Ada` does not have it; \
             it is that of `agent:knowledge` and `agent:knowledge_agent`"
        )
    );
}

#[test]
fn an_approval_names_the_state_and_a_person() {
    let (table, roles) = (runs(), Roles::default());
    let unmet = |approval: &str| {
        table.unapproved(&artifact(&format!("status: accepted\napproval: {approval}")), &roles)
    };
    assert_eq!(unmet("{to: Accepted, by: 'human:Ada', decided_at: 2026-11-25}"), None);
    for (approval, expected) in [
        ("yes", "`approval` does not say `to`, `by` and `decided_at`"),
        ("{to: accepted, by: 'human:Ada'}", "`approval` does not say `to`, `by` and `decided_at`"),
        ("{to: closed, by: 'human:Ada', decided_at: 2026-11-25}", "`approval` is for `closed`"),
        (
            "{to: accepted, by: 'agent:x', decided_at: 2026-11-25}",
            "`approval` is by `agent:x`, and only a person approves: `human:NAME`",
        ),
    ] {
        assert_eq!(unmet(approval).as_deref(), Some(expected), "{approval}");
    }
    let roles = Roles::default().overlaid(serde_yaml::from_str("{tech_lead: 'human:Lin'}").unwrap());
    let text = "status: accepted\napproval: {to: accepted, by: 'human:Ada', decided_at: 2026-11-25}";
    let unmet = table.unapproved(&artifact(text), &roles);
    assert_eq!(unmet.as_deref(), Some("`human:Ada`, who approved it, does not have the role `tech_lead`"));
}

#[test]
fn guards_look_below_the_root() {
    for (guard, text, expected) in [
        ("at-least(reviews, 2)", "reviews: [a, b]", None),
        ("at-least(reviews, 2)", "reviews: 2.5", None),
        ("at-least(reviews, 2)", "reviews: [a]", Some("`reviews` is 1")),
        (
            "at-least(log.reviews, 2)",
            "log: {reviews: x}",
            Some("`log.reviews` is neither a number nor a list"),
        ),
        ("verified", "x: 1", Some("it has no attempt")),
        ("verified", "attempts: [{attempt_id: a}]", Some("the attempt `a` has no verification")),
        (
            "verified",
            "attempts: [{attempt_id: a}, {attempt_id: b}]\nverifications: [{attempt_id: a, verifier: {decision: PASS}}]",
            Some("the attempt `b` has no verification"),
        ),
        (
            "verified",
            "attempts: [{attempt_id: a}]\nverifications: [{attempt_id: a, verifier: {decision: PASS}}]",
            None,
        ),
        (
            "verified",
            "attempts: [{attempt_id: a}]\nverifications: [{attempt_id: a, checks: [{passed: true}, {passed: false, required: false}]}]",
            None,
        ),
        (
            "verified",
            "attempts: [{attempt_id: a}]\nverifications: [{attempt_id: a, checks: [{passed: false}], verifier: {decision: PASS}}]",
            Some("the verification of the attempt `a` did not pass"),
        ),
        (
            "verified",
            "attempts: [{attempt_id: a}]\nverifications: [{attempt_id: a}]",
            Some("the verification of the attempt `a` did not pass"),
        ),
    ] {
        let unmet = guard.parse::<Guard>().unwrap().unmet_in(&artifact(text));
        assert_eq!(unmet.as_deref(), expected, "{guard} {text}");
    }
}

#[test]
fn a_limit_may_stand_in_the_artifact_and_several_keys_remember() {
    let table = runs();
    let judge = |from: &str, to: &str, keys: &[(&str, &str)]| {
        let keys: RootKeys = keys.iter().copied().collect();
        let facts = MoveFacts {
            before: &keys,
            after: &keys,
            open_steps: &[],
            open_children: &[],
            elsewhere: &|_| None,
        };
        table.judge_move(Some(from), to, &facts).map(|_| ()).map_err(|refusal| refusal.to_string())
    };
    assert_eq!(judge("open", "closed", &[("tries", "7")]), Ok(()));
    assert_eq!(judge("open", "closed", &[("tries", "1"), ("most_tries", "2")]), Ok(()));
    let refused = judge("open", "closed", &[("tries", "2"), ("most_tries", "2")]).unwrap_err();
    assert_eq!(refused, "`tries` is 2, and the lifecycle `runs` enters `closed` 2 times at most");
    let refused = judge("open", "closed", &[("most_tries", "many")]).unwrap_err();
    assert_eq!(refused, "`most_tries` counts how often `closed` is entered, but `many` is no number");
    let held = table.state_of("held").unwrap();
    for (keys, expected) in [
        (&[("safe", "nonsense"), ("held_from", "open")][..], Some("open")),
        (&[("safe", "OPEN"), ("held_from", "closed")], Some("OPEN")),
        (&[("other", "open")], None),
    ] {
        let keys: RootKeys = keys.iter().copied().collect();
        assert_eq!(table.remembered(held, &keys), expected, "{keys:?}");
    }
    let keys: RootKeys = [("safe", "open"), ("held_from", "open")].into_iter().collect();
    let forgotten = table.key_updates(Some(held), table.state_of("open").unwrap(), &keys);
    assert_eq!(
        forgotten,
        ["safe", "held_from"].map(|key| KeyUpdate::Forget { key: key.to_owned() }),
        "both are of the time before"
    );
    let remembered = table.key_updates(table.state_of("open"), held, &keys);
    assert_eq!(remembered, [KeyUpdate::Remember { key: "held_from".to_owned(), state: "open".to_owned() }]);
}
