//! The history of artifacts, and how commits, branches and clones carry it.

mod anchor;
mod between_branches;
mod checks;
mod damage;
mod in_commits;
mod journal_in_git;
mod merges;
mod same_id;
mod ways;
