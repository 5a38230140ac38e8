//! A monorepo: a repository with several projects that is not one itself.

use std::path::{Path, PathBuf};

use stepmark_model::projection::git_hook::EVERY_PROJECT;
use stepmark_store::{
    bmad::tickets::{ACTIVE_SETTING, OUTPUT_SETTING},
    configuration::ConfigurationSources,
    disk::{CONFIGURATION_PATH, Root},
    workspace::Workspace,
};

use crate::{
    arguments::ProjectArguments,
    command_line::{Arguments, Command},
    environment::Environment,
    exit::{Exit, Failure},
    output::{Output, spinner},
    project::Project,
};

pub(crate) enum Projects {
    One(ProjectArguments),
    Named(String, ProjectArguments),
    Each(Vec<(String, ProjectArguments)>),
}

impl Projects {
    /// A file on the command line selects its project.
    pub(crate) fn of(arguments: &Arguments, environment: &Environment) -> Result<Self, Failure> {
        let own = &arguments.project;
        let is_every = own.root.as_deref() == Some(Path::new(EVERY_PROJECT));
        let own = &ProjectArguments { root: own.root.clone().filter(|_| !is_every), ..own.clone() };
        let one = || Self::One(own.clone());
        if own.root.is_some() || is_about_any_folder(&arguments.command) && !is_every {
            return Ok(one());
        }
        let Ok(top) = Root::discover(&environment.current_folder) else { return Ok(one()) };
        let Ok(top) = Workspace::open_with(top, &ConfigurationSources::default()) else { return Ok(one()) };
        if let Some(found) = Self::with_output(&top, own, arguments, environment)? {
            return Ok(found);
        }
        let below = top.repository().projects_below().unwrap_or_default();
        if below.is_empty() {
            return Ok(one());
        }
        let top = top.root().path();
        let at = |folder: &String| ProjectArguments { root: Some(top.join(folder)), ..own.clone() };
        let is_named = |folder: &&String| environment.names_file_below(&top.join(folder));
        let each: Vec<_> = below.iter().map(|folder| (folder.clone(), at(folder))).collect();
        if is_every && is_about_one(&arguments.command) {
            return Err(unnamed(top, &below));
        }
        if is_every {
            return Ok(Self::Each(each));
        }
        if let Some(folder) = below.iter().find(is_named) {
            return Ok(Self::Named(folder.clone(), at(folder)));
        }
        match naming(&each, arguments, environment).as_slice() {
            [] if !is_about_each(&arguments.command) || arguments.output.json => Err(unnamed(top, &below)),
            [] => Ok(Self::Each(each)),
            [(folder, only)] => Ok(Self::Named(folder.clone(), only.clone())),
            several => Err(in_several(several)),
        }
    }

    /// BMAD's output folder is outside: it is a project with its own history. It must say whose output it is,
    /// else a clone could name any folder.
    fn with_output(
        top: &Workspace,
        own: &ProjectArguments,
        arguments: &Arguments,
        environment: &Environment,
    ) -> Result<Option<Self>, Failure> {
        let found = top.bmad_output_outside().filter(|(folder, _)| Environment::is_folder(folder));
        let Some((folder, initiative)) = found else { return Ok(None) };
        let name = folder.display().to_string();
        let is_about_tickets = matches!(arguments.command, Command::Tickets(_) | Command::Next(_));
        if !top.is_output(&folder) {
            let message = format!(
                "the output folder `{name}` lies outside of the project, and does not say that it belongs to it"
            );
            let help = format!(
                "if it does, let `{name}/{CONFIGURATION_PATH}` say so: `settings: {{{OUTPUT_SETTING}: {}}}`",
                top.root().path().display()
            );
            let asked = is_about_tickets.then(|| Failure::new(Exit::Findings, message).with_help(help));
            return asked.map_or(Ok(None), Err);
        }
        let mut output = ProjectArguments { root: Some(folder), ..own.clone() };
        output.config.extend(initiative.map(|name| (format!("settings.{ACTIVE_SETTING}"), name)));
        let both = vec![(".".to_owned(), own.clone()), (name.clone(), output.clone())];
        Ok(Some(match naming(&both, arguments, environment).as_slice() {
            [(folder, only)] => Self::Named(folder.clone(), only.clone()),
            [] if is_about_tickets => Self::Named(name, output),
            [] if is_about_each(&arguments.command) && !arguments.output.json => Self::Each(both),
            _ => Self::One(own.clone()),
        }))
    }

