//! `stepmark pack`: the packs of the project and those that are built in.

pub(crate) mod moves;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use stepmark_frontmatter::{KeyPath, Value};
use stepmark_model::{
    artifact::ProjectPath,
    packs::{Kind, Pack, PackDeclaration, built_in},
    spelling::folded,
    tracked_artifact::TrackedArtifact,
    transition::{Command, Strictness},
};
use stepmark_store::{
    changes::ChangeReason,
    configuration::{PACKS_FOLDER, ProjectPack},
    workspace::Artifacts,
};

use crate::{
    environment::Environment,
    exit::{Exit, Failure},
    output::{ListArguments, Output, Reader, Row, spinner, table},
    project::Project,
};

/// Declare states of your own: one YAML file gives them moves, history, a hook and a page
///
/// A pack is a file `.stepmark/packs/NAME.yaml`. It says which artifacts it is about, their states, who may
/// move them and what a move writes. `stepmark NAME MOVE ID` makes a move.
#[derive(Debug, Args)]
pub(crate) struct PackCommand {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// List the packs
    List(ListArguments),
    /// Show a pack: its kinds, their states and moves
    Show {
        /// Its name
        name: String,
    },
    /// Say what is wrong in a pack, and which artifacts it would make illegal
    Check {
        /// Its file; without it all packs of the project, and those that are built in
        file: Option<PathBuf>,
        /// Write the new name into artifacts whose state was renamed
        #[arg(long, conflicts_with = "file")]
        rename: bool,
    },
    /// Write a new pack with an explanation of each part
    New {
        /// Its name, which is also the word of its commands
        name: String,
    },
    /// Print the JSON Schema (draft 2020-12) of a pack file, for editors
    Schema,
}

