//! All rules.

use super::rules::{
    asdd, autodev, coordination, delegation, document, flows, gates, history, manifest, memory, references,
    scope, status, steps, suppression, systems,
};
use super::{Group, Rule};

/// Every rule, in the order of the ids.
pub static RULES: &[&Rule] = &[
    &suppression::without_reason::RULE,
    &suppression::unused::RULE,
    &suppression::unreadable::RULE,
    &suppression::allowance_unused::RULE,
    &document::fence_unclosed::RULE,
    &document::frontmatter_misplaced::RULE,
    &document::not_yaml::RULE,
    &document::not_a_mapping::RULE,
    &document::several_documents::RULE,
    &document::key_twice::RULE,
    &document::alias_unresolved::RULE,
    &document::line_ends_mixed::RULE,
    &document::byte_order_mark::RULE,
    &document::over_limit::RULE,
    &document::tab_in_indentation::RULE,
    &document::value_ambiguous::RULE,
    &steps::steps_not_a_list::RULE,
    &steps::step_empty::RULE,
    &steps::step_unreadable::RULE,
    &steps::step_twice::RULE,
    &steps::step_kinds_mixed::RULE,
    &steps::steps_in_body::RULE,
    &steps::number_misread::RULE,
    &steps::cut_by_comment::RULE,
    &steps::step_unknown::RULE,
    &steps::step_ambiguous::RULE,
    &steps::step_out_of_order::RULE,
    &steps::step_missing::RULE,
    &steps::resume_marker::RULE,
    &steps::last_step_disagrees::RULE,
    &steps::last_step_unknown::RULE,
    &steps::current_step_disagrees::RULE,
    &steps::finished_with_gaps::RULE,
    &status::status_not_text::RULE,
    &status::status_disagrees::RULE,
    &status::template_unfilled::RULE,
    &status::status_unknown::RULE,
    &status::status_ahead_of_steps::RULE,
    &status::time_impossible::RULE,
    &status::sprint_status_disagrees::RULE,
    &status::sprint_status_not_yaml::RULE,
    &status::time_without_date::RULE,
    &status::time_not_iso::RULE,
    &status::story_not_imported::RULE,
    &status::sprint_status_unmatched::RULE,
    &references::absolute_path::RULE,
    &references::input_document_missing::RULE,
    &references::successor_missing::RULE,
    &references::next_step_missing::RULE,
    &delegation::unreadable::RULE,
    &delegation::id_twice::RULE,
    &delegation::id_disagrees::RULE,
    &delegation::parent_missing::RULE,
    &delegation::circle::RULE,
    &delegation::depth_wrong::RULE,
    &delegation::root_wrong::RULE,
    &delegation::chain_wrong::RULE,
    &delegation::children_open::RULE,
    &gates::gate_without_step::RULE,
    &gates::step_without_gate::RULE,
    &scope::scope_unknown::RULE,
    &scope::source_unknown::RULE,
    &scope::confidence_wrong::RULE,
    &scope::scope_missing::RULE,
    &scope::confidence_missing::RULE,
    &manifest::row_missing::RULE,
    &manifest::row_outdated::RULE,
    &history::steps_removed::RULE,
    &history::finished_work_reopened::RULE,
    &history::status_move_illegal::RULE,
    &history::state_key_removed::RULE,
    &history::key_removed::RULE,
    &history::id_changed::RULE,
    &history::artifact_deleted::RULE,
    &history::history_missing::RULE,
    &asdd::slice_inconsistent::RULE,
    &asdd::slice_drifted::RULE,
    &asdd::agent_twice_in_chain::RULE,
    &asdd::ccs_wrong::RULE,
    &asdd::done_with_missing_file::RULE,
    &asdd::below_threshold::RULE,
    &asdd::slice_not_explained::RULE,
    &asdd::review_open::RULE,
    &asdd::heartbeat_stale::RULE,
    &asdd::factors_missing::RULE,
    &asdd::chain_out_of_order::RULE,
    &coordination::dependency_unknown::RULE,
    &coordination::dependency_circle::RULE,
    &coordination::holder_wrong::RULE,
    &coordination::done_before_dependencies::RULE,
    &coordination::priority_wrong::RULE,
    &coordination::result_missing::RULE,
    &coordination::task_orphaned::RULE,
    &coordination::agent_unknown::RULE,
    &coordination::too_many_claims::RULE,
    &coordination::time_order::RULE,
    &coordination::not_for_orchestrators::RULE,
    &coordination::dependency_cancelled::RULE,
    &autodev::unparsable::RULE,
    &autodev::flow_unknown::RULE,
    &autodev::step_unknown::RULE,
    &autodev::name_differs::RULE,
    &autodev::status_unknown::RULE,
    &autodev::phase_wrong::RULE,
    &autodev::phase_name_wrong::RULE,
    &autodev::name_reserved::RULE,
    &autodev::retries_wrong::RULE,
    &autodev::cycle_wrong::RULE,
    &autodev::folder_disagrees::RULE,
    &autodev::skill_state_disagrees::RULE,
    &autodev::file_deleted::RULE,
    &flows::graph_changed::RULE,
    &flows::graph_cyclic::RULE,
    &flows::execution_missing::RULE,
    &flows::success_unverified::RULE,
    &flows::attempt_count_wrong::RULE,
    &flows::over_limit::RULE,
    &flows::log_disagrees::RULE,
    &flows::scope_violation::RULE,
    &flows::task_outlives_flow::RULE,
    &flows::attempt_interrupted::RULE,
    &flows::copy_differs::RULE,
    &memory::store_behind::RULE,
    &memory::secret_in_memory::RULE,
    &memory::superseded_by_missing::RULE,
    &systems::projection_drift::RULE,
    &systems::projection_behind::RULE,
    &systems::projection_damaged::RULE,
    &systems::append_only_changed::RULE,
    &systems::frozen_changed::RULE,
    &systems::writer_not_allowed::RULE,
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
            let (id, name, severity, summary) = (rule.id, rule.name, rule.severity, rule.summary);
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
                assert_ne!(found(rule, rule.bad), Vec::<String>::new(), "{rule:?} misses its bad example");
            }
            assert_eq!(found(rule, rule.good), Vec::<String>::new(), "{rule:?} finds its good example");
        }
    }

    #[test]
    fn every_page_says_all_that_a_page_says() {
        for rule in RULES {
            for text in [rule.summary, rule.why, rule.fix] {
                assert!(text.ends_with(['.', '`', ')']) && !text.contains("  "), "{rule:?}: {text}");
            }
            let page = rule.page();
            assert!(page.starts_with(&format!("# {}: {}\n", rule.id, rule.name)), "{page}");
        }
    }
}
