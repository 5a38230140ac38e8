//! The artifacts of a project for lists: unchanged since their last check, they are not read.
#![expect(clippy::disallowed_methods, reason = "an edge module: the time of a file is asked here")]

use std::{fs, iter};

use jiff::Timestamp;

use crate::checking::{
    CheckReport, CheckedBefore, Checks, Known, ListedArtifact, cache::Brief, checked_before::KnownArtifact,
    checked_before::Wanted, kept_chains::ChainPart,
};
use crate::disk::file_reading::{FileStat, STAT_BYTES};
use crate::workspace::{Artifacts, Workspace};
use crate::{Error, bmad::tickets::Tickets};
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    bmad::sprint::LedgerKey,
    bmad::tickets::{Ticket, TicketTree},
    check::ProblemCounts,
    delegation::Member,
    summary::ArtifactSummary,
    tracked_artifact::TrackedArtifact,
};

/// A list may read fewer artifacts than this each time: checking them, so that the next need not, costs more.
const WORTH_A_CHECK: usize = 64;

#[derive(Debug)]
pub struct Summaries<'w> {
    workspace: &'w Workspace,
    found: Artifacts,
    have_state: Vec<bool>,
    /// Empty before a check.
    problems: Vec<ProblemCounts>,
    before: CheckedBefore<'w>,
    tickets: Tickets,
    /// Tickets without a plan, as their plans are before they are created.
    planned: Vec<TrackedArtifact>,
}

#[derive(Clone, Copy, Debug)]
pub struct SummaryRow<'s> {
    summaries: &'s Summaries<'s>,
    source: Source<'s>,
}

#[derive(Clone, Copy, Debug)]
enum Source<'s> {
    Known(&'s KnownArtifact),
    Read(usize),
    Planned(usize),
}

impl<'w> Checks<'w> {
    pub fn summaries(&self) -> Result<Summaries<'w>, Error> {
        let (found, before) = self.workspace.artifacts_apart(Wanted::Counts)?;
        Ok(Summaries::new(self.workspace, found, before))
    }

    /// Reads the artifacts with findings, too.
    pub fn summaries_for_findings(&self) -> Result<Summaries<'w>, Error> {
        let (found, before) = self.workspace.artifacts_apart(Wanted::Findings)?;
        Ok(Summaries::new(self.workspace, found, before))
    }

    pub fn summaries_of_all_read(&self) -> Result<Summaries<'w>, Error> {
        Ok(Summaries::new(self.workspace, self.workspace.artifacts()?, CheckedBefore::default()))
    }
}

impl<'w> Summaries<'w> {
    fn new(workspace: &'w Workspace, found: Artifacts, before: CheckedBefore<'w>) -> Self {
        let have_state = found.have_workflow_state(workspace);
        let tickets = workspace.tickets();
        let planned = tickets.unwritten().filter_map(|own| workspace.track(own).ok()).collect();
        Self { workspace, found, have_state, problems: Vec::new(), before, tickets, planned }
    }

    pub const fn workspace(&self) -> &'w Workspace {
        self.workspace
    }

    pub const fn found(&self) -> &Artifacts {
        &self.found
    }

    pub fn into_found(self) -> Artifacts {
        self.found
    }

    /// Checks the project and caches the results. Returns the faulty files beside artifacts.
    pub fn check(&mut self) -> Result<Vec<(ProjectPath, ProblemCounts)>, Error> {
        let count = self.found.artifacts.len();
        let files = self.report()?.files.into_iter();
        let mut counted: Vec<(ProjectPath, ProblemCounts)> =
            files.map(|file| (file.path, ProblemCounts::of(&file.findings))).collect();
        let beside = counted.split_off(count);
        self.problems = counted.into_iter().map(|(_, problems)| problems).collect();
        Ok(beside)
    }

    /// Like `check`, with all findings: of artifacts read, in their order, then of files beside them.
    pub fn report(&mut self) -> Result<CheckReport<'_>, Error> {
        let Self { workspace, found, before, .. } = self;
        workspace.check_rest(&found.artifacts, before, iter::empty(), None, Known::LeftOut)
    }

    /// Like `check` if nobody needs problems: only if many artifacts had to be read.
    pub fn keep(&mut self) {
        if self.before.to_keep() >= WORTH_A_CHECK {
            // An unchecked artifact is read again next time.
            self.check().ok();
        }
    }

    pub(super) fn members(&self) -> Vec<Member> {
        self.before.chains.as_ref().map_or_else(
            || self.found.artifacts.iter().map(TrackedArtifact::member).collect(),
            |chains| chains.members().to_vec(),
        )
    }

    /// Unordered.
    pub fn rows(&self) -> impl Iterator<Item = SummaryRow<'_>> {
        let known = self.before.known.iter().map(Source::Known);
        let read = (0..self.found.artifacts.len()).map(Source::Read);
        let planned = (0..self.planned.len()).map(Source::Planned);
        let rows = known.chain(read).chain(planned).map(|source| SummaryRow { summaries: self, source });
        // A leaf file's state is in its plan.
        rows.filter(|row| !self.tickets.is_leaf(row.path()))
    }
}

