//! A rule: what it is called, what it finds, why that matters, and how to fix it.

use std::fmt;

use super::{Finding, Fix, Severity, Subject};
use crate::artifact::Problem;
use stepmark_frontmatter::Span;

/// One rule. Its id never changes once it is given, its name neither; a rule that goes leaves its id unused.
pub struct Rule {
    /// Stable id: `SM`, the digit of the group, or the letter of a system, and two digits.
    pub id: &'static str,
    /// Stable name in words, such as `key-twice`.
    pub name: &'static str,
    /// The group that it belongs to.
    pub group: Group,
    /// The severity of its findings where the configuration sets none.
    pub severity: Severity,
    /// Its findings, in one sentence.
    pub summary: &'static str,
    /// The reason why that matters, in Markdown.
    pub why: &'static str,
    /// A file that it finds fault with.
    pub bad: &'static str,
    /// The same file as it should be.
    pub good: &'static str,
    /// The way to fix it, in Markdown.
    pub fix: &'static str,
    /// The check that finds it.
    pub(crate) decision: Decision,
}

/// The check of a rule in one artifact.
pub(crate) type Check = fn(&Subject<'_>, &mut Vec<Finding>);

/// The check that decides a rule.
#[derive(Clone, Copy)]
pub(crate) enum Decision {
    /// This function, for every artifact.
    OfArtifact(Check),
    /// A diagnosis made when the artifact was read, in its own words.
    Diagnosed {
        /// Returns whether the rule is about it.
        is_about: fn(&Problem) -> bool,
        /// The help; empty where the words say it.
        help: &'static str,
        /// The fix, given the bytes of the file.
        fix: fn(&[u8], Span) -> Option<Fix>,
    },
    /// This function, for every artifact that is deleted, as it was.
    WhenDeleted(Check),
    /// A later stage, which hands its findings over: copies on the disk are none of an artifact's business.
    OfLaterStage,
}

impl Decision {
    /// Those of the diagnoses of an artifact that the rule `is_about`.
    pub(crate) const fn diagnosed(is_about: fn(&Problem) -> bool, help: &'static str) -> Self {
        Self::fixable(is_about, help, |_, _| None)
    }

    /// The same, where there is a `fix`.
    pub(crate) const fn fixable(
        is_about: fn(&Problem) -> bool,
        help: &'static str,
        fix: fn(&[u8], Span) -> Option<Fix>,
    ) -> Self {
        Self::Diagnosed { is_about, help, fix }
    }

    /// Returns whether it is made for every artifact that is there.
    pub(crate) const fn is_of_artifact(&self) -> bool {
        matches!(self, Self::OfArtifact(_) | Self::Diagnosed { .. })
    }
}

/// The subjects of rules. The digit of a group is the first of the ids in it; a system with files and words
/// of its own has a letter in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    /// SM0xx: the suppressions themselves.
    Suppressions,
    /// SM1xx: fences, YAML, bytes.
    Document,
    /// SM2xx: the lists of completed steps.
    Steps,
    /// SM3xx: status and dates.
    Status,
    /// SM4xx: files that an artifact names.
    References,
    /// SM5xx: chains of delegation.
    Delegation,
    /// SM6xx: gates.
    Gates,
    /// SM7xx: the scope of the work.
    Scope,
    /// SM8xx: manifests.
    Manifest,
    /// SM9xx: what changed since HEAD.
    History,
    /// SMAxx: slices of ASDD.
    Asdd,
    /// SMCxx: tasks, agents and discoveries that several agents share.
    Coordination,
    /// SMDxx: the state file of autodev.
    Autodev,
    /// SMFxx: graphs of tasks, their flows and executions.
    Flows,
    /// SMMxx: what is remembered, and the stores that are given it.
    Memory,
    /// SMPxx: the records of all systems, and the files that follow them.
    Systems,
}

impl Group {
    /// All groups, in the order of their digits and letters.
    pub const ALL: [Self; 16] = [
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
        Self::Coordination,
        Self::Autodev,
        Self::Flows,
        Self::Memory,
        Self::Systems,
    ];

    /// The beginning of the ids of the group: `SM1`.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Suppressions => "SM0",
            Self::Document => "SM1",
            Self::Steps => "SM2",
            Self::Status => "SM3",
            Self::References => "SM4",
            Self::Delegation => "SM5",
            Self::Gates => "SM6",
            Self::Scope => "SM7",
            Self::Manifest => "SM8",
            Self::History => "SM9",
            Self::Asdd => "SMA",
            Self::Coordination => "SMC",
            Self::Autodev => "SMD",
            Self::Flows => "SMF",
            Self::Memory => "SMM",
            Self::Systems => "SMP",
        }
    }

    /// The subject of the group, as a title.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Suppressions => "Suppressions",
            Self::Document => "Document",
            Self::Steps => "Steps",
            Self::Status => "Status and dates",
            Self::References => "References",
            Self::Delegation => "Delegation",
            Self::Gates => "Gates",
            Self::Scope => "Scope",
            Self::Manifest => "Manifest",
            Self::History => "History",
            Self::Asdd => "ASDD",
            Self::Coordination => "Coordination",
            Self::Autodev => "autodev",
            Self::Flows => "Flows",
            Self::Memory => "Memory",
            Self::Systems => "Records and the files that follow them",
        }
    }
}

impl Rule {
    /// Adds what it finds in an artifact that is there.
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

    /// Returns whether an artifact alone can break it, and no copy on the disk.
    pub const fn is_of_artifact(&self) -> bool {
        self.decision.is_of_artifact() || matches!(self.group, Group::Suppressions)
    }

    /// The page of the rule in Markdown: what `stepmark explain` prints.
    pub fn page(&self) -> String {
        let Self { id, name, summary, why, fix, .. } = self;
        format!(
            "# {id}: {name}\n\n{summary}\n\nGroup: {}. Severity: {}.\n\n## Why\n\n{why}\n\n## Example\n\n\
             Found:\n\n{}\nRight:\n\n{}\n## How to fix it\n\n{fix}\n",
            self.group.title(),
            self.severity,
            example(self.bad),
            example(self.good),
        )
    }
}

/// A file as a code block in which what cannot be seen is written out.
fn example(file: &str) -> String {
    let visible = file.replace('\u{FEFF}', "<BOM>").replace("\r\n", "<CRLF>\n").replace('\t', "<TAB>");
    let end = if visible.ends_with('\n') { "" } else { "\n" };
    // What stands beside artifacts is JSON, or YAML that begins with a key.
    let first = visible.lines().next().unwrap_or_default();
    let language = match first {
        _ if first.starts_with('{') => "json",
        _ if first.ends_with(':') => "yaml",
        _ => "markdown",
    };
    format!("````{language}\n{visible}{end}````\n")
}

/// Rules are the same where their ids are: ids are unique.
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

    #[test]
    fn what_cannot_be_seen_is_written_out_in_examples() {
        assert_eq!(
            example("\u{FEFF}---\r\n\ta: 1\n---"),
            "````markdown\n<BOM>---<CRLF>\n<TAB>a: 1\n---\n````\n"
        );
    }
}
