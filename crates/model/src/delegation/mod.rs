//! Chains of delegation: assignments and completion (docs/design.md, "Delegation"). Pure: artifacts → chains,
//! mistakes, forest.

use std::collections::{HashMap, HashSet};

use crate::{
    artifact::{Artifact, Delegation, Field, Kind, ProjectPath, natural_order},
    workflow::{Progress, WorkState},
};
use stepmark_frontmatter::Value;

#[derive(Clone, Debug, Default)]
pub struct Chains {
    members: Vec<Member>,
    /// Several indices for a duplicate id.
    by_id: HashMap<String, Vec<usize>>,
    children: HashMap<String, Vec<usize>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ancestry<'c> {
    /// From the root to the member.
    Whole(Vec<&'c str>),
    /// An id without artifact.
    Broken {
        below: &'c Member,
        missing: &'c str,
    },
    Ambiguous {
        id: &'c str,
    },
    /// In order.
    Circle(Vec<&'c str>),
    Nameless,
}

impl Chains {
    /// Ignores artifacts without delegation that nobody references.
    pub fn of(members: impl IntoIterator<Item = Member>) -> Self {
        let concerns = |member: &Member| member.delegation.is_some() || member.identity.is_some();
        let (delegated, named): (Vec<Member>, Vec<Member>) =
            members.into_iter().filter(concerns).partition(|member| member.delegation.is_some());
        let ids: HashSet<&str> = delegated.iter().flat_map(Member::ids).collect();
        let mut times: HashMap<String, usize> = HashMap::new();
        for id in named.iter().filter_map(Member::id) {
            *times.entry(id.to_owned()).or_default() += 1;
        }
        let is_meant =
            |member: &Member| member.id().is_some_and(|id| ids.contains(id) || times.get(id) > Some(&1));
        let named: Vec<Member> = named.into_iter().filter(is_meant).collect();
        let members = delegated.into_iter().chain(named).collect();
        let mut chains = Self { members, ..Self::default() };
        chains.members.sort_by(|one, other| natural_order(one.path.as_str(), other.path.as_str()));
        for (place, member) in chains.members.iter().enumerate() {
            if let Some(id) = member.id() {
                chains.by_id.entry(id.to_owned()).or_default().push(place);
            }
            if let Some(parent) = member.parent_id() {
                chains.children.entry(parent.to_owned()).or_default().push(place);
            }
        }
        chains
    }

    /// In natural order of paths.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    pub fn at(&self, path: &ProjectPath) -> Option<&Member> {
        let place = self
            .members
            .binary_search_by(|member| natural_order(member.path.as_str(), path.as_str()))
            .ok()?;
        Some(&self.members[place])
    }

    pub fn with_id(&self, id: &str) -> impl Iterator<Item = &Member> {
        self.by_id.get(id).into_iter().flatten().map(|place| &self.members[*place])
    }

    pub fn children(&self, id: &str) -> impl Iterator<Item = &Member> {
        self.children.get(id).into_iter().flatten().map(|place| &self.members[*place])
    }

    pub fn open_children(&self, id: &str) -> impl Iterator<Item = &Member> {
        self.children(id).filter(|child| !child.completion.is_finished())
    }

    pub fn takes_part(&self, member: &Member) -> bool {
        member.delegation.is_some() || member.id().is_some_and(|id| self.children.contains_key(id))
    }

    /// Its findings depend on others: it takes part, or shares its id.
    pub fn concern(&self, member: &Member) -> bool {
        self.takes_part(member) || member.id().is_some_and(|id| self.with_id(id).nth(1).is_some())
    }

    /// A text that changes with everything that rules read from others; `None` if nothing.
    pub fn surroundings(&self, member: &Member) -> Option<String> {
        let paths = |members: Vec<&Member>| -> Vec<String> {
            members.into_iter().map(|member| member.path.to_string()).collect()
        };
        let way = match self.ancestry(member) {
            Ancestry::Broken { below, missing } => format!("{missing:?} below {:?}", below.path.as_str()),
            way => format!("{way:?}"),
        };
        let open = member.id().map(|id| (self.with_id(id).collect(), self.open_children(id).collect()));
        let open = open.map(|(same, open)| (paths(same), paths(open)));
        self.concern(member).then(|| format!("{way} {open:?}"))
    }

    pub fn ancestry<'c>(&'c self, member: &'c Member) -> Ancestry<'c> {
        let mut seen = HashSet::new();
        let mut way = Vec::new();
        let mut at = member;
        loop {
            let Some(id) = at.id() else { return Ancestry::Nameless };
            if !seen.insert(id) {
                let start = way.iter().position(|known| *known == id).unwrap_or(0);
                let mut circle = way.split_off(start);
                circle.reverse();
                return Ancestry::Circle(circle);
            }
            way.push(id);
            let Some(parent) = at.parent_id() else {
                way.reverse();
                return Ancestry::Whole(way);
            };
            match self.by_id.get(parent).map(Vec::as_slice) {
                None | Some([]) => return Ancestry::Broken { below: at, missing: parent },
                Some([one]) => at = &self.members[*one],
                Some(_) => return Ancestry::Ambiguous { id: parent },
            }
        }
    }
}

/// Depth-first; flat, since chains may be arbitrarily deep.
#[derive(Clone, Debug, Default)]
pub struct Forest<'c> {
    pub rows: Vec<ForestRow<'c>>,
}

