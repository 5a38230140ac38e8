//! The choice of the source that is trusted.

use jiff::Timestamp;

use super::{
    ResumeAnswer, ResumeDecision, ResumePoint, ResumeReport, SourceReport, SourceResult, StateSource, Tier,
};
use crate::workflow::WorkState;

/// Decides where to go on, or what to look at next. `least` is the tier to ask at least.
///
/// A frontmatter that can be read is the truth, whatever else says otherwise; that is only told
/// (docs/design.md, "Truth"). Else the newest checkpoint counts, unless it is not believed or outdated; else,
/// of everything, the newest state that is believed, and at the same moment the journal before a checkpoint
/// before git.
pub fn decide(report: &ResumeReport, least: Tier) -> ResumeDecision {
    let Some(looked) = report.looked else { return ResumeDecision::Look(Tier::Frontmatter) };
    let frontmatter = report.sources.iter().find(|one| one.source == StateSource::Frontmatter);
    if let Some(frontmatter) = frontmatter {
        let wants_it = least == Tier::Frontmatter || looked == Tier::Everything;
        match &frontmatter.result {
            SourceResult::Unclear { reason } if wants_it => {
                return ResumeDecision::unclear(&frontmatter.source, reason);
            }
            SourceResult::State { .. } if wants_it => return answer(report, looked, frontmatter),
            _ => {}
        }
    }
    let next = match looked {
        Tier::Frontmatter => Tier::Checkpoint,
        Tier::Checkpoint if least < Tier::Everything => match first_checkpoint(report) {
            Some(checkpoint) => return answer(report, Tier::Checkpoint, checkpoint),
            None => Tier::Everything,
        },
        Tier::Checkpoint => Tier::Everything,
        Tier::Everything => return of_everything(report),
    };
    ResumeDecision::Look(next)
}

/// The newest checkpoint, if it is believed: an older one would send the work back unseen.
fn first_checkpoint(report: &ResumeReport) -> Option<&SourceReport> {
    let newest = report.sources.iter().find(|one| matches!(one.source, StateSource::Checkpoint(_)))?;
    newest.state().is_some().then_some(newest)
}

fn of_everything(report: &ResumeReport) -> ResumeDecision {
    let believed = report.sources.iter().filter(|one| one.state().is_some());
    let best = believed.max_by_key(|one| (one.state().and_then(|(at, _)| at), rank(&one.source)));
    if let Some(best) = best {
        return answer(report, Tier::Everything, best);
    }
    let unclear = report.sources.iter().find_map(|one| match &one.result {
        SourceResult::Unclear { reason } => Some(ResumeDecision::unclear(&one.source, reason)),
        _ => None,
    });
    unclear.unwrap_or_else(|| {
        let result: Vec<String> =
            report.sources.iter().map(|one| format!("{}: {}", one.source, one.result)).collect();
        ResumeDecision::CannotTell {
            reason: format!("no source tells the state of `{}`: {}", report.artifact, result.join("; ")),
            help: format!(
                "fix its frontmatter by hand (`stepmark check {}` shows the place), or put a checkpoint back with \
                 `stepmark restore`",
                report.artifact
            ),
        }
    })
}

const fn rank(source: &StateSource) -> u8 {
    match source {
        StateSource::GitHistory(_) => 0,
        StateSource::Checkpoint(_) => 1,
        StateSource::Journal(_) => 2,
        StateSource::Frontmatter => 3,
    }
}

fn answer(report: &ResumeReport, tier: Tier, chosen: &SourceReport) -> ResumeDecision {
    let Some((at, point)) = chosen.state() else { return ResumeDecision::Look(tier) };
    let mut cautions = report.cautions.clone();
    if point.state == Some(WorkState::Interrupted) {
        cautions.push(
            "the artifact has content but no completed step: look at it before its first step runs again"
                .to_owned(),
        );
    }
    if chosen.source != StateSource::Frontmatter
        && let Some(at) = at
    {
        cautions.push(format!(
            "what was done after {at} is not in this state: compare it with the text of the artifact"
        ));
    }
    cautions.extend(report.sources.iter().filter_map(|other| disagreement(chosen, (at, point), other)));
    if !report.delegations.is_empty() {
        let paths: Vec<String> = report.delegations.iter().map(|child| format!("`{}`", child.path)).collect();
        cautions.push(format!("work that was delegated is not finished: {}", paths.join(", ")));
    }
    ResumeDecision::Answer(Box::new(ResumeAnswer {
        tier,
        source: chosen.source.clone(),
        point: point.clone(),
        why: why(report, chosen),
        cautions,
    }))
}

