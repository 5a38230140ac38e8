//! SM101: the frontmatter that opens the file is never closed.

use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::{
    artifact::Problem,
    check::{Fix, Safety},
};
use stepmark_frontmatter::{LineEnding, Span, Yaml, heading_title};

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
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let bytes = subject.artifact.bytes();
    for finding in subject.diagnosed(&RULE, |problem| matches!(problem, Problem::FenceUnclosed)) {
        let line_end = LineEnding::first_of(bytes).map_or("\n", LineEnding::as_str);
        let (help, fix) = match formatted(bytes, finding.span, line_end) {
            Some(fix) => ("a formatter of Markdown took the block for a rule and a heading", Some(fix)),
            None => ("add a line `---` below the last key", closing_fence(bytes, finding.span)),
        };
        found.push(finding.with_help(help).with_fix(fix));
    }
}

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

/// The block as it was before a formatter of Markdown took it for a rule and a heading: the closing fence
/// grew, or went and made the only key a heading.
fn formatted(file: &[u8], opening: Span, line_end: &str) -> Option<Fix> {
    let text = std::str::from_utf8(file).ok()?;
    let mut start = opening.end + line_end.len();
    let is_keys = |text: &str| {
        let yaml = Yaml::parse(text.as_bytes(), Span::new(0, text.len())).ok();
        yaml.is_some_and(|yaml| yaml.root().is_some_and(|root| !root.entries().is_empty()))
    };
    let title = "put back the block that a formatter made a rule and a heading";
    let keys = start;
    for line in text.get(start..)?.split_inclusive('\n') {
        let (content, end) = (line.trim_end(), start + line.len());
        if content.len() > 3 && content.bytes().all(|byte| byte == b'-') {
            let span = Span::new(start, start + content.len());
            return is_keys(&text[keys..start])
                .then(|| Fix::splice(Safety::Unsafe, title, span, "---".to_owned()));
        }
        if let Some(heading) =
            heading_title(content.as_bytes()).filter(|_| text[keys..start].trim().is_empty())
        {
            let heading = std::str::from_utf8(heading).ok().filter(|heading| is_keys(heading))?;
            let block = format!("{heading}{line_end}---{line_end}");
            return Some(Fix::splice(Safety::Unsafe, title, Span::new(keys, end), block));
        }
        if content.starts_with('#') {
            return None;
        }
        start = end;
    }
    None
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
            ("---\n\na: [1]\nb: c\n------\n\n# PRD\n", "---\n\na: [1]\nb: c\n---\n\n# PRD\n"),
            ("---\n\n## status: 'draft'\n\n# PRD\n", "---\nstatus: 'draft'\n---\n\n# PRD\n"),
        ] {
            assert_eq!(fixed(&RULE, file).as_deref(), Some(expected), "{file:?}");
        }
        for file in ["---\n# PRD\ntext: [\n", "---\n# PRD\n\nstatus: draft\n", "---"] {
            assert_eq!(fixed(&RULE, file), None, "{file:?}");
        }
    }
}
