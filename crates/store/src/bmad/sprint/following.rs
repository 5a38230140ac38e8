//! Updates a story's line and sprint status when its status moves, in the same commit.

use super::{BrokenSprintStatus, Ledger, LedgerProjection, Ledgers, StoryLedgers, story_state};
use crate::git::process::{answer, git, is_object_name, printed};
use crate::workspace::Workspace;
use crate::{Error, disk::Root};
use crate::{commit::FileDecision, disk::file_lock::GitFolders};
use jiff::{Timestamp, Zoned};
use std::{collections::HashMap, path::Path, sync::Arc};
use stepmark_model::artifact::ProjectPath;
use stepmark_model::bmad::sprint::{
    EntryLocation, LedgerChange, LedgerEntry, LedgerLeft, SprintStatus, Story, StorySides, StoryState,
    project_ledger, project_line,
};
use stepmark_model::check::{Finding, Severity};
use stepmark_model::{tracked_artifact::TrackedArtifact, transition::Remark};

#[derive(Debug)]
pub(crate) struct MovedStory(Story);

impl MovedStory {
    /// `None` if the change keeps the status, or no sprint status covers the artifact.
    pub(crate) fn of(before: &TrackedArtifact, after: &TrackedArtifact) -> Option<Self> {
        let StoryState::Told(story) = story_state(after) else { return None };
        let before = before.state().status.as_ref().and_then(|status| status.filled());
        (before != Some(&story.status)).then(|| Self(*story))
    }

    /// The file with its line updated, if it has one that may be; and remarks.
    pub(crate) fn with_line(&self, bytes: &[u8]) -> (Option<Vec<u8>>, Option<Remark>) {
        let LedgerChange { bytes, refused, left, .. } = project_line(&self.0, bytes, false);
        (bytes, remarks(&[], &refused, &left).next())
    }

    pub(crate) fn ledger(
        &self,
        path: &ProjectPath,
        bytes: &[u8],
        now: &Zoned,
    ) -> (FileDecision, Option<Remark>) {
        match project_ledger(path, bytes, &[&self.0], [false, false], now) {
            Ok(LedgerChange { bytes, written, refused, left }) => {
                let remark = remarks(&written, &refused, &left).next();
                (bytes.map_or(FileDecision::Keep, FileDecision::Write), remark)
            }
            Err(error) => {
                let remark = Remark::LedgerLeft { reason: format!("`{path}`: {error}") };
                (FileDecision::Keep, Some(remark))
            }
        }
    }
}

fn remarks<'e>(
    written: &'e [LedgerEntry],
    refused: &'e [LedgerEntry],
    left: &'e [LedgerLeft],
) -> impl Iterator<Item = Remark> + 'e {
    let written = written.iter().filter(|entry| entry.location != EntryLocation::StatusLine);
    let written = written.map(|entry| {
        let (ledger, status) = (entry.file.to_string(), entry.to.clone());
        Remark::LedgerFollowed { ledger, status }
    });
    let refused = refused.iter().map(LedgerEntry::to_string);
    let left = left.iter().map(|left| format!("{}: {}", left.entry, left.reason));
    written.chain(refused.chain(left).map(|reason| Remark::LedgerLeft { reason }))
}

#[derive(Debug)]
pub(super) enum Listing {
    /// The nearest sprint status with an entry; its key and word.
    Listed(ProjectPath, String, Option<String>),
    /// The nearest sprint status, which has no entry.
    Unlisted(ProjectPath),
    /// This sprint status cannot be read, and may have an entry.
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
                    Some(key) => {
                        let word = ledger.status(key).map(str::to_owned);
                        return Listing::Listed(place, key.to_owned(), word);
                    }
                    None => nearest = nearest.or(Some(place)),
                },
                Ledger::Broken { .. } | Ledger::Unreadable(_) => return Listing::Unknown(place),
            }
        }
        nearest.map_or(Listing::Nowhere, Listing::Unlisted)
    }
}

pub(crate) fn listing_of(workspace: &Workspace, path: &ProjectPath) -> (Option<ProjectPath>, Vec<Remark>) {
    let ledgers = Ledgers::default();
    let mut ignored = None;
    let listing = match ledgers.listing_of(workspace, path) {
        Listing::Listed(ledger, ..) => {
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

/// True only in linked work trees.
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

impl LedgerProjection {
    pub fn remarks(self) -> Vec<Remark> {
        let entries = remarks(&self.written, &self.refused, &self.left);
        let broken = self.broken.iter().map(unreadable_ledger);
        let failed = self.failed.iter().map(|error| Remark::LedgerLeft { reason: error.to_string() });
        entries.chain(broken).chain(failed).collect()
    }
}

#[derive(Debug, Default)]
pub struct StorySurvey {
    /// In path order.
    pub stories: Vec<StorySides>,
    /// Stories with an unreadable sprint status, which must be repaired before anybody can choose.
    pub waiting: Vec<(ProjectPath, ProjectPath)>,
    /// Files that are not YAML, or have an entry that fits no story.
    pub broken: Vec<BrokenSprintStatus>,
    pub unreadable: Vec<Error>,
}

impl StoryLedgers<'_> {
    pub fn survey(&self, paths: &[ProjectPath]) -> Result<StorySurvey, Error> {
        let found = self.workspace.artifacts()?;
        let is_asked = |path: &ProjectPath| {
            paths.is_empty() || paths.iter().any(|asked| path == asked || path.starts_with(asked))
        };
        let (mut survey, ledgers) = (StorySurvey::default(), Ledgers::default());
        for artifact in found.artifacts.iter().filter(|artifact| is_asked(artifact.path())) {
            let listing = ledgers.listing_of(self.workspace, artifact.path());
            let word = if let Listing::Listed(_, _, word) = &listing { word.as_deref() } else { None };
            let lifecycle = artifact.lifecycle().map(|choice| Arc::clone(&choice.lifecycle));
            let sides = StorySides::read(artifact.artifact(), lifecycle, word);
            match (sides, listing) {
                (Some(sides), Listing::Unknown(ledger)) => survey.waiting.push((sides.path, ledger)),
                (sides, _) => survey.stories.extend(sides),
            }
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
        let unmatched = self.unmatched(&Self::stories(all)).into_iter().filter(is_new).collect::<Vec<_>>();
        survey.broken.extend(unmatched);
        survey.unreadable.extend(unreadable);
        Ok(survey)
    }
}

impl StoryLedgers<'_> {
    pub(crate) fn writers(&self, stories: &[ProjectPath]) -> HashMap<ProjectPath, String> {
        let (known, mut ledgers) = (Ledgers::default(), HashMap::<ProjectPath, Writers>::new());
        let mut writer = |story: &ProjectPath| {
            let Listing::Listed(ledger, key, _) = known.listing_of(self.workspace, story) else {
                return None;
            };
            let asked = || blame(self.workspace.root(), &ledger);
            ledgers.entry(ledger.clone()).or_insert_with(asked).get(&key).cloned()
        };
        stories.iter().filter_map(|story| Some((story.clone(), writer(story)?))).collect()
    }
}

type Writers = HashMap<String, String>;

/// The author and time of each entry; empty if git does not know the file.
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
