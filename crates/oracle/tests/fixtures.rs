//! Every fixture says what its snapshot says; every value of every valid one can be edited, or the edit is
//! refused for a reason that is counted here.
#![expect(clippy::disallowed_methods, reason = "an edge: fixtures are read here")]
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{collections::BTreeMap, fmt::Write, path::PathBuf};

use gray_matter::{Pod, engine::Engine};
use stepmark_frontmatter::{Document, Edit, KeyPath, LIMITS, ParseError, Refusal, Region, Span, Value, Yaml};
use stepmark_oracle::{LIBYAML, Reader, Verdict, judge, paths};

/// yaml-rust2 as gray_matter uses it. It drops keys that are no text, ends the process on deep nesting, and
/// reads infinite numbers as 0: such texts are not shown to it.
const GRAY_MATTER: Reader = Reader {
    name: "gray_matter",
    read: |text| gray_matter::engine::YAML::parse(text).ok().map(|pod| from_pod(&pod)),
    is_fair: |text| {
        text.matches(['[', '{', '-']).count() < 60 && !text.contains("? ") && !text.contains(".inf")
    },
    holds: |_| true,
};

fn from_pod(pod: &Pod) -> Value {
    match pod {
        Pod::Null => Value::Null,
        Pod::String(text) => Value::String(text.clone()),
        Pod::Integer(number) => Value::Integer(*number),
        Pod::Float(number) => Value::Float(*number),
        Pod::Boolean(value) => Value::Bool(*value),
        Pod::Array(items) => Value::Sequence(items.iter().map(from_pod).collect()),
        Pod::Hash(entries) => {
            Value::mapping(entries.iter().map(|(key, value)| (key.clone(), from_pod(value))))
        }
    }
}

/// The files of a folder of fixtures, in order of their names.
fn fixtures(folder: &str) -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(folder);
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

fn region(name: &str) -> Region {
    match name {
        "autodev-state.md" => Region::Block("Current Step".to_owned()),
        name if name.ends_with(".md") => Region::Frontmatter,
        _ => Region::WholeFile,
    }
}

/// What a file says, in a form that a person can check.
fn report(name: &str, bytes: &[u8]) -> String {
    let document = Document::scan(bytes);
    let at = |offset: usize| document.position(offset);
    let span = match region(name).find(&document) {
        Ok(span) => span,
        Err(error) => {
            let misplaced = document.misplaced_frontmatter().map(|span| at(span.start).to_string());
            return format!("region: {error}\nmisplaced frontmatter: {misplaced:?}\n");
        }
    };
    let yaml = match Yaml::parse(bytes, span) {
        Ok(yaml) => yaml,
        Err(error) => return format!("parse: {} {error}\n", at(error.offset())),
    };
    let mut text = format!("region: {} to {}\n", at(span.start), at(span.end));
    let duplicates: Vec<_> = yaml.duplicate_keys().iter().map(|key| at(key.span.start).to_string()).collect();
    for (what, found) in [
        ("mixed line ends", document.has_mixed_line_ends().then(String::new)),
        ("byte order mark", document.has_byte_order_mark().then(String::new)),
        ("documents", (yaml.documents() > 1).then(|| yaml.documents().to_string())),
        ("duplicate keys at", (!duplicates.is_empty()).then(|| duplicates.join(" "))),
    ] {
        if let Some(found) = found {
            writeln!(text, "{what} {found}").unwrap();
        }
    }
    match yaml.root().map(|root| Value::of(&yaml, root)) {
        None => text.push_str("nothing\n"),
        Some(Ok(value)) => writeln!(text, "{:#}", value.to_json()).unwrap(),
        Some(Err(error)) => writeln!(text, "value: {} {error}", at(error.offset())).unwrap(),
    }
    text
}

fn value(name: &str, bytes: &[u8]) -> Option<Value> {
    let span = region(name).find(&Document::scan(bytes)).ok()?;
    let yaml = Yaml::parse(bytes, span).ok()?;
    Value::of(&yaml, yaml.root()?).ok()
}

#[test]
fn every_fixture_says_what_its_snapshot_says() {
    for folder in ["valid", "invalid"] {
        for (name, bytes) in fixtures(folder) {
            insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
                insta::assert_snapshot!(format!("{folder}-{name}"), report(&name, &bytes));
            });
        }
    }
}

#[test]
fn invalid_fixtures_have_an_error_and_valid_ones_none() {
    let fails = |name: &str, bytes: &[u8]| {
        let report = report(name, bytes);
        report.starts_with("parse: ") || report.contains("\nvalue: ") || report.contains("never closed")
    };
    for (name, bytes) in fixtures("invalid") {
        assert!(fails(&name, &bytes), "{name}");
    }
    for (name, bytes) in fixtures("valid") {
        assert!(!fails(&name, &bytes), "{name}");
    }
}

