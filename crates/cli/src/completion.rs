//! Shell completion, by this program: it knows the project's artifacts and the fields of lists.

use std::ffi::OsStr;

use clap::Command;
use clap_complete::{ArgValueCompleter, CompleteEnv, CompletionCandidate};
use stepmark_model::{selection::SelectionField, tracked_artifact::TrackedArtifact};
use stepmark_view::overview::short_names;

use crate::{
    arguments::{ActingArguments, ProjectArguments},
    environment::Environment,
    help::command_line,
    project::Project,
};

pub(crate) const VARIABLE: &str = "COMPLETE";

pub(crate) fn answer() {
    CompleteEnv::with_factory(|| with_values(command_line())).var(VARIABLE).complete();
}

fn with_values(command: Command) -> Command {
    let command = command.mut_args(|argument| match argument.get_id().as_str() {
        "artifact" | "artifacts" | "words" => argument.add(ArgValueCompleter::new(artifacts)),
        "columns" | "sort" => argument.add(ArgValueCompleter::new(fields)),
        _ => argument,
    });
    command.mut_subcommands(with_values)
}

fn artifacts(typed: &OsStr) -> Vec<CompletionCandidate> {
    let opened = Environment::read().and_then(|environment| {
        Project::open(&ProjectArguments::default(), &ActingArguments::default(), &environment)
    });
    let Some(found) = opened.ok().and_then(|project| project.workspace.artifacts().ok()) else {
        return Vec::new();
    };
    let paths: Vec<_> = found.artifacts.iter().map(TrackedArtifact::path).collect();
    let typed = typed.to_string_lossy();
    let names = match typed.contains('/') {
        true => paths.iter().map(ToString::to_string).collect(),
        false => short_names(&paths, paths.iter().copied()),
    };
    names.into_iter().filter(|name| name.starts_with(&*typed)).map(CompletionCandidate::new).collect()
}

fn fields(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let (before, last) = typed.rsplit_once(',').map_or(("", &*typed), |(before, last)| (before, last));
    let names = SelectionField::ALL.iter().map(|field| field.name());
    let fitting = names.filter(|name| name.starts_with(last.trim_start_matches('-')));
    let separator = if before.is_empty() { "" } else { "," };
    fitting.map(|name| CompletionCandidate::new(format!("{before}{separator}{name}"))).collect()
}
