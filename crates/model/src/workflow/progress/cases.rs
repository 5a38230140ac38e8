//! Lists of completed steps in the forms of the wild, read against chains.

use proptest::prelude::*;

use crate::workflow::{
    Chain, Content, LastStep, MatchedBy, Next, Progress, Step, StepId, StepRecord, Track, UnknownNext,
    UnknownReason, WorkState,
    sample::{SampleStep, chain, ids, next, numbered, prd},
};

fn read<'chain>(chain: &'chain Chain, completed: &str) -> Progress<'chain> {
    read_with(chain, completed, None, Content::Present)
}

fn read_with<'chain>(
    chain: &'chain Chain,
    completed: &str,
    last_step: Option<&str>,
    content: Content,
) -> Progress<'chain> {
    let last_step = last_step.map(StepId::parse);
    let siblings = [(Track::Validate, StepId::parse("step-01-validate"))];
    let completed = ids(completed);
    Progress::read(
        chain,
        &siblings,
        &StepRecord { completed: &completed, last_step: last_step.as_ref(), content },
    )
}

fn names<'chain>(steps: &[&'chain Step]) -> Vec<&'chain str> {
    steps.iter().map(|step| step.name()).collect()
}

#[test]
fn a_prd_walks_from_its_first_step_to_its_last() {
    let prd = prd();
    let mut completed: Vec<String> = Vec::new();
    for done in 0..=14 {
        let progress = read(&prd, &completed.join(","));
        assert_eq!((progress.done_units, progress.total), (done, 14));
        match progress.next {
            Next::Step { step, .. } => completed.push(step.name().to_owned()),
            Next::Finished => assert_eq!(done, 14),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(completed[2], "step-02b-vision");
    assert_eq!(completed[13], "step-12-complete");
}

/// Lists of the wild against a PRD: done, next.
#[test]
fn reads_the_lists_of_the_wild() {
    let prd = prd();
    for (completed, done, expected) in [
        ("", 0, "01-init"),
        ("1", 1, "02-discovery"),
        ("1, 2", 2, "02b-vision"),
        ("01, 02b", 2, "02c-executive-summary"),
        ("step-01-init.md, step-02-discovery.md", 2, "02b-vision"),
        ("Step 1: Project Setup, Step 2: Domain", 2, "02b-vision"),
        ("01-init, 02-discovery, 02b-vision, 02c-executive-summary, 03-success-skipped", 5, "04-journeys"),
        ("step-03-success, step-01-init, step-02-discovery", 3, "04-journeys"),
        ("step-01-init, step-01b-continue", 1, "02-discovery"),
        ("step-01-init, step-02-discovery, edit-2026-02-24, step-01b-continue", 2, "02b-vision"),
        ("step-01b-continue", 0, "01-init"),
        ("edit-2026-02-24", 0, "01-init"),
        ("1.10", 0, "unknown"),
        ("step-40-elsewhere", 0, "unknown"),
        ("step-01-init, step-01-init, 1", 1, "02-discovery"),
        ("step-12-complete", 1, "finished"),
        ("step-e-01-discovery, step-e-02-review", 0, "01-init"),
        ("step-01-validate", 0, "01-init"),
        ("step-01-init, step-02-discovery, step-02b-vision, step-04-user-journeys", 4, "05-domain"),
        ("step-10-nonfunctional, step-08-scoping, step-08-scoping", 2, "11-polish"),
        ("step-12-complete, step-v-validation-complete-2026-05-07", 1, "finished"),
    ] {
        let progress = read(&prd, completed);
        assert_eq!((progress.done_units, next(&progress.next).as_str()), (done, expected), "{completed}");
    }
}

#[test]
fn the_alphas_last_step_still_ends_the_workflow() {
    let prd = prd();
    let progress = read(
        &prd,
        "step-01-init, step-02-discovery, step-03-success, step-04-journeys, step-05-domain, step-06-innovation, \
         step-07-project-type, step-08-scoping, step-09-functional, step-10-nonfunctional, step-11-complete",
    );
    assert_eq!((progress.state, &progress.next), (WorkState::Finished, &Next::Finished));
    assert_eq!(names(&progress.gaps), ["step-02b-vision", "step-02c-executive-summary", "step-11-polish"]);
    let last = progress.done.last().unwrap();
    assert_eq!((last.by, last.steps[0].name()), (MatchedBy::Slug, "step-12-complete"));
}

#[test]
fn every_item_is_accounted_for() {
    let prd = prd();
    let progress =
        read(&prd, "step-03-success, 1, note, step-01b-continue, 3, 40-x, step-e-01-discovery, 02b-other");
    assert_eq!(progress.done.iter().map(|done| done.item).collect::<Vec<_>>(), [0, 1, 7]);
    assert_eq!(progress.done[2].by, MatchedBy::NumberOfOtherName);
    assert_eq!((progress.resume_markers, progress.duplicates), (vec![3], vec![4]));
    assert_eq!(progress.out_of_order, [1, 7]);
    let unknown: Vec<_> = progress.unknown.into_iter().map(|item| (item.item, item.reason)).collect();
    assert_eq!(
        unknown,
        [
            (2, UnknownReason::Words),
            (5, UnknownReason::NoSuchStep),
            (6, UnknownReason::OtherTrack(Track::Edit))
        ]
    );
    assert_eq!(names(&progress.gaps), ["step-02-discovery", "step-02c-executive-summary"]);
}

#[test]
fn a_choice_is_one_unit_however_it_is_recorded() {
    let chain = chain(&[
        ("step-01-setup", "", ""),
        ("step-02a-x", "nextStepFile: ./step-03-z.md", ""),
        ("step-02b-y", "nextStepFile: ./step-03-z.md", ""),
        ("step-03-z", "", ""),
    ]);
    for (completed, done, expected) in [
        ("1", 1, "02a-x|02b-y"),
        ("1, 2", 2, "03-z"),
        ("1, step-02b-y", 2, "03-z"),
        ("1, 2, step-02b-y", 2, "03-z"),
        ("1, step-02b-y, step-02a-x", 2, "03-z"),
        ("1, 2, 3", 3, "finished"),
    ] {
        let progress = read(&chain, completed);
        assert_eq!((progress.done_units, progress.total), (done, 3), "{completed}");
        assert_eq!(next(&progress.next), expected, "{completed}");
    }
    assert_eq!(read(&chain, "1, 2").done[1].steps.len(), 2);
}

#[test]
fn what_may_be_passed_is_no_gap_and_does_not_count() {
    let modes = chain(&[
        ("step-01-a", "nextStepFile_modeA: ./step-03-c.md; nextStepFile_modeB: ./step-02-b.md", ""),
        ("step-02-b", "nextStepFile: ./step-03-c.md", ""),
        ("step-03-c", "altStepFile: ./step-03b-x.md", ""),
        ("step-03b-x", "nextStepFile: ./step-04-d.md", ""),
        ("step-04-d", "", ""),
    ]);
    for (completed, done, total, expected) in [
        ("1", 1, 4, "02-b or 03-c"),
        ("1, 2", 2, 4, "03-c"),
        ("1, 3", 2, 3, "04-d or 03b-x"),
        ("1, 3, 03b", 3, 4, "04-d"),
        ("1, 3, 03b, 4", 4, 4, "finished"),
    ] {
        let progress = read(&modes, completed);
        assert_eq!((progress.done_units, progress.total), (done, total), "{completed}");
        assert_eq!(next(&progress.next), expected, "{completed}");
        assert_eq!(progress.gaps, Vec::<&Step>::new(), "{completed}");
    }
    assert_eq!(names(&read(&modes, "1, 3").passed), ["step-02-b"]);
}

#[test]
fn a_step_that_records_nothing_is_no_gap() {
    let records = "Update stepsCompleted.";
    let chain = chain(&[
        ("step-01-a", "", records),
        ("step-02-hub", "nextStepFile: ./step-02c-sum.md", "Hand over."),
        ("step-02c-sum", "", records),
        ("step-03-end", "", records),
    ]);
    assert_eq!(next(&read(&chain, "1").next), "02-hub");
    let progress = read(&chain, "step-01-a, step-02c-sum, step-03-end");
    assert_eq!((progress.done_units, progress.total, progress.state), (3, 3, WorkState::Finished));
    assert_eq!((names(&progress.gaps), names(&progress.passed)), (vec![], vec!["step-02-hub"]));
}

#[test]
fn a_menu_comes_next_until_it_is_done() {
    let chain = chain(&[
        ("step-03-menu", "", ""),
        ("step-04-session-01", "nextStepFile: ./step-03-menu.md", ""),
        ("step-04-session-02", "nextStepFile: ./step-03-menu.md", ""),
        ("step-05-end", "", ""),
    ]);
    assert_eq!(next(&read(&chain, "step-04-session-01").next), "03-menu or 05-end");
    assert_eq!(next(&read(&chain, "step-03-menu, step-04-session-01").next), "05-end");
}

#[test]
fn cycles_end() {
    let chain = chain(&[
        ("step-01-a", "nextStepFile: ./step-02-b.md", ""),
        ("step-02-b", "nextStepFile: ./step-01-a.md", ""),
    ]);
    assert_eq!(next(&read(&chain, "1").next), "02-b");
    assert_eq!(next(&read(&chain, "1, 2").next), "finished");
    assert_eq!(next(&read(&chain, "2").next), "finished");
}

#[test]
fn an_empty_list_with_content_is_interrupted() {
    let prd = prd();
    for (completed, content, state) in [
        ("", Content::Empty, WorkState::NotStarted),
        ("", Content::Present, WorkState::Interrupted),
        ("step-01b-continue", Content::Present, WorkState::Interrupted),
        ("1", Content::Empty, WorkState::Underway),
    ] {
        assert_eq!(read_with(&prd, completed, None, content).state, state, "{completed}");
    }
    let empty = numbered(&[]);
    let progress = read(&empty, "1");
    assert_eq!(progress.next, Next::Unknown(UnknownNext::NoSteps));
    assert_eq!((progress.done_units, progress.total), (0, 0));
}

#[test]
fn last_step_is_compared_and_never_followed() {
    let prd = prd();
    for (completed, last_step, expected) in [
        ("1, 2", "step-02-discovery", "agrees"),
        ("1, 2", "2", "agrees"),
        ("3, 1", "1", "agrees"),
        ("3, 1", "3", "agrees"),
        ("1, 2", "4", "disagrees"),
        ("", "0", "agrees"),
        ("", "1", "disagrees"),
        ("1", "0", "disagrees"),
        ("1", "soon", "unknown"),
    ] {
        let progress = read_with(&prd, completed, Some(last_step), Content::Present);
        let found = match progress.last_step {
            LastStep::Agrees => "agrees",
            LastStep::Disagrees(_) => "disagrees",
            LastStep::Unknown => "unknown",
            LastStep::Absent => "absent",
        };
        assert_eq!(found, expected, "{completed} / {last_step}");
        assert_eq!(progress.next, read(&prd, completed).next);
    }
    assert_eq!(read(&prd, "1").last_step, LastStep::Absent);
}

#[test]
fn a_declared_list_of_steps_is_a_chain() {
    let chain = Chain::declared(Track::Create, &["step-01-collect", "write", "step-03-review"]);
    assert_eq!(next(&read(&chain, "").next), "01-collect");
    assert_eq!(next(&read(&chain, "step-01-collect").next), "write");
    assert_eq!(next(&read(&chain, "1, write").next), "03-review");
    assert_eq!(next(&read(&chain, "1, write, 3").next), "finished");
}

proptest! {
    /// Any list over any chain: every item is accounted for once, the count stays within the total, and following
    /// the next step ends.
    #[test]
    fn any_list_is_read_and_ends(
        edges in proptest::collection::vec((0usize..8, 0usize..8, 0usize..2), 0..20),
        items in proptest::collection::vec("[0-9]{1,2}|step-0[0-9]-x|step-0[1-3]b-continue|note", 0..12),
    ) {
        let stems: Vec<String> = (0..8).map(|number| format!("step-{number:02}-x")).collect();
        let mut keys = vec![String::new(); 8];
        for (from, to, kind) in edges {
            let key = ["nextStepFile", "altStepFile"][kind];
            keys[from].push_str(&format!("{key}: ./{}.md;", stems[to]));
        }
        let steps: Vec<SampleStep<'_>> =
            stems.iter().zip(&keys).map(|(stem, keys)| (stem.as_str(), keys.as_str(), "")).collect();
        let chain = chain(&steps);
        let mut completed = items.join(",");
        for turn in 0..=9 {
            let progress = read(&chain, &completed);
            let accounted = progress.done.len() + progress.duplicates.len() + progress.resume_markers.len()
                + progress.unknown.len();
            prop_assert_eq!(accounted, ids(&completed).len());
            prop_assert!(progress.done_units <= progress.total);
            match progress.next {
                Next::Step { step, .. } => completed = format!("{completed},{}", step.name()),
                Next::Choice(steps) => completed = format!("{completed},{}", steps[0].name()),
                Next::Finished | Next::Unknown(_) => break,
            }
            prop_assert!(turn < 9, "it never ends: {}", completed);
        }
    }
}
