//! Questions, their answers, and what is wrong with others.

use std::{collections::BTreeMap, sync::Arc};

use proptest::prelude::*;

use super::*;
use crate::{
    artifact::Scope,
    lifecycle::{Lifecycle, Lifecycles},
};
use stepmark_frontmatter::Span;

#[derive(Clone, Debug, Default)]
struct Row(BTreeMap<SelectionField, FieldValue>);

impl Selectable for Row {
    fn value(&self, field: SelectionField) -> FieldValue {
        self.0.get(&field).cloned().unwrap_or(FieldValue::Empty)
    }
}

fn lifecycle(name: &str) -> Arc<Lifecycle> {
    Arc::clone(Lifecycles::new(Vec::new()).get(name).unwrap())
}

fn story() -> Row {
    let text = |text: &str| FieldValue::Text(text.to_owned());
    let status = StatusValue { word: "In Progress".to_owned(), lifecycle: Some(lifecycle("bmad-story")) };
    Row(BTreeMap::from([
        (SelectionField::Path, text("docs/Story 1.md")),
        (SelectionField::Workflow, text("create-story")),
        (SelectionField::Status, FieldValue::Status(status)),
        (SelectionField::Scope, FieldValue::Scope(Scope::Large)),
        (SelectionField::Done, FieldValue::Number(3)),
        (SelectionField::Progress, FieldValue::Number(60)),
        (SelectionField::Next, FieldValue::Texts(vec!["step-04-a".to_owned(), "step-04-b".to_owned()])),
        (SelectionField::Modified, FieldValue::Time("2026-01-31T12:00:00Z".parse().unwrap())),
    ]))
}

fn answers(question: &str) -> bool {
    Selection::parse(question, &[]).unwrap_or_else(|error| panic!("{question}: {error:?}")).matches(&story())
}

#[test]
fn questions_are_answered_by_the_type_of_the_field() {
    for yes in [
        "scope=large",
        "scope >= medium",
        "scope<epic",
        "scope in (small, LARGE)",
        "done=3",
        "done>2 and done<=3",
        "progress >= 60%",
        "path = 'docs/Story 1.md'",
        "path~STORY",
        "path !~ zzz",
        "workflow != create-prd",
        "next=step-04-b",
        "next ~ 04-a",
        "next not in (step-05, step-06)",
        "modified = 2026-01-31",
        "modified>=2026-01-31 and modified<2026-02-01",
        "modified > 2026-01-31T11:59:59Z",
        "title is empty",
        "scope IS NOT Empty AND NOT title is not empty",
        "id != anything",
    ] {
        assert!(answers(yes), "{yes}");
    }
    for no in [
        "scope=epic",
        "scope>large",
        "done<3",
        "done!=3",
        "path=docs",
        "next = step-04-c",
        "next != step-04-b",
        "modified<2026-01-31",
        "modified > 2026-01-31",
        "total<100",
        "total>=0",
        "title ~ a",
        "id = ''",
        "workflow in (a, b)",
    ] {
        assert!(!answers(no), "{no}");
    }
}

#[test]
fn a_status_is_understood_by_its_lifecycle() {
    for yes in [
        "status=in-progress",
        "status = IN_PROGRESS",
        "status>=ready-for-dev",
        "status < review",
        "status in (done, 'in progress')",
        "status ~ progress",
        "status != blocked",
    ] {
        assert!(answers(yes), "{yes}");
    }
    for no in ["status=done", "status>in-progress", "status<=backlog", "status>nonsense", "status<nonsense"] {
        assert!(!answers(no), "{no}");
    }
    let with = |word: &str, name: Option<&str>| {
        let status = StatusValue { word: word.to_owned(), lifecycle: name.map(lifecycle) };
        Row(BTreeMap::from([(SelectionField::Status, FieldValue::Status(status))]))
    };
    let done = Selection::parse("status=done", &[]).unwrap();
    assert!(done.matches(&with("Done", None)), "without a lifecycle the word counts");
    assert!(!done.matches(&with("complete", None)));
    let legacy = Selection::parse("status=ready-for-dev", &[]).unwrap();
    assert!(legacy.matches(&with("drafted", Some("bmad-story"))), "a synonym is the same state");
}

#[test]
fn and_binds_closer_than_or_and_not_closest() {
    for (question, expected) in [
        ("done=0 and done=0 or done=3", true),
        ("done=3 or done=0 and done=0", true),
        ("(done=3 or done=0) and done=0", false),
        ("not done=0 and done=3", true),
        ("not (done=0 or done=3)", false),
        ("not not done=3", true),
        ("((((done=3))))", true),
    ] {
        assert_eq!(answers(question), expected, "{question}");
    }
}

