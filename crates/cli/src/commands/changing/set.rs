//! `stepmark set`

use std::path::{Path, PathBuf};

use super::change;
use crate::{
    arguments::{ReasonArguments, reason},
    environment::new_id,
    exit::{Exit, Failure},
    output::{Output, spinner},
    project::Project,
};
use clap::{Args, ValueEnum};
use stepmark_frontmatter::{KeyPath, KeyPathError, Value};
use stepmark_model::{
    artifact,
    journal::{ActorKind, ArtifactKey},
    transition::{Command, Confidence, ItemChange, ScopeSource, Strictness},
};
use stepmark_store::changes::ChangeReason;

/// Give values to keys of an artifact's frontmatter
///
/// VALUE is read as YAML: `3`, `true`, `null`, `[a, b]`, and text for all else; `--text` takes it as text.
/// What readers would not give back as it is typed, such as `1.10` or `010`, is text too, unless a number
/// stands there. A `status` obeys the artifact's lifecycle, as with `transition`; a step that the workflow
/// does not have is refused; one that says the work is finished is refused while work that was delegated from
/// the artifact is open.
#[derive(Debug, Args)]
pub(crate) struct Set {
    /// The artifact
    artifact: PathBuf,
    /// `KEY=VALUE`; KEY is `status`, `delegation.id`, `slices[0].status`, or a JSON pointer. `KEY+=ITEM` adds
    /// an item to a list, `KEY-=ITEM` takes one out
    #[arg(required = true, value_name = "KEY=VALUE")]
    assignments: Vec<String>,
    /// Take every VALUE as text, even `3` and `true`
    #[arg(long)]
    text: bool,
    #[command(flatten)]
    reason: ReasonArguments,
}

impl Set {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        // `c+` may be a key.
        let of_list = |assignment: &String| {
            let (key, _) = assignment.split_once('=').unwrap_or_default();
            let is_key = key.ends_with(['+', '-']) && self.has_key(project, key);
            if is_key { Ok(None) } else { self.of_list(assignment) }
        };
        let is_of_list = |assignment: &String| of_list(assignment).map(|change| change.is_some());
        let of_lists = self.assignments.iter().map(is_of_list).collect::<Result<Vec<_>, _>>()?;
        let command = match (of_lists.contains(&true), of_lists.contains(&false)) {
            (true, true) => {
                let why = "items of lists (`KEY+=ITEM`, `KEY-=ITEM`) are changed by a command of their own";
                return Err(Failure::new(Exit::Usage, why.to_owned()).with_help("nothing was changed"));
            }
            (true, false) => {
                let changes = self.assignments.iter().map(of_list);
                let changes = changes.collect::<Result<Vec<_>, _>>()?;
                Command::Items { changes: changes.into_iter().flatten().collect() }
            }
            _ => {
                let assignments = self.assignments.iter().map(|assignment| self.read(assignment));
                Command::Set { assignments: assignments.collect::<Result<_, _>>()? }
            }
        };
        execute(project, output, (&self.artifact, &command), self.reason.reason())
    }

    fn has_key(&self, project: &Project, key: &str) -> bool {
        let artifact = project.artifact(&self.artifact);
        artifact.is_ok_and(|artifact| {
            let yaml = artifact.artifact().state_yaml();
            yaml.is_some_and(|yaml| yaml.root().is_some_and(|root| root.get(key).is_some()))
        })
    }

    fn of_list(&self, assignment: &str) -> Result<Option<ItemChange>, Failure> {
        let (key, _) = assignment.split_once('=').unwrap_or_default();
        let (make, name): (fn(KeyPath, Value) -> ItemChange, &str) = match key.strip_suffix(['+', '-']) {
            Some(list) if key.starts_with('/') && list.ends_with('/') => {
                (ItemChange::Add, list.trim_end_matches('/'))
            }
            Some(name) if key.ends_with('+') => (ItemChange::Add, name),
            Some(name) => (ItemChange::TakeOut, name),
            None => return Ok(None),
        };
        let (_, value) = self.read(assignment)?;
        Ok(Some(make(path_of(name)?, value)))
    }

    fn read(&self, assignment: &str) -> Result<(KeyPath, Value), Failure> {
        let (key, value) = assignment.split_once('=').ok_or_else(|| {
            Failure::new(Exit::Usage, format!("`{assignment}` is no assignment"))
                .with_help("write KEY=VALUE, for instance `status=in-review`")
        })?;
        let path = path_of(key)?;
        if self.text {
            return Ok((path, Value::from(value)));
        }
        let value = Value::from_argument(value).map_err(|error| {
            Failure::from_error(Exit::Usage, &error).with_help("`--text` takes it as text")
        })?;
        Ok((path, value))
    }
}

/// Take keys out of an artifact's frontmatter, with their values
///
/// Lists of steps stay: `stepmark reopen` takes a step out.
#[derive(Debug, Args)]
pub(crate) struct Unset {
    /// The artifact
    artifact: PathBuf,
    /// `owner`, `delegation.id`, `slices[0]`, or a JSON pointer
    #[arg(required = true, value_name = "KEY")]
    keys: Vec<String>,
    #[command(flatten)]
    reason: ReasonArguments,
}

