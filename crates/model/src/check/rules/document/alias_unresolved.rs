//! SM107: a reference `*name` leads to no anchor.

use crate::check::{Group, Rule, Severity, rule::Decision};
use crate::{
    artifact::Problem,
    check::{Fix, Safety},
};
use stepmark_frontmatter::Span;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM107",
    name: "alias-unresolved",
    group: Group::Document,
    severity: Severity::Error,
    summary: "A reference `*name` leads to no anchor.",
    why: "An unquoted `*` starts a YAML reference. Most readers refuse the whole file because of it.",
    bad: "---\nstatus: draft\nglob: *.md\n---\n",
    good: "---\nstatus: draft\nglob: '*.md'\n---\n",
    fix: "Put the text in quotes if it is text.",
    decision: Decision::fixable(
        |problem| matches!(problem, Problem::AliasUnresolved { .. }),
        "put the text in quotes if it is text",
        quoted,
    ),
};

/// The reference as text in quotes.
fn quoted(file: &[u8], alias: Span) -> Option<Fix> {
    let text = std::str::from_utf8(file.get(alias.range())?).ok()?;
    let title = format!("quote `{text}`");
    (!text.contains('\'')).then(|| Fix::splice(Safety::Unsafe, title, alias, format!("'{text}'")))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{fixed, found};

    #[test]
    fn a_glob_without_quotes_is_a_reference() {
        let file = "---\nstatus: draft\nglob: *.md\n---\n";
        assert_eq!(found(&RULE, file), ["3:7 SM107 `*.md` is a reference to an anchor that does not exist"]);
        assert_eq!(fixed(&RULE, file).as_deref(), Some("---\nstatus: draft\nglob: '*.md'\n---\n"));
        assert!(found(&RULE, "---\nstatus: &s draft\nother: *s\n---\n").is_empty());
    }
}
