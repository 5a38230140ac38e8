//! `stepmark set`

use insta::assert_snapshot;

use crate::harness::{
    Sandbox, changed_lines,
    demo::{ARCHITECTURE, EPICS, PRD},
};

#[test]
fn changes_one_value_and_keeps_its_comment() {
    let demo = Sandbox::demo();
    let before = demo.read(PRD);
    assert_snapshot!(demo.stepmark(&["set", PRD, "status=in-review"]), @r"
    exit 0
    ── stdout
    _bmad-output/planning-artifacts/prd.md: written, 5/14, next: step-04-journeys
    ");
    assert_snapshot!(changed_lines(&before, &demo.read(PRD)), @r"
    -status: draft   # draft | in-review | done
    +status: in-review   # draft | in-review | done
    ");
}

#[test]
fn reads_values_as_yaml_or_as_text() {
    let demo = Sandbox::demo();
    let before = demo.read(ARCHITECTURE);
    let values =
        ["lastStep=6", "ready=true", "reviewers=[ada, 'b c']", "note=a: b #1", "empty=", "project_name=null"];
    let run = demo.stepmark(&[&["set", ARCHITECTURE][..], &values].concat());
    assert_eq!(run.code, 0, "{run}");
    assert_snapshot!(changed_lines(&before, &demo.read(ARCHITECTURE)), @r"
    -lastStep: 5
    -project_name: 'toolshed'
    +lastStep: 6
    +project_name: null
    +ready: true
    +reviewers: ['ada', 'b c']
    +note: 'a: b #1'
    +empty: ''
    ");
    let run = demo.stepmark(&["set", ARCHITECTURE, "--text", "version=1.10", "ready=true"]);
    assert_eq!(run.code, 0, "{run}");
    let answer = demo.stepmark(&["show", ARCHITECTURE, "--json"]).json("stepmark.show/2");
    let values = &answer["frontmatter"];
    assert_eq!((&values["version"], &values["ready"]), (&"1.10".into(), &"true".into()));
    assert_eq!((&values["lastStep"], &values["note"]), (&6.into(), &"a: b #1".into()));
}

#[test]
fn reaches_into_maps_and_lists() {
    let demo = Sandbox::demo();
    demo.write(
        "slices.md",
        "---\nstatus: draft\nslices:\n  - id: a\n    status: open # for now\n  - id: b\n---\n",
    );
    let before = demo.read("slices.md");
    let run = demo.stepmark(&[
        "set",
        "slices.md",
        "slices[0].status=done",
        "/slices/1/status=open",
        "delegation.id=d1",
    ]);
    assert_eq!(run.code, 0, "{run}");
    assert_snapshot!(changed_lines(&before, &demo.read("slices.md")), @r"
    -    status: open # for now
    +    status: done # for now
    +    status: open
    +delegation:
    +  id: d1
    ");
}

#[test]
fn a_value_that_is_there_changes_nothing() {
    let demo = Sandbox::demo();
    assert_snapshot!(demo.reads_only(&["set", PRD, "status=draft"]), @r"
    exit 0
    ── stdout
    _bmad-output/planning-artifacts/prd.md: nothing to write
    ");
    let answer = demo.reads_only(&["set", PRD, "status=draft", "--json"]).json("stepmark.change/2");
    assert_eq!(answer["changed"], false);
}

#[test]
fn refuses_a_key_that_stands_twice() {
    let demo = Sandbox::demo();
    assert_snapshot!(demo.reads_only(&["set", EPICS, "status=done"]), @r"
    exit 1
    ── stderr
    error: cannot edit `_bmad-output/planning-artifacts/epics.md:5:1`: `status` is left as it is: the key `status` stands 2 times; keep one of them
      help: nothing was changed
    ");
    let error = demo.reads_only(&["set", EPICS, "owner=Mira", "status=done", "--json"]).json_error();
    assert_eq!(error["exit"], 1, "all of it or nothing: {error}");
}
