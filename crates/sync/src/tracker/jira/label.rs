//! Labels as Jira allows them.

use std::collections::BTreeSet;

/// `label` without blanks, which Jira refuses ("The label … contains spaces which is invalid").
pub(super) fn spelled(label: &str) -> String {
    label.chars().map(|letter| if letter.is_whitespace() { '_' } else { letter }).collect()
}

/// The same of several.
pub(super) fn all_spelled(labels: &BTreeSet<String>) -> BTreeSet<String> {
    labels.iter().map(|label| spelled(label)).collect()
}

/// The JQL that finds the issues of a Jira project with a label, the oldest first: what is made meanwhile comes last.
pub(super) fn jql(project: &str, label: &str) -> String {
    format!("project = {} AND labels = {} ORDER BY created ASC, key ASC", quoted(project), quoted(label))
}

/// A text of JQL (Atlassian's "JQL fields": quotes and backslashes are escaped by a backslash).
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_no_blanks_and_searches_no_surprise() {
        assert_eq!(spelled("status:in review\u{a0}now"), "status:in_review_now");
        assert_eq!(
            jql("ABC", "stepmark:a\" OR \\"),
            r#"project = "ABC" AND labels = "stepmark:a\" OR \\" ORDER BY created ASC, key ASC"#
        );
    }
}
