//! All rules, and what they find in an artifact.

use std::sync::LazyLock;

use super::{
    Finding, Group, Rule, Subject,
    rule::Decision,
    rules::{
        asdd, autodev, bmad, coordination, delegation, document, flows, gates, history, manifest, memory,
        references, scope, status, steps, suppression, systems,
    },
};
use crate::autodev::keeps_state;

pub fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let is_of_autodev = keeps_state(subject.artifact.path());
    for rule in RULES.iter().filter(|rule| rule.group != Group::Autodev || is_of_autodev) {
        rule.look_at(subject, &mut found);
    }
    found.sort_by_key(|finding| (finding.span, finding.rule.id));
    found
}

pub fn deletion_findings(subject: &Subject<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for rule in RULES.iter() {
        if let Decision::WhenDeleted(check) = rule.decision {
            check(subject, &mut found);
        }
    }
    found
}

/// The tables of all groups, in the order of the ids.
const TABLES: [&[&Rule]; 17] = [
    suppression::RULES,
    document::RULES,
    steps::RULES,
    status::RULES,
    references::RULES,
    delegation::RULES,
    gates::RULES,
    scope::RULES,
    manifest::RULES,
    history::RULES,
    asdd::RULES,
    bmad::RULES,
    coordination::RULES,
    autodev::RULES,
    flows::RULES,
    memory::RULES,
    systems::RULES,
];

/// Every rule, in the order of the ids.
pub static RULES: LazyLock<Vec<&Rule>> = LazyLock::new(|| TABLES.concat());

/// The rule with this id (`SM106`, whatever its case) or name (`key-twice`).
pub fn rule_of(id_or_name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id.eq_ignore_ascii_case(id_or_name) || rule.name == id_or_name).copied()
}

/// The files of `docs/rules`, each with its name and text: a page a rule, and the index.
pub fn pages() -> Vec<(String, String)> {
    let mut files: Vec<_> = RULES.iter().map(|rule| (format!("{}.md", rule.id), rule.page())).collect();
    files.push(("README.md".to_owned(), index()));
    files
}

fn index() -> String {
    let mut text = "# Rules of `stepmark check`\n\n\
        Generated from the rules; `just rule-pages` writes it again, and a test compares. `stepmark explain RULE` prints a \
        page.\n\n"
        .to_owned();
    text.push_str(include_str!("pages_intro.md"));
    for group in Group::ALL {
        let rules: Vec<_> = RULES.iter().filter(|rule| rule.group == group).collect();
        if rules.is_empty() {
            continue;
        }
        text.push_str(&format!("\n## {}xx: {}\n\n", group.prefix(), group.title()));
        text.push_str("| rule | name | severity | finds |\n|---|---|---|---|\n");
        for rule in rules {
            let (id, name, severity, summary) = (rule.id, rule.name, rule.severity, rule.summary());
            text.push_str(&format!("| [{id}]({id}.md) | `{name}` | {severity} | {summary} |\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{
        Group,
        rules::sample::{found, is_of_several_files},
    };

    #[test]
    fn ids_are_unique_and_in_order() {
        assert!(RULES.windows(2).all(|pair| pair[0].id < pair[1].id));
        let mut names: Vec<_> = RULES.iter().map(|rule| rule.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }

    #[test]
    fn an_id_begins_with_the_digit_or_letter_of_its_group() {
        for rule in RULES.iter() {
            let number = rule.id.strip_prefix(rule.group.prefix()).unwrap_or_default();
            assert!(number.len() == 2 && number.bytes().all(|byte| byte.is_ascii_digit()), "{rule:?}");
            let is_kebab = rule
                .name
                .split('-')
                .all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase()));
            assert!(is_kebab, "{rule:?}");
        }
        assert!(Group::ALL.windows(2).all(|pair| pair[0].prefix() < pair[1].prefix()));
    }

    #[test]
    fn a_rule_has_an_id_and_a_name() {
        assert_eq!(rule_of("SM106").map(|rule| rule.name), Some("key-twice"));
        assert_eq!(rule_of("sm106"), rule_of("key-twice"));
        assert_eq!(rule_of("SM1"), None);
    }

    /// The examples of a page are input: the bad one is found, the good one is not.
    #[test]
    fn the_examples_of_every_page_are_true() {
        for rule in RULES.iter() {
            if rule.decision.is_of_artifact() && !is_of_several_files(rule) {
                assert_ne!(found(rule, rule.bad()), Vec::<String>::new(), "{rule:?} misses its bad example");
            }
            assert_eq!(found(rule, rule.good()), Vec::<String>::new(), "{rule:?} finds its good example");
        }
    }

    #[test]
    fn every_page_says_all_that_a_page_says() {
        for rule in RULES.iter() {
            for text in [rule.summary(), rule.why(), rule.fix()] {
                assert!(text.ends_with(['.', '`', ')']) && !text.contains("  "), "{rule:?}: {text}");
            }
            let page = rule.page();
            assert!(page.starts_with(&format!("# {}: {}\n", rule.id, rule.name)), "{page}");
        }
    }
}
