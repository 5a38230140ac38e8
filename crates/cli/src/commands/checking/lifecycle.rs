//! `stepmark lifecycle`

use std::sync::Arc;

use clap::{Args, Subcommand, ValueEnum};
use stepmark_model::{
    lifecycle::{Attributes, CounterLimit, Lifecycle as Table, LifecycleState, Lifecycles, Move, built_in},
    spelling::listed,
};

use crate::{
    exit::{Exit, Failure},
    output::{ListArguments, Output, svg, table},
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
                let wire = || serde_json::json!({"name": lifecycle.name(), "graph": text});
                output.json_or("stepmark.lifecycle-graph/1", wire, || output.bytes(text.as_bytes()));
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
    let answer = (output, "stepmark.lifecycles/2", "lifecycles");
    list.answer(
        answer,
        lifecycles.all().collect(),
        |table| table_wire(table),
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
    output.json_or(
        "stepmark.lifecycle/2",
        || table_wire(lifecycle),
        || {
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
        },
    );
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

pub(crate) fn move_wire(legal: &Move<'_>) -> serde_json::Value {
    serde_json::json!({
        "to": legal.to.name,
        "guards": legal.guards.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "is_return": legal.is_return,
    })
}

fn table_wire(lifecycle: &Table) -> serde_json::Value {
    let state = |state: &LifecycleState| {
        serde_json::json!({
            "name": state.name,
            "synonyms": state.synonyms,
            "meaning": state.meaning,
            "rank": state.rank,
            "initial": state.is_initial,
            "terminal": state.is_terminal,
            "frozen": state.is_frozen,
            "return_to": state.return_to,
            "moves": lifecycle.moves_from(state, None).iter().map(move_wire).collect::<Vec<_>>(),
        })
    };
    let counters: Vec<_> = lifecycle
        .counters()
        .iter()
        .map(|counter| {
            serde_json::json!({
                "key": counter.key,
                "entering": counter.entering,
                "at_most": counter.at_most.as_ref().map(|limit| match limit {
                    CounterLimit::Number(number) => serde_json::json!(number),
                    CounterLimit::Key(key) => serde_json::json!(key),
                }),
                "reset_by": counter.reset_by,
            })
        })
        .collect();
    serde_json::json!({
        "name": lifecycle.name(),
        "title": lifecycle.title(),
        "built_in": is_built_in(lifecycle),
        "states": lifecycle.states().iter().map(state).collect::<Vec<_>>(),
        "counters": counters,
        "append_only": lifecycle.attributes().append_only,
        "by_moves": lifecycle.attributes().by_moves,
        "closed": lifecycle.attributes().closed,
        "writers": lifecycle.attributes().writers,
        "approvers": lifecycle.attributes().approvers,
    })
}
