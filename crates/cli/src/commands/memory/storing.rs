//! `stepmark memory status` and `rebuild`

use serde_json::json;
use stepmark_memory::{Memory, context::plain, delivery::StoreState, store::Counts};

use super::{open, stores::Store};
use crate::{
    exit::{Exit, Failure},
    output::{Output, wording},
    project::Project,
};

const SCHEMA: &str = "stepmark.memory-status/1";

pub(super) fn status(project: &Project, output: &Output) -> Result<Exit, Failure> {
    let memory = open(project)?;
    let stores = Store::all(&project.workspace, None, &memory)?;
    let units = if stores.is_empty() { Vec::new() } else { memory.units()? };
    let states =
        stores.iter().map(|store| Ok((store.name.to_string(), store.state(&project.workspace, &units)?)));
    let states = states.collect::<Result<Vec<_>, Failure>>()?;
    told(memory.counts()?, &states, project, output)
}

pub(super) fn rebuild(project: &Project, output: &Output) -> Result<Exit, Failure> {
    told(Memory::rebuilt(&project.workspace)?.counts()?, &[], project, output)
}

fn told(
    counts: Counts,
    stores: &[(String, StoreState)],
    project: &Project,
    output: &Output,
) -> Result<Exit, Failure> {
    let track = project.workspace.configuration().memory.track;
    output.json_or(
        SCHEMA,
        || {
            let stores: serde_json::Map<_, _> =
                stores.iter().map(|(name, state)| (name.clone(), json!(state))).collect();
            json!({"counts": counts, "track": format!("{track:?}").to_lowercase(), "stores": stores})
        },
        || {
            let count =
                |number: u64, word| wording::count(usize::try_from(number).unwrap_or(usize::MAX), word);
            output.line(format_args!(
                "{} ({} superseded), {}, {}; made of {}",
                count(counts.memories, "record"),
                counts.superseded,
                count(counts.nodes, "node"),
                count(counts.edges, "edge"),
                count(counts.events, "event"),
            ));
            stores.iter().for_each(|(name, state)| output.line(line(name, state)));
        },
    );
    Ok(Exit::Fine)
}

const MOST: usize = 5;

fn line(name: &str, state: &StoreState) -> String {
    let mut line = format!("{name}  {} of {} given", state.held, wording::count(state.units, "unit"));
    if let Some(until) = state.open_until {
        line.push_str(&format!(", left alone until {until:.0}"));
    }
    if let Some(failure) = &state.failure {
        line.push_str(&format!("\n    failed last: {}", plain(failure, 300)));
    }
    for behind in state.behind.iter().take(MOST) {
        let when = match (behind.is_parked, behind.until, behind.attempts) {
            (true, ..) => format!(", tried {} times, no more", behind.attempts),
            (_, Some(until), _) => format!(", tried again from {until:.0} on"),
            (_, None, _) => String::new(),
        };
        let why =
            behind.failure.as_deref().map(|failure| format!(": {}", plain(failure, 200))).unwrap_or_default();
        line.push_str(&format!("\n    lacks {:.8}  {}{when}{why}", behind.key, plain(&behind.label, 60)));
    }
    if state.behind.len() > MOST {
        line.push_str(&format!(
            "\n    and {} more: `stepmark memory sync` gives them",
            state.behind.len() - MOST
        ));
    }
    line
}