#[derive(Clone, Copy, Debug)]
pub struct ForestRow<'c> {
    pub member: &'c Member,
    /// In the drawn forest.
    pub level: usize,
    pub is_last: bool,
    /// At the top despite a parent: that is missing, ambiguous, or below it.
    pub is_cut_off: bool,
}

impl<'c> Forest<'c> {
    /// By path of the roots; every participant is in it once.
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
        // Cycles have no root: begins at the first path.
        for member in takes_part().filter(is_top).chain(takes_part()) {
            if !placed.contains(&member.path) {
                forest.add(chains, member, &mut placed);
            }
        }
        forest
    }

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
            // Children of a duplicate id are below the first of them.
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub path: ProjectPath,
    /// `id`, else `stepmark_id`.
    pub identity: Option<String>,
    pub delegation: Option<Delegation>,
    pub completion: Completion,
    pub status: Option<String>,
    /// Done and total; `None` for an unknown workflow.
    pub progress: Option<(usize, usize)>,
    pub kind: Option<&'static Kind>,
    pub title: Option<String>,
    pub agent: Option<Agent>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent(pub String);

impl Member {
    pub fn of(artifact: &Artifact, progress: Option<&Progress<'_>>) -> Self {
        let state = artifact.state();
        let filled = |field: &Option<Field>| field.as_ref().and_then(Field::filled).map(str::to_owned);
        Self {
            path: artifact.path().clone(),
            identity: filled(&state.id).or_else(|| filled(&state.stepmark_id)),
            delegation: state.delegation.clone(),
            completion: Completion::of(artifact, progress),
            status: filled(&state.status),
            progress: progress.map(|progress| (progress.done_units, progress.total)),
            kind: state.kind,
            title: filled(&state.title),
            agent: Agent::of(artifact).filter(|_| state.delegation.is_some() || state.kind.is_some()),
        }
    }

    /// The delegation id, else its own id.
    pub fn id(&self) -> Option<&str> {
        self.delegation.as_ref().and_then(Delegation::id).or(self.identity.as_deref())
    }

    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.id().into_iter().chain(self.parent_id())
    }

    pub fn parent_id(&self) -> Option<&str> {
        self.delegation.as_ref().and_then(Delegation::parent_id)
    }
}

impl Agent {
    pub fn of(artifact: &Artifact) -> Option<Self> {
        artifact.state().agent.as_ref().and_then(Field::filled).map(|name| Self(name.to_owned()))
    }
}

