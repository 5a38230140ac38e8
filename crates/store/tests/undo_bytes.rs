//! Random commands on documents of every style, all of them undone: the bytes are what they were.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge: files are read and written here as other programs would"
)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use stepmark_frontmatter::{Edit, KeyPath, Segment, Value};
use stepmark_model::{
    artifact::{Artifact, ProjectPath, Scope},
    journal::{ArtifactKey, Event},
    transition::{Command, Plan, ScopeSource, Strictness},
};
use stepmark_store::changes::ChangeReason;
use stepmark_store::commit::Outcome;
use stepmark_store::workspace::Workspace;

/// xorshift64*, so that every run is the same.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap() % end
    }

    fn one_of<'t, T>(&mut self, choices: &'t [T]) -> &'t T {
        &choices[self.below(choices.len())]
    }
}

/// Frontmatter in the spellings that a value cannot say.
const STYLES: [&str; 18] = [
    "stepsCompleted: [1, 2]   # done\nstatus: 'draft' # draft | done\nowner: \"Ada\"\n",
    "stepsCompleted:\n- 1\n- 'step-02-x'\n# between\n- \"3\"\nstatus: draft\n",
    "stepsCompleted:\n    - 1   # one\n\n    - 2\nlastStep: 2\nstatus:\n",
    "stepsCompleted: [\n  1, # one\n  2,\n]\nstatus: ~\nx: null\ny: \"\"\nz: ''\n",
    "a: 99999999999999999999\nb: .inf\nc: 2026-01-01\nd: 1.10\ne: 90717e4\nf: 0123456\ng: 0x1F\nh: 1e3\nstepsCompleted: []\n",
    "map: {b: 1.10, a: [x, 'y'], c: {d: \"e\"}}\nlist: [.nan, 1_000, 12:30, 2026-01-01T10:00:00Z]\n",
    "text: |\n  one\n  two\n\nfolded: >-\n  one\n  two\nkept: |+\n  one\n\nstatus: draft\n",
    "map:\n  z: 1\n  # why\n  a: 'two'\n  m:\n    - x: 1\n      y: \"2\"\n    - {x: 3}\nstatus: draft # s\n",
    "'quoted key': 1\n\"other\": 'two'\nplain text: a long\n  text on two lines\nstatus: ready\n",
    "# head\n\nstatus: draft\n\n# tail of status\n\nowner: Ada\n# the end\n",
    "{status: draft, stepsCompleted: [1, 2], n: 1.10}\n",
    "{\n  status: 'draft',   # s\n  stepsCompleted: [1],\n  d: 2026-01-01\n}\n",
    "  status: draft\n  n: 1.10\n  list:\n    - 90717e4\n",
    "anchor: &a [1, '2']\nalias: *a\ntag: !!str 3\nown: !mine 'x'\nstatus: draft\n",
    "status: draft\nupdated: 2026-01-01\nlastSaved: 2026-01-01 # by hand\nconfidence: 0.10\nscope: large\nscopeSource: ai\n",
    "{a: 1, a: 2, status: draft}\n",
    "a: 'x'\n# two\na: \"y\"\nstatus: 'draft'  # s\nmap: {1: x, 0x1: y}\nlist:\n- 1.10\n",
    "status:   draft   \nkey:\tvalue\nempty:   \nu: \u{fc}ber \u{1f600}\nlist:\n  -   1.10\n  -\n  - ~\n",
];

const VALUES: [&str; 14] = [
    "done",
    "1",
    "1.5",
    "true",
    "null",
    "[a, 'b', 1.10]",
    "{a: 1, b: [c]}",
    "2026-02-02",
    "a: b",
    "",
    "# no",
    "99999999999999999999",
    "two\nlines",
    "\u{fc}ber",
];

struct Project {
    folder: tempfile::TempDir,
    workspace: Workspace,
    path: ProjectPath,
    random: Random,
}

