//! `stepmark delegate`: the child, the chain, and finishing above open children.

use std::{
    collections::BTreeMap,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use insta::assert_snapshot;
use serde_json::Value;

use crate::harness::{Run, Sandbox, demo::PRD};

/// `stepmark ARGUMENTS…` with ids as random as they are in earnest.
fn command(sandbox: &Sandbox, arguments: &[&str]) -> Command {
    let mut command = sandbox.command(arguments);
    command.env_remove("STEPMARK_TEST_ID");
    command
}

fn delegate(sandbox: &Sandbox, parent: &str, agent: &str) -> Value {
    let run = sandbox.run(&mut command(sandbox, &["delegate", parent, "--to", agent, "--json"]));
    assert_eq!(run.code, 0, "{run}");
    run.json("stepmark.delegate/1")
}

fn frontmatter(sandbox: &Sandbox, path: &str) -> Value {
    sandbox.stepmark(&["show", path, "--json"]).json("stepmark.show/2")["frontmatter"].clone()
}

fn path_of(answer: &Value) -> &str {
    answer["path"].as_str().unwrap()
}

/// The events of the journal, in their order.
pub(crate) fn events(sandbox: &Sandbox) -> Vec<Value> {
    let folder = sandbox.place(".stepmark/local/journal");
    let mut names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    let lines = |place| std::fs::read_to_string(place).unwrap();
    let events = names.into_iter().map(lines).collect::<Vec<_>>().concat();
    let parsed = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["event"].clone());
    parsed.filter(|event| !event.is_null()).collect()
}

/// The child of a delegation goes its way like any other work, and its parent waits for it.
#[test]
fn a_child_has_a_lifecycle() {
    let demo = Sandbox::demo();
    let child = path_of(&delegate(&demo, PRD, "writer")).to_owned();
    let moved = demo.stepmark(&["transition", &child, "in-progress"]);
    assert_eq!(moved.code, 0, "{moved}");
    assert_eq!(frontmatter(&demo, &child)["status"], "in-progress");
    let unknown = demo.stepmark(&["transition", &child, "elsewhere"]);
    assert!(unknown.code != 0 && unknown.stderr.contains("`task`"), "{unknown}");
    let checked = demo.stepmark(&["check", &child]);
    assert_eq!(checked.code, 0, "{checked}");
    let done = demo.stepmark(&["transition", &child, "done"]);
    assert_eq!(done.code, 0, "{done}");
    // The root of the chain is what it was.
    let root = demo.stepmark(&["show", PRD, "--json"]).json("stepmark.show/2");
    assert_ne!(root["lifecycle"]["name"], "task", "{root}");
}

#[test]
fn a_child_is_made_and_its_parent_becomes_the_root() {
    let demo = Sandbox::demo();
    let task = "Review the journeys\n\nLook for gaps.";
    let run =
        demo.run(&mut command(&demo, &["delegate", PRD, "--to", "Reviewer 1", "--task", task, "--json"]));
    let answer = run.json("stepmark.delegate/1");
    let child = path_of(&answer).to_owned();
    let id = answer["id"].as_str().unwrap().to_owned();
    assert!(child.starts_with("_bmad-output/planning-artifacts/prd.delegations/reviewer-1-"), "{child}");
    assert!(child.contains(&id[..6]), "{child}");

    let parent = frontmatter(&demo, PRD);
    let root = parent["stepmark_id"].as_str().unwrap();
    let expected =
        serde_json::json!({"id": root, "parent_id": null, "root_id": root, "depth": 0, "chain_path": [root]});
    assert_eq!(parent["delegation"], expected);
    let made = frontmatter(&demo, &child);
    let expected = serde_json::json!({"id": id, "parent_id": root, "root_id": root, "depth": 1, "chain_path": [root, id]});
    assert_eq!(made["delegation"], expected);
    assert_eq!((&made["title"], &made["status"]), (&"Review the journeys".into(), &"todo".into()));
    assert_eq!((&made["assignee"], &made["stepsCompleted"]), (&"Reviewer 1".into(), &serde_json::json!([])));
    let text = String::from_utf8(demo.read(&child)).unwrap();
    assert!(text.contains("[../prd.md](../prd.md)") && text.ends_with("\nLook for gaps.\n"), "{text}");

    let second = delegate(&demo, &child, "writer");
    assert_eq!((second["depth"].as_u64(), second["parent_changed"].as_bool()), (Some(2), Some(false)));
    assert_eq!(second["chain_path"][1], id);
    let told: Vec<Value> = events(&demo).into_iter().filter(|event| event["kind"] == "delegate").collect();
    assert_eq!(told.len(), 2);
    assert_eq!(told[0]["data"]["to"], "Reviewer 1");
    assert_eq!(told[0]["artifact"]["key"], format!("id:{id}"));
    let check = demo.reads_only(&["check", &child]);
    assert_eq!(check.code, 0, "{check}");
}

