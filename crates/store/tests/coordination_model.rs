//! Random commands of several agents, edits of records and of their file by hand, imports and projections,
//! against a simple model in memory: no task is claimed twice, none is lost, and whenever a command has
//! returned the file says what the records say, outside of what others changed in it.
#![expect(clippy::disallowed_methods, reason = "an edge: files are written here as other programs would")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
    time::SystemTime,
};
use stepmark_store::{Error, ErrorKind};

use proptest::{prelude::*, sample::Index};
use serde_json::{Map, Value as Json, json};
use stepmark_model::{
    artifact::ProjectPath,
    coordination::{NewTask, task_move},
    packs::MoveCall,
};
use stepmark_store::{
    commit::{CommitOptions, FsyncPolicy},
    coordination::Overwrite,
    workspace::Workspace,
};

/// The move of a task that the agent of this number makes.
fn by(name: &str, agent: usize) -> MoveCall {
    task_move(name, Some(&format!("w{agent}")))
}

const FILE: &str = ".coordination/tasks.json";

/// Something that somebody does. A task is one of those that there are, an agent one of three.
#[derive(Clone, Debug)]
enum Deed {
    Add {
        priority: i64,
        after: Option<Index>,
    },
    ClaimBest(usize),
    Claim(Index, usize),
    Start(Index, usize),
    Done(Index, usize),
    Fail(Index, usize),
    Release(Index, usize),
    Cancel(Index),
    Retry(Index),
    Free(Index),
    /// A person writes a note into a record.
    EditRecord(Index),
    /// A person blocks a task that is available.
    Block(Index),
    /// Another program writes a note into the task in the file.
    EditFile(Index),
    /// It adds a task there.
    AddToFile,
    /// It takes one away.
    RemoveFromFile(Index),
    DeleteFile,
    DamageFile,
    Import {
        takes_file: bool,
        removes: bool,
    },
    Project,
    OverwriteOne(Index),
    OverwriteAll,
}

fn deed() -> impl Strategy<Value = Deed> {
    let task = any::<Index>;
    let owned = || (any::<Index>(), 0..3_usize);
    let often = prop_oneof![
        3 => (1..4_i64, prop::option::of(task())).prop_map(|(priority, after)| Deed::Add { priority, after }),
        3 => (0..3_usize).prop_map(Deed::ClaimBest),
        2 => owned().prop_map(|(task, agent)| Deed::Claim(task, agent)),
        2 => owned().prop_map(|(task, agent)| Deed::Start(task, agent)),
        4 => owned().prop_map(|(task, agent)| Deed::Done(task, agent)),
        3 => owned().prop_map(|(task, agent)| Deed::Fail(task, agent)),
        2 => owned().prop_map(|(task, agent)| Deed::Release(task, agent)),
        1 => task().prop_map(Deed::Cancel),
        2 => task().prop_map(Deed::Retry),
        1 => task().prop_map(Deed::Free),
    ];
    let by_hand = prop_oneof![
        3 => task().prop_map(Deed::EditRecord),
        1 => task().prop_map(Deed::Block),
        4 => task().prop_map(Deed::EditFile),
        2 => Just(Deed::AddToFile),
        2 => task().prop_map(Deed::RemoveFromFile),
        1 => Just(Deed::DeleteFile),
        1 => Just(Deed::DamageFile),
    ];
    let both = prop_oneof![
        3 => any::<(bool, bool)>().prop_map(|(takes_file, removes)| Deed::Import { takes_file, removes }),
        1 => Just(Deed::Project),
        1 => task().prop_map(Deed::OverwriteOne),
        1 => Just(Deed::OverwriteAll),
    ];
    prop_oneof![6 => often, 3 => by_hand, 2 => both]
}

/// A task, as the model knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Task {
    status: String,
    priority: i64,
    holder: Option<String>,
    after: Vec<String>,
    retries: i64,
    note: Option<u64>,
}