#[test]
fn what_makes_no_sense_is_told_with_its_place() {
    let unexpected = |wanted| SelectionErrorKind::Unexpected { wanted };
    let comparison = "a comparison (`=`, `~`, `<`, `in`, `is empty` …)";
    let beginning = "a field, `not` or `(`";
    for (question, start, end, kind) in [
        ("", 0, 0, unexpected(beginning)),
        ("done", 4, 4, unexpected(comparison)),
        ("done =", 6, 6, unexpected("a value")),
        (
            "done = and",
            7,
            10,
            SelectionErrorKind::WrongValue {
                field: "done",
                value: "and".to_owned(),
                kind: FieldType::Number,
            },
        ),
        ("= 3", 0, 1, unexpected(beginning)),
        ("done=3 scope=large", 7, 12, unexpected("`and`, `or` or the end")),
        ("(done=3", 7, 7, unexpected("`)`")),
        ("done in 3", 8, 9, unexpected("`(`")),
        ("done in (3 4)", 11, 12, unexpected("`,` or `)`")),
        ("done is 3", 8, 9, unexpected("`empty`")),
        ("done not 3", 9, 10, unexpected("`in`")),
        ("done ! 3", 5, 6, unexpected("a field, a comparison or a value")),
        ("path = 'x", 7, 9, SelectionErrorKind::UnclosedText),
        (
            "scope = big",
            8,
            11,
            SelectionErrorKind::WrongValue {
                field: "scope",
                value: "big".to_owned(),
                kind: FieldType::Scope,
            },
        ),
        (
            "modified > 'last week'",
            11,
            22,
            SelectionErrorKind::WrongValue {
                field: "modified",
                value: "last week".to_owned(),
                kind: FieldType::Time,
            },
        ),
        (
            "path < a",
            5,
            6,
            SelectionErrorKind::NoSuchComparison { field: "path", operator: "<", kind: FieldType::Text },
        ),
        (
            "done ~ 3",
            5,
            6,
            SelectionErrorKind::NoSuchComparison { field: "done", operator: "~", kind: FieldType::Number },
        ),
        (
            "stauts = done",
            0,
            6,
            SelectionErrorKind::UnknownField { name: "stauts".to_owned(), near: vec!["status".to_owned()] },
        ),
    ] {
        let error = Selection::parse(question, &[]).unwrap_err();
        assert_eq!(error, SelectionError { span: Span::new(start, end), kind }, "{question}");
    }
    let deep = format!("{}done=3{}", "(".repeat(65), ")".repeat(65));
    assert!(matches!(
        Selection::parse(&deep, &[]).unwrap_err().kind,
        SelectionErrorKind::TooDeep { limit: 64 }
    ));
}

#[test]
fn help_names_the_fields_that_may_be_meant() {
    let help = |question| Selection::parse(question, &[]).unwrap_err().help().unwrap();
    assert!(help("stauts=x").starts_with("is `status` meant?"));
    assert!(help("zzz=x").starts_with("the fields are path, id,"));
    assert!(help("scope=big").contains("micro"));
}

#[test]
fn artifacts_are_sorted_by_several_fields_and_what_is_empty_comes_last() {
    let row = |path: &str, scope: Option<Scope>, done: u64| {
        let mut fields = BTreeMap::from([
            (SelectionField::Path, FieldValue::Text(path.to_owned())),
            (SelectionField::Done, FieldValue::Number(done)),
        ]);
        fields.extend(scope.map(|scope| (SelectionField::Scope, FieldValue::Scope(scope))));
        Row(fields)
    };
    let rows = vec![
        row("c", Some(Scope::Small), 10),
        row("a", Some(Scope::Epic), 9),
        row("d", None, 9),
        row("b", Some(Scope::Small), 2),
        row("e", Some(Scope::Unknown("huge".to_owned())), 1),
    ];
    let sorted = |keys: &str| {
        let sorted = SortKeys::parse(keys, &[]).unwrap().sort(rows.clone());
        sorted.iter().map(|row| row.value(SelectionField::Path).to_string()).collect::<String>()
    };
    assert_eq!(sorted("path"), "abcde");
    assert_eq!(sorted("-path"), "edcba");
    assert_eq!(sorted("scope"), "cbaed", "equal ones stay in their order");
    assert_eq!(sorted("scope,path"), "bcaed");
    assert_eq!(sorted("-scope, -done"), "eacbd");
    assert_eq!(sorted("done"), "ebadc");
    let error = SortKeys::parse("path, -dnoe", &[]).unwrap_err();
    assert_eq!(error.span, Span::new(7, 11));
    assert_eq!(parse_fields("path,  pth", &[]).unwrap_err().span, Span::new(7, 10));
}

#[test]
fn a_status_is_sorted_by_how_far_the_work_is() {
    let row = |word: &str| {
        let status = StatusValue { word: word.to_owned(), lifecycle: Some(lifecycle("bmad-story")) };
        Row(BTreeMap::from([(SelectionField::Status, FieldValue::Status(status))]))
    };
    let rows = ["done", "nonsense", "backlog", "review"].map(row).to_vec();
    let sorted = SortKeys::parse("status", &[]).unwrap().sort(rows);
    let words: Vec<_> = sorted.iter().map(|row| row.value(SelectionField::Status).to_string()).collect();
    assert_eq!(words, ["backlog", "review", "done", "nonsense"]);
}

proptest! {
    #[test]
    fn no_question_panics(text in "[ a-z()=!~<>,'\"é0-9-]{0,40}") {
        if let Err(error) = Selection::parse(&text, &[]) {
            prop_assert!(text.get(error.span.range()).is_some(), "{:?}", error);
        }
        let _lists = (SortKeys::parse(&text, &[]), parse_fields(&text, &[]));
    }

    #[test]
    fn any_text_can_be_asked_for_in_quotes(value: String) {
        let row = Row(BTreeMap::from([(SelectionField::Path, FieldValue::Text(value.clone()))]));
        for quote in ['\'', '"'] {
            let text = value.replace(quote, &format!("{quote}{quote}"));
            let question = format!("path={quote}{text}{quote}");
            prop_assert!(Selection::parse(&question, &[]).unwrap().matches(&row), "{}", question);
        }
    }
}
