//! SM306: a time that no clock shows.

use super::written_time::WrittenTime;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM306",
    name: "time-impossible",
    group: Group::Status,
    severity: Severity::Warning,
    summary: "A time is written with digits, and no calendar or clock has it.",
    why: "Programs that read it fail, or take another day for it.",
    bad: "---\nstatus: draft\ndate: 2026-02-30\n---\n",
    good: "---\nstatus: draft\ndate: 2026-02-28\n---\n",
    fix: "Write the day as `2026-02-28`, with a time as `2026-02-28T09:30:00Z`.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    for time in &subject.artifact.state().times {
        if let WrittenTime::Impossible(text) = WrittenTime::of(time) {
            let message = format!("`{text}` is no time that a calendar and a clock have");
            let finding = subject.finding(&RULE, time.span, message);
            found.push(finding.with_help("write `2026-02-28` or `2026-02-28T09:30:00Z`"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn days_and_hours_exist() {
        let at = |time: &str| found(&RULE, &format!("---\nstatus: draft\nlastSaved: '{time}'\n---\n"));
        for time in ["2026-02-30", "2026-13-01", "2026-01-02 30:00", "2026-01-02T10:61:00Z", "2026-00-10"] {
            assert_eq!(
                at(time),
                [format!("3:12 SM306 `{time}` is no time that a calendar and a clock have")],
                "{time}"
            );
        }
        for time in [
            "2026-01-02",
            "2026-01-02 09:30",
            "2026-01-02T09:30:00Z",
            "2026-01-02T09:30:00.123+01:00",
            "2026-01-02 09:30:00 +01:00",
            "2026-01-02 09:30 UTC",
            "yesterday",
            "{{date}}",
            "January 2, 2026",
            "",
        ] {
            assert!(at(time).is_empty(), "{time}: {:?}", at(time));
        }
    }
}