impl Task {
    fn of(values: &Map<String, Json>) -> Self {
        let text = |key: &str| values.get(key).and_then(Json::as_str).map(str::to_owned);
        let after = values.get("dependencies").and_then(Json::as_array).into_iter().flatten();
        Self {
            status: text("status").unwrap_or_else(|| "available".to_owned()),
            priority: values.get("priority").and_then(Json::as_i64).unwrap_or(5),
            holder: text("claimed_by"),
            after: after.map(|id| id.as_str().unwrap().to_owned()).collect(),
            retries: values.get("retry_count").and_then(Json::as_i64).unwrap_or_default(),
            note: values.get("note").and_then(Json::as_u64),
        }
    }

    fn is(&self, statuses: &[&str]) -> bool {
        statuses.contains(&self.status.as_str())
    }
}

struct Project {
    folder: tempfile::TempDir,
    workspace: Workspace,
    tasks: BTreeMap<String, Task>,
    /// What others changed in the file, by id: the task there, or nothing where they took it away.
    foreign: BTreeMap<String, Option<Json>>,
    /// The ids of which the file said something when a command returned last.
    written: BTreeSet<String>,
    count: u64,
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".stepmark")).unwrap();
        fs::write(folder.path().join(".stepmark/config.yaml"), "coordination: {option: A}\n").unwrap();
        let options = CommitOptions { fsync: FsyncPolicy::Never, ..CommitOptions::default() };
        let workspace = Workspace::open(folder.path()).unwrap().with_commit_options(options);
        workspace.coordination().unwrap().begin("G", "# Plan\n").unwrap();
        let (tasks, foreign) = (BTreeMap::new(), BTreeMap::new());
        Self { folder, workspace, tasks, foreign, written: BTreeSet::new(), count: 0 }
    }

    fn place(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Writes as another program, long ago, so that nobody waits for it to finish.
    fn write(&self, path: &str, text: &str) {
        fs::write(self.place(path), text).unwrap();
        let file = fs::File::options().write(true).open(self.place(path)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    }

    fn new_id(&mut self, letter: char) -> String {
        self.count += 1;
        format!("{letter}{:03}", self.count)
    }

    fn id(&self, task: &Index) -> Option<String> {
        (!self.tasks.is_empty()).then(|| task.get(&self.tasks.keys().collect::<Vec<_>>()).to_string())
    }

    /// The file, where it is one.
    fn file(&self) -> Option<Json> {
        serde_json::from_slice(&fs::read(self.place(FILE)).ok()?).ok()
    }

    fn is_done(&self, id: &str) -> bool {
        self.tasks.get(id).is_some_and(|task| task.status == "done")
    }

    fn waits(&self, task: &Task) -> bool {
        !task.after.iter().all(|id| self.is_done(id))
    }

    fn holds(&self, agent: &str) -> bool {
        let holds = |task: &Task| task.holder.as_deref() == Some(agent);
        self.tasks.values().any(|task| task.is(&["claimed", "in_progress"]) && holds(task))
    }

    /// Does it, and returns whether a command made the file follow.
    fn act(&mut self, deed: &Deed) -> bool {
        match deed {
            Deed::Add { priority, after } => self.add(*priority, after.as_ref()),
            Deed::ClaimBest(agent) => self.claim_best(&format!("w{agent}")),
            Deed::Claim(task, agent) => self.claim(task, &format!("w{agent}")),
            Deed::Start(task, agent) => self.make(task, &by("start", *agent), &["claimed"], "in_progress"),
            Deed::Done(task, agent) => {
                let made = by("done", *agent).with("output", "done").with("files_modified", json!([]));
                self.make(task, &made, &["claimed", "in_progress"], "done")
            }
            Deed::Fail(task, agent) => {
                let made = by("fail", *agent).with("error", "no");
                self.make(task, &made, &["claimed", "in_progress"], "failed")
            }
            Deed::Release(task, agent) => {
                self.make(task, &by("release", *agent), &["claimed", "in_progress"], "available")
            }
            Deed::Cancel(task) => {
                let from = ["pending", "blocked", "available", "claimed", "in_progress"];
                self.make(task, &task_move("cancel", None), &from, "cancelled")
            }
            Deed::Retry(task) => self.make(task, &task_move("retry", None), &["failed"], "available"),
            Deed::Free(task) => {
                self.make(task, &task_move("free", None), &["pending", "blocked"], "available")
            }
            Deed::EditRecord(_) | Deed::Block(_) => self.edit_record(deed),
            Deed::EditFile(_) | Deed::AddToFile | Deed::RemoveFromFile(_) => self.edit_file(deed),
            Deed::DeleteFile | Deed::DamageFile => self.lose_file(deed),
            Deed::Import { takes_file, removes } => self.import(*takes_file, *removes),
            Deed::Project => self.project(&Overwrite::None),
            Deed::OverwriteOne(task) => {
                let id = self.id(task).unwrap_or_default();
                self.project(&Overwrite::Records(BTreeSet::from([id])))
            }
            Deed::OverwriteAll => self.project(&Overwrite::All),
        }
    }

    fn add(&mut self, priority: i64, after: Option<&Index>) -> bool {
        let mut task = NewTask::new(self.new_id('t'), "Do it");
        task.priority = priority;
        task.dependencies = after.and_then(|after| self.id(after)).into_iter().collect();
        self.workspace.coordination().unwrap().create(std::slice::from_ref(&task)).unwrap();
        let status = "available".to_owned();
        let known = Task { status, priority, after: task.dependencies, ..Task::default() };
        self.tasks.insert(task.id, known);
        true
    }

    fn claim_best(&mut self, agent: &str) -> bool {
        let may = |id: &&String| {
            let task = &self.tasks[*id];
            task.is(&["available"]) && !self.waits(task) && !self.foreign.contains_key(*id)
        };
        let best = self.tasks.keys().filter(may).map(|id| self.tasks[id].priority).min();
        let best = best.filter(|_| !self.holds(agent));
        let claimed = self.workspace.coordination().unwrap().claim(agent);
        let claimed = expect(claimed, best.is_some(), "claim");
        let Some(claimed) = claimed else { return false };
        let task = self.tasks.get(&claimed.task.id).cloned().unwrap();
        assert!(may(&&claimed.task.id), "{}: {task:?}", claimed.task.id);
        assert_eq!(Some(task.priority), best);
        self.take(&claimed.task.id, agent);
        true
    }

    fn claim(&mut self, task: &Index, agent: &str) -> bool {
        let Some(id) = self.id(task) else { return false };
        let task = &self.tasks[&id];
        let is_own = task.is(&["claimed"]) && task.holder.as_deref() == Some(agent);
        let may = task.is(&["available"]) && !self.waits(task) && !self.holds(agent);
        let may = may && !self.foreign.contains_key(&id);
        let claimed = self.workspace.coordination().unwrap().claim_task(&id, agent);
        if expect(claimed, is_own || may, &id).is_some() {
            self.take(&id, agent);
            return true;
        }
        false
    }

    fn take(&mut self, id: &str, agent: &str) {
        let task = self.tasks.get_mut(id).unwrap();
        (task.status, task.holder) = ("claimed".to_owned(), Some(agent.to_owned()));
    }

    fn make(&mut self, task: &Index, made: &MoveCall, from: &[&str], to: &str) -> bool {
        let Some(id) = self.id(task) else { return false };
        let task = &self.tasks[&id];
        let is_own = made.text("agent").is_some_and(|agent| task.holder.as_deref() == Some(agent));
        // What is said again changes nothing.
        let is_again = is_own && task.is(&[to]);
        let may = task.is(from)
            && (made.text("agent").is_none() || is_own || task.holder.is_none())
            && (made.name != "retry" || task.retries < 3)
            && (made.name != "free" || !self.waits(task));
        let done = self.workspace.coordination().unwrap().make(&id, made);
        if expect(done, may || is_again, &format!("{made:?} of {id}, {task:?}")).is_none() {
            return false;
        }
        if is_again {
            return true;
        }
        let task = self.tasks.get_mut(&id).unwrap();
        task.status = to.to_owned();
        if ["release", "cancel", "retry"].contains(&&*made.name) {
            task.holder = None;
        }
        task.retries += i64::from(made.name == "retry");
        if to == "done" {
            let freed = |task: &&mut Task| task.is(&["pending", "blocked"]) && task.after.contains(&id);
            let waiting: Vec<String> = self
                .tasks
                .values()
                .flat_map(|task| task.after.clone())
                .filter(|id| !self.is_done(id))
                .collect();
            for task in self.tasks.values_mut().filter(freed) {
                if !task.after.iter().any(|id| waiting.contains(id)) {
                    task.status = "available".to_owned();
                }
            }
        }
        true
    }

    fn edit_record(&mut self, deed: &Deed) -> bool {
        let (Deed::EditRecord(task) | Deed::Block(task)) = deed else { return false };
        let Some(id) = self.id(task) else { return false };
        let path = format!(".coordination/tasks/{id}.md");
        let text = fs::read_to_string(self.place(&path)).unwrap();
        self.count += 1;
        let task = self.tasks.get_mut(&id).unwrap();
        let edited = if matches!(deed, Deed::Block(_)) {
            if !task.is(&["available"]) {
                return false;
            }
            task.status = "blocked".to_owned();
            text.replace("status: available", "status: blocked")
        } else {
            task.note = Some(self.count);
            let lines = text.lines().filter(|line| !line.starts_with("note:"));
            let text: String = lines.map(|line| format!("{line}\n")).collect();
            text.replacen("\ndescription:", &format!("\nnote: {}\ndescription:", self.count), 1)
        };
        assert_ne!(edited, text);
        self.write(&path, &edited);
        // No move is made of it before a person accepts that.
        let path = ProjectPath::new(path).unwrap();
        assert!(self.workspace.history().accept_edit(&path, "as agreed").unwrap());
        false
    }

    fn edit_file(&mut self, deed: &Deed) -> bool {
        let Some(mut file) = self.file() else { return false };
        let known = match deed {
            Deed::EditFile(task) | Deed::RemoveFromFile(task) => self.id(task).unwrap_or_default(),
            _ => String::new(),
        };
        let tasks = file["tasks"].as_array_mut().unwrap();
        let place = tasks.iter().position(|task| task["id"] == known.as_str());
        let id = match (deed, place) {
            (Deed::AddToFile, _) => {
                let id = self.new_id('f');
                tasks.push(json!({"id": id, "description": "Theirs", "status": "available", "priority": 5}));
                self.foreign.insert(id.clone(), tasks.last().cloned());
                id
            }
            (Deed::EditFile(_), Some(place)) => {
                self.count += 1;
                tasks[place]["note"] = self.count.into();
                self.foreign.insert(known.clone(), Some(tasks[place].clone()));
                known
            }
            (Deed::RemoveFromFile(_), Some(place)) => {
                tasks.remove(place);
                self.foreign.insert(known.clone(), None);
                known
            }
            _ => return false,
        };
        // Gone again, or never said here: nothing is changed.
        if self.foreign[&id].is_none() && !self.written.contains(&id) {
            self.foreign.remove(&id);
        }
        self.write(FILE, &file.to_string());
        false
    }

    fn lose_file(&mut self, deed: &Deed) -> bool {
        match deed {
            Deed::DamageFile => self.write(FILE, "{\"tasks\": ["),
            _ => drop(fs::remove_file(self.place(FILE))),
        }
        self.foreign.clear();
        false
    }

    fn import(&mut self, takes_file: bool, removes: bool) -> bool {
        let coordination = self.workspace.coordination().unwrap();
        let found = match coordination.survey(None) {
            Err(error) if error.kind() == ErrorKind::Refused => return false,
            found => found.unwrap(),
        };
        let ids: BTreeSet<&String> = found.survey.rows.iter().map(|row| &row.id).collect();
        assert_eq!(ids, self.foreign.keys().collect(), "what others changed, and nothing else");
        coordination.import(&found, takes_file, removes).unwrap();
        for (id, theirs) in std::mem::take(&mut self.foreign) {
            match theirs {
                Some(task) if takes_file || !self.tasks.contains_key(&id) => {
                    drop(self.tasks.insert(id, Task::of(task.as_object().unwrap())));
                }
                None if removes => drop(self.tasks.remove(&id)),
                // It stays away until somebody decides.
                None => drop(self.foreign.insert(id, None)),
                Some(_) => {}
            }
        }
        true
    }

    fn project(&mut self, overwrite: &Overwrite) -> bool {
        self.workspace.coordination().unwrap().project(overwrite).unwrap();
        match overwrite {
            Overwrite::None => {}
            Overwrite::Records(ids) => self.foreign.retain(|id, _| !ids.contains(id)),
            Overwrite::All => self.foreign.clear(),
        }
        true
    }

    /// Holds records, file and model against each other after a command that made the file follow.
    fn judge(&mut self) {
        let coordination = self.workspace.coordination().unwrap();
        let state = coordination.state().unwrap();
        let found = state.tasks.iter().map(|task| (task.id.clone(), Task::of(&task.values)));
        assert_eq!(found.collect::<BTreeMap<_, _>>(), self.tasks, "no task is lost, or says anything else");
        let record = |id: &str| {
            let task = state.tasks.iter().find(|task| task.id == id)?;
            let mut values: Map<String, Json> = (*task.values).clone();
            values.insert("id".to_owned(), id.into());
            Some(Json::Object(values))
        };
        let mut wanted: BTreeMap<String, Json> =
            self.tasks.keys().map(|id| (id.clone(), record(id).unwrap())).collect();
        // Others and records may have come to say the same.
        self.foreign.retain(|id, theirs| *theirs != record(id));
        for (id, theirs) in &self.foreign {
            match theirs {
                Some(theirs) => drop(wanted.insert(id.clone(), theirs.clone())),
                None => drop(wanted.remove(id)),
            }
        }
        let file = self.file().unwrap();
        let file = file["tasks"].as_array().unwrap().iter();
        let file = file.map(|task| (task["id"].as_str().unwrap().to_owned(), task.clone()));
        assert_eq!(file.collect::<BTreeMap<_, _>>(), wanted, "the file says it, and theirs stays");
        let drift = coordination.drift().unwrap();
        let told: BTreeSet<&String> = drift.iter().map(|drift| &drift.id).collect();
        assert_eq!(told, self.foreign.keys().collect(), "what others changed is told, and nothing else");
        self.written = self.tasks.keys().cloned().collect();
        let holders = self.tasks.values().filter(|task| task.is(&["claimed", "in_progress"]));
        let holders: Vec<&String> = holders.filter_map(|task| task.holder.as_ref()).collect();
        assert_eq!(holders.len(), holders.iter().collect::<BTreeSet<_>>().len(), "one task each");
    }
}

/// What was done; `None` where it was refused, as it should be.
fn expect<T: std::fmt::Debug>(done: Result<T, Error>, may: bool, what: &str) -> Option<T> {
    match done {
        Ok(done) => {
            assert!(may, "{what} should be refused: {done:?}");
            Some(done)
        }
        Err(error) if !may && (error.is_idle() || error.kind() == ErrorKind::Refused) => None,
        Err(error) => panic!("{what}, which {}: {error:?}", if may { "is allowed" } else { "is refused" }),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_task_is_claimed_twice_or_lost(deeds in prop::collection::vec(deed(), 1..32)) {
        let mut project = Project::new();
        for deed in &deeds {
            if project.act(deed) {
                project.judge();
            }
        }
        project.project(&Overwrite::None);
        project.judge();
        // Another process, and one without what this clone remembers, see the same.
        fs::remove_dir_all(project.place(".stepmark/local/cache")).ok();
        project.workspace = Workspace::open(project.folder.path()).unwrap();
        project.judge();
    }
}
