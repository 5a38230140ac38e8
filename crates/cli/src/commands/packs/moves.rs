//! Moves of packs of the project: `stepmark COMMAND MOVE ID --argument VALUE`, as the pack declares them.

use std::{path::Path, path::PathBuf, sync::Arc};

use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};
use stepmark_model::{
    artifact::ProjectPath,
    lifecycle::MoveRefusal,
    packs::{ArgumentShape, Kind, MoveCall, NamedMove, built_in, is_name_of},
    spelling::argument,
    tracked_artifact::TrackedArtifact,
    transition::TransitionRefusal,
};
use stepmark_store::{changes::ChangeReport, configuration::ProjectPack};

use crate::{
    arguments::{self, ActingArguments, OutputArguments, ProjectArguments},
    command_line::{self, Arguments},
    commands::changing::change,
    environment::Environment,
    exit::{Exit, Failure},
    help::command_line,
    output::Output,
    project::Project,
};

/// Added to the arguments of the pack.
const ARTIFACT: &str = "ARTIFACT";

#[derive(Debug)]
pub(crate) struct KindMove {
    pub(crate) kind: Arc<Kind>,
    pub(crate) name: String,
    pub(crate) artifact: PathBuf,
    pub(crate) args: Vec<(String, String)>,
    pub(crate) reason: Option<String>,
    pub(crate) evidence: Option<String>,
}

/// `None` if no pack has the command `word`.
pub(crate) fn read(word: &str, line: &[std::ffi::OsString]) -> Option<Result<Arguments, clap::Error>> {
    let environment = Environment::read().ok()?;
    let place = ProjectArguments { root: root_in(line), ..ProjectArguments::default() };
    let project = Project::open(&place, &ActingArguments::default(), &environment).ok()?;
    let kinds = project.workspace.configuration().packs().iter().flat_map(|own| &own.pack.kinds);
    let kinds = kinds.chain(built_in().flat_map(|pack| &pack.kinds));
    let kind = kinds.map(|own| &own.kind).find(|kind| kind.command == word && has_moves(kind))?;
    let program = command_line().subcommand(command_of(kind));
    Some(program.try_get_matches_from(line).and_then(|found| arguments_of(kind, &found)))
}

fn root_in(line: &[std::ffi::OsString]) -> Option<PathBuf> {
    let text = |word: &std::ffi::OsString| word.to_str().map(str::to_owned);
    let behind = line.windows(2).find(|pair| pair[0] == "--root").map(|pair| PathBuf::from(&pair[1]));
    behind
        .or_else(|| line.iter().filter_map(text).find_map(|word| Some(word.strip_prefix("--root=")?.into())))
}

fn has_moves(kind: &Kind) -> bool {
    kind.lifecycle.as_ref().is_some_and(|table| !table.named_moves().is_empty())
}

/// Only required ones.
fn options(made: &NamedMove) -> String {
    let args = made.args.iter().filter(|(_, kind)| !kind.is_optional);
    let args = args.map(|(name, kind)| format!(" --{name} {}", kind.shape.name().to_uppercase()));
    args.chain(made.needs.iter().map(|need| format!(" --{} TEXT", need.name()))).collect()
}

pub(crate) fn refuse_taken_words(packs: &[ProjectPack]) -> Result<(), Failure> {
    let program = command_line();
    for own in packs {
        let kinds = own.pack.kinds.iter().map(|own| &own.kind).filter(|kind| has_moves(kind));
        if let Some(kind) = kinds.into_iter().find(|kind| program.find_subcommand(&kind.command).is_some()) {
            let (file, command) = (&own.file, &kind.command);
            let message =
                format!("`{file}` calls its command `{command}`, and stepmark has a command of that name");
            return Err(Failure::new(Exit::Usage, message)
                .with_help(format!("give the kind `{}` another word: `command: WORD`", kind.name)));
        }
    }
    Ok(())
}

/// A subcommand for each move.
fn command_of(kind: &Kind) -> Command {
    let moves = kind.lifecycle.as_ref().map(|table| table.named_moves()).unwrap_or_default();
    let about = format!("Move {} on, as the pack `{}` says", kind.plural, kind.system);
    let command = Command::new(kind.command.clone())
        .about(about)
        .subcommand_required(true)
        .arg_required_else_help(true);
    moves.iter().fold(command, |command, made| command.subcommand(part(made)))
}

