//! `stepmark log journal`

use clap::{Args, Subcommand};
use serde_json::{Value as Json, json};
use stepmark_core::{
    commit::{FsyncPolicy, compact_segments},
    journal::store::{History, KnownSegment, SegmentPlace, SegmentProblem},
};

use crate::{
    exit::{Exit, Failure},
    output::{Output, replay, wording},
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
    /// Compress the sealed segments: the same bytes inside, so that every hash stays
    Compact,
}

impl Journal {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        match self.work {
            Work::Status => status(project, output),
            Work::Compact => compact(project, output),
        }
    }
}

const PLACES: [(SegmentPlace, &str); 3] = [
    (SegmentPlace::Live, "live"),
    (SegmentPlace::Sealed, "sealed"),
    (SegmentPlace::Compressed, "compressed"),
];

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
    let (before, after) =
        compacted.iter().fold((0, 0), |(before, after), one| (before + one.before, after + one.after));
    if output.json {
        let names: Vec<&str> = compacted.iter().map(|one| one.name.as_str()).collect();
        output.json(
            "stepmark.journal-compact/1",
            json!({ "segments": names, "bytes_before": before, "bytes_after": after }),
        );
    } else {
        let segments = wording::count(compacted.len(), "segment");
        output.remark(format_args!("{segments} compressed, {before} bytes → {after} bytes"));
    }
    Ok(Exit::Fine)
}

/// How many segments, bytes on the disk, and events.
fn sums<'a>(segments: impl Iterator<Item = &'a KnownSegment>) -> (usize, u64, u64) {
    segments.fold((0, 0, 0), |(count, bytes, events), segment| {
        (count + 1, bytes + segment.size, events + segment.events)
    })
}

fn counts<'a>(segments: impl Iterator<Item = &'a KnownSegment>) -> Json {
    let (count, bytes, events) = sums(segments);
    json!({ "count": count, "bytes": bytes, "events": events })
}
