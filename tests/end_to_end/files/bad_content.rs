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
      |
      = help: save it as UTF-8; where it is Windows-1252: `iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW`

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

/// Lines around keys that are there already would bury them.
#[test]
fn other_forms_of_metadata_are_named_and_left_alone() {
    let sandbox = Sandbox::empty();
    let utf16: Vec<u8> =
        "\u{feff}---\nstatus: draft\n---\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (bytes, form) in [
        (b"+++\nstatus = 'draft'\n+++\n".to_vec(), "TOML between `+++` lines"),
        (b"{\n\"status\": \"draft\"\n}\n".to_vec(), "JSON"),
        (b";;;\n{}\n;;;\n".to_vec(), "JSON between `;;;` lines"),
        (b"----\nstatus: draft\n----\n".to_vec(), "a rule of more than three `-`"),
        (b"---json\n{\"status\": \"draft\"}\n---\n".to_vec(), "a fence that names its language"),
        (utf16, "UTF-16"),
    ] {
        sandbox.write("a.md", bytes);
        let said = format!("it begins with {form}, which is left alone");
        for (command, code) in [(&["set", "a.md", "status=done"][..], 1), (&["check", "a.md"], 0)] {
            let run = sandbox.reads_only(command);
            assert!(run.code == code && run.stderr.contains(&said), "{run}");
        }
    }
}

#[test]
fn files_that_cannot_be_asked_are_counted() {
    let sandbox = Sandbox::empty();
    sandbox.write("a.md", "---\nstatus: draft\ntitle: Rust: the book\n---\n");
    sandbox.write("b.md", "---\nstatus: draft\n---\n");
    for command in [
        &["list", "--where", "status=draft"][..],
        &["query", "SELECT path FROM artifacts WHERE status = 'draft'"],
    ] {
        let run = sandbox.stepmark(command);
        assert!(run.code == 0 && run.stderr.contains("1 file could not be asked"), "{run}");
        assert_eq!(sandbox.stepmark(&[command, &["--strict"]].concat()).code, 1);
    }
    assert_eq!(sandbox.stepmark(&["list", "--json"]).json("stepmark.list/2")["unasked"], 1);
}

/// The reader gives up in the line below.
#[test]
fn a_missing_blank_behind_a_colon_is_named_where_it_is() {
    let sandbox = Sandbox::empty();
    sandbox.write("a.md", "---\ntitle:x\nstatus: draft\n---\n");
    let run = sandbox.reads_only(&["check"]);
    assert!(
        run.stdout.contains("a.md:2:7") && run.stdout.contains("put a blank behind the colon: x"),
        "{run}"
    );
    assert_eq!(sandbox.stepmark(&["check", "--fix", "--unsafe-fixes"]).code, 0);
    assert_eq!(sandbox.read("a.md"), b"---\ntitle: x\nstatus: draft\n---\n");
}

#[test]
fn what_a_formatter_did_to_the_block_is_named_and_taken_back() {
    let sandbox = Sandbox::empty();
    sandbox.write("heading.md", "---\n\n## status: 'draft'\n\n# Epics\n");
    sandbox.write("rule.md", "---\n\nstepsCompleted: [1, 2]\nstatus: draft\n------------\n\n# PRD\n");
    sandbox.write("joined.md", "---\n\nstepsCompleted: [1, 2] status: draft owner: ada\n\n---\n");
    let run = sandbox.reads_only(&["check"]);
    assert_eq!(
        run.stdout.matches("a formatter of Markdown took the block for a rule and a heading").count(),
        2,
        "{run}"
    );
    assert!(run.stdout.contains("a formatter joined the lines"), "{run}");
    sandbox.stepmark(&["check", "--fix", "--unsafe-fixes"]);
    assert_eq!(sandbox.read("heading.md"), b"---\nstatus: 'draft'\n---\n\n# Epics\n");
    assert_eq!(sandbox.read("rule.md"), b"---\n\nstepsCompleted: [1, 2]\nstatus: draft\n---\n\n# PRD\n");
    assert!(sandbox.read("joined.md").starts_with(b"---\n\nstepsCompleted: [1, 2] status"), "nobody guesses");
}
