//! Ten thousand crashes, stale gates and foreign edits, and what the gates answer (issue: "a wrong go-on
//! never happens").
#![expect(clippy::disallowed_methods, reason = "tests write files as other programs would")]

use std::{collections::BTreeSet, fs, io::Write, path::PathBuf, time::SystemTime};

use crate::gates::*;

const ROUNDS: usize = 10_000;
/// Names of equal length, so that edits may keep the size of the file.
const STEPS: [&str; 6] = ["step-01-aa", "step-02-bb", "step-03-cc", "step-04-dd", "step-05-ee", "step-06-ff"];
const ARTIFACT: &str = "a.md";

/// xorshift64*, so that every run is the same.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(high).unwrap() % end
    }
}

/// The point at which a process dies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Crash {
    Nowhere,
    BeforeClosing,
    BeforePublishing,
    BeforeOpening,
}

struct Model {
    _folder: tempfile::TempDir,
    workspace: Workspace,
    path: ProjectPath,
    random: Random,
    /// The steps that the artifact says are done; `None` where it says nothing that counts.
    truth: Option<BTreeSet<usize>>,
    /// States of long ago, as other branches have them.
    versions: Vec<(Vec<u8>, Option<BTreeSet<usize>>)>,
    old_gates: Vec<(String, Vec<u8>)>,
}

#[derive(Default)]
struct Count {
    answers: usize,
    wrong_go_on: usize,
    wrong_stop: usize,
}

impl Count {
    fn add(&mut self, answer: bool, truth: bool) {
        self.answers += 1;
        self.wrong_go_on += usize::from(answer && !truth);
        self.wrong_stop += usize::from(!answer && truth);
    }
}

fn file(steps: &BTreeSet<usize>) -> Vec<u8> {
    let names: Vec<&str> = steps.iter().map(|step| STEPS[*step]).collect();
    format!("---\nstepsCompleted: [{}]\n---\n", names.join(", ")).into_bytes()
}

