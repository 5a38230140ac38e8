//! The consequences of a move of a story's status for its line and its ledger, in the same commit.

use super::{BrokenSprintStatus, Ledger, LedgerProjection, Ledgers, StoryLedgers, story_state};
use crate::git::process::{answer, git, is_object_name, printed};
use crate::workspace::Workspace;
use crate::{Error, disk::Root};
use crate::{commit::FileDecision, disk::file_lock::GitFolders};
use jiff::{Timestamp, Zoned};
use std::{collections::HashMap, path::Path, sync::Arc};
use stepmark_model::artifact::ProjectPath;
use stepmark_model::bmad::sprint::{
    EntryLocation, LedgerEntry, SprintStatus, Story, StorySides, StoryState, line_entry, listed_entries,
    write_entries, write_line,
};
use stepmark_model::check::{Finding, Severity};
use stepmark_model::{tracked_artifact::TrackedArtifact, transition::Remark};

/// A story, epic or retrospective whose status a change moves.
#[derive(Debug)]
pub(crate) struct MovedStory(Story);

impl MovedStory {
    /// `None` where the change leaves the status alone, or no ledger is about it.
    pub(crate) fn of(before: &TrackedArtifact, after: &TrackedArtifact) -> Option<Self> {
        let StoryState::Told(story) = story_state(after) else { return None };
        let before = before.state().status.as_ref().and_then(|status| status.filled());
        (before != Some(&story.status)).then(|| Self(*story))
    }

    /// The file with its line brought along, if it has one that may be; and what is to be said.
    pub(crate) fn with_line(&self, bytes: &[u8]) -> (Option<Vec<u8>>, Option<Remark>) {
        let Some(entry) = line_entry(&self.0).filter(|_| self.0.key.is_story()) else {
            return (None, None);
        };
        let written = (!entry.is_foreign).then(|| write_line(&self.0.path, bytes, &entry.to)).flatten();
        let left = written.is_none().then(|| left(&entry));
        (written, left)
    }

    pub(crate) fn ledger(
        &self,
        path: &ProjectPath,
        bytes: &[u8],
        now: &Zoned,
    ) -> (FileDecision, Option<Remark>) {
        let ledger = match SprintStatus::read(bytes) {
            Ok(ledger) => ledger,
            Err(error) => {
                return (
                    FileDecision::Keep,
                    Some(Remark::LedgerLeft { reason: format!("`{path}`: {error}") }),
                );
            }
        };
        let entries = listed_entries(path, &ledger, &[&self.0]);
        let is_missing = |entry: &LedgerEntry| matches!(entry.location, EntryLocation::Behind { .. });
        let Some(entry) = entries.into_iter().find(|entry| !is_missing(entry)) else {
            return (FileDecision::Keep, None);
        };
        if let Some(obstacle) = entry.obstacle() {
            return (FileDecision::Keep, Some(Remark::LedgerLeft { reason: format!("{entry}: {obstacle}") }));
        }
        if entry.is_foreign {
            return (FileDecision::Keep, Some(left(&entry)));
        }
        let done = write_entries(bytes, vec![entry]).kept_up(now);
        match (done.written.first(), done.left.first()) {
            (Some(entry), _) => (FileDecision::Write(done.bytes), Some(followed(entry))),
            (None, Some((entry, error))) => {
                (FileDecision::Keep, Some(Remark::LedgerLeft { reason: format!("{entry}: {error}") }))
            }
            (None, None) => (FileDecision::Keep, None),
        }
    }
}

#[derive(Debug)]
pub(super) enum Listing {
    /// In this ledger, the nearest that has one, with this word.
    Listed(ProjectPath, Option<String>),
    /// In none; this one is the nearest.
    Unlisted(ProjectPath),
    /// It may be in this one, which cannot be read.
    Unknown(ProjectPath),
    Nowhere,
}

