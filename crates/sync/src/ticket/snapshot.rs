//! The artifacts that sync works on.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashSet},
    fmt,
    sync::{Arc, LazyLock, OnceLock},
};

use super::{Checkout, CloseReason, Commit, Marker, Parents, TicketFacts, TicketKind, TicketSettings};
use crate::TrackerName;
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    bmad::{
        settings::TICKET_STORE,
        sprint::{LedgerKey, story_key},
        tickets::Ticket as BmadTicket,
    },
    journal::ArtifactKey,
    tracked_artifact::TrackedArtifact,
};
use stepmark_store::{
    checking::{KeptDigests, Summaries, SummaryRow},
    disk::par_map,
    workspace::Workspace,
};

/// The artifacts of a project at one moment, by their markers. Unchanged ones are read only if their ticket
/// is made.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    workspace: Option<Workspace>,
    artifacts: BTreeMap<Marker, SnapshotEntry>,
    left_out: Vec<LeftOut>,
    by_chain_id: BTreeMap<String, Marker>,
    /// Only numbers with exactly one epic.
    epics: BTreeMap<u16, Marker>,
    ambiguous: BTreeSet<Marker>,
    is_partial: bool,
    checkout: Checkout,
    ranks: OnceLock<BTreeMap<Marker, usize>>,
    elsewhere: BTreeSet<String>,
    /// Keys of artifacts that were ever here; `None` if unknown.
    known: Option<BTreeSet<String>>,
    past: Option<Past>,
}

#[derive(Clone)]
struct Past(Arc<AskPast>);

type AskPast = dyn Fn(&ArtifactKey) -> Option<TrackedArtifact> + Send + Sync;

impl fmt::Debug for Past {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Past")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hangs<'s> {
    Alone,
    Below(&'s Marker),
    /// The ticket of this artifact is full; its text names the others.
    Beside(&'s Marker, &'s ProjectPath),
}

pub(super) type LazyCommit = LazyLock<Option<Commit>, Box<dyn FnOnce() -> Option<Commit> + Send>>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub path: ProjectPath,
    pub reason: String,
    /// False for an artifact that was never given an id: it only has no ticket.
    pub is_problem: bool,
}

const UNREADABLE: &str = "its frontmatter cannot be read: `stepmark check` says why; until then its ticket stays as it is, and none is pruned";

impl LeftOut {
    const fn problem(path: ProjectPath, reason: String) -> Self {
        Self { path, reason, is_problem: true }
    }
}

impl Snapshot {
    /// If some files or folders could not be read, no artifact is taken for gone.
    pub fn of(project: &str, summaries: &Summaries<'_>) -> Self {
        let rows: Vec<_> = summaries.rows().collect();
        let entries = par_map(&rows, SnapshotEntry::of_row);
        let mut snapshot = Self::of_entries(project, entries.into_iter().flatten());
        let found = summaries.found();
        snapshot.left_out.extend(
            found
                .unreadable
                .iter()
                .filter_map(|error| Some(LeftOut::problem(error.path()?.clone(), error.to_string()))),
        );
        snapshot.left_out.sort_by(|one, other| one.path.cmp(&other.path));
        snapshot.workspace = Some(summaries.workspace().clone());
        if found.is_whole() { snapshot } else { snapshot.partial() }
    }

    pub fn of_facts(project: &str, artifacts: impl IntoIterator<Item = TicketFacts>) -> Self {
        Self::of_entries(project, artifacts.into_iter().map(SnapshotEntry::from))
    }

