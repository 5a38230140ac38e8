//! Rules: id, name, check, explanation, fix.

use std::fmt;

use super::{Finding, Fix, Severity, Subject};
use crate::artifact::Problem;
use stepmark_frontmatter::Span;

/// Id and name never change; the id of a removed rule is not reused.
pub struct Rule {
    /// `SM`, group (digit or letter), two digits.
    pub id: &'static str,
    pub name: &'static str,
    pub group: Group,
    pub severity: Severity,
    pub(crate) decision: Decision,
}

pub(crate) type Check = fn(&Subject<'_>, &mut Vec<Finding>);

#[derive(Clone, Copy)]
pub(crate) enum Decision {
    OfArtifact(Check),
    /// Made while reading the artifact; its text is the message.
    Diagnosed {
        is_about: fn(&Problem) -> bool,
        /// Empty if the message is enough.
        help: &'static str,
        fix: fn(&[u8], Span) -> Option<Fix>,
    },
    /// For deleted artifacts, in their last state.
    WhenDeleted(Check),
    /// Findings come from a later stage: the rule needs other files.
    OfLaterStage,
}

impl Decision {
    pub(crate) const fn diagnosed(is_about: fn(&Problem) -> bool, help: &'static str) -> Self {
        Self::fixable(is_about, help, |_, _| None)
    }

    pub(crate) const fn fixable(
        is_about: fn(&Problem) -> bool,
        help: &'static str,
        fix: fn(&[u8], Span) -> Option<Fix>,
    ) -> Self {
        Self::Diagnosed { is_about, help, fix }
    }

    pub(crate) const fn is_of_artifact(&self) -> bool {
        matches!(self, Self::OfArtifact(_) | Self::Diagnosed { .. })
    }
}

/// The first digit of an id; systems with their own files have a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    Suppressions,
    Document,
    Steps,
    Status,
    References,
    Delegation,
    Gates,
    Scope,
    Manifest,
    History,
    Asdd,
    /// SMBxx: other files of BMAD.
    Bmad,
    /// SMCxx: shared tasks, agents and discoveries.
    Coordination,
    Autodev,
    /// SMFxx: graphs, flows and executions.
    Flows,
    /// SMMxx: memories and stores.
    Memory,
    /// SMPxx: records of all systems, and their projections.
    Systems,
}

impl Group {
    pub const ALL: [Self; 17] = [
        Self::Suppressions,
        Self::Document,
        Self::Steps,
        Self::Status,
        Self::References,
        Self::Delegation,
        Self::Gates,
        Self::Scope,
        Self::Manifest,
        Self::History,
        Self::Asdd,
        Self::Bmad,
        Self::Coordination,
        Self::Autodev,
        Self::Flows,
        Self::Memory,
        Self::Systems,
    ];

    const fn facts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Suppressions => ("SM0", "Suppressions", include_str!("rules/suppression.md")),
            Self::Document => ("SM1", "Document", include_str!("rules/document.md")),
            Self::Steps => ("SM2", "Steps", include_str!("rules/steps.md")),
            Self::Status => ("SM3", "Status and dates", include_str!("rules/status.md")),
            Self::References => ("SM4", "References", include_str!("rules/references.md")),
            Self::Delegation => ("SM5", "Delegation", include_str!("rules/delegation.md")),
            Self::Gates => ("SM6", "Gates", include_str!("rules/gates.md")),
            Self::Scope => ("SM7", "Scope", include_str!("rules/scope.md")),
            Self::Manifest => ("SM8", "Manifest", include_str!("rules/manifest.md")),
            Self::History => ("SM9", "History", include_str!("rules/history.md")),
            Self::Asdd => ("SMA", "ASDD", include_str!("rules/asdd.md")),
            Self::Bmad => ("SMB", "Files of BMAD", include_str!("rules/bmad.md")),
            Self::Coordination => ("SMC", "Coordination", include_str!("rules/coordination.md")),
            Self::Autodev => ("SMD", "autodev", include_str!("rules/autodev.md")),
            Self::Flows => ("SMF", "Flows", include_str!("rules/flows.md")),
            Self::Memory => ("SMM", "Memory", include_str!("rules/memory.md")),
            Self::Systems => {
                ("SMP", "Records and the files that follow them", include_str!("rules/systems.md"))
            }
        }
    }

    /// First letters of the rule ids.
    pub const fn prefix(self) -> &'static str {
        self.facts().0
    }

    pub const fn title(self) -> &'static str {
        self.facts().1
    }
}

