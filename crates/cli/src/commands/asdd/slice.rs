//! Commands of `stepmark asdd` on one slice.

use clap::{Args, Subcommand};
use serde_json::{Map, Value as Json};
use stepmark_model::{
    asdd::{Failure as AgentFailure, slice_move},
    packs::MoveCall,
};
use stepmark_store::{asdd::Asdd, records::SystemError};

use super::{agent, report};
use crate::{
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};

/// Show a slice with all that it says
#[derive(Debug, Args)]
pub(super) struct Show {
    /// The slice
    slice: String,
}

impl Show {
    pub(super) fn run(&self, asdd: &Asdd<'_>, output: &Output) -> Result<Exit, Failure> {
        let state = asdd.state()?;
        let slice = state
            .slice(&self.slice)
            .ok_or_else(|| SystemError::Unknown { what: "slice", id: self.slice.clone() })?;
        report::slice(slice, output);
        Ok(Exit::Fine)
    }
}

/// Add a slice in DISCOVERY
#[derive(Debug, Args)]
pub(super) struct Add {
    /// What it is about
    name: String,
    /// `FEATURE`, `RETRO_SPEC`, `BUG_FIX` or `IMPROVEMENT`
    #[arg(long = "type", default_value = "FEATURE", value_parser = ["FEATURE", "RETRO_SPEC", "BUG_FIX", "IMPROVEMENT"])]
    kind: String,
    /// Its id; without it the next free one, `SLICE-001`
    #[arg(long)]
    id: Option<String>,
}

impl Add {
    pub(super) fn run(&self, asdd: &Asdd<'_>, output: &Output) -> Result<Exit, Failure> {
        add(asdd, self.id.as_deref(), (&self.name, &self.kind), "DISCOVERY", output)
    }
}

pub(super) fn add(
    asdd: &Asdd<'_>,
    id: Option<&str>,
    (name, kind): (&str, &str),
    status: &str,
    output: &Output,
) -> Result<Exit, Failure> {
    let prefix = if kind == "RETRO_SPEC" { "RETRO" } else { "SLICE" };
    let state = if id.is_none() { Some(asdd.state()?) } else { None };
    let is_free = |id: &String| state.as_ref().is_some_and(|state| state.slice(id).is_none());
    let mut free = (1u32..).map(|number| format!("{prefix}-{number:03}")).filter(is_free);
    loop {
        let given = id.map_or_else(|| free.next().unwrap_or_default(), str::to_owned);
        match asdd.add(&given, (name, kind), status) {
            // Somebody else has taken it since, or one that is gone had it.
            Err(SystemError::IdTaken { .. }) if id.is_none() => {}
            added => {
                let (slice, files) = added?;
                report::changed(&slice, &files, output);
                return Ok(Exit::Fine);
            }
        }
    }
}

/// Let a slice go into a phase, as a tech lead
#[derive(Debug, Args)]
pub(super) struct Approve {
    /// The slice
    slice: String,
    /// The phase that it may enter
    phase: String,
}

impl Approve {
    pub(super) fn run(&self, asdd: &Asdd<'_>, output: &Output) -> Result<Exit, Failure> {
        let made = slice_move("approve").with("to", &*self.phase);
        let exit = change(asdd, &self.slice, "asdd-approve", &made, output)?;
        output.remark(format_args!("{} is approved", self.phase));
        Ok(exit)
    }
}

/// Hold a slice up, since several want to change it
#[derive(Debug, Args)]
pub(super) struct Lock {
    /// The slice
    slice: String,
    /// Who wants it; without it the actor of the command
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
}

