//! New graphs, flows and executions.

use super::checkpoints::no_branch;
use super::checkpoints::{branch_checked_out, branch_moved, busy, odd_branch, taken, unusable_graph};
use super::records::{no_flow_record, unknown};
use crate::records::not_written;
use crate::{Error, git::task_refs::no_start};
use std::cell::RefCell;

use super::{Flows, records::read};
use crate::{
    changes::{RECORDS_A_COMMIT, RecordDecision},
    commit::{CommitError, make_folders_to},
    git::task_refs,
};
use serde_json::json;
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    flows::{
        Acting, FlowKind, FlowRecord, FlowRefusal, FlowState, Graph, MergePlan, RecordChange, accept,
        execution_record, flow_record, freeze, graph_record, make,
    },
    journal::{EventDraft, Kind, WorkContext},
    packs::MoveCall,
};

impl Flows<'_> {
    /// Writes the first version of a graph, or the next; a version without flows is overwritten.
    pub fn write_graph(&self, graph: &Graph, is_new: bool) -> Result<FlowRecord, Error> {
        let _id = || graph.id.clone();
        graph.check().map_err(|source| unusable_graph(&graph.id, source))?;
        let last = self.versions(&graph.id).pop();
        let (version, command) = match (last, is_new) {
            (None, true) => (1, "graph create"),
            (Some(last), false) => (last + 1, "graph revise"),
            (Some(_), true) => return Err(taken("graph", &graph.id)),
            (None, false) => return Err(unknown("graph", &graph.id)),
        };
        let acting = self.acting(None);
        let graph = &Graph { version, ..graph.clone() };
        let record = graph_record(graph, &acting);
        let path = self.graph_path(&graph.id, version)?;
        self.make_folders(&path)?;
        let bytes = bytes_of(&path, &record)?;
        let change = RecordChange::created(record.clone(), "graph-created");
        self.workspace.change_records(
            &[path],
            |_| draft(&change, command, &acting),
            |found| match found {
                [None] => Ok(vec![RecordDecision::Write(bytes.clone())]),
                _ => Err(taken("graph", &graph.id)),
            },
        )?;
        // A person who writes it here knows its checks.
        self.note_allowed(graph)?;
        Ok(record)
    }

    /// From `GRAPH@vN` or the last version, which its first flow freezes.
    pub fn create(&self, graph: &str, id: &str, title: &str) -> Result<FlowState, Error> {
        let (graph_path, record) = self.graph(graph, None)?;
        let read_graph = |record: &FlowRecord| {
            Graph::of(record).map_err(|source| no_flow_record(&graph_path, source)).and_then(|graph| {
                let checked = graph.check();
                let id = graph.id.clone();
                checked.map(|()| graph).map_err(|source| unusable_graph(&id, source))
            })
        };
        let wanted = read_graph(&record)?;
        let acting = self.acting(None);
        let flow = flow_record(id, title, &wanted, &acting);
        let path = self.flow_path(id)?;
        if id == "graphs" {
            return Err(taken("flow", id));
        }
        self.make_folders(&path)?;
        let bytes = bytes_of(&path, &flow)?;
        let created = RecordChange::created(flow.clone(), "flow-created");
        let paths = [graph_path.clone(), path];
        self.workspace.change_records(
            &paths,
            |path| {
                match *path == graph_path {
                    true => draft(&freeze(&record), "create", &acting),
                    false => self.naming_constitution(draft(&created, "create", &acting)),
                }
                .in_one_decision()
            },
            |found| {
                let [Some(graph), None] = found else {
                    return Err(taken("flow", id));
                };
                let now = read(graph, FlowKind::Graph)?;
                if read_graph(&now)? != wanted {
                    return Err(busy(&graph_path));
                }
                let edits = RecordDecision::Edit(now.edits_to(&freeze(&now).record));
                Ok(vec![edits, RecordDecision::Write(bytes.clone())])
            },
        )?;
        self.create_missing(id)?;
        self.state(id)
    }

    pub(super) fn create_missing(&self, flow: &str) -> Result<(), Error> {
        let state = self.state(flow)?;
        state.check_graph()?;
        let missing: Vec<_> = state.graph.tasks.iter().filter(|task| state.task(&task.id).is_err()).collect();
        let acting = self.acting(None);
        for tasks in missing.chunks(RECORDS_A_COMMIT) {
            let paths =
                tasks.iter().map(|task| self.task_path(flow, &task.id)).collect::<Result<Vec<_>, _>>()?;
            self.make_folders(&paths[0])?;
            let made: Vec<FlowRecord> = tasks.iter().map(|task| execution_record(flow, task)).collect();
            let bytes = paths
                .iter()
                .zip(&made)
                .map(|(path, record)| bytes_of(path, record))
                .collect::<Result<Vec<_>, _>>()?;
            let told = |path: &ProjectPath| {
                let record = paths.iter().zip(&made).find(|(own, _)| *own == path).map(|(_, made)| made);
                let change = RecordChange::created(record.unwrap_or(&made[0]).clone(), "task-created");
                draft(&change, "create", &acting)
            };
            self.workspace.change_records(&paths, told, |found| {
                let write = |(found, bytes): (&Option<_>, &Vec<u8>)| match found {
                    Some(_) => RecordDecision::Keep,
                    None => RecordDecision::Write(bytes.clone()),
                };
                Ok::<_, Error>(found.iter().zip(&bytes).map(write).collect())
            })?;
        }
        Ok(())
    }

    pub(super) fn make_folders(&self, path: &ProjectPath) -> Result<(), Error> {
        let fsync = self.workspace.commit_options().fsync;
        let made = make_folders_to(self.workspace.root(), path, fsync);
        made.map(drop).map_err(|error| CommitError::from(error).into())
    }
}