    fn of_entries(project: &str, artifacts: impl IntoIterator<Item = SnapshotEntry>) -> Self {
        let mut snapshot = Self::default();
        let mut marked: Vec<(Marker, SnapshotEntry)> = Vec::new();
        for entry in artifacts {
            if let Some(store) = entry.stored.as_ref().and_then(StoredTicket::other_store) {
                let reason = format!(
                    "the store of tickets is `{store}`, as `{TICKET_STORE}` says: BMAD alone writes there"
                );
                snapshot.ambiguous.extend(Marker::new(project, entry.key.clone()));
                snapshot.left_out.push(LeftOut { path: entry.path, reason, is_problem: false });
                continue;
            }
            if !entry.is_readable {
                snapshot.is_partial = true;
                snapshot.left_out.push(LeftOut::problem(entry.path, UNREADABLE.to_owned()));
                continue;
            }
            match Marker::new(project, entry.key.clone()) {
                Ok(marker) => marked.push((marker, entry)),
                Err(error) => {
                    let reason = error.message;
                    snapshot.left_out.push(LeftOut { path: entry.path, reason, is_problem: false });
                }
            }
        }
        marked.sort_by(|(one, _), (other, _)| one.cmp(other));
        for same in marked.chunk_by(|(one, _), (other, _)| one == other).filter(|same| same.len() > 1) {
            snapshot.leave_out_same(same);
        }
        marked.retain(|(marker, _)| !snapshot.ambiguous.contains(marker));
        snapshot.artifacts = marked.into_iter().collect();
        snapshot.left_out.sort_by(|one, other| one.path.cmp(&other.path));
        let parents: HashSet<&String> =
            snapshot.artifacts.values().filter_map(|entry| entry.parent_id.as_ref()).collect();
        snapshot.by_chain_id = only(&snapshot.artifacts, |entry| {
            entry.chain_id.as_ref().filter(|own| parents.contains(own)).cloned()
        });
        snapshot.epics =
            only(&snapshot.artifacts, |entry| if entry.is_record { None } else { epic_number(&entry.path) });
        snapshot
    }

    /// Some artifacts could not be read: a ticket without one here may still have one.
    #[must_use]
    pub fn partial(mut self) -> Self {
        self.is_partial = true;
        self
    }

    /// `find` is called when a ticket is made; the commit holds some files as they are.
    #[must_use]
    pub fn at(self, find: impl FnOnce() -> Option<Commit> + Send + 'static) -> Self {
        let commit = Some(Arc::new(LazyLock::new(Box::new(find) as Box<_>)));
        Self { checkout: Checkout { commit, ..self.checkout }, ..self }
    }

    /// Tickets are written whatever they were written from: a person wants that.
    #[must_use]
    pub fn forced(self) -> Self {
        Self { checkout: Checkout { is_forced: true, ..self.checkout }, ..self }
    }

    /// Artifacts with these keys are not gone: another branch is checked out.
    #[must_use]
    pub fn keeping(self, elsewhere: BTreeSet<String>) -> Self {
        Self { elsewhere, ..self }
    }

    pub(crate) const fn checkout(&self) -> &Checkout {
        &self.checkout
    }

    /// Artifacts with other keys were never here: they are made on branches of other people. Without this
    /// call all were.
    #[must_use]
    pub fn knowing(self, known: BTreeSet<String>) -> Self {
        Self { known: Some(known), ..self }
    }

    /// `last` tells what artifacts that are gone said last.
    #[must_use]
    pub fn remembering(
        self,
        last: impl Fn(&ArtifactKey) -> Option<TrackedArtifact> + Send + Sync + 'static,
    ) -> Self {
        Self { past: Some(Past(Arc::new(last))), ..self }
    }

    pub(crate) fn remembered(&self, key: &ArtifactKey) -> Option<TicketFacts> {
        Some(TicketFacts::of(&self.past.as_ref()?.0(key)?))
    }

    pub fn may_have_held(&self, marker: &Marker) -> bool {
        self.known.as_ref().is_none_or(|known| known.contains(marker.artifact().as_str()))
    }

    pub fn lacks(&self, marker: &Marker) -> bool {
        let is_there = self.artifacts.contains_key(marker) || self.ambiguous.contains(marker);
        !self.is_partial && !is_there && !self.elsewhere.contains(marker.artifact().as_str())
    }

    fn leave_out_same(&mut self, same: &[(Marker, SnapshotEntry)]) {
        let Some((marker, _)) = same.first() else { return };
        let mut paths: Vec<ProjectPath> = same.iter().map(|(_, entry)| entry.path.clone()).collect();
        paths.sort();
        let files = paths.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(" and ");
        let key = marker.artifact();
        let reason = format!(
            "{files} have the same id (`{key}`), and no ticket follows them until each has its own: in the copy give `id` another value, or take \
             `id` and `stepmark_id` out and run `stepmark track`"
        );
        self.left_out.extend(paths.into_iter().map(|path| LeftOut::problem(path, reason.clone())));
        self.ambiguous.insert(marker.clone());
    }

    pub fn has_stateless(&self, path: &str) -> bool {
        let read = self.workspace.as_ref().zip(ProjectPath::new(path).ok());
        let read = read.and_then(|(workspace, path)| workspace.artifact(&path).ok());
        read.is_some_and(|read| !read.artifact().is_tracked())
    }

