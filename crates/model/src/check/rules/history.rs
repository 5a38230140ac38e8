//! Changes since HEAD. Frontmatter is the truth, so history must record every removal: `reopen`, `undo`,
//! `restore` and an override do, an editor does not.

use super::argument;
use crate::artifact::{Artifact, Field, STEPS_KEYS, StepItem, Steps};
use crate::check::{AcceptedLosses, BaseVersion, Finding, Loss, Subject, rule::Decision};
use crate::journal::{EventId, Lineage, changes_in_words};
use crate::lifecycle::{Lifecycle, MoveRefusal};
use crate::workflow::{Progress, Step, StepForm, StepId, UnknownReason};
use serde_json::{Map, Value as Json};
use stepmark_frontmatter::{Span, diff};

/// Finished words without a lifecycle (docs/formats.md, "Statuses").
const FINISHED_WORDS: [&str; 3] = ["done", "complete", "completed"];

/// Broken states have other rules.
pub(super) fn readable_base<'a>(subject: &Subject<'a>) -> Option<BaseVersion<'a>> {
    let broken = subject.artifact.diagnoses().iter().any(|diagnosis| diagnosis.problem.hides_state());
    subject.base.filter(|_| !broken)
}

/// `(before, after)`; `after` is empty if the status is gone.
fn status_move<'a>(base: &BaseVersion<'a>, artifact: &'a Artifact) -> Option<(&'a str, &'a str)> {
    let before = base.artifact().state().status.as_ref().and_then(Field::filled)?;
    let after = artifact.state().status.as_ref().and_then(Field::filled).unwrap_or_default();
    (!before.eq_ignore_ascii_case(after)).then_some((before, after))
}

fn is_finished(lifecycle: Option<&Lifecycle>, status: &str) -> bool {
    match lifecycle {
        Some(lifecycle) => lifecycle.is_terminal(status),
        None => FINISHED_WORDS.iter().any(|word| word.eq_ignore_ascii_case(status)),
    }
}

fn place_of_status(artifact: &Artifact) -> Span {
    artifact.state().status.as_ref().map_or(Span::at(0), |status| status.span)
}

/// Keys with a value; `None` if readers disagree on them.
fn keys(artifact: &Artifact) -> Option<Map<String, Json>> {
    match artifact.state_value() {
        Ok(Json::Object(keys)) => Some(keys.into_iter().filter(|(_, value)| says_something(value)).collect()),
        _ => None,
    }
}

fn says_something(value: &Json) -> bool {
    match value {
        Json::Null => false,
        Json::String(text) => !text.is_empty(),
        Json::Array(items) => !items.is_empty(),
        Json::Object(entries) => !entries.is_empty(),
        Json::Bool(_) | Json::Number(_) => true,
    }
}

fn quoted<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    words.into_iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

rules! { History;
    pub(crate) STEPS_REMOVED "SM901" "steps-removed" Error Decision::OfArtifact(check_steps_removed);
    pub(crate) FINISHED_WORK_REOPENED "SM902" "finished-work-reopened" Error Decision::OfArtifact(check_finished_work_reopened);
    pub(crate) STATUS_MOVE_ILLEGAL "SM903" "status-move-illegal" Error Decision::OfArtifact(check_status_move_illegal);
    pub(crate) STATE_KEY_REMOVED "SM904" "state-key-removed" Warning Decision::OfArtifact(check_state_key_removed);
    pub(crate) KEY_REMOVED "SM905" "key-removed" Note Decision::OfArtifact(check_key_removed);
    pub(crate) ID_CHANGED "SM906" "id-changed" Error Decision::OfArtifact(check_id_changed);
    pub(crate) ARTIFACT_DELETED "SM907" "artifact-deleted" Warning Decision::WhenDeleted(check_artifact_deleted);
    pub(crate) HISTORY_MISSING "SM908" "history-missing" Error Decision::OfArtifact(check_history_missing);
}

