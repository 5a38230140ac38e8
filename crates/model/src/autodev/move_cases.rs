//! Tests of the moves: what each changes in the file, and what it refuses.

use stepmark_frontmatter::apply;

use super::*;
use crate::artifact::{Artifact, ProjectPath};

fn read(text: &str) -> Artifact {
    Artifact::read(ProjectPath::new("_docs/_autodev_state.md").unwrap(), text.as_bytes().to_vec())
}

/// The file after `made`, or the refusal.
fn after(text: &str, made: &AutodevMove, is_human: bool) -> Result<String, String> {
    let artifact = read(text);
    let noted = Position::of(&artifact).unwrap();
    let flows = Flows::default();
    let edits = decide(
        flows.named(&noted.flow).unwrap(),
        &noted,
        made,
        (is_human, false),
        std::slice::from_ref(&noted.sub_step.name),
    );
    let edits = edits.map_err(|refusal| refusal.to_string())?;
    Ok(String::from_utf8(apply(artifact.bytes(), &artifact.region(), &edits).unwrap().bytes).unwrap())
}

fn sub_step(phase: u64, name: &str) -> AutodevMove {
    AutodevMove::SubStep(SubStep { phase, name: name.to_owned(), detail: String::new() })
}

const PLAN: &str = "# Autodev State\n\n## Current Step\nflow: greenfield\nstep: 3\nname: Plan\nstatus: in_progress\nsub_step:\n  \
                    phase: 4\n  name: architecture-review # of two\n  detail: \"\"\nretry_count: 0\ncycle: 1\n\n## Notes\n\nThey stay.\n";

#[test]
fn a_move_changes_the_values_that_it_is_about_and_no_other_byte() {
    let changed = |made: &AutodevMove| after(PLAN, made, false).unwrap();
    assert_eq!(changed(&AutodevMove::Start), PLAN);
    let phase = PLAN.replace("phase: 4", "phase: 5").replace("architecture-review", "planning");
    assert_eq!(changed(&sub_step(5, "planning")), phase);
    assert_eq!(changed(&AutodevMove::Fail), PLAN.replace("retry_count: 0", "retry_count: 1"));
    let next = PLAN
        .replace("step: 3\nname: Plan\nstatus: in_progress", "step: 4\nname: UI Design\nstatus: not_started")
        .replace("phase: 4", "phase: 0")
        .replace("architecture-review", AWAITING);
    assert_eq!(changed(&AutodevMove::Complete), next);
}

#[test]
fn three_failed_retries_stop_until_a_person_begins_again() {
    let mut text = PLAN.to_owned();
    for _ in 0..3 {
        text = after(&text, &AutodevMove::Fail, false).unwrap();
    }
    assert!(text.contains("status: failed") && text.contains("retry_count: 3"), "{text}");
    for made in [AutodevMove::Start, AutodevMove::Fail, sub_step(5, "x")] {
        assert!(after(&text, &made, true).unwrap_err().contains("failed 3 times"), "{made:?}");
    }
    assert!(after(&text, &AutodevMove::Reset, false).unwrap_err().contains("only a person"));
    assert_eq!(after(&text, &AutodevMove::Reset, true).unwrap(), PLAN);
}

#[test]
fn phases_follow_one_another() {
    for (phase, name, refused) in [
        (4, "architecture-review", None),
        (5, "architecture-review", Some("a name of its own")),
        (6, "x", Some("the next is 5")),
        (3, "x", Some("does not follow")),
        (5, "Batch Loop", Some("kebab-case")),
        (5, AWAITING, Some("phase 0 alone")),
    ] {
        let told = after(PLAN, &sub_step(phase, name), false).err();
        assert_eq!(told.is_some(), refused.is_some(), "{phase} {name}: {told:?}");
        assert!(told.unwrap_or_default().contains(refused.unwrap_or_default()), "{phase} {name}");
    }
    // Phase 0 with another name is no misuse.
    let review = PLAN.replace("phase: 4", "phase: 0");
    assert!(after(&review, &sub_step(0, "awaiting-human-review"), false).is_ok());
}

#[test]
fn a_step_that_ends_its_session_waits_for_the_boundary() {
    let flow = Flows::default();
    let meta = flow.named("meta-repo").unwrap();
    let meta = first_file(meta, meta.step(2));
    let begun = after(&meta, &AutodevMove::Start, false).unwrap();
    let done = after(&begun, &AutodevMove::Complete, false).unwrap();
    assert!(done.contains("step: 2\n") && done.contains("status: completed"), "{done}");
    let next = after(&done, &AutodevMove::Boundary, false).unwrap();
    assert!(next.contains("step: 3\nname: Status\nstatus: not_started"), "{next}");
    assert!(after(&next, &AutodevMove::Boundary, false).unwrap_err().contains("that is done"));
    assert_eq!(after(&begun, &AutodevMove::Boundary, false).unwrap(), next, "one move for both");
}

#[test]
fn the_last_step_goes_round_or_is_the_end() {
    let existing = PLAN
        .replace("greenfield", "existing-code")
        .replace("step: 3\nname: Plan", "step: 17\nname: Retrospective");
    let round = after(&existing, &AutodevMove::Complete, false).unwrap();
    assert!(round.contains("step: 9\nname: New Task\n") && round.contains("cycle: 2"), "{round}");
    let last = PLAN.replace("step: 3\nname: Plan", "step: 11\nname: Retrospective");
    let done = after(&last, &AutodevMove::Complete, false).unwrap();
    assert!(done.contains("step: done\nname: Retrospective\nstatus: completed"), "{done}");
}

#[test]
fn only_an_optional_step_is_skipped() {
    assert!(after(PLAN, &AutodevMove::Skip, false).unwrap_err().contains("not optional"));
    let design = PLAN.replace("step: 3\nname: Plan", "step: 4\nname: UI Design");
    assert!(after(&design, &AutodevMove::Skip, false).unwrap().contains("step: 5\nname: Decompose"));
}