#[test]
fn where_the_child_goes_can_be_said() {
    let demo = Sandbox::demo();
    let named = demo.stepmark(&["delegate", PRD, "--to", "writer", "--file", "work/new.md"]);
    assert_eq!(named.to_string(), "exit 0\n── stdout\nwork/new.md\n");
    let again = demo.changes_nothing(&mut demo.command(&[
        "delegate",
        PRD,
        "--to",
        "writer",
        "--file",
        "work/new.md",
    ]));
    assert_eq!(again.code, 1, "{again}");
    assert!(again.stderr.contains("`work/new.md` exists already"), "{again}");
    demo.write(".stepmark/config.yaml", "delegation: {folder: agents/open}\n");
    let configured = delegate(&demo, PRD, "writer");
    assert!(path_of(&configured).starts_with("agents/open/writer-"), "{configured}");
}

#[test]
fn what_cannot_be_delegated_from_is_left_alone() {
    let demo = Sandbox::demo();
    demo.write("docs/done.md", "---\nstatus: done\n---\n");
    demo.write("docs/odd.md", "---\nstatus: draft\ndelegation: {id: a, parent_id: b}\n---\n");
    for (path, code, reason) in [
        ("docs/done.md", 1, "it is finished"),
        ("docs/odd.md", 1, "it has no `chain_path`"),
        (crate::harness::demo::RESEARCH, 1, "cannot be read"),
        ("docs/none.md", 2, "there is no file"),
        ("../out.md", 2, "not inside the project"),
    ] {
        let run = demo.reads_only(&["delegate", path, "--to", "writer"]);
        assert_eq!(run.code, code, "{path}: {run}");
        assert!(run.stderr.contains(reason), "{path}: {run}");
    }
    assert_eq!(demo.reads_only(&["delegate", PRD, "--to", " "]).code, 2);
}

