//! The lists of completed steps.

use super::argument;
use crate::artifact::{Field, FieldKind, Problem, StepItemKind, Steps};
use crate::check::{Finding, Fix, Safety, Subject, rule::Decision};
use crate::workflow::{LastStep, Step, StepId, Track, UnknownReason, WorkState};
use std::collections::HashMap;
use stepmark_frontmatter::{Edit, KeyPath, Span};

/// Bytes parsed per file to prove fixes; further fixes come with the next run.
const PROVEN_BYTES: usize = 8 << 20;

/// Each proof parses the file again, so in a large file only the first findings have a fix.
fn without_item(subject: &Subject<'_>, nth: usize, span: Span, safety: Safety, title: &str) -> Option<Fix> {
    if nth.saturating_mul(subject.artifact.bytes().len()) > PROVEN_BYTES {
        return None;
    }
    let lists = subject.artifact.state().steps.iter();
    let (key, place) = lists
        .filter_map(|list| Some((list.key, list.items.iter().position(|item| item.span == span)?)))
        .next()?;
    let remove = Edit::Remove { path: KeyPath::key(key).item(place) };
    Fix::edit(safety, title, subject.artifact, &[remove])
}

fn names(steps: &[&Step]) -> String {
    steps.iter().map(|step| format!("`{}`", step.name())).collect::<Vec<_>>().join(", ")
}

fn closing(subject: &Subject<'_>, gaps: &[&Step]) -> String {
    let path = argument(subject.artifact.path().as_str());
    let steps: Vec<_> = gaps.iter().map(|step| argument(step.name())).collect();
    let first = gaps.first().map_or("", |step| step.name());
    let skipped = argument(&format!("{first}-skipped"));
    format!("`stepmark complete {path} {}`; a step that was skipped is `{skipped}`", steps.join(" "))
}

rules! { Steps;
    pub(crate) STEPS_NOT_A_LIST "SM201" "steps-not-a-list" Error Decision::diagnosed(|problem| matches!(problem, Problem::StepsNotAList { .. }), "write it as `[step, step]` or as lines with dashes");
    pub(crate) STEP_EMPTY "SM202" "step-empty" Warning Decision::OfArtifact(check_step_empty);
    pub(crate) STEP_UNREADABLE "SM203" "step-unreadable" Warning Decision::diagnosed(|problem| matches!(problem, Problem::StepUnreadable { .. }), "write a step id or number");
    pub(crate) STEP_TWICE "SM204" "step-twice" Warning Decision::OfArtifact(check_step_twice);
    pub(crate) STEP_KINDS_MIXED "SM205" "step-kinds-mixed" Note Decision::diagnosed(|problem| matches!(problem, Problem::StepKindsMixed { .. }), "other tools compare items as they are spelled, so use one kind");
    pub(crate) STEPS_IN_BODY "SM206" "steps-in-body" Error Decision::diagnosed(|problem| matches!(problem, Problem::StepsInBody), "move it into the frontmatter as a key");
    pub(crate) NUMBER_MISREAD "SM207" "number-misread" Warning Decision::OfArtifact(check_number_misread);
    pub(crate) CUT_BY_COMMENT "SM208" "cut-by-comment" Warning Decision::fixable(|problem| matches!(problem, Problem::CutByComment { .. }), "put the whole value in quotes", whole_line_quoted);
    pub(crate) STEP_UNKNOWN "SM209" "step-unknown" Warning Decision::OfArtifact(check_step_unknown);
    pub(crate) STEP_AMBIGUOUS "SM210" "step-ambiguous" Warning Decision::OfArtifact(check_step_ambiguous);
    pub(crate) STEP_OUT_OF_ORDER "SM211" "step-out-of-order" Warning Decision::OfArtifact(check_step_out_of_order);
    pub(crate) STEP_MISSING "SM212" "step-missing" Note Decision::OfArtifact(check_step_missing);
    pub(crate) RESUME_MARKER "SM213" "resume-marker" Note Decision::OfArtifact(check_resume_marker);
    pub(crate) LAST_STEP_DISAGREES "SM214" "last-step-disagrees" Note Decision::OfArtifact(check_last_step_disagrees);
    pub(crate) LAST_STEP_UNKNOWN "SM215" "last-step-unknown" Warning Decision::OfArtifact(check_last_step_unknown);
    pub(crate) CURRENT_STEP_DISAGREES "SM216" "current-step-disagrees" Warning Decision::diagnosed(|problem| matches!(problem, Problem::CurrentStepDisagrees { .. }), "keep one of the two keys");
    pub(crate) FINISHED_WITH_GAPS "SM217" "finished-with-gaps" Warning Decision::OfArtifact(check_finished_with_gaps);
}

