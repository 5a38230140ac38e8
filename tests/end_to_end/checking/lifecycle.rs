//! `stepmark lifecycle`, and lifecycles that a project declares.

use insta::assert_snapshot;

use crate::harness::Sandbox;

const CONFIGURATION: &str = ".stepmark/config.yaml";

/// A lifecycle with everything that a table can say.
pub(crate) const RELEASE: &str = "\
lifecycles:
  - name: release
    title: A release of ours
    states:
      - {name: draft, initial: true, rank: 0, meaning: being written}
      - {name: Approved, synonyms: [accepted], rank: 1}
      - {name: shipped, rank: 2, terminal: true}
      - {name: held, return_to: held_at}
    moves:
      - {from: draft, to: approved}
      - {from: approved, to: draft}
      - {from: approved, to: shipped, guards: [filled(version), children-finished]}
      - {from: '*', to: held}
    counters:
      - {key: attempts, entering: approved, at_most: 2, reset_by: shipped}
    applies_to:
      - {path: 'releases/'}
      - {workflow_type: release}
  - name: task
    applies_to:
      - key: {kind: [chore, errand]}
";

#[test]
fn lists_those_that_are_built_in() {
    let run = Sandbox::empty().reads_only(&["lifecycle", "list"]);
    assert_snapshot!(run, @r"
    exit 0
    ── stdout
    LIFECYCLE           SOURCE    STATES
    bmad-ticket         built in  planned, draft, ready-for-dev, in-progress, in-review, built, done, blocked, dropped
    bmad-container      built in  in-progress, done, dropped
    bmad-spec           built in  draft, ready-for-dev, in-progress, in-review, done, blocked, awaiting-operator
    bmad-story          built in  backlog, ready-for-dev, in-progress, review, done, awaiting-operator
    bmad-epic           built in  backlog, in-progress, done
    bmad-retrospective  built in  optional, done
    bmad-document       built in  draft, final
    bmad-prd            built in  draft, in-review, final
    bmad-research       built in  draft, complete
    bmad-prfaq          built in  ignition, press-release, customer-faq, internal-faq, complete
    d4-ticket           built in  todo, in_progress, ready, tested, done, blocked
    task                built in  todo, in-progress, done, blocked, cancelled
    asdd-slice          built in  DISCOVERY, SPEC, VALIDATION, DESIGN, IMPLEMENTATION, CI_CD, OBSERVABILITY, DONE, PARTIAL, QUICK_FIX, BEHAVIOR_CAPTURE, BLOCKED, LOCK, NEEDS_HUMAN_REVIEW
    hivemind-graph      built in  DRAFT, FROZEN
    hivemind-flow       built in  CREATED, RUNNING, PAUSED, COMPLETED, FROZEN_FOR_MERGE, MERGED, ABORTED
    hivemind-task       built in  PENDING, READY, RUNNING, VERIFYING, RETRY, SUCCESS, FAILED, ESCALATED
    cc-task             built in  pending, available, claimed, in_progress, done, failed, cancelled, blocked
    autodev-step        built in  not_started, in_progress, completed, skipped, failed
    ");
    let answer = Sandbox::empty().reads_only(&["lifecycle", "list", "--json"]);
    let lifecycles = answer.json("stepmark.lifecycles/2")["lifecycles"].clone();
    assert_eq!(lifecycles[10]["name"], "d4-ticket");
    assert_eq!(lifecycles[10]["states"][1]["moves"][1]["to"], "ready");
}

#[test]
fn shows_one_with_its_moves() {
    let sandbox = Sandbox::empty();
    assert_snapshot!(sandbox.reads_only(&["lifecycle", "show", "bmad-spec"]), @r"
    exit 0
    ── stdout
    A spec of BMAD 6.11 and later
    STATE              RANK  SYNONYMS             GOES TO                                                                                                  MEANING
    draft              0     -                    ready-for-dev, in-progress, blocked                                                                      being written; begins here
    ready-for-dev      1     ready                draft, in-progress, blocked                                                                              approved, not begun
    in-progress        2     -                    draft, ready-for-dev, in-review, done (steps-finished, children-finished), blocked, awaiting-operator    being implemented
    in-review          3     review               draft, ready-for-dev, in-progress, done (steps-finished, children-finished), blocked, awaiting-operator  implemented, being reviewed
    done               4     complete, completed  in-progress, in-review                                                                                   reviewed; ends here
    blocked            -     -                    draft, ready-for-dev, in-progress, in-review                                                             halted, a person decides
    awaiting-operator  -     -                    in-progress, in-review, done (steps-finished, children-finished), blocked                                finished but for what a person has to do
    `review_loop_iteration` counts entering draft, ready-for-dev, in-progress from in-review, 5 times at most
    ");
    sandbox.write(CONFIGURATION, RELEASE);
    assert_snapshot!(sandbox.reads_only(&["lifecycle", "show", "release"]), @r"
    exit 0
    ── stdout
    A release of ours
    STATE     RANK  SYNONYMS  GOES TO                                                    MEANING
    draft     0     -         Approved, held                                             being written; begins here
    Approved  1     accepted  draft, shipped (filled(version), children-finished), held  -
    shipped   2     -         -                                                          ends here
    held      -     -         draft (back), Approved (back)                              goes back to the state in `held_at`
    `attempts` counts entering Approved, 2 times at most
    ");
    let answer = sandbox.reads_only(&["lifecycle", "show", "release", "--json"]).json("stepmark.lifecycle/2");
    assert_eq!(answer["states"][3]["return_to"], serde_json::json!(["held_at"]));
    assert_eq!(answer["counters"][0]["at_most"], 2);
    assert_snapshot!(sandbox.reads_only(&["lifecycle", "show", "relaese"]), @r"
    exit 2
    ── stderr
    error: there is no lifecycle `relaese`
      help: there are `release`, `task`, `bmad-ticket`, `bmad-container`, `bmad-spec`, `bmad-story`, `bmad-epic`, `bmad-retrospective`, `bmad-document`, `bmad-prd`, `bmad-research`, `bmad-prfaq`, `d4-ticket`, `asdd-slice`, `hivemind-graph`, `hivemind-flow`, `hivemind-task`, `cc-task`, `autodev-step`
    ");
}

#[test]
fn draws_one() {
    let sandbox = Sandbox::empty();
    sandbox.write(CONFIGURATION, RELEASE);
    assert_snapshot!(sandbox.reads_only(&["lifecycle", "graph", "release"]), @r#"
    exit 0
    ── stdout
    stateDiagram-v2
        state "draft" as s0
        state "Approved" as s1
        state "shipped" as s2
        state "held" as s3
        [*] --> s0
        s0 --> s1
        s0 --> s3
        s1 --> s0
        s1 --> s2 : filled(version), children-finished
        s1 --> s3
        s3 --> s0 : back
        s3 --> s1 : back
        s2 --> [*]
    "#);
    for name in
        ["release", "bmad-spec", "bmad-epic", "d4-ticket", "asdd-slice", "hivemind-task", "cc-task", "task"]
    {
        let picture = sandbox.reads_only(&["lifecycle", "graph", name, "--format", "svg"]);
        assert_eq!((picture.code, picture.stderr.as_str()), (0, ""), "{picture}");
        let again = sandbox.reads_only(&["lifecycle", "graph", name, "--format", "svg"]);
        assert_eq!(picture.stdout, again.stdout, "the same table is the same picture");
        assert!(
            picture.stdout.contains("<svg") && picture.stdout.trim_end().ends_with("</svg>"),
            "{picture}"
        );
        let answer = sandbox.reads_only(&["lifecycle", "show", name, "--json"]).json("stepmark.lifecycle/2");
        for state in answer["states"].as_array().unwrap() {
            let label = format!(">{}<", state["name"].as_str().unwrap());
            assert!(picture.stdout.contains(&label), "{label} in {picture}");
        }
    }
}

#[test]
fn names_may_hold_anything() {
    let sandbox = Sandbox::empty();
    let odd = "<b>&\"'; é 漢字 🦀";
    let states = format!("[{{name: {odd:?}, initial: true}}, {{name: end, terminal: true}}]");
    sandbox.write(
        CONFIGURATION,
        format!(
            "lifecycles:\n  - name: odd\n    states: {states}\n    moves: [{{from: {odd:?}, to: end}}]\n"
        ),
    );
    for format in ["svg", "mermaid"] {
        let run = sandbox.reads_only(&["lifecycle", "graph", "odd", "--format", format]);
        assert_eq!(run.code, 0, "{run}");
        assert!(!run.stdout.contains("<b>"), "{run}");
    }
}

#[test]
fn a_table_that_is_wrong_says_where() {
    let sandbox = Sandbox::empty();
    sandbox.write(CONFIGURATION, RELEASE.replace("to: shipped, guards", "to: shiped, guards"));
    assert_snapshot!(sandbox.reads_only(&["status"]), @r"
    exit 4
    ── stderr
    error: `[ROOT]/.stepmark/config.yaml`:12:30 cannot be used: in the lifecycle `release`: there is no state `shiped`: the states are `draft`, `Approved`, `shipped` and `held`
      help: fix that line; nothing was changed
    ");
}

#[test]
fn the_schema_of_the_configuration_is_printed() {
    let run = Sandbox::empty().reads_only(&["config", "schema"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let schema: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert!(schema["$defs"]["LifecycleDeclaration"]["properties"]["states"].is_object(), "{run}");
}
