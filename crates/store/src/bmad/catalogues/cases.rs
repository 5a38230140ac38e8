//! Catalogues of small installations, laid out as the official installers lay theirs out.
#![expect(clippy::disallowed_methods, reason = "tests write files as other programs would")]

use std::{fs, path::PathBuf};

use crate::bmad::catalogues::*;

struct Project {
    _folder: tempfile::TempDir,
    workspace: Workspace,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let project = Self { _folder: folder, workspace };
        files.iter().for_each(|(path, text)| project.write(path, text));
        project
    }

    fn place(&self, path: &str) -> PathBuf {
        self.workspace.root().path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let place = self.place(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
    }

    fn rows(&self, kind: CatalogueKind) -> Vec<String> {
        let (catalogues, _) = self.workspace.catalogues();
        let catalogue = catalogues.iter().find(|catalogue| catalogue.kind == kind).unwrap();
        let row = |entry: &Entry| ["name", "module", "path"].map(|column| entry.get(column)).join(" ");
        catalogue.entries.iter().map(row).collect()
    }

    fn problems(&self) -> Vec<String> {
        self.workspace.catalogues().1.iter().map(ToString::to_string).collect()
    }
}

fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}\n---\n")
}

const BOOK: &str = "installation:\n  version: 6.0.0\nmodules:\n  - name: core\n  - name: shed\n  - art\n";

#[test]
fn modules_stand_in_the_installers_order_and_folders_in_that_of_node() {
    let workflow = |name: &str| format!("---\nname: {name}\ndescription: d\n---\n");
    let project = Project::new(&[
        ("_bmad/_config/manifest.yaml", BOOK),
        ("_bmad/art/workflows/z/workflow.md", &workflow("paint")),
        ("_bmad/art/workflows/Z/workflow-a.md", &workflow("draw")),
        ("_bmad/shed/workflows/2-lend/workflow.md", &workflow("lend")),
        ("_bmad/shed/workflows/2-lend/deep/workflow.yaml", "name: deep\ndescription: d\n"),
        ("_bmad/shed/workflows/10-mend/workflow.md", &workflow("fix")),
        ("_bmad/zoo/workflows/a/workflow.md", &workflow("feed")),
        ("_bmad/core/workflows/a/steps/step-01.md", &workflow("no")),
        ("_bmad/_config/workflows/a/workflow.md", &workflow("no")),
        ("elsewhere/workflows/a/workflow.md", &workflow("no")),
    ]);
    assert_eq!(
        project.rows(CatalogueKind::Workflow),
        [
            "fix shed _bmad/shed/workflows/10-mend/workflow.md",
            "deep shed _bmad/shed/workflows/2-lend/deep/workflow.yaml",
            "lend shed _bmad/shed/workflows/2-lend/workflow.md",
            "draw art _bmad/art/workflows/Z/workflow-a.md",
            "paint art _bmad/art/workflows/z/workflow.md",
            "feed zoo _bmad/zoo/workflows/a/workflow.md",
        ]
    );
    assert_eq!(project.problems(), [""; 0]);
}

#[test]
fn a_skill_keeps_the_place_that_it_was_installed_from() {
    let project = Project::new(&[
        ("_bmad/_config/manifest.yaml", BOOK),
        (
            "_bmad/_config/skill-manifest.csv",
            "canonicalId,name,description,module,path\n\
             \"lend\",\"lend\",\"old\",\"shed\",\"_bmad/shed/agents/lend/SKILL.md\"\n\
             \"gone\",\"gone\",\"old\",\"shed\",\"_bmad/shed/gone/SKILL.md\"\n",
        ),
        ("_bmad/core/deep/er/kept/SKILL.md", &skill("kept")),
        ("_bmad/core/deep/er/kept/inner/SKILL.md", &skill("inner")),
        ("_bmad/core/_hidden/SKILL.md", &skill("_hidden")),
        (".claude/skills/lend/SKILL.md", &skill("lend")),
        (".claude/skills/own/SKILL.md", &skill("own")),
        (".claude/skills/kept/SKILL.md", &skill("kept")),
        (".claude/skills/no-skill/README.md", "x"),
        (".agents/skills/own/SKILL.md", &skill("own")),
        (".agents/skills/another/SKILL.md", &skill("another")),
    ]);
    assert_eq!(
        project.rows(CatalogueKind::Skill),
        [
            "kept core _bmad/core/deep/er/kept/SKILL.md",
            "lend shed _bmad/shed/agents/lend/SKILL.md",
            "another standalone .agents/skills/another/SKILL.md",
            "own standalone .claude/skills/own/SKILL.md",
        ]
    );
    assert_eq!(project.rows(CatalogueKind::Agent), ["lend shed _bmad/shed/agents/lend/SKILL.md"]);
    assert_eq!(project.problems(), [""; 0]);
}

