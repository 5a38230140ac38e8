//! `stepmark lifecycle`

use std::sync::Arc;

use clap::{Args, Subcommand, ValueEnum};
use stepmark_model::{
    lifecycle::{Attributes, Counter, Lifecycle as Table, LifecycleState, Lifecycles, Move, built_in},
    spelling::listed,
};

use crate::{
    exit::{Exit, Failure},
    output::{ListArguments, Output, Row, svg, table},
    project::Project,
};

/// Show what statuses mean: the tables of states and legal moves
///
/// Some are built in; `lifecycles` in `.stepmark/config.yaml` declares others, and says which artifacts they
/// apply to. `stepmark transition ARTIFACT` says which one an artifact has, and why.
#[derive(Debug, Args)]
pub(crate) struct Lifecycle {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// List all lifecycles
    List(ListArguments),
    /// Show one: its states, its moves and what they want
    Show {
        /// Its name
        name: String,
    },
    /// Draw one
    Graph {
        /// Its name
        name: String,
        /// The form of the picture
        #[arg(long, value_name = "FORM", default_value = "mermaid")]
        format: Format,
    },
}

/// The form of a picture.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Text that GitHub and many editors draw
    Mermaid,
    /// A picture
    Svg,
}

impl Lifecycle {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let lifecycles = project.workspace.configuration().lifecycles();
        match &self.task {
            Task::List(list) => self::list(lifecycles, list, output)?,
            Task::Show { name } => show(find(lifecycles, name)?, output),
            Task::Graph { name, format } => {
                let lifecycle = find(lifecycles, name)?;
                let text = match format {
                    Format::Mermaid => svg::state_diagram(lifecycle),
                    Format::Svg => svg::picture(lifecycle),
                };
                let answer = || Answer::Graph { name: lifecycle.name(), graph: &text };
                output.answer_or(answer, || output.bytes(text.as_bytes()));
            }
        }
        Ok(Exit::Fine)
    }
}

fn find<'l>(lifecycles: &'l Lifecycles, name: &str) -> Result<&'l Arc<Table>, Failure> {
    lifecycles.get(name).ok_or_else(|| {
        let names: Vec<String> = lifecycles.all().map(|table| format!("`{}`", table.name())).collect();
        Failure::new(Exit::Usage, format!("there is no lifecycle `{name}`"))
            .with_help(format!("there are {}", names.join(", ")))
    })
}

fn list(lifecycles: &Lifecycles, list: &ListArguments, output: &Output) -> Result<(), Failure> {
    let source = |table: &Table| if is_built_in(table) { "built in" } else { "declared" };
    let answer = |lifecycles, more| Answer::List { lifecycles, more };
    let mut tables: Vec<_> = lifecycles.all().collect();
    list.answer(
        output,
        &mut tables,
        |table| TableRow::of(table),
        answer,
        |tables| {
            let rows = tables.iter().map(|table| {
                let states: Vec<&str> = table.states().iter().map(|state| state.name.as_str()).collect();
                vec![table.name().to_owned(), source(table).to_owned(), states.join(", ")]
            });
            output.line(self::table(&["LIFECYCLE", "SOURCE", "STATES"], rows));
        },
    )
}

fn show(lifecycle: &Table, output: &Output) {
    output.answer(|| Answer::Show(TableRow::of(lifecycle)));
    if let Some(title) = lifecycle.title() {
        output.line(title);
    }
    let dash = || "-".to_owned();
    let rows = lifecycle.states().iter().map(|state| {
        let moves = lifecycle.moves_from(state, None);
        let moves: Vec<String> = moves.iter().map(shown).collect();
        let or_dash = |text: String| if text.is_empty() { dash() } else { text };
        vec![
            state.name.clone(),
            state.rank.map_or_else(dash, |rank| rank.to_string()),
            or_dash(state.synonyms.join(", ")),
            or_dash(moves.join(", ")),
            or_dash(notes(state)),
        ]
    });
    output.line(table(&["STATE", "RANK", "SYNONYMS", "GOES TO", "MEANING"], rows));
    for counter in lifecycle.counters() {
        let limit = counter.at_most.as_ref();
        let limit = limit.map_or(String::new(), |most| format!(", {most} times at most"));
        let from = counter.leaving.join(", ");
        let from = if from.is_empty() { from } else { format!(" from {from}") };
        let (key, entering) = (&counter.key, counter.entering.join(", "));
        output.line(format_args!("`{key}` counts entering {entering}{from}{limit}"));
    }
    attributes(lifecycle.attributes()).iter().for_each(|line| output.line(line));
}

