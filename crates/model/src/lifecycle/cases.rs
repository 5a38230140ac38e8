//! The tables that are built in, laws that hold in all tables, and declarations that are wrong.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::artifact::{Artifact, ProjectPath};

fn declared(text: &str) -> Result<DeclaredLifecycle, LifecycleError> {
    DeclaredLifecycle::of(&serde_yaml::from_str(text).unwrap())
}

fn lifecycle(text: &str) -> Arc<Lifecycle> {
    declared(text).unwrap().lifecycle
}

fn tables() -> Vec<Arc<Lifecycle>> {
    Lifecycles::default().all().map(Arc::clone).collect()
}

const RETRIES: &str = "
name: retries
states:
  - {name: waiting, initial: true}
  - {name: running, synonyms: [active]}
  - {name: held, return_to: held_from}
  - {name: over, terminal: true}
moves:
  - {from: waiting, to: running}
  - {from: running, to: [waiting, over]}
  - {from: '*', to: held}
  - {from: running, to: over, guards: [steps-finished, filled(result)]}
counters:
  - {key: tries, entering: active, at_most: 3, reset_by: over}
";

fn retries() -> Arc<Lifecycle> {
    lifecycle(&RETRIES.replace("to: [waiting, over]", "to: waiting"))
}

#[test]
fn every_built_in_table_is_read_and_its_legacy_names_are_known() {
    let names: Vec<String> = tables().iter().map(|table| table.name().to_owned()).collect();
    assert_eq!(names.len(), 18, "{names:?}");
    for (table, word, state) in [
        ("bmad-spec", "Completed", Some("done")),
        ("bmad-spec", "in_progress", Some("in-progress")),
        ("bmad-spec", "approved", None),
        ("bmad-story", "drafted", Some("ready-for-dev")),
        ("bmad-story", "in-review", Some("review")),
        ("bmad-epic", "contexted", Some("in-progress")),
        ("bmad-document", "Approved", Some("final")),
        ("bmad-document", "in-review", None),
        ("bmad-research", "done", Some("complete")),
        ("bmad-prfaq", "customer_faq", Some("customer-faq")),
        ("d4-ticket", "in-progress", Some("in_progress")),
        ("cc-task", "failed", Some("failed")),
        ("asdd-slice", "ci-cd", Some("CI_CD")),
        ("hivemind-task", " Retry ", Some("RETRY")),
    ] {
        let found = built_in(table).unwrap().state_of(word).map(|state| state.name.as_str());
        assert_eq!(found, state, "{table} {word}");
    }
}

#[test]
fn terminal_states_of_built_in_tables_have_no_exits_unless_the_table_names_them() {
    let mut exits = Vec::new();
    for table in tables() {
        for state in table.states().iter().filter(|state| state.is_terminal) {
            exits.extend(
                table
                    .moves_from(state, None)
                    .iter()
                    .map(|legal| format!("{}: {} → {}", table.name(), legal.from.name, legal.to.name)),
            );
        }
    }
    assert_eq!(
        exits,
        [
            "bmad-ticket: done → in-progress",
            "bmad-ticket: done → in-review",
            "bmad-ticket: dropped → draft",
            "bmad-ticket: dropped → ready-for-dev",
            "bmad-ticket: dropped → in-progress",
            "bmad-container: done → in-progress",
            "bmad-container: dropped → in-progress",
            "bmad-spec: done → in-progress",
            "bmad-spec: done → in-review",
            "bmad-document: final → draft",
            "bmad-prd: final → draft",
            "bmad-research: complete → draft",
            "bmad-prfaq: complete → press-release",
            "bmad-prfaq: complete → customer-faq",
            "bmad-prfaq: complete → internal-faq",
            "d4-ticket: done → ready",
            "d4-ticket: done → tested",
            "task: done → in-progress",
            "task: cancelled → todo",
            "hivemind-flow: COMPLETED → FROZEN_FOR_MERGE",
            "hivemind-flow: FROZEN_FOR_MERGE → COMPLETED",
            "hivemind-flow: FROZEN_FOR_MERGE → MERGED",
            "hivemind-task: FAILED → RETRY",
            "hivemind-task: FAILED → ESCALATED",
            "hivemind-task: ESCALATED → RETRY",
            "cc-task: failed → available",
        ]
    );
}

