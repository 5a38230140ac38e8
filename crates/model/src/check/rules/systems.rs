//! Rules for records of all systems: projections, and requirements of lifecycles on changes.

use super::history::readable_base;
use crate::artifact::{Artifact, ProjectPath};
use crate::check::rule::Decision;
use crate::check::rules::{argument, value_span};
use crate::check::{BaseVersion, Finding, Loss, Subject};
use crate::lifecycle::{ChangeRefusal, Lifecycle};
use stepmark_frontmatter::Span;
use stepmark_packs::{Kind, PeerFault, PeerProblem};

/// HEAD state of an artifact whose lifecycle judges every change.
struct Past<'a> {
    base: BaseVersion<'a>,
    lifecycle: &'a Lifecycle,
}

impl<'a> Past<'a> {
    fn of(subject: &Subject<'a>) -> Option<Self> {
        // Most lifecycles do not judge changes.
        let base = readable_base(subject).filter(|base| base.tracked.may_have_attributes())?;
        let lifecycle = base.lifecycle()?;
        Some(Self { base, lifecycle })
    }

    fn refusals(&self, subject: &Subject<'_>) -> Vec<ChangeRefusal> {
        let state = |artifact: &Artifact| artifact.state_value().unwrap_or_default();
        let (old, new) = (state(self.base.artifact()), state(subject.artifact));
        self.lifecycle.judge_change([Some(&old), Some(&new)], None)
    }

    /// The first root key changed outside of stepmark, which would have refused it, or recorded the override.
    fn unexplained(&self, subject: &Subject<'_>) -> Option<(String, Span)> {
        let before = self.base.artifact().state_value().ok()?;
        let now = subject.artifact.state_value().ok()?;
        let keys = before.as_object().into_iter().chain(now.as_object()).flat_map(|keys| keys.keys());
        let is_changed = |key: &&String| before.get(key.as_str()) != now.get(key.as_str());
        let key = keys.filter(is_changed).find(|key| !self.base.accepts(Loss::Value { key }))?;
        Some((key.clone(), value_span(subject.artifact, &[key])))
    }
}

rules! { Systems;
    pub PROJECTION_DRIFT "SMP01" "projection-drift" Warning Decision::OfLaterStage;
    pub PROJECTION_BEHIND "SMP02" "projection-behind" Warning Decision::OfLaterStage;
    pub PROJECTION_DAMAGED "SMP03" "projection-damaged" Warning Decision::OfLaterStage;
    pub(crate) APPEND_ONLY_CHANGED "SMP04" "append-only-changed" Error Decision::OfArtifact(check_append_only_changed);
    pub(crate) FROZEN_CHANGED "SMP05" "frozen-changed" Error Decision::OfArtifact(check_frozen_changed);
    pub(crate) WRITER_NOT_ALLOWED "SMP06" "writer-not-allowed" Error Decision::OfArtifact(check_writer_not_allowed);
    pub(crate) KEY_WRONG "SMP07" "pack-key-wrong" Warning Decision::OfArtifact(check_key_wrong);
    pub(crate) PACKS_COMPETE "SMP08" "packs-compete" Error Decision::OfArtifact(check_packs_compete);
    pub RECORD_LOST "SMP09" "record-lost" Error Decision::OfLaterStage;
    pub RECORD_UNUSABLE "SMP10" "record-unusable" Error Decision::OfLaterStage;
    pub RECORD_EDITED "SMP11" "record-edited" Error Decision::OfLaterStage;
    pub REFERENCE_UNKNOWN "SMP12" "reference-unknown" Error Decision::OfLaterStage;
    pub REFERENCE_CIRCLE "SMP13" "reference-circle" Error Decision::OfLaterStage;
    pub VALUE_TWICE "SMP14" "value-twice" Error Decision::OfLaterStage;
    pub HOLDER_SILENT "SMP15" "holder-silent" Note Decision::OfLaterStage;
}

/// Known to history, but deleted, or no longer a record.
pub fn record_lost_finding(path: &ProjectPath, is_gone: bool, command: &str) -> Finding {
    let message = match is_gone {
        true => "history knows this record, and it is gone: nobody has taken it away by a command",
        false => "history knows this record, and the file is none any more",
    };
    let help = format!("{command} brings it back; `stepmark remove FILE` then takes it away for good");
    Finding::new(&RECORD_LOST, path, Span::at(0), message).with_help(help)
}