impl Lock {
    pub(super) fn run(
        &self,
        (asdd, project): (&Asdd<'_>, &Project),
        output: &Output,
    ) -> Result<Exit, Failure> {
        let actor = || project.workspace.attribution().actor.to_string();
        let requester = self.agent.clone().unwrap_or_else(actor);
        change(asdd, &self.slice, "asdd-lock", &slice_move("lock").with("requester", requester), output)
    }
}

pub(super) fn unlock(asdd: &Asdd<'_>, slice: &str, output: &Output) -> Result<Exit, Failure> {
    change(asdd, slice, "asdd-unlock", &slice_move("unlock"), output)
}

pub(super) fn unblock(asdd: &Asdd<'_>, slice: &str, output: &Output) -> Result<Exit, Failure> {
    change(asdd, slice, "asdd-unblock", &slice_move("unblock"), output)
}

/// Hold a slice up for a reason
#[derive(Debug, Args)]
pub(super) struct Block {
    /// The slice
    slice: String,
    /// Why
    #[arg(long)]
    reason: String,
}

impl Block {
    pub(super) fn run(&self, asdd: &Asdd<'_>, output: &Output) -> Result<Exit, Failure> {
        let made = slice_move("block").with("reason", &*self.reason);
        change(asdd, &self.slice, "asdd-block", &made, output)
    }
}

/// Tell that an agent is not sure enough: the slice goes back to the last phase that was good
#[derive(Debug, Args)]
pub(super) struct Fail {
    /// The slice
    slice: String,
    /// The agent; without it the actor of the command
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// Its confidence, from 0 to 1
    #[arg(long)]
    score: f64,
    /// Something that it is not sure of; once for each
    #[arg(long = "uncertainty", value_name = "TEXT", required = true)]
    uncertainty: Vec<String>,
}

impl Fail {
    pub(super) fn run(
        &self,
        (asdd, project): (&Asdd<'_>, &Project),
        output: &Output,
    ) -> Result<Exit, Failure> {
        let failure = AgentFailure {
            agent: agent(project, self.agent.as_deref())?,
            score: self.score,
            uncertainty_factors: self.uncertainty.clone(),
        };
        let (slice, files) = asdd.fail(&self.slice, &failure)?;
        report::changed(&slice, &files, output);
        output.remark(format_args!("a row joined {}", asdd.settings().failure_log));
        Ok(Exit::Fine)
    }
}

/// Accept a file as it is, as a tech lead
#[derive(Debug, Args)]
pub(super) struct Accept {
    /// The slice
    slice: String,
    /// The file, seen from the project root
    path: String,
    /// Why
    #[arg(long)]
    reason: String,
}

impl Accept {
    pub(super) fn run(&self, (asdd, _): (&Asdd<'_>, &Project), output: &Output) -> Result<Exit, Failure> {
        let (slice, files) = asdd.accept(&self.slice, &self.path, &self.reason)?;
        report::changed(&slice, &files, output);
        output.remark(format_args!("{} is accepted as it is", self.path));
        Ok(Exit::Fine)
    }
}

/// Say what a slice that was made again should say, as a tech lead
#[derive(Debug, Args)]
pub(super) struct Review {
    /// The slice
    slice: String,
    /// What is made sure
    #[arg(required = true, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl Review {
    pub(super) fn run(&self, asdd: &Asdd<'_>, output: &Output) -> Result<Exit, Failure> {
        let set: Map<_, _> = self.set.iter().map(|text| key_value(text)).collect::<Result<_, _>>()?;
        change(asdd, &self.slice, "asdd-review", &slice_move("review").with("set", set), output)
    }
}

/// Slices that write down what a program does already
#[derive(Debug, Args)]
pub(super) struct Retro {
    #[command(subcommand)]
    what: RetroWhat,
}

#[derive(Debug, Subcommand)]
enum RetroWhat {
    /// Add one in BEHAVIOR_CAPTURE
    Add {
        /// What it is about
        name: String,
        /// Its id; without it the next free one, `RETRO-001`
        #[arg(long)]
        id: Option<String>,
    },
    /// Count the requirements that were looked at
    Count {
        /// The slice
        slice: String,
        /// Those that were right
        #[arg(long)]
        validated: i64,
        /// Those that were corrected
        #[arg(long)]
        corrected: i64,
        /// Those that were missing
        #[arg(long)]
        missing: i64,
    },
}

impl Retro {
    pub(super) fn run(&self, asdd: &Asdd<'_>, output: &Output) -> Result<Exit, Failure> {
        match &self.what {
            RetroWhat::Add { name, id } => {
                add(asdd, id.as_deref(), (name, "RETRO_SPEC"), "BEHAVIOR_CAPTURE", output)
            }
            RetroWhat::Count { slice, validated, corrected, missing } => {
                let made = slice_move("count");
                let made = made.with("validated", *validated).with("corrected", *corrected);
                let made = made.with("missing", *missing);
                change(asdd, slice, "asdd-count", &made, output)
            }
        }
    }
}

fn change(
    asdd: &Asdd<'_>,
    slice: &str,
    event: &'static str,
    made: &MoveCall,
    output: &Output,
) -> Result<Exit, Failure> {
    let (slice, files) = asdd.change(slice, event, made)?;
    report::changed(&slice, &files, output);
    Ok(Exit::Fine)
}

pub(super) fn key_value(text: &str) -> Result<(String, Json), Failure> {
    let (key, value) = text
        .split_once('=')
        .filter(|(key, _)| !key.is_empty())
        .ok_or_else(|| Failure::new(Exit::Usage, format!("`{text}` is no KEY=VALUE")))?;
    let value = stepmark_frontmatter::Value::from_argument(value)
        .map_err(|error| Failure::from_error(Exit::Usage, &error))?;
    Ok((key.to_owned(), value.to_json()))
}
