//! The value of a field of an artifact.

use crate::artifact::{Artifact, Field as ArtifactField, Scope, natural_order};
use crate::lifecycle::Lifecycle;
use jiff::{Timestamp, ToSpan, civil, tz::TimeZone};
use std::{cmp::Ordering, ops::Range, sync::Arc};
use stepmark_frontmatter::{Node, NodeKind};

#[derive(Clone, Debug)]
pub enum FieldValue {
    Empty,
    Text(String),
    /// Several texts: one of them has to fit. Never none.
    Texts(Vec<String>),
    Number(u64),
    Scope(Scope),
    Status(StatusValue),
    Time(Timestamp),
}

#[derive(Clone, Debug)]
pub struct StatusValue {
    pub word: String,
    pub lifecycle: Option<Arc<Lifecycle>>,
}

impl FieldValue {
    pub fn of_text(text: Option<String>) -> Self {
        text.filter(|text| !text.is_empty()).map_or(Self::Empty, Self::Text)
    }

    pub fn of_texts(mut texts: Vec<String>) -> Self {
        if texts.len() > 1 { Self::Texts(texts) } else { Self::of_text(texts.pop()) }
    }

    /// The latest of times as they are written in a frontmatter; what is no time does not count.
    pub fn latest_of(times: &[ArtifactField]) -> Self {
        let moments = times.iter().filter_map(|time| TimeLiteral::parse(time.filled()?.trim()));
        moments.map(|time| time.start()).max().map_or(Self::Empty, Self::Time)
    }

    /// The value of a key of the frontmatter, as it is written; of a list that of each item.
    pub fn of_key(artifact: &Artifact, key: &str) -> Self {
        let yaml = artifact.state_yaml();
        let Some(node) = yaml.as_ref().and_then(|yaml| yaml.root()?.get(key)) else { return Self::Empty };
        let text = |node: &Node<'_>| match node.text() {
            Some(text) => text.to_owned(),
            None => String::from_utf8_lossy(&artifact.bytes()[node.span.range()]).into_owned(),
        };
        match &node.kind {
            NodeKind::Sequence { items, .. } => Self::of_texts(items.iter().map(text).collect()),
            _ => Self::of_text((!node.is_null()).then(|| text(node))),
        }
    }

    pub const fn is_empty(&self) -> bool {
        matches!(self, Self::Empty)
    }

    /// As JSON: `null` for nothing, a list for several texts.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Empty => serde_json::Value::Null,
            Self::Texts(texts) => texts.as_slice().into(),
            Self::Number(number) => (*number).into(),
            other => other.to_string().into(),
        }
    }

    /// The order for sorting: nothing comes last, a status by how far the work is, then by its word.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(one), Self::Number(other)) => one.cmp(other),
            (Self::Time(one), Self::Time(other)) => one.cmp(other),
            (Self::Scope(one), Self::Scope(other)) => {
                // What is no scope stands behind those that are.
                let rank = |scope: &Scope| (scope_rank(scope).unwrap_or(u8::MAX), scope.to_string());
                rank(one).cmp(&rank(other))
            }
            (Self::Status(one), Self::Status(other)) => {
                let key = |status: &StatusValue| (status.rank().unwrap_or(u32::MAX), status.word.clone());
                key(one).cmp(&key(other))
            }
            (one, other) => natural_order(&one.to_string(), &other.to_string()),
        }
    }
}

impl StatusValue {
    /// Returns whether `asked` means the same state: in the lifecycle, or by the word where that does not
    /// know it.
    pub(super) fn is(&self, asked: &str) -> bool {
        let state = |word: &str| self.lifecycle.as_ref()?.state_of(word).map(|state| &state.name);
        match (state(&self.word), state(asked)) {
            (Some(own), Some(asked)) => own == asked,
            (None, None) => folded(&self.word) == folded(asked),
            _ => false,
        }
    }

