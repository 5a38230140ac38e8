//! Fixes that go well, fixes that do not, and fixes that get in each other's way.

use std::convert::Infallible;

use super::*;
use crate::{
    artifact::{Artifact, ProjectPath},
    check::{Subject, findings, rule_of},
};
use stepmark_frontmatter::Span;

/// A finding that a test makes: each `needle` in the text, fixed by putting `text` there.
struct Wanted {
    rule: &'static str,
    severity: Severity,
    needle: &'static str,
    fix: Option<(Safety, &'static str)>,
}

const fn wanted(rule: &'static str, needle: &'static str, text: &'static str) -> Wanted {
    Wanted { rule, severity: Severity::Warning, needle, fix: Some((Safety::Safe, text)) }
}

const fn error(rule: &'static str, needle: &'static str) -> Wanted {
    Wanted { rule, severity: Severity::Error, needle, fix: None }
}

fn find(bytes: &[u8], wanted: &[Wanted]) -> Vec<Finding> {
    let text = String::from_utf8_lossy(bytes);
    let path = ProjectPath::new("a.md").unwrap();
    let mut found = Vec::new();
    for Wanted { rule, severity, needle, fix } in wanted {
        for (at, _) in text.match_indices(needle) {
            let span = Span::new(at, at + needle.len());
            let fix =
                fix.map(|(safety, text)| Fix::splice(safety, format!("{needle} -> {text}"), span, text));
            let finding =
                Finding::new(rule_of(rule).unwrap(), &path, span, format!("`{needle}`")).with_fix(fix);
            found.push(Finding { severity: *severity, ..finding });
        }
    }
    found.sort_by_key(|finding| (finding.span, finding.rule.id));
    found
}

fn fixed(text: &str, allowed: Safety, wanted: &[Wanted]) -> (String, Vec<String>, Vec<String>) {
    let find = |bytes: &[u8]| Ok::<_, Infallible>(find(bytes, wanted));
    let Ok(fixed) = apply_fixes(text.as_bytes(), allowed, find);
    let made = fixed.made.iter().map(|remedy| remedy.title.clone()).collect();
    let declined = fixed.declined.iter().map(|one| format!("{}: {}", one.remedy.title, one.reason)).collect();
    (String::from_utf8(fixed.bytes).unwrap(), made, declined)
}

fn nothing<T>() -> Vec<T> {
    Vec::new()
}

#[test]
fn fixes_that_are_apart_are_made_together() {
    let (text, made, declined) = fixed("a x b x c", Safety::Safe, &[wanted("SM106", "x", "yy")]);
    assert_eq!((text.as_str(), made.len(), declined), ("a yy b yy c", 2, nothing()));
}

#[test]
fn fixes_that_touch_wait_for_the_next_round() {
    // `ab` is fixed first; then nothing is left for the other.
    let rules = [wanted("SM106", "ab", "c"), wanted("SM107", "bb", "c")];
    let (text, made, declined) = fixed("-abb-", Safety::Safe, &rules);
    assert_eq!((text.as_str(), made, declined), ("-cb-", vec!["ab -> c".to_owned()], nothing()));
    let (text, made, _) = fixed("-xx-", Safety::Safe, &[wanted("SM106", "x", "")]);
    assert_eq!((text.as_str(), made.len()), ("--", 2));
}

#[test]
fn unsafe_fixes_have_to_be_allowed() {
    let rule = Wanted { fix: Some((Safety::Unsafe, "y")), ..wanted("SM106", "x", "") };
    assert_eq!(fixed("x", Safety::Safe, &[rule]), ("x".to_owned(), nothing(), nothing()));
    let rule = Wanted { fix: Some((Safety::Unsafe, "y")), ..wanted("SM106", "x", "") };
    assert_eq!(fixed("x", Safety::Unsafe, &[rule]).0, "y");
}

#[test]
fn a_fix_that_makes_an_error_is_declined_and_the_others_are_made() {
    let rules = [wanted("SM106", "x", "BAD"), wanted("SM107", "y", "good"), error("SM103", "BAD")];
    let (text, made, declined) = fixed("x y x", Safety::Safe, &rules);
    assert_eq!((text.as_str(), made), ("x good x", vec!["y -> good".to_owned()]));
    assert_eq!(declined, ["x -> BAD: it would make another error: SM103 `BAD`"]);
    let known = fixed("x BAD", Safety::Safe, &[wanted("SM106", "x", "z"), error("SM103", "BAD")]);
    assert_eq!((known.0.as_str(), known.2), ("z BAD", nothing()), "an error that is there already");
}

#[test]
fn a_fix_that_fixes_nothing_is_declined() {
    let (text, made, declined) = fixed("x", Safety::Safe, &[wanted("SM106", "x", "xx")]);
    assert_eq!((text.as_str(), made), ("x", nothing()));
    assert_eq!(declined, ["x -> xx: the finding would still be there"]);
}

#[test]
fn fixes_that_take_each_other_back_come_to_an_end() {
    let rules = [wanted("SM106", "x", "y"), wanted("SM107", "y", "x")];
    let (text, made, declined) = fixed("x", Safety::Safe, &rules);
    assert_eq!((text.as_str(), made), ("y", vec!["x -> y".to_owned()]));
    assert_eq!(declined, ["y -> x: another fix would take it back"]);
}

#[test]
fn splices_that_do_not_fit_are_refused() {
    let splice = |start, end| Splice { span: Span { start, end }, text: String::new() };
    for splices in [
        vec![splice(0, 9)],
        vec![splice(9, 9)],
        vec![splice(2, 1)],
        vec![splice(0, 2), splice(1, 3)],
        vec![splice(1, 2)],
    ] {
        assert_eq!(spliced("aéb".as_bytes(), splices.iter()), None, "{splices:?}");
    }
    assert_eq!(spliced("aéb".as_bytes(), [splice(1, 3)].iter()).unwrap(), b"ab");
    assert_eq!(spliced(b"a\xFFb", [splice(1, 2)].iter()).unwrap(), b"ab");
}

fn all_findings(bytes: &[u8]) -> Result<Vec<Finding>, Infallible> {
    let artifact = Artifact::read(ProjectPath::new("a.md").unwrap(), bytes.to_vec());
    Ok(findings(&Subject::alone(&artifact)))
}

#[test]
fn real_rules_leave_comments_line_ends_and_body_alone() {
    let file = "\u{FEFF}---\r\n# kept\r\nstepsCompleted: [step-01-a, 'step-02-b', step-01-a, step-03-c] # too\r\n---\r\nBody 1.10\r\n";
    let Ok(safe) = apply_fixes(file.as_bytes(), Safety::Safe, all_findings);
    let expected = file.replace(", step-01-a, step-03", ", step-03");
    assert_eq!(
        String::from_utf8(safe.bytes.clone()).unwrap().trim_start_matches('\u{FEFF}'),
        expected.trim_start_matches('\u{FEFF}')
    );
    let Ok(again) = apply_fixes(&safe.bytes, Safety::Safe, all_findings);
    assert_eq!((again.bytes, again.made), (safe.bytes, nothing()), "a second time does nothing");
}

proptest::proptest! {
    /// Whatever stands in the file: a second time does nothing, and no error is new.
    #[test]
    fn fixing_twice_is_fixing_once(items in proptest::collection::vec("(1|2|'1'|1.10|step-01-a|step-02-b|a #b|''|~)", 0..6), status in "(done|in-progress|1)") {
        let file = format!("---\nstepsCompleted: [{}]\nlastStep: 2\nstatus: {status}\n---\nStatus: review\n", items.join(", "));
        for allowed in [Safety::Safe, Safety::Unsafe] {
            let Ok(once) = apply_fixes(file.as_bytes(), allowed, all_findings);
            let Ok(twice) = apply_fixes(&once.bytes, allowed, all_findings);
            proptest::prop_assert_eq!(&twice.bytes, &once.bytes);
            let errors = |bytes: &[u8]| {
                let Ok(found) = all_findings(bytes);
                found.iter().filter(|finding| finding.severity == Severity::Error).count()
            };
            proptest::prop_assert!(errors(&once.bytes) <= errors(file.as_bytes()));
            proptest::prop_assert!(once.bytes.ends_with(b"\n---\nStatus: review\n") || allowed == Safety::Unsafe);
        }
    }
}
