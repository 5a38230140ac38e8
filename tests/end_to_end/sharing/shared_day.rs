//! Two laptops and a CI work on one project for a day, with tickets on GitHub.

use std::{collections::BTreeMap, path::PathBuf, process::Command, thread};

use stepmark_sync::ticket::Marker;
use tempfile::TempDir;

use crate::{
    fake_github::{FakeGitHub, Issue, TOKEN},
    harness::{Repository, Run},
};

const PRD: &str = "_bmad-output/planning-artifacts/prd.md";
const STORY: &str = "_bmad-output/implementation-artifacts/1-1-borrow-a-tool.md";
const LATER: &str = "_bmad-output/implementation-artifacts/1-2-return-a-tool.md";
const NOTES: &str = "docs/notes.md";
const OLD: &str = "docs/old.md";

/// Artifacts of the demo project that are broken on purpose.
const BROKEN: [&str; 2] = [
    "_bmad-output/planning-artifacts/market-research-2026-01-13.md",
    "_bmad-output/planning-artifacts/epics.md",
];

/// A person with a clone.
struct Laptop<'d> {
    day: &'d Day,
    person: &'static str,
    repository: Repository,
}

/// What all share.
struct Day {
    folder: TempDir,
    fake: FakeGitHub,
}

impl Day {
    fn origin(&self) -> PathBuf {
        self.folder.path().join("origin.git")
    }

    /// A clone of what is on the server; nothing at first.
    fn laptop(&self, person: &'static str) -> Option<Laptop<'_>> {
        let repository = Repository::empty("shared_day")?;
        let host = format!("  {}: {{variable: GITHUB_TOKEN, targets: [o/r, o/shed]}}\n", self.fake.url());
        repository.sandbox.write_user_configuration(&format!("credentials:\n{host}"));
        repository.git(&["remote", "add", "origin", self.origin().to_str().unwrap()]);
        Some(Laptop { day: self, person, repository })
    }

    /// The open tickets of each artifact.
    fn open_tickets(&self) -> BTreeMap<Marker, Vec<u64>> {
        let mut open: BTreeMap<Marker, Vec<u64>> = BTreeMap::new();
        for issue in self.fake.state().issues.values().filter(|issue| issue.is_open) {
            if let Some(marker) = Marker::in_body(&issue.body) {
                open.entry(marker).or_default().push(issue.number);
            }
        }
        open
    }
}

impl Laptop<'_> {
    fn run(&self, mut command: Command) -> Run {
        command.env_remove("STEPMARK_TEST_ID").env("USER", self.person).env("GITHUB_TOKEN", TOKEN);
        command.env("PATH", self.repository.search_path());
        self.repository.sandbox.run(&mut command)
    }

    #[track_caller]
    fn stepmark(&self, arguments: &[&str]) -> Run {
        let run = self.run(self.repository.command(arguments));
        assert_eq!(run.code, 0, "{}: stepmark {arguments:?}: {run}", self.person);
        run
    }

    #[track_caller]
    fn git(&self, arguments: &[&str]) {
        let run = self.run(self.repository.git_command(arguments));
        assert_eq!(run.code, 0, "{}: git {arguments:?}: {run}", self.person);
    }

    #[track_caller]
    fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "-m", message]);
        assert_eq!(self.repository.git(&["status", "--porcelain"]), "", "{message}: nothing is left over");
    }

    /// Takes in what the other pushed, pushes, and has a CI look at what arrives.
    #[track_caller]
    fn push(&self) {
        self.git(&["pull", "--quiet", "--no-rebase", "--no-edit", "origin", "main"]);
        let base = self.repository.git(&["rev-parse", "origin/main"]);
        self.git(&["push", "--quiet", "origin", "main"]);
        let ci = tempfile::tempdir().unwrap();
        let place = ci.path().join("clone");
        let place = place.to_str().unwrap();
        self.git(&["clone", "--quiet", "--no-local", self.day.origin().to_str().unwrap(), place]);
        let run = self.run(self.repository.command(&["check", "--from", &base, "--root", place]));
        assert_eq!(run.code, 0, "CI after {}: {run}", self.person);
    }

    #[track_caller]
    fn apply(&self) -> Run {
        self.stepmark(&["sync", "apply", "--yes"])
    }

    #[track_caller]
    fn assert_told(&self, artifact: &str, words: &[&str]) {
        let log = self.stepmark(&["log", artifact]).stdout;
        for word in words {
            assert!(log.contains(word), "{}: {artifact}: `{word}` is not in {log}", self.person);
        }
    }
}

/// An issue of people, which is nobody's ticket.
fn foreign(number: u64, title: &str) -> Issue {
    Issue {
        number,
        title: title.to_owned(),
        body: "It happens each time.".to_owned(),
        labels: ["status:mine".to_owned()].into(),
        is_open: true,
        reason: None,
        parent: None,
        is_pull_request: false,
        comments: 2,
        created_at: "2026-01-01T00:00:00Z".to_owned(),
        fields: serde_json::Map::new(),
    }
}

