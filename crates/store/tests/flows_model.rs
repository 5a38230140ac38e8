//! Random commands of agents and of a person on a flow, and edits of its records by hand, against a simple
//! model in memory: each attempt has one holder, nothing succeeds unjudged, a failed task frees none, agents
//! do nothing that is for people, an edit stops the flow until a person decides, and history derives all.
#![expect(clippy::disallowed_methods, reason = "an edge: files are written here as other programs would")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{fs, time::SystemTime};
use stepmark_store::Error;

use proptest::prelude::*;
use serde_json::json;
use stepmark_model::{
    flows::{AttemptEnd, Decision, Graph, Judgement},
    journal::{Actor, ActorKind, Attribution, HistoryState},
    packs::MoveCall,
};
use stepmark_store::{
    commit::{CommitOptions, FsyncPolicy},
    flows::Flows,
    workspace::Workspace,
};

/// `a`, then `b` and `c`, which write the same, and `d`; then `e`. Those that fail are tried once more, and
/// `b` goes to a person.
const TASKS: [(&str, &[&str], &[&str]); 5] = [
    ("a", &[], &[]),
    ("b", &["a"], &["src"]),
    ("c", &["a"], &["src/c.rs"]),
    ("d", &["a"], &["docs"]),
    ("e", &["b", "c", "d"], &[]),
];
const MOST: u64 = 2;

/// Something that somebody does to a task, by its place in the graph, or to the flow; `true`: by a person.
#[derive(Clone, Debug)]
enum Deed {
    ClaimNext,
    Claim(usize),
    /// The attempt ends with an exit status, or its agent is lost; `true`: an older attempt is named.
    End(usize, Option<i64>, bool),
    Verify(usize, Decision),
    Override(usize, bool),
    Retry(usize, bool),
    Escalate(usize),
    AbortTask(usize, bool),
    Move(&'static str, bool),
    /// A program sets the status of a record, or takes its file away.
    Forge(usize),
    Delete(usize),
    Accept(bool),
    Restore(bool),
}

fn deed() -> impl Strategy<Value = Deed> {
    let task = || 0..TASKS.len();
    let decision =
        prop_oneof![6 => Just(Decision::Pass), 2 => Just(Decision::SoftFail), 1 => Just(Decision::HardFail)];
    let exit = prop_oneof![6 => Just(Some(0)), 1 => Just(Some(1)), 1 => Just(None)];
    let moves = prop_oneof![
        2 => Just("pause"), 4 => Just("resume"), 1 => Just("start"),
        1 => Just("complete"),
    ];
    prop_oneof![
        10 => Just(Deed::ClaimNext),
        4 => task().prop_map(Deed::Claim),
        14 => (task(), exit, prop::bool::weighted(0.1)).prop_map(|(task, exit, old)| Deed::End(task, exit, old)),
        14 => (task(), decision).prop_map(|(task, decision)| Deed::Verify(task, decision)),
        1 => (task(), any::<bool>()).prop_map(|(task, person)| Deed::Override(task, person)),
        5 => (task(), any::<bool>()).prop_map(|(task, person)| Deed::Retry(task, person)),
        1 => task().prop_map(Deed::Escalate),
        1 => (task(), any::<bool>()).prop_map(|(task, person)| Deed::AbortTask(task, person)),
        3 => (moves, prop::bool::weighted(0.8)).prop_map(|(made, person)| Deed::Move(made, person)),
        1 => any::<bool>().prop_map(|person| Deed::Move("abort", person)),
        1 => task().prop_map(Deed::Forge),
        1 => task().prop_map(Deed::Delete),
        2 => any::<bool>().prop_map(Deed::Accept),
        3 => any::<bool>().prop_map(Deed::Restore),
    ]
}

/// A task, as the model knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Task {
    status: &'static str,
    attempts: u64,
    most: u64,
    is_judged: bool,
}

