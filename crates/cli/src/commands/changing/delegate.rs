//! `stepmark delegate`

use std::path::PathBuf;

use super::change;
use crate::{
    arguments::{ReasonArguments, reason},
    commands::memory,
    environment::new_id,
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};
use clap::Args;
use stepmark_model::{
    artifact::ProjectPath,
    journal::{Event, Kind},
};
use stepmark_store::{
    ErrorKind,
    changes::{Delegated, DelegationOrder},
    history::Selection,
};

/// Give work to an agent in an artifact of its own
///
/// Makes the child artifact with its place in the chain of delegation. A parent without an id gets one, and
/// becomes the root of a chain; both files change together or not at all. `stepmark tree` shows who works on
/// what.
#[derive(Debug, Args)]
pub(crate) struct Delegate {
    /// The artifact that the work is given from
    parent: PathBuf,
    /// Who is to do it
    #[arg(long, value_name = "AGENT")]
    to: String,
    /// What is to be done, as Markdown; its first line is the title
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// The file to make; without it `AGENT-ID.md` in `delegation.folder`, or beside the parent in
    /// `PARENT.delegations/`
    #[arg(long, value_name = "PATH")]
    file: Option<PathBuf>,
}

/// Random file names that are tried if they are taken.
const ATTEMPTS: usize = 3;

answers! { Answer<'a>
    /// `delegate`: the artifact that was made
    "stepmark.delegate/1" Delegate {
        path: &'a ProjectPath, parent: &'a str, to: &'a str, id: &'a str, depth: usize,
        chain_path: &'a [String], parent_changed: bool, memory: &'a str,
    }
    /// `remove`: the artifact that was removed
    "stepmark.remove/1" Remove { path: &'a ProjectPath, named_in: &'a [ProjectPath] }
}

impl Delegate {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        if self.to.trim().is_empty() {
            return Err(Failure::new(Exit::Usage, "an agent needs a name: `--to writer`"));
        }
        let parent = project.artifact_path(&self.parent)?;
        let file = self.file.as_deref().map(|file| project.path(file)).transpose()?;
        let mut attempt = 1;
        let delegated = loop {
            let (child_id, parent_id) = (new_id(), new_id());
            let order = DelegationOrder {
                parent: &parent,
                agent: self.to.trim(),
                task: self.task.as_deref(),
                file: file.as_ref(),
                child_id: &child_id,
                parent_id: &parent_id,
            };
            match project.workspace.delegations().delegate(&order) {
                Err(error) if error.kind() == ErrorKind::Exists && file.is_none() && attempt < ATTEMPTS => {
                    attempt += 1;
                }
                done => break done?,
            }
        };
        let memory = memory::handed_over(project, Some(parent.as_str()), output);
        self.report(output, (parent.as_str(), &memory), &delegated);
        Ok(Exit::Fine)
    }

    fn report(&self, output: &Output, (parent, memory): (&str, &str), delegated: &Delegated) {
        let Delegated { child, position: place, parent_was_changed } = delegated;
        output.answer(|| Answer::Delegate {
            path: child,
            parent,
            to: self.to.trim(),
            id: place.id(),
            depth: place.depth(),
            chain_path: place.chain(),
            parent_changed: *parent_was_changed,
            memory,
        });
        output.line(format_args!("{child}"));
        memory.lines().for_each(|line| output.remark(line));
    }
}

/// Remove an artifact, and record in history who did and why
///
/// So a commit of it passes the check (SM907), and other clones see the reason. Bytes that git does not have,
/// in the commit that is checked out or the index, and an artifact that work was delegated from are only
/// removed with --force.
#[derive(Debug, Args)]
pub(crate) struct Remove {
    /// The artifact
    artifact: PathBuf,
    /// Why, for history
    #[arg(short = 'm', long, value_name = "TEXT", value_parser = reason)]
    reason: Option<String>,
    /// Also remove bytes that git does not have, and what work was delegated from
    #[arg(long)]
    force: bool,
}

impl Remove {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let path = project.artifact_path(&self.artifact)?;
        project.workspace.remove(&path, self.reason.clone(), self.force)?;
        let named_in = project.workspace.checks().artifacts_that_name(&path)?;
        output.answer(|| Answer::Remove { path: &path, named_in: &named_in });
        output.remark(format_args!("{path}: removed"));
        for other in named_in.iter().filter(|_| !output.json) {
            output.warning(format_args!(
                "{other} names it as an input document (SM402): a commit is refused until that is corrected; \
                 `stepmark check {other}` shows the place"
            ));
        }
        Ok(Exit::Fine)
    }
}

/// Take back what an event changed, as a new event
///
/// History is never rewritten. What the event changed is written again as it was before, to the byte where
/// nothing beside it was changed since. What was changed elsewhere stays; a value that was changed again is
/// not touched, and the undo is refused. Records that a command changed together, as a task with its agent,
/// are taken back together.
#[derive(Debug, Args)]
pub(crate) struct Undo {
    /// The event: its id, or the first digits of it; `stepmark log` shows them
    ///
    /// Without one the last change is named, and nothing is written.
    event: Option<String>,
    #[command(flatten)]
    reason: ReasonArguments,
}

impl Undo {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let Some(event) = &self.event else { return Err(unnamed(project)?) };
        let event = project.workspace.history().ask(|history| history.event(event))?;
        let carried = project.workspace.undo(&event, self.reason.reason())?;
        change::report(output, &carried);
        Ok(Exit::Fine)
    }
}

fn unnamed(project: &Project) -> Result<Failure, Failure> {
    let events = project.workspace.history().ask(|history| history.select(Selection::default()))?;
    let is_change = |event: &&Event| ![Kind::FIRST_SEEN, Kind::CHECKPOINT].contains(&event.kind);
    let last = events.iter().filter(is_change).find_map(|event| Some((event, event.artifact.as_ref()?)));
    let Some((event, artifact)) = last else {
        return Ok(Failure::new(Exit::Usage, "no event is named, and no change of an artifact is recorded"));
    };
    let (did, path) = (event.command.as_deref().unwrap_or(event.kind.as_str()), project.seen(&artifact.path));
    let message = format!("no event is named; the last change is `{did}` in `{path}` by {}", event.actor);
    let id = &event.id.to_string()[..12];
    Ok(Failure::new(Exit::Usage, message).with_help(format!("`stepmark undo {id}` takes it back")))
}