#[test]
fn agents_of_no_module_and_of_alpha_releases_are_found() {
    let agent = |name: &str| format!("<agent name=\"{name}\">");
    let project = Project::new(&[
        ("bmad/_cfg/manifest.yaml", "modules:\n  - shed\n"),
        ("bmad/_cfg/agent-manifest.csv", "name,module,path,displayName\n"),
        ("bmad/shed/agents/keeper.md", &agent("Kim")),
        ("bmad/shed/agents/team/lender.md", &agent("Lee")),
        ("bmad/agents/solo/solo.md", &agent("Sol")),
    ]);
    assert_eq!(
        project.rows(CatalogueKind::Agent),
        [
            "keeper shed bmad/shed/agents/keeper.md",
            "lender shed bmad/shed/agents/team/lender.md",
            "solo standalone bmad/agents/solo/solo.md",
        ]
    );
    project.workspace.rebuild_catalogues().unwrap();
    let text = fs::read_to_string(project.place(".stepmark/manifests/agent-manifest.csv")).unwrap();
    assert!(text.starts_with(
        "name,module,path,displayName\n\"keeper\",\"shed\",\"bmad/shed/agents/keeper.md\",\"Kim\"\n"
    ));
    assert!(!project.place(".stepmark/manifests/task-manifest.csv").exists(), "nothing to list");
}

#[test]
fn nothing_is_written_twice_nor_beside_its_place() {
    let project = Project::new(&[
        ("_bmad/_config/task-manifest.csv", "name,displayName,description,module,path,standalone\n"),
        ("_bmad/core/tasks/b.xml", "<task name=\"B\">"),
        ("_bmad/core/tasks/a.md", "---\nname: a\n---\n"),
        ("_bmad/core/tasks/deep/c.md", "---\nname: c\n---\n"),
    ]);
    let before = fs::read(project.place("_bmad/_config/task-manifest.csv")).unwrap();
    let rebuild = || project.workspace.rebuild_catalogues().unwrap();
    let done = rebuild();
    assert_eq!((done.entries, done.published.written.len(), done.published.unchanged), (2, 1, 0));
    let ours = project.place(".stepmark/manifests/task-manifest.csv");
    let text = fs::read_to_string(&ours).unwrap();
    assert_eq!(
        text,
        "name,displayName,description,module,path,standalone\n\
         \"a\",\"a\",\"\",\"core\",\"_bmad/core/tasks/a.md\",\"true\"\n\
         \"b\",\"B\",\"\",\"core\",\"_bmad/core/tasks/b.xml\",\"true\"\n"
    );
    let modified = fs::metadata(&ours).unwrap().modified().unwrap();
    assert_eq!((rebuild().published.written.len(), rebuild().published.unchanged), (0, 1));
    assert_eq!(fs::metadata(&ours).unwrap().modified().unwrap(), modified);
    assert_eq!(fs::read(project.place("_bmad/_config/task-manifest.csv")).unwrap(), before);

    fs::remove_dir_all(project.place("_bmad")).unwrap();
    assert_eq!((rebuild().published.written.len(), rebuild().entries), (1, 0));
    assert_eq!(fs::read_to_string(&ours).unwrap().lines().count(), 1, "what is gone is in no catalogue");
    fs::remove_file(&ours).unwrap();
    assert_eq!(rebuild(), CatalogueRebuild::default());
}

#[test]
fn what_cannot_be_read_is_told_and_the_rest_is_listed() {
    let project = Project::new(&[
        ("_bmad/_config/manifest.yaml", "modules: [\n"),
        ("_bmad/_config/skill-manifest.csv", "no,catalogue\n"),
        ("_bmad/shed/workflows/a/workflow.md", "---\nname: a\ndescription: 'x' y\n---\n"),
        ("_bmad/shed/workflows/b/workflow.md", "---\nname: b\ndescription: x\n---\n"),
        (".claude/skills/other-name/SKILL.md", &skill("name")),
    ]);
    assert_eq!(project.rows(CatalogueKind::Workflow), ["b shed _bmad/shed/workflows/b/workflow.md"]);
    let problems = project.problems();
    let starts: Vec<&str> = problems.iter().map(|problem| problem.split(": ").next().unwrap()).collect();
    assert_eq!(
        starts,
        [
            ".claude/skills/other-name/SKILL.md",
            "_bmad/_config/manifest.yaml",
            "_bmad/_config/skill-manifest.csv",
            "_bmad/shed/workflows/a/workflow.md:3",
        ],
        "{problems:?}"
    );
    assert_eq!(project.workspace.rebuild_catalogues().unwrap().problems.len(), 4);
}

#[cfg(unix)]
#[test]
fn a_link_leads_to_a_skill_of_the_project_only() {
    let project = Project::new(&[(".agents/skills/tool/SKILL.md", &skill("tool"))]);
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("SKILL.md"), skill("secret")).unwrap();
    fs::create_dir_all(project.place(".claude/skills")).unwrap();
    std::os::unix::fs::symlink("../../.agents/skills/tool", project.place(".claude/skills/tool")).unwrap();
    std::os::unix::fs::symlink(outside.path(), project.place(".claude/skills/secret")).unwrap();
    assert_eq!(project.rows(CatalogueKind::Skill), ["tool standalone .claude/skills/tool/SKILL.md"]);
    let problems = project.problems();
    assert!(
        problems.len() == 1 && problems[0].starts_with(".claude/skills/secret/SKILL.md: "),
        "{problems:?}"
    );
}
