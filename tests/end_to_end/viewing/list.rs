//! `stepmark list`

use insta::assert_snapshot;

use crate::harness::Sandbox;

/// Stories in every state, one of them delegated.
fn board() -> Sandbox {
    let board = Sandbox::empty();
    for (name, frontmatter) in [
        ("1-1-lend", "status: done\nscope: small\nassignee: dev\nupdated: 2026-01-31"),
        ("1-2-mend", "status: In Progress\nscope: large\nid: fix\nupdated: 2026-02-02T08:00:00Z"),
        ("1-3-count", "status: drafted\nscope: epic\ndelegation: {id: count, parent_id: fix}"),
        ("1-4-label", "status: nonsense\nscope: huge"),
    ] {
        let text = format!("---\ntitle: Story {name}\n{frontmatter}\n---\n# Story\n\nStatus: x\n");
        board.write(&format!("_bmad-output/implementation-artifacts/{name}.md"), text);
    }
    board
}

fn paths(board: &Sandbox, arguments: &[&str]) -> Vec<String> {
    let arguments = [&["list", "--json", "--columns", "path"], arguments].concat();
    let answer = board.reads_only(&arguments).json("stepmark.list/2");
    let path = |artifact: &serde_json::Value| {
        let path = artifact["path"].as_str().unwrap();
        path.trim_start_matches("_bmad-output/implementation-artifacts/")
            .split('-')
            .nth(1)
            .unwrap()
            .to_owned()
    };
    answer["artifacts"].as_array().unwrap().iter().map(path).collect()
}

#[test]
fn lists_what_a_question_is_true_of() {
    let board = board();
    for (question, expected) in [
        ("status=in_progress", &["2"][..]),
        ("status = 'ready-for-dev'", &["3"]),
        ("status=ready-for-dev and scope>=large", &["3"]),
        ("status<review", &["2", "3"]),
        ("scope>=small and scope<epic", &["1", "2"]),
        ("not scope>=small", &["4"]),
        ("agent=dev or parent=fix", &["1", "3"]),
        ("updated is empty", &["3", "4"]),
        ("updated >= 2026-02-01", &["2"]),
        ("title ~ COUNT", &["3"]),
        ("modified > 2020-01-01", &["1", "2", "3", "4"]),
        ("modified < 2020-01-01", &[]),
    ] {
        assert_eq!(paths(&board, &["--where", question]), expected, "{question}");
    }
    assert_eq!(paths(&board, &["--sort", "-scope"]), ["4", "3", "2", "1"]);
    assert_eq!(paths(&board, &["--sort", "status,-path"]), ["3", "2", "1", "4"]);
}

