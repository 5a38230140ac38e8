//! `stepmark project`: catalogues and the files manifest. Gates are in `gate`.

use std::time::{Duration, SystemTime};

use insta::assert_snapshot;

use crate::harness::Sandbox;

const KINDS: [&str; 5] = ["agent", "workflow", "skill", "task", "tool"];

fn ours(kind: &str) -> String {
    format!(".stepmark/manifests/{kind}-manifest.csv")
}

fn installers(kind: &str) -> String {
    format!("_bmad/_config/{kind}-manifest.csv")
}

#[test]
fn catalogues_have_the_installers_rows_and_what_is_the_projects_own() {
    let shed = Sandbox::of("catalogues");
    let books = KINDS.map(|kind| shed.read(&installers(kind)));
    assert_snapshot!(shed.stepmark(&["project", "--catalogues"]), @r"
    exit 0
    ── stdout
    catalogues: 12 rows, 5 written, 0 removed, 0 unchanged
    ");
    for kind in KINDS.into_iter().filter(|kind| *kind != "skill") {
        assert_eq!(
            String::from_utf8(shed.read(&ours(kind))).unwrap(),
            String::from_utf8(shed.read(&installers(kind))).unwrap(),
            "{kind}"
        );
    }
    let theirs = String::from_utf8(shed.read(&installers("skill"))).unwrap();
    let own = "\"own-notes\",\"own-notes\",\"Notes of this project alone\",\"standalone\",\".claude/skills/own-notes/SKILL.md\"\n";
    assert_eq!(String::from_utf8(shed.read(&ours("skill"))).unwrap(), theirs + own);
    assert_eq!(KINDS.map(|kind| shed.read(&installers(kind))), books, "the installer's books are only read");
}

#[test]
fn the_columns_are_those_of_the_catalogue_that_is_there() {
    let shed = Sandbox::of("catalogues");
    shed.write(&installers("task"), "path,install_to_bmad,name,module\n");
    shed.write(&installers("tool"), "not,a,catalogue\n");
    let run = shed.stepmark(&["project", "--catalogues", "-q"]);
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stderr.contains("_bmad/_config/tool-manifest.csv"), "{run}");
    let tasks = String::from_utf8(shed.read(&ours("task"))).unwrap();
    assert!(tasks.starts_with(
        "path,install_to_bmad,name,module\n\"_bmad/core/tasks/count.xml\",\"\",\"count\",\"core\"\n"
    ));
    let tools = String::from_utf8(shed.read(&ours("tool"))).unwrap();
    assert!(tools.starts_with("name,displayName,description,module,path,standalone\n\"ruler\""), "{tools}");
}

#[test]
fn what_is_right_is_not_touched_and_what_was_deleted_comes_back_the_same() {
    let shed = Sandbox::of("catalogues");
    shed.write("docs/prd.md", "---\nstepsCompleted: []\n---\n");
    assert_eq!(shed.stepmark(&["project"]).code, 0);
    let files: Vec<String> =
        KINDS.into_iter().map(ours).chain([".stepmark/manifests/files-manifest.csv".to_owned()]).collect();
    let old = SystemTime::now() - Duration::from_secs(3600);
    for file in &files {
        std::fs::File::options().write(true).open(shed.place(file)).unwrap().set_modified(old).unwrap();
    }
    let bytes: Vec<_> = files.iter().map(|file| shed.read(file)).collect();
    let again = shed.stepmark(&["project", "--json"]).json("stepmark.project/1");
    let projections = again["projections"].as_array().unwrap();
    assert!(projections.iter().all(|projection| projection["written"] == 0), "{again}");
    for file in &files {
        assert_eq!(std::fs::metadata(shed.place(file)).unwrap().modified().unwrap(), old, "{file}");
    }
    std::fs::remove_dir_all(shed.place(".stepmark")).unwrap();
    assert_eq!(shed.stepmark(&["project"]).code, 0);
    assert_eq!(files.iter().map(|file| shed.read(file)).collect::<Vec<_>>(), bytes);
}

#[test]
fn a_change_of_frontmatter_reaches_its_catalogue_alone() {
    let shed = Sandbox::of("catalogues");
    shed.stepmark(&["project", "--catalogues"]);
    shed.write(
        ".claude/skills/own-notes/SKILL.md",
        "---\nname: own-notes\ndescription: \"Says, \\\"so\\\"\"\n---\n",
    );
    let done = shed.stepmark(&["project", "--catalogues", "--json"]).json("stepmark.project/1");
    assert_eq!(
        (&done["projections"][0]["written"], &done["projections"][0]["unchanged"]),
        (&1.into(), &4.into())
    );
    let skills = String::from_utf8(shed.read(&ours("skill"))).unwrap();
    assert!(skills.contains("\"own-notes\",\"Says, \"\"so\"\"\","), "{skills}");
}

#[test]
fn a_catalogue_that_somebody_edited_is_told_from_one_that_is_behind() {
    let shed = Sandbox::of("catalogues");
    shed.stepmark(&["project", "--catalogues"]);
    shed.write(&ours("tool"), "mine\n");
    shed.write(".claude/skills/own-notes/SKILL.md", "---\nname: own-notes\ndescription: later\n---\n");
    assert_snapshot!(shed.stepmark(&["project", "--catalogues"]), @r"
    exit 0
    ── stdout
    .stepmark/manifests/tool-manifest.csv was changed since stepmark wrote it, and is written anew
    catalogues: 12 rows, 2 written, 0 removed, 3 unchanged
    ");
}

#[test]
fn what_cannot_be_read_is_told_with_its_place_and_the_rest_is_written() {
    let shed = Sandbox::of("catalogues");
    shed.write("_bmad/shed/workflows/2-mend/workflow.yaml", "name: fix\ndescription: 'a' b\n");
    shed.write(".claude/skills/own-notes/SKILL.md", "---\nname: notes\ndescription: x\n---\n");
    assert_snapshot!(shed.stepmark(&["project", "--catalogues"]), @r"
    exit 1
    ── stdout
    catalogues: 10 rows, 5 written, 0 removed, 0 unchanged
    ── stderr
    warning: .claude/skills/own-notes/SKILL.md: its `name` is `notes` and its folder is called `own-notes`: agents find it only if both are the same
    warning: _bmad/shed/workflows/2-mend/workflow.yaml:2: its frontmatter cannot be read, so no catalogue can say what it is: not YAML: invalid trailing content after single-quoted scalar
    ");
    let told = shed.stepmark(&["project", "--catalogues", "--json"]);
    assert_eq!(told.json("stepmark.project/1")["projections"][0]["problems"].as_array().unwrap().len(), 2);
}

#[test]
fn a_project_without_any_of_these_has_no_catalogues() {
    let demo = Sandbox::empty();
    demo.write("docs/prd.md", "---\nstepsCompleted: []\n---\n");
    assert_snapshot!(demo.stepmark(&["project"]), @r"
    exit 0
    ── stdout
    ledgers: 0 story files, 0 written, 0 removed, 0 unchanged
    files-manifest: 1 file, 1 written, 0 removed, 0 unchanged
    catalogues: 0 rows, 0 written, 0 removed, 0 unchanged
    index: 2 rows, 2 written, 0 removed, 0 unchanged
    ");
    for kind in KINDS {
        assert!(!demo.place(&ours(kind)).exists(), "{kind}");
    }
}
