//! Rules: id, name, check, explanation, fix.

use std::fmt;

use super::{
    Finding, Fix, Severity, Subject,
    rules::{
        asdd, autodev, bmad, coordination, delegation, document, flows, gates, history, manifest, memory,
        references, scope, status, steps, suppression, systems,
    },
};
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

const TABLES: [&[&Rule]; 17] = [
    suppression::RULES,
    document::RULES,
    steps::RULES,
    status::RULES,
    references::RULES,
    delegation::RULES,
    gates::RULES,
    scope::RULES,
    manifest::RULES,
    history::RULES,
    asdd::RULES,
    bmad::RULES,
    coordination::RULES,
    autodev::RULES,
    flows::RULES,
    memory::RULES,
    systems::RULES,
];

const COUNT: usize = {
    let (mut count, mut at) = (0, 0);
    while at < TABLES.len() {
        count += TABLES[at].len();
        at += 1;
    }
    count
};

static ALL: [&Rule; COUNT] = {
    let mut all = [TABLES[0][0]; COUNT];
    let (mut next, mut table) = (0, 0);
    while table < TABLES.len() {
        let mut at = 0;
        while at < TABLES[table].len() {
            all[next] = TABLES[table][at];
            (next, at) = (next + 1, at + 1);
        }
        table += 1;
    }
    all
};

pub static RULES: &[&Rule] = &ALL;

/// By id (`SM106`, in any case) or name (`key-twice`).
pub fn rule_of(id_or_name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id.eq_ignore_ascii_case(id_or_name) || rule.name == id_or_name).copied()
}

/// For `docs/rules`: a page per rule, and the index.
pub fn pages() -> Vec<(String, String)> {
    let mut files: Vec<_> = RULES.iter().map(|rule| (format!("{}.md", rule.id), rule.page())).collect();
    files.push(("README.md".to_owned(), index()));
    files
}

fn index() -> String {
    let mut text = "# Rules of `stepmark check`\n\n\
        Generated from the rules; `just rule-pages` writes it again, and a test compares. `stepmark explain RULE` prints a \
        page.\n\n"
        .to_owned();
    text.push_str(include_str!("pages_intro.md"));
    for group in Group::ALL {
        let rules: Vec<_> = RULES.iter().filter(|rule| rule.group == group).collect();
        if rules.is_empty() {
            continue;
        }
        text.push_str(&format!("\n## {}xx: {}\n\n", group.prefix(), group.title()));
        text.push_str("| rule | name | severity | finds |\n|---|---|---|---|\n");
        for rule in rules {
            let (id, name, severity, summary) = (rule.id, rule.name, rule.severity, rule.summary());
            text.push_str(&format!("| [{id}]({id}.md) | `{name}` | {severity} | {summary} |\n"));
        }
    }
    text
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

#[cfg(test)]
mod registry_tests {
    use super::*;
    use crate::check::{
        Group,
        rules::sample::{found, is_of_several_files},
    };

    #[test]
    fn ids_are_unique_and_in_order() {
        assert!(RULES.windows(2).all(|pair| pair[0].id < pair[1].id));
        let mut names: Vec<_> = RULES.iter().map(|rule| rule.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }

    #[test]
    fn an_id_begins_with_the_digit_or_letter_of_its_group() {
        for rule in RULES {
            let number = rule.id.strip_prefix(rule.group.prefix()).unwrap_or_default();
            assert!(number.len() == 2 && number.bytes().all(|byte| byte.is_ascii_digit()), "{rule:?}");
            let is_kebab = rule
                .name
                .split('-')
                .all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase()));
            assert!(is_kebab, "{rule:?}");
        }
        assert!(Group::ALL.windows(2).all(|pair| pair[0].prefix() < pair[1].prefix()));
    }

    #[test]
    fn a_rule_has_an_id_and_a_name() {
        assert_eq!(rule_of("SM106").map(|rule| rule.name), Some("key-twice"));
        assert_eq!(rule_of("sm106"), rule_of("key-twice"));
        assert_eq!(rule_of("SM1"), None);
    }

    /// The examples of a page are input: the bad one is found, the good one is not.
    #[test]
    fn the_examples_of_every_page_are_true() {
        for rule in RULES {
            if rule.decision.is_of_artifact() && !is_of_several_files(rule) {
                assert_ne!(found(rule, rule.bad()), Vec::<String>::new(), "{rule:?} misses its bad example");
            }
            assert_eq!(found(rule, rule.good()), Vec::<String>::new(), "{rule:?} finds its good example");
        }
    }

    #[test]
    fn every_page_says_all_that_a_page_says() {
        for rule in RULES {
            for text in [rule.summary(), rule.why(), rule.fix()] {
                assert!(text.ends_with(['.', '`', ')']) && !text.contains("  "), "{rule:?}: {text}");
            }
            let page = rule.page();
            assert!(page.starts_with(&format!("# {}: {}\n", rule.id, rule.name)), "{page}");
        }
    }
}