struct Project {
    folder: tempfile::TempDir,
    flow: &'static str,
    tasks: Vec<Task>,
    /// The records that others changed, each with the status that they gave it; none where it is gone.
    edited: Vec<(usize, Option<&'static str>)>,
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".stepmark")).unwrap();
        fs::write(folder.path().join(".stepmark/config.yaml"), "flows: {}\n").unwrap();
        let tasks = TASKS.map(|(id, after, write)| {
            json!({"id": id, "depends_on": after, "required_scopes": {"write": write},
                "retry": {"max_attempts": MOST, "escalate": id == "b"}})
        });
        let task = Task { status: "PENDING", attempts: 0, most: MOST, is_judged: false };
        let project = Self { folder, flow: "RUNNING", tasks: vec![task; TASKS.len()], edited: Vec::new() };
        let workspace = project.workspace(true);
        let flows = workspace.flows().unwrap();
        flows.write_graph(&Graph::read(&json!({"id": "g", "tasks": tasks})).unwrap(), true).unwrap();
        flows.create("g", "f", "F").unwrap();
        flows.make("f", "start", None).unwrap();
        project
    }

    /// The project as a process sees it that a person or an agent starts.
    fn workspace(&self, is_person: bool) -> Workspace {
        let options = CommitOptions { fsync: FsyncPolicy::Never, ..CommitOptions::default() };
        let kind = if is_person { ActorKind::Human } else { ActorKind::Agent };
        let actor = Actor { kind, name: "x".to_owned() };
        let attribution = Attribution { actor, ..Attribution::default() };
        let workspace = Workspace::open(self.folder.path()).unwrap().with_commit_options(options);
        workspace.with_attribution(attribution)
    }

    fn place(&self, task: usize) -> std::path::PathBuf {
        self.folder.path().join(format!("flows/f/tasks/{}.md", TASKS[task].0))
    }

    fn is_ready(&self, task: usize) -> bool {
        let (_, after, write) = TASKS[task];
        let of = |id: &str| TASKS.iter().position(|(own, ..)| *own == id).unwrap();
        let is_taken = |other: usize| {
            let overlap = |one: &str, other: &str| one.starts_with(other) || other.starts_with(one);
            self.tasks[other].status == "RUNNING"
                && write.iter().any(|own| TASKS[other].2.iter().any(|taken| overlap(own, taken)))
        };
        let own = &self.tasks[task];
        ["PENDING", "RETRY"].contains(&own.status)
            && own.attempts < own.most
            && after.iter().all(|id| self.tasks[of(id)].status == "SUCCESS")
            && !(0..TASKS.len()).any(|other| other != task && is_taken(other))
    }

    /// What follows from a failure.
    fn fail(&mut self, task: usize, is_retried: bool) {
        let own = &mut self.tasks[task];
        let is_left = is_retried && own.attempts < own.most;
        own.status = match (is_left, TASKS[task].0) {
            (true, _) => "RETRY",
            (false, "b") => "ESCALATED",
            (false, _) => "FAILED",
        };
    }

    fn complete(&mut self) {
        if self.flow == "RUNNING" && self.tasks.iter().all(|task| task.status == "SUCCESS") {
            self.flow = "COMPLETED";
        }
    }

    fn act(&mut self, deed: &Deed) {
        match *deed {
            Deed::ClaimNext => {
                let first = (0..TASKS.len()).find(|task| self.is_ready(*task));
                let wanted = first.filter(|_| self.flow == "RUNNING");
                if self.does(wanted.is_some(), false, |flows| {
                    let taken = flows.claim(("f", None), "w", None)?;
                    assert_eq!(Some(taken.task()), wanted.map(|task| TASKS[task].0));
                    Ok(())
                }) {
                    self.take(wanted.unwrap());
                }
            }
            Deed::Claim(task) => {
                let may = self.flow == "RUNNING" && self.is_ready(task);
                if self.does(may, false, |flows| flows.claim(("f", Some(TASKS[task].0)), "w", None).map(drop))
                {
                    self.take(task);
                }
            }
            Deed::End(task, exit, is_old) => self.end(task, exit, is_old),
            Deed::Verify(task, decision) => {
                let judgement = Judgement { decision: Some(decision), ..Judgement::default() };
                self.judge(task, false, &judgement);
            }
            Deed::Override(task, is_person) => {
                self.judge(task, is_person, &Judgement { is_override: true, ..Judgement::default() });
            }
            Deed::Retry(task, is_person) => {
                let may = is_person
                    && ["FAILED", "ESCALATED"].contains(&self.tasks[task].status)
                    && ["CREATED", "RUNNING", "PAUSED"].contains(&self.flow);
                let retry = |flows: &Flows<'_>| {
                    flows.make_of_task(("f", TASKS[task].0), &MoveCall::new("flow", "retry"), None).map(drop)
                };
                if self.does(may, is_person, retry) {
                    let own = &mut self.tasks[task];
                    (own.status, own.most) = ("RETRY", own.most.max(own.attempts + 1));
                }
            }
            Deed::Escalate(task) => {
                let may = self.tasks[task].status == "FAILED";
                if self.does(may, false, |flows| {
                    flows
                        .make_of_task(("f", TASKS[task].0), &MoveCall::new("flow", "escalate"), None)
                        .map(drop)
                }) {
                    self.tasks[task].status = "ESCALATED";
                }
            }
            Deed::AbortTask(task, is_person) => {
                let is_open = ["PENDING", "RUNNING", "RETRY", "VERIFYING"].contains(&self.tasks[task].status);
                let abort = |flows: &Flows<'_>| {
                    flows
                        .make_of_task(("f", TASKS[task].0), &MoveCall::new("flow", "abort-task"), None)
                        .map(drop)
                };
                if self.does(is_person && is_open, is_person, abort) {
                    self.tasks[task].status = "FAILED";
                }
            }
            Deed::Move(made, is_person) => self.make(made, is_person),
            Deed::Forge(_) | Deed::Delete(_) => self.edit(deed),
            Deed::Accept(is_person) => {
                // What is gone cannot be taken as it is.
                let may = is_person && self.edited.iter().all(|(_, status)| status.is_some());
                self.settle(may, is_person, |flows| flows.accept("f", Some("r")).map(drop), true);
            }
            Deed::Restore(is_person) => {
                self.settle(is_person, is_person, |flows| flows.restore("f", Some("r")).map(drop), false);
            }
        }
    }

    /// Makes a command, which works where it may, and nobody has edited a record.
    fn does(&self, may: bool, is_person: bool, command: impl Fn(&Flows<'_>) -> Result<(), Error>) -> bool {
        let workspace = self.workspace(is_person);
        let made = command(&workspace.flows().unwrap());
        match &made {
            Err(error) if error.to_string().contains("edited by other means") => {
                assert_eq!(error.to_string().matches(".md").count(), self.edited.len(), "{error}");
                return false;
            }
            _ => assert!(self.edited.is_empty(), "an edit went unseen: {made:?}"),
        }
        assert_eq!(made.is_ok(), may, "{made:?} of {:?}", self.tasks);
        may
    }

    fn take(&mut self, task: usize) {
        self.tasks[task].status = "RUNNING";
        self.tasks[task].attempts += 1;
    }

    fn end(&mut self, task: usize, exit_status: Option<i64>, is_old: bool) {
        let attempts = self.tasks[task].attempts;
        let number = if is_old { attempts + 1 } else { attempts };
        let attempt_id = Some(format!("f.{}.{number}", TASKS[task].0));
        let end = AttemptEnd { attempt_id, exit_status, ..AttemptEnd::default() };
        let may = self.tasks[task].status == "RUNNING" && !is_old;
        if self.does(may, false, |flows| flows.end_attempt(("f", TASKS[task].0), &end).map(drop)) {
            match exit_status {
                Some(0) => self.tasks[task].status = "VERIFYING",
                _ => self.fail(task, true),
            }
        }
    }

    fn judge(&mut self, task: usize, is_person: bool, judgement: &Judgement) {
        let may = self.tasks[task].status == "VERIFYING" && (is_person || !judgement.is_override);
        let verify = |flows: &Flows<'_>| flows.verify(("f", TASKS[task].0), judgement, Some("r")).map(drop);
        if !self.does(may, is_person, verify) {
            return;
        }
        match judgement.decision {
            Some(Decision::SoftFail) => self.fail(task, true),
            Some(Decision::HardFail) => self.fail(task, false),
            _ => {
                self.tasks[task].status = "SUCCESS";
                self.tasks[task].is_judged = true;
                self.complete();
            }
        }
    }

    fn make(&mut self, made: &str, is_person: bool) {
        let (from, to): (&[&str], _) = match made {
            "pause" => (&["RUNNING"], "PAUSED"),
            "resume" => (&["PAUSED"], "RUNNING"),
            "abort" => (&["RUNNING", "PAUSED", "ABORTED"], "ABORTED"),
            // It has started, and completes by itself.
            _ => (&[], ""),
        };
        let may = is_person && from.contains(&self.flow);
        if self.does(may, is_person, |flows| flows.make("f", made, Some("r")).map(drop)) {
            self.flow = to;
            let ended = ["SUCCESS", "FAILED", "ESCALATED"];
            for task in self.tasks.iter_mut().filter(|task| to == "ABORTED" && !ended.contains(&task.status))
            {
                task.status = "FAILED";
            }
            self.complete();
        }
    }

    /// Changes a record as another program, long ago, so that nobody waits for it to finish.
    fn edit(&mut self, deed: &Deed) {
        let (Deed::Forge(task) | Deed::Delete(task)) = *deed else { return };
        let status = self.tasks[task].status;
        if self.edited.iter().any(|(own, _)| *own == task) || status == "SUCCESS" {
            return;
        }
        if matches!(deed, Deed::Delete(_)) {
            fs::remove_file(self.place(task)).unwrap();
            return self.edited.push((task, None));
        }
        let text = fs::read_to_string(self.place(task)).unwrap();
        let forged = text.replace(&format!("status: {status}\n"), "status: ESCALATED\n");
        if forged != text {
            fs::write(self.place(task), forged).unwrap();
            let file = fs::File::options().write(true).open(self.place(task)).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
            self.edited.push((task, Some("ESCALATED")));
        }
    }

    /// A person decides on edits.
    fn settle(
        &mut self,
        may: bool,
        is_person: bool,
        decide: impl Fn(&Flows<'_>) -> Result<(), Error>,
        is_accepted: bool,
    ) {
        let workspace = self.workspace(is_person);
        let decided = decide(&workspace.flows().unwrap());
        if !may {
            // A person may have taken some edits as they are before one could not be.
            assert!(decided.is_err() != (is_person && self.edited.is_empty()), "{decided:?}");
            let workspace = self.workspace(true);
            workspace.flows().unwrap().restore("f", None).unwrap();
        } else {
            decided.unwrap();
        }
        for (task, status) in std::mem::take(&mut self.edited) {
            if let Some(status) = status.filter(|_| is_accepted && may) {
                self.tasks[task].status = status;
            }
        }
    }

    /// Holds the records against the model, and against what history derives.
    fn judge_all(&self) {
        let workspace = self.workspace(false);
        let flows = workspace.flows().unwrap();
        let state = flows.state("f").unwrap();
        assert_eq!(state.flow.status(), self.flow);
        for (record, task) in state.tasks.iter().zip(&self.tasks) {
            let closed = record.attempts().len() as u64 + u64::from(record.open_attempt().is_some());
            assert_eq!((record.status(), closed), (task.status, task.attempts), "{}", record.id());
            assert_eq!(record.number("attempt_count"), task.attempts);
            let passed = record.verifications().iter().any(|judged| {
                judged.failure_reasons.is_empty()
                    || record.human_actions().iter().any(|act| act.action == "override")
            });
            assert!(passed || !task.is_judged, "{}", record.id());
        }
        for replayed in flows.replay("f").unwrap() {
            assert!(matches!(replayed.state, HistoryState::Current { .. }), "{replayed:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn commands_and_records_are_what_the_model_says(deeds in prop::collection::vec(deed(), 1..48)) {
        let mut project = Project::new();
        for deed in &deeds {
            project.act(deed);
            if project.edited.is_empty() {
                project.judge_all();
            }
        }
    }
}
