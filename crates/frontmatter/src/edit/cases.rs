//! The table of hard cases: a whole-file region, one edit, and the bytes wanted (`None`: refused).

use super::{Edit, EditError, apply};
use crate::{KeyPath, Region, Span, Value, Yaml};

fn run(text: &str, edit: Edit) -> Result<String, EditError> {
    let edited = apply(text.as_bytes(), &Region::WholeFile, &[edit])?;
    Ok(String::from_utf8(edited.bytes).unwrap())
}

fn check(edit: impl Fn() -> Edit, cases: &[(&str, Option<&str>)]) {
    for (before, after) in cases {
        let result = run(before, edit());
        match (&result, after) {
            (Ok(text), Some(after)) => assert_eq!(text, after, "from {before:?}"),
            (Err(EditError::Refused { .. }), None) => {}
            _ => panic!("{before:?}: {result:?}"),
        }
    }
}

fn append(item: impl Into<Value>) -> Edit {
    Edit::Append { path: KeyPath::key("s"), item: item.into() }
}

fn set(path: &str, value: impl Into<Value>) -> Edit {
    Edit::Set { path: path.parse().unwrap(), value: value.into() }
}

fn remove(path: &str) -> Edit {
    Edit::Remove { path: path.parse().unwrap() }
}

#[test]
fn appends_in_the_style_in_place() {
    check(
        || append("x"),
        &[
            // Flow lists.
            ("s: []\n", Some("s: [x]\n")),
            ("s: [ ]\n", Some("s: [x]\n")),
            ("s: [a]\n", Some("s: [a, x]\n")),
            ("s: ['a']\n", Some("s: ['a', 'x']\n")),
            ("s: [\"a\"]\n", Some("s: [\"a\", \"x\"]\n")),
            ("s: [ a, b ] # c\n", Some("s: [ a, b, x ] # c\n")),
            ("s: [a,b]\n", Some("s: [a,b,x]\n")),
            ("s: [a, b,]\n", Some("s: [a, b, x,]\n")),
            ("s: [1, 'b', 3]\n", Some("s: [1, 'b', 3, 'x']\n")),
            ("s: [a,\n  b]\n", Some("s: [a,\n  b,\n  x]\n")),
            ("s: [\n  'a',\n  'b'\n]\n", Some("s: [\n  'a',\n  'b',\n  'x'\n]\n")),
            ("s: [\n  'a',\n  'b',\n]\n", Some("s: [\n  'a',\n  'b',\n  'x',\n]\n")),
            ("s: [\n  'a', # one\n  'b' # two\n]\n", Some("s: [\n  'a', # one\n  'b', # two\n  'x'\n]\n")),
            ("s: [\n  'a', # one\n  'b', # two\n]\n", Some("s: [\n  'a', # one\n  'b', # two\n  'x',\n]\n")),
            ("s: [\r\n  a\r\n]\r\n", Some("s: [\r\n  a,\r\n  x\r\n]\r\n")),
            ("s: [ # why\n]\n", None),
            // Block lists.
            ("s:\n  - a\n", Some("s:\n  - a\n  - x\n")),
            ("s:\n- a\n- 'b'\nt: 1\n", Some("s:\n- a\n- 'b'\n- 'x'\nt: 1\n")),
            ("s:\n    -   a\nt: 1", Some("s:\n    -   a\n    -   x\nt: 1")),
            ("s:\n  - a", Some("s:\n  - a\n  - x")),
            ("s:\r\n  - a\r\n  # end\r\nt: 1\r\n", Some("s:\r\n  - a\r\n  - x\r\n  # end\r\nt: 1\r\n")),
            ("s:\n  - a # one\n", Some("s:\n  - a # one\n  - x\n")),
            ("s:\n  -\n", Some("s:\n  -\n  - x\n")),
            ("s:\n  - |\n    text\n\nt: 1\n", Some("s:\n  - |\n    text\n  - x\n\nt: 1\n")),
            ("s:\n  - |+\n    text\n\nt: 1\n", Some("s:\n  - |+\n    text\n\n  - x\nt: 1\n")),
            ("s:\n  - >-\n    text\n    more", Some("s:\n  - >-\n    text\n    more\n  - x")),
            ("s:\n  - k: 1\n    z: 2\n", Some("s:\n  - k: 1\n    z: 2\n  - x\n")),
            ("s:\n  - &n a\n", Some("s:\n  - &n a\n  - x\n")),
            ("s:\n  - - a\n    - b\n", Some("s:\n  - - a\n    - b\n  - x\n")),
            ("s: [\n  a # one\n]\n", Some("s: [\n  a, # one\n  x\n]\n")),
            ("s: [{k: }]\n", Some("s: [{k: }, x]\n")),
            ("s: [k: v]\n", Some("s: [k: v, x]\n")),
            ("s: [k:]\n", Some("s: [k: , x]\n")),
            ("s:\n  - |\n    text", None),
            // Nothing there yet.
            ("s: &l ~ # none\n", Some("s: &l [x] # none\n")),
            ("? t\n: 1\n", Some("? t\n: 1\ns: [x]\n")),
            ("{t: }\n", Some("{t: , s: [x]}\n")),
            ("{\n  t:\n}\n", Some("{\n  t: ,\n  s: [x]\n}\n")),
            ("{\n  t # c\n}\n", Some("{\n  t, # c\n  s: [x]\n}\n")),
            ("s:\n", Some("s: [x]\n")),
            ("s:\nt:\n  - a\n", Some("s:\n  - x\nt:\n  - a\n")),
            ("s: ~ # none\n", Some("s: [x] # none\n")),
            ("s: # none\nt:\n- a\n", Some("s: # none\n- x\nt:\n- a\n")),
            ("s: null # none\nt:\n  - 'a'\n", Some("s: # none\n  - 'x'\nt:\n  - 'a'\n")),
            ("t: 1\n", Some("t: 1\ns: [x]\n")),
            ("t: 1", Some("t: 1\ns: [x]")),
            ("t: 'p'\nu: 'q'\n", Some("t: 'p'\nu: 'q'\ns: ['x']\n")),
            ("t:\n    - a\nu: 1\n# end\n", Some("t:\n    - a\nu: 1\ns:\n    - x\n# end\n")),
            ("", Some("s: [x]\n")),
            ("# only a comment\n", Some("# only a comment\ns: [x]\n")),
            ("{t: 1}\n", Some("{t: 1, s: [x]}\n")),
            ("{}\n", Some("{s: [x]}\n")),
            // Refused.
            ("s: a\n", None),
            ("s: {a: 1}\n", None),
            ("s: [a]\ns: [b]\n", None),
            ("s: &l [a]\nt: *l\n", None),
            ("t: &l [a]\ns: *l\n", None),
            ("s: [a]\n---\ns: [b]\n", None),
            ("- a\n", None),
            ("text\n", None),
        ],
    );
}

