//! Which source to believe.

use jiff::Timestamp;

use super::{Answer, Evidence, Outlook, Said, Source, Testimony, Tier, Verdict};
use crate::workflow::Standing;

/// Decides where to go on, or what to look at next. `least` is the tier to ask at least.
///
/// A frontmatter that can be read is the truth, whatever else says otherwise; that is only told (DESIGN.md, invariant 1). Else
/// the newest checkpoint counts, unless it is not believed or outdated; else, of everything, the newest state that is believed, and at
/// the same moment the journal before a checkpoint before git.
pub fn decide(evidence: &Evidence, least: Tier) -> Verdict {
    let Some(looked) = evidence.looked else { return Verdict::Look(Tier::Frontmatter) };
    let frontmatter = evidence.testimonies.iter().find(|one| one.source == Source::Frontmatter);
    if let Some(frontmatter) = frontmatter {
        let wants_it = least == Tier::Frontmatter || looked == Tier::Everything;
        match &frontmatter.said {
            Said::Unclear { reason } if wants_it => return Verdict::unclear(&frontmatter.source, reason),
            Said::State { .. } if wants_it => return answer(evidence, looked, frontmatter),
            _ => {}
        }
    }
    let next = match looked {
        Tier::Frontmatter => Tier::Checkpoint,
        Tier::Checkpoint if least < Tier::Everything => match first_checkpoint(evidence) {
            Some(checkpoint) => return answer(evidence, Tier::Checkpoint, checkpoint),
            None => Tier::Everything,
        },
        Tier::Checkpoint => Tier::Everything,
        Tier::Everything => return of_everything(evidence),
    };
    Verdict::Look(next)
}

/// The newest checkpoint, if it is believed: an older one would send the work back unseen.
fn first_checkpoint(evidence: &Evidence) -> Option<&Testimony> {
    let newest = evidence.testimonies.iter().find(|one| matches!(one.source, Source::Checkpoint(_)))?;
    newest.state().is_some().then_some(newest)
}

fn of_everything(evidence: &Evidence) -> Verdict {
    let believed = evidence.testimonies.iter().filter(|one| one.state().is_some());
    let best = believed.max_by_key(|one| (one.state().and_then(|(at, _)| at), rank(&one.source)));
    if let Some(best) = best {
        return answer(evidence, Tier::Everything, best);
    }
    let unclear = evidence.testimonies.iter().find_map(|one| match &one.said {
        Said::Unclear { reason } => Some(Verdict::unclear(&one.source, reason)),
        _ => None,
    });
    unclear.unwrap_or_else(|| {
        let said: Vec<String> =
            evidence.testimonies.iter().map(|one| format!("{}: {}", one.source, one.said)).collect();
        Verdict::CannotTell {
            reason: format!("no source tells the state of `{}`: {}", evidence.artifact, said.join("; ")),
            help: format!(
                "mend its frontmatter by hand (`stepmark check {}` shows the place), or put a checkpoint back with \
                 `stepmark restore`",
                evidence.artifact
            ),
        }
    })
}

/// Of states of the same moment, the one to believe has the highest rank.
const fn rank(source: &Source) -> u8 {
    match source {
        Source::GitHistory(_) => 0,
        Source::Checkpoint(_) => 1,
        Source::Journal(_) => 2,
        Source::Frontmatter => 3,
    }
}

fn answer(evidence: &Evidence, tier: Tier, chosen: &Testimony) -> Verdict {
    let Some((at, outlook)) = chosen.state() else { return Verdict::Look(tier) };
    let mut cautions = evidence.cautions.clone();
    if outlook.standing == Standing::Interrupted {
        cautions.push(
            "the artifact has content but no completed step: look at it before its first step runs again"
                .to_owned(),
        );
    }
    if chosen.source != Source::Frontmatter
        && let Some(at) = at
    {
        cautions.push(format!(
            "what was done after {at} is not in this state: compare it with the text of the artifact"
        ));
    }
    cautions
        .extend(evidence.testimonies.iter().filter_map(|other| disagreement(chosen, (at, outlook), other)));
    if !evidence.delegations.is_empty() {
        let paths: Vec<String> =
            evidence.delegations.iter().map(|child| format!("`{}`", child.path)).collect();
        cautions.push(format!("work that was delegated is not finished: {}", paths.join(", ")));
    }
    Verdict::Answer(Answer {
        tier,
        source: chosen.source.clone(),
        outlook: outlook.clone(),
        why: why(evidence, chosen),
        cautions,
    })
}

