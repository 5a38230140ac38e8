//! `stepmark log replay`

use std::{
    path::{Path, PathBuf},
    thread,
};

use crate::{
    exit::{Exit, Failure, chain},
    output::{
        Output,
        replay::{Summary, answer, show},
        spinner, with_spinner,
    },
    project::Project,
    published_file,
};
use clap::Args;
use stepmark_store::{
    Error,
    history::{History, VerifiedSegments, verify_segments},
    replay::ReplayedArtifacts,
};
use stepmark_view::{
    observation::{Observation, ObservedMemory},
    overview::{Counts, Overview},
    page,
};

/// Replay history and compare what it leads to with the artifacts as they are
///
/// An artifact is `current` (in the state after its last event), `earlier` (in that of another known event,
/// which git has checked out or in its index), `unexplained` (changed by other means) or has `no-history` (as
/// in a fresh clone).
#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// Compare (required: there is no other replay)
    #[arg(long, required = true)]
    verify: bool,
    /// Only these artifacts, and not the segments from end to end
    artifacts: Vec<PathBuf>,
    /// Let an artifact without history count as a finding
    #[arg(long)]
    strict: bool,
}

impl Replay {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let summary = if self.artifacts.is_empty() { all(project)? } else { self.named(project)? };
        output.answer_or(|| answer(&summary), || show(&summary, output));
        Ok(summary.exit(self.strict))
    }

    fn named(&self, project: &Project) -> Result<Summary, Failure> {
        let mut checked_out = project.workspace.repository().checked_out();
        let mut artifacts = Vec::new();
        for given in &self.artifacts {
            artifacts
                .push(project.workspace.history().replay(&project.known_path(given)?, &mut checked_out)?);
        }
        let problems = project.workspace.history().ask(History::problems)?;
        Ok(Summary { artifacts, segments: None, problems, unreadable: Vec::new() })
    }
}

/// Another thread reads the segments from end to end. Repeated if the index was wrong.
fn all(project: &Project) -> Result<Summary, Failure> {
    let (summary, verified) = all_by_index(project)?;
    let is_wrong = project.workspace.history().ask(|history| history.renew_if_wrong(&verified))?;
    if is_wrong { Ok(all_by_index(project)?.0) } else { Ok(summary) }
}

fn all_by_index(project: &Project) -> Result<(Summary, VerifiedSegments), Failure> {
    let root = project.root();
    thread::scope(|scope| {
        let reading = scope.spawn(|| verify_segments(root));
        let replayed = project.workspace.history().replay_all();
        let read: Result<VerifiedSegments, Error> = reading
            .join()
            .map_err(|_| Failure::new(Exit::Io, "the thread that read the segments ended early"))?;
        let ReplayedArtifacts { artifacts, unreadable, problems, checkpoints } = replayed?;
        let folders = problems.iter().map(|problem| format!("{}: {}", problem.path, problem.kind));
        let files = unreadable.iter().map(|error| chain(error));
        let checkpoints = checkpoints.iter().map(|(_, error)| chain(error));
        let unreadable = folders.chain(files).chain(checkpoints).collect();
        let mut verified = read?;
        let segments = Some((verified.segments, verified.events));
        let problems = std::mem::take(&mut verified.problems);
        Ok((Summary { artifacts, segments, problems, unreadable }, verified))
    })
}

/// Write one HTML page that shows what is done, what is next and what is wrong
///
/// The page holds all it needs: it asks no server, and can be read with scripts turned off.
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// The file, or `-` for standard output; an older page that is there is replaced, and nothing else
    #[arg(value_name = "FILE.html")]
    file: PathBuf,
}

impl Report {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let observation = with_spinner(
            "looking at the project",
            output.quiet,
            project.workspace.files_looked_at(),
            || Observation::take(&project.workspace),
        )?;
        let overview = Overview::of(&observation);
        let memory = overview.has_memory.then(|| ObservedMemory::read(&project.workspace)).transpose()?;
        let html = page::report(&overview, memory.as_ref());
        let exit = if observation.found.is_whole() { Exit::Fine } else { Exit::Io };
        if self.file == Path::new("-") {
            output.bytes(html.as_bytes());
        } else {
            published_file::publish(&project.place(&self.file), html.as_bytes(), page::is_report)?;
            self.answer(&overview, html.len(), output);
        }
        spinner::waiting_stories(overview.waiting()).iter().for_each(|waiting| output.warning(waiting));
        for problem in spinner::unreadable(&observation.found) {
            output.warning(problem);
        }
        Ok(exit)
    }

    fn answer(&self, overview: &Overview, bytes: usize, output: &Output) {
        let Counts { artifacts, done, next, errors, warnings, .. } = overview.counts;
        let file = self.file.display().to_string();
        let waiting = artifacts - done - next;
        let waiting = if waiting == 0 { String::new() } else { format!("{waiting} waiting, ") };
        output.remark(format_args!(
            "{file}: {done} of {} done, {next} to go on with, {waiting}{}, {}",
            spinner::count(artifacts, "artifact"),
            spinner::count(errors, "error"),
            spinner::count(warnings, "warning"),
        ));
        output.answer(|| Answer::Report { file, bytes, artifacts, done, next, errors, warnings });
    }
}

answers! { Answer
    /// `report`: the file that was written
    "stepmark.report/1" Report {
        file: String, bytes: usize, artifacts: usize, done: usize, next: usize, errors: usize,
        warnings: usize,
    }
}
