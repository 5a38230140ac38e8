//! `stepmark transition`, and the law that every change of a status obeys.

use insta::assert_snapshot;
use serde_json::Value;

use crate::{
    changing::delegate::events,
    checking::lifecycle::RELEASE,
    harness::{
        Sandbox, changed_lines,
        demo::{ARCHITECTURE, PRD},
    },
};

const SPEC: &str = "spec-tide.md";
const RELEASE_1: &str = "releases/1.md";

/// A spec as BMAD 6.12 writes it.
fn with_spec(status: &str) -> Sandbox {
    let sandbox = Sandbox::empty();
    let spec = format!(
        "---\ntitle: 'Tide'\ntype: feature # feature | bugfix\nstatus: {status} # draft | done\ncontext: []\n---\n# Tide\n"
    );
    sandbox.write(SPEC, &spec);
    sandbox
}

fn with_release(frontmatter: &str) -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.write(".stepmark/config.yaml", RELEASE);
    sandbox.write(RELEASE_1, format!("---\n{frontmatter}---\n"));
    sandbox
}

fn text(sandbox: &Sandbox, path: &str) -> String {
    String::from_utf8(sandbox.read(path)).unwrap()
}

fn overrides(sandbox: &Sandbox) -> Vec<Value> {
    events(sandbox).into_iter().filter(|event| event["kind"] == "override").collect()
}