pub(super) fn bytes_of(path: &ProjectPath, record: &FlowRecord) -> Result<Vec<u8>, Error> {
    record.to_file().map_err(|source| not_written(path, source))
}

impl Flows<'_> {
    /// Makes integration commits of the tasks with checkpoints on top of `branch` (default: the checked-out
    /// one), not yet on a branch. `leaves_out` drops attempts without checkpoints.
    pub fn prepare_merge(
        &self,
        flow: &str,
        branch: Option<&str>,
        leaves_out: bool,
    ) -> Result<FlowState, Error> {
        let state = self.finished(flow)?;
        let (root, acting) = (self.workspace.root(), self.acting(None));
        let prepare = |plan: &MergePlan| MoveCall::new("flow", "merge-prepare").with("plan", json!(plan));
        make(&state, None, &prepare(&MergePlan::default()), &acting)?;
        let without = state.tasks.iter().filter(|task| task.lacks_checkpoint());
        let left_out: Vec<String> = without.map(|task| task.task().to_owned()).collect();
        if !left_out.is_empty() && !leaves_out {
            return Err(FlowRefusal::NoCheckpoint { flow: flow.to_owned(), tasks: left_out }.into());
        }
        let branch = branch.map(str::to_owned).or_else(|| task_refs::current_branch(root));
        let branch = branch.ok_or_else(no_branch)?;
        let odd = || odd_branch(&branch);
        let name = task_refs::branch_ref(root, &branch)?.ok_or_else(odd)?;
        let base = task_refs::commit_of(root, &name).ok_or_else(|| no_start(&branch))?;
        let tips = state.tasks.iter().filter(|task| !task.lacks_checkpoint()).filter_map(|task| {
            let (from, tip) = self.commits_of(task)?;
            let attempt = task.attempts().pop().unwrap_or_default().attempt_id;
            let message = format!(
                "{}\n\nFlow: {flow}\nTask: {}\nAttempt: {attempt}\n",
                task.text("title"),
                task.task()
            );
            Some((from, tip, message))
        });
        let merged = task_refs::merge_onto(root, &base, &tips.collect::<Vec<_>>())?;
        if let Some(last) = merged.commits.last() {
            let kept = format!("refs/stepmark/merge/{flow}");
            task_refs::move_ref(root, &kept, last, task_refs::commit_of(root, &kept).as_deref())?;
        }
        let (commits, conflicts) = (merged.commits, merged.conflicts);
        let plan = MergePlan { target_branch: branch, base, commits, conflicts, left_out };
        self.move_flow(flow, &prepare(&plan), &acting)?;
        self.state(flow)
    }

    /// Moves the branch to the approved integration commits; repeatable after an interruption.
    pub fn apply_merge(&self, flow: &str) -> Result<FlowState, Error> {
        let state = self.unedited(flow)?;
        let (root, acting) = (self.workspace.root(), self.acting(None));
        let apply = MoveCall::new("flow", "merge-apply");
        make(&state, None, &apply, &acting)?;
        let plan: MergePlan = state.flow.part("merge");
        let odd = || odd_branch(&plan.target_branch);
        let name = task_refs::branch_ref(root, &plan.target_branch)?.ok_or_else(odd)?;
        let now = task_refs::commit_of(root, &name);
        if let Some(last) = plan.commits.last()
            && now.as_ref() != Some(last)
        {
            if now.as_ref() != Some(&plan.base) {
                return Err(branch_moved(&plan.target_branch));
            }
            if task_refs::is_checked_out(root, &plan.target_branch) {
                return Err(branch_checked_out(&plan.target_branch));
            }
            task_refs::move_ref(root, &name, last, Some(&plan.base))?;
        }
        self.move_flow(flow, &apply, &acting)?;
        self.seal()?;
        self.state(flow)
    }
}

