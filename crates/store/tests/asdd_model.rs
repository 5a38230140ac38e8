//! Random commands of agents, the custodian and a tech lead on two slices, and edits of their files and of
//! the manifest by hand, against what docs/asdd.md promises: nothing moves but by who may, no proposal is
//! lost or committed twice, an edited file halts its slice alone, the manifest says what the slices say.
#![expect(clippy::disallowed_methods, reason = "an edge: files are written here as other programs would")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
    time::SystemTime,
};
use stepmark_store::Error;

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use stepmark_model::{
    asdd::{AsddRefusal, Confidence, Failure, Proposal, Record, SliceKind, Verdict, slice_move},
    journal::{Actor, ActorKind, Attribution, HistoryState},
    packs::MoveCall,
    records::RecordSet as _,
};
use stepmark_store::{
    asdd::{Asdd, Draft},
    commit::{CommitOptions, FsyncPolicy},
    projection::Overwrite,
    workspace::Workspace,
};

const SLICES: [&str; 2] = ["SLICE-001", "SLICE-002"];
const AGENTS: [&str; 2] = ["discovery", "spec"];
const MANIFEST: &str = ".asdd/state/manifest.json";

/// The role in which somebody acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Worker,
    Custodian,
    TechLead,
}

/// Something that somebody does, to one of the slices.
#[derive(Clone, Debug)]
enum Deed {
    Begin(usize, usize),
    /// The agent proposes a name.
    Name(usize, usize, u8),
    /// It proposes the next phase, with file, trace and confidence.
    Phase(usize, usize),
    /// It is not sure.
    Unsure(usize, usize),
    /// The first proposal that waits.
    Commit(usize, Role),
    Reject(usize, Role),
    Approve(usize, Role),
    Fail(usize),
    Unblock(usize, Role),
    Accept(usize, Role),
    EditFile(usize),
    EditManifest(usize),
    LoseManifest,
    OverwriteAll,
}

fn deed() -> impl Strategy<Value = Deed> {
    let slice = || 0..SLICES.len();
    let pair = || (slice(), 0..AGENTS.len());
    let role = || prop_oneof![1 => Just(Role::Worker), 3 => Just(Role::Custodian), 3 => Just(Role::TechLead)];
    let by = move || (slice(), role());
    prop_oneof![
        8 => pair().prop_map(|(slice, agent)| Deed::Begin(slice, agent)),
        5 => (pair(), 0..3_u8).prop_map(|((slice, agent), name)| Deed::Name(slice, agent, name)),
        5 => pair().prop_map(|(slice, agent)| Deed::Phase(slice, agent)),
        1 => pair().prop_map(|(slice, agent)| Deed::Unsure(slice, agent)),
        8 => by().prop_map(|(slice, role)| Deed::Commit(slice, role)),
        2 => by().prop_map(|(slice, role)| Deed::Reject(slice, role)),
        4 => by().prop_map(|(slice, role)| Deed::Approve(slice, role)),
        1 => slice().prop_map(Deed::Fail),
        3 => by().prop_map(|(slice, role)| Deed::Unblock(slice, role)),
        3 => by().prop_map(|(slice, role)| Deed::Accept(slice, role)),
        2 => slice().prop_map(Deed::EditFile),
        1 => slice().prop_map(Deed::EditManifest),
        1 => Just(Deed::LoseManifest),
        3 => Just(Deed::OverwriteAll),
    ]
}