impl Unset {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let changes = self.keys.iter().map(|key| path_of(key).map(ItemChange::Unset));
        let command = Command::Items { changes: changes.collect::<Result<_, _>>()? };
        execute(project, output, (&self.artifact, &command), self.reason.reason())
    }
}

/// Blanks around `key` belong to the command line.
fn path_of(key: &str) -> Result<KeyPath, Failure> {
    key.trim().parse().map_err(|error: KeyPathError| Failure::from_error(Exit::Usage, &error))
}

fn execute(
    project: &Project,
    output: &Output,
    (artifact, command): (&Path, &Command),
    reason: ChangeReason,
) -> Result<Exit, Failure> {
    let path = project.artifact_path(artifact)?;
    let is_forced = matches!(reason, ChangeReason::Forced(_));
    let strictness = if is_forced { Strictness::Warn } else { Strictness::Known };
    change::execute(project, output, &path, (command, strictness), reason)
}

/// Say how big the work of an artifact is, and who says so
///
/// Sets `scope`, `scope_source` and, for an AI, `scope_confidence`. The scope that a person gave stands: an
/// AI that would change it is refused.
#[derive(Debug, Args)]
pub(crate) struct Scope {
    /// The artifact
    artifact: PathBuf,
    /// How big the work is
    scope: ScopeWord,
    /// Who says so; without it whoever acts: an agent is an AI
    #[arg(long, ignore_case = true, value_name = "WHO")]
    by: Option<Source>,
    /// How sure the AI is, from 0 to 1
    #[arg(long, value_name = "N")]
    confidence: Option<Confidence>,
    /// Why, for history
    #[arg(short = 'm', long, value_name = "TEXT", value_parser = reason)]
    reason: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ScopeWord {
    Micro,
    Small,
    Medium,
    Large,
    Epic,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Source {
    Human,
    Ai,
}

impl Scope {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let scope = match self.scope {
            ScopeWord::Micro => artifact::Scope::Micro,
            ScopeWord::Small => artifact::Scope::Small,
            ScopeWord::Medium => artifact::Scope::Medium,
            ScopeWord::Large => artifact::Scope::Large,
            ScopeWord::Epic => artifact::Scope::Epic,
        };
        let command = Command::Scope { scope, source: self.source(project)? };
        let path = project.artifact_path(&self.artifact)?;
        let reason = ChangeReason::said(self.reason.clone());
        change::execute(project, output, &path, (&command, Strictness::Warn), reason)
    }

    fn source(&self, project: &Project) -> Result<ScopeSource, Failure> {
        let actor = &project.workspace.attribution().actor;
        let by_default = if actor.kind == ActorKind::Agent { Source::Ai } else { Source::Human };
        match (self.by.unwrap_or(by_default), self.confidence) {
            (Source::Ai, confidence) => Ok(ScopeSource::Ai { confidence }),
            (Source::Human, None) => Ok(ScopeSource::Human),
            (Source::Human, Some(_)) => Err(Failure::new(Exit::Usage, "only an AI has a confidence")
                .with_help("say `--by ai`, or leave `--confidence` out")),
        }
    }
}

/// Give artifacts an id that stays when they are renamed
///
/// Adds `stepmark_id` where the frontmatter has neither `id` nor `stepmark_id`. What cannot be edited is
/// reported, and the others get theirs.
#[derive(Debug, Args)]
pub(crate) struct Track {
    /// The artifacts
    #[arg(required_unless_present = "all")]
    artifacts: Vec<PathBuf>,
    /// All artifacts of the project that have none
    #[arg(long, conflicts_with = "artifacts")]
    all: bool,
}

impl Track {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let artifacts = if self.all { without_id(project, output)? } else { self.artifacts.clone() };
        let mut exit = Exit::Fine;
        for artifact in &artifacts {
            let command = Command::Track { id: new_id() };
            let command = (&command, Strictness::Warn);
            let tracked = project
                .artifact_path(artifact)
                .and_then(|path| change::execute(project, output, &path, command, ChangeReason::Unsaid));
            if let Err(failure) = tracked {
                let told = output.failure(&failure);
                // The first one counts.
                exit = if exit == Exit::Fine { told } else { exit };
            }
        }
        if artifacts.is_empty() {
            output.remark("every artifact has an id");
        }
        Ok(exit)
    }
}

fn without_id(project: &Project, output: &Output) -> Result<Vec<PathBuf>, Failure> {
    let found = project.workspace.artifacts()?;
    spinner::unreadable(&found).iter().for_each(|problem| output.warning(problem));
    let without = found.artifacts.iter().filter(|tracked| ArtifactKey::of(tracked.artifact()).is_path());
    Ok(without.map(|tracked| project.root().path().join(tracked.path().as_str())).collect())
}