    pub fn artifacts(&self) -> impl ExactSizeIterator<Item = (&Marker, &SnapshotEntry)> {
        self.artifacts.iter()
    }

    pub fn get(&self, marker: &Marker) -> Option<&SnapshotEntry> {
        self.artifacts.get(marker)
    }

    /// Read if need be; `None` if that fails or the artifact is replaced.
    pub fn facts(&self, marker: &Marker) -> Option<Cow<'_, TicketFacts>> {
        let entry = self.get(marker)?;
        if let Some(facts) = &entry.facts {
            return Some(Cow::Borrowed(facts));
        }
        let facts = TicketFacts::of(&self.workspace.as_ref()?.artifact(&entry.path).ok()?);
        (facts.is_readable && facts.key == entry.key).then_some(Cow::Owned(facts))
    }

    pub(crate) fn kept_digests(&self, tracker: &TrackerName) -> KeptDigests {
        let root = self.workspace.as_ref().map(Workspace::root);
        root.map(|root| KeptDigests::read(root, &kept_name(tracker))).unwrap_or_default()
    }

    pub(crate) fn keep_digests(
        &self,
        tracker: &TrackerName,
        before: &KeptDigests,
        digests: &BTreeMap<FileHash, FileHash>,
    ) {
        if let Some(workspace) = &self.workspace {
            // If it cannot be stored, it is computed again.
            before.replace(workspace.root(), &kept_name(tracker), digests).ok();
        }
    }

    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// In its chain of delegation, else the epic of a story. `None` also if there are several, or it is below
    /// itself.
    pub fn parent(&self, marker: &Marker) -> Option<&Marker> {
        let parent = self.named_parent(marker)?;
        // In a cycle no ticket hangs below another.
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

    pub(crate) fn hangs(&self, marker: &Marker, settings: &TicketSettings) -> Hangs<'_> {
        let parent = self.parent(marker).filter(|_| settings.parents == Parents::Follow);
        let Some((parent, entry)) = parent.and_then(|parent| Some((parent, self.get(parent)?))) else {
            return Hangs::Alone;
        };
        let has_room = settings.tree.is_none_or(|(most, levels)| {
            self.rank(marker).is_none_or(|rank| rank < most) && self.depth(marker) < levels
        });
        if has_room { Hangs::Below(parent) } else { Hangs::Beside(parent, &entry.path) }
    }

    fn rank(&self, marker: &Marker) -> Option<usize> {
        let ranks = self.ranks.get_or_init(|| {
            let below = self
                .artifacts
                .iter()
                .filter_map(|(own, entry)| self.parent(own).map(|parent| (parent, &entry.path, own)));
            let mut below: Vec<_> = below.collect();
            below.sort();
            let families = below.chunk_by(|one, other| one.0 == other.0);
            let ranked = families.flat_map(|family| family.iter().enumerate());
            ranked.map(|(rank, (.., own))| ((*own).clone(), rank)).collect()
        });
        ranks.get(marker).copied()
    }

    /// By the name of its file, unless it is a record of a system.
    pub(super) fn kind(facts: &TicketFacts) -> TicketKind {
        if facts.is_record {
            TicketKind::Other
        } else if epic_number(&facts.path).is_some() {
            TicketKind::Epic
        } else if facts.parent_id.is_none() && story_key(&facts.path).is_some() {
            TicketKind::Story
        } else {
            TicketKind::Other
        }
    }

    fn named_parent(&self, marker: &Marker) -> Option<&Marker> {
        let entry = self.artifacts.get(marker)?;
        match &entry.parent_id {
            Some(parent) => self.by_chain_id.get(parent),
            None if entry.is_record => None,
            None => {
                let (key, _) = LedgerKey::of(&entry.path)?;
                self.epics.get(&key.epic).filter(|_| key.is_story())
            }
        }
    }

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

fn kept_name(tracker: &TrackerName) -> String {
    format!("tickets-{tracker}")
}

/// `epic-N.md` or `epic-N-slug.md`; no other file of BMAD.
fn epic_number(path: &ProjectPath) -> Option<u16> {
    let rest = path.file_stem().strip_prefix("epic-")?;
    let (number, slug) = rest.split_once('-').unwrap_or((rest, ""));
    let is_beside = slug == "context" || slug.starts_with("retro");
    let is_short = (1..=3).contains(&number.len()) && number.bytes().all(|digit| digit.is_ascii_digit());
    (is_short && !is_beside).then(|| number.parse().ok()).flatten()
}

