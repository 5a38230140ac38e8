//! `stepmark log journal`

use std::collections::HashSet;

use clap::{Args, Subcommand};
use serde_json::{Value as Json, json};
use stepmark_model::{
    artifact::ProjectPath,
    bmad::sprint::{SPRINT_STATUS_NAME, StorySide},
    journal::SegmentName,
};
use stepmark_store::commit::{FsyncPolicy, compact_segments};
use stepmark_store::history::{History, KnownSegment, SegmentPlace, SegmentProblem};
use stepmark_store::hooks::{StageHistoryError, StagedHistory, StagingFor};

use crate::{
    exit::{Exit, Failure, chain},
    output::{self, Output, replay, wording},
    project::Project,
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
                let segments = wording::count(sealed.len(), "segment");
                let answer = || seal_answer(&StagedHistory { sealed, ..StagedHistory::default() });
                output.json_or("stepmark.journal-seal/1", answer, || {
                    output.remark(format_args!("{segments} sealed"));
                });
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

/// A commit is not stopped for it: the check that follows says what is wrong.
fn warn_of(error: &StageHistoryError, what: &str) {
    output::warning(format_args!("what {what}: {}", chain(error)));
}

fn show_staged(output: &Output, history: &StagedHistory) {
    output.json_or(
        "stepmark.journal-seal/1",
        || seal_answer(history),
        || {
            let segments = wording::count(history.sealed.len(), "segment");
            output.remark(format_args!("{segments} sealed, {} staged", history.staged.len()));
        },
    );
}

fn seal_answer(StagedHistory { sealed, staged }: &StagedHistory) -> Json {
    let sealed: Vec<&str> = sealed.iter().map(SegmentName::as_str).collect();
    let staged: Vec<&str> = staged.iter().map(ProjectPath::as_str).collect();
    json!({ "sealed": sealed, "staged": staged })
}

const PLACES: [(SegmentPlace, &str); 3] =
    [(SegmentPlace::Live, "live"), (SegmentPlace::Sealed, "sealed"), (SegmentPlace::Joined, "joined")];

fn status(project: &Project, output: &Output) -> Result<Exit, Failure> {
    let history = History::open(project.root())?;
    let (segments, problems) = (history.segments()?, history.problems()?);
    let of = |place: SegmentPlace| segments.iter().filter(move |segment| segment.place == place);
    if output.json {
        let counts: serde_json::Map<String, Json> =
            PLACES.iter().map(|(place, word)| ((*word).to_owned(), counts(of(*place)))).collect();
        let problems: Vec<Json> = problems.iter().map(replay::problem).collect();
        output.json("stepmark.journal-status/1", json!({ "segments": counts, "problems": problems }));
    } else {
        for (place, word) in PLACES {
            let (count, bytes, events) = sums(of(place));
            if count > 0 {
                let segments = wording::count(count, "segment");
                output.line(format_args!("{word:<10}  {segments}, {events} events, {bytes} bytes"));
            }
        }
        if segments.is_empty() {
            output.remark("there is no journal yet");
        }
        problems.iter().for_each(|problem| output.warning(wording::segment_problem(problem)));
    }
    Ok(if problems.iter().any(SegmentProblem::is_damage) { Exit::Io } else { Exit::Fine })
}

fn compact(project: &Project, output: &Output) -> Result<Exit, Failure> {
    let compacted = compact_segments(project.root(), FsyncPolicy::default())?;
    let (before, after) = (compacted.before, compacted.after);
    output.json_or(
        "stepmark.journal-compact/1",
        || {
            let names: Vec<&str> = compacted.segments.iter().map(SegmentName::as_str).collect();
            json!({
                "segments": names,
                "files_before": before.count, "files_after": after.count,
                "bytes_before": before.bytes, "bytes_after": after.bytes,
            })
        },
        || {
            let segments = wording::count(compacted.segments.len(), "segment");
            output.remark(format_args!(
                "{segments} compacted, {} of {} bytes → {} of {} bytes",
                wording::count(before.count, "file"),
                before.bytes,
                wording::count(after.count, "file"),
                after.bytes
            ));
        },
    );
    Ok(Exit::Fine)
}

/// The number of segments, of bytes on the disk, and of events. The bytes of a file count once.
fn sums<'a>(segments: impl Iterator<Item = &'a KnownSegment>) -> (usize, u64, u64) {
    let mut files = HashSet::new();
    segments.fold((0, 0, 0), |(count, bytes, events), segment| {
        let size = if files.insert(&segment.file) { segment.size } else { 0 };
        (count + 1, bytes + size, events + segment.events)
    })
}

fn counts<'a>(segments: impl Iterator<Item = &'a KnownSegment>) -> Json {
    let (count, bytes, events) = sums(segments);
    json!({ "count": count, "bytes": bytes, "events": events })
}
