//! `stepmark flow events`

use std::{collections::HashSet, sync::mpsc, time::Duration};

use clap::Args;
use serde_json::{Value as Json, json};
use stepmark_model::flows::{FlowFact, FollowingEvent, following_events};
use stepmark_store::{
    flows::{FlowEvent, Flows},
    watching::{ProjectWatch, WatchChoice},
};

use super::flow_id;
use crate::{
    exit::{Exit, Failure},
    output::{ListArguments, Output},
    project::Project,
    watch::journal_folders,
};

const EVENTS: &str = "stepmark.flow-events/1";

/// The interval at which events are looked for though nothing tells of a change.
const REGULARLY: Duration = Duration::from_secs(5);

const SETTLED: Duration = Duration::from_millis(15);

/// List the events of a flow, the first first, and what follows from each: tasks that are ready or blocked
#[derive(Debug, Args)]
pub(super) struct Events {
    /// The flow
    flow: String,
    /// Go on with new events as they are written, until interrupted; with --json an answer a line
    #[arg(long, conflicts_with = "limit")]
    follow: bool,
    #[command(flatten)]
    list: ListArguments,
}

type Told = (FlowEvent, Vec<FollowingEvent>);

impl Events {
    pub(super) fn run(&self, flows: &Flows<'_>, project: &Project, output: &Output) -> Result<Exit, Failure> {
        if self.follow {
            return self.followed(flows, project, output);
        }
        let list = (output, EVENTS, "events");
        self.list.answer(list, self.all(flows)?, wire, |told| {
            told.iter().for_each(|told| output.line(line(told)));
        })?;
        Ok(Exit::Fine)
    }

    fn all(&self, flows: &Flows<'_>) -> Result<Vec<Told>, Failure> {
        let flow = flow_id(flows, &self.flow)?;
        let events = flows.events(&flow)?;
        let following = following_events(&flows.state(&flow)?, events.iter().map(fact));
        Ok(events.into_iter().zip(following).collect())
    }

    fn followed(&self, flows: &Flows<'_>, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let (sender, changes) = mpsc::channel();
        let beside = journal_folders(&project.workspace).to_vec();
        let choice = WatchChoice { beside, ..WatchChoice::default() };
        // Trouble of the watch needs no word: events are looked for all the same.
        let _watch = ProjectWatch::start(&project.workspace, choice, move |_| {
            let _heard = sender.send(());
        });
        let mut known = HashSet::new();
        while output.is_read() {
            let mut new = self.all(flows)?;
            new.retain(|(told, _)| known.insert(told.event.id));
            for told in &new {
                let wire = || self.list.keep_fields(vec![wire(told)]);
                match output.json {
                    true => output.json(EVENTS, json!({"events": wire()?, "more": 0})),
                    false => output.line(line(told)),
                }
            }
            if changes.recv_timeout(REGULARLY).is_ok() {
                while changes.recv_timeout(SETTLED).is_ok() {}
            }
        }
        Ok(Exit::Fine)
    }
}

fn fact(told: &FlowEvent) -> FlowFact {
    let event = &told.event;
    let said = |key: &str| event.data.get(key).and_then(Json::as_str).map(str::to_owned);
    FlowFact {
        kind: event.kind.as_str().to_owned(),
        command: event.command.clone(),
        task: event.context().task,
        to: said("to"),
        constitution: said("constitution"),
    }
}

fn wire((told, following): &Told) -> Json {
    let event = &told.event;
    let following: Vec<Json> =
        following.iter().map(|one| json!({"kind": one.kind, "task": one.task})).collect();
    json!({
        "id": event.id,
        "at": event.at,
        "kind": event.kind,
        "actor": event.actor,
        "path": told.path,
        "command": event.command,
        "reason": event.reason,
        "data": event.data,
        "following": following,
    })
}

fn line((told, following): &Told) -> String {
    let event = &told.event;
    let context = event.context();
    let about = context.task.or(context.flow).unwrap_or_else(|| told.path.to_string());
    let also = event.data.get("then").and_then(Json::as_str).map(str::to_owned);
    let of = |one: &FollowingEvent| match &one.task {
        Some(task) => format!("{} {task}", one.kind),
        None => one.kind.to_owned(),
    };
    let also: String =
        also.into_iter().chain(following.iter().map(of)).map(|told| format!(", {told}")).collect();
    let id = event.id.to_string();
    format!("{}  {}  {about}  {}{also}  {}", event.at, &id[..8], event.kind.as_str(), event.actor)
}