impl Project {
    fn new(seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let path = ProjectPath::new("a.md").unwrap();
        Self { folder, workspace, path, random: Random(seed) }
    }

    fn place(&self) -> PathBuf {
        self.folder.path().join(self.path.as_str())
    }

    /// Writes as another program, long ago, so that nobody waits for it to finish.
    fn write(&self, bytes: &[u8]) {
        fs::write(self.place(), bytes).unwrap();
        let file = fs::File::options().write(true).open(self.place()).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    }

    fn last_event(&self) -> Event {
        let artifact = Artifact::read(self.path.clone(), fs::read(self.place()).unwrap());
        let key = ArtifactKey::of(&artifact);
        let lineage = self.workspace.history().ask(|history| history.lineage(&key, &self.path)).unwrap();
        lineage.events().last().unwrap().clone()
    }

    /// A random command; the event that tells of it, if it was one that the artifact takes.
    fn act(&mut self) -> Option<Event> {
        let bytes = fs::read(self.place()).unwrap();
        let state = Artifact::read(self.path.clone(), bytes).state_value().unwrap_or_default();
        let paths = paths(&state);
        let random = &mut self.random;
        let step = (*random.one_of(&["1", "2", "3", "step-04-new", "02b", "1.10"])).to_owned();
        let path = match random.below(4) {
            0 => KeyPath::key(*random.one_of(&["status", "fresh", "map", "2026"])),
            _ if paths.is_empty() => KeyPath::key("status"),
            _ => random.one_of(&paths).clone(),
        };
        let command = match random.below(12) {
            0..=2 => Command::Complete { steps: vec![step] },
            3 => Command::Reopen { steps: vec![step] },
            4 => Command::Transition { to: (*random.one_of(&["done", "in-review", "blocked"])).to_owned() },
            5 => {
                let scope = random.one_of(&[Scope::Small, Scope::Large]).clone();
                Command::Scope { scope, source: ScopeSource::Human }
            }
            6..=8 => {
                let value = Value::from_argument(random.one_of::<&str>(&VALUES)).ok()?;
                Command::Set { assignments: vec![(path, value)] }
            }
            _ => {
                let plan = Plan { edits: vec![Edit::Remove { path }], remarks: Vec::new() };
                let carried = self
                    .workspace
                    .update(self.path.as_str(), |_| Ok::<_, std::convert::Infallible>(plan.clone()))
                    .ok()?;
                return (carried.outcome != Outcome::Unchanged).then(|| self.last_event());
            }
        };
        let carried =
            self.workspace.execute(&self.path, &command, Strictness::Warn, ChangeReason::Unsaid).ok()?;
        (carried.outcome != Outcome::Unchanged).then(|| self.last_event())
    }
}

/// The paths of all values below the root.
fn paths(state: &serde_json::Value) -> Vec<KeyPath> {
    fn descend(path: &KeyPath, value: &serde_json::Value, paths: &mut Vec<KeyPath>) {
        let mut child = |segment: Segment, value: &serde_json::Value| {
            let mut path = path.clone();
            path.0.push(segment);
            descend(&path, value, paths);
            paths.push(path);
        };
        match value {
            serde_json::Value::Object(map) => {
                map.iter().for_each(|(key, value)| child(Segment::Key(key.clone()), value));
            }
            serde_json::Value::Array(items) => {
                items.iter().enumerate().for_each(|(at, value)| child(Segment::Index(at), value));
            }
            _ => {}
        }
    }
    let mut paths = Vec::new();
    descend(&KeyPath::default(), state, &mut paths);
    paths
}

/// What became of a document after its commands and all of their undos.
enum Ended {
    /// It is as it was; so many commands were undone.
    Same(usize),
    /// An undo was refused, for this reason, and wrote nothing.
    Refused(String),
    /// An undo gave other bytes back, or wrote something although it failed.
    Different(String),
}

