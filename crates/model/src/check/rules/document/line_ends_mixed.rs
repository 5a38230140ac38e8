//! SM108: lines of the frontmatter end in different ways.

use crate::check::{Group, Rule, Severity, rule::Decision};
use crate::{
    artifact::Problem,
    check::{Fix, Safety},
};
use stepmark_frontmatter::{LineEnding, Span, Splice};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM108",
    name: "line-ends-mixed",
    group: Group::Document,
    severity: Severity::Note,
    summary: "Lines of the frontmatter end in different ways.",
    why: "Tools that rewrite the file make all line ends the same, and every line shows up as \
              changed.",
    bad: "---\r\nstatus: draft\ntitle: PRD\r\n---\r\n",
    good: "---\nstatus: draft\ntitle: PRD\n---\n",
    fix: "Give all lines the same end; the first line says which.",
    decision: Decision::fixable(|problem| matches!(problem, Problem::LineEndsMixed), "", made_the_same),
};

/// The line ends of the frontmatter as the first line of the file ends.
fn made_the_same(file: &[u8], content: Span) -> Option<Fix> {
    let wanted = LineEnding::first_of(file)?.as_str();
    let mut splices = Vec::new();
    let mut at = content.start;
    while let Some(length) = file.get(at..content.end).and_then(|rest| memchr::memchr2(b'\n', b'\r', rest)) {
        let start = at + length;
        let width = if file[start..].starts_with(b"\r\n") { 2 } else { 1 };
        let span = Span::new(start, start + width);
        if file.get(span.range()) != Some(wanted.as_bytes()) {
            splices.push(Splice { span, text: wanted.to_owned() });
        }
        at = span.end;
    }
    let title = "end all lines of the frontmatter like the first".to_owned();
    (!splices.is_empty()).then_some(Fix { safety: Safety::Safe, title, splices })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{fixed, found};

    #[test]
    fn the_first_line_says_how_lines_end() {
        let file = "---\r\nstatus: draft\ntitle: PRD\r\n---\r\nbody\n";
        assert_eq!(found(&RULE, file), ["2:1 SM108 lines of the frontmatter end in different ways"]);
        assert_eq!(
            fixed(&RULE, file).as_deref(),
            Some("---\r\nstatus: draft\r\ntitle: PRD\r\n---\r\nbody\n")
        );
        assert_eq!(fixed(&RULE, "---\na: 1\r\nb: 2\r---\n").as_deref(), Some("---\na: 1\nb: 2\n---\n"));
        assert!(
            found(&RULE, "---\r\nstatus: draft\r\n---\r\nbody\n").is_empty(),
            "the body is another matter"
        );
    }
}