impl Rule {
    pub(crate) const fn new(
        id: &'static str,
        name: &'static str,
        group: Group,
        severity: Severity,
        decision: Decision,
    ) -> Self {
        Self { id, name, group, severity, decision }
    }

    /// The page without the line of group and severity.
    fn text(&self) -> &'static str {
        let all = self.group.facts().2;
        let start = all.find(&format!("# {}: ", self.id)).unwrap_or(all.len());
        let text = &all[start..];
        text.find("\n\n# SM").map_or(text, |end| &text[..=end])
    }

    fn part(&self, from: &str, to: &str) -> &'static str {
        let rest = self.text().split_once(from).map_or("", |(_, rest)| rest);
        rest.split_once(to).map_or(rest, |(part, _)| part).trim_end()
    }

    pub fn summary(&self) -> &'static str {
        self.part("\n\n", "\n\n")
    }

    /// Markdown.
    pub fn why(&self) -> &'static str {
        self.part("\n## Why\n\n", "\n\n## Example")
    }

    pub fn fix(&self) -> &'static str {
        self.part("\n## How to fix it\n\n", "\u{0}")
    }

    pub(crate) fn look_at(&'static self, subject: &Subject<'_>, found: &mut Vec<Finding>) {
        match self.decision {
            Decision::OfArtifact(check) => check(subject, found),
            Decision::Diagnosed { is_about, help, fix } => {
                found.extend(subject.diagnosed(self, is_about).map(|finding| {
                    let fix = fix(subject.artifact.bytes(), finding.span);
                    let finding = if help.is_empty() { finding } else { finding.with_help(help) };
                    finding.with_fix(fix)
                }));
            }
            Decision::WhenDeleted(_) | Decision::OfLaterStage => {}
        }
    }

    /// Does not need other files.
    pub const fn is_of_artifact(&self) -> bool {
        self.decision.is_of_artifact() || matches!(self.group, Group::Suppressions)
    }

    pub fn page(&self) -> String {
        let (text, summary) = (self.text(), self.summary());
        let told = format!("{summary}\n\nGroup: {}. Severity: {}.", self.group.title(), self.severity);
        text.replacen(summary, &told, 1)
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Rule {}

impl fmt::Debug for Rule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.id, self.name)
    }
}

#[cfg(test)]
impl Rule {
    pub(crate) fn bad(&self) -> &'static str {
        example(self.part("Found:\n\n", "\n\nRight:"))
    }

    pub(crate) fn good(&self) -> &'static str {
        example(self.part("Right:\n\n", "\n\n## How to fix it"))
    }
}

#[cfg(test)]
fn example(fenced: &str) -> &'static str {
    let (_, file) = fenced.split_once('\n').unwrap();
    let file = file.strip_suffix("````").unwrap();
    file.replace("<BOM>", "\u{FEFF}").replace("<CRLF>\n", "\r\n").replace("<TAB>", "\t").leak()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fix of one file is judged by it alone: copies on the disk and deleted files are beyond it.
    #[test]
    fn an_artifact_alone_breaks_rules_about_itself_and_its_suppressions() {
        for (id, expected) in
            [("SM002", true), ("SM106", true), ("SM901", true), ("SM601", false), ("SM907", false)]
        {
            assert_eq!(crate::check::rule_of(id).map(Rule::is_of_artifact), Some(expected), "{id}");
        }
    }
}
