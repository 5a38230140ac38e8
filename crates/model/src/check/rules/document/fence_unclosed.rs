//! SM101: the frontmatter that opens the file is never closed.

use crate::check::{Group, Rule, Severity, rule::Decision};
use crate::{
    artifact::Problem,
    check::{Fix, Safety},
};
use stepmark_frontmatter::{LineEnding, Span, Yaml};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM101",
    name: "fence-unclosed",
    group: Group::Document,
    severity: Severity::Error,
    summary: "The frontmatter that opens the file is never closed.",
    why: "Readers disagree on such a file: some take all of it for frontmatter, some see none. Either \
              way the state that stands in it is lost.",
    bad: "---\nstatus: draft\n\n# PRD\n",
    good: "---\nstatus: draft\n---\n\n# PRD\n",
    fix: "Add a line `---` below the last key.",
    decision: Decision::fixable(
        |problem| matches!(problem, Problem::FenceUnclosed),
        "add a line `---` below the last key",
        closing_fence,
    ),
};

/// The fence above the first blank line (at the end of a file without one), where that makes readable
/// frontmatter.
fn closing_fence(file: &[u8], opening: Span) -> Option<Fix> {
    let line_end = LineEnding::first_of(file)?;
    let blank = [line_end.as_str(), line_end.as_str()].concat();
    let start = opening.end + line_end.as_str().len();
    let rest = file.get(start..)?;
    let (at, fence) = match memchr::memmem::find(rest, blank.as_bytes()) {
        Some(at) => (start + at + line_end.as_str().len(), format!("---{}", line_end.as_str())),
        None if rest.ends_with(line_end.as_str().as_bytes()) => {
            (file.len(), format!("---{}", line_end.as_str()))
        }
        None => (file.len(), format!("{}---", line_end.as_str())),
    };
    let yaml = Yaml::parse(file, Span::new(start, at)).ok()?;
    yaml.root().filter(|root| !root.entries().is_empty())?;
    Some(Fix::splice(Safety::Unsafe, "close the frontmatter above the first blank line", Span::at(at), fence))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{fixed, found};

    #[test]
    fn names_the_opening_fence() {
        assert_eq!(
            found(&RULE, "---\nstatus: draft\n\n# PRD\n"),
            ["1:1 SM101 the frontmatter that opens here is never closed"]
        );
        assert!(found(&RULE, "---\nstatus: draft\n---\n").is_empty());
        assert!(found(&RULE, "# PRD\n\n---\n").is_empty());
    }

    #[test]
    fn closes_what_reads_as_frontmatter() {
        for (file, expected) in [
            ("---\nstatus: draft\n\n# PRD\n", "---\nstatus: draft\n---\n\n# PRD\n"),
            ("---\r\na: 1\r\n\r\ntext", "---\r\na: 1\r\n---\r\n\r\ntext"),
            ("---\n\nstatus: draft\n\n# PRD\n", "---\n\nstatus: draft\n---\n\n# PRD\n"),
            ("---\r\n\r\na: 1\r\n", "---\r\n\r\na: 1\r\n---\r\n"),
            ("--- \nstatus: draft\n\n# PRD\n", "--- \nstatus: draft\n---\n\n# PRD\n"),
            ("---\nstatus: draft\n", "---\nstatus: draft\n---\n"),
            ("---\nstatus: draft", "---\nstatus: draft\n---"),
        ] {
            assert_eq!(fixed(&RULE, file).as_deref(), Some(expected), "{file:?}");
        }
        for file in ["---\n# PRD\ntext: [\n", "---\n# PRD\n\nstatus: draft\n", "---"] {
            assert_eq!(fixed(&RULE, file), None, "{file:?}");
        }
    }
}
