//! A tracker for dry runs: it says what it would do.

use std::sync::{Mutex, PoisonError};

use super::{
    Answer, Change, Creation, Cursor, Delivered, Listing, Outcome, Page, Reply, RequestKind, Tracker,
};
use crate::{
    BoxFuture, TrackerName,
    breaker::{Failure, Reason, Route},
    pace::Cost,
    ticket::{Differences, Marker, Observed, RemoteTicket, Ticket},
};

#[derive(Debug)]
pub struct DryTracker {
    name: TrackerName,
    asked: Mutex<Vec<DryRequest>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DryRequest {
    Create(Box<Creation>),
    Update(Box<Change>),
}

impl DryTracker {
    pub const fn new(name: TrackerName) -> Self {
        Self { name, asked: Mutex::new(Vec::new()) }
    }

    pub fn take_asked(&self) -> Vec<DryRequest> {
        std::mem::take(&mut *self.asked.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, request: DryRequest) {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(request);
    }
}

impl Tracker for DryTracker {
    fn name(&self) -> &TrackerName {
        &self.name
    }

    fn batch(&self, _: RequestKind) -> usize {
        usize::MAX
    }

    fn route(&self, kind: RequestKind, tickets: &[Marker]) -> Route {
        Route::new(&self.name, (format!("dry/{}", self.name), "none"), kind.name(), tickets)
    }

    fn cost(&self, _: RequestKind, _: usize) -> Cost {
        Cost { requests: 0, writes: 0, creations: 0, points: 0 }
    }

    fn compare(&self, desired: &Ticket, before: Option<&Ticket>, _: &Observed) -> Differences {
        Ok(desired.differences(before))
    }

    fn target(&self) -> Reply<'_, String> {
        Box::pin(async move { Ok("dry".to_owned()) })
    }

    fn create<'t>(&'t self, creations: &'t [Creation]) -> BoxFuture<'t, Answer<Delivered>> {
        Box::pin(async move {
            let outcomes = creations.iter().map(|creation| {
                self.note(DryRequest::Create(Box::new(creation.clone())));
                // A ticket that does not exist has only its marker as id.
                let id = creation.ticket.marker.to_string();
                let remote =
                    RemoteTicket { key: id.clone(), url: String::new(), other_ids: Default::default(), id };
                Outcome::Done(Delivered { remote, missing: Vec::new(), is_overwritten: false })
            });
            Answer::of(outcomes.collect())
        })
    }

    fn update<'t>(&'t self, changes: &'t [Change]) -> BoxFuture<'t, Answer<Delivered>> {
        Box::pin(async move {
            let outcomes = changes.iter().map(|change| {
                self.note(DryRequest::Update(Box::new(change.clone())));
                Outcome::Done(Delivered {
                    remote: change.remote.clone(),
                    missing: Vec::new(),
                    is_overwritten: false,
                })
            });
            Answer::of(outcomes.collect())
        })
    }

    fn read<'t>(&'t self, tickets: &'t [RemoteTicket]) -> BoxFuture<'t, Answer<Option<Observed>>> {
        Box::pin(async move { Answer::of(tickets.iter().map(|_| Outcome::Done(None)).collect()) })
    }

    fn list<'t>(&'t self, _: &'t str, _: Option<&'t Cursor>, _: Listing) -> Reply<'t, Page> {
        Box::pin(
            async move { Ok(Page { tickets: Vec::new(), unmarked: Vec::new(), next: None, budget: None }) },
        )
    }
}

/// Checked in the same exchange as the change: what was remembered or listed may be another repository's, or
/// somebody may have written since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Marked,
    /// With that marker, and nobody else wrote in it: a duplicate may be closed.
    Untouched,
    /// No marker of another artifact: a person says that it is this one's, and it gets the marker.
    Named,
    /// The same by a file: it is not written from something older.
    NamedInFile,
}

impl Condition {
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
