//! The snapshot of artifacts that sync works on.

use std::collections::{BTreeMap, BTreeSet};

use stepmark_model::{
    artifact::ProjectPath,
    bmad::sprint::{LedgerKey, story_key},
    journal::ArtifactKey,
    tracked_artifact::TrackedArtifact,
};
use stepmark_store::disk::par_map;
use stepmark_store::workspace::Artifacts;

use super::{Commit, Marker, MarkerError, TicketFacts, TicketKind};

/// The artifacts of a project at one moment, by their markers. It is made from the read side of core and has
/// no way back.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    artifacts: BTreeMap<Marker, TicketFacts>,
    left_out: Vec<LeftOut>,
    /// The markers of the artifacts that others call by this id, where it is one artifact only.
    by_chain_id: BTreeMap<String, Marker>,
    /// The markers of epics by their numbers, where one artifact only is an epic of that number.
    epics: BTreeMap<u16, Marker>,
    /// The markers of artifacts that are there and get no ticket.
    ambiguous: BTreeSet<Marker>,
    is_partial: bool,
    commit: Option<Commit>,
    /// The files that hold no workflow state, or no longer.
    stateless: BTreeSet<String>,
    /// The keys of artifacts that are elsewhere, as on the default branch.
    elsewhere: BTreeSet<String>,
    /// The keys of artifacts that were ever here; `None` where nobody can say.
    known: Option<BTreeSet<String>>,
}

/// An artifact that gets no ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The path of the artifact.
    pub path: ProjectPath,
    /// The reason.
    pub reason: LeftOutReason,
}

/// A reason why an artifact gets no ticket.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LeftOutReason {
    /// It could not be found again.
    #[error(transparent)]
    NoMarker(#[from] MarkerError),
    /// Its frontmatter cannot be read, so nobody knows which ticket is its own.
    #[error(
        "its frontmatter cannot be read: `stepmark check` says why; until then its ticket stays as it is, and none is pruned"
    )]
    Unreadable,
    /// The file cannot be read.
    #[error("{reason}")]
    UnreadableFile {
        /// The error of the system.
        reason: String,
    },
    /// Another artifact has the same id, and one of them would overwrite the ticket of the other.
    #[error(
        "{} have the same id (`{key}`), and no ticket follows them until each has its own: in the copy give `id` another value, or take \
         `id` and `stepmark_id` out and run `stepmark track`",
        spelled(.files)
    )]
    SameId {
        /// The id.
        key: ArtifactKey,
        /// All files that have it.
        files: Vec<ProjectPath>,
    },
}

impl LeftOutReason {
    /// Returns whether something is wrong that somebody should fix: what was never given an id only has no
    /// ticket.
    pub const fn is_problem(&self) -> bool {
        !matches!(self, Self::NoMarker(_))
    }
}

fn spelled(paths: &[ProjectPath]) -> String {
    paths.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(" and ")
}

impl Snapshot {
    /// The artifacts of the project with the id `project`. Where some of them, or folders, could not be read,
    /// no artifact is taken for gone.
    pub fn of(project: &str, listing: &Artifacts) -> Self {
        let facts =
            par_map(&listing.artifacts, |artifact| is_work(artifact).then(|| TicketFacts::of(artifact)));
        let mut snapshot = Self::of_facts(project, facts.into_iter().flatten());
        snapshot.left_out.extend(listing.unreadable.iter().map(|error| LeftOut {
            path: error.path().clone(),
            reason: LeftOutReason::UnreadableFile { reason: error.to_string() },
        }));
        snapshot.left_out.sort_by(|one, other| one.path.cmp(&other.path));
        snapshot.stateless = listing.stateless.iter().map(ToString::to_string).collect();
        if listing.is_whole() { snapshot } else { snapshot.partial() }
    }

    /// The same, from what the artifacts say.
    pub fn of_facts(project: &str, artifacts: impl IntoIterator<Item = TicketFacts>) -> Self {
        let mut snapshot = Self::default();
        let mut by_marker: BTreeMap<Marker, Vec<TicketFacts>> = BTreeMap::new();
        for facts in artifacts {
            if !facts.is_readable {
                snapshot.is_partial = true;
                snapshot.left_out.push(LeftOut { path: facts.path, reason: LeftOutReason::Unreadable });
                continue;
            }
            match Marker::new(project, facts.key.clone()) {
                Ok(marker) => by_marker.entry(marker).or_default().push(facts),
                Err(error) => snapshot.left_out.push(LeftOut { path: facts.path, reason: error.into() }),
            }
        }
        for (marker, mut same) in by_marker {
            match (same.pop(), same.is_empty()) {
                (Some(only), true) => drop(snapshot.artifacts.insert(marker, only)),
                (last, _) => {
                    snapshot.leave_out_same(marker.artifact(), same.into_iter().chain(last).collect());
                    snapshot.ambiguous.insert(marker);
                }
            }
        }
        snapshot.left_out.sort_by(|one, other| one.path.cmp(&other.path));
        snapshot.by_chain_id = only(&snapshot.artifacts, |facts| facts.chain_id.clone());
        snapshot.epics = only(&snapshot.artifacts, |facts| epic_number(&facts.path));
        snapshot
    }

    /// The same, where some artifacts could not be read: a ticket whose artifact is not among these may still
    /// have one.
    #[must_use]
    pub fn partial(mut self) -> Self {
        self.is_partial = true;
        self
    }

