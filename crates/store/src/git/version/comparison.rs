//! The two states of a repository that are compared.

/// The newer state, and what it is held against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The index (`GIT_INDEX_FILE` is respected), held against HEAD: what the next commit changes. During a merge, what
    /// comes from the other branch as it is there is no change.
    Index,
    /// The commit `to`, held against where it left `from`: their merge base, as in a pull request.
    Commits {
        /// Any name of a commit; all zeros stand for a branch that is new, as in a pre-push hook: then what no remote has
        /// yet is looked at.
        from: String,
        /// Any name of a commit.
        to: String,
    },
}
