//! `stepmark report`

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use stepmark_view::{
    observation::{Observation, ObservedMemory},
    overview::Overview,
    page,
};

use crate::{
    exit::{Exit, Failure},
    output::{Output, with_spinner, wording},
    project::Project,
    published_file,
};

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
        wording::waiting_stories(overview.waiting()).iter().for_each(|waiting| output.warning(waiting));
        for problem in wording::unreadable(&observation.found) {
            output.warning(problem);
        }
        Ok(exit)
    }

    fn answer(&self, overview: &Overview, bytes: usize, output: &Output) {
        let counts = overview.counts;
        output.json_or(
            "stepmark.report/1",
            || {
                json!({
                    "file": self.file.display().to_string(),
                    "bytes": bytes,
                    "artifacts": counts.artifacts,
                    "done": counts.done,
                    "next": counts.next,
                    "errors": counts.errors,
                    "warnings": counts.warnings,
                })
            },
            || {
                let waiting = counts.artifacts - counts.done - counts.next;
                let waiting = if waiting == 0 { String::new() } else { format!("{waiting} waiting, ") };
                output.remark(format_args!(
                    "{}: {} of {} done, {} to go on with, {waiting}{}, {}",
                    self.file.display(),
                    counts.done,
                    wording::count(counts.artifacts, "artifact"),
                    counts.next,
                    wording::count(counts.errors, "error"),
                    wording::count(counts.warnings, "warning"),
                ));
            },
        );
    }
}