answers! { Answer<'a>
    /// `pack list`: the packs of the project, and those that are built in
    "stepmark.packs/1" List { packs: Vec<Row<&'a PackRow>>, more: usize }
    /// `pack show`: the kinds of a pack, their states and moves
    "stepmark.pack/1" Show (&'a PackShown)
    /// `pack check`: packs that can be used, and what they make illegal
    "stepmark.pack-check/1" Check (&'a PackChecked)
    struct PackRow {
        name: String, about: Option<String>,
        /// The file; none where it is built in
        file: Option<String>,
        kinds: Vec<String>,
    }
    struct PackShown { name: String, about: Option<String>, file: Option<String>, kinds: Vec<KindShown> }
    struct PackChecked {
        /// The packs that can be used
        packs: Vec<String>,
        /// Artifacts whose status they do not have
        illegal: Vec<IllegalArtifact>,
    }
    struct KindShown {
        name: String,
        /// The word behind `stepmark` for its moves
        command: String,
        lifecycle: Option<String>, states: Vec<String>, moves: Vec<MoveShown>,
    }
    struct MoveShown {
        name: String, about: Option<String>, from: Vec<String>,
        /// The state that it enters; none where the state stays, `$return` where it leads back
        to: Option<String>,
        args: Vec<String>, guards: Vec<String>, needs: Vec<String>,
    }
    struct IllegalArtifact {
        path: String, status: String,
        /// The states that there are
        states: Vec<String>,
    }
}

impl PackCommand {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        match &self.task {
            Task::List(list) => self::list(project, list, output).map(|()| Exit::Fine),
            Task::Show { name } => show(project, name, output),
            Task::Check { file, rename } => {
                if *rename {
                    write_new_names(project, output)?;
                }
                check(project, file.as_deref(), output)
            }
            Task::New { name } => new(project, name, output),
            Task::Schema => {
                output.rendered(&format!("{:#}\n", PackDeclaration::schema()), Reader::Program);
                Ok(Exit::Fine)
            }
        }
    }
}

/// Those of the project first.
fn all(project: &Project) -> Vec<(&Pack, Option<&str>)> {
    let own = project.workspace.configuration().packs().iter();
    let own = own.map(|ProjectPack { pack, file, .. }| (pack, Some(file.as_str())));
    own.chain(built_in().map(|pack| (pack, None))).collect()
}

fn list(project: &Project, list: &ListArguments, output: &Output) -> Result<(), Failure> {
    let row = |(pack, file): (&Pack, Option<&str>)| PackRow {
        name: pack.name.clone(),
        about: pack.about.clone(),
        file: file.map(str::to_owned),
        kinds: pack.kinds.iter().map(|own| own.kind.name.clone()).collect(),
    };
    let mut rows: Vec<PackRow> = all(project).into_iter().map(row).collect();
    let answer = |packs, more| Answer::List { packs, more };
    list.answer(
        output,
        &mut rows,
        |row| row,
        answer,
        |rows| {
            let cells = rows.iter().map(|row| {
                let file = row.file.clone().unwrap_or_else(|| "built in".to_owned());
                vec![row.name.clone(), row.kinds.join(", "), file, row.about.clone().unwrap_or_default()]
            });
            output.line(table(&["PACK", "KINDS", "FILE", "ABOUT"], cells));
        },
    )
}

fn show(project: &Project, name: &str, output: &Output) -> Result<Exit, Failure> {
    let packs = all(project);
    let Some((pack, file)) = packs.iter().find(|(pack, _)| pack.name == name) else {
        let failure = Failure::new(Exit::Usage, format!("there is no pack `{name}`"));
        return Err(failure.with_help("`stepmark pack list` lists them; `stepmark pack new NAME` makes one"));
    };
    let shown = PackShown {
        name: pack.name.clone(),
        about: pack.about.clone(),
        file: file.map(str::to_owned),
        kinds: pack.kinds.iter().map(|own| shown(&own.kind)).collect(),
    };
    output.answer(|| Answer::Show(&shown));
    for line in [&shown.about, &shown.file].into_iter().flatten() {
        output.remark(line);
    }
    for kind in &shown.kinds {
        output.line(format_args!("{}: {}", kind.name, kind.states.join(" → ")));
        let row = |made: &MoveShown| {
            let wants = made.guards.iter().chain(&made.needs).cloned().collect::<Vec<_>>().join(", ");
            // Those of built-in packs have commands of their own (`stepmark help`).
            let word = if file.is_some() { format!("stepmark {} ", kind.command) } else { String::new() };
            let id = if file.is_some() { " ID" } else { "" };
            let to = made
                .to
                .as_deref()
                .map_or("the same state", |to| if to == "$return" { "where it was" } else { to });
            vec![
                format!("{word}{}{id}{}", made.name, options(made)),
                format!("{} → {to}", made.from.join(", ")),
                wants,
            ]
        };
        if !kind.moves.is_empty() {
            output.line(table(&["MOVE", "STATES", "WANTS"], kind.moves.iter().map(row)));
        }
    }
    Ok(Exit::Fine)
}

fn options(made: &MoveShown) -> String {
    let args = made.args.iter().map(|arg| {
        let (name, kind) = arg.split_once(": ").unwrap_or((arg, ""));
        match kind.strip_suffix('?') {
            Some(kind) => format!(" [--{name} {}]", kind.to_uppercase()),
            None => format!(" --{name} {}", kind.to_uppercase()),
        }
    });
    args.chain(made.needs.iter().map(|need| format!(" --{need} TEXT"))).collect()
}

fn shown(kind: &Kind) -> KindShown {
    let table = kind.lifecycle.as_deref();
    let moves = table.map(|table| table.named_moves()).unwrap_or_default();
    KindShown {
        name: kind.name.clone(),
        command: kind.command.clone(),
        lifecycle: table.map(|table| table.name().to_owned()),
        states: table.into_iter().flat_map(|table| table.states()).map(|state| state.name.clone()).collect(),
        moves: moves
            .iter()
            .map(|made| MoveShown {
                name: made.name.clone(),
                about: made.about.clone(),
                from: made.from.clone(),
                to: made.to.clone(),
                args: made.args.iter().map(|(name, kind)| format!("{name}: {kind}")).collect(),
                guards: made.guards.iter().map(ToString::to_string).collect(),
                needs: made.needs.iter().map(|need| need.name().to_owned()).collect(),
            })
            .collect(),
    }
}

fn check(project: &Project, file: Option<&Path>, output: &Output) -> Result<Exit, Failure> {
    let read = |file: &Path| {
        Environment::read_file(file)
            .map_err(|error| Failure::new(Exit::Io, format!("cannot read `{}`: {error}", file.display())))
    };
    let given = file.map(|file| Ok::<_, Failure>((name_of(file)?, read(file)?))).transpose()?;
    let workspace = match &given {
        Some((name, bytes)) => project.workspace.with_pack(name, bytes.clone())?,
        None => project.workspace.clone(),
    };
    let configuration = workspace.configuration();
    let names = configuration.packs().iter().map(|own| own.pack.name.clone());
    let is_asked = |name: &String| given.as_ref().is_none_or(|(own, _)| own == name);
    let packs: Vec<String> = names
        .chain(built_in().filter(|_| given.is_none()).map(|pack| pack.name.clone()))
        .filter(is_asked)
        .collect();
    moves::refuse_taken_words(configuration.packs())?;
    let found = workspace.artifacts()?;
    let illegal = found.artifacts.iter().filter_map(|artifact| {
        let choice = artifact.lifecycle().filter(|choice| {
            choice.kind.as_ref().is_some_and(|kind| packs.contains(&kind.system) && !kind.is_record)
        })?;
        let status = artifact.state().status.as_ref()?.filled()?;
        choice.lifecycle.state_of(status).is_none().then(|| IllegalArtifact {
            path: artifact.path().to_string(),
            status: status.to_owned(),
            states: choice.lifecycle.states().iter().map(|state| state.name.clone()).collect(),
        })
    });
    let checked = PackChecked { illegal: illegal.collect(), packs };
    let exit = if checked.illegal.is_empty() { Exit::Fine } else { Exit::Findings };
    output.answer(|| Answer::Check(&checked));
    for IllegalArtifact { path, status, states } in &checked.illegal {
        output.line(format_args!("{path}: `{status}` is no state: there are {}", states.join(", ")));
    }
    let renamed = renamed(&found).len();
    if renamed > 0 {
        let renamed = spinner::count(renamed, "artifact");
        output.remark(format_args!(
            "{renamed} with the old name of a state: `stepmark pack check --rename` writes the new one"
        ));
    }
    output.remark(format_args!(
        "{} can be used: {}",
        spinner::count(checked.packs.len(), "pack"),
        checked.packs.join(", ")
    ));
    Ok(exit)
}

/// With the old name and the new one.
fn renamed(found: &Artifacts) -> Vec<(&ProjectPath, &str, &str)> {
    fn of(artifact: &TrackedArtifact) -> Option<(&ProjectPath, &str, &str)> {
        let old = artifact.state().status.as_ref()?.filled()?;
        let kind = artifact.lifecycle()?.kind.as_ref()?;
        let is_renamed = kind.renamed.iter().any(|own| folded(own) == folded(old));
        is_renamed.then_some((artifact.path(), old, artifact.lifecycle_state()?.name.as_str()))
    }
    found.artifacts.iter().filter_map(of).collect()
}

fn write_new_names(project: &Project, output: &Output) -> Result<(), Failure> {
    for (path, old, new) in renamed(&project.workspace.artifacts()?) {
        let assignments = vec![(KeyPath::key("status"), Value::from(new))];
        let reason = ChangeReason::said(Some(format!("the state `{old}` is called `{new}` now")));
        project.workspace.execute(path, &Command::Set { assignments }, Strictness::Warn, reason)?;
        output.line(format_args!("{path}: {old} → {new}"));
    }
    Ok(())
}

/// A pack's file has the pack's name.
fn name_of(file: &Path) -> Result<String, Failure> {
    let stem = file.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".yaml"));
    stem.map(str::to_owned).ok_or_else(|| {
        let message = format!("`{}` is not the file of a pack: it is called NAME.yaml", file.display());
        Failure::new(Exit::Usage, message)
    })
}

fn new(project: &Project, name: &str, output: &Output) -> Result<Exit, Failure> {
    let text = PackDeclaration::template(name);
    let workspace = project.workspace.with_pack(name, text.clone().into_bytes())?;
    moves::refuse_taken_words(workspace.configuration().packs())?;
    let schema = format!("{:#}\n", PackDeclaration::schema());
    project.workspace.make_pack(name, &text, &schema)?;
    output.line(format_args!("{PACKS_FOLDER}/{name}.yaml"));
    output.remark(format_args!(
        "change it, then `stepmark pack check`; `stepmark {name} --help` lists its moves"
    ));
    Ok(Exit::Fine)
}