/// The remark on another source that is believed too: it knows more steps, is newer, or (git, which alone
/// knows what is checked out) says something else than the journal.
fn disagreement(
    chosen: &SourceReport,
    (at, point): (Option<Timestamp>, &ResumePoint),
    other: &SourceReport,
) -> Option<String> {
    let (other_at, other_point) = other.state()?;
    if other.source == chosen.source
        || (&other_point.next, &other_point.next_status) == (&point.next, &point.next_status)
    {
        return None;
    }
    let knows_more = other_point.done > point.done;
    let is_newer = at.is_some() && other_at > at;
    let is_checked_out =
        matches!((&chosen.source, &other.source), (StateSource::Journal(_), StateSource::GitHistory(_)));
    if !(knows_more || is_newer || is_checked_out) {
        return None;
    }
    let remark = if is_checked_out { "; it counts if another branch was checked out since" } else { "" };
    Some(format!("{} says otherwise: {}{remark}", other.source, other.result))
}

fn why(report: &ResumeReport, chosen: &SourceReport) -> String {
    let distrusted: Vec<String> = report
        .sources
        .iter()
        .filter(|one| one.source.tier() < chosen.source.tier() || one.source == StateSource::Frontmatter)
        .filter(|one| one.source != chosen.source)
        .filter_map(|one| match &one.result {
            SourceResult::Nothing { reason } | SourceResult::Distrusted { reason } => {
                Some(format!("{}: {reason}", one.source))
            }
            SourceResult::State { .. } | SourceResult::Unclear { .. } => None,
        })
        .collect();
    let reason = match &chosen.source {
        StateSource::Frontmatter => "the frontmatter can be read, and it is the truth".to_owned(),
        StateSource::Checkpoint(_) => format!("{} is the newest state that is believed", chosen.source),
        StateSource::Journal(_) => format!("{} is the last state that history knows", chosen.source),
        StateSource::GitHistory(_) => format!("{} is the newest version that can be read", chosen.source),
    };
    if distrusted.is_empty() { reason } else { format!("{}; {reason}", distrusted.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        artifact::ProjectPath,
        journal::EventId,
        resume::{NextStep, NoResumePoint, OpenDelegation},
    };

    fn path(text: &str) -> ProjectPath {
        ProjectPath::new(text).unwrap()
    }

    fn state(at: Option<&str>, done: usize) -> SourceResult {
        let point = ResumePoint {
            state: Some(WorkState::Underway),
            done,
            total: 14,
            completed: (1..=done).map(|step| step.to_string()).collect(),
            next: vec![NextStep { step: format!("step-{:02}", done + 1), file: None }],
            alternatives: Vec::new(),
            status: None,
            next_status: None,
            moves: Vec::new(),
        };
        SourceResult::State { at: at.map(|at| format!("2026-11-22T{at}:00Z").parse().unwrap()), point }
    }

    fn distrusted() -> SourceResult {
        SourceResult::Distrusted { reason: "broken".to_owned() }
    }

    fn nothing() -> SourceResult {
        SourceResult::Nothing { reason: "none".to_owned() }
    }

    fn checkpoint() -> StateSource {
        StateSource::Checkpoint(Some(path("c.json")))
    }

    fn journal() -> StateSource {
        StateSource::Journal(Some(EventId::from_bytes([1; 16])))
    }

    fn git() -> StateSource {
        StateSource::GitHistory(Some("0123456789abcdef".to_owned()))
    }

    fn report(looked: Tier, sources: impl IntoIterator<Item = (StateSource, SourceResult)>) -> ResumeReport {
        let mut report = ResumeReport::none(path("docs/prd.md"));
        report.looked = Some(looked);
        report.sources =
            sources.into_iter().map(|(source, result)| SourceReport { source, result }).collect();
        report
    }

    fn answered(verdict: ResumeDecision) -> ResumeAnswer {
        match verdict {
            ResumeDecision::Answer(answer) => *answer,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn looks_no_further_than_it_must() {
        let none = ResumeReport::none(path("a.md"));
        assert_eq!(decide(&none, Tier::Frontmatter), ResumeDecision::Look(Tier::Frontmatter));
        let good = report(Tier::Frontmatter, [(StateSource::Frontmatter, state(None, 3))]);
        let answer = answered(decide(&good, Tier::Frontmatter));
        assert_eq!((answer.tier, answer.point.next[0].step.as_str()), (Tier::Frontmatter, "step-04"));
        assert_eq!(decide(&good, Tier::Checkpoint), ResumeDecision::Look(Tier::Checkpoint));
        let broken = report(Tier::Frontmatter, [(StateSource::Frontmatter, distrusted())]);
        assert_eq!(decide(&broken, Tier::Frontmatter), ResumeDecision::Look(Tier::Checkpoint));
        let second = [(StateSource::Frontmatter, distrusted()), (checkpoint(), state(Some("10:00"), 2))];
        let answer = answered(decide(&report(Tier::Checkpoint, second.clone()), Tier::Frontmatter));
        assert_eq!((answer.tier, answer.source), (Tier::Checkpoint, checkpoint()));
        assert!(answer.why.contains("broken"), "{}", answer.why);
        assert!(answer.cautions[0].contains("10:00"), "{:?}", answer.cautions);
        assert_eq!(
            decide(&report(Tier::Checkpoint, second), Tier::Everything),
            ResumeDecision::Look(Tier::Everything)
        );
    }

    #[test]
    fn a_missing_or_distrusted_checkpoint_falls_to_everything() {
        let older = StateSource::Checkpoint(Some(path("older.json")));
        for checkpoints in [
            vec![(StateSource::Checkpoint(None), nothing())],
            vec![(checkpoint(), distrusted())],
            vec![(checkpoint(), distrusted()), (older, state(Some("08:00"), 1))],
        ] {
            let all = [(StateSource::Frontmatter, distrusted())].into_iter().chain(checkpoints);
            let found = report(Tier::Checkpoint, all);
            assert_eq!(decide(&found, Tier::Frontmatter), ResumeDecision::Look(Tier::Everything));
        }
    }

    #[test]
    fn of_everything_the_newest_state_counts() {
        let frontmatter = (StateSource::Frontmatter, distrusted());
        for (result, source) in [
            ([state(Some("10:00"), 2), state(Some("11:00"), 3), state(Some("09:00"), 1)], journal()),
            ([state(Some("10:00"), 2), state(Some("10:00"), 2), state(Some("10:00"), 2)], journal()),
            ([state(Some("12:00"), 2), state(Some("11:00"), 3), state(Some("09:00"), 1)], checkpoint()),
            ([state(Some("10:00"), 2), nothing(), state(Some("11:00"), 1)], git()),
            ([distrusted(), nothing(), state(Some("11:00"), 1)], git()),
        ] {
            let [one, two, three] = result;
            let all = [frontmatter.clone(), (checkpoint(), one), (journal(), two), (git(), three)];
            let answer = answered(decide(&report(Tier::Everything, all), Tier::Frontmatter));
            assert_eq!((answer.tier, answer.source), (Tier::Everything, source));
        }
    }

    #[test]
    fn a_readable_frontmatter_is_the_truth_and_others_are_told() {
        let mut all = report(
            Tier::Everything,
            [
                (StateSource::Frontmatter, state(None, 3)),
                (checkpoint(), state(Some("09:00"), 2)),
                (journal(), state(Some("11:00"), 5)),
            ],
        );
        all.delegations.push(OpenDelegation { path: path("docs/child.md"), status: None, next: Vec::new() });
        let answer = answered(decide(&all, Tier::Everything));
        assert_eq!((answer.tier, answer.source), (Tier::Everything, StateSource::Frontmatter));
        assert_eq!(answer.cautions.len(), 2, "{:?}", answer.cautions);
        assert!(answer.cautions[0].contains("5/14") && answer.cautions[1].contains("child.md"));
    }

    #[test]
    fn what_is_checked_out_is_told_beside_the_journal() {
        let all = [
            (StateSource::Frontmatter, distrusted()),
            (journal(), state(Some("11:00"), 5)),
            (git(), state(Some("10:00"), 3)),
        ];
        let answer = answered(decide(&report(Tier::Everything, all), Tier::Frontmatter));
        assert!(answer.cautions.iter().any(|caution| caution.contains("branch")), "{:?}", answer.cautions);
    }

    #[test]
    fn it_never_guesses() {
        let nothing_at_all = report(
            Tier::Everything,
            [(StateSource::Frontmatter, distrusted()), (StateSource::Journal(None), nothing())],
        );
        let ResumeDecision::CannotTell { reason, help } = decide(&nothing_at_all, Tier::Frontmatter) else {
            panic!()
        };
        assert!(reason.contains("broken") && reason.contains("none") && help.contains("restore"), "{reason}");
        let unclear = report(
            Tier::Frontmatter,
            [(StateSource::Frontmatter, SourceResult::Unclear { reason: NoResumePoint::NoWorkflow })],
        );
        assert!(matches!(decide(&unclear, Tier::Frontmatter), ResumeDecision::CannotTell { .. }));
        assert_eq!(decide(&unclear, Tier::Checkpoint), ResumeDecision::Look(Tier::Checkpoint));
    }
}
