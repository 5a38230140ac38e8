//! `stepmark log journal`

use std::{
    collections::{BTreeSet, HashSet},
    path::PathBuf,
};

use super::{
    replay::Replay,
    show::{At, Diff},
};
use crate::{
    exit::{Exit, Failure, chain},
    output::{self, Output, Row, history, keep_fields, on_one_line, replay::ProblemRow, spinner, wire::Open},
    project::Project,
};
use clap::{Args, Subcommand};
use stepmark_model::{
    artifact::ProjectPath,
    bmad::sprint::{SPRINT_STATUS_NAME, StorySide},
    journal::{ArtifactKey, Digests, Event, Kind, SegmentName, SessionId},
};
use stepmark_store::{
    Error,
    commit::{FsyncPolicy, compact_segments},
    history::{History, KnownSegment, SegmentPlace, SegmentProblem, Selection},
    hooks::{StagedHistory, StagingFor},
};

/// Look at the files that history stands in
#[derive(Debug, Args)]
pub(crate) struct Journal {
    #[command(subcommand)]
    work: Work,
}

#[derive(Debug, Subcommand)]
enum Work {
    /// Show how many segments and events there are, and what is wrong with them
    Status,
    /// Join the sealed segments into one file for each month: the same bytes, so that every hash stays
    ///
    /// Two clones may do so each for itself: what a merge brings twice counts once, and the next run joins
    /// it.
    Compact,
    /// Seal the live segments, so that git gets their events
    ///
    /// A sealed segment stands in `.stepmark/journal/` and never changes again; what happens next goes into
    /// another one.
    Seal {
        /// Only segments with events of staged files, and put what git does not know of the journal into the
        /// index
        ///
        /// So a commit carries the history of what it changes. The hook that `stepmark hook install` writes
        /// does this. Where nothing is staged, all live segments are sealed: commit them before the next
        /// push.
        #[arg(long)]
        stage: bool,
        /// The same for the commit that is being made, from its pre-commit hook
        #[arg(long, conflicts_with = "stage")]
        before_commit: bool,
        /// Put the segments of the last commit into the index where they are missing there (run by
        /// post-commit)
        #[arg(long, hide = true, conflicts_with_all = ["stage", "before_commit"])]
        after_commit: bool,
    },
}

impl Journal {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        match self.work {
            Work::Status => status(project, output),
            Work::Compact => compact(project, output),
            Work::Seal { stage: true, .. } => stage(project, output, StagingFor::NextCommit),
            Work::Seal { before_commit: true, .. } => stage(project, output, StagingFor::ThisCommit),
            Work::Seal { after_commit: true, .. } => {
                let staged = project.workspace.history().restage()?;
                show_staged(output, &StagedHistory { staged, ..StagedHistory::default() });
                Ok(Exit::Fine)
            }
            Work::Seal { .. } => {
                let sealed = project.workspace.history().seal_all()?;
                let segments = spinner::count(sealed.len(), "segment");
                let history = StagedHistory { sealed, ..StagedHistory::default() };
                output.answer(|| Answer::Seal(&history));
                output.remark(format_args!("{segments} sealed"));
                Ok(Exit::Fine)
            }
        }
    }
}

fn stage(project: &Project, output: &Output, staging: StagingFor) -> Result<Exit, Failure> {
    if staging == StagingFor::ThisCommit {
        let history = project.workspace.history();
        match history.take_in_agreed() {
            Ok(taken) => taken.iter().for_each(|sides| {
                let word = sides.chosen(StorySide::StatusLine).unwrap_or_default();
                output.line(format_args!(
                    "{}: took `{word}` from its line and `{SPRINT_STATUS_NAME}`",
                    sides.path
                ));
            }),
            Err(error) => warn_of(&error, "line and ledger agree on is not taken in"),
        }
        if let Err(error) = history.record_edits() {
            warn_of(&error, "other programs changed is not recorded");
        }
    }
    show_staged(output, &project.workspace.history().stage(staging)?);
    Ok(Exit::Fine)
}

/// Does not stop a commit: the check that follows says what is wrong.
fn warn_of(error: &Error, what: &str) {
    output::warning(format_args!("what {what}: {}", chain(error)));
}

fn show_staged(output: &Output, history: &StagedHistory) {
    output.answer(|| Answer::Seal(history));
    let segments = spinner::count(history.sealed.len(), "segment");
    output.remark(format_args!("{segments} sealed, {} staged", history.staged.len()));
}

