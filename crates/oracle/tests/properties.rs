//! Generated documents: what they say is what is read; edits of them are right, keep all comments, or are
//! refused. `PROPTEST_CASES` sets how many.

use std::collections::BTreeMap;

use proptest::prelude::*;
use stepmark_frontmatter::{Document, Edit, KeyPath, Refusal, Region, Span, Value, Yaml, apply};
use stepmark_oracle::{
    Choices, FlowText, Generated, LIBYAML, Random, Verdict, at, edit_for, flow_text, generate, judge,
    line_too_far_left, paths, remarks, target, value,
};

fn choices() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..400)
}

/// What stepmark reads in a generated file; a file without a root says an empty map.
fn read(file: &Generated) -> Option<Value> {
    let span = file.region.find(&Document::scan(&file.bytes)).ok()?;
    let yaml = Yaml::parse(&file.bytes, span).ok()?;
    match yaml.root() {
        None => Some(Value::Mapping(Vec::new())),
        Some(root) => Value::of(&yaml, root).ok(),
    }
}

/// The first comment that `edit` may not touch and that is not where it was.
fn lost_remark(file: &Generated, edit: &Edit, after: &[u8]) -> Option<String> {
    let is_removed = |owner: &[_]| matches!(edit, Edit::Remove { path } if owner.starts_with(&path.0));
    let may_go: Vec<_> =
        file.remarks.iter().filter(|remark| is_removed(&remark.owner.0)).map(|remark| &remark.text).collect();
    let kept = |bytes: &[u8]| -> Vec<_> {
        remarks(bytes).into_iter().filter(|text| !may_go.contains(&text)).collect()
    };
    let (wanted, found) = (kept(&file.bytes), kept(after));
    let place = (0..wanted.len().max(found.len())).find(|place| wanted.get(*place) != found.get(*place))?;
    Some(wanted.get(place).or(found.get(place)).cloned().unwrap_or_default())
}

/// Makes the edit that `decisions` choose; the verdict, or what went wrong.
fn try_edit(file: &Generated, decisions: &[u8]) -> Result<(Edit, Verdict), String> {
    let edit = edit_for(&mut Choices::new(decisions), &paths(&file.value));
    let verdict = judge(&file.bytes, &file.region, &edit, &[LIBYAML])
        .map_err(|wrong| format!("{edit:?}: {wrong:#?}"))?;
    if let Verdict::Changed(edited) = &verdict
        && let Some(remark) = lost_remark(file, &edit, &edited.bytes)
    {
        return Err(format!("{edit:?}: {remark} in {}", String::from_utf8_lossy(&edited.bytes)));
    }
    Ok((edit, verdict))
}

/// Every edit of `text` at every place of it.
fn every_edit(text: &str, value: &Value) -> Vec<Edit> {
    let yaml = Yaml::parse(text.as_bytes(), Span::new(0, text.len())).ok();
    let root = yaml.as_ref().and_then(|yaml| Value::of(yaml, yaml.root()?).ok());
    let paths = root.as_ref().map(paths).unwrap_or_default();
    let edits = |path: &KeyPath| {
        let length = root.as_ref().and_then(|root| at(root, &path.0)).map_or(0, |found| match found {
            Value::Sequence(items) => items.len(),
            _ => 0,
        });
        let (path, value) = (path.clone(), value.clone());
        let insert = |index| Edit::Insert { path: path.clone(), index, item: value.clone() };
        let mut edits: Vec<Edit> = (0..=length).map(insert).collect();
        edits.push(Edit::Set { path: path.clone(), value: value.clone() });
        edits.push(Edit::Set { path: path.clone().then("new"), value: value.clone() });
        edits.push(Edit::Append { path: path.clone(), item: value });
        edits.push(Edit::Remove { path });
        edits
    };
    paths.iter().skip(1).flat_map(edits).collect()
}