fn check_steps_removed(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(base) = readable_base(subject) else { return };
    for key in STEPS_KEYS {
        let Some(before) = list(base.artifact(), key) else { continue };
        let after = list(subject.artifact, key);
        let gone: Vec<&str> = dropped(&base, subject.progress(), before, after)
            .filter(|item| !base.accepts(Loss::Step { list: key, spelling: &item.spelling }))
            .map(|item| item.spelling.as_str())
            .collect();
        if gone.is_empty() {
            continue;
        }
        let place = after.map_or(Span::at(0), |steps| steps.span);
        let message = match gone[..] {
            [only] => {
                format!("`{only}` was completed before this change, and `{key}` does not list it any more")
            }
            _ => format!(
                "{} were completed before this change, and `{key}` does not list them any more",
                quoted(gone.iter().copied())
            ),
        };
        let steps: Vec<String> = gone.iter().map(|step| argument(step)).collect();
        let (path, steps) = (argument(subject.artifact.path().as_str()), steps.join(" "));
        found.push(subject.finding(&STEPS_REMOVED, place, message).with_help(format!(
            "put back what is missing; if it is to be done again, put it back, then say so: `stepmark complete {path} {steps}`, `stepmark \
             reopen {path} {steps}`"
        )));
    }
}

pub fn lost_in_merge(artifact: &Artifact, now: &Json, lineage: &Lineage, lost: EventId) -> Option<Finding> {
    let lost = lineage.get(lost)?;
    let lacks = changes_in_words(&diff(&lineage.state_after(lost.id).ok()?, now));
    let message =
        format!("a merge lost what event `{}` by {} recorded; since then: {lacks}", lost.id, lost.actor);
    let help = format!(
        "put back what is missing; `stepmark log {}` shows both sides. If it is right so, the next change by \
         stepmark records it",
        argument(artifact.path().as_str())
    );
    Some(Subject::alone(artifact).finding(&STEPS_REMOVED, Span::at(0), message).with_help(help))
}

fn list<'a>(artifact: &'a Artifact, key: &str) -> Option<&'a Steps> {
    artifact.state().steps.iter().find(|steps| steps.key == key)
}

/// Completed items of `before` without a counterpart in `after`; resume markers and notes do not count.
fn dropped<'a>(
    base: &BaseVersion<'a>,
    progress: Option<&'a Progress<'_>>,
    before: &'a Steps,
    after: Option<&'a Steps>,
) -> impl Iterator<Item = &'a StepItem> {
    let after_ids: Vec<StepId> =
        after.into_iter().flat_map(|steps| steps.spellings().map(StepId::parse)).collect();
    let past_progress = base.tracked.progress();
    before.items.iter().enumerate().filter_map(move |(place, item)| {
        let id = StepId::parse(&item.spelling);
        let is_note = match &past_progress {
            Some(progress) => progress
                .unknown
                .iter()
                .any(|unknown| unknown.item == place && unknown.reason == UnknownReason::Words),
            None => false,
        };
        let is_listed = after_ids.iter().any(|other| is_same_spelling(&id, other))
            || past_progress
                .as_ref()
                .zip(progress)
                .is_some_and(|(before, after)| is_same_step(before, place, after));
        let counts = !item.spelling.is_empty() && !id.is_resume() && !is_note;
        (counts && !is_listed).then_some(item)
    })
}

/// Without the workflow: `3` may be `step-03-success`, written in full.
fn is_same_spelling(one: &StepId, other: &StepId) -> bool {
    let same_number = one.number().is_some()
        && one.number() == other.number()
        && one.track() == other.track()
        && (one.slug().is_none() || other.slug().is_none());
    same_number
        || one.form() == other.form() && *one.form() != StepForm::Words
        || one.spelling() == other.spelling()
}

fn is_same_step(before: &Progress<'_>, place: usize, after: &Progress<'_>) -> bool {
    let is_done = |step: &&Step| {
        after.done.iter().flat_map(|done| &done.steps).any(|other| other.id.form() == step.id.form())
    };
    before.done.iter().filter(|done| done.item == place).flat_map(|done| &done.steps).any(is_done)
}

