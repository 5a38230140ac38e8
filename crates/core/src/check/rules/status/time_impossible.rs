//! SM306: a time that no clock shows.

use jiff::{Timestamp, Zoned, civil};

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
    mend: "Write the day as `2026-02-28`, with a time as `2026-02-28T09:30:00Z`.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    for time in &subject.artifact.state().times {
        let Some(text) = time.filled().map(str::trim) else { continue };
        if looks_like_a_time(text) && !is_time(text) {
            let message = format!("`{text}` is no time that a calendar and a clock have");
            found.push(
                subject
                    .finding(&RULE, time.span, message)
                    .with_help("write `2026-02-28` or `2026-02-28T09:30:00Z`"),
            );
        }
    }
}

/// Four digits, a dash and more of these only: what begins like an ISO 8601 date. Other texts are for people.
fn looks_like_a_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 8
        && bytes[..4].iter().all(u8::is_ascii_digit)
        && bytes[4] == b'-'
        && bytes.iter().all(|byte| byte.is_ascii_digit() || b"-:.,+ TtZzUC[]/_".contains(byte))
}

fn is_time(text: &str) -> bool {
    // YAML writes `2026-02-28 09:30:00 +01:00` where ISO 8601 has no space before the offset.
    let joined =
        text.replacen(" +", "+", 1).replacen(" -", "-", 1).replacen(" Z", "Z", 1).replacen(" UTC", "Z", 1);
    [text, &joined].iter().any(|text| {
        text.parse::<civil::DateTime>().is_ok()
            || text.parse::<civil::Date>().is_ok()
            || text.parse::<Timestamp>().is_ok()
            || text.parse::<Zoned>().is_ok()
    })
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
