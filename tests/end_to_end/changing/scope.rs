//! `stepmark scope`

use insta::assert_snapshot;

use crate::harness::{Sandbox, changed_lines, demo::PRD};

#[test]
fn an_ai_says_how_sure_it_is_and_a_person_has_the_last_word() {
    let demo = Sandbox::demo();
    let before = demo.read(PRD);
    assert_snapshot!(demo.stepmark(&["scope", PRD, "large", "--by", "AI", "--confidence", "0.85"]), @r"
    exit 0
    ── stdout
    _bmad-output/planning-artifacts/prd.md: written, 5/14, next: step-04-journeys
    ");
    assert_snapshot!(changed_lines(&before, &demo.read(PRD)), @r"
    +scope: large
    +scope_source: ai
    +scope_confidence: 0.85
    ");
    let derived = demo.read(PRD);
    assert_eq!(demo.stepmark(&["scope", PRD, "epic"]).code, 0);
    assert_snapshot!(changed_lines(&derived, &demo.read(PRD)), @r"
    -scope: large
    -scope_source: ai
    -scope_confidence: 0.85
    +scope: epic
    +scope_source: human
    ");
    assert_snapshot!(demo.stepmark(&["scope", PRD, "small", "--by", "ai"]), @r"
    exit 1
    ── stderr
    error: `_bmad-output/planning-artifacts/prd.md` is left as it is
      cause: a person gave it the scope `epic`
      help: a person changes it with `--by human`
    ");
    let log = demo.stepmark(&["log", PRD]).stdout;
    assert!(log.contains("scope large → epic, scope_source ai → human"), "{log}");
}

#[test]
fn who_acts_is_who_says_so() {
    let demo = Sandbox::demo();
    assert_eq!(demo.stepmark(&["--actor", "agent:pm", "scope", PRD, "micro"]).code, 0);
    let shown = demo.stepmark(&["at", "2026-12-31T00:00:00Z", PRD, "--json"]);
    assert!(shown.stdout.contains(r#""scope_source":"ai""#), "{shown}");
}

#[test]
fn only_five_words_are_scopes_and_only_an_ai_has_a_confidence() {
    let demo = Sandbox::demo();
    assert_snapshot!(demo.reads_only(&["scope", PRD, "huge"]), @r"
    exit 2
    ── stderr
    error: invalid value 'huge' for '<SCOPE>'
      [possible values: micro, small, medium, large, epic]

    For more information, try '--help'.
    ");
    assert_snapshot!(demo.reads_only(&["scope", PRD, "small", "--confidence", "0.5"]), @r"
    exit 2
    ── stderr
    error: only an AI has a confidence
      help: say `--by ai`, or leave `--confidence` out
    ");
    assert_snapshot!(demo.reads_only(&["scope", PRD, "small", "--by", "ai", "--confidence", "85"]), @r"
    exit 2
    ── stderr
    error: invalid value '85' for '--confidence <N>': `85` is no confidence: write a number from 0 to 1

    For more information, try '--help'.
    ");
}

#[test]
fn a_sentence_of_another_program_stays() {
    let demo = Sandbox::demo();
    assert_eq!(demo.stepmark(&["set", PRD, "scope=all of the payment flows"]).code, 0);
    assert_snapshot!(demo.stepmark(&["scope", PRD, "small"]), @r"
    exit 1
    ── stderr
    error: `_bmad-output/planning-artifacts/prd.md` is left as it is
      cause: `scope` holds a text that is no scope: `all of the payment flows`
      help: if it may go: `stepmark set _bmad-output/planning-artifacts/prd.md scope=small`
    ");
}
