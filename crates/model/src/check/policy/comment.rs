//! Suppressions in comments of the frontmatter.
//!
//! `# stepmark: allow SM204 reason` covers the entry or item of its line; on a line of its own that of the
//! next line. `# stepmark: allow-file SM204, SM302 reason` covers the file.

use super::coverage::covered;
use crate::{
    artifact::Artifact,
    check::{Finding, Group, Rule, rule_of},
};
use stepmark_frontmatter::{Span, Yaml};

/// The beginning of every such comment.
const MARK: &str = "stepmark:";

/// A comment that accepts findings, or wants to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SuppressionComment {
    pub(super) rules: Vec<&'static Rule>,
    /// Empty where none is given.
    pub(super) reason: String,
    /// The comment, from its `#` on.
    pub(super) span: Span,
    /// The bytes in which findings are accepted; `None`: all of the file.
    covers: Option<Span>,
    /// The reason why it accepts nothing.
    pub(super) fault: Option<String>,
}

impl SuppressionComment {
    /// Returns whether it accepts `finding`. What is wrong with suppressions is not for them to accept.
    pub(super) fn accepts(&self, finding: &Finding) -> bool {
        let start = finding.span.start;
        let is_covered = self.covers.is_none_or(|covers| covers.start <= start && start < covers.end);
        is_covered && finding.rule.group != Group::Suppressions && self.rules.contains(&finding.rule)
    }
}

/// The suppressions in the frontmatter of `artifact`, in file order.
pub(super) fn suppression_comments(artifact: &Artifact) -> Vec<SuppressionComment> {
    let bytes = artifact.bytes();
    let Some(content) = artifact.state_span() else { return Vec::new() };
    // Nearly every file ends here, before its comments are read.
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

/// Spans that look like comments in frontmatter that is no YAML: it has findings to accept too.
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

/// `SM204, step-missing: they were lost` → the names, and the reason.
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