/// Every kind of edit at every value of `value`.
fn edits(value: &Value) -> Vec<Edit> {
    let list = || Value::Sequence(vec![Value::from("p"), Value::Integer(2)]);
    let map = || Value::mapping([("step", Value::from("1.10")), ("at", Value::Null)]);
    let written =
        [Value::from("done"), Value::from("a: b, #c"), Value::Integer(4), Value::Null, list(), map()];
    let mut edits = Vec::new();
    // Of sixty lists inside each other some are enough.
    for path in paths(value).into_iter().filter(|path| path.0.len() < 6 || path.0.len() % 20 == 0) {
        for value in &written {
            edits.push(Edit::Set { path: path.clone(), value: value.clone() });
            edits.push(Edit::Set { path: path.clone().then("new key"), value: value.clone() });
            edits.push(Edit::Append { path: path.clone(), item: value.clone() });
            edits.push(Edit::Insert { path: path.clone(), index: 0, item: value.clone() });
            edits.push(Edit::Insert { path: path.clone(), index: 1, item: value.clone() });
        }
        edits.push(Edit::Append { path: path.clone().then("new list"), item: Value::from("x") });
        edits.push(Edit::Remove { path });
    }
    edits
}

/// The reasons that follow from the request and not from the layout of the file.
fn is_about_the_request(reason: &Refusal) -> bool {
    matches!(reason, Refusal::NotAList | Refusal::NotAMapping { .. } | Refusal::NoSuchItem { .. })
}

/// `Refusal` has facts in it; its variant is enough to count.
fn variant(reason: &Refusal) -> String {
    format!("{reason:?}").chars().take_while(|c| c.is_alphanumeric()).collect()
}

#[test]
fn every_edit_of_every_valid_fixture_is_right_or_refused_for_a_reason() {
    let (mut changed, mut unchanged) = (0, 0);
    let mut refused = BTreeMap::<String, usize>::new();
    for (name, bytes) in fixtures("valid") {
        let region = region(&name);
        for edit in edits(&value(&name, &bytes).unwrap_or(Value::Mapping(Vec::new()))) {
            match judge(&bytes, &region, &edit, &[LIBYAML, GRAY_MATTER]) {
                Ok(Verdict::Changed(_)) => changed += 1,
                Ok(Verdict::Unchanged) => unchanged += 1,
                Ok(Verdict::Unreadable) => {}
                Ok(Verdict::Refused(reason)) if is_about_the_request(&reason) => {}
                Ok(Verdict::Refused(reason)) => *refused.entry(variant(&reason)).or_default() += 1,
                Err(wrong) => panic!("{name}: {edit:?}: {wrong:#?}"),
            }
        }
    }
    // Aliases, tags, duplicate keys, two documents and comments inside of a replaced value are what some
    // fixtures show.
    insta::assert_debug_snapshot!((changed, unchanged, refused));
}

#[test]
fn appending_and_removing_gives_back_the_bytes() {
    for (name, bytes) in fixtures("valid") {
        let region = region(&name);
        let Some(value) = value(&name, &bytes) else { continue };
        for path in paths(&value) {
            let Some(Value::Sequence(items)) = stepmark_oracle::at(&value, &path.0) else { continue };
            let append = Edit::Append { path: path.clone(), item: Value::from("step-99-end") };
            if let Ok(Verdict::Changed(longer)) = judge(&bytes, &region, &append, &[])
                && !items.is_empty()
            {
                let remove = Edit::Remove { path: path.item(items.len()) };
                let Ok(Verdict::Changed(back)) = judge(&longer.bytes, &region, &remove, &[]) else {
                    panic!("{name}: {remove:?} is not made");
                };
                assert_eq!(String::from_utf8_lossy(&back.bytes), String::from_utf8_lossy(&bytes), "{name}");
            }
        }
    }
}

#[test]
fn files_at_the_limits_are_read_and_those_beyond_are_not() {
    let long_line =
        |length: usize| format!("---\ntitle: {}\nlist: [a]\n---\n", "x".repeat(length)).into_bytes();
    let parse = |bytes: &[u8], region: &Region| {
        let span: Span = region.find(&Document::scan(bytes)).unwrap();
        Yaml::parse(bytes, span).map(|_| ())
    };
    let nearly = long_line(LIMITS.bytes - 40);
    assert_eq!(parse(&nearly, &Region::Frontmatter), Ok(()));
    let append = Edit::Append { path: KeyPath::key("list"), item: Value::from("b") };
    let verdict = judge(&nearly, &Region::Frontmatter, &append, &[LIBYAML]).unwrap();
    assert!(matches!(verdict, Verdict::Changed(_)));
    let error = parse(&long_line(LIMITS.bytes), &Region::Frontmatter).unwrap_err();
    assert!(matches!(error, ParseError::TooLarge { offset: 4, .. }), "{error}");
    let many = format!("[{}]", "1,".repeat(LIMITS.nodes));
    let error = parse(many.as_bytes(), &Region::WholeFile).unwrap_err();
    assert!(matches!(error, ParseError::TooManyNodes { .. }), "{error}");
}
