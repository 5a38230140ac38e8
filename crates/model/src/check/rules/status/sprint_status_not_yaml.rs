//! SM308: `sprint-status.yaml` is no YAML.

use crate::{
    artifact::ProjectPath,
    check::{Finding, Group, Rule, Severity, rule::Decision},
};
use stepmark_frontmatter::{ParseError, Span};

/// The rule.
pub static RULE: Rule = Rule {
    id: "SM308",
    name: "sprint-status-not-yaml",
    group: Group::Status,
    severity: Severity::Error,
    summary: "`sprint-status.yaml` is no YAML.",
    why: "No agent can tell from it which story comes next, and nobody sees where it disagrees with the stories. A text with `: ` \
          in it, most often in `last_updated`, is the usual cause.",
    bad: "development_status:\n  1-1-switch: review\nlast_updated: 2026-05-02: after review\n",
    good: "development_status:\n  1-1-switch: review\nlast_updated: '2026-05-02: after review'\n",
    fix: "Put a value with `: ` in it in quotes; close what is open (`[`, `{`, a quote); indent with blanks. The message says where the \
           reader gave up, which may be a little below the mistake.",
    decision: Decision::OfLaterStage,
};

/// The finding about the ledger at `path`, of which a story asked.
pub fn finding(path: &ProjectPath, error: &ParseError) -> Finding {
    let finding = Finding::new(&RULE, path, Span::at(error.offset()), error.to_string());
    match remedy(error) {
        Some(remedy) => finding.with_help(remedy),
        None => finding,
    }
}

/// The remedy for the mistake that usually leads to `error`; `None` where there is no usual one.
fn remedy(error: &ParseError) -> Option<&'static str> {
    let ParseError::Syntax { message, .. } = error else { return None };
    let usual = USUAL_MISTAKES.iter().find(|(said, _)| said.iter().any(|said| message.contains(said)));
    usual.map(|(_, remedy)| *remedy)
}

/// Messages of the reader with their remedies; the first that fits counts.
const USUAL_MISTAKES: [(&[&str], &str); 6] = [
    (&["tab"], "indent with blanks: YAML takes no tabs"),
    (
        &[
            "mapping values are not allowed",
            "unexpected character: `@'",
            "unexpected character: ``'",
            "unexpected character: `%'",
            "comments must be separated",
        ],
        "put a value with `: ` or ` #` in it, or one that begins with a sign, in quotes",
    ),
    (
        &["flow", "illegal placement of ':'"],
        "close the `[` or `{` that is open, which may stand further up; a text that begins with one needs quotes",
    ),
    (&["quoted scalar"], "close the quote that is open: it may stand further up"),
    (&["expected key"], "indent the line like its neighbours"),
    (&["simple key expected"], "make each line `key: value`, and take out marks of a merge that conflicted"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bmad::sprint::SprintStatus;

    #[test]
    fn the_help_fits_the_mistake() {
        let path = ProjectPath::new("sprint-status.yaml").unwrap();
        for (text, expected) in [
            ("last_updated: 2026-05-02: after review\n", Some("in quotes")),
            ("a: `x`\n", Some("in quotes")),
            ("a: [b\nc: d\n", Some("close the `[`")),
            ("a: {b: c\nd: e\n", Some("close the `[`")),
            ("a:\n\tb: c\n", Some("tabs")),
            ("a: 'b\nc: d\n", Some("close the quote")),
            ("a:\n  b: c\n d: e\n", Some("indent the line")),
            ("a:\n  b: c\n<<<<<<< HEAD\n  d: e\n", Some("merge")),
            ("a: \u{0}\n", None),
        ] {
            let error = SprintStatus::read(text.as_bytes()).expect_err(text);
            let help = finding(&path, &error).help;
            match expected {
                Some(expected) => assert!(
                    help.as_deref().is_some_and(|help| help.contains(expected)),
                    "{text:?}: {error} {help:?}"
                ),
                None => assert_eq!(help, None, "{text:?}: {error}"),
            }
        }
        let not_utf8 = SprintStatus::read(b"a: \xff\n").expect_err("no UTF-8");
        assert_eq!(finding(&path, &not_utf8).help, None);
    }
}