impl<'s> SummaryRow<'s> {
    pub fn path(&self) -> &'s ProjectPath {
        match self.source {
            Source::Known(known) => &known.path,
            Source::Read(place) => self.artifact(place).path(),
            Source::Planned(place) => self.summaries.planned[place].path(),
        }
    }

    /// For a ticket of BMAD 7: its epic's folder, and its index in the build order.
    pub fn ticket_order(&self) -> Option<(&'s str, usize)> {
        let (tree, place) = self.ticket()?;
        Some((tree.folder(&tree.tickets()[place]).file_name(), place))
    }

    fn ticket(&self) -> Option<(&'s TicketTree, usize)> {
        self.summaries.tickets.of_record(self.path())
    }

    /// The ticket of BMAD 7 whose plan it is, with the store of all tickets.
    pub fn stored_ticket(&self) -> Option<(&'s str, &'s Ticket)> {
        let (tree, place) = self.ticket()?;
        Some((self.summaries.tickets.store(), &tree.tickets()[place]))
    }

    pub fn story(&self) -> Option<LedgerKey> {
        LedgerKey::of(self.path()).map(|(key, _)| key).filter(|key| key.is_story())
    }

    pub fn brief(&self) -> Brief<'s> {
        match self.source {
            Source::Known(known) if self.ticket().is_none() => self.note(known).brief(),
            Source::Known(_) | Source::Planned(_) => Brief::of(&self.summary(), self.problems(), true),
            Source::Read(place) => {
                let has_state = self.summaries.have_state.get(place).copied().unwrap_or(true);
                Brief::of(&self.summary(), self.problems(), has_state || self.ticket().is_some())
            }
        }
    }

    pub fn summary(&self) -> ArtifactSummary<'s> {
        let summary = match self.source {
            Source::Known(known) => self.note(known).summary(&known.path),
            Source::Read(place) => ArtifactSummary::of(self.artifact(place)),
            Source::Planned(place) => ArtifactSummary::of(&self.summaries.planned[place]),
        };
        match self.ticket() {
            Some((tree, place)) => summary.of_ticket(tree, place),
            None => summary,
        }
    }

    /// Before a check, only the artifact's own problems.
    pub fn problems(&self) -> ProblemCounts {
        match self.source {
            Source::Known(known) => self.note(known).brief().problems,
            Source::Read(place) => self.summaries.problems.get(place).copied().unwrap_or_else(|| {
                ProblemCounts::of(&self.summaries.workspace.checks().own_findings(self.artifact(place)))
            }),
            Source::Planned(_) => ProblemCounts::default(),
        }
    }

    /// For an unread artifact `None` means that it takes part in no chain.
    pub fn member(&self) -> Option<Member> {
        match self.source {
            Source::Known(known) => {
                (known.part == ChainPart::Member).then(|| self.note(known).member(&known.path))
            }
            Source::Read(place) => Some(self.artifact(place).member()),
            Source::Planned(place) => Some(self.summaries.planned[place].member()),
        }
    }

    pub fn read(&self) -> Option<&'s TrackedArtifact> {
        match self.source {
            Source::Known(_) => None,
            Source::Read(place) => Some(self.artifact(place)),
            Source::Planned(place) => Some(&self.summaries.planned[place]),
        }
    }

    /// From before the file was read. For an unread artifact, equal bytes mean equal text. `None` if nothing
    /// is cached, or if it may change without a trace.
    pub fn stat(&self) -> Option<[u8; STAT_BYTES]> {
        let before = &self.summaries.before;
        let stat = match self.source {
            Source::Known(known) => before.verdicts()?.stat(known.entry),
            Source::Read(_) => before.stat(self.path()),
            Source::Planned(_) => None,
        };
        stat.map(FileStat::to_bytes)
    }

    /// The digest of everything that decides on the artifact's content: its path and stat, and the common
    /// inputs (configuration, workflow files, program). `None` if [`SummaryRow::stat`] is.
    pub fn content_key(&self) -> Option<FileHash> {
        let context = self.summaries.before.verdicts()?.context();
        let stat = self.stat()?;
        Some(FileHash::of(&[context.as_bytes(), &stat[..], self.path().as_str().as_bytes()].concat()))
    }

    pub fn listed(&self) -> ListedArtifact<'s> {
        ListedArtifact::new(*self)
    }

    pub(super) fn modified(&self) -> Option<Timestamp> {
        let workspace = self.summaries.workspace;
        let moment = match self.source {
            Source::Known(known) => {
                let stat = self.summaries.before.verdicts()?.stat(known.entry)?;
                Timestamp::from_nanosecond(stat.modified.into()).ok()?
            }
            Source::Read(_) => {
                let place = workspace.root().resolve(self.path()).ok()?;
                Timestamp::try_from(fs::metadata(place).ok()?.modified().ok()?).ok()?
            }
            Source::Planned(_) => return None,
        };
        // People need no fractions of seconds.
        Timestamp::from_second(moment.as_second()).ok()
    }

    pub(super) fn workspace(&self) -> &'s Workspace {
        self.summaries.workspace
    }

    fn artifact(&self, place: usize) -> &'s TrackedArtifact {
        &self.summaries.found.artifacts[place]
    }

    fn note(&self, known: &KnownArtifact) -> super::cache::NoteReader<'s> {
        let verdicts = self.summaries.before.verdicts();
        verdicts.map_or_else(super::cache::NoteReader::default, |verdicts| verdicts.note(known.entry))
    }
}