fn check_finished_work_reopened(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(base) = readable_base(subject) else { return };
    let Some((before, after)) = status_move(&base, subject.artifact) else { return };
    if !is_finished(base.lifecycle(), before) || is_finished(base.lifecycle(), after) {
        return;
    }
    let is_legal = base.lifecycle().is_some_and(|table| table.legal_move(Some(before), after, None).is_ok());
    if is_legal || base.accepts(Loss::Value { key: "status" }) {
        return;
    }
    let message = if after.is_empty() {
        format!("the work was finished (`status: {before}`), and has no status any more")
    } else {
        format!("the work was finished (`status: {before}`), and is `{after}` now")
    };
    let path = argument(subject.artifact.path().as_str());
    let target = if after.is_empty() { "STATUS".to_owned() } else { argument(after) };
    let command = match base.lifecycle() {
        Some(_) => format!("stepmark transition {path} {target} --force --reason TEXT"),
        None => format!("stepmark set {path} status={target}"),
    };
    let help = format!("put `status: {before}` back; if the work is to go on, say so: `{command}`");
    found.push(
        subject.finding(&FINISHED_WORK_REOPENED, place_of_status(subject.artifact), message).with_help(help),
    );
}

fn check_status_move_illegal(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(base) = readable_base(subject) else { return };
    let Some((before, after)) = status_move(&base, subject.artifact) else { return };
    let Some(table) = base.lifecycle().filter(|_| !after.is_empty()) else { return };
    // The status belongs to a new subject, such as the next step.
    if table.is_of_another_subject(&base.artifact().root_keys(), &subject.artifact.root_keys()) {
        return;
    }
    // Reopened work has its own rule.
    if is_finished(Some(table), before) && !is_finished(Some(table), after) {
        return;
    }
    let keys = base.artifact().root_keys();
    let remembered = table.state_of(before).and_then(|state| table.remembered(state, &keys));
    // Unknown words have another rule.
    let Err(refusal @ MoveRefusal::Illegal { .. }) = table.legal_move(Some(before), after, remembered) else {
        return;
    };
    // Several moves since the last commit are fine. Records are moved by stepmark, move by move; so are
    // lifecycles with named moves, except for moves that are legal by hand.
    let is_loose = subject.artifact.state().kind.is_none() && table.named_moves().is_empty();
    if is_loose && table.is_reachable(before, after) {
        return;
    }
    if base.accepts(Loss::Value { key: "status" }) {
        return;
    }
    let path = argument(subject.artifact.path().as_str());
    let help = match refusal.legal() {
        [] => format!("put `status: {before}` back"),
        [first, ..] => format!(
            "put `status: {before}` back and go the way of the lifecycle: `stepmark transition {path} {}`",
            argument(first)
        ),
    };
    found.push(
        subject
            .finding(&STATUS_MOVE_ILLEGAL, place_of_status(subject.artifact), refusal.to_string())
            .with_help(help),
    );
}

const STATE_KEYS: [&str; 10] = [
    "status",
    "validationStatus",
    "workflowType",
    "lastStep",
    "currentStep",
    "current_step",
    "scope",
    "delegation",
    "inputDocuments",
    "session",
];

fn check_state_key_removed(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(base) = readable_base(subject) else { return };
    for key in removed(&base, subject).filter(|key| is_state_key(key)) {
        // SM902 reports that.
        let tells_other = key == "status"
            && status_move(&base, subject.artifact)
                .is_some_and(|(before, _)| is_finished(base.lifecycle(), before));
        if !tells_other {
            let message = format!("the key `{key}` was there before this change, and is gone");
            let help = format!("put it back: `git show HEAD:./{}` has it", base.artifact().path());
            found.push(subject.finding(&STATE_KEY_REMOVED, Span::at(0), message).with_help(help));
        }
    }
}