#[test]
fn what_stays_of_a_flow_list_is_indented_as_the_reference_wants() {
    check(
        || remove("s[1]"),
        &[
            ("s: [\n  1, # one\n  2, ]\n", Some("s: [\n  1, # one\n  ]\n")),
            ("s: [\n  1, # one\n  2 ]\n", Some("s: [\n  1 # one\n  ]\n")),
            ("s: [\n  1, # one\n  2]\n", Some("s: [\n  1 # one\n  ]\n")),
            ("s: [1 # one\n ,\n  2]\n", Some("s: [1 # one\n \n  ]\n")),
            ("s: [1 # one\n ,2,]\n", Some("s: [1 # one\n ,]\n")),
            ("s: [\n  1, # one\n  2, # two\n]\n", Some("s: [\n  1, # one\n]\n")),
            ("s: [\n  1, # one\n  2 # two\n]\n", Some("s: [\n  1 # one\n]\n")),
            ("s: [\n  1, # one\n  2 # two\n  , ]\n", Some("s: [\n  1 # one\n  , ]\n")),
            ("s: [\n1, # one\n2, ]\n", Some("s: [\n1, # one\n]\n")),
        ],
    );
}

#[test]
fn a_list_with_an_anchor_that_nothing_uses_can_grow() {
    check(
        || append(3),
        &[
            ("s: &l [1, 2]\n", Some("s: &l [1, 2, 3]\n")),
            ("s: !!seq\n  - 1\n", Some("s: !!seq\n  - 1\n  - 3\n")),
        ],
    );
}

#[test]
fn strings_that_readers_misread_are_quoted() {
    for (item, spelled) in [
        ("1.10", "'1.10'"),
        ("NO", "'NO'"),
        ("12:30", "'12:30'"),
        ("a, b", "'a, b'"),
        ("02b", "02b"),
        ("08", "'08'"),
    ] {
        check(|| append(item), &[("s: [a]\n", Some(&format!("s: [a, {spelled}]\n")))]);
    }
    check(|| append("1.10"), &[("s: [\"a\"]\n", Some("s: [\"a\", \"1.10\"]\n"))]);
}