impl Model {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let path = ProjectPath::new(ARTIFACT).unwrap();
        let (random, truth) = (Random(0x5EED), Some(BTreeSet::new()));
        fs::write(folder.path().join(ARTIFACT), file(&BTreeSet::new())).unwrap();
        Self { _folder: folder, workspace, path, random, truth, versions: Vec::new(), old_gates: Vec::new() }
    }

    fn place(&self, name: &str) -> PathBuf {
        self.workspace.root().path().join(name)
    }

    fn replace(&mut self, bytes: &[u8], truth: Option<BTreeSet<usize>>) {
        fs::write(self.place("new"), bytes).unwrap();
        fs::rename(self.place("new"), self.place(ARTIFACT)).unwrap();
        self.truth.clone_from(&truth);
        if self.random.below(4) == 0 {
            self.versions.push((bytes.to_vec(), truth));
        }
    }

    fn commit(&mut self, steps: BTreeSet<usize>) {
        let crash = [
            Crash::Nowhere,
            Crash::Nowhere,
            Crash::BeforeClosing,
            Crash::BeforePublishing,
            Crash::BeforeOpening,
        ];
        let crash = crash[self.random.below(crash.len())];
        let bytes = file(&steps);
        if crash == Crash::BeforeClosing {
            return;
        }
        self.workspace
            .gates()
            .close(
                &self.path,
                Some(&stepmark_model::artifact::Artifact::read(self.path.clone(), bytes.clone())),
            )
            .unwrap();
        if crash == Crash::BeforePublishing {
            return;
        }
        self.replace(&bytes, Some(steps));
        if crash != Crash::BeforeOpening {
            self.workspace.gates().open(&self.path, None).unwrap();
        }
    }

    fn edit_in_place(&mut self) {
        let mut steps = self.truth.clone().unwrap_or_default();
        // Often one step for another: the size stays.
        if let Some(first) = steps.pop_first() {
            steps.insert((first + 1 + self.random.below(STEPS.len() - 1)) % STEPS.len());
        } else {
            steps.insert(self.random.below(STEPS.len()));
        }
        let modified: Option<SystemTime> =
            fs::metadata(self.place(ARTIFACT)).ok().and_then(|metadata| metadata.modified().ok());
        let mut opened = fs::File::create(self.place(ARTIFACT)).unwrap();
        opened.write_all(&file(&steps)).unwrap();
        if let Some(modified) = modified.filter(|_| self.random.below(2) == 0) {
            opened.set_modified(modified).unwrap();
        }
        self.truth = Some(steps);
    }

    fn damage(&mut self) {
        match self.random.below(3) {
            0 => {
                let _absent = fs::remove_file(self.place(ARTIFACT));
                self.truth = None;
            }
            1 => self.replace(b"---\nstepsCompleted: [step-01-aa, step-02-bb\n---\n", None),
            _ => self.replace(b"---\nstepsCompleted: [step-01-aa]\nstepsCompleted: []\n---\n", None),
        }
    }

    fn disturb_gates(&mut self) {
        let folder = self.place(".stepmark/gates").join(ARTIFACT);
        let names: Vec<String> =
            self.workspace.gates().of(&self.path).unwrap().into_iter().map(|gate| gate.file_name).collect();
        let chosen = (!names.is_empty()).then(|| names[self.random.below(names.len())].clone());
        match (self.random.below(4), chosen) {
            (0, Some(name)) => fs::remove_file(folder.join(name)).unwrap(),
            (1, Some(name)) => {
                let bytes = fs::read(folder.join(&name)).unwrap();
                self.old_gates.push((name, bytes));
            }
            (2, Some(name)) => {
                let bytes = fs::read(folder.join(&name)).unwrap();
                fs::write(folder.join(name), &bytes[..self.random.below(bytes.len())]).unwrap();
            }
            _ if !self.old_gates.is_empty() => {
                let (name, bytes) = self.old_gates[self.random.below(self.old_gates.len())].clone();
                fs::create_dir_all(&folder).unwrap();
                fs::write(folder.join(name), bytes).unwrap();
            }
            _ => {}
        }
    }

    fn round(&mut self) {
        let mut steps = self.truth.clone().unwrap_or_default();
        let step = self.random.below(STEPS.len());
        match self.random.below(10) {
            0..=2 => {
                steps.insert(step);
                self.commit(steps);
            }
            3 => {
                steps.remove(&step);
                self.commit(steps);
            }
            4 => self.edit_in_place(),
            5 if !self.versions.is_empty() => {
                let (bytes, truth) = self.versions[self.random.below(self.versions.len())].clone();
                self.replace(&bytes, truth);
            }
            6 if self.random.below(3) == 0 => self.damage(),
            7 => self.disturb_gates(),
            _ => drop(self.workspace.gates().open(&self.path, None).unwrap()),
        }
    }
}

#[test]
fn a_wrong_go_on_never_happens() {
    let mut model = Model::new();
    let (mut gate, mut frontmatter) = (Count::default(), Count::default());
    for _ in 0..ROUNDS {
        model.round();
        let step = model.random.below(STEPS.len());
        let truth = model.truth.as_ref().is_some_and(|steps| steps.contains(&step));
        let (workspace, path) = (&model.workspace, &model.path);
        gate.add(workspace.gates().check(path, STEPS[step]).unwrap().verdict.is_ok(), truth);
        frontmatter.add(workspace.gates().verify(path, STEPS[step]).unwrap().verdict.is_ok(), truth);
    }
    for (tier, count) in [("gate", &gate), ("frontmatter", &frontmatter)] {
        println!(
            "tier {tier}: {} answers, {} wrong go-ons, {} wrong stops",
            count.answers, count.wrong_go_on, count.wrong_stop
        );
    }
    assert_eq!((frontmatter.wrong_go_on, frontmatter.wrong_stop), (0, 0));
    assert_eq!(gate.wrong_go_on, 0, "a stat that proves nothing is never believed");
    assert!(gate.wrong_stop > 0, "gates were stale, or this test tested nothing");
}