    /// The same, of which `commit` holds some files as they are.
    #[must_use]
    pub fn at(self, commit: Option<Commit>) -> Self {
        Self { commit, ..self }
    }

    /// The same, where the artifacts with the keys `elsewhere` are not gone although they are not among
    /// these: another branch is checked out.
    #[must_use]
    pub fn keeping(self, elsewhere: BTreeSet<String>) -> Self {
        Self { elsewhere, ..self }
    }

    pub(super) const fn commit(&self) -> Option<&Commit> {
        self.commit.as_ref()
    }

    /// The same, where artifacts with the keys `known` were here once, and others never: they are made on
    /// branches of other people. Without this call all were.
    #[must_use]
    pub fn knowing(self, known: BTreeSet<String>) -> Self {
        Self { known: Some(known), ..self }
    }

    /// Returns whether the artifact of `marker` may have been here.
    pub fn may_have_held(&self, marker: &Marker) -> bool {
        self.known.as_ref().is_none_or(|known| known.contains(marker.artifact().as_str()))
    }

    /// Returns whether the artifact of `marker` is certainly gone.
    pub fn lacks(&self, marker: &Marker) -> bool {
        let is_there = self.artifacts.contains_key(marker) || self.ambiguous.contains(marker);
        !self.is_partial && !is_there && !self.elsewhere.contains(marker.artifact().as_str())
    }

    fn leave_out_same(&mut self, key: &ArtifactKey, same: Vec<TicketFacts>) {
        let mut paths: Vec<ProjectPath> = same.into_iter().map(|facts| facts.path).collect();
        paths.sort();
        let reason = LeftOutReason::SameId { key: key.clone(), files: paths.clone() };
        self.left_out.extend(paths.into_iter().map(|path| LeftOut { path, reason: reason.clone() }));
    }

    /// Returns whether the file at `path` is there and holds no workflow state.
    pub fn has_stateless(&self, path: &str) -> bool {
        self.stateless.contains(path)
    }

    /// The artifacts that can have a ticket, in the order of their markers.
    pub fn artifacts(&self) -> impl ExactSizeIterator<Item = (&Marker, &TicketFacts)> {
        self.artifacts.iter()
    }

    /// Returns what the artifact of `marker` says.
    pub fn get(&self, marker: &Marker) -> Option<&TicketFacts> {
        self.artifacts.get(marker)
    }

    /// The artifacts that get no ticket, in the order of their paths.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// The parent of an artifact: in its chain of delegation, else the epic of a story. `None` where it has
    /// none, several, or stands below itself.
    pub fn parent(&self, marker: &Marker) -> Option<&Marker> {
        let parent = self.named_parent(marker)?;
        // A circle has no top: none of its tickets hangs below another.
        let mut above = Some(parent);
        for _ in 0..self.artifacts.len() {
            match above {
                Some(at) if at == marker => return None,
                Some(at) => above = self.named_parent(at),
                None => return Some(parent),
            }
        }
        None
    }

    /// Returns what an artifact is to the others, by the name of its file.
    pub(super) fn kind(facts: &TicketFacts) -> TicketKind {
        if epic_number(&facts.path).is_some() {
            TicketKind::Epic
        } else if facts.parent_id.is_none() && story_key(&facts.path).is_some() {
            TicketKind::Story
        } else {
            TicketKind::Other
        }
    }

    fn named_parent(&self, marker: &Marker) -> Option<&Marker> {
        let facts = self.artifacts.get(marker)?;
        match &facts.parent_id {
            Some(parent) => self.by_chain_id.get(parent),
            None => {
                let (key, _) = LedgerKey::of(&facts.path)?;
                self.epics.get(&key.epic).filter(|_| key.is_story())
            }
        }
    }

    /// Returns how many tickets stand above that of `marker`.
    pub fn depth(&self, marker: &Marker) -> usize {
        let mut depth = 0;
        let mut above = self.parent(marker);
        while let Some(at) = above.filter(|_| depth < self.artifacts.len()) {
            depth += 1;
            above = self.parent(at);
        }
        depth
    }
}

/// Returns whether `artifact` is work: a record of a system may be none, as an agent is.
fn is_work(artifact: &TrackedArtifact) -> bool {
    artifact.state().kind.is_none_or(|kind| kind.is_work)
}

/// The number of the epic that the file at `path` is: `epic-N.md` or `epic-N-slug.md`. What BMAD writes
/// beside epics is none.
fn epic_number(path: &ProjectPath) -> Option<u16> {
    let rest = path.file_stem().strip_prefix("epic-")?;
    let (number, slug) = rest.split_once('-').unwrap_or((rest, ""));
    let is_beside = slug == "context" || slug.starts_with("retro");
    let is_short = (1..=3).contains(&number.len()) && number.bytes().all(|digit| digit.is_ascii_digit());
    (is_short && !is_beside).then(|| number.parse().ok()).flatten()
}

/// The markers of artifacts by a key that they have, where no other has it.
fn only<K: Ord>(
    artifacts: &BTreeMap<Marker, TicketFacts>,
    key: impl Fn(&TicketFacts) -> Option<K>,
) -> BTreeMap<K, Marker> {
    let mut markers: BTreeMap<K, Vec<&Marker>> = BTreeMap::new();
    for (marker, facts) in artifacts {
        if let Some(key) = key(facts) {
            markers.entry(key).or_default().push(marker);
        }
    }
    let only = markers.into_iter().filter_map(|(key, markers)| match markers.as_slice() {
        [marker] => Some((key, (*marker).clone())),
        _ => None,
    });
    only.collect()
}
