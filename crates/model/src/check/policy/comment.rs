//! Suppression comments in frontmatter.
//!
//! `# stepmark: allow SM204 reason` covers the entry or item of its line; on a line of its own that of the
//! next line. `# stepmark: allow-file SM204, SM302 reason` covers the file.

use crate::artifact::Artifact;
use crate::check::{Finding, Group, Rule, Severity, rule_of};
use std::{collections::BTreeMap, fmt, str::FromStr};
use stepmark_frontmatter::{Span, Yaml};

const MARK: &str = "stepmark:";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SuppressionComment {
    pub(super) rules: Vec<&'static Rule>,
    pub(super) reason: String,
    pub(super) span: Span,
    /// `None`: the whole file.
    covers: Option<Span>,
    pub(super) fault: Option<String>,
}

impl SuppressionComment {
    /// Findings about suppressions cannot be suppressed.
    pub(super) fn accepts(&self, finding: &Finding) -> bool {
        let start = finding.span.start;
        let is_covered = self.covers.is_none_or(|covers| covers.start <= start && start < covers.end);
        is_covered && finding.rule.group != Group::Suppressions && self.rules.contains(&finding.rule)
    }
}

pub(super) fn suppression_comments(artifact: &Artifact) -> Vec<SuppressionComment> {
    let bytes = artifact.bytes();
    let Some(content) = artifact.state_span() else { return Vec::new() };
    // Fast path: nearly every file ends here.
    if memchr::memmem::find(&bytes[content.range()], MARK.as_bytes()).is_none() {
        return Vec::new();
    }
    let spans = Yaml::comment_spans(bytes, content).unwrap_or_else(|_| unparsed_comments(bytes, content));
    let comments = spans.into_iter().filter_map(|span| {
        let text = str::from_utf8(&bytes[span.range()]).ok()?;
        let order = text.trim_start_matches('#').trim_start().strip_prefix(MARK)?;
        Some(read(order.trim(), span, bytes, content))
    });
    comments.collect()
}

/// Invalid YAML has findings to accept, too.
fn unparsed_comments(bytes: &[u8], content: Span) -> Vec<Span> {
    let marks = memchr::memmem::find_iter(&bytes[content.range()], MARK.as_bytes());
    let spans = marks.filter_map(|at| {
        let at = content.start + at;
        let before = bytes[content.start..at].trim_ascii_end();
        let hash = content.start + before.len().checked_sub(1)?;
        let end = memchr::memchr2(b'\n', b'\r', &bytes[at..]).map_or(bytes.len(), |length| at + length);
        (bytes[hash] == b'#').then(|| Span::new(hash, end))
    });
    spans.collect()
}

fn read(order: &str, span: Span, bytes: &[u8], content: Span) -> SuppressionComment {
    let (verb, rest) = order.split_once(char::is_whitespace).unwrap_or((order, ""));
    let (rules, reason) = rules_and_reason(rest);
    let covers = (verb != "allow-file").then(|| covered(bytes, content, span));
    let known: Vec<_> = rules.iter().filter_map(|name| rule_of(name)).collect();
    let unknown: Vec<_> = rules.iter().filter(|name| rule_of(name).is_none()).collect();
    let fault = if !["allow", "allow-file"].contains(&verb) {
        Some(format!("`{verb}` is neither `allow` nor `allow-file`"))
    } else if let Some(name) = unknown.first() {
        Some(format!("there is no rule `{name}`"))
    } else if known.is_empty() {
        Some("it names no rule".to_owned())
    } else {
        None
    };
    let rules = if fault.is_some() { Vec::new() } else { known };
    SuppressionComment { rules, reason, span, covers, fault }
}

/// `SM204, step-missing: they were lost` → names, reason.
fn rules_and_reason(text: &str) -> (Vec<&str>, String) {
    let mut rest = text.trim();
    let mut rules = Vec::new();
    loop {
        let end = rest.find([',', ':', ' ', '\t']).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        if !name.is_empty() {
            rules.push(name);
        }
        match behind.trim_start().strip_prefix(',') {
            Some(more) => rest = more.trim_start(),
            None => return (rules, behind.trim_matches([' ', '\t', ':', '-', '–', '—']).to_owned()),
        }
    }
}

/// The entry or item beside or below the comment.
pub(super) fn covered(bytes: &[u8], content: Span, comment: Span) -> Span {
    let lines = lines(bytes, content);
    let Some(own) = lines.iter().position(|line| line.holds(comment)) else { return comment };
    let is_alone = bytes[lines[own].start..comment.start].trim_ascii().is_empty();
    let is_filler = |line: &Span| {
        let text = bytes[line.range()].trim_ascii();
        text.is_empty() || text.starts_with(b"#")
    };
    let first = if is_alone {
        lines.iter().skip(own + 1).position(|line| !is_filler(line)).map(|at| own + 1 + at)
    } else {
        Some(own)
    };
    let Some(first) = first else { return comment };
    let indent = indent(bytes, lines[first]);
    let is_item = starts_item(bytes, lines[first]);
    let belongs = |line: &&Span| {
        let its = self::indent(bytes, **line);
        // A list may have the indent of its key.
        is_filler(line) || its > indent || (its == indent && !is_item && starts_item(bytes, **line))
            // The closing bracket of a flow list may be below its key.
            || matches!(bytes[line.range()].trim_ascii().first(), Some(b']' | b'}'))
    };
    let last = lines[first + 1..].iter().take_while(belongs).count() + first;
    Span::new(lines[first].start, lines[last].end)
}

