//! Values of time keys.

use jiff::{Timestamp, Zoned, civil};

use crate::artifact::{Field, FieldKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WrittenTime<'a> {
    /// Empty, a placeholder, or a word for "not yet".
    None,
    /// ISO 8601 or YAML: `2026-01-02`, `2026-01-02 09:30:00 +01:00`. The day may be missing.
    Iso,
    /// In that format, but not a date or time.
    Impossible(&'a str),
    /// With digits: a date in another format, or seconds.
    OtherForm(&'a str),
    Words(&'a str),
}

const NOT_YET: [&str; 6] = ["never", "none", "n/a", "-", "null", "nil"];

impl<'a> WrittenTime<'a> {
    pub(super) fn of(time: &'a Field) -> Self {
        // `generated: true` has no time.
        if time.kind == FieldKind::Bool {
            return Self::None;
        }
        let Some(text) = time.filled().map(str::trim).filter(|text| !text.is_empty()) else {
            return Self::None;
        };
        if text.contains(['{', '}', '<', '>', '[', ']']) && !has_digits(text)
            || NOT_YET.iter().any(|word| text.eq_ignore_ascii_case(word))
        {
            Self::None
        } else if is_time(text) || is_month(text) {
            Self::Iso
        } else if looks_like_iso(text) {
            Self::Impossible(text)
        } else if has_digits(text) {
            // Unfilled templates have another rule.
            if text.contains(['{', '}']) { Self::None } else { Self::OtherForm(text) }
        } else {
            Self::Words(text)
        }
    }
}

fn has_digits(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Four digits, a dash, and only such characters.
fn looks_like_iso(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 8
        && bytes[..4].iter().all(u8::is_ascii_digit)
        && bytes[4] == b'-'
        && bytes.iter().all(|byte| byte.is_ascii_digit() || b"-:.,+ TtZzUC[]/_".contains(byte))
}

fn is_time(text: &str) -> bool {
    // YAML has a space before the offset, ISO 8601 does not: `2026-02-28 09:30:00 +01:00`.
    let joined =
        text.replacen(" +", "+", 1).replacen(" -", "-", 1).replacen(" Z", "Z", 1).replacen(" UTC", "Z", 1);
    [text, &joined].iter().any(|text| {
        text.parse::<civil::DateTime>().is_ok()
            || text.parse::<civil::Date>().is_ok()
            || text.parse::<Timestamp>().is_ok()
            || text.parse::<Zoned>().is_ok()
    })
}

/// ISO 8601 allows `2026` and `2026-01`.
fn is_month(text: &str) -> bool {
    let (year, month) = text.split_once('-').unwrap_or((text, "01"));
    let is_number =
        |part: &str, length| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
    is_number(year, 4) && is_number(month, 2) && (1..=12).contains(&month.parse::<u8>().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::{Artifact, ProjectPath};

    #[test]
    fn a_time_is_one_of_iso_8601_or_says_what_else_it_is() {
        use WrittenTime::{Impossible, Iso, None, OtherForm, Words};
        for (text, expected) in [
            ("", None),
            ("  ", None),
            ("{date}", None),
            ("<date>", None),
            ("[today]", None),
            ("{{date}} 2026", None),
            ("Never", None),
            ("N/A", None),
            ("2026-01-02", Iso),
            (" 2026-01-02 ", Iso),
            ("2026-01-02 09:30", Iso),
            ("2026-01-02T09:30:00Z", Iso),
            ("2026-01-02 09:30:00 Z", Iso),
            ("2026-01-02 09:30:00 UTC", Iso),
            ("2026-01-02 09:30:00 +01:00", Iso),
            ("2026-01-02 09:30:00 -01:00", Iso),
            ("2026-01-02T09:30:00+01:00[+01:00]", Iso),
            ("2026", Iso),
            ("2026-01", Iso),
            ("2026-12", Iso),
            ("2026-02-30", Impossible("2026-02-30")),
            ("2026-01-02 30:00", Impossible("2026-01-02 30:00")),
            ("2026-01-02T10:61:00Z", Impossible("2026-01-02T10:61:00Z")),
            ("2026-13", OtherForm("2026-13")),
            ("2026-00", OtherForm("2026-00")),
            ("2026-1", OtherForm("2026-1")),
            ("226-01", OtherForm("226-01")),
            ("2026-Q1 (planned)", OtherForm("2026-Q1 (planned)")),
            ("2026/02/30", OtherForm("2026/02/30")),
            ("12:30:99", OtherForm("12:30:99")),
            ("1.2.3-4", OtherForm("1.2.3-4")),
            ("[2026 or so]", OtherForm("[2026 or so]")),
            ("January 2, 2026", OtherForm("January 2, 2026")),
            ("1767312000", OtherForm("1767312000")),
            ("yesterday", Words("yesterday")),
        ] {
            let file = format!("---\nlastSaved: '{text}'\n---\n");
            let artifact = Artifact::read(ProjectPath::new("prd.md").unwrap(), file.into_bytes());
            assert_eq!(WrittenTime::of(&artifact.state().times[0]), expected, "{text:?}");
        }
    }
}
