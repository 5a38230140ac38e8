//! `stepmark transition`

use std::path::PathBuf;

use clap::Args;
use stepmark_core::{
    TrackedArtifact,
    transition::{Command, Strictness, TransitionRefusal},
    workspace::ChangeError,
};

use super::{change, lifecycle::move_wire};
use crate::{
    arguments::InsistArguments,
    exit::{Exit, Failure},
    output::{Output, table},
    project::Project,
};

/// Move an artifact's status along its lifecycle; without STATE, list the moves
///
/// The move must be one of the table, and what it wants must hold: steps finished, delegated work finished, a key filled.
/// Counters and remembered states that the table names are written with it. `--force --reason` makes a move all the same;
/// the journal keeps who insisted, and why.
#[derive(Debug, Args)]
pub(crate) struct Transition {
    /// The artifact
    artifact: PathBuf,
    /// The state to go to, in any of its words: `done`, `completed`
    state: Option<String>,
    #[command(flatten)]
    insist: InsistArguments,
}

impl Transition {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let Some(state) = &self.state else {
            let path = project.path(&self.artifact)?;
            return list(&project.workspace.artifact(&path)?, output);
        };
        let command = Command::Transition { to: state.clone() };
        let insistence = self.insist.insistence();
        change::carry_out_insisting(project, output, &self.artifact, (&command, Strictness::Warn), insistence)
    }
}

/// The lifecycle of the artifact, why it has that one, and where it may go.
fn list(artifact: &TrackedArtifact, output: &Output) -> Result<Exit, Failure> {
    let path = artifact.path();
    let Some(choice) = artifact.lifecycle() else {
        return Err(
            ChangeError::Refused { path: path.clone(), source: TransitionRefusal::NoLifecycle }.into()
        );
    };
    let lifecycle = &choice.lifecycle;
    let status = artifact.state().status.as_ref().and_then(|status| status.filled());
    let state = status.and_then(|word| lifecycle.state_of(word));
    // Without a status any state may be taken up.
    let moves: Vec<_> = match (status, state) {
        (None, _) => lifecycle.states().iter().map(|to| (to, None)).collect(),
        (Some(_), None) => Vec::new(),
        (Some(_), Some(state)) => {
            let moves = lifecycle.moves_from(state, artifact.remembered().as_deref());
            moves.into_iter().map(|legal| (legal.to, Some(legal))).collect()
        }
    };
    let moves: Vec<_> = moves
        .into_iter()
        .map(|(to, legal)| {
            let refused = artifact.judge_status(&to.name).and_then(Result::err);
            (to, legal, refused.map(|refusal| refusal.to_string()))
        })
        .collect();
    let wire = || {
        let moves: Vec<_> = moves
            .iter()
            .map(|(to, legal, refused)| {
                let mut wire = legal.as_ref().map_or_else(|| serde_json::json!({"to": to.name}), move_wire);
                wire["refused"] = refused.clone().into();
                wire
            })
            .collect();
        serde_json::json!({
            "path": path.as_str(),
            "lifecycle": lifecycle.name(),
            "because": choice.evidence.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "declared": choice.source == stepmark_core::lifecycle::Source::Declared,
            "status": status,
            "state": state.map(|state| state.name.clone()),
            "moves": moves,
        })
    };
    output.json_or("stepmark.transition/1", wire, || {
        output.remark(format_args!("{path}: lifecycle `{}`, {choice}", lifecycle.name()));
        match (status, state) {
            (Some(word), None) => output.warning(format_args!(
                "{path}: its status `{word}` is no state of `{}`: no move leads out of it",
                lifecycle.name()
            )),
            (Some(_), Some(state)) => output.remark(format_args!("{path}: its state is `{}`", state.name)),
            (None, _) => output.remark(format_args!("{path}: it has no status yet")),
        }
        if !moves.is_empty() {
            let rows = moves.iter().map(|(to, legal, refused)| {
                let guards = legal.iter().flat_map(|legal| legal.guards).map(ToString::to_string);
                let wants = guards.collect::<Vec<_>>().join(", ");
                let dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
                vec![to.name.clone(), dash(&wants), dash(refused.as_deref().unwrap_or_default())]
            });
            output.line(table(&["GOES TO", "WANTS", "IN THE WAY"], rows));
        }
    });
    Ok(if status.is_some() && state.is_none() { Exit::Findings } else { Exit::Fine })
}
