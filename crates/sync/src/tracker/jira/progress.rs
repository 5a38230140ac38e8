//! An issue on its way to what it should say. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::{extra_fields, issue::JiraIssue, status::StatusGoal};
use crate::{
    breaker::Failure,
    ticket::{Observed, Standing},
    tracker::{Change, http::Refused},
};

/// An issue on its way to what it should say.
#[derive(Clone, Debug)]
pub(super) struct Progress<'c> {
    /// What is to become of it.
    pub(super) change: &'c Change,
    /// What it says now.
    pub(super) current: Observed,
    /// Whether it carried its marker when it was read.
    pub(super) is_marked: bool,
    /// The status that it should have.
    pub(super) goal: StatusGoal<'c>,
    /// The statuses that it was in, in small letters.
    pub(super) passed: BTreeSet<String>,
    /// Whether anything of it was changed by now.
    pub(super) has_written: bool,
    /// Why nobody knows what became of it.
    pub(super) doubt: Option<Failure>,
}

impl<'c> Progress<'c> {
    /// The beginning: what the issue says, unless it must not be changed.
    pub(super) fn begin(
        change: &'c Change,
        issue: JiraIssue,
        (site, statuses): (&str, &'c BTreeMap<String, String>),
    ) -> Result<Self, Refused> {
        let marker = issue.marker();
        let current = issue.observed(change.desired.marker.clone(), site);
        match change.condition.refusal(marker.as_slice(), &current) {
            Some(failure) => Err(Refused::Failed(failure)),
            None => Ok(Self {
                change,
                current,
                is_marked: marker.is_some(),
                goal: StatusGoal::of(&change.desired, statuses),
                passed: BTreeSet::new(),
                has_written: false,
                doubt: None,
            }),
        }
    }

    /// Whether it can be changed only by who knows what the project allows.
    pub(super) fn wants_facts(&self) -> bool {
        let (desired, before) = (&self.change.desired, self.change.before.as_ref());
        !self.is_there() || !extra_fields::differences(desired, before).is_empty()
    }

    /// Whether it has the status that it should have.
    pub(super) fn is_there(&self) -> bool {
        self.goal.is_met_by(&self.current)
    }

    /// Notes that it was in the status that it has.
    pub(super) fn pass(&mut self) {
        self.passed.extend(self.current.status.as_deref().map(str::to_lowercase));
    }

    /// Notes the status that it has now. Why it is closed is what was said with the request.
    pub(super) fn stands(&mut self, status: String, told: Standing) {
        self.current.status = Some(status);
        self.current.standing = match (told, self.change.desired.standing) {
            (Standing::Closed(_), closed @ Standing::Closed(_)) => closed,
            _ => told,
        };
    }

    /// A refusal, after what was done before it.
    pub(super) fn refused(&self, refused: Refused) -> Refused {
        if self.has_written { refused.after_a_write() } else { refused }
    }
}