impl Ledgers {
    pub(super) fn listing_of(&self, workspace: &Workspace, path: &ProjectPath) -> Listing {
        let (mut ledgers, mut nearest) = (self.known(), None);
        for place in SprintStatus::places(path) {
            let unread = || Ledger::on_disk(workspace, &place);
            match ledgers.entry(place.clone()).or_insert_with(unread) {
                Ledger::Absent => {}
                Ledger::Read(ledger) => match ledger.entry_of(path.file_stem()) {
                    Some(key) => return Listing::Listed(place, ledger.status(key).map(str::to_owned)),
                    None => nearest = nearest.or(Some(place)),
                },
                Ledger::Broken { .. } | Ledger::Unreadable(_) => return Listing::Unknown(place),
            }
        }
        nearest.map_or(Listing::Nowhere, Listing::Unlisted)
    }
}

/// The ledger that lists the artifact at `path`; and what is to be said of those that cannot be read.
pub(crate) fn listing_of(workspace: &Workspace, path: &ProjectPath) -> (Option<ProjectPath>, Vec<Remark>) {
    let ledgers = Ledgers::default();
    let mut ignored = None;
    let listing = match ledgers.listing_of(workspace, path) {
        Listing::Listed(ledger, _) => {
            ignored = is_ignored_in_linked(workspace.root().path(), &ledger)
                .then(|| Remark::LedgerIgnored { ledger: ledger.to_string() });
            Some(ledger)
        }
        Listing::Unlisted(_) | Listing::Unknown(_) | Listing::Nowhere => None,
    };
    let (broken, unreadable) = ledgers.into_unusable();
    let unreadable = unreadable.iter().map(|error| Remark::LedgerLeft { reason: error.to_string() });
    (listing, broken.iter().map(unreadable_ledger).chain(unreadable).chain(ignored).collect())
}

/// Returns whether git ignores the ledger in a work tree that is not the main one.
fn is_ignored_in_linked(root: &Path, ledger: &ProjectPath) -> bool {
    let is_linked = GitFolders::around(root).is_some_and(|git| git.own != git.common);
    let asked = is_linked.then(|| {
        let asked = ["ls-files", "--others", "--ignored", "--exclude-standard", "--", ledger.as_str()];
        answer(&mut git(root, &asked))
    });
    matches!(asked, Some(Ok((status, printed))) if status.success() && !printed.is_empty())
}

fn unreadable_ledger(broken: &BrokenSprintStatus) -> Remark {
    let Finding { path, message, .. } = &broken.finding;
    Remark::LedgerLeft { reason: format!("`{path}`: {message}") }
}

fn left(entry: &LedgerEntry) -> Remark {
    Remark::LedgerLeft { reason: entry.to_string() }
}

fn followed(entry: &LedgerEntry) -> Remark {
    Remark::LedgerFollowed { ledger: entry.file().to_string(), status: entry.to.clone() }
}

impl LedgerProjection {
    pub fn remarks(self) -> Vec<Remark> {
        let written =
            self.written.iter().filter(|entry| entry.location != EntryLocation::StatusLine).map(followed);
        let refused = self.refused.iter().map(left);
        let entries = refused.chain(
            self.left
                .iter()
                .map(|left| Remark::LedgerLeft { reason: format!("{}: {}", left.entry, left.reason) }),
        );
        let broken = self.broken.iter().map(unreadable_ledger);
        let failed = self.failed.iter().map(|error| Remark::LedgerLeft { reason: error.to_string() });
        written.chain(entries).chain(broken).chain(failed).collect()
    }
}

#[derive(Debug, Default)]
pub struct StorySurvey {
    /// Each story of which anything is said, in the order of the paths.
    pub stories: Vec<StorySides>,
    /// Stories whose ledger cannot be read: what all sides say is not known, so nobody can choose.
    pub waiting: Vec<WaitingStory>,
    pub broken: Vec<BrokenSprintStatus>,
    /// Ledgers with an entry that cannot be joined to a story.
    pub unmatched: Vec<BrokenSprintStatus>,
    pub unreadable: Vec<Error>,
}

/// A story that waits until its ledger can be read.
#[derive(Clone, Debug)]
pub struct WaitingStory {
    pub story: ProjectPath,
    pub ledger: ProjectPath,
}

