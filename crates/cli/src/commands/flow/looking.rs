//! `stepmark flow show`, `why`, `events`, `replay`

use std::collections::BTreeSet;

use clap::Subcommand;
use serde_json::json;
use stepmark_model::{flows::why, journal::HistoryState};
use stepmark_store::{
    flows::{FlowError, FlowRecordsError, Flows},
    replay::Replayed,
};

use super::{
    TaskArgument,
    events::Events,
    flow_id,
    report::{self, Context},
};
use crate::{
    exit::{Exit, Failure, chain},
    output::{Output, history, on_one_line},
    project::Project,
};

#[derive(Debug, Subcommand)]
pub(super) enum Looking {
    /// Show a flow with its tasks; without a flow, all flows
    Show {
        /// The flow
        flow: Option<String>,
        /// As it was after this event
        #[arg(long, value_name = "EVENT", requires = "flow")]
        at: Option<String>,
    },
    /// Say why a task is in its status: what it waits for, which check failed, who stopped it
    Why(TaskArgument),
    Events(Events),
    /// Replay the events of a flow and compare with its records; ends with 1 where they differ
    Replay {
        /// The flow
        flow: String,
        /// Compare (it is always done)
        #[arg(long)]
        verify: bool,
    },
}

impl Looking {
    pub(super) fn run(&self, flows: &Flows<'_>, project: &Project, output: &Output) -> Result<Exit, Failure> {
        match self {
            Self::Show { flow: Some(flow), at } => Ok(match at {
                Some(event) => report::flow(&flows.state_at(&flow_id(flows, flow)?, event)?, None, output),
                None => report::flow(
                    &flows.state(&flow_id(flows, flow)?)?,
                    Some(&context(flows, project)),
                    output,
                ),
            }),
            Self::Show { flow: None, .. } => {
                let warn = |id: &str, error: &FlowRecordsError| {
                    let back = format!("`stepmark flow restore {id}` brings back what was");
                    output.warning(format_args!("{}; {back}", chain(error)));
                };
                let state = |id: &String| flows.state(id).inspect_err(|error| warn(id, error)).ok();
                Ok(report::flows(&flows.ids().iter().filter_map(state).collect::<Vec<_>>(), output))
            }
            Self::Why(task) => {
                let (flow, task) = task.both(flows)?;
                let told = why(&flows.state(&flow)?, &task).map_err(FlowError::from)?;
                output.json_or(
                    "stepmark.flow-why/1",
                    || json!({"task": told.task, "status": told.status, "reasons": told.reasons}),
                    || {
                        output.line(format_args!("{}  {}", told.task, told.status));
                        told.reasons.iter().for_each(|reason| output.line(format_args!("  {reason}")));
                    },
                );
                Ok(Exit::Fine)
            }
            Self::Events(events) => events.run(flows, project, output),
            Self::Replay { flow, .. } => {
                let flow = flow_id(flows, flow)?;
                let sessions = flows.events(&flow)?.into_iter().filter_map(|told| told.event.session);
                let sessions: BTreeSet<String> = sessions.collect();
                Ok(replayed((&flow, &sessions), &flows.replay(&flow)?, output))
            }
        }
    }
}

/// The facts about the project, which stand in no record of a flow.
fn context(flows: &Flows<'_>, project: &Project) -> Context {
    let configuration = project.workspace.configuration();
    Context {
        project_id: configuration.project_id.clone(),
        project: configuration.project.clone(),
        constitution: flows.constitution(),
    }
}

fn replayed((flow, sessions): (&str, &BTreeSet<String>), records: &[Replayed], output: &Output) -> Exit {
    let word = |record: &Replayed| match record.state {
        HistoryState::Current { .. } => "current",
        HistoryState::Earlier { .. } => "earlier",
        HistoryState::Merged { .. } => "merged",
        HistoryState::Unexplained { .. } => "unexplained",
        HistoryState::NoHistory => "no-history",
    };
    let is_odd = |record: &&Replayed| {
        matches!(record.state, HistoryState::Unexplained { .. } | HistoryState::NoHistory)
            || !record.damage.is_empty()
    };
    let odd: Vec<&Replayed> = records.iter().filter(is_odd).collect();
    let events: usize = records.iter().map(|record| record.events).sum();
    output.json_or(
        "stepmark.flow-replay/1",
        || {
            let wire = |record: &Replayed| {
                json!({
                    "path": record.path,
                    "state": word(record),
                    "events": record.events,
                    "changes": record.changes,
                    "damage": record.damage.iter().map(ToString::to_string).collect::<Vec<_>>(),
                })
            };
            json!({"flow": flow, "is_equal": odd.is_empty(), "events": events,
                "event_log": sessions,
                "records": records.iter().map(wire).collect::<Vec<_>>()})
        },
        || {
            let is_unknown = |record: &&Replayed| matches!(record.state, HistoryState::NoHistory);
            if !odd.is_empty() && records.iter().all(|record| is_unknown(&record)) {
                let count = records.len();
                return output.line(format_args!(
                    "{flow}: no event of its {count} records is known here: the sealed journal (`.stepmark/journal/`) did not come with them"
                ));
            }
            for record in &odd {
                output.line(format_args!(
                    "{}: SMF07 its events lead to another state: {}",
                    record.path,
                    word(record)
                ));
                record.changes.iter().for_each(|change| {
                    output.line(format_args!("  {}", on_one_line(&history::change(change))))
                });
                record.damage.iter().for_each(|damage| output.line(format_args!("  {damage}")));
            }
            let equal = records.len() - odd.len();
            output.remark(format_args!(
                "{flow}: {equal} of {} records are what {events} events lead to",
                records.len()
            ));
        },
    );
    if odd.is_empty() { Exit::Fine } else { Exit::Findings }
}