    /// Compares its state with the state `asked`; `None` where the lifecycle does not know both, or one
    /// stands beside the way.
    pub(super) fn compare(&self, asked: &str) -> Option<Ordering> {
        if self.is(asked) {
            return Some(Ordering::Equal);
        }
        let asked = self.lifecycle.as_ref()?.state_of(asked)?.rank?;
        Some(self.rank()?.cmp(&asked))
    }

    fn rank(&self) -> Option<u32> {
        self.lifecycle.as_ref()?.state_of(&self.word)?.rank
    }
}

fn folded(word: &str) -> String {
    word.trim().replace(['_', ' '], "-").to_lowercase()
}

/// The rank of a scope in the order of scopes; `None` for what is none.
pub(super) const fn scope_rank(scope: &Scope) -> Option<u8> {
    match scope {
        Scope::Micro => Some(0),
        Scope::Small => Some(1),
        Scope::Medium => Some(2),
        Scope::Large => Some(3),
        Scope::Epic => Some(4),
        Scope::Unknown(_) => None,
    }
}

impl std::fmt::Display for FieldValue {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => Ok(()),
            Self::Text(text) => out.write_str(text),
            Self::Texts(texts) => out.write_str(&texts.join(" | ")),
            Self::Number(number) => number.fmt(out),
            Self::Scope(scope) => scope.fmt(out),
            Self::Status(status) => out.write_str(&status.word),
            Self::Time(time) => time.fmt(out),
        }
    }
}

/// A moment, or a day of UTC: from its first moment to that of the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TimeLiteral(Range<Timestamp>);

impl TimeLiteral {
    /// Reads a day, a date with a time (of UTC, where it names no offset) or a timestamp.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Ok(moment) = text.parse::<Timestamp>() {
            return Some(Self(moment..moment));
        }
        // A date with a time is also read as a date: so this is asked first.
        let is_day = text.len() <= "2026-01-31".len();
        if is_day && let Ok(day) = text.parse::<civil::Date>() {
            let next = day.checked_add(1.day()).ok()?;
            return Some(Self(start_of(day.into())?..start_of(next.into())?));
        }
        let moment = start_of(text.parse::<civil::DateTime>().ok()?)?;
        Some(Self(moment..moment))
    }

    pub(super) const fn start(&self) -> Timestamp {
        self.0.start
    }

    /// Compares `moment` with it: equal anywhere in the day.
    pub(super) fn compare(&self, moment: Timestamp) -> Ordering {
        if moment < self.0.start {
            Ordering::Less
        } else if moment == self.0.start || moment < self.0.end {
            Ordering::Equal
        } else {
            Ordering::Greater
        }
    }
}

fn start_of(moment: civil::DateTime) -> Option<Timestamp> {
    moment.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_equal_to_each_of_its_moments() {
        let day = TimeLiteral::parse("2026-01-31").unwrap();
        for (moment, expected) in [
            ("2026-01-30T23:59:59Z", Ordering::Less),
            ("2026-01-31T00:00:00Z", Ordering::Equal),
            ("2026-01-31T23:59:59.9Z", Ordering::Equal),
            ("2026-02-01T00:00:00Z", Ordering::Greater),
        ] {
            assert_eq!(day.compare(moment.parse().unwrap()), expected, "{moment}");
        }
        let moment = TimeLiteral::parse("2026-01-31T09:30:00+02:00").unwrap();
        assert_eq!(moment.compare("2026-01-31T07:30:00Z".parse().unwrap()), Ordering::Equal);
        assert_eq!(moment.compare("2026-01-31T07:30:01Z".parse().unwrap()), Ordering::Greater);
        assert_eq!(TimeLiteral::parse("2026-01-31 07:30:00"), TimeLiteral::parse("2026-01-31T07:30:00Z"));
        for other in ["", "yesterday", "2026-02-30", "12"] {
            assert_eq!(TimeLiteral::parse(other), None, "{other}");
        }
    }
}
