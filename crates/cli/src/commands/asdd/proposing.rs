//! `stepmark asdd show`, `add`, `begin`, `propose`, `proposals` and `reject`

use clap::Args;
use serde_json::Map;
use stepmark_model::{
    asdd::{Confidence, Proposal, Verdict, phase_of},
    journal::ActorKind,
};
use stepmark_store::ErrorKind;
use stepmark_store::asdd::{Asdd, Draft};
use stepmark_store::records::no_record;

use super::{
    agent, key_value,
    overview::{self, Answer},
};
use crate::{
    environment::new_id,
    exit::{Exit, Failure},
    output::{ListArguments, Output, table},
    project::Project,
};

pub(super) fn show(asdd: &Asdd<'_>, slice: &str, output: &Output) -> Result<Exit, Failure> {
    let state = asdd.state()?;
    let unknown = || no_record("slice", slice);
    overview::slice(state.slice(slice).ok_or_else(unknown)?, output);
    Ok(Exit::Fine)
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
            Err(error) if id.is_none() && error.kind() == ErrorKind::Exists => {}
            added => {
                let (slice, files) = added?;
                overview::changed(&slice, &files, output);
                return Ok(Exit::Fine);
            }
        }
    }
}

pub(super) fn begin(
    (asdd, project): (&Asdd<'_>, &Project),
    slice: &str,
    named: Option<&str>,
    output: &Output,
) -> Result<Exit, Failure> {
    // A person who names none means the one of the phase: so `next` and `status` print the command.
    let of_phase = || {
        let state = asdd.state().ok()?;
        phase_of(state.slice(slice)?.status())?.1.agent.map(str::to_owned)
    };
    let is_person = project.workspace.attribution().actor.kind != ActorKind::Agent;
    let named = named.map(str::to_owned).or_else(|| of_phase().filter(|_| is_person));
    let begun = asdd.begin(slice, &agent(project, named.as_deref())?)?;
    overview::slice(&begun.slice, output);
    Ok(Exit::Fine)
}

/// Propose what follows from the work on a slice
///
/// Where the slice says `governance_mode: AUTO` a valid proposal is committed at once; else it waits for the
/// custodian. A confidence below the threshold of the agent blocks the slice and takes it back to the last
/// phase that was good.
#[derive(Debug, Args)]
pub(super) struct Propose {
    /// The slice
    slice: String,
    /// The agent; without it the actor of the command
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// The phase that comes next
    #[arg(long, value_name = "PHASE")]
    to: Option<String>,
    /// A file that was made: `requirements=.asdd/specs/auth/requirements.md`; once for each
    #[arg(long = "file", value_name = "KEY=PATH")]
    files: Vec<String>,
    /// The confidence in it, from 0 to 1
    #[arg(long)]
    score: Option<f64>,
    /// Something that the agent is not sure of; once for each
    #[arg(long = "uncertainty", value_name = "TEXT", requires = "score")]
    uncertainty: Vec<String>,
    /// The file with the reasons of the agent
    #[arg(long, value_name = "PATH")]
    trace: Option<String>,
    /// Another key and its value; once for each
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl Propose {
    pub(super) fn run(
        &self,
        (asdd, project): (&Asdd<'_>, &Project),
        output: &Output,
    ) -> Result<Exit, Failure> {
        let mut set: Map<_, _> = self.set.iter().map(|text| key_value(text)).collect::<Result<_, _>>()?;
        if let Some(to) = &self.to {
            set.insert("status".to_owned(), to.as_str().into());
        }
        let file = |text: &String| match text.split_once('=') {
            Some((key, path)) => Ok((key.to_owned(), path.to_owned())),
            None => Err(Failure::new(Exit::Usage, format!("`{text}` is no KEY=PATH"))),
        };
        let confidence =
            self.score.map(|score| Confidence { score, uncertainty_factors: self.uncertainty.clone() });
        let draft = Draft {
            set,
            files: self.files.iter().map(file).collect::<Result<_, _>>()?,
            confidence,
            trace: self.trace.clone(),
        };
        let agent = agent(project, self.agent.as_deref())?;
        let proposed =
            asdd.propose(&format!("proposal-{}", new_id()), &asdd.slice_id(&self.slice)?, &agent, draft)?;
        overview::proposed(&proposed, output);
        match proposed.proposal.verdict {
            Verdict::Failed => Ok(Exit::Findings),
            _ => Ok(Exit::Fine),
        }
    }
}

pub(super) fn proposals(
    asdd: &Asdd<'_>,
    all: bool,
    list: &ListArguments,
    output: &Output,
) -> Result<Exit, Failure> {
    let mut proposals = asdd.proposals()?;
    proposals.retain(|proposal| all || proposal.verdict == Verdict::Pending);
    let answer = |proposals, more| Answer::Proposals { proposals, more };
    list.answer(
        output,
        &mut proposals,
        |proposal| proposal,
        answer,
        |proposals| {
            let row = |proposal: &Proposal| {
                let score = proposal.confidence.as_ref().map_or("-".to_owned(), |own| own.score.to_string());
                vec![
                    proposal.proposal_id.clone(),
                    proposal.slice_id.clone(),
                    proposal.agent.clone(),
                    proposal.to().unwrap_or("-").to_owned(),
                    score,
                    proposal.verdict.as_str().to_owned(),
                    proposal.reason.clone().unwrap_or_else(|| "-".to_owned()),
                ]
            };
            let head = ["ID", "SLICE", "AGENT", "TO", "SCORE", "VERDICT", "REASON"];
            output.line(table(&head, proposals.iter().map(row)));
        },
    )?;
    Ok(Exit::Fine)
}

pub(super) fn reject(
    asdd: &Asdd<'_>,
    (id, reason, restore): (&str, &str, bool),
    output: &Output,
) -> Result<Exit, Failure> {
    let (rejected, left) = asdd.reject(id, reason, restore)?;
    overview::proposed(&rejected, output);
    left.iter().for_each(|reason| output.warning(reason));
    Ok(if left.is_empty() { Exit::Fine } else { Exit::Findings })
}