fn check_step_empty(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let findings = subject.diagnosed(&STEP_EMPTY, |problem| matches!(problem, Problem::StepEmpty { .. }));
    found.extend(findings.enumerate().map(|(nth, finding)| {
        let fix = without_item(subject, nth, finding.span, Safety::Safe, "remove the empty item");
        finding.with_help("remove it").with_fix(fix)
    }));
}

fn check_step_twice(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let findings = subject.diagnosed(&STEP_TWICE, |problem| {
        // Each edit of a document writes the steps of editing again.
        matches!(problem, Problem::StepTwice { step, .. } if StepId::parse(step).track() != Some(Track::Edit))
    });
    found.extend(findings.enumerate().map(|(nth, finding)| {
        let fix = without_repetition(subject, nth, finding.span);
        finding.with_help("remove it").with_fix(fix)
    }));
    let spellings = subject.artifact.steps().into_iter().flat_map(Steps::spellings).enumerate();
    let mut first = HashMap::new();
    spellings.for_each(|(at, spelling)| _ = first.entry(spelling).or_insert(at));
    let duplicates = subject.progress().into_iter().flat_map(|progress| &progress.duplicates);
    for (nth, at) in duplicates.enumerate() {
        let (span, spelling) = subject.item(*at);
        // Found without a workflow; `step:part` is progress within a step.
        if first.get(spelling) == Some(at) && !spelling.contains(':') {
            let message = format!("`{spelling}` names a step that is listed already");
            let fix = without_repetition(subject, nth, span);
            found.push(
                subject.finding(&STEP_TWICE, span, message).with_help("remove one of them").with_fix(fix),
            );
        }
    }
}

/// Unsafe: some tools resume after the last item.
fn without_repetition(subject: &Subject<'_>, nth: usize, item: Span) -> Option<Fix> {
    let lists = subject.artifact.state().steps.iter();
    let is_last = lists.filter_map(|list| list.items.last()).any(|last| last.span == item);
    let safety = if is_last { Safety::Unsafe } else { Safety::Safe };
    without_item(subject, nth, item, safety, "remove the repetition")
}

fn check_number_misread(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    for diagnosis in subject.diagnoses(|problem| matches!(problem, Problem::NumberMisread { .. })) {
        let text =
            subject.artifact.bytes().get(diagnosis.span.range()).and_then(|text| str::from_utf8(text).ok());
        // As text it keeps its spelling.
        let is_bare =
            |text: &&str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".+-_".contains(&byte));
        let fix = text.filter(is_bare).map(|text| {
            Fix::splice(Safety::Safe, format!("quote `{text}`"), diagnosis.span, format!("'{text}'"))
        });
        let finding = subject.finding(&NUMBER_MISREAD, diagnosis.span, diagnosis.problem.to_string());
        found.push(finding.with_help("put it in quotes").with_fix(fix));
    }
}

/// Quotes the value with its comment. Unsafe: it may really be a comment.
fn whole_line_quoted(file: &[u8], value: Span) -> Option<Fix> {
    let rest = file.get(value.start..)?;
    let line = &rest[..memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len())];
    let text = str::from_utf8(line).ok()?.trim_end();
    let span = Span::new(value.start, value.start + text.len());
    let quoted = format!("'{}'", text.replace('\'', "''"));
    Some(Fix::splice(Safety::Unsafe, "quote the value with what follows it", span, quoted))
}

