//! Files that cannot be edited, and edits that make no sense: the answer says what is wrong where, and what
//! to do; nothing is changed.

use insta::assert_snapshot;

use crate::harness::{Sandbox, demo::PRD};

#[test]
fn frontmatter_that_is_not_utf8() {
    let demo = Sandbox::demo();
    demo.write("latin1.md", b"---\nstepsCompleted: []\ntitle: caf\xe9\n---\n");
    assert_snapshot!(demo.reads_only(&["complete", "latin1.md", "1"]), @r"
    exit 1
    ── stderr
    error: `latin1.md` is left as it is
      cause: the frontmatter cannot be read: the YAML is not UTF-8
      help: `stepmark check latin1.md` shows the place
    ");
    assert_snapshot!(demo.reads_only(&["check", "latin1.md"]), @r"
    exit 1
    ── stdout
    error[SM103]: the YAML is not UTF-8
     --> latin1.md:3:11
      |
    3 | title: caf�
      |           ^

    1 artifact: 1 error, 0 warnings, 0 notes
    ");
    demo.write("body.md", b"---\nstepsCompleted: [1]\n---\ncaf\xe9\n");
    let run = demo.stepmark(&["complete", "body.md", "2"]);
    assert_eq!(run.code, 0, "the body is none of our business: {run}");
    assert_eq!(demo.read("body.md"), b"---\nstepsCompleted: [1, 2]\n---\ncaf\xe9\n");
}

#[test]
fn a_fence_that_is_never_closed() {
    let demo = Sandbox::demo();
    demo.write("open.md", "---\nstepsCompleted: [1]\n\n# Title\n");
    assert_snapshot!(demo.reads_only(&["complete", "open.md", "2"]), @r"
    exit 1
    ── stderr
    error: `open.md` is left as it is
      cause: the frontmatter cannot be read: the opening `---` is never closed
      help: `stepmark check open.md` shows the place
    ");
    assert_snapshot!(demo.reads_only(&["check", "open.md"]), @r"
    exit 1
    ── stdout
    error[SM101]: the frontmatter that opens here is never closed
     --> open.md:1:1
      |
    1 | ---
      | ^^^
      |
      = help: add a line `---` below the last key
      = fix: close the frontmatter above the first blank line (`stepmark check --fix --unsafe-fixes`)

    1 artifact: 1 error, 0 warnings, 0 notes
    `--fix --unsafe-fixes` fixes 1 of them
    ");
}

#[test]
fn no_frontmatter_at_all() {
    let demo = Sandbox::demo();
    demo.write("plain.md", "# Title\n\nText.\n");
    assert_snapshot!(demo.reads_only(&["complete", "plain.md", "1"]), @r"
    exit 1
    ── stderr
    error: cannot edit `plain.md:1:1`: the file has no frontmatter
      help: put `---` lines around the keys at the very start of the file
    ");
    demo.write("empty.md", "");
    assert_snapshot!(demo.reads_only(&["set", "empty.md", "a=b"]), @r"
    exit 1
    ── stderr
    error: cannot edit `empty.md:1:1`: the file has no frontmatter
      help: put `---` lines around the keys at the very start of the file
    ");
    demo.write("below.md", "# Title\n\n---\nstepsCompleted: []\n---\n");
    assert_snapshot!(demo.reads_only(&["complete", "below.md", "1"]), @r"
    exit 1
    ── stderr
    error: `below.md` is left as it is
      cause: the frontmatter cannot be read: it does not stand at the start of the file
      help: `stepmark check below.md` shows the place
    ");
}

#[test]
fn frontmatter_that_is_no_yaml_or_no_mapping() {
    let demo = Sandbox::demo();
    demo.write("list.md", "---\n- a\n- b\n---\n");
    assert_snapshot!(demo.reads_only(&["set", "list.md", "a=b"]), @r"
    exit 1
    ── stderr
    error: `list.md` is left as it is
      cause: the frontmatter cannot be read: it holds no keys
      help: `stepmark check list.md` shows the place
    ");
    demo.write("tab.md", "---\nstepsCompleted:\n\t- 1\n---\n");
    assert_snapshot!(demo.reads_only(&["complete", "tab.md", "2"]), @r"
    exit 1
    ── stderr
    error: `tab.md` is left as it is
      cause: the frontmatter cannot be read: not YAML: tabs disallowed within this context (block indentation)
      help: `stepmark check tab.md` shows the place
    ");
    demo.write("deep.md", format!("---\na: {}{}\n---\n", "[".repeat(100), "]".repeat(100)));
    assert_snapshot!(demo.reads_only(&["set", "deep.md", "b=c"]), @r"
    exit 1
    ── stderr
    error: `deep.md` is left as it is
      cause: the frontmatter cannot be read: collections nest deeper than the limit of 64
      help: `stepmark check deep.md` shows the place
    ");
    let huge = format!("---\na: '{}'\n---\n", "x".repeat(1024 * 1024 + 1));
    demo.write("huge.md", huge);
    assert_snapshot!(demo.reads_only(&["set", "huge.md", "b=c"]), @r"
    exit 1
    ── stderr
    error: `huge.md` is left as it is
      cause: the frontmatter cannot be read: the YAML is 1048583 bytes long, more than the limit of 1048576
      help: `stepmark check huge.md` shows the place
    ");
}

#[test]
fn an_assignment_without_a_key_or_a_value() {
    let demo = Sandbox::demo();
    assert_snapshot!(demo.reads_only(&["set", PRD, "status"]), @r"
    exit 2
    ── stderr
    error: `status` is no assignment
      help: write KEY=VALUE, for instance `status=in-review`
    ");
    assert_snapshot!(demo.reads_only(&["set", PRD, "=done"]), @r"
    exit 2
    ── stderr
    error: `` is no path to a value: write `key`, `key.key`, `key[0]`, or a JSON pointer such as `/key/0`
    ");
    assert_snapshot!(demo.reads_only(&["set", PRD, "a..b=c"]), @r"
    exit 2
    ── stderr
    error: `a..b` is no path to a value: write `key`, `key.key`, `key[0]`, or a JSON pointer such as `/key/0`
    ");
    assert_snapshot!(demo.reads_only(&["set", PRD, "status=done", "owner"]), @r"
    exit 2
    ── stderr
    error: `owner` is no assignment
      help: write KEY=VALUE, for instance `status=in-review`
    ");
    assert_snapshot!(demo.reads_only(&["set", PRD, "status.name=done"]), @r"
    exit 1
    ── stderr
    error: cannot edit `_bmad-output/planning-artifacts/prd.md:12:9`: `status.name` is left as it is: `status` is no mapping, so it has no keys
      help: nothing was changed
    ");
    assert_snapshot!(demo.reads_only(&["set", PRD, "inputDocuments[7]=x"]), @r"
    exit 1
    ── stderr
    error: cannot edit `_bmad-output/planning-artifacts/prd.md:10:3`: `inputDocuments[7]` is left as it is: the list has 1 items, so there is no place 7
      help: nothing was changed
    ");
    assert_snapshot!(demo.reads_only(&["complete", PRD, ""]), @r"
    exit 2
    ── stderr
    error: `_bmad-output/planning-artifacts/prd.md` is left as it is
      cause: a step needs a name
      help: write it as in `step-03-success`, `3` or `03`
    ");
}
