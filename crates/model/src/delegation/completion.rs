//! Whether the work of an artifact is finished.

use crate::{
    artifact::Artifact,
    workflow::{Progress, WorkState},
};

/// The status words after which nothing is to be done any more (FORMATS.md §1, "`status` values seen", and those of the
/// trackers in §4). Compared without regard to case.
pub const FINISHED_WORDS: [&str; 14] = [
    "done",
    "complete",
    "completed",
    "approved",
    "closed",
    "finished",
    "implemented",
    "resolved",
    "merged",
    "waived",
    "cancelled",
    "canceled",
    "superseded",
    "abandoned",
];

/// The two ways in which an artifact says that its work is finished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The end of its workflow is done.
    pub by_workflow: bool,
    /// Its `status` is one of [`FINISHED_WORDS`].
    pub by_status: bool,
}

impl Completion {
    /// What `artifact` says, with its progress where the workflow is known.
    pub fn of(artifact: &Artifact, progress: Option<&Progress<'_>>) -> Self {
        let status = artifact.state().status.as_ref().and_then(|status| status.filled());
        Self {
            by_workflow: progress.is_some_and(|progress| progress.state == WorkState::Finished),
            by_status: status.is_some_and(is_finished_word),
        }
    }

    /// Whether either says so.
    pub const fn is_finished(self) -> bool {
        self.by_workflow || self.by_status
    }

    /// Whether it says so in a way in which it did not `before`.
    pub const fn is_news_after(self, before: Self) -> bool {
        self.by_workflow && !before.by_workflow || self.by_status && !before.by_status
    }
}

fn is_finished_word(status: &str) -> bool {
    FINISHED_WORDS.iter().any(|word| status.trim().eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_counts_by_itself() {
        let completion = |by_workflow, by_status| Completion { by_workflow, by_status };
        assert!(completion(true, true).is_news_after(completion(true, false)));
        assert!(completion(true, false).is_news_after(completion(false, true)));
        assert!(!completion(true, false).is_news_after(completion(true, true)));
        assert!(!completion(false, false).is_news_after(completion(false, false)));
        for (status, is_finished) in
            [("Done", true), (" closed ", true), ("in-review", false), ("undone", false)]
        {
            assert_eq!(is_finished_word(status), is_finished, "{status}");
        }
    }
}