fn check_step_unknown(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    // Steps in a file that is only called like a workflow's may be those of another one.
    let progress = subject.progress().filter(|_| !subject.is_bound_by_file_name());
    for unknown in progress.into_iter().flat_map(|progress| &progress.unknown) {
        if unknown.reason == UnknownReason::NoSuchStep {
            let (span, spelling) = subject.item(unknown.item);
            let message = format!("the workflow has no step `{spelling}`");
            found.push(
                subject.finding(&STEP_UNKNOWN, span, message).with_help("`stepmark show` lists its steps"),
            );
        }
    }
}

fn check_step_ambiguous(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    for unknown in subject.progress().into_iter().flat_map(|progress| &progress.unknown) {
        if let UnknownReason::Ambiguous(steps) = &unknown.reason {
            let (span, spelling) = subject.item(unknown.item);
            let message = format!("`{spelling}` may be any of {}", names(steps));
            found.push(
                subject.finding(&STEP_AMBIGUOUS, span, message).with_help("write the full name of the step"),
            );
        }
    }
}

fn check_step_out_of_order(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let places = subject.progress().map_or(&[][..], |progress| &progress.out_of_order);
    let path = argument(subject.artifact.path().as_str());
    // One step alone has no position in an unordered list.
    let steps: Vec<_> = places.iter().map(|at| argument(subject.item(*at).1)).collect();
    let steps = steps.join(" ");
    for at in places {
        let (span, spelling) = subject.item(*at);
        let message = format!("`{spelling}` stands after a later step");
        found.push(subject.finding(&STEP_OUT_OF_ORDER, span, message).with_help(format!(
            "`stepmark reopen {path} {steps}`, then `stepmark complete {path} {steps}` puts it in its place"
        )));
    }
}

fn check_step_missing(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(progress) = subject.progress().filter(|progress| progress.state != WorkState::Finished) else {
        return;
    };
    if !progress.gaps.is_empty() {
        let message = format!("later steps are listed, but not {}", names(&progress.gaps));
        let finding = subject.finding(&STEP_MISSING, subject.list(), message);
        found.push(finding.with_help(closing(subject, &progress.gaps)));
    }
}

fn check_resume_marker(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    for (nth, at) in subject.progress().into_iter().flat_map(|progress| &progress.resume_markers).enumerate()
    {
        let (span, spelling) = subject.item(*at);
        let message = format!("`{spelling}` marks a resumed session; it is not progress");
        let fix = without_item(subject, nth, span, Safety::Unsafe, "remove the mark");
        found.push(subject.finding(&RESUME_MARKER, span, message).with_fix(fix));
    }
}

fn check_last_step_disagrees(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let (Some(progress), Some(last)) = (subject.progress(), &subject.artifact.state().last_step) else {
        return;
    };
    if matches!(progress.last_step, LastStep::Disagrees(_)) {
        let message = format!("`lastStep: {}` is not the last step of the list", last.text);
        let finding = subject.finding(&LAST_STEP_DISAGREES, last.span, message);
        found.push(finding.with_help("the list counts").with_fix(as_the_list_says(subject, last)));
    }
}

/// The last counting item, in the spelling style of `last`.
fn as_the_list_says(subject: &Subject<'_>, last: &Field) -> Option<Fix> {
    let place = subject.progress()?.done.last()?.item;
    let item = subject.artifact.steps()?.items.get(place)?;
    if item.kind != StepItemKind::Scalar(last.kind)
        || !matches!(last.kind, FieldKind::Text | FieldKind::Integer)
    {
        return None;
    }
    let set = Edit::Set { path: KeyPath::key("lastStep"), value: item.like(&item.spelling) };
    Fix::edit(Safety::Unsafe, format!("make it `{}`", item.spelling), subject.artifact, &[set])
}

