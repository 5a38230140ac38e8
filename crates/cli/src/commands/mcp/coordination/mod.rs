//! The tools of coordination. Each call opens the project and closes it.

mod answers;
mod tools;

use stepmark_mcp::{Answer, Arguments, Refusal, Tool, ToolSet, read};
use stepmark_model::coordination::{Format, NewTask, task_move};
use stepmark_store::Error;
use stepmark_store::ErrorKind;
use stepmark_store::coordination::Coordination;

use self::tools::{
    Agent, Batch, Beginning, ByStatus, ByTags, Done, Failed, Found, Held, Joining, Nothing, Tasks, Wanted,
};
use super::Opening;
use crate::{
    commands::coordination::{board::overview, report::help_of_tools, switched_on, task::ended},
    environment,
    exit::Failure,
    project::Project,
};

pub(super) struct CoordinationTools {
    opening: Opening,
}

impl CoordinationTools {
    pub(super) const fn new(opening: Opening) -> Self {
        Self { opening }
    }
}

impl ToolSet for CoordinationTools {
    fn instructions(&self) -> &str {
        tools::INSTRUCTIONS
    }

    fn tools(&self) -> Vec<Tool> {
        tools::all()
    }

    fn call(&self, tool: &str, given: Arguments) -> Result<Answer, Refusal> {
        match tool {
            "init_coordination" => self.begin(&read(given)?),
            "create_task" => {
                let wanted = [read::<Wanted>(given)?.task()?];
                self.on(None, |coordination| Ok(answers::created(coordination.create(&wanted)?)))
            }
            "create_tasks_batch" => {
                let Batch { tasks } = read(given)?;
                let wanted: Vec<NewTask> = tasks.into_iter().map(Wanted::task).collect::<Result<_, _>>()?;
                self.on(None, |coordination| Ok(answers::batch(coordination.create(&wanted)?)))
            }
            "register_agent" | "claim_task" | "heartbeat" | "add_discovery" => self.take_part(tool, given),
            "start_task" | "complete_task" | "fail_task" => self.work(tool, given),
            _ => self.look(tool, given),
        }
    }
}

impl CoordinationTools {
    fn on(
        &self,
        agent: Option<&str>,
        act: impl FnOnce(&Coordination<'_>) -> Result<Answer, Error>,
    ) -> Result<Answer, Refusal> {
        self.on_project(agent, |coordination, _| act(coordination))
    }

    fn on_project(
        &self,
        agent: Option<&str>,
        act: impl FnOnce(&Coordination<'_>, &Project) -> Result<Answer, Error>,
    ) -> Result<Answer, Refusal> {
        let project = self.opening.project(agent).map_err(refusal)?;
        let coordination = project.workspace.coordination().ok_or_else(not_begun)?;
        act(&coordination, &project).map_err(|error| match error.kind() {
            ErrorKind::NotBegun => not_begun(),
            _ => refused(error),
        })
    }

    /// With the state file of the origin's server.
    fn begin(&self, Beginning { goal, master_plan }: &Beginning) -> Result<Answer, Refusal> {
        let mut workspace = self.opening.project(None).map_err(refusal)?.workspace;
        if workspace.coordination().is_none() {
            workspace = switched_on(&workspace, Format::ServerState).map_err(refusal)?;
        }
        let coordination = workspace.coordination().ok_or_else(not_begun)?;
        let files = coordination.begin(goal, master_plan).map_err(refused)?;
        Ok(answers::begun(goal, &files))
    }

    fn take_part(&self, tool: &str, given: Arguments) -> Result<Answer, Refusal> {
        match tool {
            "register_agent" => {
                let Joining { agent_id, role } = read(given)?;
                self.on(Some(&agent_id), |coordination| {
                    Ok(answers::registered(
                        &agent_id,
                        role.as_str(),
                        &coordination.register(&agent_id, role.as_str(), None)?,
                    ))
                })
            }
            "claim_task" => {
                let Agent { agent_id } = read(given)?;
                self.on(Some(&agent_id), |coordination| match coordination.claim(&agent_id) {
                    Err(nothing) if nothing.is_idle() => Ok(answers::nothing_to_claim(&nothing)),
                    claimed => Ok(answers::claimed(&claimed?)),
                })
            }
            "heartbeat" => {
                let Agent { agent_id } = read(given)?;
                self.on(Some(&agent_id), |coordination| {
                    Ok(answers::alive(&agent_id, &coordination.heartbeat(&agent_id, None)?))
                })
            }
            _ => {
                let Found { agent_id, content, tags } = read(given)?;
                let id = new_id("discovery");
                self.on(Some(&agent_id), |coordination| {
                    Ok(answers::discovered(&coordination.discover((&id, &agent_id), &content, &tags)?))
                })
            }
        }
    }

    fn work(&self, tool: &str, given: Arguments) -> Result<Answer, Refusal> {
        let (task, made, agent) = match tool {
            "start_task" => {
                let Held { agent_id: agent, task_id } = read(given)?;
                (task_id, task_move("start", Some(&agent)), agent)
            }
            "complete_task" => {
                let Done { agent_id: agent, task_id, output, files_modified, files_created } = read(given)?;
                let made = task_move("done", Some(&agent));
                (task_id, ended(made, &output, (&files_modified, &files_created)), agent)
            }
            _ => {
                let Failed { agent_id: agent, task_id, error } = read(given)?;
                (task_id, task_move("fail", Some(&agent)).with("error", error), agent)
            }
        };
        self.on(Some(&agent), |coordination| Ok(answers::worked(&coordination.make(&task, &made)?)))
    }

    fn look(&self, tool: &str, given: Arguments) -> Result<Answer, Refusal> {
        match tool {
            "get_status" => {
                let Nothing {} = read(given)?;
                self.on_project(None, |coordination, project| {
                    Ok(answers::status(&overview(coordination, project)?))
                })
            }
            "get_all_tasks" => {
                let status = read::<ByStatus>(given)?.status()?;
                self.on(None, |coordination| Ok(answers::tasks(&coordination.state()?, status.as_deref())))
            }
            "get_results" => {
                let Tasks { task_ids } = read(given)?;
                self.on(None, |coordination| answers::results(&coordination.state()?, &task_ids))
            }
            "get_discoveries" => {
                let ByTags { tags, limit } = read(given)?;
                self.on(None, |coordination| Ok(answers::discoveries(&coordination.state()?, &tags, limit)))
            }
            _ => {
                let Nothing {} = read(given)?;
                self.on(None, |coordination| Ok(answers::plan(&coordination.state()?)))
            }
        }
    }
}

fn new_id(kind: &str) -> String {
    format!("{kind}-{:012x}", environment::random() >> 16)
}

fn not_begun() -> Refusal {
    Refusal::new("coordination has not begun in this project")
        .with_remedy("call init_coordination with a goal")
}

fn refused(error: Error) -> Refusal {
    let remedy = help_of_tools(&error);
    let refusal = refusal(error.into());
    Refusal { remedy: remedy.or(refusal.remedy), ..refusal }
}

fn refusal(failure: Failure) -> Refusal {
    let reason = failure.in_one_line();
    let remedy = failure.help.map(|help| match help.contains("stepmark ") {
        true => format!("no tool does that, ask a person: {help}"),
        false => help,
    });
    Refusal { reason, remedy }
}
