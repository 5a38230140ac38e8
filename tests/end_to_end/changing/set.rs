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

#[test]
fn what_is_typed_as_text_is_text_to_every_reader() {
    let sandbox = Sandbox::empty();
    let file = "---\nstatus: draft\nbaseline_commit: 3\nDue Date: 2026-01-01\nkey.with.dot: 1\nglobs: **/*.ts\ntags: [a, b]\n---\n";
    for (typed, old, new) in [
        ("baseline_commit=12e5", "baseline_commit: 3", "baseline_commit: '12e5'"),
        ("baseline_commit=75e9782", "baseline_commit: 3", "baseline_commit: '75e9782'"),
        ("Due Date=2026-02-02", "2026-01-01", "2026-02-02"),
        ("Due Date=2026-02-02T10:00:00Z", "2026-01-01", "2026-02-02T10:00:00Z"),
        ("Due Date=2026-02-30", "2026-01-01", "'2026-02-30'"),
        ("Due Date=2026-02-02T25:99:99Z", "2026-01-01", "'2026-02-02T25:99:99Z'"),
        ("key.with.dot=9", "key.with.dot: 1", "key.with.dot: 9"),
        ("globs=x", "**/*.ts", "x"),
        ("status =done", "status: draft", "status: done"),
        ("tags+=c", "[a, b]", "[a, b, c]"),
        ("tags-=a", "[a, b]", "[b]"),
        ("/tags/-=c", "[a, b]", "[a, b, c]"),
    ] {
        sandbox.write("f.md", file);
        let run = sandbox.stepmark(&["set", "f.md", typed]);
        assert_eq!(run.code, 0, "{typed}: {run}");
        let expected = file.replace(old, new);
        assert_eq!(String::from_utf8(sandbox.read("f.md")).unwrap(), expected, "{typed}");
    }
}

#[test]
fn items_and_keys_are_taken_out_and_history_knows_them() {
    let sandbox = Sandbox::empty();
    let file =
        "---\nstatus: draft # d\ntags: [a, b]\nglobs: **/*.ts\nkey.with.dot: 1\nstepsCompleted: [1]\n---\n";
    sandbox.write("f.md", file);
    for (arguments, code, why) in [
        (&["set", "f.md", "tags-=x"][..], 1, "an item `\"x\"` of `tags`"),
        (&["set", "f.md", "tags+=x", "status=done"], 2, "a command of their own"),
        (&["set", "f.md", "stepsCompleted+=2"], 1, "stepmark complete"),
        (&["unset", "f.md", "stepsCompleted"], 1, "stepmark complete"),
        (&["unset", "f.md", "nothing"], 1, "a key `nothing`"),
    ] {
        let run = sandbox.stepmark(arguments);
        assert!(run.code == code && run.stderr.contains(why), "{arguments:?}: {run}");
    }
    assert_eq!(sandbox.read("f.md"), file.as_bytes());
    assert_eq!(sandbox.stepmark(&["unset", "f.md", "globs", "key.with.dot"]).code, 0);
    let without = file.replace("globs: **/*.ts\n", "").replace("key.with.dot: 1\n", "");
    assert_eq!(String::from_utf8(sandbox.read("f.md")).unwrap(), without);
    assert_eq!(sandbox.stepmark(&["set", "f.md", "tags+=c"]).code, 0);
    let log = sandbox.stepmark(&["log", "f.md"]);
    assert!(log.stdout.contains("tags + c"), "{log}");
    let answer = sandbox.stepmark(&["log", "f.md", "--json"]).json("stepmark.log/1");
    assert_eq!(answer["events"][0]["command"], "set tags+=c");
    assert_eq!(sandbox.stepmark(&["undo", answer["events"][0]["id"].as_str().unwrap()]).code, 0);
    assert_eq!(String::from_utf8(sandbox.read("f.md")).unwrap(), without);
}