const PLACES: [(SegmentPlace, &str); 3] =
    [(SegmentPlace::Live, "live"), (SegmentPlace::Sealed, "sealed"), (SegmentPlace::Joined, "joined")];

fn status(project: &Project, output: &Output) -> Result<Exit, Failure> {
    let history = History::open(project.root())?;
    let (segments, problems) = (history.segments()?, history.problems()?);
    let of = |place: SegmentPlace| segments.iter().filter(move |segment| segment.place == place);
    if output.json {
        let [live, sealed, joined] = PLACES.map(|(place, _)| counts(of(place)));
        output.answer(|| Answer::Status {
            segments: SegmentCounts { live, sealed, joined },
            problems: problems.iter().map(ProblemRow::of).collect(),
        });
    } else {
        for (place, word) in PLACES {
            let (count, bytes, events) = sums(of(place));
            if count > 0 {
                let segments = spinner::count(count, "segment");
                output.line(format_args!("{word:<10}  {segments}, {events} events, {bytes} bytes"));
            }
        }
        if segments.is_empty() {
            output.remark("there is no journal yet");
        }
        problems.iter().for_each(|problem| output.warning(spinner::segment_problem(problem)));
    }
    Ok(if problems.iter().any(SegmentProblem::is_damage) { Exit::Io } else { Exit::Fine })
}

fn compact(project: &Project, output: &Output) -> Result<Exit, Failure> {
    let compacted = compact_segments(project.root(), FsyncPolicy::default())?;
    let (before, after) = (compacted.before, compacted.after);
    output.answer(|| Answer::Compact {
        segments: &compacted.segments,
        files_before: before.count,
        files_after: after.count,
        bytes_before: before.bytes,
        bytes_after: after.bytes,
    });
    output.remark(format_args!(
        "{} compacted, {} of {} bytes → {} of {} bytes",
        spinner::count(compacted.segments.len(), "segment"),
        spinner::count(before.count, "file"),
        before.bytes,
        spinner::count(after.count, "file"),
        after.bytes
    ));
    Ok(Exit::Fine)
}

/// Segments, bytes on disk, events. The bytes of a file count once.
fn sums<'a>(segments: impl Iterator<Item = &'a KnownSegment>) -> (usize, u64, u64) {
    let mut files = HashSet::new();
    segments.fold((0, 0, 0), |(count, bytes, events), segment| {
        let size = if files.insert(&segment.file) { segment.size } else { 0 };
        (count + 1, bytes + size, events + segment.events)
    })
}

fn counts<'a>(segments: impl Iterator<Item = &'a KnownSegment>) -> PlaceCounts {
    let (count, bytes, events) = sums(segments);
    PlaceCounts { count, bytes, events }
}