#[test]
fn two_laptops_and_a_ci_agree() {
    let day = Day { folder: tempfile::tempdir().unwrap(), fake: FakeGitHub::start() };
    let (Some(ada), Some(ben)) = (day.laptop("ada"), day.laptop("ben")) else { return };
    ada.git(&["init", "--quiet", "--bare", "--initial-branch=main", day.origin().to_str().unwrap()]);
    let strangers = [foreign(1, "It does not start"), foreign(2, "Borrow a tool")];
    day.fake.state().issues.extend(strangers.iter().map(|issue| (issue.number, issue.clone())));

    // In the morning ada sets the project up.
    ada.repository.sandbox.add_copy("fixtures/repos/demo", "");
    for broken in BROKEN {
        std::fs::remove_file(ada.repository.sandbox.place(broken)).unwrap();
    }
    for (path, title) in [(NOTES, "Notes"), (OLD, "Old plan")] {
        ada.repository.sandbox.write(path, format!("---\nstatus: draft\n---\n\n# {title}\n"));
    }
    ada.stepmark(&["init"]);
    let mut configuration = String::from_utf8(ada.repository.sandbox.read(".stepmark/config.yaml")).unwrap();
    configuration.push_str(&format!(
        "trackers:\n  github:\n    base_url: {}\n    repository: o/r\n    prune: close\n    pace: {{credential: {{write_interval_ms: 0, limits: []}}}}\n",
        day.fake.url()
    ));
    ada.repository.sandbox.write(".stepmark/config.yaml", configuration);
    ada.stepmark(&["hook", "install"]);
    ada.stepmark(&["import", "stories", "--prefer", "furthest"]);
    ada.stepmark(&["track", "--all"]);
    ada.commit("set up");
    ada.git(&["push", "--quiet", "--no-verify", "--set-upstream", "origin", "main"]);
    ada.apply();
    let tickets = day.open_tickets().len();
    assert!(tickets > 5, "{tickets}");
    ben.git(&["fetch", "--quiet", "origin"]);
    ben.git(&["switch", "--quiet", "main"]);
    ben.stepmark(&["hook", "install"]);
    ben.apply();
    assert_eq!(day.open_tickets().len(), tickets);

    // Each does something of which history must tell.
    ada.stepmark(&["reopen", PRD, "3", "--reason", "the survey was wrong"]);
    ada.commit("reopened");
    ben.stepmark(&["transition", STORY, "done", "--force", "--reason", "shipped by hand"]);
    ben.stepmark(&["delegate", PRD, "--to", "writer"]);
    ben.commit("shipped, delegated");
    ben.push();
    ada.push();

    // Both create and apply at once.
    let story = "---\nstatus: ready-for-dev\n---\n\n# Story 1.2: Return a tool\n";
    ada.repository.sandbox.write(LATER, story);
    ada.stepmark(&["track", LATER]);
    ada.stepmark(&["complete", PRD, "3"]);
    ada.commit("went on");
    ada.push();
    ben.git(&["pull", "--quiet", "--no-edit", "origin", "main"]);
    thread::scope(|scope| {
        let (one, other) = (scope.spawn(|| ada.apply()), scope.spawn(|| ben.apply()));
        (one.join().unwrap(), other.join().unwrap())
    });

    // The repository is called something else, which one of them says in the configuration.
    day.fake.state().names.insert(0, "o/shed");
    let configuration = String::from_utf8(ada.repository.sandbox.read(".stepmark/config.yaml")).unwrap();
    ada.repository.sandbox.write(".stepmark/config.yaml", configuration.replace("o/r\n", "o/shed\n"));
    ada.commit("renamed");

    // A move, a removal, a branch that is merged.
    ada.git(&["mv", NOTES, "docs/remarks.md"]);
    ada.commit("moved");
    ada.git(&["switch", "--quiet", "--create", "side"]);
    ada.stepmark(&["reopen", "architecture", "5", "--reason", "another database"]);
    ada.commit("reopened on a branch");
    ben.apply();
    ben.stepmark(&["remove", OLD, "--reason", "nobody wants it"]);
    ben.commit("removed");
    ben.push();
    ada.git(&["switch", "--quiet", "main"]);
    ada.git(&["merge", "--quiet", "--no-ff", "-m", "merged", "side"]);
    ada.push();
    ben.git(&["pull", "--quiet", "--no-edit", "origin", "main"]);
    for laptop in [&ben, &ada, &ben] {
        laptop.apply();
    }

    // In the evening.
    let open = day.open_tickets();
    assert!(open.values().all(|same| same.len() == 1), "one ticket an artifact: {open:?}");
    assert_eq!(
        open.len(),
        tickets,
        "a story and a delegated artifact more, one done and one removed: {open:?}"
    );
    for issue in &strangers {
        assert_eq!(day.fake.state().issues[&issue.number], *issue, "a stranger's issue is left alone");
    }
    for laptop in [&ada, &ben] {
        laptop.assert_told(PRD, &["human:ada", "the survey was wrong", "stepsCompleted + step-03-success"]);
        laptop.assert_told(STORY, &["human:ben", "review → done", "shipped by hand"]);
        laptop.assert_told("docs/remarks.md", &["human:ada"]);
        laptop.assert_told(OLD, &["human:ben", "delete", "nobody wants it"]);
        laptop.assert_told("architecture", &["human:ada", "another database"]);
        laptop.stepmark(&["log", "replay", "--verify"]);
        laptop.stepmark(&["doctor"]);
    }
}
