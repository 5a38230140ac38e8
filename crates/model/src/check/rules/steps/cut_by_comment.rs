//! SM208: a value ends at ` #` and a digit; readers take the rest for a comment.

use crate::check::{Group, Rule, Severity, rule::Decision};
use crate::{
    artifact::Problem,
    check::{Fix, Safety},
};
use stepmark_frontmatter::Span;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM208",
    name: "cut-by-comment",
    group: Group::Steps,
    severity: Severity::Warning,
    summary: "A value ends at ` #` and a digit; readers take the rest for a comment.",
    why: "An issue number in a value without quotes is lost to every reader, and the next tool that \
              rewrites the file drops it.",
    bad: "---\nstatus: blocked by #680\n---\n",
    good: "---\nstatus: 'blocked by #680'\n---\n",
    fix: "Put the whole value in quotes.",
    decision: Decision::fixable(
        |problem| matches!(problem, Problem::CutByComment { .. }),
        "put the whole value in quotes",
        whole_line_quoted,
    ),
};

/// The value and its comment in quotes. It may be a comment after all, so that is for a person to decide.
fn whole_line_quoted(file: &[u8], value: Span) -> Option<Fix> {
    let rest = file.get(value.start..)?;
    let line = &rest[..memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len())];
    let text = str::from_utf8(line).ok()?.trim_end();
    let span = Span::new(value.start, value.start + text.len());
    let quoted = format!("'{}'", text.replace('\'', "''"));
    Some(Fix::splice(Safety::Unsafe, "quote the value with what follows it", span, quoted))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{fixed, found};

    #[test]
    fn an_issue_number_is_no_comment() {
        let file = "---\nstatus: blocked by #680, isn't it  \ntitle: PRD # a comment\n---\n";
        assert_eq!(
            found(&RULE, file),
            ["2:9 SM208 the value of `status` ends here; readers take `#680, isn't it` for a comment"]
        );
        assert_eq!(
            fixed(&RULE, file).as_deref(),
            Some("---\nstatus: 'blocked by #680, isn''t it'  \ntitle: PRD # a comment\n---\n")
        );
        assert!(found(&RULE, "---\nstatus: 'blocked by #680'\n---\n").is_empty());
    }
}