#[test]
fn the_ticket_workflow_is_that_of_d4() {
    let ticket = built_in("d4-ticket").unwrap();
    for (from, to) in [
        ("todo", "in_progress blocked"),
        ("in_progress", "todo ready blocked"),
        ("ready", "in_progress tested blocked"),
        ("tested", "ready done blocked"),
        ("done", "ready tested"),
        ("blocked", "todo in_progress ready"),
    ] {
        let moves = ticket.moves_from(ticket.state_of(from).unwrap(), None);
        let targets: Vec<&str> = moves.iter().map(|legal| legal.to.name.as_str()).collect();
        assert_eq!(targets.join(" "), to, "{from}");
    }
}

#[test]
fn refusals_say_what_would_be_legal() {
    let spec = built_in("bmad-spec").unwrap();
    for (from, to, expected) in [
        (
            Some("draft"),
            "done",
            "the lifecycle `bmad-spec` has no move from `draft` to `done`: from `draft` it goes to `ready-for-dev`, `in-progress` and `blocked`",
        ),
        (
            Some("draft"),
            "in-progres",
            "`in-progres` is no state of the lifecycle `bmad-spec` (is `in-progress` meant?): its states are `draft`, `ready-for-dev`, `in-progress`, `in-review`, `done`, `blocked` and `awaiting-operator`",
        ),
        (
            Some("approved"),
            "done",
            "its status `approved` is no state of the lifecycle `bmad-spec`, so no move leads out of it: its states are `draft`, `ready-for-dev`, `in-progress`, `in-review`, `done`, `blocked` and `awaiting-operator`",
        ),
    ] {
        assert_eq!(spec.legal_move(from, to, None).unwrap_err().to_string(), expected);
    }
    let retrospective = built_in("bmad-retrospective").unwrap();
    let refused = retrospective.legal_move(Some("done"), "optional", None).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the lifecycle `bmad-retrospective` has no move from `done` to `optional`: nothing leads out of `done`"
    );
}

#[test]
fn a_synonym_of_the_same_state_is_no_move_and_without_a_status_any_state_may_be_taken_up() {
    let spec = built_in("bmad-spec").unwrap();
    assert!(!spec.legal_move(Some("done"), "complete", None).unwrap().is_move());
    let verdict = spec.legal_move(None, "done", None).unwrap();
    assert!(verdict.is_move() && verdict.wants(&Guard::StepsFinished), "{verdict:?}");
    assert!(spec.legal_move(None, "nonsense", None).is_err());
}

#[test]
fn guards_and_counters_are_asked() {
    let table = retries();
    let judge = |from: &str, to: &str, keys: &[(&str, &str)], open: &[&str]| {
        let keys: RootKeys = keys.iter().copied().collect();
        let open_steps: Vec<String> = open.iter().map(|step| (*step).to_owned()).collect();
        let facts = MoveFacts {
            before: &keys,
            after: &keys,
            open_steps: &open_steps,
            open_children: &[],
            elsewhere: &|_| None,
        };
        table
            .judge_move(Some(from), to, &facts)
            .map(|verdict| verdict.is_move())
            .map_err(|error| error.to_string())
    };
    assert_eq!(judge("running", "over", &[("result", "x")], &[]), Ok(true));
    let refused = judge("running", "over", &[("result", "x")], &["step-02", "step-03"]).unwrap_err();
    assert_eq!(
        refused,
        "the lifecycle `retries` moves to `over` only with `steps-finished`: open: `step-02` and `step-03`"
    );
    let refused = judge("running", "over", &[("result", "")], &[]).unwrap_err();
    assert!(refused.ends_with("only with `filled(result)`: `result` says nothing"), "{refused}");
    assert_eq!(judge("waiting", "running", &[("tries", "2")], &[]), Ok(true));
    let refused = judge("waiting", "running", &[("tries", "3")], &[]).unwrap_err();
    assert_eq!(refused, "`tries` is 3, and the lifecycle `retries` enters `running` 3 times at most");
    let refused = judge("waiting", "running", &[("tries", "a few")], &[]).unwrap_err();
    assert_eq!(refused, "`tries` counts how often `running` is entered, but `a few` is no number");
    assert_eq!(judge("running", "active", &[("tries", "3")], &[]), Ok(false), "it stays");
}

