//! SM903: the status made a move that its lifecycle does not have.

use super::{argument, is_finished, place_of_status, readable_base, status_move};
use crate::check::{Finding, Group, Loss, Rule, Severity, Subject, rule::Decision};
use crate::lifecycle::{MoveRefusal, RootKeys};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM903",
    name: "status-move-illegal",
    group: Group::History,
    severity: Severity::Error,
    summary: "The status moved since the last commit, and no moves of its lifecycle lead there.",
    why: "Several legal moves may stand in one commit, as from `ready-for-dev` to `done`. Where none of them leads \
              to the new status, it was written by mistake, or from an older copy. Records of systems (tasks, slices, flows) \
              make one move at a time.",
    bad: "---\nstepmark_kind: task\n# in the last commit: claimed\nstatus: pending\n---\n",
    good: "---\nstepmark_kind: task\n# in the last commit: claimed\nstatus: available\n---\n",
    fix: "Go the way of the lifecycle, or put the status back.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(base) = readable_base(subject) else { return };
    let Some((before, after)) = status_move(&base, subject.artifact) else { return };
    let Some(table) = base.lifecycle().filter(|_| !after.is_empty()) else { return };
    // The status of another thing, as of the next step, begins anew.
    if table.is_of_another_subject(&RootKeys::of(base.artifact()), &RootKeys::of(subject.artifact)) {
        return;
    }
    // Finished work that goes back has a rule of its own.
    if is_finished(Some(table), before) && !is_finished(Some(table), after) {
        return;
    }
    let keys = RootKeys::of(base.artifact());
    let remembered = table.state_of(before).and_then(|state| table.remembered(state, &keys));
    // Words that are no states are none of this rule's business.
    let Err(refusal @ MoveRefusal::Illegal { .. }) = table.legal_move(Some(before), after, remembered) else {
        return;
    };
    // Several moves were made since the last commit; a record's are made by stepmark, which tells each.
    if subject.artifact.state().kind.is_none() && table.is_reachable(before, after) {
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
    found
        .push(subject.finding(&RULE, place_of_status(subject.artifact), refusal.to_string()).with_help(help));
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Accepts, found_after, found_after_all};
    use super::RULE;
    use crate::check::Loss;

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
            assert_eq!(found_after(&RULE, &spec(before), &spec(after)).len(), expected, "{before} → {after}");
        }
        let task = |status: &str| format!("stepmark_kind: task\nstatus: {status}");
        let found = found_after(&RULE, &task("pending"), &task("done"));
        assert!(
            found[0].contains("3:9 SM903") && found[0].contains("from `pending` it goes to"),
            "{found:?}"
        );
        assert!(found_after(&RULE, "status: draft", "status: done").is_empty(), "no lifecycle is known");
        let accepted = Accepts(&[Loss::Value { key: "status" }]);
        assert!(found_after_all(&RULE, &task("pending"), &task("done"), &accepted).is_empty());
    }

    /// autodev writes its file itself, so no event explains its moves; the next step begins anew.
    #[test]
    fn the_next_step_of_autodev_begins_anew() {
        use crate::artifact::{Artifact, ProjectPath};
        use crate::check::{BaseVersion, Subject};
        use crate::tracked_artifact::{Membership, TrackedArtifact};
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
            RULE.look_at(&Subject::of(&after).since(base), &mut found);
            assert_eq!(found.len(), expected, "{found:?}");
        }
    }
}