#[test]
fn sets_values_and_keeps_what_stands_around_them() {
    check(
        || set("s", "done"),
        &[
            ("s: draft # draft | done\n", Some("s: done # draft | done\n")),
            ("s: 'draft'\n", Some("s: 'done'\n")),
            ("s: \"draft\"\r\nt: 1\r\n", Some("s: \"done\"\r\nt: 1\r\n")),
            ("s: done\n", Some("s: done\n")),
            ("s: 3\n", Some("s: done\n")),
            ("s:\n", Some("s: done\n")),
            ("s:   # c\n", Some("s: done   # c\n")),
            ("s: ~\n", Some("s: done\n")),
            ("\"s\" : draft\n", Some("\"s\" : done\n")),
            ("s: |\n  a\n  b\nt: 1\n", Some("s: done\nt: 1\n")),
            ("s: >- # c\n  a\nt: 1\n", Some("s: done # c\nt: 1\n")),
            ("s: multi\n  line\nt: 1\n", Some("s: done\nt: 1\n")),
            ("s:\n  - a\n  - b\nt: 1\n", Some("s: done\nt: 1\n")),
            ("s:\n  - a # c\nt: 1\n", Some("s: done # c\nt: 1\n")),
            ("s:\n  # c\n  - a\nt: 1\n", None),
            ("s: # c\n  - a\nt: 1\n", Some("s: done # c\nt: 1\n")),
            ("s:\n  k: 1\n  l:\nt: 1\n", Some("s: done\nt: 1\n")),
            ("s:   ~\n", Some("s:   done\n")),
            ("s: &x # c\n  - a\n", Some("s: &x done # c\n")),
            ("s: !!int 3\n", None),
            ("s: !!bool\n", None),
            ("s: !!str 3\n", Some("s: !!str done\n")),
            ("s: {a: 1}\n", Some("s: done\n")),
            ("s: &x draft\n", Some("s: &x done\n")),
            ("s: &x draft\nt: *x\n", None),
            ("s: !t draft\n", Some("s: !t done\n")),
            ("s: &x\n", Some("s: &x done\n")),
            ("t: |+\n  a\n\n", Some("t: |+\n  a\n\ns: done\n")),
            ("t: |\n  a\n\n\n", Some("t: |\n  a\ns: done\n\n\n")),
            ("t: |-\n  a", Some("t: |-\n  a\ns: done")),
            ("? s\n: draft\n", Some("? s\n: done\n")),
            ("{s: a, t: b}\n", Some("{s: done, t: b}\n")),
            ("{t: {u: 1},}\n", Some("{t: {u: 1}, s: done,}\n")),
            ("{{name}}: 1\n", Some("{{name}}: 1\ns: done\n")),
            ("t: {{name}}\n", Some("t: {{name}}\ns: done\n")),
            ("t: [\n  'a',\n  'b'\n]\n", Some("t: [\n  'a',\n  'b'\n]\ns: done\n")),
        ],
    );
    check(|| set("s", Value::Integer(4)), &[("s: 3\n", Some("s: 4\n")), ("s: '3'\n", Some("s: 4\n"))]);
    check(|| set("s", "4"), &[("s: 3\n", Some("s: '4'\n"))]);
    check(|| set("s", Value::Null), &[("s: 3\n", Some("s: null\n")), ("s:\n", Some("s:\n"))]);
}

#[test]
fn sets_below_keys_and_creates_what_is_missing() {
    check(
        || set("d.id", "x"),
        &[
            ("d:\n  id: y\n  z: 1\n", Some("d:\n  id: x\n  z: 1\n")),
            ("d:\n    z: 1\ne: 2\n", Some("d:\n    z: 1\n    id: x\ne: 2\n")),
            ("d: {id: y}\n", Some("d: {id: x}\n")),
            ("d: {}\n", Some("d: {id: x}\n")),
            ("d:\n", Some("d:\n  id: x\n")),
            ("d: # why\ne: 1\n", Some("d: # why\n  id: x\ne: 1\n")),
            ("e: 1\n", Some("e: 1\nd:\n  id: x\n")),
            ("e: 1\r\n", Some("e: 1\r\nd:\r\n  id: x\r\n")),
            ("", Some("d:\n  id: x\n")),
            ("d: text\n", None),
            ("d: [a]\n", None),
            ("d: &a\n  id: y\ne: *a\n", None),
        ],
    );
    check(
        || set("l[1].st", "x"),
        &[
            ("l:\n  - st: a\n  - st: b\n", Some("l:\n  - st: a\n  - st: x\n")),
            ("l:\n  - st: a\n  - z: b\n", Some("l:\n  - st: a\n  - z: b\n    st: x\n")),
            ("l:\n  - st: a\n", None),
        ],
    );
    let list = || Value::Sequence(vec![Value::from("p"), Value::from("q")]);
    check(
        || set("s", list()),
        &[
            ("s: [a]\n", Some("s: [p, q]\n")),
            ("s:\n  - 'a'\n  - 'b'\n  - 'c'\nt: 1\n", Some("s:\n  - 'p'\n  - 'q'\nt: 1\n")),
            ("s:\n- a\n", Some("s:\n- p\n- q\n")),
        ],
    );
}

