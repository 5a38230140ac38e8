//! The trees of delegation: who works on what for whom.

use stepmark_model::{
    artifact::ProjectPath,
    delegation::{Chains, Forest, Member},
};

/// A row of the delegation trees: each is followed by those below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeRow {
    pub path: ProjectPath,
    pub title: Option<String>,
    /// The number of levels that it stands below the top, from 0.
    pub level: usize,
    pub agent: Option<String>,
    pub status: Option<String>,
    /// Steps done and steps in all, where its workflow is known.
    pub progress: Option<(usize, usize)>,
    pub is_finished: bool,
    /// Set where it names a parent that is not there.
    pub is_cut_off: bool,
}

pub(super) fn rows(members: impl IntoIterator<Item = Member>) -> Vec<TreeRow> {
    let chains = Chains::of(members);
    let forest = Forest::of(&chains);
    let rows = forest.rows.iter().map(|row| TreeRow {
        path: row.member.path.clone(),
        title: row.member.title.clone(),
        level: row.level,
        agent: row.member.agent.as_ref().map(|agent| agent.0.clone()),
        status: row.member.status.clone(),
        progress: row.member.progress,
        is_finished: row.member.completion.is_finished(),
        is_cut_off: row.is_cut_off,
    });
    rows.collect()
}
