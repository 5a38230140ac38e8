//! SM102: frontmatter stands below a heading or blank lines.

use crate::check::{Group, Rule, Severity, rule::Decision};
use crate::{
    artifact::Problem,
    check::{Fix, Safety},
};
use stepmark_frontmatter::{Document, LineEnding, Span, Splice};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM102",
    name: "frontmatter-misplaced",
    group: Group::Document,
    severity: Severity::Error,
    summary: "Frontmatter stands below a heading or blank lines.",
    why: "Frontmatter counts only at the very start of a file. Agents that put a title above it write \
              files whose state no reader sees.",
    bad: "# PRD\n\n---\nstatus: draft\n---\n",
    good: "---\nstatus: draft\n---\n\n# PRD\n",
    fix: "Move it above everything else.",
    decision: Decision::fixable(
        |problem| matches!(problem, Problem::FrontmatterMisplaced),
        "move it above everything else",
        to_the_start,
    ),
};

/// Takes the block from where it is to the start of the file, with a blank line below it.
fn to_the_start(file: &[u8], block: Span) -> Option<Fix> {
    let mut text = std::str::from_utf8(file.get(block.range())?).ok()?.to_owned();
    let line_end = LineEnding::first_of(file)?.as_str();
    if !text.ends_with(line_end) {
        text.push_str(line_end);
    }
    if !file.starts_with(line_end.as_bytes()) {
        text.push_str(line_end);
    }
    let start = if Document::scan(file).has_byte_order_mark() { 3 } else { 0 };
    let title = "move the frontmatter to the start of the file".to_owned();
    let splices = vec![Splice { span: Span::at(start), text }, Splice { span: block, text: String::new() }];
    Some(Fix { safety: Safety::Unsafe, title, splices })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{fixed, found};

    #[test]
    fn only_what_looks_like_frontmatter_is_misplaced() {
        let found_at = |text| found(&RULE, text).first().map(|line| line[..4].trim_end().to_owned());
        assert_eq!(found_at("# PRD\n\n---\nstatus: draft\n---\n").as_deref(), Some("3:1"));
        assert_eq!(found_at("\n---\nstatus: draft\n---\n").as_deref(), Some("2:1"));
        assert_eq!(found_at("# PRD\n\ntext\n\n---\nstatus: draft\n---\n"), None);
        assert_eq!(found_at("---\nstatus: draft\n---\n"), None);
    }

    #[test]
    fn moves_the_block_to_the_start() {
        for (file, expected) in [
            ("# PRD\n\n---\nstatus: draft\n---\ntext\n", "---\nstatus: draft\n---\n\n# PRD\n\ntext\n"),
            ("\n---\nstatus: draft\n---\n", "---\nstatus: draft\n---\n\n"),
            ("# A\r\n---\r\na: 1\r\n---", "---\r\na: 1\r\n---\r\n\r\n# A\r\n"),
        ] {
            assert_eq!(fixed(&RULE, file).as_deref(), Some(expected), "{file:?}");
        }
    }
}
