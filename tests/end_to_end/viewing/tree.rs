//! `stepmark tree`: who works on what.

use insta::assert_snapshot;

use crate::harness::Sandbox;

fn linked(sandbox: &Sandbox, path: &str, id: &str, parent: &str, rest: &str) {
    let text = format!("---\nid: {id}\n{rest}\ndelegation: {{id: {id}, parent_id: {parent}}}\n---\n");
    sandbox.write(path, text);
}

fn forest() -> Sandbox {
    let empty = Sandbox::empty();
    empty.write(
        ".stepmark/config.yaml",
        "workflows: [{name: parts, artifacts: ['docs/*'], steps: [step-01-a, step-02-b, step-03-c]}]\n",
    );
    empty.write("docs/plan.md", "---\nid: plan\ntitle: The plan\nstepsCompleted: [1, 2]\n---\n# Plan\n");
    linked(
        &empty,
        "docs/api.md",
        "api",
        "plan",
        "assignee: builder\nstatus: in-progress\nstepsCompleted: [1]",
    );
    linked(&empty, "docs/api-tests.md", "tests", "api", "assignee: tester\nstatus: todo");
    linked(&empty, "docs/ui.md", "ui", "plan", "assignee: painter\nstatus: done");
    linked(&empty, "docs/ui-colours.md", "colours", "ui", "assignee: painter\nstatus: done");
    linked(&empty, "docs/lost.md", "lost", "gone", "assignee: nobody\nstatus: todo");
    empty.write("docs/alone.md", "---\nid: alone\nstatus: draft\n---\n");
    empty
}

#[test]
fn draws_the_forest() {
    let empty = forest();
    assert_snapshot!(empty.reads_only(&["tree"]), @r"
    exit 0
    ── stdout
    ARTIFACT                              AGENT    DONE            STATUS
    docs/lost.md (its parent is missing)  nobody   ░░░░░░░░░░ 0/3  todo
    docs/plan.md                          -        ███████░░░ 2/3  -
    ├─ docs/api.md                        builder  ████░░░░░░ 1/3  in-progress
    │  └─ docs/api-tests.md               tester   ░░░░░░░░░░ 0/3  todo
    └─ docs/ui.md                         painter  ░░░░░░░░░░ 0/3  done
       └─ docs/ui-colours.md              painter  ░░░░░░░░░░ 0/3  done
    ");
    assert_snapshot!(empty.reads_only(&["tree", "docs/api.md"]), @r"
    exit 0
    ── stdout
    ARTIFACT              AGENT    DONE            STATUS
    docs/api.md           builder  ████░░░░░░ 1/3  in-progress
    └─ docs/api-tests.md  tester   ░░░░░░░░░░ 0/3  todo
    ");
    assert_snapshot!(empty.reads_only(&["tree", "docs/api-tests.md", "--up"]), @r"
    exit 0
    ── stdout
    ARTIFACT                 AGENT    DONE            STATUS
    docs/plan.md             -        ███████░░░ 2/3  -
    └─ docs/api.md           builder  ████░░░░░░ 1/3  in-progress
       └─ docs/api-tests.md  tester   ░░░░░░░░░░ 0/3  todo
    ");
    assert_snapshot!(empty.reads_only(&["tree", "docs/lost.md", "--up"]), @r"
    exit 0
    ── stdout
    ARTIFACT                       AGENT   DONE            STATUS
    ? no artifact has the id gone
    └─ docs/lost.md                nobody  ░░░░░░░░░░ 0/3  todo
    ");
    assert_eq!(
        empty.reads_only(&["tree", "docs/alone.md"]).to_string(),
        "exit 0\n── stdout\nnothing is delegated\n"
    );
    assert_eq!(empty.reads_only(&["tree", "docs/none.md"]).code, 2);
    assert_eq!(empty.reads_only(&["tree", "--up"]).code, 2);
}

#[test]
fn answers_in_json() {
    let empty = forest();
    let tree = empty.reads_only(&["tree", "--json"]).json("stepmark.tree/1");
    let nodes = tree["nodes"].as_array().unwrap();
    let node = |id: &str| nodes.iter().find(|node| node["id"] == id).unwrap();
    assert_eq!(nodes.len(), 6, "what is not delegated is not in it");
    assert_eq!((node("tests")["level"].as_u64(), node("tests")["agent"].as_str()), (Some(2), Some("tester")));
    assert_eq!((node("plan")["done"].as_u64(), node("plan")["total"].as_u64()), (Some(2), Some(3)));
    assert_eq!(
        (node("ui")["finished"].as_bool(), node("lost")["cut_off"].as_bool()),
        (Some(true), Some(true))
    );
    let chain = empty.reads_only(&["tree", "docs/api-tests.md", "--up", "--json"]).json("stepmark.chain/1");
    let ids: Vec<_> =
        chain["nodes"].as_array().unwrap().iter().map(|node| node["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["plan", "api", "tests"]);
}

#[test]
fn a_circle_is_drawn_once_and_found_by_check() {
    let empty = Sandbox::empty();
    linked(&empty, "a.md", "a", "b", "status: todo");
    linked(&empty, "b.md", "b", "a", "status: todo");
    let tree = empty.reads_only(&["tree", "--json"]).json("stepmark.tree/1");
    assert_eq!(tree["nodes"].as_array().unwrap().len(), 2);
    let check = empty.reads_only(&["check", "--json"]).json("stepmark.check/1");
    let rules: Vec<_> = check["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["rule"].as_str().unwrap())
        .collect();
    assert_eq!(rules, ["delegation-circle", "delegation-circle"]);
    let up = empty.reads_only(&["tree", "a.md", "--up"]);
    assert_eq!(up.code, 0, "{up}");
}