#[test]
fn removes_entries_and_items_with_their_own_comments_only() {
    check(
        || remove("s"),
        &[
            ("s: 1\nt: 2\n", Some("t: 2\n")),
            ("t: 2\n# about s\ns: 1 # c\n# about u\nu: 3\n", Some("t: 2\n# about s\n# about u\nu: 3\n")),
            ("t: 2\ns:\n  - a\n  - b\n", Some("t: 2\n")),
            ("t: 2\ns: 1", Some("t: 2")),
            ("t: 2\r\ns: 1", Some("t: 2")),
            ("s: 1\n", Some("")),
            ("t: 1\n", Some("t: 1\n")),
            ("{s: 1, t: 2}\n", Some("{t: 2}\n")),
            ("{t: 2, s: 1}\n", Some("{t: 2}\n")),
            ("{s: 1}\n", Some("{}\n")),
            ("s: |\n  a\n\nt: 1\n", Some("\nt: 1\n")),
            ("s: &x 1\nt: *x\n", None),
            ("s: 1\ns: 2\n", None),
            ("s: |\n  a\n  # no comment\n# about t\nt: 1\n", Some("# about t\nt: 1\n")),
            ("t: |\n  a\ns: 1", Some("t: |\n  a\n")),
            ("t: |-\n  a\ns: 1", Some("t: |-\n  a")),
            ("{t: , s: 1}\n", Some("{t: }\n")),
            ("{t:\n, s: 1}\n", Some("{t: }\n")),
            ("s: 1\n...\n", None),
        ],
    );
    check(
        || remove("s[1]"),
        &[
            ("s: [a, b, c]\n", Some("s: [a, c]\n")),
            ("s: [a, b]\n", Some("s: [a]\n")),
            ("s: [a, b,]\n", Some("s: [a,]\n")),
            ("s: [\n  a,\n  b,\n  c\n]\n", Some("s: [\n  a,\n  c\n]\n")),
            ("s:\n  - a\n  - b # c\n  - d\n", Some("s:\n  - a\n  - d\n")),
            ("s:\n- a\n- b\nt: 1\n", Some("s:\n- a\nt: 1\n")),
            ("s: [a]\n", None),
            ("s: [\n  a, # one\n  b # two\n]\n", Some("s: [\n  a # one\n]\n")),
            ("s: [\n  a, # one\n  b, # two\n]\n", Some("s: [\n  a, # one\n]\n")),
            ("s: [\n  a, # one\n  b\n]\n", Some("s: [\n  a # one\n]\n")),
            ("s: [a, # one\n  b]\n", Some("s: [a # one\n  ]\n")),
            ("s: [3, {\n  k # c\n }]\n", Some("s: [3]\n")),
        ],
    );
    check(
        || remove("s[0]"),
        &[
            ("s: # why\n  - a # c\nt: 1\n", Some("s: [] # why\nt: 1\n")),
            ("s:\n  # about a\n  - a\n", Some("s: []\n  # about a\n")),
            ("s: &l # why\n  - a\n", Some("s: &l [] # why\n")),
            ("s: [\n  a, # one\n  # about b\n  b\n]\n", Some("s: [\n  # about b\n  b\n]\n")),
            ("s: [a,\n  # about b\n  b]\n", None),
            ("s:\n  - - a\n    - b\n  - c\n", Some("s:\n  - c\n")),
            ("s: ['a']\n", Some("s: []\n")),
            ("s:\n  - a\nt: 1\n", Some("s: []\nt: 1\n")),
            ("s:\n  - a", Some("s: []")),
            ("s: [\n  a\n]\n", Some("s: []\n")),
        ],
    );
    check(
        || remove("l[0].a"),
        &[
            ("l:\n  - a: 1\n    b: 2\n", Some("l:\n  - b: 2\n")),
            ("l:\n  - a: 1\n", Some("l:\n  - {}\n")),
            ("l:\n  - b: 1\n    a: 2\n", Some("l:\n  - b: 1\n")),
            ("l:\n  - a: 1 # c\n    b: 2\n", Some("l:\n  - b: 2\n")),
            ("l:\n  - a: 1\n    # about b\n    b: 2\n", None),
            ("l:\n  - a: |\n      x\n    # about b\n    b: 2\n", None),
            ("l: [a: 1]\n", None),
        ],
    );
}

