//! The trees of delegation.

use std::collections::HashSet;

use super::{Ancestry, Chains, Member};
use crate::artifact::ProjectPath;

/// All trees of a project, row by row: each member is followed by those below it. Flat, since chains are as
/// deep as files make them.
#[derive(Clone, Debug, Default)]
pub struct Forest<'c> {
    /// The rows.
    pub rows: Vec<ForestRow<'c>>,
}

/// A member in its tree.
#[derive(Clone, Copy, Debug)]
pub struct ForestRow<'c> {
    /// The member.
    pub member: &'c Member,
    /// Its depth below the top of its tree, as the forest is drawn.
    pub level: usize,
    /// True if no other child of its parent follows.
    pub is_last: bool,
    /// True if it stands at the top though it names a parent: that one is missing, is not the only one of
    /// that id, or stands below it.
    pub is_cut_off: bool,
}

impl<'c> Forest<'c> {
    /// The trees of `chains`, in the order of the paths of their tops. Every member that takes part stands in
    /// it once.
    pub fn of(chains: &'c Chains) -> Self {
        let mut forest = Self::default();
        let mut placed = HashSet::new();
        let takes_part = || chains.members().iter().filter(|member| chains.takes_part(member));
        let is_top = |member: &&Member| match chains.ancestry(member) {
            Ancestry::Whole(way) => way.len() == 1,
            Ancestry::Broken { below, .. } => below.path == member.path,
            Ancestry::Nameless => true,
            Ancestry::Ambiguous { id } => member.parent_id() == Some(id),
            Ancestry::Circle(_) => false,
        };
        // Then circles, which have no top: the first path of each.
        for member in takes_part().filter(is_top).chain(takes_part()) {
            if !placed.contains(&member.path) {
                forest.add(chains, member, &mut placed);
            }
        }
        forest
    }

    /// The rows of the member at `path` and all below it.
    pub fn below(&self, path: &ProjectPath) -> &[ForestRow<'c>] {
        let Some(start) = self.rows.iter().position(|row| row.member.path == *path) else { return &[] };
        let level = self.rows[start].level;
        let rest = &self.rows[start + 1..];
        let length = rest.iter().position(|row| row.level <= level).unwrap_or(rest.len());
        &self.rows[start..=start + length]
    }

    fn add(&mut self, chains: &'c Chains, top: &'c Member, placed: &mut HashSet<&'c ProjectPath>) {
        let is_cut_off = top.parent_id().is_some();
        let mut waiting = vec![ForestRow { member: top, level: 0, is_last: true, is_cut_off }];
        while let Some(row) = waiting.pop() {
            if !placed.insert(&row.member.path) {
                continue;
            }
            self.rows.push(row);
            let Some(id) = row.member.id() else { continue };
            // The same id twice: its children stand below the first of them.
            let children: Vec<&Member> =
                chains.children(id).filter(|child| !placed.contains(&child.path)).collect();
            let level = row.level + 1;
            waiting.extend(children.iter().enumerate().rev().map(|(at, member)| ForestRow {
                member,
                level,
                is_last: at + 1 == children.len(),
                is_cut_off: false,
            }));
        }
    }
}