proptest! {
    #[test]
    fn a_document_says_what_was_generated(bytes in choices()) {
        let file = generate(&mut Choices::new(&bytes));
        prop_assert_eq!(read(&file), Some(file.value.clone()), "{}", String::from_utf8_lossy(&file.bytes));
        let texts: Vec<_> = file.remarks.iter().map(|remark| remark.text.clone()).collect();
        let found: Vec<_> = remarks(&file.bytes).into_iter().filter(|text| text != "# c999.").collect();
        prop_assert_eq!(found, texts);
    }

    #[test]
    fn an_edit_is_right_or_refused(bytes in choices(), decisions in proptest::collection::vec(any::<u8>(), 40)) {
        let file = generate(&mut Choices::new(&bytes));
        if let Err(wrong) = try_edit(&file, &decisions) {
            prop_assert!(false, "{}\n{wrong}", String::from_utf8_lossy(&file.bytes));
        }
    }

    #[test]
    fn making_an_edit_twice_changes_nothing_more(bytes in choices(), decisions in proptest::collection::vec(any::<u8>(), 40)) {
        let file = generate(&mut Choices::new(&bytes));
        let edit = edit_for(&mut Choices::new(&decisions), &paths(&file.value));
        if let Edit::Set { .. } = &edit
            && let Ok(Verdict::Changed(once)) = judge(&file.bytes, &file.region, &edit, &[])
        {
            prop_assert_eq!(judge(&once.bytes, &file.region, &edit, &[]), Ok(Verdict::Unchanged));
        }
    }

    #[test]
    fn appending_and_removing_gives_back_the_bytes(bytes in choices(), decisions in proptest::collection::vec(any::<u8>(), 8)) {
        let file = generate(&mut Choices::new(&bytes));
        for path in paths(&file.value) {
            let Some(Value::Sequence(items)) = at(&file.value, &path.0) else { continue };
            let append = Edit::Append { path: path.clone(), item: value(&mut Choices::new(&decisions), 2) };
            if items.is_empty() {
                continue;
            }
            if let Ok(Verdict::Changed(longer)) = judge(&file.bytes, &file.region, &append, &[]) {
                let remove = Edit::Remove { path: path.item(items.len()) };
                let Ok(Verdict::Changed(back)) = judge(&longer.bytes, &file.region, &remove, &[]) else {
                    return Err(TestCaseError::fail(format!("{remove:?} of {:?}", String::from_utf8_lossy(&longer.bytes))));
                };
                prop_assert_eq!(String::from_utf8_lossy(&back.bytes), String::from_utf8_lossy(&file.bytes));
            }
        }
    }

    /// What an edit leaves of a flow collection is read by those who hold its lines to the reference, too.
    #[test]
    fn lines_of_a_flow_collection_stay_behind_its_key(bytes in choices(), decisions in proptest::collection::vec(any::<u8>(), 8)) {
        let FlowText { text, column } = flow_text(&mut Choices::new(&bytes));
        prop_assert_eq!(line_too_far_left(&text, column), None, "{}", text);
        let value = value(&mut Choices::new(&decisions), 2);
        for edit in every_edit(&text, &value) {
            let verdict = judge(text.as_bytes(), &Region::WholeFile, &edit, &[LIBYAML]);
            let verdict = verdict.map_err(|wrong| TestCaseError::fail(format!("{edit:?} of {text:?}: {wrong:#?}")))?;
            if let Verdict::Changed(edited) = verdict {
                let after = String::from_utf8_lossy(&edited.bytes);
                prop_assert_eq!(line_too_far_left(&after, column), None, "{:?} of {:?}: {:?}", edit, text, after);
            }
        }
    }

    /// Edits that are made together lead to what one after the other leads to.
    #[test]
    fn edits_together_are_edits_one_by_one(bytes in choices(), decisions in proptest::collection::vec(any::<u8>(), 160)) {
        let file = generate(&mut Choices::new(&bytes));
        let paths = paths(&file.value);
        let edits: Vec<Edit> =
            decisions.chunks(16).map(|decisions| edit_for(&mut Choices::new(decisions), &paths)).collect();
        let one_by_one = |edits: &[Edit]| {
            edits.iter().try_fold(file.bytes.clone(), |bytes, edit| {
                apply(&bytes, &file.region, std::slice::from_ref(edit)).map(|edited| edited.bytes)
            })
        };
        let made = (0..=edits.len()).rev().find(|count| one_by_one(&edits[..*count]).is_ok()).unwrap_or_default();
        let after = |bytes: &[u8]| read(&Generated { bytes: bytes.to_vec(), ..file.clone() });
        let together = apply(&file.bytes, &file.region, &edits[..made]).map(|edited| after(&edited.bytes));
        prop_assert_eq!(together, one_by_one(&edits[..made]).map(|bytes| after(&bytes)), "{:?}", edits);
        if made < edits.len() {
            prop_assert!(apply(&file.bytes, &file.region, &edits).is_err(), "{:?}", edits);
        }
    }

    #[test]
    fn the_parts_of_any_bytes_are_the_bytes(bytes: Vec<u8>, head in "(\u{FEFF})?(---)?[ \t]?[\r\n]{0,2}") {
        let file = [head.as_bytes(), &bytes, b"\n---\n"].concat();
        prop_assert_eq!(target::parse(&bytes), Ok(()));
        prop_assert_eq!(target::parse(&file), Ok(()));
    }
}

/// Why edits of generated documents are refused, and how often. The documents are the same in every run.
#[test]
fn refusals_are_rare_and_have_reasons() {
    let mut counts = BTreeMap::<&str, usize>::new();
    let mut random = Random::new(2);
    for _ in 0..5000 {
        let file = generate(&mut Choices::new(&random.bytes(400)));
        let decisions = random.bytes(40);
        let verdict = try_edit(&file, &decisions).unwrap_or_else(|wrong| panic!("{wrong}"));
        let name = match verdict.1 {
            Verdict::Changed(_) => "changed",
            Verdict::Unchanged => "unchanged",
            Verdict::Unreadable => "unreadable",
            // What was asked for does not exist.
            Verdict::Refused(
                Refusal::NotAList | Refusal::NotAMapping { .. } | Refusal::NoSuchItem { .. },
            ) => continue,
            Verdict::Refused(Refusal::Alias { .. } | Refusal::AnchorInUse { .. }) => {
                "an alias would change too"
            }
            Verdict::Refused(Refusal::CommentLost { .. }) => "a comment would be lost",
            Verdict::Refused(Refusal::Tagged { .. }) => "the tag says another type",
            Verdict::Refused(Refusal::Layout { .. }) => "a layout that is not written",
            Verdict::Refused(Refusal::NotProven) => "not proven",
            Verdict::Refused(other) => panic!("{other:?} cannot come from a generated document"),
        };
        *counts.entry(name).or_default() += 1;
    }
    let all: usize = counts.values().sum();
    let share = |name| 1000 * counts.get(name).copied().unwrap_or_default() / all;
    assert_eq!(share("unreadable"), 0);
    assert!(share("not proven") < 2, "{counts:?}");
    assert!(share("a layout that is not written") < 20, "{counts:?}");
    assert!(share("changed") > 800, "{counts:?}");
    insta::assert_debug_snapshot!(counts);
}