#[test]
fn inserts_before_an_item() {
    check(
        || Edit::Insert { path: KeyPath::key("s"), index: 1, item: Value::from("x") },
        &[
            ("s: [a, b]\n", Some("s: [a, x, b]\n")),
            ("s: [a]\n", Some("s: [a, x]\n")),
            ("s: []\n", None),
            ("s:\n  - 'a'\n  # about b\n  - 'b'\n", Some("s:\n  - 'a'\n  # about b\n  - 'x'\n  - 'b'\n")),
            ("s: [\n  a,\n  b\n]\n", Some("s: [\n  a,\n  x,\n  b\n]\n")),
        ],
    );
    check(
        || Edit::Insert { path: KeyPath::key("s"), index: 0, item: Value::from("x") },
        &[("s:\n", Some("s: [x]\n"))],
    );
}

#[test]
fn frontmatter_edits_leave_the_body_and_the_fences() {
    let file = "\u{FEFF}---\r\ns: []\r\n--- \r\n# s: []\r\n\u{1F600}".as_bytes();
    let edited = apply(file, &Region::Frontmatter, &[append("a"), append("b")]).unwrap();
    assert_eq!(edited.bytes, "\u{FEFF}---\r\ns: [a, b]\r\n--- \r\n# s: []\r\n\u{1F600}".as_bytes());
    assert_eq!(edited.splices.len(), 2);
    let empty = apply(b"---\n---\nbody", &Region::Frontmatter, &[append("a")]).unwrap();
    assert_eq!(empty.bytes, b"---\ns: [a]\n---\nbody");
}

#[test]
fn items_that_are_maps_follow_their_neighbours() {
    let item = Value::mapping([("step", Value::from("b")), ("at", Value::Integer(2))]);
    check(
        || append(item.clone()),
        &[
            ("s:\n  - step: a\n    at: 1\n", Some("s:\n  - step: a\n    at: 1\n  - step: b\n    at: 2\n")),
            ("s:\n  - {step: a, at: 1}\n", Some("s:\n  - {step: a, at: 1}\n  - {step: b, at: 2}\n")),
            ("s: [{step: a}]\n", Some("s: [{step: a}, {step: b, at: 2}]\n")),
        ],
    );
}

#[test]
fn an_entry_goes_behind_the_one_that_is_named() {
    let edit = || Edit::InsertEntry {
        path: KeyPath::key("s"),
        after: "a".to_owned(),
        key: "x".to_owned(),
        value: Value::from("done"),
    };
    check(
        edit,
        &[
            ("s:\n  a: 1\n  b: 2\n", Some("s:\n  a: 1\n  x: done\n  b: 2\n")),
            (
                "s:\n  a: 1 # one\n\n  # two\n  b: 2\n",
                Some("s:\n  a: 1 # one\n  x: done\n\n  # two\n  b: 2\n"),
            ),
            ("s:\r\n    a: 'p'\r\n    b: 2\r\n", Some("s:\r\n    a: 'p'\r\n    x: 'done'\r\n    b: 2\r\n")),
            ("s:\n  a: 1", Some("s:\n  a: 1\n  x: done")),
            ("s:\n  a:\n  b: 2\n", Some("s:\n  a:\n  x: done\n  b: 2\n")),
            ("s:\n  a: |\n    text\n  b: 2\nt: 1\n", Some("s:\n  a: |\n    text\n  x: done\n  b: 2\nt: 1\n")),
            ("s:\n  a:\n    c: 1\n  b: 2\n", Some("s:\n  a:\n    c: 1\n  x: done\n  b: 2\n")),
            // Refused.
            ("s: {a: 1, b: 2}\n", None),
            ("s:\n  b: 2\n", None),
            ("s:\n  a: 1\n  x: 2\n", None),
            ("s:\n  a: 1\n  a: 2\n", None),
            ("s: &m\n  a: 1\nt: *m\n", None),
            ("t: 1\n", None),
            ("s:\n  - a\n", None),
        ],
    );
}