impl Flows<'_> {
    pub fn acting(&self, reason: Option<&str>) -> Acting {
        Acting {
            actor: self.workspace.attribution().actor.to_string(),
            now: self.workspace.now().to_string(),
            reason: reason.map(str::to_owned),
        }
    }

    pub(super) fn accept_record(&self, path: &ProjectPath, acting: &Acting) -> Result<(), Error> {
        self.change(std::slice::from_ref(path), ("accept", acting), |found| {
            let [Some(found)] = found else { return Ok(None) };
            let kind = kind_of(found)?;
            let before = read(found, kind)?;
            let change = accept(&before, kind, acting)?;
            let edits = RecordDecision::Edit(before.edits_to(&change.record));
            Ok(Some((change, vec![edits])))
        })?;
        Ok(())
    }

    pub(super) fn change_task(
        &self,
        (flow, task): (&str, &str),
        (command, acting): (&str, &Acting),
        mut decide: impl FnMut(&FlowState) -> Result<RecordChange, FlowRefusal>,
    ) -> Result<FlowRecord, Error> {
        let paths = [self.flow_path(flow)?, self.task_path(flow, task)?];
        self.change(&paths, (command, acting), |found| {
            let [own, execution] = found else { return Ok(None) };
            let state = self.state_under_lock(flow, own.as_ref())?;
            let Some(artifact) = execution else { return Err(missing_task(flow, task)) };
            let before = read(artifact, FlowKind::Execution)?;
            let change = decide(&state)?;
            let edits = RecordDecision::Edit(before.edits_to(&change.record));
            Ok(Some((change, vec![RecordDecision::Keep, edits])))
        })
    }

    pub(super) fn change_flow(
        &self,
        flow: &str,
        (command, acting): (&str, &Acting),
        mut decide: impl FnMut(&FlowState) -> Result<RecordChange, FlowRefusal>,
    ) -> Result<FlowRecord, Error> {
        let paths = [self.flow_path(flow)?];
        self.change(&paths, (command, acting), |found| {
            let state = self.state_under_lock(flow, found.first().and_then(Option::as_ref))?;
            let change = decide(&state)?;
            let edits = RecordDecision::Edit(state.flow.edits_to(&change.record));
            Ok(Some((change, vec![edits])))
        })
    }

    fn change(
        &self,
        paths: &[ProjectPath],
        (command, acting): (&str, &Acting),
        mut decide: impl FnMut(&[Option<Artifact>]) -> Result<Option<(RecordChange, Vec<RecordDecision>)>, Error>,
    ) -> Result<FlowRecord, Error> {
        let made: RefCell<Option<RecordChange>> = RefCell::new(None);
        self.workspace.change_records(
            paths,
            |_| match &*made.borrow() {
                Some(change) => self.naming_constitution(draft(change, command, acting)),
                None => EventDraft::new(Kind::CHANGE),
            },
            |found| match decide(found)? {
                Some((change, decisions)) => {
                    made.replace(Some(change));
                    Ok::<_, Error>(decisions)
                }
                None => Ok(vec![RecordDecision::Keep; paths.len()]),
            },
        )?;
        // A successful commit has decided at least once.
        let made = made.into_inner().map(|change| change.record);
        made.ok_or_else(|| busy(&paths[0]))
    }

    /// The flow's lock must be held, so that its executions do not change.
    fn state_under_lock(&self, id: &str, flow: Option<&Artifact>) -> Result<FlowState, Error> {
        let unknown = || unknown("flow", id);
        self.state_of(read(flow.ok_or_else(unknown)?, FlowKind::Flow)?)
    }
}

pub(super) fn draft(change: &RecordChange, command: &str, acting: &Acting) -> EventDraft {
    let record = &change.record;
    let said = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let attempt = record.open_attempt().or_else(|| record.attempts().pop());
    let context = WorkContext {
        graph: said(record.text("graph")),
        flow: said(if record.is(FlowKind::Flow) { record.id() } else { record.text("flow") }),
        task: said(record.task()),
        attempt: attempt.map(|attempt| attempt.attempt_id),
        ..WorkContext::default()
    };
    let mut draft = EventDraft::new(Kind::of(change.event))
        .with_command(format!("flow {command}"))
        .with_reason(acting.reason.clone())
        .decided()
        .knowing_parts()
        .within(&context);
    if change.is_override {
        draft =
            draft.insisting(Some(acting.reason.clone().unwrap_or_else(|| "a person decided so".to_owned())));
    }
    change.facts.iter().fold(draft, |draft, (name, fact)| draft.with(name, fact.clone()))
}

fn kind_of(artifact: &Artifact) -> Result<FlowKind, Error> {
    match read(artifact, FlowKind::Flow) {
        Ok(_) => Ok(FlowKind::Flow),
        Err(_) => Ok(read(artifact, FlowKind::Execution).map(|_| FlowKind::Execution)?),
    }
}

fn missing_task(flow: &str, task: &str) -> Error {
    FlowRefusal::NoTask { flow: flow.to_owned(), task: task.to_owned() }.into()
}