impl StoryLedgers<'_> {
    /// Collects what all sides say of each story below one of `paths`; of all stories where none is given.
    pub fn survey(&self, paths: &[ProjectPath]) -> Result<StorySurvey, Error> {
        let found = self.workspace.artifacts()?;
        let is_asked = |path: &ProjectPath| {
            paths.is_empty() || paths.iter().any(|asked| path == asked || path.starts_with(asked))
        };
        let (mut survey, ledgers) = (StorySurvey::default(), Ledgers::default());
        for artifact in found.artifacts.iter().filter(|artifact| is_asked(artifact.path())) {
            look_at(self.workspace, artifact, &ledgers, &mut survey);
        }
        survey
            .unreadable
            .extend(found.unreadable.into_iter().filter(|error| error.path().is_some_and(is_asked)));
        let (broken, unreadable) = ledgers.into_unusable();
        survey.broken = broken;
        let is_whole = paths.is_empty();
        let all = found.artifacts.iter().map(TrackedArtifact::path).filter(|_| is_whole);
        let is_new = |unmatched: &BrokenSprintStatus| {
            unmatched.finding.severity != Severity::Note
                && survey.broken.iter().all(|broken| broken.finding.path != unmatched.finding.path)
        };
        survey.unmatched = self.unmatched(&Self::stories(all)).into_iter().filter(is_new).collect();
        survey.unreadable.extend(unreadable);
        Ok(survey)
    }
}

impl StoryLedgers<'_> {
    /// The writer of the entry about each of these stories in its nearest ledger, as git knows it.
    pub(crate) fn writers(&self, stories: &[ProjectPath]) -> HashMap<ProjectPath, String> {
        let mut ledgers: HashMap<ProjectPath, Option<(SprintStatus, Writers)>> = HashMap::new();
        let read = |path: &ProjectPath| {
            let states = SprintStatus::read(&self.workspace.read_file(path).ok()?).ok()?;
            Some((states, blame(self.workspace.root(), path)))
        };
        let mut writer = |story: &ProjectPath| {
            SprintStatus::places(story).into_iter().find_map(|place| {
                let ledger = ledgers.entry(place.clone()).or_insert_with(|| read(&place));
                let (states, writers) = ledger.as_ref()?;
                writers.get(states.entry_of(story.file_stem())?).cloned()
            })
        };
        stories.iter().filter_map(|story| Some((story.clone(), writer(story)?))).collect()
    }
}

type Writers = HashMap<String, String>;

/// The writer of each entry of the ledger at `path`, and when; none where git does not know the file.
fn blame(root: &Root, path: &ProjectPath) -> Writers {
    let told = printed(root, &["blame", "--line-porcelain", "--", path.as_str()]).unwrap_or_default();
    let (mut writers, mut commit, mut author, mut date) = (HashMap::new(), "", "", String::new());
    for line in told.lines() {
        match (line.strip_prefix('\t'), line.split_once(' ')) {
            (Some(text), _) => {
                let Some((key, _)) = text.split_once(':') else { continue };
                let key = key.trim().trim_matches(['\'', '"']).to_owned();
                let is_committed = commit.bytes().any(|byte| byte != b'0');
                let short = commit.get(..8).unwrap_or(commit);
                writers.entry(key).or_insert_with(|| match is_committed {
                    true => format!("{author} wrote it on {date} ({short})"),
                    false => "it is not committed yet".to_owned(),
                });
            }
            (None, Some(("author", name))) => author = name,
            (None, Some(("author-time", seconds))) => {
                let time = seconds.parse().ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
                date = time.map(|time| time.strftime("%Y-%m-%d").to_string()).unwrap_or_default();
            }
            (None, Some((name, _))) if is_object_name(name) => commit = name,
            _ => {}
        }
    }
    writers
}

fn look_at(workspace: &Workspace, artifact: &TrackedArtifact, ledgers: &Ledgers, survey: &mut StorySurvey) {
    let path = artifact.path();
    let lifecycle = || artifact.lifecycle().map(|choice| Arc::clone(&choice.lifecycle));
    let sides = |word: Option<&str>| StorySides::read(artifact.artifact(), lifecycle(), word);
    match ledgers.listing_of(workspace, path) {
        Listing::Unknown(ledger) => {
            if sides(None).is_some() {
                survey.waiting.push(WaitingStory { story: path.clone(), ledger });
            }
        }
        Listing::Listed(_, word) => survey.stories.extend(sides(word.as_deref())),
        Listing::Unlisted(_) | Listing::Nowhere => survey.stories.extend(sides(None)),
    }
}