fn check_last_step_unknown(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let (Some(progress), Some(last)) = (subject.progress(), &subject.artifact.state().last_step) else {
        return;
    };
    if progress.last_step == LastStep::Unknown {
        let message = format!("`lastStep: {}` is no step of the workflow", last.text);
        found.push(subject.finding(&LAST_STEP_UNKNOWN, last.span, message).with_help("the list counts"));
    }
}

fn check_finished_with_gaps(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(progress) = subject.progress().filter(|progress| progress.state == WorkState::Finished) else {
        return;
    };
    if !progress.gaps.is_empty() {
        let message = format!("the workflow is finished, but not {}", names(&progress.gaps));
        let finding = subject.finding(&FINISHED_WITH_GAPS, subject.list(), message);
        found.push(finding.with_help(closing(subject, &progress.gaps)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::rules::sample::{fixed, found};

    #[test]
    fn a_text_or_map_is_no_list() {
        let message = "2:17 SM201 `stepsCompleted` is no list of steps";
        assert_eq!(found(&STEPS_NOT_A_LIST, "---\nstepsCompleted: step-01-init\n---\n"), [message]);
        assert_eq!(found(&STEPS_NOT_A_LIST, "---\nstepsCompleted: {a: 1}\n---\n"), [message]);
        for list in ["[]", "", "null", "[1]", "\n- 1"] {
            assert!(
                found(&STEPS_NOT_A_LIST, &format!("---\nstepsCompleted: {list}\n---\n")).is_empty(),
                "{list}"
            );
        }
    }

    #[test]
    fn empty_items_go() {
        let file = "---\nstepsCompleted:\n- step-01-init\n-\n- step-02-discovery\n---\n";
        assert_eq!(found(&STEP_EMPTY, file), ["4:2 SM202 `stepsCompleted` has an empty item"]);
        assert_eq!(
            fixed(&STEP_EMPTY, file).as_deref(),
            Some("---\nstepsCompleted:\n- step-01-init\n- step-02-discovery\n---\n")
        );
        assert!(found(&STEP_EMPTY, "---\nstepsCompleted: []\n---\n").is_empty());
    }

    #[test]
    fn lists_and_nameless_maps_name_no_step() {
        assert_eq!(
            found(&STEP_UNREADABLE, "---\nstepsCompleted: [[1], {status: done}, {step: 2}]\n---\n"),
            [
                "2:18 SM203 this item of `stepsCompleted` names no step",
                "2:23 SM203 this item of `stepsCompleted` names no step"
            ]
        );
    }

    #[test]
    fn the_same_spelling_is_seen_without_a_workflow() {
        let file = "---\nstepsCompleted: [1, x, 1, 2]\n---\n";
        assert_eq!(found(&STEP_TWICE, file), ["2:24 SM204 `1` stands twice in `stepsCompleted`"]);
        assert_eq!(fixed(&STEP_TWICE, file).as_deref(), Some("---\nstepsCompleted: [1, x, 2]\n---\n"));
    }

    #[test]
    fn two_spellings_of_a_step_are_seen_with_it() {
        let file = "---\nworkflowType: prd\nstepsCompleted: [1, step-01-init.md, '2']\n---\n";
        assert_eq!(
            found(&STEP_TWICE, file),
            ["3:21 SM204 `step-01-init.md` names a step that is listed already"]
        );
        for list in ["[2, 02b]", "['step-02-discovery:part-1', 'step-02-discovery:part-2']"] {
            let file = format!("---\nworkflowType: prd\nstepsCompleted: {list}\n---\n");
            assert!(found(&STEP_TWICE, &file).is_empty(), "{list}");
        }
    }

    #[test]
    fn the_first_number_among_names_is_named() {
        assert_eq!(
            found(&STEP_KINDS_MIXED, "---\nstepsCompleted: [step-01-init, 2, 3]\n---\n"),
            ["2:32 SM205 `stepsCompleted` mixes numbers and names"]
        );
        assert!(found(&STEP_KINDS_MIXED, "---\nstepsCompleted: [1, 2]\n---\n").is_empty());
        assert!(
            found(&STEP_KINDS_MIXED, "---\nstepsCompleted: ['1', step-02-x]\n---\n").is_empty(),
            "both are text"
        );
    }

    #[test]
    fn a_heading_that_should_be_a_key() {
        assert_eq!(
            found(&STEPS_IN_BODY, "# PRD\n## stepsCompleted: [1]\n"),
            ["2:1 SM206 this heading holds state that no reader of frontmatter sees"]
        );
        assert!(found(&STEPS_IN_BODY, "# PRD\n## About stepsCompleted\nstepsCompleted: [1]\n").is_empty());
    }

    #[test]
    fn decimals_and_octals_are_misread() {
        let file = "---\nstepsCompleted: [1, 1.10, 08, '1.9', 10]\n---\n";
        assert_eq!(
            found(&NUMBER_MISREAD, file),
            [
                "2:21 SM207 `1.10` in `stepsCompleted` is a number that readers change or disagree on",
                "2:27 SM207 `08` in `stepsCompleted` is a number that readers change or disagree on"
            ]
        );
        assert_eq!(
            fixed(&NUMBER_MISREAD, file).as_deref(),
            Some("---\nstepsCompleted: [1, '1.10', 08, '1.9', 10]\n---\n")
        );
    }

    #[test]
    fn an_issue_number_is_no_comment() {
        let file = "---\nstatus: blocked by #680, isn't it  \ntitle: PRD # a comment\n---\n";
        assert_eq!(
            found(&CUT_BY_COMMENT, file),
            ["2:9 SM208 the value of `status` ends here; readers take `#680, isn't it` for a comment"]
        );
        assert_eq!(
            fixed(&CUT_BY_COMMENT, file).as_deref(),
            Some("---\nstatus: 'blocked by #680, isn''t it'  \ntitle: PRD # a comment\n---\n")
        );
        assert!(found(&CUT_BY_COMMENT, "---\nstatus: 'blocked by #680'\n---\n").is_empty());
    }

    #[test]
    fn what_looks_like_a_step_should_be_one() {
        let file = "---\nworkflowType: prd\nstepsCompleted: [1, step-42-other, edit-2026-02-24]\n---\n";
        assert_eq!(found(&STEP_UNKNOWN, file), ["3:21 SM209 the workflow has no step `step-42-other`"]);
        assert!(
            found(&STEP_UNKNOWN, "---\nstepsCompleted: [step-42-other]\n---\n").is_empty(),
            "no workflow is known"
        );
    }

    #[test]
    fn a_name_that_none_of_two_steps_has() {
        assert_eq!(
            found(&STEP_AMBIGUOUS, "---\nworkflowType: choice\nstepsCompleted: [step-02-outline]\n---\n"),
            ["3:18 SM210 `step-02-outline` may be any of `step-02-draft`, `step-02-review`"]
        );
        assert!(
            found(&STEP_AMBIGUOUS, "---\nworkflowType: choice\nstepsCompleted: [step-02-draft]\n---\n")
                .is_empty()
        );
    }

    #[test]
    fn the_earlier_step_is_named() {
        let file = "---\nworkflowType: prd\nstepsCompleted: [1, 3, 2]\n---\n";
        assert_eq!(found(&STEP_OUT_OF_ORDER, file), ["3:24 SM211 `2` stands after a later step"]);
        assert!(
            found(&STEP_OUT_OF_ORDER, "---\nworkflowType: prd\nstepsCompleted: [1, 2, 02b, 3]\n---\n")
                .is_empty()
        );
    }

    #[test]
    fn a_gap_is_named_and_one_that_was_skipped_is_none() {
        assert_eq!(
            found(&STEP_MISSING, "---\nworkflowType: prd\nstepsCompleted: [1, 02b]\n---\n"),
            ["3:17 SM212 later steps are listed, but not `step-02-discovery`"]
        );
        let skipped = "---\nworkflowType: prd\nstepsCompleted: [1, step-02-discovery-skipped, 02b]\n---\n";
        assert!(found(&STEP_MISSING, skipped).is_empty());
        assert!(
            found(&STEP_MISSING, "---\nworkflowType: prd\nstepsCompleted: [step-12-complete]\n---\n")
                .is_empty()
        );
    }

    #[test]
    fn the_mark_of_a_session_is_no_progress() {
        let file = "---\nworkflowType: prd\nstepsCompleted: [1, step-01b-continue]\n---\n";
        assert_eq!(
            found(&RESUME_MARKER, file),
            ["3:21 SM213 `step-01b-continue` marks a resumed session; it is not progress"]
        );
        assert_eq!(
            fixed(&RESUME_MARKER, file).as_deref(),
            Some("---\nworkflowType: prd\nstepsCompleted: [1]\n---\n")
        );
        assert!(found(&RESUME_MARKER, "---\nworkflowType: prd\nstepsCompleted: [1, 2]\n---\n").is_empty());
    }

    #[test]
    fn the_list_counts() {
        let file = "---\nworkflowType: prd\nstepsCompleted: [step-01-init, step-02-discovery]\nlastStep: 'step-01-init'\n---\n";
        assert_eq!(
            found(&LAST_STEP_DISAGREES, file),
            ["4:11 SM214 `lastStep: step-01-init` is not the last step of the list"]
        );
        assert_eq!(
            fixed(&LAST_STEP_DISAGREES, file),
            Some(file.replace("lastStep: 'step-01-init'", "lastStep: 'step-02-discovery'"))
        );
        let numbers = "---\nworkflowType: prd\nstepsCompleted: [1, 2]\nlastStep: 1\n---\n";
        assert_eq!(fixed(&LAST_STEP_DISAGREES, numbers), Some(numbers.replace("lastStep: 1", "lastStep: 2")));
        let mixed = numbers.replace("lastStep: 1", "lastStep: step-01-init");
        assert_eq!(
            (found(&LAST_STEP_DISAGREES, &mixed).len(), fixed(&LAST_STEP_DISAGREES, &mixed)),
            (1, None)
        );
        assert!(found(&LAST_STEP_DISAGREES, &numbers.replace("lastStep: 1", "lastStep: 2")).is_empty());
    }

    #[test]
    fn the_last_step_should_be_one() {
        let file = "---\nworkflowType: prd\nstepsCompleted: [1]\nlastStep: 42\n---\n";
        assert_eq!(found(&LAST_STEP_UNKNOWN, file), ["4:11 SM215 `lastStep: 42` is no step of the workflow"]);
        assert!(found(&LAST_STEP_UNKNOWN, &file.replace("42", "1")).is_empty());
    }

    #[test]
    fn two_spellings_of_one_key() {
        assert_eq!(
            found(&CURRENT_STEP_DISAGREES, "---\ncurrentStep: 2\ncurrent_step: 3\n---\n"),
            ["3:15 SM216 `currentStep` says something else"]
        );
        assert!(found(&CURRENT_STEP_DISAGREES, "---\ncurrentStep: 3\ncurrent_step: 3\n---\n").is_empty());
    }

    #[test]
    fn a_finished_workflow_has_no_gaps() {
        assert_eq!(
            found(&FINISHED_WITH_GAPS, "---\nworkflowType: choice\nstepsCompleted: [step-03-end]\n---\n"),
            ["3:17 SM217 the workflow is finished, but not `step-01-start`, `step-02-draft`"]
        );
        assert!(
            found(&FINISHED_WITH_GAPS, "---\nworkflowType: prd\nstepsCompleted: [1, 3]\n---\n").is_empty()
        );
    }
}
