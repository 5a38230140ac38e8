//! A flow with its graph and its executions, and the tasks that can be claimed.

use std::collections::HashSet;

use super::{FlowRecord, FlowRefusal, Graph, TaskDefinition, overlap};

/// A flow with its graph and its executions, in the order of the graph.
#[derive(Clone, Debug)]
pub struct FlowState {
    /// The flow.
    pub flow: FlowRecord,
    /// Its graph.
    pub graph: Graph,
    /// Its executions that are there.
    pub tasks: Vec<FlowRecord>,
}

impl FlowState {
    /// The execution of the task `task`.
    ///
    /// # Errors
    /// When there is none.
    pub fn task(&self, task: &str) -> Result<&FlowRecord, FlowRefusal> {
        let found = self.tasks.iter().find(|record| record.task() == task);
        found.ok_or_else(|| FlowRefusal::NoTask { flow: self.flow.id().to_owned(), task: task.to_owned() })
    }

    /// The definition of the task `task` in the graph.
    pub(super) fn definition(&self, task: &FlowRecord) -> Result<&TaskDefinition, FlowRefusal> {
        self.check_graph()?;
        let (flow, id) = (self.flow.id().to_owned(), task.task());
        self.graph.task(id).ok_or_else(|| FlowRefusal::NoTask { flow, task: id.to_owned() })
    }

    /// Refuses where the graph is another one than the flow was made from.
    ///
    /// # Errors
    /// When it is.
    pub fn check_graph(&self) -> Result<(), FlowRefusal> {
        match self.flow.text("graph_digest") == self.graph.digest() {
            true => Ok(()),
            false => {
                Err(FlowRefusal::GraphChanged { graph: self.graph.id.clone(), version: self.graph.version })
            }
        }
    }

    /// The tasks that can be claimed, in the order of the graph.
    pub fn ready(&self) -> Vec<&FlowRecord> {
        let done = self.succeeded();
        let running: Vec<_> = self.running().map(|task| (task, task.scopes())).collect();
        let is_ready = |task: &&FlowRecord| {
            let scopes = || task.scopes();
            is_claimable(task)
                && task.texts("depends_on").iter().all(|id| done.contains(id))
                && (running.is_empty()
                    || !running.iter().any(|(_, taken)| overlap(&scopes(), taken).is_some()))
        };
        self.tasks.iter().filter(is_ready).collect()
    }

    /// The ids of the executions that `task` waits for.
    pub fn open_dependencies<'t>(&self, task: &'t FlowRecord) -> Vec<&'t str> {
        let done = self.succeeded();
        let mut open = task.texts("depends_on");
        open.retain(|id| !done.contains(id));
        open
    }

    /// Refuses where a running task wants the same files as `task`.
    pub(super) fn check_scopes(&self, task: &FlowRecord) -> Result<(), FlowRefusal> {
        let scopes = task.scopes();
        for other in self.running().filter(|other| other.id() != task.id()) {
            let taken = other.scopes();
            if let Some((wanted, taken)) = overlap(&scopes, &taken) {
                return Err(FlowRefusal::ScopeTaken {
                    task: task.task().to_owned(),
                    wanted: wanted.to_owned(),
                    other: other.task().to_owned(),
                    taken: taken.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// The executions that have not succeeded, by task.
    pub fn unfinished(&self) -> Vec<String> {
        let open = self.tasks.iter().filter(|task| task.status() != "SUCCESS");
        let missing = self.graph.tasks.iter().filter(|own| self.task(&own.id).is_err());
        open.map(|task| task.task().to_owned()).chain(missing.map(|own| own.id.clone())).collect()
    }

    /// The refusal of a claim where nothing is ready.
    pub fn nothing_ready(&self) -> FlowRefusal {
        let count =
            |statuses: &[&str]| self.tasks.iter().filter(|task| statuses.contains(&task.status())).count();
        FlowRefusal::NothingReady {
            flow: self.flow.id().to_owned(),
            waiting: count(&["PENDING", "READY", "RETRY"]),
            running: count(&["RUNNING", "VERIFYING"]),
            failed: count(&["FAILED", "ESCALATED"]),
        }
    }

    fn running(&self) -> impl Iterator<Item = &FlowRecord> {
        self.tasks.iter().filter(|task| task.status() == "RUNNING")
    }

    fn succeeded(&self) -> HashSet<&str> {
        self.tasks.iter().filter(|task| task.status() == "SUCCESS").map(FlowRecord::id).collect()
    }
}

/// The statuses out of which a task is claimed.
pub(super) const CLAIMABLE: [&str; 3] = ["PENDING", "READY", "RETRY"];

fn is_claimable(task: &FlowRecord) -> bool {
    CLAIMABLE.contains(&task.status())
}