/// What to say of another source that is believed too: it knows more steps, is newer, or (git, which alone knows what is
/// checked out) says something else than the journal.
fn disagreement(
    chosen: &Testimony,
    (at, outlook): (Option<Timestamp>, &Outlook),
    other: &Testimony,
) -> Option<String> {
    let (other_at, other_outlook) = other.state()?;
    if other.source == chosen.source || other_outlook.next == outlook.next {
        return None;
    }
    let knows_more = other_outlook.done > outlook.done;
    let is_newer = at.is_some() && other_at > at;
    let is_checked_out =
        matches!((&chosen.source, &other.source), (Source::Journal(_), Source::GitHistory(_)));
    if !(knows_more || is_newer || is_checked_out) {
        return None;
    }
    let remark = if is_checked_out { "; it counts if another branch was checked out since" } else { "" };
    Some(format!("{} says otherwise: {}{remark}", other.source, other.said))
}

fn why(evidence: &Evidence, chosen: &Testimony) -> String {
    let distrusted: Vec<String> = evidence
        .testimonies
        .iter()
        .filter(|one| one.source.tier() < chosen.source.tier() || one.source == Source::Frontmatter)
        .filter(|one| one.source != chosen.source)
        .filter_map(|one| match &one.said {
            Said::Nothing { reason } | Said::Distrusted { reason } => {
                Some(format!("{}: {reason}", one.source))
            }
            Said::State { .. } | Said::Unclear { .. } => None,
        })
        .collect();
    let reason = match &chosen.source {
        Source::Frontmatter => "the frontmatter can be read, and it is the truth".to_owned(),
        Source::Checkpoint(_) => format!("{} is the newest state that is believed", chosen.source),
        Source::Journal(_) => format!("{} is the last state that history knows", chosen.source),
        Source::GitHistory(_) => format!("{} is the newest version that can be read", chosen.source),
    };
    if distrusted.is_empty() { reason } else { format!("{}; {reason}", distrusted.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        artifact::ProjectPath,
        journal::EventId,
        resume::{NextStep, OpenDelegation, Unclear},
    };

    fn path(text: &str) -> ProjectPath {
        ProjectPath::new(text).unwrap()
    }

    fn state(at: Option<&str>, done: usize) -> Said {
        let outlook = Outlook {
            standing: Standing::Underway,
            done,
            total: 14,
            completed: (1..=done).map(|step| step.to_string()).collect(),
            next: vec![NextStep { step: format!("step-{:02}", done + 1), file: None }],
            alternatives: Vec::new(),
            status: None,
        };
        Said::State { at: at.map(|at| format!("2026-11-22T{at}:00Z").parse().unwrap()), outlook }
    }

    fn distrusted() -> Said {
        Said::Distrusted { reason: "broken".to_owned() }
    }

    fn nothing() -> Said {
        Said::Nothing { reason: "none".to_owned() }
    }

    fn checkpoint() -> Source {
        Source::Checkpoint(Some(path("c.json")))
    }

    fn journal() -> Source {
        Source::Journal(Some(EventId::from_bytes([1; 16])))
    }

    fn git() -> Source {
        Source::GitHistory(Some("0123456789abcdef".to_owned()))
    }

    fn evidence(looked: Tier, testimonies: impl IntoIterator<Item = (Source, Said)>) -> Evidence {
        let mut evidence = Evidence::none(path("docs/prd.md"));
        evidence.looked = Some(looked);
        evidence.testimonies =
            testimonies.into_iter().map(|(source, said)| Testimony { source, said }).collect();
        evidence
    }

    fn answered(verdict: Verdict) -> Answer {
        match verdict {
            Verdict::Answer(answer) => answer,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn looks_no_further_than_it_must() {
        let none = Evidence::none(path("a.md"));
        assert_eq!(decide(&none, Tier::Frontmatter), Verdict::Look(Tier::Frontmatter));
        let good = evidence(Tier::Frontmatter, [(Source::Frontmatter, state(None, 3))]);
        let answer = answered(decide(&good, Tier::Frontmatter));
        assert_eq!((answer.tier, answer.outlook.next[0].step.as_str()), (Tier::Frontmatter, "step-04"));
        assert_eq!(decide(&good, Tier::Checkpoint), Verdict::Look(Tier::Checkpoint));
        let broken = evidence(Tier::Frontmatter, [(Source::Frontmatter, distrusted())]);
        assert_eq!(decide(&broken, Tier::Frontmatter), Verdict::Look(Tier::Checkpoint));
        let second = [(Source::Frontmatter, distrusted()), (checkpoint(), state(Some("10:00"), 2))];
        let answer = answered(decide(&evidence(Tier::Checkpoint, second.clone()), Tier::Frontmatter));
        assert_eq!((answer.tier, answer.source), (Tier::Checkpoint, checkpoint()));
        assert!(answer.why.contains("broken"), "{}", answer.why);
        assert!(answer.cautions[0].contains("10:00"), "{:?}", answer.cautions);
        assert_eq!(
            decide(&evidence(Tier::Checkpoint, second), Tier::Everything),
            Verdict::Look(Tier::Everything)
        );
    }

    #[test]
    fn a_missing_or_distrusted_checkpoint_falls_to_everything() {
        let older = Source::Checkpoint(Some(path("older.json")));
        for checkpoints in [
            vec![(Source::Checkpoint(None), nothing())],
            vec![(checkpoint(), distrusted())],
            vec![(checkpoint(), distrusted()), (older, state(Some("08:00"), 1))],
        ] {
            let all = [(Source::Frontmatter, distrusted())].into_iter().chain(checkpoints);
            let found = evidence(Tier::Checkpoint, all);
            assert_eq!(decide(&found, Tier::Frontmatter), Verdict::Look(Tier::Everything));
        }
    }

    #[test]
    fn of_everything_the_newest_state_counts() {
        let frontmatter = (Source::Frontmatter, distrusted());
        for (said, source) in [
            ([state(Some("10:00"), 2), state(Some("11:00"), 3), state(Some("09:00"), 1)], journal()),
            ([state(Some("10:00"), 2), state(Some("10:00"), 2), state(Some("10:00"), 2)], journal()),
            ([state(Some("12:00"), 2), state(Some("11:00"), 3), state(Some("09:00"), 1)], checkpoint()),
            ([state(Some("10:00"), 2), nothing(), state(Some("11:00"), 1)], git()),
            ([distrusted(), nothing(), state(Some("11:00"), 1)], git()),
        ] {
            let [one, two, three] = said;
            let all = [frontmatter.clone(), (checkpoint(), one), (journal(), two), (git(), three)];
            let answer = answered(decide(&evidence(Tier::Everything, all), Tier::Frontmatter));
            assert_eq!((answer.tier, answer.source), (Tier::Everything, source));
        }
    }

    #[test]
    fn a_readable_frontmatter_is_the_truth_and_others_are_told() {
        let mut all = evidence(
            Tier::Everything,
            [
                (Source::Frontmatter, state(None, 3)),
                (checkpoint(), state(Some("09:00"), 2)),
                (journal(), state(Some("11:00"), 5)),
            ],
        );
        all.delegations.push(OpenDelegation { path: path("docs/child.md"), status: None, next: Vec::new() });
        let answer = answered(decide(&all, Tier::Everything));
        assert_eq!((answer.tier, answer.source), (Tier::Everything, Source::Frontmatter));
        assert_eq!(answer.cautions.len(), 2, "{:?}", answer.cautions);
        assert!(answer.cautions[0].contains("5/14") && answer.cautions[1].contains("child.md"));
    }

    #[test]
    fn what_is_checked_out_is_told_beside_the_journal() {
        let all = [
            (Source::Frontmatter, distrusted()),
            (journal(), state(Some("11:00"), 5)),
            (git(), state(Some("10:00"), 3)),
        ];
        let answer = answered(decide(&evidence(Tier::Everything, all), Tier::Frontmatter));
        assert!(answer.cautions.iter().any(|caution| caution.contains("branch")), "{:?}", answer.cautions);
    }

    #[test]
    fn it_never_guesses() {
        let nothing_at_all = evidence(
            Tier::Everything,
            [(Source::Frontmatter, distrusted()), (Source::Journal(None), nothing())],
        );
        let Verdict::CannotTell { reason, help } = decide(&nothing_at_all, Tier::Frontmatter) else {
            panic!()
        };
        assert!(reason.contains("broken") && reason.contains("none") && help.contains("restore"), "{reason}");
        let unclear = evidence(
            Tier::Frontmatter,
            [(Source::Frontmatter, Said::Unclear { reason: Unclear::NoWorkflow })],
        );
        assert!(matches!(decide(&unclear, Tier::Frontmatter), Verdict::CannotTell { .. }));
        assert_eq!(decide(&unclear, Tier::Checkpoint), Verdict::Look(Tier::Checkpoint));
    }
}