fn part(made: &NamedMove) -> Command {
    let states = made.way();
    let about = match &made.about {
        Some(about) => format!("{about} ({states})"),
        None => states,
    };
    let artifact = Arg::new(ARTIFACT).required(true).help("The artifact: its path, name or id");
    let command = Command::new(made.name.clone()).about(about).arg(artifact);
    let command = made.args.iter().fold(command, |command, (name, kind)| {
        let many = if kind.shape == ArgumentShape::List { ArgAction::Append } else { ArgAction::Set };
        let arg = Arg::new(name.clone()).long(name.clone()).value_name(kind.shape.name().to_uppercase());
        command.arg(arg.action(many).required(!kind.is_optional).allow_hyphen_values(true))
    });
    let is_needed = |word: &str| made.needs.iter().any(|need| need.name() == word);
    let reason = Arg::new("reason").long("reason").short('m').value_name("TEXT").help("Why, for history");
    let reason = reason.value_parser(arguments::reason).required(is_needed("reason"));
    let evidence = Arg::new("evidence").long("evidence").value_name("TEXT").help("What shows that it is so");
    command.arg(reason).arg(evidence.required(is_needed("evidence")))
}

fn arguments_of(kind: &Arc<Kind>, found: &ArgMatches) -> Result<Arguments, clap::Error> {
    let missing = || command_line().error(clap::error::ErrorKind::MissingSubcommand, "a move is missing");
    let (name, given) =
        found.subcommand().and_then(|(_, of_kind)| of_kind.subcommand()).ok_or_else(missing)?;
    let moves = kind.lifecycle.as_ref().map(|table| table.named_moves()).unwrap_or_default();
    let made = moves.iter().find(|made| made.name == name).ok_or_else(missing)?;
    let texts =
        |name: &str| given.get_many::<String>(name).into_iter().flatten().cloned().collect::<Vec<_>>();
    let args =
        made.args.iter().flat_map(|(name, _)| texts(name).into_iter().map(move |text| (name.clone(), text)));
    let made = KindMove {
        kind: Arc::clone(kind),
        name: name.to_owned(),
        artifact: given.get_one::<String>(ARTIFACT).map(PathBuf::from).unwrap_or_default(),
        args: args.collect(),
        reason: given.get_one::<String>("reason").cloned(),
        evidence: given.get_one::<String>("evidence").cloned(),
    };
    Ok(Arguments {
        project: ProjectArguments::from_arg_matches(found)?,
        acting: ActingArguments::from_arg_matches(found)?,
        output: OutputArguments::from_arg_matches(found)?,
        command: command_line::Command::Made(made),
    })
}

impl KindMove {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        change::report(output, &self.make(project)?);
        Ok(Exit::Fine)
    }

    /// A refusal names what is legal instead.
    pub(crate) fn make(&self, project: &Project) -> Result<ChangeReport, Failure> {
        let path = self.artifact(project)?;
        let mut call = MoveCall::new(&self.kind.command, &self.name);
        call.args.clone_from(&self.args);
        let call = self.evidence.iter().fold(call, |call, text| call.with("evidence", &**text));
        match project.workspace.make_move(&path, call, self.reason.clone()) {
            Ok(carried) => Ok(carried),
            Err(error) => {
                let help = match error.detail() {
                    Some(TransitionRefusal::Move(refusal)) => self.help(refusal),
                    _ => String::new(),
                };
                let failure = Failure::from(error);
                Err(if help.is_empty() { failure } else { failure.with_help(help) })
            }
        }
    }

    fn help(&self, refusal: &MoveRefusal) -> String {
        let (MoveRefusal::NotFrom { legal, .. } | MoveRefusal::Unmet { legal, .. }) = refusal else {
            return String::new();
        };
        let artifact = argument(&self.artifact.display().to_string());
        let moves = self.kind.lifecycle.as_ref().map(|table| table.named_moves()).unwrap_or_default();
        let command = |name: &String| {
            let made = moves.iter().find(|made| made.name == *name)?;
            Some(format!("`stepmark {} {name} {artifact}{}`", self.kind.command, options(made)))
        };
        legal.iter().filter_map(command).collect::<Vec<_>>().join(", or ")
    }

    /// By its path or name, else by its id or the begin of it.
    fn artifact(&self, project: &Project) -> Result<ProjectPath, Failure> {
        let named = project.artifact_path(&self.artifact);
        let Some(id) = self.artifact.to_str().filter(|_| named.is_err()) else { return named };
        let found = project.workspace.artifacts()?;
        let is_of_kind = |artifact: &&TrackedArtifact| {
            artifact
                .lifecycle()
                .and_then(|choice| choice.kind.as_ref())
                .is_some_and(|kind| *kind == self.kind)
        };
        let of_kind: Vec<&TrackedArtifact> = found.artifacts.iter().filter(is_of_kind).collect();
        let with = |fits: &dyn Fn(&TrackedArtifact) -> bool| {
            let meant = of_kind.iter().filter(|artifact| fits(artifact));
            meant.map(|artifact| artifact.path().clone()).collect::<Vec<_>>()
        };
        let exact = with(&|own| is_name_of(id, own.path().as_str(), own.member().id()));
        let begins = |own: &TrackedArtifact| own.member().id().is_some_and(|own| own.starts_with(id));
        let meant = if exact.is_empty() { with(&begins) } else { exact };
        match crate::artifact_name::only(Path::new(id), meant)? {
            Some(path) => Ok(path),
            None => named,
        }
    }
}