#[test]
fn where_the_subject_changes_the_status_begins_anew() {
    let table = built_in("autodev-step").unwrap();
    let judge = |from: &str, [before, after]: [&str; 2], to: &str| {
        let keys = [before, after]
            .map(|step| -> RootKeys { [("flow", "greenfield"), ("step", step)].into_iter().collect() });
        let facts = MoveFacts {
            before: &keys[0],
            after: &keys[1],
            open_steps: &[],
            open_children: &[],
            elsewhere: &|_| None,
        };
        table
            .judge_move(Some(from), to, &facts)
            .map(|verdict| verdict.wants(&Guard::Human))
            .map_err(|error| error.to_string())
    };
    assert_eq!(judge("in_progress", ["3", "3"], "completed"), Ok(false));
    assert_eq!(judge("completed", ["3", "4"], "not_started"), Ok(false));
    assert!(judge("completed", ["3", "3"], "not_started").is_err(), "the same step");
    let refused = judge("in_progress", ["3", "4"], "completed").unwrap_err();
    assert!(refused.contains("begins anew where `flow`, `step` and `cycle` changes"), "{refused}");
    assert_eq!(judge("failed", ["3", "3"], "in_progress"), Ok(true));
    assert!(!table.is_terminal("completed"), "the step has ended, the file has not");
}

#[test]
fn a_remembered_state_is_the_only_way_back() {
    let table = retries();
    let held = table.state_of("held").unwrap();
    let targets = |remembered| -> Vec<&str> {
        table.moves_from(held, remembered).iter().map(|legal| legal.to.name.as_str()).collect()
    };
    assert_eq!(targets(Some("Active")), ["running"]);
    assert_eq!(targets(None), ["waiting", "running"]);
    assert_eq!(targets(Some("nonsense")), ["waiting", "running"]);
    assert_eq!(targets(Some("over")), ["waiting", "running"], "nothing leads from there to here");
    let keys: RootKeys = [("held_from", "waiting")].into_iter().collect();
    let facts =
        MoveFacts { before: &keys, after: &keys, open_steps: &[], open_children: &[], elsewhere: &|_| None };
    assert!(table.judge_move(Some("held"), "waiting", &facts).is_ok());
    let refused = table.judge_move(Some("held"), "running", &facts).unwrap_err();
    assert_eq!(refused.legal(), ["waiting"]);
}

#[test]
fn a_move_writes_what_its_table_wants() {
    let table = retries();
    let key_updates = |from: &str, to: &str, keys: &[(&str, &str)]| {
        let keys: RootKeys = keys.iter().copied().collect();
        table.key_updates(table.state_of(from), table.state_of(to).unwrap(), &keys)
    };
    let key = || "tries".to_owned();
    let held = || "held_from".to_owned();
    assert_eq!(key_updates("waiting", "running", &[]), [KeyUpdate::Count { key: key(), value: 1 }]);
    assert_eq!(
        key_updates("waiting", "running", &[("tries", "2")]),
        [KeyUpdate::Count { key: key(), value: 3 }]
    );
    assert_eq!(key_updates("waiting", "running", &[("tries", "x")]), []);
    assert_eq!(
        key_updates("running", "over", &[("tries", "2")]),
        [KeyUpdate::Count { key: key(), value: 0 }]
    );
    assert_eq!(key_updates("running", "over", &[]), []);
    assert_eq!(key_updates("running", "active", &[("tries", "2")]), []);
    assert_eq!(
        key_updates("running", "held", &[]),
        [KeyUpdate::Remember { key: held(), state: "running".to_owned() }]
    );
    assert_eq!(
        key_updates("held", "waiting", &[("held_from", "waiting")]),
        [KeyUpdate::Forget { key: held() }]
    );
    assert_eq!(key_updates("held", "waiting", &[]), []);
}

