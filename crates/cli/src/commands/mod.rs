//! One command in each file; its doc comment is its help. Folders are the groups of `stepmark help --all`.
//! --all`.

pub(crate) mod autodev;
pub(crate) mod asdd;
pub(crate) mod coordination;
pub(crate) mod flow;
pub(crate) mod changing;
pub(crate) mod checking;
#[cfg(feature = "mcp")]
pub(crate) mod mcp;
pub(crate) mod memory;
pub(crate) mod packs;
pub(crate) mod sessions;
pub(crate) mod setup;
pub(crate) mod sharing;
pub(crate) mod viewing;

use std::cell::Cell;

use stepmark_sync::configuration::SyncConfiguration;

use crate::{
    arguments::ProjectArguments,
    command_line::{Arguments, Command},
    environment::Environment,
    exit::{Exit, Failure},
    output::Output,
    project::Project,
    several_projects::Projects,
};

pub(crate) fn run(
    arguments: &Arguments,
    environment: &Environment,
    output: &Output,
) -> Result<Exit, Failure> {
    Projects::of(arguments, environment)?.run(output, &arguments.command, |place| {
        let is_told = Cell::new(output.quiet);
        // Whoever watches a project opens it again and again.
        let tell = |project: &Project| {
            if is_told.replace(true) {
                return;
            }
            let configuration = project.workspace.configuration();
            configuration.unknown_keys().iter().for_each(|unknown| output.warning(unknown));
            // What cannot be used is told by the commands that use it.
            let trackers = SyncConfiguration::of(configuration).unwrap_or_default();
            trackers.unknown_keys.iter().for_each(|unknown| output.warning(unknown));
        };
        let project = || {
            let project = Project::open(place, &arguments.acting, environment)?;
            tell(&project);
            Ok(project)
        };
        dispatch((arguments, place), (project, tell), environment, output)
    })
}

fn dispatch(
    (arguments, place): (&Arguments, &ProjectArguments),
    (project, tell): (impl Fn() -> Result<Project, Failure>, impl Fn(&Project)),
    environment: &Environment,
    output: &Output,
) -> Result<Exit, Failure> {
    let session = arguments.acting.session.as_ref().or(environment.attribution.0.session.as_ref());
    if session.is_some() && writes_artifacts(&arguments.command) {
        sessions::session::refuse_ended(&project()?)?;
    }
    // Commands that take a project and say what they found; then those that take something else.
    macro_rules! run {
        ([$($name:ident)+] $($others:tt)+) => {
            match &arguments.command {
                $(Command::$name(command) => {
                    let project = project()?;
                    let run = command.run(&project, output);
                    crate::output::spinner::warn_of_unusable(&project.workspace, output);
                    run
                })+
                $($others)+
            }
        };
    }
    run! {
        [
            Asdd Autodev Task Coordination Flow Init Status List Show Next Complete Reopen Transition Set Unset
            Scope Track Memlog Defer Remove Undo Resume Checkpoint Restore Doctor Delegate Tickets Tree Gate Lease Import Hook At Diff
            Replay Journal Lifecycle Pack Made Report Manifest Config Context Instructions
        ]
        Command::Memory(command) => command.run(project()?, output),
        #[cfg(feature = "mcp")]
        Command::Mcp(command) => command.run(place, &arguments.acting, environment),
        Command::Session(command) => command.run(project()?, output),
        Command::Exec(command) => command.run(project()?, output),
        Command::Project(command) => command.run(&project()?, environment, output),
        Command::Query(command) => command.run(project, environment, output),
        Command::Check(command) => match command.comparison() {
            Some(comparison) => {
                let (project, version) =
                    Project::open_version(place, &arguments.acting, environment, &comparison)?;
                tell(&project);
                command.run_on_changes(&project, &version, output)
            }
            None => command.run(&project()?, output),
        },
        Command::Explain(command) => command.run(output),
        Command::Log(command) => command.run(&project()?, arguments.acting.session.as_ref(), output),
        Command::Sync(command) => command.run(&project, environment, output),
        Command::Serve(command) => command.run(&project, output),
        Command::Board(command) => command.run(&project, output),
        Command::Completions(command) => command.run(output),
        Command::Man(command) => command.run(output),
        Command::Schema(command) => command.run(output),
        Command::Help(command) => command.run(output),
    }
}

const fn writes_artifacts(command: &Command) -> bool {
    match command {
        Command::Gate(gate) => return gate.takes_lease(),
        Command::Lease(lease) => return lease.takes_lease(),
        Command::Asdd(asdd) => return asdd.writes(),
        Command::Autodev(autodev) => return autodev.writes(),
        Command::Task(task) => return task.writes(),
        Command::Coordination(coordination) => return coordination.writes(),
        Command::Flow(flow) => return flow.writes(),
        Command::Memlog(memlog) => return memlog.writes(),
        _ => {}
    }
    matches!(
        command,
        Command::Complete(_)
            | Command::Reopen(_)
            | Command::Transition(_)
            | Command::Set(_)
            | Command::Unset(_)
            | Command::Scope(_)
            | Command::Track(_)
            | Command::Remove(_)
            | Command::Undo(_)
            | Command::Checkpoint(_)
            | Command::Restore(_)
            | Command::Exec(_)
            | Command::Defer(_)
            | Command::Delegate(_)
            | Command::Import(_)
            | Command::Made(_)
    )
}

/// The command never needs the actor.
pub(crate) const fn only_looks(command: &Command) -> bool {
    matches!(
        command,
        Command::Status(_)
            | Command::List(_)
            | Command::Show(_)
            | Command::Next(_)
            | Command::Tickets(_)
            | Command::Tree(_)
            | Command::Log(_)
            | Command::At(_)
            | Command::Diff(_)
    )
}