answers! { Answer<'a>
    /// `log`: events, the latest first
    "stepmark.log/1" Log { events: Vec<Row<Open<&'a Event>>>, more: bool }
    /// `log journal status`: segments and what is wrong with them
    "stepmark.journal-status/1" Status { segments: SegmentCounts, problems: Vec<ProblemRow<'a>> }
    /// `log journal compact`: which segments were joined into fewer files
    "stepmark.journal-compact/1" Compact {
        segments: &'a [SegmentName], files_before: u64, files_after: u64, bytes_before: u64, bytes_after: u64,
    }
    /// `journal seal`: which segments were sealed, and which files of them were staged
    "stepmark.journal-seal/1" Seal (&'a StagedHistory)
    struct SegmentCounts { live: PlaceCounts, sealed: PlaceCounts, joined: PlaceCounts }
    struct PlaceCounts { count: usize, bytes: u64, events: u64 }
}

/// Without a filter.
const SHOWN: usize = 100;

/// Show what happened, the latest first
///
/// With `--session ID` only what happened in that session.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Log {
    /// Only the history of this artifact
    artifact: Option<PathBuf>,
    /// At most so many events; without it all of an artifact or a session, else 100
    #[arg(short = 'n', long, visible_alias = "limit", value_name = "N")]
    number: Option<usize>,
    /// With --json, only these fields of each event, with commas between them
    #[arg(long, value_name = "FIELDS", requires = "json", value_delimiter = ',')]
    fields: Vec<String>,
    #[command(subcommand)]
    part: Option<Part>,
}

#[derive(Debug, Subcommand)]
enum Part {
    At(At),
    Diff(Diff),
    Replay(Replay),
    Journal(Journal),
}

impl Part {
    fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        match self {
            Self::At(command) => command.run(project, output),
            Self::Diff(command) => command.run(project, output),
            Self::Replay(command) => command.run(project, output),
            Self::Journal(command) => command.run(project, output),
        }
    }
}

impl Log {
    /// `session` is that of a flag; the environment's does not filter.
    pub(crate) fn run(
        &self,
        project: &Project,
        session: Option<&SessionId>,
        output: &Output,
    ) -> Result<Exit, Failure> {
        if let Some(part) = &self.part {
            return part.run(project, output);
        }
        let artifact = self.artifact.as_deref().map(|given| project.identity(given)).transpose()?;
        let is_narrowed = artifact.is_some() || session.is_some();
        let limit = self.number.or(Some(SHOWN).filter(|_| !is_narrowed));
        let history = History::open(project.root())?;
        // One more tells whether there are more.
        let mut events = history.select(Selection {
            artifact: artifact.as_ref().map(|(key, path)| (key, path)),
            session: session.map(SessionId::as_str),
            limit: limit.map(|limit| limit.saturating_add(1)),
        })?;
        if let Some((key, path)) = artifact.as_ref().filter(|_| session.is_none()) {
            add_earlier_names(project, &history, (key, path), &mut events)?;
        }
        let has_more = limit.is_some_and(|limit| events.len() > limit);
        events.truncate(limit.unwrap_or(usize::MAX));
        if output.json {
            let events = keep_fields(&self.fields, events.iter().map(Open))?;
            output.answer(|| Answer::Log { events, more: has_more });
        } else {
            // In one piece: thousands of lines are thousands of writes otherwise.
            let is_elsewhere = |event: &Event| {
                let own = artifact.as_ref().map(|(_, path)| path);
                event.artifact.as_ref().is_some_and(|artifact| Some(&artifact.path) != own)
            };
            let lines: Vec<String> =
                events.iter().flat_map(|event| told(event, is_elsewhere(event))).collect();
            if !lines.is_empty() {
                output.line(lines.join("\n"));
            }
            self.remark(&events, has_more, output);
        }
        spinner::warn_of_damage(&history, output)?;
        Ok(Exit::Fine)
    }

    fn remark(&self, events: &[Event], has_more: bool, output: &Output) {
        if has_more && self.number.is_none() {
            output.remark(format_args!("… and more: name an artifact, or how many with -n"));
        }
        if events.is_empty() {
            output.remark("nothing is recorded");
        }
    }
}

/// For an artifact without an id that was moved without a record (`git mv`): its history begins, or is empty,
/// with the last state of a file that is gone.
fn add_earlier_names(
    project: &Project,
    history: &History,
    (key, path): (&ArtifactKey, &ProjectPath),
    events: &mut Vec<Event>,
) -> Result<(), Failure> {
    let mut known = BTreeSet::from([path.clone()]);
    while key.is_path() {
        let state = match events.last() {
            Some(first) if first.kind == Kind::FIRST_SEEN => first.after,
            Some(_) => None,
            None => project.workspace.artifact(path).ok().map(|now| Digests::of(now.artifact())),
        };
        let Some(state) = state else { break };
        let is_gone =
            |path: &ProjectPath| project.workspace.artifact(path).is_err_and(|error| error.is_missing());
        let ended = history.paths_that_ended_in(state)?.into_iter();
        let left: Vec<ProjectPath> = ended.filter(|path| is_gone(path) && !known.contains(path)).collect();
        // Several that look alike are told by nothing.
        let [earlier] = &left[..] else { break };
        let key = ArtifactKey::of_path(earlier);
        events.extend(history.select(Selection { artifact: Some((&key, earlier)), ..Selection::default() })?);
        known.insert(earlier.clone());
    }
    Ok(())
}

fn told(event: &Event, with_path: bool) -> Vec<String> {
    let kind = if event.kind == Kind::CHANGE { String::new() } else { format!("  {}", event.kind.as_str()) };
    let path = event.artifact.as_ref().filter(|_| with_path).map(|artifact| artifact.path.to_string());
    let changes = Some(history::changes(&event.changes)).filter(|words| !words.is_empty());
    let what: Vec<String> = path.into_iter().chain(changes.or_else(|| event.command.clone())).collect();
    let reason = event.reason.as_ref().map(|reason| format!("  ({reason})")).unwrap_or_default();
    let mut lines = vec![format!("{}  {}{kind}", history::short(event.id), history::origin(event))];
    if !what.is_empty() || !reason.is_empty() {
        lines.push(format!("    {}{reason}", what.join(": ")));
    }
    // What a file holds may hold line ends.
    lines.iter().map(|line| on_one_line(line)).collect()
}
