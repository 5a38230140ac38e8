//! Generated documents: what they say is what is read; edits of them are right, keep all comments, or are refused.
//! `PROPTEST_CASES` sets how many.

use std::collections::BTreeMap;

use proptest::prelude::*;
use stepmark_core::document::{Document, Edit, Refusal, Value, Yaml};
use stepmark_oracle::{
    Choices, Generated, LIBYAML, Random, Verdict, at, edit_for, generate, judge, paths, remarks, target,
    value,
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