pub fn record_edited_finding(path: &ProjectPath) -> Finding {
    let file = argument(path.as_str());
    let help = format!(
        "`stepmark diff {file}` shows it; a person takes it back with `stepmark undo`, or accepts it: \
         `stepmark set {file} KEY=VALUE --force --reason TEXT`"
    );
    let message = "no recorded change led to this state: it was edited by hand, or by another program";
    Finding::new(&RECORD_EDITED, path, Span::at(0), message).with_help(help)
}

pub fn peer_finding(artifact: &Artifact, fault: &PeerFault) -> Finding {
    let rule = match fault.problem {
        PeerProblem::Unknown { .. } => &REFERENCE_UNKNOWN,
        PeerProblem::Circle { .. } => &REFERENCE_CIRCLE,
        PeerProblem::NotUnique { .. } => &VALUE_TWICE,
    };
    let help = format!("`stepmark set {} {}=…`", argument(artifact.path().as_str()), fault.key);
    Finding::new(rule, artifact.path(), value_span(artifact, &[&fault.key]), fault.to_string())
        .with_help(help)
}

pub fn holder_silent_finding(artifact: &Artifact, key: &str, reason: String) -> Finding {
    let help = "ask, or make a move that gives it back";
    Finding::new(&HOLDER_SILENT, artifact.path(), value_span(artifact, &[key]), reason).with_help(help)
}

pub fn record_unusable_finding(path: &ProjectPath, reason: String) -> Finding {
    let help = "mend it, or take it out of the folder: until then no command changes it";
    Finding::new(&RECORD_UNUSABLE, path, Span::at(0), reason).with_help(help)
}

/// `changed`, `added` or `removed` is the change of record `id` in a projection. `import` takes it, `project`
/// discards it.
pub fn projection_drift_finding(
    path: &ProjectPath,
    bytes: &[u8],
    (id, change): (&str, &str),
    [import, project]: [&str; 2],
) -> Finding {
    let quoted = serde_json::Value::from(id).to_string();
    let found = memchr::memmem::find(bytes, quoted.as_bytes());
    let span = found.map_or(Span::at(0), |start| Span::new(start, start + quoted.len()));
    let message = match change {
        "added" => format!("this file has `{id}`, and there is no record of it"),
        "removed" => format!("this file lacks `{id}`, of which there is a record"),
        _ => format!("this file says something else of `{id}` than its record"),
    };
    let remove = if change == "removed" { " --remove" } else { "" };
    let help = format!("`{import} --take file{remove}` takes that, `{project} --overwrite {id}` gives it up");
    Finding::new(&PROJECTION_DRIFT, path, span, message).with_help(help)
}

/// `project` is the command that updates it.
pub fn projection_behind_finding(path: &ProjectPath, project: &str) -> Finding {
    let message = "this file is older than the records that it follows";
    Finding::new(&PROJECTION_BEHIND, path, Span::at(0), message).with_help(format!("`{project}` writes it"))
}

/// `is_gone`: no such file. `project` recreates it.
pub fn projection_damaged_finding(path: &ProjectPath, is_gone: bool, project: &str) -> Finding {
    let message = if is_gone {
        "this file, which stepmark wrote, is gone"
    } else {
        "this file cannot be read as what stepmark writes there"
    };
    Finding::new(&PROJECTION_DAMAGED, path, Span::at(0), message)
        .with_help(format!("`{project}` makes it again"))
}

fn check_append_only_changed(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(past) = Past::of(subject) else { return };
    for refusal in past.refusals(subject) {
        let ChangeRefusal::NotAppended { key, .. } = &refusal else { continue };
        let keys: Vec<&str> = key.split('.').collect();
        let span = value_span(subject.artifact, &keys);
        let help = format!("put them back: `git show HEAD:./{}` has them", subject.artifact.path());
        found.push(subject.finding(&APPEND_ONLY_CHANGED, span, refusal.to_string()).with_help(help));
    }
}

fn check_frozen_changed(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(past) = Past::of(subject) else { return };
    let is_frozen = |refusal: &ChangeRefusal| matches!(refusal, ChangeRefusal::Frozen { .. });
    let Some(refusal) = past.refusals(subject).into_iter().find(is_frozen) else { return };
    let Some((key, span)) = past.unexplained(subject) else { return };
    let help = format!("put `{key}` back: `git show HEAD:./{}` has it", subject.artifact.path());
    found.push(subject.finding(&FROZEN_CHANGED, span, refusal.to_string()).with_help(help));
}

