//! Labels that are ours, beside those of people.

use std::collections::BTreeSet;

/// The labels that a ticket with the labels `current` should have: the desired ones, and those of people. `own` are those that stepmark
/// gave to it: a label that only looks like one of ours is a person's.
pub fn merged_labels(
    current: &BTreeSet<String>,
    own: &BTreeSet<String>,
    desired: &BTreeSet<String>,
) -> BTreeSet<String> {
    let is_in = |labels: &BTreeSet<String>, label: &str| labels.iter().any(|own| same_label(own, label));
    let is_foreign = |label: &&String| !is_in(own, label) && !is_in(desired, label);
    desired.iter().chain(current.iter().filter(is_foreign)).cloned().collect()
}

/// Whether a ticket with the labels `current` has those that it should have and no other of ours. Case does not matter: GitHub takes
/// labels that differ in it for one.
pub fn labels_agree(current: &BTreeSet<String>, own: &BTreeSet<String>, desired: &BTreeSet<String>) -> bool {
    let folded = |labels: &BTreeSet<String>| -> BTreeSet<String> {
        labels.iter().map(|label| label.to_lowercase()).collect()
    };
    folded(&merged_labels(current, own, desired)) == folded(current)
}

fn same_label(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(labels: &[&str]) -> BTreeSet<String> {
        labels.iter().map(|label| (*label).to_owned()).collect()
    }

    #[test]
    fn labels_of_people_stay() {
        let desired = set(&["stepmark:p", "status:done", "fixed"]);
        for (current, own, expected) in [
            (
                &["bug", "Status:Draft"][..],
                &["status:draft"][..],
                &["bug", "stepmark:p", "status:done", "fixed"][..],
            ),
            (&["bug", "old"], &["old"], &["bug", "stepmark:p", "status:done", "fixed"]),
            (&["status:mine"], &["status:draft"], &["status:mine", "stepmark:p", "status:done", "fixed"]),
            (&["FIXED"], &[], &["stepmark:p", "status:done", "fixed"]),
        ] {
            assert_eq!(merged_labels(&set(current), &set(own), &desired), set(expected));
            assert!(!labels_agree(&set(current), &set(own), &desired));
        }
        assert!(labels_agree(&set(&["bug", "Stepmark:p", "status:done", "Fixed"]), &set(&[]), &desired));
    }
}
