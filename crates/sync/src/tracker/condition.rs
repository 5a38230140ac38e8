//! The condition under which a ticket may be changed.

use crate::{
    breaker::{Failure, Reason},
    ticket::{Marker, Observed},
};

/// The condition under which a ticket may be changed. It is looked at in the same exchange: whatever was
/// remembered or listed may be another repository's, or somebody may have written there since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// It carries the marker of its artifact.
    Marked,
    /// It carries that marker, and nobody else wrote in it: so a duplicate may be closed.
    Untouched,
    /// It carries no marker of another artifact: a person says that it is this one's, and it gets the marker.
    Named,
    /// The same, where a file says so: it is not written from something older.
    NamedInFile,
}

impl Condition {
    /// The reason why a ticket must not be changed, if it must not. `markers` are those that it carries.
    pub fn refusal(self, markers: &[Marker], current: &Observed) -> Option<Failure> {
        let (key, own) = (&current.remote.key, &current.marker);
        if markers.contains(own) {
            let detail = format!("people wrote in {key}, so it is not closed as a duplicate");
            return (self == Self::Untouched && !current.is_untouched)
                .then(|| Failure::new(Reason::Touched, &detail));
        }
        if !markers.is_empty() {
            let detail = format!("{key} is the ticket of another artifact");
            return Some(Failure::new(Reason::Gone, &detail));
        }
        let detail =
            format!("{key} does not carry the marker of its artifact, by which it is known as stepmark's");
        (!matches!(self, Self::Named | Self::NamedInFile)).then(|| Failure::new(Reason::Unmarked, &detail))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ticket::sample::{marker, observed, ticket};

    #[test]
    fn nothing_is_changed_that_does_not_carry_the_marker() {
        use Condition::{Marked, Named, NamedInFile, Untouched};
        let (own, other) = (marker("a"), marker("b"));
        let untouched = observed(&ticket("a", |_| {}), 1);
        let touched = Observed { is_untouched: false, ..untouched.clone() };
        for (condition, markers, current, expected) in [
            (Marked, vec![own.clone()], &touched, None),
            (Marked, vec![other.clone(), own.clone()], &touched, None),
            (Marked, vec![], &untouched, Some(Reason::Unmarked)),
            (Marked, vec![other.clone()], &untouched, Some(Reason::Gone)),
            (Untouched, vec![own.clone()], &untouched, None),
            (Untouched, vec![own.clone()], &touched, Some(Reason::Touched)),
            (Untouched, vec![], &untouched, Some(Reason::Unmarked)),
            (Named, vec![], &touched, None),
            (Named, vec![own], &touched, None),
            (NamedInFile, vec![], &touched, None),
            (NamedInFile, vec![other.clone()], &touched, Some(Reason::Gone)),
            (Named, vec![other], &touched, Some(Reason::Gone)),
        ] {
            let refusal = condition.refusal(&markers, current).map(|failure| failure.reason);
            assert_eq!(refusal, expected, "{condition:?} {markers:?}");
        }
    }
}