fn check_writer_not_allowed(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(past) = Past::of(subject) else { return };
    let Some(role) = &past.lifecycle.attributes().writers else { return };
    let Some((key, span)) = past.unexplained(subject) else { return };
    let message = format!(
        "`{key}` was changed by other means than stepmark, and only the role `{role}` may change it by the lifecycle `{}`",
        past.lifecycle.name()
    );
    let path = subject.artifact.path();
    let help = format!(
        "put it back (`git show HEAD:./{path}` has it), and change it with `--actor KIND:NAME` of somebody who has the role"
    );
    found.push(subject.finding(&WRITER_NOT_ALLOWED, span, message).with_help(help));
}

fn check_key_wrong(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let is_told = |kind: &&Kind| !kind.keys.is_empty() || !kind.rules.is_empty();
    let Some(kind) = subject.kind().filter(is_told) else { return };
    let Ok(state) = subject.artifact.state_value() else { return };
    for (key, fault) in kind.faults(&state) {
        let span = value_span(subject.artifact, &[key]);
        let help = format!("`stepmark set {} {key}=…`", argument(subject.artifact.path().as_str()));
        let message = format!("{fault} by the pack `{}`", kind.system);
        found.push(subject.finding(&KEY_WRONG, span, message).with_help(help));
    }
}

fn check_packs_compete(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some((kind, rival)) = subject.kind().zip(subject.rival()) else { return };
    let message = format!("the packs `{}` and `{}` both claim it", kind.system, rival.system);
    let help = "change `applies_to` of one of them; until then no move is made";
    found.push(
        subject.finding(&PACKS_COMPETE, value_span(subject.artifact, &["status"]), message).with_help(help),
    );
}

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests {
    use super::sample::found_after;
    use super::*;

    #[test]
    fn only_what_is_added_behind_is_no_loss() {
        for (before, after, expected) in [
            ("attempts: [a]", "attempts: [a, b]", 0),
            ("attempts: [a, b]", "attempts: [b, a]", 1),
            ("attempts: [a]", "x: 1", 1),
            ("x: 1", "attempts: [a]", 0),
            ("other: [a]", "other: []", 0),
        ] {
            assert_eq!(
                found_after(&APPEND_ONLY_CHANGED, before, after, &[]).len(),
                expected,
                "{before} → {after}"
            );
        }
        let found =
            found_after(&APPEND_ONLY_CHANGED, "attempts: [a, b]", "x: 1\nattempts: [a]", &["attempts"]);
        assert_eq!(
            found,
            [
                "3:11 SMP04 `attempts` only grows by the lifecycle `run`: of its 2 entries the 2nd was changed or taken away"
            ],
            "history explains no loss here"
        );
    }

    #[test]
    fn a_frozen_record_changes_by_a_move_or_a_reason() {
        for (before, after, explained, expected) in [
            ("status: closed\nt: 1", "status: closed\nt: 2", &[][..], 1),
            ("status: closed\nt: 1", "status: closed\nt: 2", &["t"], 0),
            ("status: closed\nt: 1", "status: accepted\nt: 2", &[], 0),
            ("status: closed\nt: 1", "status: open\nt: 1", &[], 1),
            ("status: open\nt: 1", "status: open\nt: 2", &[], 0),
            ("status: closed\nt: 1", "t: 1\nstatus: closed # still", &[], 0),
        ] {
            assert_eq!(
                found_after(&FROZEN_CHANGED, before, after, explained).len(),
                expected,
                "{before} → {after}"
            );
        }
        assert_eq!(
            found_after(&FROZEN_CHANGED, "status: closed", "status: closed\nt: 2", &[]),
            [
                "3:4 SMP05 it is `closed`, which the lifecycle `run` leaves as it is: only a move to `accepted` changes it"
            ]
        );
    }

    #[test]
    fn a_change_has_to_be_told() {
        let found = found_after(&WRITER_NOT_ALLOWED, "kind: kept\nn: 1", "kind: kept\nn: 2", &[]);
        assert_eq!(
            found,
            [
                "3:4 SMP06 `n` was changed by other means than stepmark, and only the role `custodian` may change it by the lifecycle `record`"
            ]
        );
        assert!(found_after(&WRITER_NOT_ALLOWED, "kind: kept\nn: 1", "kind: kept\nn: 2", &["n"]).is_empty());
        assert!(found_after(&WRITER_NOT_ALLOWED, "kind: kept\nn: 1", "n: 1\nkind: kept", &[]).is_empty());
        assert!(
            found_after(&WRITER_NOT_ALLOWED, "status: open\nn: 1", "status: open\nn: 2", &[]).is_empty(),
            "anybody's"
        );
    }
}