/// Up to `count` random commands on a document, all undone.
fn there_and_back(name: &str, document: &[u8], count: usize, seed: u64) -> Ended {
    let mut project = Project::new(seed);
    project.write(document);
    let mut told: Vec<(Vec<u8>, Event)> = Vec::new();
    for _ in 0..count {
        let before = fs::read(project.place()).unwrap();
        told.extend(project.act().map(|event| (before, event)));
    }
    let number = told.len();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    for (before, event) in told.into_iter().rev() {
        let now = fs::read(project.place()).unwrap();
        let undone = project.workspace.undo(&event, ChangeReason::Unsaid);
        let found = fs::read(project.place()).unwrap();
        let tell = |what: &str| {
            format!("{name}: {what}, {:?}, from\n{}\nto\n{}", event.changes, text(&now), text(&before))
        };
        match undone {
            Err(error) if found == now => return Ended::Refused(tell(&error.to_string())),
            Err(error) => return Ended::Different(tell(&format!("{error} although it wrote"))),
            Ok(_) if found != before => return Ended::Different(tell(&format!("became\n{}", text(&found)))),
            Ok(_) => {}
        }
    }
    Ended::Same(number)
}

/// The commands of a document that must be given back.
fn given_back(name: &str, document: &[u8], count: usize, seed: u64) -> usize {
    match there_and_back(name, document, count, seed) {
        Ended::Same(number) => number,
        Ended::Refused(what) | Ended::Different(what) => panic!("{what}"),
    }
}

fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            documents(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

#[test]
fn all_commands_undone_give_back_the_bytes_of_every_style() {
    let mut number = 0;
    for (at, style) in STYLES.iter().enumerate() {
        for (variant, text) in [
            format!("---\n{style}---\n# Body\n"),
            format!("\u{feff}---\n{style}---\n# Body\n").replace('\n', "\r\n"),
        ]
        .into_iter()
        .enumerate()
        {
            for seed in 1..3 {
                let name = format!("style {at}, variant {variant}, seed {seed}");
                number += given_back(&name, text.as_bytes(), 12, seed + 7 * at as u64);
            }
        }
    }
    assert!(number > 250, "{number} commands were taken");
}

#[test]
fn all_commands_undone_give_back_the_bytes_of_every_fixture() {
    let mut found = Vec::new();
    for folder in ["valid", "repos"] {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(folder);
        documents(&fixtures, &mut found);
    }
    let (mut number, mut seed) = (0, 0);
    for path in &found {
        seed += 1;
        let bytes = fs::read(path).unwrap();
        number += given_back(&path.display().to_string(), &bytes, 6, seed);
    }
    assert!(number > 100, "{number} commands were taken in {} documents", found.len());
}

/// `STEPMARK_DOCUMENTS=FOLDER cargo test -p stepmark-store --test undo_bytes -- --ignored --nocapture`: 50
/// commands on each of the documents with frontmatter in a folder. None may end with other bytes than it
/// began with.
#[test]
#[ignore = "needs a folder of documents"]
fn all_commands_undone_give_back_the_bytes_of_a_folder() {
    let folder = std::env::var_os("STEPMARK_DOCUMENTS").unwrap();
    let mut found = Vec::new();
    documents(Path::new(&folder), &mut found);
    let [mut same, mut refused, mut different, mut commands] = [0; 4];
    for (seed, path) in (1..).zip(&found) {
        let bytes = fs::read(path).unwrap();
        if !bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes).starts_with(b"---") {
            continue;
        }
        match there_and_back(&path.display().to_string(), &bytes, 50, seed) {
            Ended::Same(number) => (same, commands) = (same + 1, commands + number),
            Ended::Refused(what) => {
                refused += 1;
                println!("refused: {what}");
            }
            Ended::Different(what) => {
                different += 1;
                println!("different: {what}");
            }
        }
    }
    println!("{same} the same after {commands} commands, {refused} refused, {different} different");
    assert_eq!(different, 0, "other bytes");
}