struct Project {
    folder: tempfile::TempDir,
    count: u32,
    /// The slices that somebody changed in the manifest.
    foreign: BTreeSet<usize>,
    /// Each proposal with its verdict, as it was told last.
    verdicts: BTreeMap<String, Verdict>,
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".stepmark")).unwrap();
        fs::write(folder.path().join(".stepmark/config.yaml"), "asdd: {folder: .asdd}\n").unwrap();
        let project = Self { folder, count: 0, foreign: BTreeSet::new(), verdicts: BTreeMap::new() };
        let workspace = project.workspace(Role::TechLead);
        let asdd = workspace.asdd().unwrap();
        asdd.init(Record::new(SliceKind::Project, "asdd", serde_json::Map::new())).unwrap();
        for (place, slice) in SLICES.iter().enumerate() {
            asdd.add(slice, ("One", "FEATURE"), "DISCOVERY").unwrap();
            project.write(&project.file(place), "# As it was written\n");
            project.write("trace.md", "# Why\n");
        }
        project
    }

    fn workspace(&self, role: Role) -> Workspace {
        let (kind, name) = match role {
            Role::Worker => (ActorKind::Agent, "x"),
            Role::Custodian => (ActorKind::Agent, "knowledge"),
            Role::TechLead => (ActorKind::Human, "Ada"),
        };
        let options = CommitOptions { fsync: FsyncPolicy::Never, ..CommitOptions::default() };
        let attribution =
            Attribution { actor: Actor { kind, name: name.to_owned() }, ..Attribution::default() };
        let workspace = Workspace::open(self.folder.path()).unwrap().with_commit_options(options);
        workspace.with_attribution(attribution)
    }

    fn place(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// The file of the phase of a slice.
    fn file(&self, slice: usize) -> String {
        format!("specs-{slice}.md")
    }

    /// Writes as another program, long ago, so that nobody waits for it to finish.
    fn write(&self, path: &str, text: &str) {
        fs::write(self.place(path), text).unwrap();
        let file = fs::File::options().write(true).open(self.place(path)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    }

    fn slices(&self) -> Vec<Record> {
        let workspace = self.workspace(Role::Worker);
        let state = workspace.asdd().unwrap().state().unwrap();
        SLICES.iter().map(|id| state.record(SliceKind::Slice, id).unwrap().clone()).collect()
    }

    fn waiting(&self, slice: usize) -> Option<Proposal> {
        let workspace = self.workspace(Role::Worker);
        let all = workspace.asdd().unwrap().proposals().unwrap();
        all.into_iter().find(|own| own.verdict == Verdict::Pending && own.slice_id == SLICES[slice])
    }

    fn propose(&mut self, slice: usize, agent: usize, draft: Draft) -> bool {
        self.count += 1;
        let id = format!("p{:03}", self.count);
        let has_begun = self.does(Role::Worker, |asdd| {
            match asdd.propose(&id, SLICES[slice], AGENTS[agent], draft.clone()) {
                Err(error) if error.detail::<AsddRefusal>().is_none() => Err(error),
                // It is kept, whatever becomes of it.
                proposed => Ok(proposed.is_ok()),
            }
        });
        if has_begun.is_ok() {
            self.verdicts.insert(id, Verdict::Pending);
        }
        matches!(has_begun, Ok(true))
    }

    fn does<T>(&self, role: Role, command: impl Fn(&Asdd<'_>) -> Result<T, Error>) -> Result<T, Error> {
        let workspace = self.workspace(role);
        command(&workspace.asdd().unwrap())
    }

    /// Does it, and returns the slice that may be another one now, with whether the command says that it is.
    fn act(&mut self, deed: &Deed) -> Option<(usize, bool)> {
        let drifted = |slice: &Record, file: &str| {
            let accepted = slice.values.get("accepted").and_then(|all| all.get(file)).and_then(Json::as_str);
            let now =
                stepmark_model::artifact::FileHash::of(&fs::read(self.place(file)).unwrap()).to_string();
            // A file that the slice does not name as one of its phases is none of its business.
            let named = slice.values.get("phase_data").and_then(Json::as_object);
            named.is_some_and(|named| named.values().any(|path| path == file))
                && accepted.is_some_and(|accepted| accepted != now)
        };
        match *deed {
            Deed::Begin(slice, agent) => {
                let is_halted =
                    drifted(&self.slices()[slice], &self.file(slice)) || self.foreign.contains(&slice);
                let begun = self.does(Role::Worker, |asdd| asdd.begin(SLICES[slice], AGENTS[agent]));
                assert_eq!(begun.is_err(), is_halted, "{:?}", begun.err());
                None
            }
            Deed::Name(slice, agent, name) => {
                let set = [("name".to_owned(), json!(format!("N{name}")))].into_iter().collect();
                Some((slice, self.propose(slice, agent, Draft { set, ..Draft::default() })))
            }
            Deed::Phase(slice, agent) => {
                let set = [("status".to_owned(), json!("SPEC"))].into_iter().collect();
                let draft = Draft {
                    set,
                    files: vec![("intent".to_owned(), self.file(slice))],
                    confidence: Some(Confidence { score: 0.97, uncertainty_factors: Vec::new() }),
                    trace: Some("trace.md".to_owned()),
                };
                Some((slice, self.propose(slice, agent, draft)))
            }
            Deed::Unsure(slice, agent) => {
                let factors = vec!["all of it".to_owned()];
                let confidence = Some(Confidence { score: 0.2, uncertainty_factors: factors });
                Some((slice, self.propose(slice, agent, Draft { confidence, ..Draft::default() })))
            }
            Deed::Commit(slice, role) => {
                let waiting = self.waiting(slice)?;
                let committed = self.does(role, |asdd| asdd.commit(&waiting.proposal_id)).is_ok();
                assert!(!committed || role == Role::Custodian, "{role:?} commits");
                Some((slice, committed))
            }
            Deed::Reject(slice, role) => {
                let waiting = self.waiting(slice)?;
                let rejected = self.does(role, |asdd| asdd.reject(&waiting.proposal_id, "r", false)).is_ok();
                assert_eq!(rejected, role == Role::Custodian, "{role:?} refuses");
                Some((slice, rejected))
            }
            Deed::Approve(slice, role) => {
                let made = slice_move("approve").with("to", "SPEC");
                Some((slice, self.change(slice, role, "asdd-approve", &made)))
            }
            Deed::Fail(slice) => {
                let (agent, uncertainty_factors) = ("spec".to_owned(), vec!["all of it".to_owned()]);
                let failure = Failure { agent, score: 0.2, uncertainty_factors };
                Some((slice, self.does(Role::Worker, |asdd| asdd.fail(SLICES[slice], &failure)).is_ok()))
            }
            Deed::Unblock(slice, role) => {
                Some((slice, self.change(slice, role, "asdd-unblock", &slice_move("unblock"))))
            }
            Deed::Accept(slice, role) => {
                let accepted =
                    self.does(role, |asdd| asdd.accept(SLICES[slice], &self.file(slice), "r")).is_ok();
                assert!(!accepted || role == Role::TechLead, "{role:?} accepts");
                Some((slice, accepted))
            }
            Deed::EditFile(slice) => {
                self.count += 1;
                self.write(&self.file(slice), &format!("# Edited {}\n", self.count));
                None
            }
            Deed::EditManifest(slice) => {
                let bytes = fs::read(self.place(MANIFEST)).ok()?;
                let mut manifest: Json = serde_json::from_slice(&bytes).ok()?;
                self.count += 1;
                manifest["slices"][slice]["name"] = format!("Theirs {}", self.count).into();
                self.write(MANIFEST, &manifest.to_string());
                self.foreign.insert(slice);
                None
            }
            Deed::LoseManifest => {
                fs::remove_file(self.place(MANIFEST)).ok();
                self.foreign.clear();
                None
            }
            Deed::OverwriteAll => {
                self.does(Role::TechLead, |asdd| asdd.project(&Overwrite::All)).unwrap();
                self.foreign.clear();
                None
            }
        }
    }

    /// Makes a change that is a tech lead's.
    fn change(&self, slice: usize, role: Role, event: &'static str, made: &MoveCall) -> bool {
        let changed = self.does(role, |asdd| asdd.change(SLICES[slice], event, made)).is_ok();
        assert!(!changed || role == Role::TechLead, "{role:?} makes {event}");
        changed
    }

    /// Holds what is there against what was there before a deed that may have changed one slice.
    fn judge(&mut self, before: &[Record], deed: &Deed, changed: Option<(usize, bool)>) {
        let after = self.slices();
        for (place, (before, after)) in before.iter().zip(&after).enumerate() {
            let may = matches!(changed, Some((slice, true)) if slice == place);
            assert!(may || before == after, "{deed:?} changed {}: {before:?} {after:?}", SLICES[place]);
        }
        let workspace = self.workspace(Role::Worker);
        let asdd = workspace.asdd().unwrap();
        let all = asdd.proposals().unwrap();
        assert_eq!(all.len(), self.verdicts.len(), "none is lost or doubled");
        for proposal in all {
            let told = self.verdicts.insert(proposal.proposal_id.clone(), proposal.verdict).unwrap();
            assert!(told == Verdict::Pending || told == proposal.verdict, "{proposal:?} was {told:?}");
        }
        let drift: BTreeSet<String> = asdd.drift().unwrap().into_iter().collect();
        let foreign: BTreeSet<String> = self.foreign.iter().map(|place| SLICES[*place].to_owned()).collect();
        assert_eq!(drift, foreign, "the manifest says what the slices say, but for what others changed");
        let mut checked_out = workspace.repository().checked_out();
        for slice in SLICES {
            let path = asdd.path_of(SliceKind::Slice, slice).unwrap();
            let replayed = workspace.history().replay(&path, &mut checked_out).unwrap();
            assert!(matches!(replayed.state, HistoryState::Current { .. }), "{replayed:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn slices_change_by_who_may_and_no_proposal_is_lost(deeds in prop::collection::vec(deed(), 1..40)) {
        let mut project = Project::new();
        for deed in &deeds {
            let before = project.slices();
            let changed = project.act(deed);
            project.judge(&before, deed, changed);
        }
    }
}