/// Statuses of ended work (docs/formats.md, "Statuses", and trackers). Compared without case.
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    pub by_workflow: bool,
    /// `status` is in [`FINISHED_WORDS`].
    pub by_status: bool,
}

impl Completion {
    pub fn of(artifact: &Artifact, progress: Option<&Progress<'_>>) -> Self {
        let status = artifact.state().status.as_ref().and_then(|status| status.filled());
        Self {
            by_workflow: progress.is_some_and(|progress| progress.state == WorkState::Finished),
            by_status: status.is_some_and(is_finished_word),
        }
    }

    pub const fn is_finished(self) -> bool {
        self.by_workflow || self.by_status
    }

    pub const fn is_news_after(self, before: Self) -> bool {
        self.by_workflow && !before.by_workflow || self.by_status && !before.by_status
    }
}

fn is_finished_word(status: &str) -> bool {
    FINISHED_WORDS.iter().any(|word| status.trim().eq_ignore_ascii_case(word))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainPosition {
    chain: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParentPositionError {
    #[error("its own `delegation` does not say where it stands: {reason}")]
    Unclear { reason: String },
    #[error("its chain has {depth} links already, more than anybody can follow")]
    TooDeep { depth: usize },
}

/// Deeper chains are most likely a repeated mistake.
const DEEPEST: usize = 64;

impl ChainPosition {
    pub fn root(id: impl Into<String>) -> Self {
        Self { chain: vec![id.into()] }
    }

    pub fn of(member: &Member, identity: &str) -> Result<Self, ParentPositionError> {
        let id = member.id().unwrap_or(identity);
        let says_more = |delegation: &&Delegation| !delegation.is_parent_alone;
        let Some(delegation) = member.delegation.as_ref().filter(says_more) else {
            return Ok(Self::root(id));
        };
        let unclear = |reason: &str| ParentPositionError::Unclear { reason: reason.to_owned() };
        if !delegation.is_mapping {
            return Err(unclear("it is no mapping"));
        }
        let Some(parent) = delegation.parent_id() else { return Ok(Self::root(id)) };
        let Some(path) = &delegation.chain_path else { return Err(unclear("it has no `chain_path`")) };
        let mut chain = path.ids.clone();
        // Some tools write ancestors only.
        if chain.last().is_none_or(|last| last != id) {
            chain.push(id.to_owned());
        }
        let above = chain.len().checked_sub(2).and_then(|at| chain.get(at));
        if above.is_none_or(|above| above != parent) {
            return Err(unclear("`chain_path` does not lead through `parent_id`"));
        }
        if chain.iter().enumerate().any(|(at, id)| chain[..at].contains(id)) {
            return Err(unclear("`chain_path` goes in a circle"));
        }
        Ok(Self { chain })
    }

    pub fn child(&self, id: impl Into<String>) -> Result<Self, ParentPositionError> {
        if self.depth() >= DEEPEST {
            return Err(ParentPositionError::TooDeep { depth: self.depth() });
        }
        let mut chain = self.chain.clone();
        chain.push(id.into());
        Ok(Self { chain })
    }

    pub fn chain(&self) -> &[String] {
        &self.chain
    }

    pub fn id(&self) -> &str {
        self.chain.last().map_or("", String::as_str)
    }

    pub const fn depth(&self) -> usize {
        self.chain.len().saturating_sub(1)
    }

    pub fn to_value(&self) -> Value {
        let parent = self.chain.len().checked_sub(2).and_then(|at| self.chain.get(at));
        let text = |id: &String| Value::from(id.as_str());
        Value::mapping([
            ("id", Value::from(self.id())),
            ("parent_id", parent.map_or(Value::Null, text)),
            ("root_id", self.chain.first().map_or(Value::Null, text)),
            ("depth", Value::Integer(i64::try_from(self.depth()).unwrap_or(i64::MAX))),
            ("chain_path", Value::Sequence(self.chain.iter().map(text).collect())),
        ])
    }
}

#[cfg(test)]
mod cases;

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
