//! Times as they are written in a question and in frontmatter.

use std::{cmp::Ordering, ops::Range};

use jiff::{Timestamp, ToSpan, civil, tz::TimeZone};

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

    /// Its first moment.
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