fn only<K: Ord>(
    artifacts: &BTreeMap<Marker, SnapshotEntry>,
    key: impl Fn(&SnapshotEntry) -> Option<K>,
) -> BTreeMap<K, Marker> {
    let mut markers: BTreeMap<K, Vec<&Marker>> = BTreeMap::new();
    for (marker, entry) in artifacts {
        if let Some(key) = key(entry) {
            markers.entry(key).or_default().push(marker);
        }
    }
    let only = markers.into_iter().filter_map(|(key, markers)| match markers.as_slice() {
        [marker] => Some((key, (*marker).clone())),
        _ => None,
    });
    only.collect()
}

#[derive(Clone, Debug)]
pub struct SnapshotEntry {
    pub key: ArtifactKey,
    pub path: ProjectPath,
    pub(super) chain_id: Option<String>,
    pub(super) parent_id: Option<String>,
    pub(super) is_record: bool,
    pub(super) is_readable: bool,
    /// The digest of everything that its facts follow from; `None` if unknown.
    pub(crate) content: Option<FileHash>,
    pub(super) facts: Option<Box<TicketFacts>>,
    pub(crate) stored: Option<StoredTicket>,
}

#[derive(Clone, Debug)]
pub(crate) struct StoredTicket {
    pub(crate) store: String,
    pub(crate) leaf: ProjectPath,
    pub(crate) tracker_id: String,
    pub(crate) remote: String,
    /// Closed in its tracker: then it is over, whatever its plan says.
    pub(super) closed: Option<CloseReason>,
}

impl StoredTicket {
    fn of((store, ticket): (&str, &BmadTicket)) -> Self {
        Self {
            store: store.to_owned(),
            leaf: ticket.file.clone().unwrap_or_else(|| ticket.record.clone()),
            tracker_id: ticket.tracker_id.trim_start_matches('#').to_owned(),
            remote: ticket.remote.clone(),
            closed: match &*ticket.tracker_status {
                "done" => Some(CloseReason::Completed),
                "dropped" => Some(CloseReason::NotPlanned),
                _ => None,
            },
        }
    }

    pub(super) fn other_store(&self) -> Option<&str> {
        Some(&*self.store).filter(|store| !matches!(*store, "repo" | "github" | "jira"))
    }
}

impl SnapshotEntry {
    /// Has facts if it was read. `None` if it is no work, as an agent.
    pub(super) fn of_row(row: &SummaryRow<'_>) -> Option<Self> {
        let summary = row.summary();
        if summary.kind.is_some_and(|kind| !kind.is_work) {
            return None;
        }
        let stored = row.stored_ticket();
        // Before its first move a ticket has no file that could have an id.
        if stored.is_some_and(|(_, ticket)| !ticket.has_plan) {
            return None;
        }
        let stored = stored.map(StoredTicket::of);
        let mut content = row.content_key();
        if let Some(closed) = stored.as_ref().and_then(|stored| stored.closed) {
            content = content.map(|key| FileHash::of(format!("{key} {closed:?}").as_bytes()));
        }
        if let Some(tracked) = row.read() {
            return Some(Self { content, stored, ..Self::from(TicketFacts::of(tracked)) });
        }
        let member = row.member();
        let chain_id = member.as_ref().map_or(summary.id, |member| member.id());
        Some(Self {
            key: summary.id.map_or_else(|| ArtifactKey::of_path(row.path()), ArtifactKey::of_id),
            path: row.path().clone(),
            chain_id: chain_id.map(str::to_owned),
            parent_id: summary.parent.map(str::to_owned),
            is_record: summary.kind.is_some(),
            is_readable: summary.is_readable,
            content,
            facts: None,
            stored,
        })
    }
}

impl From<TicketFacts> for SnapshotEntry {
    fn from(facts: TicketFacts) -> Self {
        Self {
            key: facts.key.clone(),
            path: facts.path.clone(),
            chain_id: facts.chain_id.clone(),
            parent_id: facts.parent_id.clone(),
            is_record: facts.is_record,
            is_readable: facts.is_readable,
            content: None,
            facts: Some(Box::new(facts)),
            stored: None,
        }
    }
}