#[test]
fn an_artifact_is_finished_after_its_children() {
    let demo = Sandbox::demo();
    demo.write("docs/plan.md", "---\nid: plan\nstatus: draft\n---\n");
    let child = demo.stepmark(&["delegate", "docs/plan.md", "--to", "writer", "--file", "docs/part.md"]);
    assert_eq!(child.code, 0, "{child}");
    let finish = ["set", "docs/plan.md", "status=done"];
    let before = demo.read("docs/plan.md");
    assert_snapshot!(demo.stepmark(&finish), @r"
    exit 1
    ── stderr
    error: `docs/plan.md` is left as it is
      cause: 1 delegated piece of work is open: `docs/part.md` (writer: todo)
      help: finish them first, or force it: `--force --reason TEXT`; `stepmark tree` shows them
    ");
    assert_eq!(demo.read("docs/plan.md"), before);
    assert_eq!(demo.stepmark(&["set", "docs/plan.md", "status=in-review"]).code, 0, "that finishes nothing");
    assert_eq!(
        demo.stepmark(&["set", "docs/plan.md", "status=done", "--force"]).code,
        2,
        "a reason is wanted"
    );

    demo.write("docs/part.md", "---\nstatus: [\n---\n");
    demo.write("docs/plan.delegations/lost.md", "---\nstatus: [\n---\n");
    let unreadable = demo.stepmark(&finish);
    assert!(
        unreadable.code == 1 && unreadable.stderr.contains("`docs/plan.delegations/lost.md` (unreadable)"),
        "{unreadable}"
    );
    std::fs::remove_file(demo.place("docs/plan.delegations/lost.md")).unwrap();

    demo.write("docs/part.md", "---\nstatus: todo\ndelegation: {id: part, parent_id: plan}\n---\n");
    let forced =
        demo.stepmark(&["set", "docs/plan.md", "status=done", "--force", "--reason", "the writer left"]);
    assert_eq!(forced.code, 0, "{forced}");
    let told = events(&demo);
    let at = told.iter().position(|event| event["kind"] == "override").unwrap();
    assert_eq!(told[at]["reason"], "the writer left");
    assert_eq!(told[at]["data"]["open_children"], serde_json::json!(["docs/part.md"]));
    assert!(told[at + 1]["changes"].to_string().contains("status"), "the change comes after");
    let check = demo.stepmark(&["check", "docs/plan.md"]);
    assert!(check.stdout.contains("[SM509]"), "{check}");
    demo.stepmark(&["set", "docs/part.md", "status=cancelled"]);
    assert_eq!(demo.stepmark(&["set", "docs/plan.md", "status=draft"]).code, 0);
    assert_eq!(demo.stepmark(&finish).code, 0, "all is finished");
}

#[test]
fn the_last_step_is_refused_too() {
    let empty = Sandbox::empty();
    empty.write(
        ".stepmark/config.yaml",
        "workflows: [{name: w, artifacts: ['a.md'], steps: [step-01-x, step-02-y]}]\n",
    );
    empty.write("a.md", "---\nid: a\nstepsCompleted: []\n---\n# A\n");
    empty.write("b.md", "---\nstatus: todo\ndelegation: {id: b, parent_id: a}\n---\n");
    assert_eq!(empty.stepmark(&["complete", "a.md", "1"]).code, 0);
    let refused = empty.stepmark(&["complete", "a.md", "2"]);
    assert!(refused.code == 1 && refused.stderr.contains("`b.md` (todo)"), "{refused}");
    let forced = empty.stepmark(&["complete", "a.md", "2", "--force", "--reason", "enough"]);
    assert_eq!(forced.code, 0, "{forced}");
}

const LEVEL_ONE: usize = 4;
const EACH_LEVEL_TWO: usize = 7;
const LEVEL_THREE: usize = 60;

/// How often the agents ran the program.
static RUNS: AtomicUsize = AtomicUsize::new(0);

fn done(sandbox: &Sandbox, arguments: &[&str]) -> Run {
    RUNS.fetch_add(1, Ordering::Relaxed);
    let child: Child = command(sandbox, arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let run = Run {
        code: output.status.code().unwrap_or(-1),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    };
    assert_eq!(run.code, 0, "{arguments:?}: {run}");
    run
}

/// One agent: takes work from `parent`, gives parts of it to others, does its own, waits for them, and
/// finishes.
fn agent(sandbox: &Sandbox, parent: &str, name: &str, below: &[usize]) {
    let made = done(sandbox, &["delegate", parent, "--to", name, "--json"]).json("stepmark.delegate/1");
    let own = path_of(&made).to_owned();
    thread::scope(|scope| {
        if let [count, deeper @ ..] = below {
            for number in 0..*count {
                let (own, child) = (&own, format!("{name}-{number}"));
                scope.spawn(move || agent(sandbox, own, &child, deeper));
            }
        }
        done(sandbox, &["complete", &own, "step-01-work"]);
        done(sandbox, &["complete", parent, &format!("part-{name}")]);
    });
    done(sandbox, &["set", &own, "status=done"]);
}

#[test]
fn ninety_two_agents_three_levels_deep_lose_nothing() {
    let empty = Sandbox::empty();
    empty.write("plan.md", "---\nid: plan\nstatus: draft\nstepsCompleted: []\n---\n# Plan\n");
    let each = LEVEL_THREE / (LEVEL_ONE * EACH_LEVEL_TWO);
    let more = LEVEL_THREE % (LEVEL_ONE * EACH_LEVEL_TWO);
    thread::scope(|scope| {
        for number in 0..LEVEL_ONE {
            let (empty, name) = (&empty, format!("lead{number}"));
            // What does not divide evenly goes to the first lead, one more to each of its agents.
            let extra = usize::from(number == 0) * more.div_ceil(EACH_LEVEL_TWO);
            scope.spawn(move || agent(empty, "plan.md", &name, &[EACH_LEVEL_TWO, each + extra]));
        }
    });
    let tree = empty.stepmark(&["tree", "--json"]).json("stepmark.tree/1");
    let nodes = tree["nodes"].as_array().unwrap();
    let mut levels: BTreeMap<u64, usize> = BTreeMap::new();
    for node in nodes {
        *levels.entry(node["level"].as_u64().unwrap()).or_default() += 1;
        assert_eq!(node["finished"], node["level"] != 0, "{node}");
        let path = node["path"].as_str().unwrap();
        let listed = frontmatter(&empty, path)["stepsCompleted"].as_array().unwrap().len();
        let children = nodes.iter().filter(|child| child["parent_id"] == node["id"]).count();
        let own = usize::from(node["level"] != 0);
        assert_eq!(listed, children + own, "{path} lists each of its children");
    }
    assert!(nodes.len() > 92, "{levels:?}");
    assert_eq!(
        (levels[&0], levels[&1], levels[&2]),
        (1, LEVEL_ONE, LEVEL_ONE * EACH_LEVEL_TWO),
        "{levels:?}"
    );
    assert_eq!(empty.stepmark(&["check", "-q"]).to_string(), "exit 0\n", "every chain is right");
    assert_eq!(empty.stepmark(&["set", "plan.md", "status=done"]).code, 0, "nothing is open");
    let told = events(&empty).into_iter().filter(|event| event["kind"] == "delegate").count();
    assert_eq!(told, nodes.len() - 1);
}