    pub(crate) fn run(
        &self,
        output: &Output,
        command: &Command,
        run: impl Fn(&ProjectArguments) -> Result<Exit, Failure>,
    ) -> Result<Exit, Failure> {
        match self {
            Self::One(arguments) => run(arguments),
            Self::Named(folder, arguments) => {
                // Printed paths are relative to the project.
                if is_about_each(command) || is_a_change(command) {
                    output.begin(folder, true);
                }
                run(arguments)
            }
            Self::Each(projects) => {
                let mut worst = Exit::Fine;
                for (number, (folder, arguments)) in projects.iter().enumerate() {
                    output.begin(folder, number == 0);
                    // A project that cannot be opened does not hide the others.
                    let exit = run(arguments).unwrap_or_else(|failure| output.failure(&failure));
                    worst = if exit as u8 > worst as u8 { exit } else { worst };
                }
                Ok(worst)
            }
        }
    }
}

/// Reads a whole project, changes nothing.
const fn is_about_each(command: &Command) -> bool {
    matches!(
        command,
        Command::Status(_)
            | Command::List(_)
            | Command::Check(_)
            | Command::Next(_)
            | Command::Init(_)
            | Command::Doctor(_)
            | Command::Log(_)
            | Command::Resume(_)
            | Command::Query(_)
            | Command::Tree(_)
    )
}

const fn is_a_change(command: &Command) -> bool {
    matches!(
        command,
        Command::Show(_)
            | Command::Complete(_)
            | Command::Reopen(_)
            | Command::Set(_)
            | Command::Unset(_)
            | Command::Transition(_)
    )
}

const fn is_about_one(command: &Command) -> bool {
    matches!(command, Command::Report(_) | Command::Serve(_) | Command::Board(_))
}

/// Uses no project, or its start folder.
const fn is_about_any_folder(command: &Command) -> bool {
    matches!(
        command,
        Command::Hook(_)
            | Command::Config(_)
            | Command::Manifest(_)
            | Command::Explain(_)
            | Command::Completions(_)
            | Command::Man(_)
            | Command::Schema(_)
            | Command::Help(_)
    )
}

/// Words that may name an artifact: `gate check ARTIFACT`.
const WORDS: usize = 3;

/// All projects with an artifact of the first matching name.
fn naming<'p>(
    projects: &'p [(String, ProjectArguments)],
    arguments: &Arguments,
    environment: &Environment,
) -> Vec<&'p (String, ProjectArguments)> {
    for word in Environment::words().skip(1).take(WORDS) {
        let mut naming = Vec::new();
        for project in projects {
            // A project that cannot be opened reports it in its turn.
            let opened = Project::open(&project.1, &arguments.acting, environment);
            if opened.is_ok_and(|opened| opened.is_called(&word).unwrap_or_default()) {
                naming.push(project);
            }
        }
        if !naming.is_empty() {
            return naming;
        }
    }
    Vec::new()
}

fn in_several(projects: &[&(String, ProjectArguments)]) -> Failure {
    let named: Vec<String> = projects.iter().map(|(folder, _)| format!("`{folder}`")).collect();
    let message = format!("several projects have an artifact of that name: {}", named.join(", "));
    let first = projects.first().map(|(folder, _)| folder.as_str()).unwrap_or_default();
    Failure::new(Exit::Usage, message)
        .with_help(format!("name one with `--root {first}`, or go into its folder"))
}

fn unnamed(top: &Path, below: &[String]) -> Failure {
    let named: Vec<String> = below.iter().map(|folder| format!("`{folder}`")).collect();
    let count = spinner::count(below.len(), "project");
    let message = format!("`{}` is no project but holds {count}: {}", top.display(), named.join(", "));
    let first: PathBuf = top.join(below.first().map(String::as_str).unwrap_or_default());
    Failure::new(Exit::Usage, message).with_help(format!(
        "name one with `--root {}`, or go into its folder; `--root {}` takes all for one, `--root '*'` each by itself",
        first.display(),
        top.display()
    ))
}
