//! Gates over the life of an artifact.
#![expect(clippy::disallowed_methods, reason = "tests write files as other programs would")]

use std::{
    fs,
    path::PathBuf,
    thread,
    time::{Duration, SystemTime},
};

use crate::{changes::ChangeReason, gates::*};
use stepmark_model::{
    journal::{Attribution, EventId},
    lease::Claim,
    projection::gates::Closed,
    transition::{Command, Strictness},
};

struct Project {
    _folder: tempfile::TempDir,
    workspace: Workspace,
    path: ProjectPath,
}

const PRD: &str = "docs/prd.md";

impl Project {
    fn new(steps: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        for folder in ["docs", ".stepmark"] {
            fs::create_dir(workspace.root().path().join(folder)).unwrap();
        }
        let project = Self { _folder: folder, workspace, path: ProjectPath::new(PRD).unwrap() };
        project.write(steps);
        project
    }

    fn place(&self, path: &str) -> PathBuf {
        self.workspace.root().path().join(path)
    }

    /// Writes the artifact as git does: another file gets the name.
    fn write(&self, steps: &str) {
        fs::write(self.place("new"), format!("---\nid: prd\nstepsCompleted: {steps}\n---\n")).unwrap();
        fs::rename(self.place("new"), self.place(PRD)).unwrap();
    }

    fn names(&self) -> Vec<String> {
        self.workspace.gates().of(&self.path).unwrap().into_iter().map(|stored| stored.file_name).collect()
    }

    fn ask(&self, step: &str) -> Result<(), Closed> {
        self.workspace.gates().check(&self.path, step).unwrap().verdict
    }

    fn execute(&self, command: &Command) {
        self.workspace.execute(&self.path, command, Strictness::Warn, ChangeReason::Unsaid).unwrap();
    }
}

fn steps(step: &str) -> Vec<String> {
    vec![step.to_owned()]
}

#[test]
fn gates_follow_the_commands() {
    let project = Project::new("[step-01-init]");
    assert!(!project.workspace.gates().exist());
    assert_eq!(project.ask("1"), Ok(()), "gates are made when somebody asks");
    assert_eq!(project.names(), ["step-01-init.gate"]);
    project.execute(&Command::Complete { steps: steps("step-02-vision") });
    assert_eq!(project.names(), ["step-01-init.gate", "step-02-vision.gate"]);
    assert_eq!(fs::read(project.place(".stepmark/gates/.gitignore")).unwrap(), b"*\n");
    for (step, is_open) in [("step-02-vision", true), ("2", true), ("step-02-vision.md", true), ("3", false)]
    {
        assert_eq!(project.ask(step).is_ok(), is_open, "{step}");
    }
    let gate = |step: &str| project.workspace.gates().check(&project.path, step).unwrap().gate.unwrap();
    let event = gate("2").event.unwrap();
    let told = project.workspace.history().ask(|history| history.event(&event.to_string())).unwrap();
    assert_eq!(told.command.as_deref(), Some("complete step-02-vision"));

    project.execute(&Command::Complete { steps: steps("step-03-success") });
    assert_eq!(gate("2").event, Some(event), "the event that completed it");
    assert_eq!((project.ask("2"), project.ask("3")), (Ok(()), Ok(())), "the others are refreshed");
    project.execute(&Command::Reopen { steps: steps("step-02-vision") });
    assert_eq!(project.names(), ["step-01-init.gate", "step-03-success.gate"]);
    assert_eq!(project.ask("3"), Ok(()));
}

#[test]
fn only_what_somebody_works_on_has_gates() {
    let project = Project::new("[step-01-init, step-02-vision]");
    let status = |status: &str| {
        let text = format!("---\nid: prd\nstepsCompleted: [step-01-init]\nstatus: {status}\n---\n");
        fs::write(project.place(PRD), text).unwrap();
    };
    let rebuild = || {
        let rebuilt =
            project.workspace.gates().rebuild(&project.workspace.artifacts().unwrap().artifacts).unwrap();
        (rebuilt.artifacts, rebuilt.written, rebuilt.removed)
    };
    assert_eq!(rebuild(), (1, 2, 0));
    status("done");
    assert_eq!(rebuild(), (0, 0, 2), "finished");
    assert!(project.names().is_empty());
    assert_eq!(project.ask("1"), Ok(()), "the answer stays");
    assert!(matches!(project.ask("2"), Err(Closed::NoGate { .. })));

    let hour = Duration::from_secs(3600);
    let writer = Attribution::of("agent:writer".parse().unwrap());
    let agent = Workspace::open(project.workspace.root().path()).unwrap().with_attribution(writer);
    agent.leases().take(&project.path, hour, Claim::WhenFree).unwrap();
    // Written anew where the stat has become a proof meanwhile.
    let (artifacts, _, removed) = rebuild();
    assert_eq!((artifacts, removed), (1, 0), "finished, but somebody holds its lease");
    agent.leases().release(&project.path).unwrap();
    assert_eq!(rebuild(), (0, 0, 1));

    status("draft");
    assert_eq!(rebuild(), (1, 1, 0));
    let file = fs::File::options().write(true).open(project.place(PRD)).unwrap();
    file.set_modified(SystemTime::now() - 24 * 30 * hour).unwrap();
    assert_eq!(rebuild(), (0, 0, 1), "unfinished, and not changed for a month");
    assert_eq!(project.ask("1"), Ok(()));
}