#[test]
fn moves_the_status_and_tells_it() {
    let sandbox = with_spec("'in-review'");
    let before = sandbox.read(SPEC);
    assert_snapshot!(sandbox.stepmark(&["transition", SPEC, "completed"]), @r"
    exit 0
    ── stdout
    spec-tide.md: written
    ");
    assert_snapshot!(changed_lines(&before, &sandbox.read(SPEC)), @r"
    -status: 'in-review' # draft | done
    +status: 'done' # draft | done
    ");
    let told = events(&sandbox);
    let last = told.last().unwrap();
    assert_eq!((&last["kind"], &last["command"]), (&"change".into(), &"transition completed".into()));
    assert!(overrides(&sandbox).is_empty());
    assert_snapshot!(sandbox.reads_only(&["transition", SPEC, "complete"]), @r"
    exit 0
    ── stdout
    spec-tide.md: its status is `done` already
    spec-tide.md: nothing to write
    ");
}

#[test]
fn lists_the_moves_and_why() {
    let sandbox = with_spec("in-review");
    assert_snapshot!(sandbox.reads_only(&["transition", SPEC]), @r"
    exit 0
    ── stdout
    spec-tide.md: lifecycle `bmad-spec`, its type is known: it has the key `context`, it has the key `status`, its `type` is `feature`
    spec-tide.md: its state is `in-review`
    GOES TO            WANTS                              IN THE WAY
    draft              -                                  -
    ready-for-dev      -                                  -
    in-progress        -                                  -
    done               steps-finished, children-finished  -
    blocked            -                                  -
    awaiting-operator  -                                  -
    ");
    let answer = sandbox.reads_only(&["transition", SPEC, "--json"]).json("stepmark.transition/1");
    assert_eq!((&answer["lifecycle"], &answer["state"]), (&"bmad-spec".into(), &"in-review".into()));
    assert_eq!(answer["moves"][3]["guards"][1], "children-finished");
}

#[test]
fn an_illegal_move_is_refused_by_whatever_way_and_an_override_is_told() {
    for change in [&["transition", SPEC, "done"][..], &["set", SPEC, "status=done"]] {
        let sandbox = with_spec("draft");
        let before = sandbox.read(SPEC);
        let run = sandbox.stepmark(change);
        assert_eq!(sandbox.read(SPEC), before);
        insta::allow_duplicates! {
            assert_snapshot!(run, @r"
            exit 1
            ── stderr
            error: `spec-tide.md` is left as it is
              cause: the lifecycle `bmad-spec` has no move from `draft` to `done`: from `draft` it goes to `ready-for-dev`, `in-progress` and `blocked`
              help: `stepmark transition spec-tide.md` lists the moves; to force one: `--force --reason TEXT`
            ");
        }
        let forced = [change, &["--force", "--reason", "shipped by hand", "--actor", "human:Ada"]].concat();
        let forced = sandbox.stepmark(&forced);
        assert_eq!((forced.code, forced.stderr.as_str()), (0, ""), "{forced}");
        assert!(text(&sandbox, SPEC).contains("status: done # draft | done\n"));
        let [told] = &overrides(&sandbox)[..] else { panic!("one override") };
        assert_eq!(told["reason"], "shipped by hand");
        assert_eq!(told["actor"]["kind"], "human", "{told}");
        let data = &told["data"];
        assert_eq!(
            (&data["lifecycle"], &data["from"], &data["to"]),
            (&"bmad-spec".into(), &"draft".into(), &"done".into())
        );
        assert_eq!(data["path"], SPEC);
    }
}

#[test]
fn states_that_are_unknown_are_neither_entered_nor_left() {
    let sandbox = with_spec("draft");
    assert_snapshot!(sandbox.reads_only(&["transition", SPEC, "in-progres"]), @r"
    exit 1
    ── stderr
    error: `spec-tide.md` is left as it is
      cause: `in-progres` is no state of the lifecycle `bmad-spec` (is `in-progress` meant?): its states are `draft`, `ready-for-dev`, `in-progress`, `in-review`, `done`, `blocked` and `awaiting-operator`
      help: `stepmark transition spec-tide.md` lists the moves; any word is written by `stepmark set spec-tide.md status=WORD --force --reason TEXT`
    ");
    assert_eq!(sandbox.reads_only(&["transition", SPEC, "nonsense", "--force", "--reason", "x"]).code, 1);
    assert_eq!(sandbox.stepmark(&["set", SPEC, "status=nonsense"]).code, 1);
    assert_eq!(sandbox.stepmark(&["set", SPEC, "status=null"]).code, 1, "nor taken away");
    let sandbox = with_spec("parked");
    assert_snapshot!(sandbox.stepmark(&["transition", SPEC, "done"]), @r"
    exit 1
    ── stderr
    error: `spec-tide.md` is left as it is
      cause: its status `parked` is no state of the lifecycle `bmad-spec`, so no move leads out of it: its states are `draft`, `ready-for-dev`, `in-progress`, `in-review`, `done`, `blocked` and `awaiting-operator`
      help: `stepmark transition spec-tide.md` lists the moves; to force one: `--force --reason TEXT`
    ");
    let listed = sandbox.reads_only(&["transition", SPEC]);
    assert_eq!(listed.code, 1, "{listed}");
    assert_eq!(sandbox.stepmark(&["set", SPEC, "title=Ebb"]).code, 0, "other keys may change");
    assert_eq!(sandbox.stepmark(&["transition", SPEC, "draft", "--force", "--reason", "fixed"]).code, 0);
}

/// BMAD goes on with a PRFAQ where the number of its stage says.
#[test]
fn the_number_of_a_stage_goes_with_its_word() {
    let sandbox = Sandbox::empty();
    sandbox.write("prfaq-tide.md", "---\nstatus: press-release # now\nstage: 2\n---\n# Tide\n");
    assert_eq!(sandbox.stepmark(&["transition", "prfaq-tide.md", "customer-faq"]).code, 0);
    let file = text(&sandbox, "prfaq-tide.md");
    assert!(file.starts_with("---\nstatus: customer-faq # now\nstage: 3\n"), "{file}");
}

#[test]
fn what_has_no_lifecycle_is_free() {
    let demo = Sandbox::demo();
    assert_snapshot!(demo.reads_only(&["transition", ARCHITECTURE, "done"]), @r"
    exit 1
    ── stderr
    error: `_bmad-output/planning-artifacts/architecture.md` is left as it is
      cause: it has no lifecycle: neither the configuration nor its type gives it one
      help: declare one under `lifecycles` in `.stepmark/config.yaml`, or write the word: `stepmark set _bmad-output/planning-artifacts/architecture.md status=…`
    ");
    assert_eq!(demo.reads_only(&["transition", ARCHITECTURE]).code, 1);
    assert_eq!(demo.stepmark(&["set", PRD, "status=complete"]).code, 0);
    assert_eq!(demo.stepmark(&["set", PRD, "status=draft"]).code, 0);
}

#[test]
fn guards_counters_and_ways_back_of_a_declared_lifecycle() {
    let sandbox = with_release("status: draft\n");
    let moved = |to: &str| sandbox.stepmark(&["transition", RELEASE_1, to]);
    assert_eq!(moved("accepted").code, 0);
    assert_eq!(text(&sandbox, RELEASE_1), "---\nstatus: Approved\nattempts: 1\n---\n");
    assert_snapshot!(moved("shipped"), @r"
    exit 1
    ── stderr
    error: `releases/1.md` is left as it is
      cause: the lifecycle `release` moves to `shipped` only with `filled(version)`: `version` says nothing
      help: `stepmark transition releases/1.md` lists the moves; to force one: `--force --reason TEXT`
    ");
    assert_eq!(moved("held").code, 0);
    assert_eq!(text(&sandbox, RELEASE_1), "---\nstatus: held\nattempts: 1\nheld_at: Approved\n---\n");
    assert_snapshot!(sandbox.reads_only(&["transition", RELEASE_1]), @r"
    exit 0
    ── stdout
    releases/1.md: lifecycle `release`, the configuration says so: its path fits `releases/`
    releases/1.md: its state is `held`
    GOES TO   WANTS  IN THE WAY
    Approved  -      -
    ");
    assert_snapshot!(sandbox.stepmark(&["transition", RELEASE_1, "draft"]), @r"
    exit 1
    ── stderr
    error: `releases/1.md` is left as it is
      cause: the lifecycle `release` has no move from `held` to `draft`: from `held` it goes to `Approved`
      help: `stepmark transition releases/1.md` lists the moves; to force one: `--force --reason TEXT`
    ");
    assert_eq!(moved("Approved").code, 0, "a way back counts as entering");
    assert_eq!(text(&sandbox, RELEASE_1), "---\nstatus: Approved\nattempts: 2\n---\n");
    assert_eq!(sandbox.stepmark(&["set", RELEASE_1, "status=draft"]).code, 0);
    assert_snapshot!(sandbox.stepmark(&["set", RELEASE_1, "status=approved"]), @r"
    exit 1
    ── stderr
    error: `releases/1.md` is left as it is
      cause: `attempts` is 2, and the lifecycle `release` enters `Approved` 2 times at most
      help: `stepmark transition releases/1.md` lists the moves; to force one: `--force --reason TEXT`
    ");
    sandbox.write(RELEASE_1, "---\nstatus: approved\nattempts: 2\n---\n");
    let shipped = sandbox.stepmark(&["set", RELEASE_1, "version=1.2", "status=shipped"]);
    assert_eq!(shipped.code, 0, "what is filled in the same change counts: {shipped}");
    assert_eq!(text(&sandbox, RELEASE_1), "---\nstatus: shipped\nattempts: 0\nversion: 1.2\n---\n");
}

#[test]
fn work_ends_after_its_children_in_a_declared_state_too() {
    let sandbox = with_release("id: r1\nversion: 1\nstatus: approved\n");
    let child = sandbox.stepmark(&["delegate", RELEASE_1, "--to", "writer", "--file", "part.md"]);
    assert_eq!(child.code, 0, "{child}");
    let listed = sandbox.reads_only(&["transition", RELEASE_1, "--json"]).json("stepmark.transition/1");
    let refused: Vec<&Value> =
        listed["moves"].as_array().unwrap().iter().map(|way| &way["refused"]).collect();
    let open = "1 delegated piece of work is open: `part.md` (writer: todo)";
    assert_eq!(refused, [&Value::Null, &open.into(), &Value::Null], "{listed}");
    assert_snapshot!(sandbox.stepmark(&["transition", RELEASE_1, "shipped"]), @r"
    exit 1
    ── stderr
    error: `releases/1.md` is left as it is
      cause: 1 delegated piece of work is open: `part.md` (writer: todo)
      help: finish them first, or force it: `--force --reason TEXT`; `stepmark tree` shows them
    ");
    sandbox.write("part.md", text(&sandbox, "part.md").replace("todo", "done"));
    assert_eq!(sandbox.stepmark(&["transition", RELEASE_1, "shipped"]).code, 0);
    let finished = sandbox.stepmark(&["delegate", RELEASE_1, "--to", "writer"]);
    assert!(finished.stderr.contains("it is finished"), "`shipped` is terminal: {finished}");
}

#[test]
fn steps_must_be_finished_where_the_table_wants_it() {
    let demo = Sandbox::demo();
    demo.write(".stepmark/config.yaml", "lifecycles: [{name: task, applies_to: [{path: '**/prd.md'}]}]\n");
    demo.write(PRD, text(&demo, PRD).replace("status: draft", "status: active"));
    assert_snapshot!(demo.stepmark(&["transition", PRD, "done"]), @r"
    exit 1
    ── stderr
    error: `_bmad-output/planning-artifacts/prd.md` is left as it is
      cause: the lifecycle `task` moves to `done` only with `steps-finished`: open: `step-04-journeys`
      help: `stepmark transition _bmad-output/planning-artifacts/prd.md` lists the moves; to force one: `--force --reason TEXT`
    ");
}

#[test]
fn undo_goes_the_way_of_history() {
    let sandbox = with_release("status: draft\n");
    assert_eq!(sandbox.stepmark(&["transition", RELEASE_1, "held"]).code, 0);
    assert_eq!(sandbox.stepmark(&["transition", RELEASE_1, "draft"]).code, 0);
    sandbox.write(RELEASE_1, "---\nstatus: shipped\n---\n");
    assert_eq!(sandbox.stepmark(&["transition", RELEASE_1, "draft"]).code, 1);
    let forced = sandbox.stepmark(&["transition", RELEASE_1, "draft", "--force", "--reason", "recalled"]);
    assert_eq!(forced.code, 0, "{forced}");
    let log = sandbox.stepmark(&["log", RELEASE_1, "--json"]).json("stepmark.log/1");
    let event = log["events"][0]["id"].as_str().unwrap().to_owned();
    let undone = sandbox.stepmark(&["undo", &event]);
    assert_eq!(undone.code, 0, "{undone}");
    assert_eq!(text(&sandbox, RELEASE_1), "---\nstatus: shipped\n---\n");
}

/// BMAD writes the day of a change into `updated`.
#[test]
fn a_document_is_dated_where_it_has_a_date() {
    let sandbox = Sandbox::empty();
    let prd = "prds/prd-x/prd.md";
    for (before, shape) in [
        ("updated: 2026-01-01", "updated: 0000-00-00"),
        ("updated: '2026-01-01T10:00'", "updated: '0000-00-00T00:00'"),
        ("title: 1", "title: 0"),
    ] {
        sandbox.write(prd, format!("---\nstatus: draft\n{before}\n---\n# PRD\n"));
        let run = sandbox.stepmark(&["transition", prd, "final"]);
        assert_eq!(run.code, 0, "{run}");
        let after = text(&sandbox, prd);
        assert_eq!(after.contains(before), before.starts_with("title"), "{after}");
        let digits = |letter: char| if letter.is_ascii_digit() { '0' } else { letter };
        let after: String = after.chars().map(digits).collect();
        assert_eq!(after, format!("---\nstatus: final\n{shape}\n---\n# PRD\n"));
    }
}

/// No workflow says that it is a step.
#[test]
fn what_is_no_step_is_not_reopened() {
    let sandbox = Sandbox::empty();
    sandbox.write("a.md", "---\nstepsCompleted: [1, 2]\n---\n");
    let run = sandbox.reads_only(&["reopen", "a.md", "nonsense"]);
    assert!(
        run.code == 1 && run.stderr.contains("there is no such thing: a completed step `nonsense`"),
        "{run}"
    );
    assert_eq!(sandbox.reads_only(&["reopen", "a.md", "9"]).code, 0, "a step may be open already");
}
