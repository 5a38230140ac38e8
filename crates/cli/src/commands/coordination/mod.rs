//! `stepmark task` and `stepmark coordination`

pub(crate) mod board;
pub(crate) mod report;
pub(crate) mod task;

use stepmark_frontmatter::{KeyPath, Value};
use stepmark_model::{coordination::Format, journal::ActorKind};
use stepmark_store::{coordination::Coordination, workspace::Workspace};

use crate::{
    exit::{Exit, Failure},
    project::Project,
};

pub(crate) fn coordination(workspace: &Workspace) -> Result<Coordination<'_>, Failure> {
    workspace.coordination().ok_or_else(|| {
        Failure::new(Exit::Findings, "the project does not use coordination")
            .with_help("`stepmark coordination init --goal TEXT` switches it on")
    })
}

/// For programs that use `format`.
pub(crate) fn switched_on(workspace: &Workspace, format: Format) -> Result<Workspace, Failure> {
    let key: KeyPath =
        "coordination.option".parse().map_err(|error| Failure::from_error(Exit::Usage, &error))?;
    let workspace = workspace.configure(key, Value::from(format.to_string()))?;
    if workspace.coordination().is_none() {
        let message = "another layer of the configuration switches coordination off";
        return Err(Failure::new(Exit::Findings, message));
    }
    Ok(workspace)
}

pub(super) fn agent(project: &Project, named: Option<&str>) -> Result<String, Failure> {
    if let Some(agent) = named {
        return Ok(agent.to_owned());
    }
    let actor = &project.workspace.attribution().actor;
    match actor.kind {
        ActorKind::Agent => Ok(actor.name.clone()),
        _ => Err(Failure::new(Exit::Usage, "no agent is named")
            .with_help("give --agent ID, or say who acts with --actor agent:ID or STEPMARK_ACTOR")),
    }
}
