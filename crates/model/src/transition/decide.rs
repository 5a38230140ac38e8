//! `(artifact, workflow, command) → plan or refusal`.

use super::{Command, Plan, Remark, Strictness, TransitionRefusal, complete, scoping, setting, status_move};
use crate::artifact::{Artifact, Problem, StepsForm};
use crate::{lifecycle::Lifecycle, workflow::WorkflowDefinition};
use stepmark_frontmatter::{Edit, KeyPath, Value};

/// The facts around an artifact that a command is to change.
#[derive(Clone, Copy, Debug)]
pub struct DecisionContext<'a> {
    /// The workflow that it belongs to, if it is known.
    pub workflow: Option<&'a WorkflowDefinition>,
    pub lifecycle: Option<&'a Lifecycle>,
    /// The treatment of a step that is unknown or not the next one.
    pub strictness: Strictness,
}

/// Decides what `command` means for `artifact`. Whether its lifecycle allows a new status is another
/// question, which every change of a status is asked alike: [`judge_status`](super::judge_status).
pub fn decide(
    artifact: &Artifact,
    decision_context: &DecisionContext<'_>,
    command: &Command,
) -> Result<Plan, TransitionRefusal> {
    let DecisionContext { workflow, lifecycle, strictness } = *decision_context;
    refuse_unreadable(artifact)?;
    match command {
        Command::Complete { steps } => {
            refuse_broken_list(artifact)?;
            complete::plan(artifact, workflow, steps, strictness)
        }
        Command::Move(call) => status_move::named(artifact, lifecycle, call),
        Command::Transition { to } => status_move::plan(artifact, lifecycle, to),
        Command::Reopen { steps } => {
            refuse_broken_list(artifact)?;
            complete::reopen_plan(artifact, workflow, steps)
        }
        Command::Set { assignments } => {
            setting::keeps_step_lists(artifact, assignments)?;
            let assignments = setting::settled(artifact, assignments);
            if strictness != Strictness::Warn {
                setting::knows_steps(artifact, workflow, &assignments)?;
            }
            let edit =
                |(path, value): &(KeyPath, Value)| Edit::Set { path: path.clone(), value: value.clone() };
            let mut edits: Vec<Edit> = assignments.iter().map(edit).collect();
            edits.extend(status_move::upkeep_of(artifact, lifecycle, &assignments));
            Ok(Plan { edits, remarks: Vec::new() })
        }
        Command::Items { changes } => {
            Ok(Plan { edits: setting::item_edits(artifact, changes)?, remarks: Vec::new() })
        }
        Command::Scope { scope, source } => scoping::plan(artifact, scope, *source),
        Command::Track { id } => Ok(track(artifact, id)),
    }
}

/// An artifact's own `id` identifies it; else `stepmark_id` does (docs/design.md, "Identity").
fn track(artifact: &Artifact, id: &str) -> Plan {
    let state = artifact.state();
    let existing = [("id", &state.id), ("stepmark_id", &state.stepmark_id)]
        .into_iter()
        .find_map(|(key, field)| Some((key, field.as_ref()?.filled()?)));
    match existing {
        Some((key, id)) => {
            let remark = Remark::AlreadyTracked { key, id: id.to_owned() };
            Plan { edits: Vec::new(), remarks: vec![remark] }
        }
        None => {
            let edit = Edit::Set { path: KeyPath::key("stepmark_id"), value: Value::from(id) };
            Plan { edits: vec![edit], remarks: Vec::new() }
        }
    }
}

pub(super) fn refuse_unreadable(artifact: &Artifact) -> Result<(), TransitionRefusal> {
    let unreadable = artifact.diagnoses().iter().find_map(|diagnosis| match &diagnosis.problem {
        Problem::NotYaml { error } => Some(error.to_string()),
        Problem::NotAMapping => Some("it holds no keys".to_owned()),
        Problem::NoStateBlock { error } => Some(error.to_string()),
        Problem::FenceUnclosed => Some("the opening `---` is never closed".to_owned()),
        Problem::FrontmatterMisplaced => Some("it does not stand at the start of the file".to_owned()),
        _ => None,
    });
    unreadable.map_or(Ok(()), |reason| Err(TransitionRefusal::Unreadable { reason }))
}

fn refuse_broken_list(artifact: &Artifact) -> Result<(), TransitionRefusal> {
    let broken = artifact.state().steps.iter().find(|steps| steps.form == StepsForm::NotAList);
    broken.map_or(Ok(()), |steps| Err(TransitionRefusal::StepsNotAList { key: steps.key.to_owned() }))
}