#[test]
fn a_key_is_the_one_that_the_file_has_and_a_value_is_written_as_its_neighbour() {
    let sandbox = Sandbox::empty();
    for (before, command, argument, after) in [
        ("c+: 1", "set", "c+=x", "c+: x"),
        ("c++: 1", "set", "c++=x", "c++: x"),
        ("m:\n  a.b: 1", "set", "m.a.b=2", "m:\n  a.b: 2"),
        ("m:\n  a.b:\n    c: 1", "set", "m.a.b.c=2", "m:\n  a.b:\n    c: 2"),
        ("press\u{e9}: 1", "set", "presse\u{301}=2", "press\u{e9}: 2"),
        ("draft: yes", "set", "draft=no", "draft: no"),
        ("draft: 'yes'", "set", "draft=no", "draft: 'no'"),
        ("at: [2026-01-01]", "set", "at+=2026-04-04", "at: [2026-01-01, 2026-04-04]"),
        ("at:\n  - 2026-01-01", "set", "at+=2026-04-04", "at:\n  - 2026-01-01\n  - 2026-04-04"),
        ("at: 11:00", "set", "at=11:30", "at: 11:30"),
        ("at: 11:00", "set", "at=11:75", "at: '11:75'"),
        ("at: 2026-01-01 10:00", "set", "at=2026-01-02 11:30", "at: 2026-01-02 11:30"),
        ("at: 2026-01-01", "set", "at=2026-02-30", "at: '2026-02-30'"),
        ("tags: [12e5, b]", "set", "tags-=12e5", "tags: [b]"),
        ("hash: 75e9782", "set", "hash=12e5", "hash: '12e5'"),
        ("m:\n  a.b: 1\n  c: 2", "unset", "m.a.b", "m:\n  c: 2"),
    ] {
        sandbox.write("a.md", format!("---\nstatus: draft\n{before}\n---\n"));
        let run = sandbox.stepmark(&[command, "a.md", argument]);
        assert_eq!(run.code, 0, "{argument}: {run}");
        assert_eq!(
            sandbox.read("a.md"),
            format!("---\nstatus: draft\n{after}\n---\n").as_bytes(),
            "{argument}"
        );
    }
}

/// A file system may give back a name in another spelling than it was given.
#[test]
fn a_file_is_found_in_either_spelling_of_its_name() {
    let sandbox = Sandbox::empty();
    sandbox.write("docs/press\u{e9}.md", "---\nstatus: draft\n---\n");
    sandbox.write(".stepmark/config.yaml", "artifacts:\n  include: ['docs/**/*.md']\n");
    assert_eq!(sandbox.stepmark(&["project", "manifest", "write"]).code, 0);
    std::fs::rename(sandbox.place("docs/press\u{e9}.md"), sandbox.place("docs/presse\u{301}.md")).unwrap();
    let show = sandbox.reads_only(&["show", "docs/press\u{e9}.md"]);
    assert!(show.code == 0 && show.stdout.contains("docs/presse\u{301}.md"), "{show}");
    let verify = sandbox.stepmark(&["project", "manifest", "verify"]);
    assert!(verify.stdout.contains("its name is spelled otherwise in Unicode now"), "{verify}");
}

/// A PRD of BMAD 6.0 that is being written has states; one whose words are the project's own has none.
#[test]
fn a_prd_of_bmad_6_0_moves_by_its_table() {
    let sandbox = Sandbox::empty();
    let prd =
        |status: &str| format!("---\nworkflowType: prd\nstepsCompleted: [1]\nstatus: {status}\n---\n# PRD\n");
    sandbox.write("prd.md", prd("draft"));
    let run = sandbox.stepmark(&["set", "prd.md", "status=banana"]);
    assert!(
        run.code == 1 && run.stderr.contains("`banana` is no state of the lifecycle `bmad-prd`"),
        "{run}"
    );
    assert_eq!(sandbox.read("prd.md"), prd("draft").as_bytes());
    assert_eq!(sandbox.stepmark(&["transition", "prd.md", "in-review"]).code, 0);
    assert_eq!(sandbox.stepmark(&["transition", "prd.md", "final"]).code, 0);
    sandbox.write("own.md", prd("rumination"));
    assert_eq!(sandbox.stepmark(&["set", "own.md", "status=banana"]).code, 0);
}
