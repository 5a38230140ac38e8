//! What other programs do between two commands: told apart from ours, and from what git does.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge: files are written and git is started here, as others would"
)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{fs, process::Command, time::SystemTime};

use stepmark_frontmatter::Change;
use stepmark_model::{
    artifact::ProjectPath,
    journal::{ArtifactKey, Event, Kind},
};
use stepmark_store::workspace::Workspace;

const FILE: &str = "a.md";

struct Project {
    folder: tempfile::TempDir,
    workspace: Workspace,
}

impl Project {
    fn new(frontmatter: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let project = Self { folder, workspace };
        project.write(&format!("---\n{frontmatter}---\n# Body\n"));
        project
    }

    fn read(&self) -> String {
        fs::read_to_string(self.folder.path().join(FILE)).unwrap()
    }

    /// Writes as another program, long ago, so that nobody waits for it to finish.
    fn write(&self, text: &str) {
        let place = self.folder.path().join(FILE);
        fs::write(&place, text).unwrap();
        fs::File::options().write(true).open(place).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    }

    fn edit(&self, from: &str, to: &str) {
        let text = self.read();
        assert!(text.contains(from), "{from}");
        self.write(&text.replace(from, to));
    }

    fn complete(&self, step: &str) {
        self.workspace.update(FILE, |found| found.complete(step)).unwrap();
    }

    fn git(&self, arguments: &[&str]) {
        let done = Command::new("git")
            .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "core.autocrlf=false"])
            .args(arguments)
            .current_dir(self.folder.path())
            .output()
            .unwrap();
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn events(&self) -> Vec<Event> {
        let path = ProjectPath::new(FILE).unwrap();
        let lineage =
            self.workspace.history().ask(|history| history.lineage(&ArtifactKey::of_path(&path), &path));
        let lineage = lineage.unwrap();
        assert_eq!(lineage.verify(), []);
        lineage.events().to_vec()
    }

    fn kinds(&self) -> Vec<Kind> {
        self.events().into_iter().map(|event| event.kind).collect()
    }

    fn findings(&self) -> Vec<&'static str> {
        self.workspace.doctor().diagnose().unwrap().findings.iter().map(|finding| finding.word()).collect()
    }
}

fn keys(event: &Event) -> Vec<String> {
    let key = |change: &Change| change.path.to_string();
    event.changes.iter().map(key).collect()
}

#[test]
fn a_foreign_edit_is_an_event_of_its_own_whatever_it_touched() {
    const BEFORE: &str = "stepsCompleted: [1]\nstatus: draft\nupdated: 2026-01-01\n";
    for (from, to, theirs) in [
        ("status: draft", "status: done", &["status"][..]),
        ("2026-01-01", "2026-02-02", &["updated"]),
        ("updated: 2026-01-01", "updated: 2026-02-02\nowner: Ada", &["updated", "owner"]),
        ("[1, 2]", "[1, 2, 9]", &["stepsCompleted[2]"]),
        ("updated: 2026-01-01\n", "", &["updated"]),
        ("status: draft", "status: draft # why", &[]),
        ("# Body", "# Other body", &[]),
    ] {
        let project = Project::new(BEFORE);
        project.complete("2");
        project.edit(from, to);
        project.complete("3");
        let events = project.events();
        let ours = events.last().unwrap();
        assert!(keys(ours).iter().all(|key| key.starts_with("stepsCompleted")), "{from}: {:?}", keys(ours));
        assert_eq!(ours.changes.len(), 1, "{from}");
        let mut expected = vec![Kind::FIRST_SEEN, Kind::CHANGE, Kind::EXTERNAL_EDIT, Kind::CHANGE];
        if theirs.is_empty() {
            expected.remove(2);
        } else {
            assert_eq!(keys(&events[2]), theirs, "{from}");
            assert_eq!(events[3].parents, [events[2].id]);
        }
        assert_eq!(project.kinds(), expected, "{from}");
    }
}

#[test]
fn an_older_text_that_is_written_back_is_an_edit_and_a_finding() {
    for has_git in [false, true] {
        let project = Project::new("stepsCompleted: [1]\n");
        if has_git {
            project.git(&["init", "--quiet"]);
            project.git(&["add", FILE]);
            project.git(&["commit", "--quiet", "--message", "first"]);
        }
        project.complete("2");
        let older = project.read();
        project.complete("3");
        project.complete("4");
        assert_eq!(project.findings(), [""; 0]);
        project.write(&older);
        assert_eq!(project.findings(), ["written-back"], "git: {has_git}");
        project.complete("5");
        let events = project.events();
        let [.., second, _, last, edit, ours] = &events[..] else { panic!("{events:?}") };
        assert_eq!((&edit.kind, edit.parents.as_slice()), (&Kind::EXTERNAL_EDIT, &[last.id][..]));
        assert_eq!(edit.data["earlier"], second.id.to_string());
        assert_eq!(edit.changes.len(), 2, "two steps that were acknowledged are gone");
        assert_eq!(ours.parents, [edit.id]);
        assert_eq!(project.findings(), [""; 0], "it is recorded now");
    }
}

#[test]
fn what_git_checks_out_is_no_edit() {
    for from_index in [false, true] {
        let project = Project::new("stepsCompleted: [1]\n");
        project.git(&["init", "--quiet"]);
        project.complete("2");
        project.git(&["add", FILE]);
        project.git(&["commit", "--quiet", "--message", "first"]);
        if from_index {
            project.complete("3");
            project.git(&["add", FILE]);
        }
        let staged = project.read();
        project.complete("4");
        project.complete("5");
        project.git(&["checkout", "--", FILE]);
        assert_eq!(project.read(), staged);
        assert_eq!(project.findings(), [""; 0]);
        // A body that goes on is the same state.
        project.edit("# Body", "# More");
        assert_eq!(project.findings(), [""; 0]);
        project.complete("6");
        assert!(!project.kinds().contains(&Kind::EXTERNAL_EDIT), "{:?}", project.kinds());
    }
}
