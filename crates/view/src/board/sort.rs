//! The order of the list.

use std::cmp::Reverse;

use crate::observation::Entry;

/// The order of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sort {
    #[default]
    Path,
    /// By trouble: what is wrong first, then what is held up, underway, not started, done.
    Trouble,
    /// By change: what was changed last first.
    Change,
    /// By progress: what is nearest to its end first.
    Progress,
}

impl Sort {
    pub(super) const fn next(self) -> Self {
        match self {
            Self::Path => Self::Trouble,
            Self::Trouble => Self::Change,
            Self::Change => Self::Progress,
            Self::Progress => Self::Path,
        }
    }

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Trouble => "trouble",
            Self::Change => "last change",
            Self::Progress => "progress",
        }
    }

    /// Brings `places` of `entries`, which are in the order of the paths, into this order.
    pub(super) fn apply(self, entries: &[Entry], places: &mut [usize]) {
        match self {
            Self::Path => {}
            Self::Trouble => places.sort_by_key(|place| {
                let entry = &entries[*place];
                let is_finished = entry.condition == crate::overview::Condition::Finished;
                (Reverse(entry.errors), Reverse(entry.warnings), is_finished, entry.condition)
            }),
            Self::Change => places.sort_by_key(|place| Reverse(entries[*place].changed_at)),
            Self::Progress => places.sort_by_key(|place| {
                let bar = entries[*place].bar.as_ref();
                let percent = bar.and_then(|bar| (bar.done * 100).checked_div(bar.total));
                Reverse(percent.filter(|percent| *percent < 100))
            }),
        }
    }
}