fn attributes(attributes: &Attributes) -> Vec<String> {
    let Attributes { append_only, by_moves, closed, writers, approvers } = attributes;
    let grows = append_only.iter().map(|key| format!("`{key}` only grows"));
    let closed = closed.iter().map(|(key, known)| format!("under `{key}` stand only {}", listed(known)));
    let writers = writers.iter().map(|role| format!("only the role `{role}` changes it"));
    let approvers = approvers.iter().map(|role| format!("the role `{role}` approves"));
    let moves = by_moves.iter().map(|key| format!("an agent changes `{key}` by moves alone"));
    grows.chain(moves).chain(closed).chain(writers).chain(approvers).collect()
}

fn shown(legal: &Move<'_>) -> String {
    let guards: Vec<String> = legal.guards.iter().map(ToString::to_string).collect();
    match (legal.is_return, guards.as_slice()) {
        (true, _) => format!("{} (back)", legal.to.name),
        (false, []) => legal.to.name.clone(),
        (false, guards) => format!("{} ({})", legal.to.name, guards.join(", ")),
    }
}

fn notes(state: &LifecycleState) -> String {
    let mut notes: Vec<String> = state.meaning.iter().cloned().collect();
    if state.is_initial {
        notes.push("begins here".to_owned());
    }
    if state.is_terminal {
        notes.push("ends here".to_owned());
    }
    if state.is_frozen {
        notes.push("only a move changes it".to_owned());
    }
    if !state.return_to.is_empty() {
        let keys: Vec<String> = state.return_to.iter().map(|key| format!("`{key}`")).collect();
        notes.push(format!("goes back to the state in {}", keys.join(" or ")));
    }
    notes.join("; ")
}

/// A declared table never has the name of a built-in one.
fn is_built_in(table: &Table) -> bool {
    built_in(table.name()).is_some()
}

answers! { Answer<'a>
    /// `lifecycle list`: all lifecycles
    "stepmark.lifecycles/2" List { lifecycles: Vec<Row<TableRow<'a>>>, more: usize }
    /// `lifecycle show`: states and moves
    "stepmark.lifecycle/2" Show (TableRow<'a>)
    /// `lifecycle graph`: a graph as Mermaid or SVG
    "stepmark.lifecycle-graph/1" Graph { name: &'a str, graph: &'a str }
    struct TableRow<'a> {
        name: &'a str, title: Option<&'a str>, built_in: bool, states: Vec<StateRow<'a>>,
        counters: &'a [Counter], #[serde(flatten)] attributes: &'a Attributes,
    }
    struct StateRow<'a> { #[serde(flatten)] state: &'a LifecycleState, moves: Vec<MoveRow<'a>> }
    struct MoveRow<'a> { to: &'a str, pub(crate) guards: Vec<String>, pub(crate) is_return: bool }
}

impl<'a> MoveRow<'a> {
    pub(crate) fn of(legal: &Move<'a>) -> Self {
        let guards = legal.guards.iter().map(ToString::to_string).collect();
        Self { to: &legal.to.name, guards, is_return: legal.is_return }
    }
}

impl<'a> TableRow<'a> {
    fn of(lifecycle: &'a Table) -> Self {
        let state = |state: &'a LifecycleState| StateRow {
            state,
            moves: lifecycle.moves_from(state, None).iter().map(MoveRow::of).collect(),
        };
        Self {
            name: lifecycle.name(),
            title: lifecycle.title(),
            built_in: is_built_in(lifecycle),
            states: lifecycle.states().iter().map(state).collect(),
            counters: lifecycle.counters(),
            attributes: lifecycle.attributes(),
        }
    }
}
