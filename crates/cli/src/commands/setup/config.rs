//! `stepmark config`

use crate::{
    environment::new_id,
    exit::{Exit, Failure},
    output::{ListArguments, Output, Row, spinner, table},
    project::Project,
};
use clap::{Args, Subcommand};
use serde_json::Value as Json;
use stepmark_store::{
    changes::Initialised,
    configuration::{Configuration, ConfiguredValue, Origin, UnknownKey, VARIABLES, Variable},
    disk::CONFIGURATION_PATH,
};

/// Show the configuration that counts
///
/// Layers, the weakest first: built-in defaults, `$XDG_CONFIG_HOME/stepmark/config.yaml` (else
/// `~/.config/stepmark/config.yaml`), `.stepmark/config.yaml` of the project, environment variables
/// (`STEPMARK_` and the key in capitals, `_` for `.`: `STEPMARK_LEASE_SECONDS`), `--config KEY=VALUE`.
#[derive(Debug, Args)]
pub(crate) struct Config {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Print every value that counts
    Show {
        /// Also say where each value comes from: layer, file and line
        #[arg(long)]
        origin: bool,
        #[command(flatten)]
        list: ListArguments,
    },
    /// Print every variable, its side (static: configuration; dynamic: frontmatter or run time), and the
    /// environment variable that gives it a value
    Variables(ListArguments),
    /// Print the JSON Schema (draft 2020-12) of `.stepmark/config.yaml`, for editors
    ///
    /// Write it to a file, and name that in the first line of the configuration:
    /// `# yaml-language-server: $schema=config.schema.json`.
    Schema,
}

impl Config {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        match &self.task {
            Task::Show { origin, list } => show(project, output, *origin, list)?,
            Task::Variables(list) => print_variables(output, list)?,
            // It is JSON with or without `--json`.
            Task::Schema => output.bytes(format!("{:#}\n", Configuration::schema()).as_bytes()),
        }
        Ok(Exit::Fine)
    }
}

fn show<'c>(
    project: &'c Project,
    output: &Output,
    origin: bool,
    list: &ListArguments,
) -> Result<(), Failure> {
    let configuration = project.workspace.configuration();
    let mut values = configuration.effective_values();
    let more = list.cut(&mut values);
    if output.json {
        let unknown =
            |own: &'c UnknownKey| UnknownRow { key: &own.key, file: own.file.display().to_string() };
        let values = list.keep_fields(values.iter().map(ValueRow::of))?;
        output.answer(|| Answer::Config {
            root: project.root().path().display().to_string(),
            files: configuration.sources().map(|(file, _)| file.display().to_string()).collect(),
            values,
            more,
            unknown_keys: configuration.unknown_keys().iter().map(unknown).collect(),
        });
    }
    let columns = if origin { 3 } else { 2 };
    let row = |value: &ConfiguredValue| [value.key.clone(), value.text(), value.origin.to_string()];
    let rows = values.iter().map(|value| row(value)[..columns].to_vec());
    output.line(table(&["KEY", "VALUE", "ORIGIN"][..columns], rows));
    list.remark_more(more, output);
    Ok(())
}

/// One table for both sides; time-valued keys are dynamic too.
fn print_variables(output: &Output, list: &ListArguments) -> Result<(), Failure> {
    let row = |variable: &&'static Variable| VariableRow {
        name: &variable.name,
        side: variable.side.to_string(),
        environment: variable.environment.as_deref(),
        meaning: variable.meaning,
    };
    let answer = |variables, more| Answer::Variables { variables, more };
    list.answer(output, &mut VARIABLES.iter().collect(), row, answer, |variables| {
        let rows = variables.iter().map(|variable| {
            let environment = variable.environment.as_deref().unwrap_or("-");
            [&variable.name, &*variable.side.to_string(), environment, variable.meaning]
                .map(str::to_owned)
                .to_vec()
        });
        output.line(table(&["VARIABLE", "SIDE", "ENVIRONMENT", "MEANING"], rows));
    })
}

answers! { Answer<'a>
    /// `config show`: the configuration that counts
    "stepmark.config/1" Config {
        root: String, files: Vec<String>, values: Vec<Row<ValueRow<'a>>>, more: usize,
        unknown_keys: Vec<UnknownRow<'a>>,
    }
    /// `config variables`: all keys
    "stepmark.config-variables/1" Variables { variables: Vec<Row<VariableRow<'a>>>, more: usize }
    /// `init`: the configuration file
    "stepmark.init/1" Init { root: String, configuration: &'a str, created: bool }
    struct UnknownRow<'a> { key: &'a str, file: String }
    struct VariableRow<'a> { name: &'a str, side: String, environment: Option<&'a str>, meaning: &'a str }
    struct ValueRow<'a> {
        key: &'a str, value: Json, layer: &'static str, file: Option<String>, line: Option<usize>,
        column: Option<usize>, variable: Option<&'a str>,
    }
}

impl<'a> ValueRow<'a> {
    fn of(value: &'a ConfiguredValue) -> Self {
        let place = value.origin.place();
        let variable = match &value.origin {
            Origin::Environment { variable } => Some(&**variable),
            _ => None,
        };
        Self {
            key: &value.key,
            value: value.value.to_json(),
            layer: value.origin.layer(),
            file: place.map(|place| place.file.display().to_string()),
            line: place.map(|place| place.position.line),
            column: place.map(|place| place.position.column),
            variable,
        }
    }
}

/// Make `.stepmark/config.yaml` with a project id
///
/// Everything works without it; it is the place for artifact patterns, declared workflows and the project's
/// identity. At the top of a repository with several projects below each gets one of its own; `--root .`
/// makes one project of all.
#[derive(Debug, Args)]
pub(crate) struct Init {}

impl Init {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let initialised = project.workspace.initialise(&new_id())?;
        let root = project.root().path().display();
        let created = matches!(initialised, Initialised::Created);
        output.answer(|| Answer::Init { root: root.to_string(), configuration: CONFIGURATION_PATH, created });
        match initialised {
            Initialised::Created => output.remark(format_args!("created {CONFIGURATION_PATH} in {root}")),
            Initialised::Existing => {
                output.remark(format_args!("{CONFIGURATION_PATH} is there already in {root}"))
            }
        }
        // Nothing follows the frontmatter yet.
        let waiting = project.workspace.artifacts()?.artifacts;
        let waiting = waiting.iter().filter(|artifact| artifact.waits_for_import()).count();
        spinner::waiting_stories(waiting).iter().for_each(|waiting| output.warning(waiting));
        Ok(Exit::Fine)
    }
}