#[test]
fn shows_a_table_or_every_field() {
    let demo = Sandbox::demo();
    assert_snapshot!(demo.reads_only(&["list", "--where", "progress>0", "--sort", "-progress"]), @r"
    exit 0
    ── stdout
    PATH                                                                  WORKFLOW              STATUS  SCOPE  PROGRESS  NEXT
    _bmad-output/planning-artifacts/product-brief-toolshed-2026-01-14.md  create-product-brief  -       -      100%      -
    _bmad-output/planning-artifacts/architecture.md                       create-architecture   -       -      62%       step-06-structure
    _bmad-output/brainstorming/brainstorming-session-2026-01-12.md        brainstorming         -       -      50%       step-03-technique-execution
    _bmad-output/planning-artifacts/prd.md                                create-prd            draft   -      35%       step-04-journeys
    ── stderr
    warning: 1 file could not be asked: `stepmark check` shows what is wrong
    ");
    assert_snapshot!(demo.reads_only(&["list", "--where", "path=nowhere"]), @r"
    exit 0
    ── stdout
    no artifact
    ── stderr
    warning: 1 file could not be asked: `stepmark check` shows what is wrong
    ");
    let all = demo.reads_only(&["list", "--json"]).json("stepmark.list/2");
    let status = demo.reads_only(&["status", "--json"]).json("stepmark.status/2");
    let (all, status) = (all["artifacts"].as_array().unwrap(), status["artifacts"].as_array().unwrap());
    assert_eq!(all.len(), status.len());
    for (listed, told) in all.iter().zip(status) {
        for field in ["path", "id", "title", "workflow", "status", "scope", "done", "total", "work_state"] {
            assert_eq!(listed[field], told[field], "{field} of {}", told["path"]);
        }
        let problems =
            told["problems"]["errors"].as_u64().unwrap() + told["problems"]["warnings"].as_u64().unwrap();
        assert_eq!(listed["problems"], problems);
    }
}

#[test]
fn any_key_of_the_frontmatter_can_be_asked() {
    let sandbox = Sandbox::empty();
    for (name, frontmatter) in [
        ("a", "phase: 22.1\nstate: x\nDue Date: 2026-01-31\ntags: [one, 'two, three']"),
        ("b", "phase: 22.10\nstate: y\nnested: {to: z}"),
        ("c", "phase:\nbaseline_commit: 75e9782"),
    ] {
        sandbox
            .write(&format!("docs/1-{name}-x.md"), format!("---\nstatus: draft\n{frontmatter}\n---\n# X\n"));
    }
    for (question, expected) in [
        ("phase=22.10", &["b"][..]),
        ("phase=22.1", &["a"]),
        ("phase is empty", &["c"]),
        ("state in (x, y) and status=draft", &["a", "b"]),
        ("'Due Date'=2026-01-31", &["a"]),
        ("tags='two, three'", &["a"]),
        ("nested is not empty", &["b"]),
        ("baseline_commit=75e9782", &["c"]),
    ] {
        assert_eq!(paths(&sandbox, &["--where", question]), expected, "{question}");
    }
    assert_eq!(paths(&sandbox, &["--sort", "-phase"]), ["b", "a", "c"]);
    let table = sandbox.reads_only(&["list", "--columns", "path,phase", "--where", "phase>22"]).to_string();
    assert!(table.contains("exit 2") && table.contains("`>` cannot be asked of `phase`"), "{table}");
    assert_snapshot!(sandbox.reads_only(&["list", "--columns", "path,phase,tags", "--where", "phase=22.1"]), @r"
    exit 0
    ── stdout
    PATH           PHASE  TAGS
    docs/1-a-x.md  22.1   one | two, three
    ");
}

#[test]
fn a_question_that_makes_no_sense_is_shown_with_its_place() {
    let board = board();
    assert_snapshot!(board.reads_only(&["list", "--where", "stauts=done and scope>=large"]), @r"
    exit 2
    ── stderr
    error: no field is called `stauts`
     --> --where:1:1
      |
    1 | stauts=done and scope>=large
      | ^^^^^^
      |
      = help: is `status` meant? The fields are path, id, title, workflow, status, scope, work_state, done, total, progress, next, agent, parent, problems, modified, updated
    ");
    assert_snapshot!(board.reads_only(&["list", "--where", "status=done and scope>=\u{1b}big"]), @r"
    exit 2
    ── stderr
    error: `scope` is a scope, and `␛big` is none
     --> --where:1:24
      |
    1 | status=done and scope>=␛big
      |                        ^^^^
      |
      = help: scopes are micro, small, medium, large and epic
    ");
    assert_snapshot!(board.reads_only(&["list", "--sort", "path,-sope"]), @r"
    exit 2
    ── stderr
    error: no field is called `sope`
     --> --sort:1:7
      |
    1 | path,-sope
      |       ^^^^
      |
      = help: is `scope` meant? The fields are path, id, title, workflow, status, scope, work_state, done, total, progress, next, agent, parent, problems, modified, updated
    ");
    assert_snapshot!(board.reads_only(&["list", "--columns", "path,"]), @r"
    exit 2
    ── stderr
    error: the name of a field is wanted here
     --> --columns:1:6
      |
    1 | path,
      |      ^
    ");
    let error = board.reads_only(&["list", "--where", "path<a", "--json"]);
    assert_eq!(error.code, 2);
    assert!(
        error
            .stderr
            .contains("\"error\":\"cannot read --where: `<` cannot be asked of `path`, which is a text\""),
        "{error}"
    );
}