#[test]
fn what_is_wrong_in_a_table_is_said_with_its_place() {
    for (from, to, way, reason) in [
        ("synonyms: [active]", "synonyms: [Waiting]", "states[1].synonyms[0]", "means the state `waiting`"),
        ("to: running}", "to: runing}", "moves[0].to[0]", "there is no state `runing`"),
        ("from: waiting", "from: [waiting, gone]", "moves[0].from[1]", "there is no state `gone`"),
        ("to: [waiting, over]", "to: running", "moves[1].to[0]", "from `running` to itself"),
        ("to: [waiting, over]", "to: [waiting, over]", "moves[3].to[0]", "for the second time"),
        ("  - {from: waiting, to: running}\n", "", "states[1]", "no moves lead from an initial state"),
        ("entering: active", "entering: [over, away]", "counters[0].entering[1]", "there is no state `away`"),
        ("key: tries", "key: status", "counters[0].key", "is used already"),
        ("key: tries", "key: held_from", "counters[0].key", "is used already"),
        ("name: retries", "name: task", "name", "that of a built-in one"),
        ("name: retries", "applies_to: [{}]\nname: retries", "applies_to[0]", "it says nothing"),
    ] {
        let table = match way {
            "moves[3].to[0]" | "moves[1].to[0]" => RETRIES.replace(from, to),
            _ => RETRIES.replace("to: [waiting, over]", "to: waiting").replace(from, to),
        };
        let error = declared(&table).expect_err(way);
        assert_eq!(error.way.to_string(), way, "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    }
    let error = declared("{name: x, states: [{name: a}, {name: b}], moves: [{from: a, to: b}]}").unwrap_err();
    assert_eq!(error.way.to_string(), "states[1]");
    assert!(error.to_string().contains("nothing leads out of `b`"), "{error}");
    let error = declared("name: bmad-speck").unwrap_err();
    assert!(
        error.to_string().contains("these are: `bmad-ticket`, `bmad-container`, `bmad-spec`, `bmad-story`"),
        "{error}"
    );
}

#[test]
fn a_lifecycle_applies_for_reasons() {
    let declared = [
        "{name: docs, states: [{name: a, terminal: true}], applies_to: [{path: 'docs/**'}, {workflow_type: prd}]}",
        "{name: task, applies_to: [{key: {kind: [chore, bug], owner: '*'}}]}",
        "{name: late, states: [{name: a, terminal: true}], applies_to: [{path: '**'}]}",
    ];
    let declared = declared.iter().map(|text| self::declared(text).unwrap()).collect();
    let project = Lifecycles::new(declared);
    let spec = "type: feature\nstatus: draft\ncontext: []\n";
    for (lifecycles, path, frontmatter, body, expected) in [
        (
            &project,
            "docs/a.md",
            "kind: bug\nowner: me\n",
            "",
            "docs: the configuration says so: its path fits `docs/**`",
        ),
        (
            &project,
            "a.md",
            "workflowType: PRD\n",
            "",
            "docs: the configuration says so: its `workflowType` is `PRD`",
        ),
        (
            &project,
            "a.md",
            "kind: Bug\nowner:\n",
            "",
            "task: the configuration says so: its `kind` is `Bug`, it has the key `owner`",
        ),
        (&project, "a.md", spec, "", "late: the configuration says so: its path fits `**`"),
        (
            &Lifecycles::default(),
            "a.md",
            spec,
            "",
            "bmad-spec: its type is known: it has the key `context`, it has the key `status`, its `type` is `feature`",
        ),
        (&Lifecycles::default(), "a.md", "status: complete\nworkflowType: prd\n", "# PRD\n", "none"),
        (&Lifecycles::default(), "a.md", "type: feature\nstatus: draft\n", "", "none"),
        (&Lifecycles::default(), "a.md", "type: memo\nstatus: draft\ncontext: []\n", "", "none"),
        (
            &Lifecycles::default(),
            "stories/1-2-borrow.md",
            "status: review\n",
            "\n# Story 1.2: Borrow\n",
            "bmad-story: its type is known: its path fits `**/[0-9]*-[0-9]*-*.md`, its heading is `Story 1.2: Borrow`",
        ),
        (&Lifecycles::default(), "stories/1-2-borrow.md", "status: review\n", "# Storyline\n", "none"),
        (&Lifecycles::default(), "b.md", "status: todo\ndelegation: {id: P}\n", "", "none"),
        (
            &Lifecycles::default(),
            "b.md",
            "status: todo\ndelegation: {id: c, parent_id: P}\n",
            "",
            "task: its type is known: it was delegated, it has the key `status`",
        ),
        (
            &Lifecycles::default(),
            "o/briefs/brief-x-2026-11-01/brief.md",
            "title: x\nstatus: draft\n",
            "",
            "bmad-document: its type is known: its path fits `**/briefs/**/brief.md`, it has the key `status`",
        ),
        (
            &Lifecycles::default(),
            "o/research/market-x-2026-11-01/research.md",
            "status: draft\n",
            "",
            "bmad-research: its type is known: its path fits `**/research/*/research.md`, it has the key `status`",
        ),
        (
            &Lifecycles::default(),
            "o/prfaq-x.md",
            "status: \"press-release\"\nstage: 2\n",
            "",
            "bmad-prfaq: its type is known: its path fits `**/prfaq-*.md`, it has the key `stage`, it has the key `status`",
        ),
        (&Lifecycles::default(), "o/prfaq-x-distillate.md", "type: llm-distillate\n", "", "none"),
        (&Lifecycles::default(), "2026-11-22-note.md", "status: done\n", "# Note\n", "none"),
    ] {
        let file = format!("---\n{frontmatter}---\n{body}");
        let artifact = Artifact::read(ProjectPath::new(path).unwrap(), file.clone().into_bytes());
        let told = match lifecycles.choose(&artifact) {
            Some(choice) => format!("{}: {choice}", choice.lifecycle.name()),
            None => "none".to_owned(),
        };
        assert_eq!(told, expected, "{path}\n{file}");
    }
    let names: Vec<&str> = project.all().map(|lifecycle| lifecycle.name()).collect();
    assert_eq!(names[..4], ["docs", "task", "late", "bmad-ticket"]);
    assert_eq!(names.iter().filter(|name| **name == "task").count(), 1);
}

/// A random table: states with random moves between them, well formed or not.
fn any_table() -> impl Strategy<Value = String> {
    let moves = prop::collection::vec((0..5_usize, 0..5_usize), 1..12);
    (moves, prop::collection::vec(any::<bool>(), 5), any::<bool>()).prop_map(|(moves, ends, has_any)| {
        let mut text = "name: random\nstates:\n".to_owned();
        for (state, end) in ends.iter().enumerate() {
            let memory = if state == 4 { ", return_to: came_from" } else { "" };
            text += &format!("  - {{name: S{state}, synonyms: [also-{state}], terminal: {end}{memory}}}\n");
        }
        text += "moves:\n";
        let mut said = std::collections::BTreeSet::new();
        for (from, to) in moves {
            if from != to && said.insert((from, to)) {
                text += &format!("  - {{from: S{from}, to: also_{to}}}\n");
            }
        }
        if has_any {
            text += "  - {from: '*', to: S4}\n";
        }
        text += "counters: [{key: n, entering: S1}]\n";
        text
    })
}

proptest! {
    /// From any state, in any spelling, only the moves that the table lists pass, and each of them does.
    #[test]
    fn only_legal_moves_pass(text in any_table()) {
        let Ok(declared) = declared(&text) else { return Ok(()) };
        let table = declared.lifecycle;
        for from in table.states() {
            for to in table.states() {
                let is_listed = table.moves_from(from, None).iter().any(|legal| legal.to == to);
                for word in to.synonyms.iter().chain([&to.name]) {
                    let judged = table.legal_move(Some(&from.name.to_uppercase()), word, None);
                    prop_assert_eq!(judged.is_ok(), is_listed || from == to, "{} → {}\n{}", from.name, word, text);
                    if let Ok(verdict) = judged {
                        prop_assert_eq!(verdict.is_move(), from != to);
                    }
                }
            }
            prop_assert!(from.is_terminal || !table.moves_from(from, None).is_empty());
        }
        prop_assert!(table.legal_move(Some("elsewhere"), "S0", None).is_err());
    }

    /// Words for states are found in any case, with `_` and blanks for `-`.
    #[test]
    fn synonyms_resolve(upper in any::<bool>(), blank in prop::sample::select(vec!['-', '_', ' '])) {
        for table in tables() {
            for state in table.states() {
                for word in state.synonyms.iter().chain([&state.name]) {
                    let word = word.replace(['-', '_'], &blank.to_string());
                    let word = if upper { word.to_uppercase() } else { word };
                    prop_assert_eq!(table.state_of(&format!(" {word} ")), Some(state));
                }
            }
        }
    }
}
