//! Labels that are ours, beside those of people.

use std::collections::BTreeSet;

use super::TicketSettings;

/// Which labels of a tracker are managed: those that begin as a template of the configuration does (`status:`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelFamilies {
    prefixes: Vec<String>,
}

impl LabelFamilies {
    /// The families that `settings` has. A template that begins with a place to fill in has none: every label begins like it.
    pub fn of(settings: &TicketSettings) -> Self {
        let with_places = settings.labels.iter().filter(|label| label.has_places());
        let prefixes = with_places.map(|label| label.prefix().to_lowercase());
        Self { prefixes: prefixes.filter(|prefix| !prefix.is_empty()).collect() }
    }

    /// The same families for a tracker that spells labels otherwise.
    #[must_use]
    pub fn spelled(self, spell: impl Fn(&str) -> String) -> Self {
        Self { prefixes: self.prefixes.iter().map(|prefix| spell(prefix)).collect() }
    }

    /// The labels that a ticket with the labels `current` should have: the desired ones, and those of people. `before` are the
    /// labels that stepmark gave to it the last time; empty where that is not known.
    pub fn merged(
        &self,
        current: &BTreeSet<String>,
        before: &BTreeSet<String>,
        desired: &BTreeSet<String>,
    ) -> BTreeSet<String> {
        let is_in = |labels: &BTreeSet<String>, label: &str| labels.iter().any(|own| same_label(own, label));
        let is_foreign = |label: &&String| {
            let lower = label.to_lowercase();
            !self.prefixes.iter().any(|prefix| lower.starts_with(prefix))
                && !is_in(before, label)
                && !is_in(desired, label)
        };
        desired.iter().chain(current.iter().filter(is_foreign)).cloned().collect()
    }

    /// Whether a ticket with the labels `current` has those that it should have and no other of ours. Case does not matter:
    /// GitHub takes labels that differ in it for one.
    pub fn agree(
        &self,
        current: &BTreeSet<String>,
        before: &BTreeSet<String>,
        desired: &BTreeSet<String>,
    ) -> bool {
        let folded = |labels: &BTreeSet<String>| -> BTreeSet<String> {
            labels.iter().map(|label| label.to_lowercase()).collect()
        };
        folded(&self.merged(current, before, desired)) == folded(current)
    }
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
        let families = LabelFamilies::of(&TicketSettings::default());
        let desired = set(&["stepmark:p", "status:done", "fixed"]);
        for (current, before, expected) in [
            (&["bug", "Status:Draft"][..], &[][..], &["bug", "stepmark:p", "status:done", "fixed"][..]),
            (&["bug", "old"], &["old"], &["bug", "stepmark:p", "status:done", "fixed"]),
            (&["statusquo"], &[], &["statusquo", "stepmark:p", "status:done", "fixed"]),
            (&["FIXED"], &[], &["stepmark:p", "status:done", "fixed"]),
        ] {
            assert_eq!(families.merged(&set(current), &set(before), &desired), set(expected));
            assert!(!families.agree(&set(current), &set(before), &desired));
        }
        assert!(families.agree(&set(&["bug", "Stepmark:p", "status:done", "Fixed"]), &set(&[]), &desired));
    }

    #[test]
    fn a_template_of_places_alone_claims_nothing() {
        let labels = vec!["{status}".parse().unwrap(), "fixed".parse().unwrap()];
        let families = LabelFamilies::of(&TicketSettings { labels, ..TicketSettings::default() });
        assert_eq!(
            families.merged(&set(&["bug", "fix"]), &set(&[]), &set(&["a"])),
            set(&["a", "bug", "fix"])
        );
    }
}