fn lines(bytes: &[u8], content: Span) -> Vec<Span> {
    let mut lines = Vec::new();
    let mut start = content.start;
    while start < content.end {
        let rest = &bytes[start..content.end];
        let mut end = memchr::memchr2(b'\n', b'\r', rest).map_or(content.end, |at| start + at + 1);
        if bytes[..end].ends_with(b"\r") && bytes[end..content.end].starts_with(b"\n") {
            end += 1;
        }
        lines.push(Span::new(start, end));
        start = end;
    }
    lines
}

fn indent(bytes: &[u8], line: Span) -> usize {
    bytes[line.range()].iter().take_while(|byte| **byte == b' ').count()
}

fn starts_item(bytes: &[u8], line: Span) -> bool {
    let text = bytes[line.range()].trim_ascii();
    text == b"-" || text.starts_with(b"- ")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    Off,
    At(Severity),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a rule is set to `off`, `note`, `warning` or `error`, not to `{text}`")]
pub struct LevelError {
    pub text: String,
}

impl FromStr for Level {
    type Err = LevelError;

    fn from_str(text: &str) -> Result<Self, LevelError> {
        match text {
            "off" => Ok(Self::Off),
            "note" => Ok(Self::At(Severity::Note)),
            "warning" => Ok(Self::At(Severity::Warning)),
            "error" => Ok(Self::At(Severity::Error)),
            _ => Err(LevelError { text: text.to_owned() }),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => out.write_str("off"),
            Self::At(severity) => severity.fmt(out),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Levels(BTreeMap<&'static str, Level>);

impl Levels {
    pub fn of(&self, rule: &Rule) -> Level {
        self.0.get(rule.id).copied().unwrap_or(Level::At(rule.severity))
    }

    pub(super) fn apply(&self, finding: &mut Finding) -> bool {
        match self.0.get(finding.rule.id) {
            None => true,
            Some(Level::Off) => false,
            Some(Level::At(severity)) => {
                finding.severity = *severity;
                true
            }
        }
    }
}

impl FromIterator<(&'static Rule, Level)> for Levels {
    /// The last level of a rule wins.
    fn from_iter<I: IntoIterator<Item = (&'static Rule, Level)>>(levels: I) -> Self {
        Self(levels.into_iter().map(|(rule, level)| (rule.id, level)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_covered(frontmatter: &str) -> String {
        let at = frontmatter.find("#!").unwrap();
        let end = frontmatter[at..].find(['\n', '\r']).map_or(frontmatter.len(), |length| at + length);
        let bytes = frontmatter.as_bytes();
        let span = covered(bytes, Span::new(0, bytes.len()), Span::new(at, end));
        frontmatter[span.range()].to_owned()
    }

    #[test]
    fn a_comment_covers_its_entry_or_the_next() {
        for (frontmatter, expected) in [
            ("a: 1\nb: 2 #!\nc: 3\n", "b: 2 #!\n"),
            ("a: 1\n#!\nb: 2\nc: 3\n", "b: 2\n"),
            ("#!\n# more\n\nb:\n- 1\n- 2\nc: 3\n", "b:\n- 1\n- 2\n"),
            ("b: #!\n  - 1\n\n  - 2\nc: 3\n", "b: #!\n  - 1\n\n  - 2\n"),
            ("b:\n- 1 #!\n- 2\n", "- 1 #!\n"),
            ("b:\n- 1\n#!\n- a: 2\n  b: 3\n- 4\n", "- a: 2\n  b: 3\n"),
            ("b: [ #!\n  1,\n]\nc: 3\n", "b: [ #!\n  1,\n]\n"),
            ("a: 1\r\n#!\r\nb: 2\r\n", "b: 2\r\n"),
            ("a: 1\n#!", "#!"),
        ] {
            assert_eq!(text_covered(frontmatter), expected, "{frontmatter:?}");
        }
    }

    #[test]
    fn a_level_is_shown_as_it_is_written() {
        for text in ["off", "note", "warning", "error"] {
            assert_eq!(text.parse::<Level>().unwrap().to_string(), text);
        }
        for text in ["", "Off", "warn", "errors"] {
            assert_eq!(text.parse::<Level>(), Err(LevelError { text: text.to_owned() }));
        }
    }
}