pub(super) fn is_state_key(key: &str) -> bool {
    STATE_KEYS.contains(&key)
}

/// Removed without a record in history; in file order.
pub(super) fn removed(base: &BaseVersion<'_>, subject: &Subject<'_>) -> impl Iterator<Item = String> {
    let keys = keys(base.artifact()).zip(subject.artifact.state_value().ok());
    let removed: Vec<String> = keys.map_or_else(Vec::new, |(before, after)| {
        let is_gone = |key: &String| after.get(key.as_str()).is_none();
        before.into_iter().map(|(key, _)| key).filter(is_gone).collect()
    });
    let accepted = *base;
    removed.into_iter().filter(move |key| !accepted.accepts(Loss::Value { key }))
}

const IDENTITIES: [&str; 2] = ["id", "stepmark_id"];

fn check_key_removed(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(base) = readable_base(subject) else { return };
    let is_other = |key: &String| {
        !is_state_key(key) && !STEPS_KEYS.contains(&key.as_str()) && !IDENTITIES.contains(&key.as_str())
    };
    for key in removed(&base, subject).filter(is_other) {
        let message = format!("the key `{key}` was there before this change, and is gone");
        found.push(subject.finding(&KEY_REMOVED, Span::at(0), message));
    }
}

fn check_id_changed(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(base) = readable_base(subject) else { return };
    let Some(before) = identity(base.artifact()) else { return };
    let after = identity(subject.artifact);
    let is_same = after.is_some_and(|after| after.text == before.text);
    if is_same || base.accepts(Loss::Value { key: &before.key }) {
        return;
    }
    let (span, now) = match after {
        Some(after) => (after.span, format!("is `{}` now", after.text)),
        None => (Span::at(0), "has none any more".to_owned()),
    };
    let message = format!("this artifact had the id `{}` before this change, and {now}", before.text);
    let help = format!(
        "put `{}: {}` back: history, gates and tickets know the artifact by it",
        before.key, before.text
    );
    found.push(subject.finding(&ID_CHANGED, span, message).with_help(help));
}

/// The artifact's id, else the `stepmark_id` (docs/design.md, "Identity").
fn identity(artifact: &Artifact) -> Option<&Field> {
    let state = artifact.state();
    [&state.id, &state.stepmark_id].into_iter().flatten().find(|field| field.filled().is_some())
}

fn check_artifact_deleted(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let lists = &subject.artifact.state().steps;
    let is_progress = |spelling: &&str| !spelling.is_empty() && !StepId::parse(spelling).is_resume();
    let count = lists.iter().flat_map(Steps::spellings).filter(is_progress).count();
    if count == 0 {
        return;
    }
    let place = lists.first().map_or(Span::at(0), |list| list.span);
    let steps = if count == 1 { "1 completed step".to_owned() } else { format!("{count} completed steps") };
    let path = argument(subject.artifact.path().as_str());
    found.push(subject.finding(&ARTIFACT_DELETED, place, format!("this artifact is deleted, and with it {steps}")).with_help(
        format!(
            "bring it back: `git restore --source=HEAD --staged --worktree -- {path}`; if it is to go, bring it back and run `stepmark remove {path}`"
        ),
    ));
}

fn check_history_missing(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let is_missing =
        readable_base(subject).and_then(|base| base.accepted).is_some_and(AcceptedLosses::is_missing);
    if is_missing {
        found.push(history_missing_finding(subject));
    }
}

