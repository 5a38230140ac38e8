//! The lease of whoever works on a project.

use jiff::Timestamp;

use crate::moment;

/// The right to work on what `name` stands for, for a while. Its number grows with each holder and never
/// shrinks: it decides who may write, the clock only when somebody else may take it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The name of what it is about: of a tracker.
    pub name: String,
    pub holder: String,
    /// Its fencing number, from 1.
    pub number: u64,
    /// Until when it is kept for the holder.
    pub until: Timestamp,
}

/// A lease that ends later than this after now, in milliseconds, and later than the one that is asked for, is
/// of a clock that was set back. Processes ask for different lengths, none of which is longer: a short one
/// must not take a long one for such.
const LONGEST_MS: u64 = 10 * 60 * 1000;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` works on `{}` until {:.0}, longer if it has more to do: wait for it, or end that process", .0.holder, .0.name, .0.until)]
pub struct LeaseHeld(pub Lease);

/// The lease was lost to somebody else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this process lost its right to work on `{name}` (its number is {number}, the current one {current}): it stops, and what it \
     had begun is looked up by whoever goes on"
)]
pub struct Fenced {
    pub name: String,
    pub number: u64,
    /// The number that counts; 0 where the ledger knows none.
    pub current: u64,
}

impl Lease {
    /// The lease on `name` for `holder`, where `current` is the one that is kept. Whoever has it already
    /// keeps its number.
    pub fn acquire(
        current: Option<Self>,
        name: &str,
        holder: &str,
        now: Timestamp,
        length_ms: u64,
    ) -> Result<Self, LeaseHeld> {
        let until = moment::after(now, length_ms);
        let latest = moment::after(now, length_ms.max(LONGEST_MS));
        let number = match current {
            Some(current) if current.holder == holder && now < current.until => current.number,
            Some(current) if now < current.until && current.until <= latest => {
                return Err(LeaseHeld(current));
            }
            Some(current) => current.number.saturating_add(1),
            None => 1,
        };
        Ok(Self { name: name.to_owned(), holder: holder.to_owned(), number, until })
    }

    /// The lease on `name` for `holder`, whoever has it: for when it is known that its holder is no more.
    pub fn take_over(
        current: Option<Self>,
        name: &str,
        holder: &str,
        now: Timestamp,
        length_ms: u64,
    ) -> Self {
        let number = current.map_or(1, |current| current.number.saturating_add(1));
        Self {
            name: name.to_owned(),
            holder: holder.to_owned(),
            number,
            until: moment::after(now, length_ms),
        }
    }

    /// Returns whether somebody has it now, and it is not of a clock that was set back.
    pub fn is_kept(&self, now: Timestamp) -> bool {
        now < self.until && self.until <= moment::after(now, LONGEST_MS)
    }

    /// The same lease, given back: anybody may take it now. It keeps its number, so that the next one is
    /// higher.
    #[must_use]
    pub fn released(self, now: Timestamp) -> Self {
        Self { until: self.until.min(now), ..self }
    }

    /// Checks that this lease is still the one that counts.
    pub fn check(&self, current: Option<&Self>) -> Result<(), Fenced> {
        let number = current.map_or(0, |current| current.number);
        let is_own = current.is_some_and(|current| current.holder == self.holder && number == self.number);
        if is_own {
            Ok(())
        } else {
            Err(Fenced { name: self.name.clone(), number: self.number, current: number })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).unwrap()
    }

    fn acquire(current: Option<&Lease>, holder: &str, second: i64) -> Result<Lease, LeaseHeld> {
        Lease::acquire(current.cloned(), "gh", holder, at(second), 60_000)
    }

    #[test]
    fn numbers_grow_with_each_holder() {
        let first = acquire(None, "a", 0).unwrap();
        assert_eq!((first.number, first.until), (1, at(60)));
        let kept = acquire(Some(&first), "a", 30).unwrap();
        assert_eq!((kept.number, kept.until), (1, at(90)));
        assert_eq!(acquire(Some(&kept), "b", 89), Err(LeaseHeld(kept.clone())));
        let taken = acquire(Some(&kept), "b", 90).unwrap();
        assert_eq!(taken.number, 2);
        let back = acquire(Some(&taken.clone().released(at(95))), "a", 95).unwrap();
        assert_eq!(back.number, 3);
        assert!(
            kept.check(Some(&taken)).is_err()
                && taken.check(Some(&taken)).is_ok()
                && kept.check(None).is_err()
        );
    }

    #[test]
    fn a_lease_of_the_dead_is_taken_over_under_another_number() {
        let first = acquire(None, "a", 0).unwrap();
        let taken = Lease::take_over(Some(first.clone()), "gh", "b", at(1), 60_000);
        assert_eq!((taken.number, taken.holder.as_str(), taken.until), (2, "b", at(61)));
        assert!(first.check(Some(&taken)).is_err());
    }

    #[test]
    fn a_lapsed_lease_comes_back_under_another_number() {
        let first = acquire(None, "a", 0).unwrap();
        assert_eq!(acquire(Some(&first), "a", 61).unwrap().number, 2);
    }

    #[test]
    fn who_asks_for_a_short_lease_heeds_a_long_one() {
        let long = Lease::acquire(None, "gh", "a", at(0), 600_000).unwrap();
        assert_eq!(Lease::acquire(Some(long.clone()), "gh", "b", at(1), 1), Err(LeaseHeld(long)));
    }

    #[test]
    fn a_clock_that_was_set_back_keeps_nobody_out() {
        let first = acquire(None, "a", 100_000).unwrap();
        assert_eq!(acquire(Some(&first), "b", 0).unwrap().number, 2);
        assert!(first.is_kept(at(100_059)) && !first.is_kept(at(100_060)), "as long as it is given");
        assert!(!first.is_kept(at(0)), "nobody is shown at work who was there when the clock was ahead");
    }
}