#[test]
fn an_anchor_of_a_key_that_is_used_stays() {
    check(
        || remove("k"),
        &[
            ("&a k: 1\nt: *a\n", None),
            ("&a k: 1\nt: 2\n", Some("t: 2\n")),
            ("k: {&a x: 1}\nt: *a\n", None),
            ("{&a k: 1, t: *a}\n", None),
            ("? [&a x]\n: 1\nk: 2\nt: *a\n", Some("? [&a x]\n: 1\nt: *a\n")),
        ],
    );
}

#[test]
fn blank_lines_behind_an_empty_text_stay() {
    check(
        || set("k", "x"),
        &[
            ("k: |\n   \nt: 1\n", Some("k: x\n   \nt: 1\n")),
            ("k: |\n\nt: 1\n", Some("k: x\n\nt: 1\n")),
            ("k: |\n  \n  \n# c\nt: 1\n", Some("k: x\n  \n  \n# c\nt: 1\n")),
            ("k: >- # c\n  \nt: 1\n", Some("k: x # c\n  \nt: 1\n")),
            ("k: |+\n  \nt: 1\n", Some("k: x\n  \nt: 1\n")),
            ("k: |\n  \n", Some("k: x\n  \n")),
            ("k: |\n", Some("k: x\n")),
            ("k: |", Some("k: x")),
        ],
    );
}

#[test]
fn a_value_with_the_tag_that_says_nothing_is_text() {
    check(
        || set("status", "done"),
        &[
            ("status: ! draft\n", Some("status: ! done\n")),
            ("status: ! 3 # c\n", Some("status: ! done # c\n")),
            ("status: !\nt: 1\n", Some("status: ! done\nt: 1\n")),
            ("status: !!str\n", Some("status: !!str done\n")),
            ("{status: !}\n", Some("{status: ! done}\n")),
            ("status: &a ! draft\n", Some("status: &a ! done\n")),
            ("{status: ! draft}\n", Some("{status: ! done}\n")),
        ],
    );
    check(
        || append("x"),
        &[("s: ! [a]\n", Some("s: ! [a, x]\n")), ("s: !\n- a\n", Some("s: !\n- a\n- x\n"))],
    );
    check(|| set("status", 3), &[("status: ! draft\n", None)]);
    let yaml = |text: &'static str| {
        Yaml::parse(text.as_bytes(), Span::new(0, text.len()))
            .unwrap()
            .root()
            .unwrap()
            .get("a")
            .unwrap()
            .scalar()
            .map(Value::from)
    };
    assert_eq!(yaml("a: ! 3\n"), Some(Value::from("3")));
}

#[test]
fn a_pointer_names_a_key_that_looks_like_a_number() {
    check(
        || set("/0", "x"),
        &[("0: a\n", Some("0: x\n")), ("'0': a\n1: b\n", Some("'0': x\n1: b\n")), ("1: a\n", None)],
    );
    check(
        || remove("/m/1"),
        &[("m:\n  1: a\n  2: b\n", Some("m:\n  2: b\n")), ("m: [a, b]\n", Some("m: [a]\n"))],
    );
    check(|| set("/0", "x"), &[("0: a\n0: b\n", None), ("- a\n", Some("- x\n"))]);
}

#[test]
fn a_new_key_that_json_takes_for_one_in_place_is_refused() {
    for (path, text) in [
        ("1", "0x1: a\n"),
        ("31", "0x1F: a\n"),
        ("/null", "~: a\n"),
        ("/true", "True: a\n"),
        ("m.1", "m: {0x1: a}\n"),
        ("m.1", "m:\n  0x1: a\n  b: c\n"),
        ("/{\"a\":null}", "{a}: b\n"),
        ("/[1]", "[1]: b\n"),
    ] {
        check(|| set(path, "x"), &[(text, None)]);
    }
    check(
        || set("1", "x"),
        &[("'0x1': a\n", Some("'0x1': a\n'1': x\n")), ("1: a\n", Some("1: x\n")), ("01: a\n", None)],
    );
    let error = apply(b"0x1: a\n", &Region::WholeFile, &[set("1", "x")]).unwrap_err().to_string();
    assert!(error.contains("the key 0x1 is there already, and readers of JSON call it `1`, too"), "{error}");
}