/// For an artifact that lost something or is deleted.
pub fn history_missing_finding(subject: &Subject<'_>) -> Finding {
    let message = "what was taken away here is explained by history that the commit does not hold".to_owned();
    subject
        .finding(&HISTORY_MISSING, Span::at(0), message)
        .with_help("run `stepmark journal seal --stage`, and commit again without naming files")
}

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests {
    use super::sample::{Accepts, found_after, found_after_all};
    use super::*;
    use crate::artifact::{Artifact, ProjectPath};
    use crate::check::{BaseVersion, Loss, Subject, deletion_findings};
    use crate::tracked_artifact::{Membership, TrackedArtifact};

    #[test]
    fn a_step_that_is_gone_is_named_at_the_list() {
        for (before, after, expected) in [
            ("stepsCompleted: [1, 2, 3]", "stepsCompleted: [1, 3]", Some("2:17 SM901 `2` was")),
            ("stepsCompleted: [1, 2]", "stepsCompleted: []", Some("2:17 SM901 `1`, `2` were")),
            ("stepsCompleted: [1]", "stepsCompleted:", Some("2:15 SM901 `1` was")),
            ("stepsCompleted: [1]", "status: draft", Some("1:1 SM901 `1` was")),
            (
                "stepsCompleted:\n- step-01-init",
                "stepsCompleted: [step-02-x]",
                Some("2:17 SM901 `step-01-init`"),
            ),
            ("validationStepsCompleted: [1]", "validationStepsCompleted: []", Some("2:27 SM901 `1`")),
            // The same in other words, in another order, more of it.
            ("stepsCompleted: [1, 2]", "stepsCompleted: [2, 1, 3]", None),
            ("stepsCompleted: [1, 1]", "stepsCompleted: [1]", None),
            ("stepsCompleted: [1]", "stepsCompleted: ['01']", None),
            ("stepsCompleted: [3]", "stepsCompleted: [step-03-success]", None),
            ("stepsCompleted: [step-03-success.md]", "stepsCompleted: ['Step 3: Success']", None),
            ("stepsCompleted: [step-03-a]", "stepsCompleted: [step-03-b]", Some("2:17 SM901 `step-03-a`")),
            ("stepsCompleted: [{step: 1}]", "stepsCompleted: [1]", None),
            // No progress.
            ("stepsCompleted: [1, step-01b-continue]", "stepsCompleted: [1]", None),
            ("stepsCompleted: ['']", "stepsCompleted: []", None),
            // Broken now: other rules tell.
            ("stepsCompleted: [1]", "stepsCompleted: [1", None),
        ] {
            let found = found_after(&STEPS_REMOVED, before, after);
            match expected {
                Some(start) => {
                    assert_eq!(found.len(), 1, "{before} → {after}: {found:?}");
                    assert!(found[0].starts_with(start), "{before} → {after}: {found:?}");
                }
                None => assert!(found.is_empty(), "{before} → {after}: {found:?}"),
            }
        }
    }

    #[test]
    fn the_workflow_knows_a_step_under_its_other_names() {
        let after = |list: &str| {
            let before = "workflowType: prd\nstepsCompleted: [step-11-complete, edit-2026-02-24]";
            found_after(&STEPS_REMOVED, before, &format!("workflowType: prd\nstepsCompleted: {list}"))
        };
        assert!(after("[step-12-complete]").is_empty(), "renumbered, and a note is no step");
        assert_eq!(after("[step-01-init]").len(), 1);
    }

    #[test]
    fn what_history_explains_is_accepted() {
        let accepted = Accepts(&[Loss::Step { list: "stepsCompleted", spelling: "2" }]);
        let found =
            found_after_all(&STEPS_REMOVED, "stepsCompleted: [1, 2, 3]", "stepsCompleted: []", &accepted);
        assert!(matches!(&found[..], [only] if only.contains("`1`, `3` were")), "{found:?}");
        assert!(
            found_after_all(&STEPS_REMOVED, "stepsCompleted: [1, 2]", "stepsCompleted: [1]", &accepted)
                .is_empty()
        );
    }

    #[test]
    fn the_help_is_a_command_that_can_be_typed() {
        let found = super::sample::help_after(
            &STEPS_REMOVED,
            "stepsCompleted: ['Step 1: Init']",
            "stepsCompleted: []",
        );
        assert!(found.ends_with("`stepmark reopen prd.md 'Step 1: Init'`"), "{found}");
    }

    /// A spec of BMAD 6.11 has a lifecycle.
    const SPEC: &str = "type: feature\ncontext: [a.md]\n";

    #[test]
    fn only_finished_work_is_reopened() {
        for (before, after, expected) in [
            ("status: done", "status: in-progress", 1),
            ("status: Completed", "status: draft", 1),
            ("status: complete", "title: x", 1),
            ("status: complete", "status: done", 0),
            ("status: in-progress", "status: draft", 0),
            ("title: x", "status: draft", 0),
            ("status: done", "status: DONE", 0),
        ] {
            assert_eq!(
                found_after(&FINISHED_WORK_REOPENED, before, after).len(),
                expected,
                "{before} → {after}"
            );
        }
    }

    #[test]
    fn what_the_lifecycle_or_history_allows_is_accepted() {
        let spec = |status: &str| format!("{SPEC}status: {status}");
        assert!(
            found_after(&FINISHED_WORK_REOPENED, &spec("done"), &spec("in-review")).is_empty(),
            "a follow-up review"
        );
        assert_eq!(found_after(&FINISHED_WORK_REOPENED, &spec("done"), &spec("draft")).len(), 1);
        let accepted = Accepts(&[Loss::Value { key: "status" }]);
        assert!(
            found_after_all(&FINISHED_WORK_REOPENED, "status: done", "status: draft", &accepted).is_empty()
        );
    }

    fn spec(status: &str) -> String {
        format!("type: feature\ncontext: [a.md]\nstatus: {status}")
    }

    #[test]
    fn a_move_is_held_against_the_table() {
        for (before, after, expected) in [
            ("draft", "done", 0),
            ("ready", "in-review", 0),
            ("draft", "ready-for-dev", 0),
            ("draft", "draft", 0),
            ("in-progress", "blocked", 0),
            ("approved", "done", 0),
            ("draft", "approved", 0),
            ("done", "draft", 0),
        ] {
            assert_eq!(
                found_after(&STATUS_MOVE_ILLEGAL, &spec(before), &spec(after)).len(),
                expected,
                "{before} → {after}"
            );
        }
        let task = |status: &str| format!("stepmark_kind: task\nstatus: {status}");
        let found = found_after(&STATUS_MOVE_ILLEGAL, &task("pending"), &task("done"));
        assert!(
            found[0].contains("3:9 SM903") && found[0].contains("from `pending` it goes to"),
            "{found:?}"
        );
        assert!(
            found_after(&STATUS_MOVE_ILLEGAL, "status: draft", "status: done").is_empty(),
            "no lifecycle is known"
        );
        let accepted = Accepts(&[Loss::Value { key: "status" }]);
        assert!(found_after_all(&STATUS_MOVE_ILLEGAL, &task("pending"), &task("done"), &accepted).is_empty());
    }

    /// autodev writes its file itself, so no event explains its moves; the next step begins anew.
    #[test]
    fn the_next_step_of_autodev_begins_anew() {
        let tracked = |step: u8, status: &str| {
            let path = ProjectPath::new("_docs/_autodev_state.md").unwrap();
            let text = format!("## Current Step\nflow: greenfield\nstep: {step}\nstatus: {status}\n");
            TrackedArtifact::new(
                Artifact::read(path, text.into()),
                Membership::None,
                std::sync::Arc::default(),
            )
        };
        for (after, expected) in [((4, "not_started"), 0), ((3, "not_started"), 1), ((3, "completed"), 0)] {
            let (before, after) = (tracked(3, "in_progress"), tracked(after.0, after.1));
            let mut found = Vec::new();
            let base = BaseVersion { tracked: &before, accepted: None };
            STATUS_MOVE_ILLEGAL.look_at(&Subject::of(&after).since(base), &mut found);
            assert_eq!(found.len(), expected, "{found:?}");
        }
    }

    #[test]
    fn a_key_that_said_something_is_missed() {
        for (before, after, expected) in [
            ("status: draft\nscope: small", "status: draft", 1),
            ("status: draft\nscope: small", "x: 1", 2),
            ("status: draft\nscope:", "status: draft", 0),
            ("status: draft", "status:", 0),
            ("status: done", "x: 1", 0),
            ("status: draft\nauthor: Ada", "status: draft", 0),
            ("status: draft\nscope: small", "status: draft\nscope: small\nscope: big", 0),
        ] {
            assert_eq!(found_after(&STATE_KEY_REMOVED, before, after).len(), expected, "{before} → {after}");
        }
        let accepted = Accepts(&[Loss::Value { key: "scope" }]);
        assert!(
            found_after_all(&STATE_KEY_REMOVED, "status: draft\nscope: small", "status: draft", &accepted)
                .is_empty()
        );
    }

    #[test]
    fn only_keys_of_others_are_noted() {
        let read = "id: A\nstepsCompleted: [1]\nstatus: draft\n";
        let before = &format!("{read}author: Ada\nlinks: {{a: b}}\ntags: [x]\ncount: 0\nopen: false");
        let gone = |key| format!("1:1 SM905 the key `{key}` was there before this change, and is gone");
        let expected = ["author", "links", "tags", "count", "open"].map(gone);
        assert_eq!(found_after(&KEY_REMOVED, before, "title: x"), expected);
        let empty = &format!("{read}author: ''\nlinks: {{}}\ntags: []\ncount:\nopen: ~");
        assert!(found_after(&KEY_REMOVED, empty, "title: x").is_empty(), "it said nothing");
        assert!(found_after(&KEY_REMOVED, before, before).is_empty());
    }

    #[test]
    fn an_id_stays() {
        for (before, after, expected) in [
            ("id: A", "id: B", 1),
            ("id: A", "status: draft", 1),
            ("stepmark_id: A", "id: B\nstepmark_id: A", 1),
            ("stepmark_id: A", "stepmark_id: B", 1),
            ("id: A", "id: 'A'", 0),
            ("id: A", "id: A\nstepmark_id: B", 0),
            ("status: draft", "id: A", 0),
            ("id:", "id: A", 0),
            ("id: A", "id: [A", 0),
        ] {
            assert_eq!(found_after(&ID_CHANGED, before, after).len(), expected, "{before} → {after}");
        }
        let found = found_after(&ID_CHANGED, "id: A", "id: B");
        assert_eq!(found, ["2:5 SM906 this artifact had the id `A` before this change, and is `B` now"]);
        assert!(
            found_after_all(&ID_CHANGED, "id: A", "id: B", &Accepts(&[Loss::Value { key: "id" }])).is_empty()
        );
    }

    #[test]
    fn only_work_that_was_done_is_missed() {
        for (text, expected) in [
            ("stepsCompleted: [1, 2]", Some("this artifact is deleted, and with it 2 completed steps")),
            ("validationStepsCompleted: [1]", Some("this artifact is deleted, and with it 1 completed step")),
            ("stepsCompleted: []", None),
            ("stepsCompleted: [step-01b-continue]", None),
            ("status: done", None),
        ] {
            let path = ProjectPath::new("prd.md").unwrap();
            let artifact = Artifact::read(path, format!("---\n{text}\n---\n").into_bytes());
            let found = deletion_findings(&Subject::alone(&artifact));
            assert_eq!(found.first().map(|finding| finding.message.as_str()), expected, "{text}");
            assert!(found.iter().all(|finding| finding.rule == &ARTIFACT_DELETED));
        }
    }

    /// Accepts everything, by what is not committed.
    struct Local;

    impl AcceptedLosses for Local {
        fn accepts(&self, _: &Loss<'_>) -> bool {
            true
        }

        fn is_missing(&self) -> bool {
            true
        }
    }

    #[test]
    fn only_what_is_not_committed_is_told() {
        let (before, after) = ("stepsCompleted: [1, 2]", "stepsCompleted: [1]");
        assert_eq!(found_after_all(&HISTORY_MISSING, before, after, &Local).len(), 1);
        assert!(found_after(&HISTORY_MISSING, before, after).is_empty());
    }
}
