//! The pages of all rules as files of the documentation.

use super::{Group, RULES};

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
