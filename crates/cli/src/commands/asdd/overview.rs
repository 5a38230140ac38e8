//! `stepmark asdd status`, `heartbeat`, `monitor` and `rebuild`

use clap::Args;
use serde_json::json;
use stepmark_model::asdd::{Record, Verdict};
use stepmark_store::asdd::{Asdd, AsddStatus};

use super::{agent, report};
use crate::{
    commands::followed_files,
    exit::{Exit, Failure},
    output::{Output, table, wording},
    project::Project,
};

pub(super) fn status(asdd: &Asdd<'_>, _: &Project, output: &Output) -> Result<Exit, Failure> {
    let AsddStatus { state, signals, drift, held_up: held, .. } = asdd.status()?;
    let mut waiting = asdd.proposals()?;
    waiting.retain(|proposal| proposal.verdict == Verdict::Pending);
    let standing = |slice: &Record| match drift.contains(&slice.id) {
        true => format!("{}, changed in the manifest", report::standing(slice)),
        false => match held.get(&slice.id) {
            Some(reason) => format!("{}, {reason}", report::standing(slice)),
            None => report::standing(slice),
        },
    };
    output.json_or(
        "stepmark.asdd/1",
        || {
            let slices: Vec<_> = state.slices.iter().map(report::wire).collect();
            json!({
                "project": state.project.values,
                "slices": slices,
                "heartbeats": signals,
                "drift": drift,
                "held_up": held,
                "proposals": waiting,
            })
        },
        || {
            let text = |key: &str| state.project.text(key).unwrap_or("-").to_owned();
            output.line(format_args!(
                "sprint {}, {}",
                text("current_sprint"),
                wording::count(state.slices.len(), "slice")
            ));
            let row = |slice: &Record| {
                let ccs = slice.values.get("ccs").map_or("-".to_owned(), ToString::to_string);
                vec![
                    slice.id.clone(),
                    slice.text("type").unwrap_or("-").to_owned(),
                    standing(slice),
                    ccs,
                    slice.blocker_count().to_string(),
                    slice.text("name").unwrap_or("-").to_owned(),
                ]
            };
            let head = ["SLICE", "TYPE", "PHASE", "CCS", "BLOCKERS", "NAME"];
            output.line(table(&head, state.slices.iter().map(row)));
            for proposal in &waiting {
                let next = state.slice(&proposal.slice_id).map(|slice| report::next(proposal, slice));
                output.line(format_args!(
                    "{} waits, of {} for {}: {}",
                    proposal.proposal_id,
                    proposal.agent,
                    proposal.slice_id,
                    next.unwrap_or_else(|| "its slice is gone".to_owned())
                ));
            }
            for signal in signals.values() {
                let status = signal.status.as_deref().unwrap_or("ACTIVE");
                let current = signal.current.as_ref().map(|slice| format!(", {slice}")).unwrap_or_default();
                output.line(format_args!("{}: {status}{current}, {}", signal.agent, signal.at));
            }
        },
    );
    Ok(Exit::Fine)
}

/// Note that an agent is alive, and what it is at
#[derive(Debug, Args)]
pub(super) struct Heartbeat {
    /// The agent; without it the actor of the command
    agent: Option<String>,
    /// The slice that it works on; without it the agent is idle
    #[arg(long)]
    slice: Option<String>,
    /// The wave of the tasks that it is at
    #[arg(long)]
    wave: Option<i64>,
    /// The tasks that it has done
    #[arg(long)]
    done: Option<i64>,
    /// The tasks that are left
    #[arg(long)]
    remaining: Option<i64>,
}

impl Heartbeat {
    pub(super) fn run(
        &self,
        (asdd, project): (&Asdd<'_>, &Project),
        output: &Output,
    ) -> Result<Exit, Failure> {
        let agent = agent(project, self.agent.as_deref())?;
        let numbers = [
            ("current_wave", self.wave),
            ("tasks_completed", self.done),
            ("tasks_remaining", self.remaining),
        ];
        let numbers: Vec<(&str, i64)> =
            numbers.into_iter().filter_map(|(key, number)| Some((key, number?))).collect();
        let files = asdd.heartbeat(&agent, (None, self.slice.as_deref()), &numbers)?;
        Ok(followed_files::told(&files, "asdd", output))
    }
}

pub(super) fn monitor(asdd: &Asdd<'_>, output: &Output) -> Result<Exit, Failure> {
    let found = asdd.monitor()?;
    output.json_or(
        "stepmark.asdd-monitor/1",
        || {
            let silent = |(agent, times): &(String, u64)| json!({"agent": agent, "times": times});
            let blocked = |(slice, reason): &(String, String)| json!({"slice": slice, "reason": reason});
            json!({
                "silent": found.silent.iter().map(silent).collect::<Vec<_>>(),
                "blocked": found.blocked.iter().map(blocked).collect::<Vec<_>>(),
            })
        },
        || {
            for (agent, times) in &found.silent {
                output.line(format_args!(
                    "{agent} is silent; its time has run out {}",
                    wording::count(usize::try_from(*times).unwrap_or(usize::MAX), "time")
                ));
            }
            for (slice, reason) in &found.blocked {
                output.line(format_args!("{slice}: BLOCKED, {reason}"));
            }
        },
    );
    Ok(if found.blocked.is_empty() { Exit::Fine } else { Exit::Findings })
}

pub(super) fn rebuild(asdd: &Asdd<'_>, output: &Output) -> Result<Exit, Failure> {
    let rebuilt = asdd.rebuild()?;
    output.json_or(
        "stepmark.asdd-rebuild/1",
        || json!({"from_history": rebuilt.from_history, "from_files": rebuilt.from_files}),
        || {
            for id in &rebuilt.from_history {
                output.line(format_args!("{id}: as history knows it"));
            }
            for id in &rebuilt.from_files {
                output.line(format_args!(
                    "{id}: from its files; `stepmark asdd review {id} KEY=VALUE` says what they do not tell"
                ));
            }
        },
    );
    Ok(Exit::Fine)
}
