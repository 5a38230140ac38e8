//! All rules.

use super::rules::{
    asdd, autodev, coordination, delegation, document, flows, gates, history, manifest, memory, references,
    scope, status, steps, suppression, systems,
};
use super::{Group, Rule};

/// Every rule, in the order of the ids.
pub static RULES: &[&Rule] = &[
    &suppression::WITHOUT_REASON,
    &suppression::UNUSED,
    &suppression::UNREADABLE,
    &suppression::ALLOWANCE_UNUSED,
    &document::FENCE_UNCLOSED,
    &document::FRONTMATTER_MISPLACED,
    &document::NOT_YAML,
    &document::NOT_A_MAPPING,
    &document::SEVERAL_DOCUMENTS,
    &document::KEY_TWICE,
    &document::ALIAS_UNRESOLVED,
    &document::LINE_ENDS_MIXED,
    &document::BYTE_ORDER_MARK,
    &document::OVER_LIMIT,
    &document::TAB_IN_INDENTATION,
    &document::VALUE_AMBIGUOUS,
    &steps::STEPS_NOT_A_LIST,
    &steps::STEP_EMPTY,
    &steps::STEP_UNREADABLE,
    &steps::STEP_TWICE,
    &steps::STEP_KINDS_MIXED,
    &steps::STEPS_IN_BODY,
    &steps::NUMBER_MISREAD,
    &steps::CUT_BY_COMMENT,
    &steps::STEP_UNKNOWN,
    &steps::STEP_AMBIGUOUS,
    &steps::STEP_OUT_OF_ORDER,
    &steps::STEP_MISSING,
    &steps::RESUME_MARKER,
    &steps::LAST_STEP_DISAGREES,
    &steps::LAST_STEP_UNKNOWN,
    &steps::CURRENT_STEP_DISAGREES,
    &steps::FINISHED_WITH_GAPS,
    &status::STATUS_NOT_TEXT,
    &status::STATUS_DISAGREES,
    &status::TEMPLATE_UNFILLED,
    &status::STATUS_UNKNOWN,
    &status::STATUS_AHEAD_OF_STEPS,
    &status::TIME_IMPOSSIBLE,
    &status::SPRINT_STATUS_DISAGREES,
    &status::SPRINT_STATUS_NOT_YAML,
    &status::TIME_WITHOUT_DATE,
    &status::TIME_NOT_ISO,
    &status::STORY_NOT_IMPORTED,
    &status::SPRINT_STATUS_UNMATCHED,
    &references::ABSOLUTE_PATH,
    &references::INPUT_DOCUMENT_MISSING,
    &references::SUCCESSOR_MISSING,
    &references::NEXT_STEP_MISSING,
    &delegation::UNREADABLE,
    &delegation::ID_TWICE,
    &delegation::ID_DISAGREES,
    &delegation::PARENT_MISSING,
    &delegation::CIRCLE,
    &delegation::DEPTH_WRONG,
    &delegation::ROOT_WRONG,
    &delegation::CHAIN_WRONG,
    &delegation::CHILDREN_OPEN,
    &gates::GATE_WITHOUT_STEP,
    &gates::STEP_WITHOUT_GATE,
    &scope::SCOPE_UNKNOWN,
    &scope::SOURCE_UNKNOWN,
    &scope::CONFIDENCE_WRONG,
    &scope::SCOPE_MISSING,
    &scope::CONFIDENCE_MISSING,
    &manifest::ROW_MISSING,
    &manifest::ROW_OUTDATED,
    &history::STEPS_REMOVED,
    &history::FINISHED_WORK_REOPENED,
    &history::STATUS_MOVE_ILLEGAL,
    &history::STATE_KEY_REMOVED,
    &history::KEY_REMOVED,
    &history::ID_CHANGED,
    &history::ARTIFACT_DELETED,
    &history::HISTORY_MISSING,
    &asdd::SLICE_INCONSISTENT,
    &asdd::SLICE_DRIFTED,
    &asdd::AGENT_TWICE_IN_CHAIN,
    &asdd::CCS_WRONG,
    &asdd::DONE_WITH_MISSING_FILE,
    &asdd::BELOW_THRESHOLD,
    &asdd::SLICE_NOT_EXPLAINED,
    &asdd::REVIEW_OPEN,
    &asdd::HEARTBEAT_STALE,
    &asdd::FACTORS_MISSING,
    &asdd::CHAIN_OUT_OF_ORDER,
    &coordination::DEPENDENCY_UNKNOWN,
    &coordination::DEPENDENCY_CIRCLE,
    &coordination::HOLDER_WRONG,
    &coordination::DONE_BEFORE_DEPENDENCIES,
    &coordination::PRIORITY_WRONG,
    &coordination::RESULT_MISSING,
    &coordination::TASK_ORPHANED,
    &coordination::AGENT_UNKNOWN,
    &coordination::TOO_MANY_CLAIMS,
    &coordination::TIME_ORDER,
    &coordination::NOT_FOR_ORCHESTRATORS,
    &coordination::DEPENDENCY_CANCELLED,
    &autodev::UNPARSABLE,
    &autodev::FLOW_UNKNOWN,
    &autodev::STEP_UNKNOWN,
    &autodev::NAME_DIFFERS,
    &autodev::STATUS_UNKNOWN,
    &autodev::PHASE_WRONG,
    &autodev::PHASE_NAME_WRONG,
    &autodev::NAME_RESERVED,
    &autodev::RETRIES_WRONG,
    &autodev::CYCLE_WRONG,
    &autodev::FOLDER_DISAGREES,
    &autodev::SKILL_STATE_DISAGREES,
    &autodev::FILE_DELETED,
    &flows::GRAPH_CHANGED,
    &flows::GRAPH_CYCLIC,
    &flows::EXECUTION_MISSING,
    &flows::SUCCESS_UNVERIFIED,
    &flows::ATTEMPT_COUNT_WRONG,
    &flows::OVER_LIMIT,
    &flows::LOG_DISAGREES,
    &flows::SCOPE_VIOLATION,
    &flows::TASK_OUTLIVES_FLOW,
    &flows::ATTEMPT_INTERRUPTED,
    &flows::COPY_DIFFERS,
    &memory::STORE_BEHIND,
    &memory::SECRET_IN_MEMORY,
    &memory::SUPERSEDED_BY_MISSING,
    &systems::PROJECTION_DRIFT,
    &systems::PROJECTION_BEHIND,
    &systems::PROJECTION_DAMAGED,
    &systems::APPEND_ONLY_CHANGED,
    &systems::FROZEN_CHANGED,
    &systems::WRITER_NOT_ALLOWED,
    &systems::KEY_WRONG,
    &systems::PACKS_COMPETE,
];

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
        for rule in RULES {
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
        for rule in RULES {
            if rule.decision.is_of_artifact() && !is_of_several_files(rule) {
                assert_ne!(found(rule, rule.bad()), Vec::<String>::new(), "{rule:?} misses its bad example");
            }
            assert_eq!(found(rule, rule.good()), Vec::<String>::new(), "{rule:?} finds its good example");
        }
    }

    #[test]
    fn every_page_says_all_that_a_page_says() {
        for rule in RULES {
            for text in [rule.summary(), rule.why(), rule.fix()] {
                assert!(text.ends_with(['.', '`', ')']) && !text.contains("  "), "{rule:?}: {text}");
            }
            let page = rule.page();
            assert!(page.starts_with(&format!("# {}: {}\n", rule.id, rule.name)), "{page}");
        }
    }
}