#[test]
fn where_gates_cannot_be_made_the_frontmatter_answers() {
    let project = Project::new("[step-01-init]");
    fs::create_dir_all(project.place(".stepmark/gates/docs")).unwrap();
    fs::write(project.place(".stepmark/gates/docs/prd.md"), "in the way").unwrap();
    assert_eq!(project.ask("step-01-init"), Ok(()));
    assert_eq!(project.ask("step-02-vision"), Err(Closed::NotListed));
}

#[test]
fn whatever_changes_the_file_closes_its_gates_until_they_are_rebuilt() {
    let project = Project::new("[step-01-init, step-02-vision]");
    let rebuild =
        || project.workspace.gates().rebuild(&project.workspace.artifacts().unwrap().artifacts).unwrap();
    assert_eq!(rebuild().written, 2);
    let bytes = fs::read(project.place(PRD)).unwrap();
    for _ in 0..20 {
        // In the same instant, of the same size, into the same file.
        fs::write(project.place(PRD), String::from_utf8_lossy(&bytes).replace("vision", "errors")).unwrap();
        assert_eq!(project.ask("step-02-vision"), Err(Closed::ArtifactChanged));
        assert_eq!(
            project.workspace.gates().verify(&project.path, "step-02-vision").unwrap().verdict,
            Err(Closed::NotListed)
        );
        fs::write(project.place(PRD), &bytes).unwrap();
        rebuild();
        assert_eq!(project.ask("step-02-vision"), Ok(()));
    }
    project.write("[step-01-init]");
    assert_eq!(project.ask("1"), Err(Closed::ArtifactChanged));
    let done = rebuild();
    assert_eq!((done.written, done.removed, project.ask("1")), (1, 1, Ok(())));
    thread::sleep(Duration::from_millis(50));
    rebuild();
    assert_eq!(rebuild().unchanged, 1, "by now the stat alone is proof");
    assert!(project.workspace.gates().of(&project.path).unwrap()[0].gate.as_ref().unwrap().stat.is_proof);
    assert_eq!(project.ask("1"), Ok(()));

    fs::write(project.place(PRD), "---\nstepsCompleted: [step-01-init\n---\n").unwrap();
    assert!(project.ask("1").is_err());
    rebuild();
    assert_eq!(project.names(), [""; 0], "a frontmatter that cannot be read opens nothing");
    project.write("[step-01-init]");
    rebuild();
    fs::remove_file(project.place(PRD)).unwrap();
    assert_eq!(project.ask("1"), Err(Closed::NoArtifact));
    rebuild();
    assert!(!project.workspace.gates().exist(), "no empty folders are left");
}

#[test]
fn a_gate_is_closed_before_its_step_goes() {
    let project = Project::new("[1, 2]");
    project.workspace.gates().rebuild(&project.workspace.artifacts().unwrap().artifacts).unwrap();
    let without_two = b"---\nstepsCompleted: [1]\n---\n";
    project
        .workspace
        .gates()
        .close(
            &project.path,
            Some(&stepmark_model::artifact::Artifact::read(project.path.clone(), without_two.to_vec())),
        )
        .unwrap();
    assert_eq!(project.names(), ["1.gate"]);
    assert_eq!(project.ask("1"), Ok(()), "nothing was published yet");
    project.workspace.gates().close(&project.path, None).unwrap();
    assert_eq!(project.names(), [""; 0]);
}

#[test]
fn what_is_no_gate_answers_nothing() {
    let project = Project::new("[1]");
    project.workspace.gates().open(&project.path, Some(EventId::from_bytes([7; 16]))).unwrap();
    let place = project.place(".stepmark/gates/docs/prd.md/1.gate");
    let whole = fs::read(&place).unwrap();
    for torn in [&b""[..], b"{}", &whole[..whole.len() / 2], b"\xff"] {
        fs::write(&place, torn).unwrap();
        assert_eq!(project.ask("1"), Err(Closed::Damaged { file_name: "1.gate".to_owned() }));
    }
    let artifact = project.workspace.artifact(&project.path).unwrap();
    let rules = |project: &Project| -> Vec<&str> {
        project
            .workspace
            .gates()
            .findings(&artifact)
            .unwrap()
            .iter()
            .map(|finding| finding.rule.name)
            .collect()
    };
    assert_eq!(rules(&project), ["step-without-gate"]);
    fs::write(project.place(".stepmark/gates/docs/prd.md/9.gate"), &whole).unwrap();
    assert_eq!(rules(&project), ["gate-without-step", "step-without-gate"]);
    fs::write(project.place(".stepmark/gates/docs/prd.md/.stepmark-gate-left"), b"half").unwrap();
    project.workspace.gates().rebuild(&project.workspace.artifacts().unwrap().artifacts).unwrap();
    assert_eq!(rules(&project), [""; 0]);
    assert_eq!(fs::read_dir(project.place(".stepmark/gates/docs/prd.md")).unwrap().count(), 1);
}
