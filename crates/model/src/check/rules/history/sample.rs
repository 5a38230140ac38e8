//! Artifacts at two moments, for the tests of rules.

use super::super::sample::tracked;
use crate::check::{AcceptedLosses, BaseVersion, Finding, Loss, Rule, Subject};
use stepmark_frontmatter::LineIndex;

pub(super) struct Accepts<'l>(pub(super) &'l [Loss<'l>]);

impl AcceptedLosses for Accepts<'_> {
    fn accepts(&self, loss: &Loss<'_>) -> bool {
        self.0.contains(loss)
    }
}

/// The findings of `rule` in `prd.md` after its frontmatter went from `before` to `after`:
/// `line:column id message`.
pub(super) fn found_after(rule: &'static Rule, before: &str, after: &str) -> Vec<String> {
    found_after_all(rule, before, after, &Accepts(&[]))
}

pub(super) fn found_after_all(
    rule: &'static Rule,
    before: &str,
    after: &str,
    accepted: &dyn AcceptedLosses,
) -> Vec<String> {
    let shown = |finding: &Finding| {
        let text = file(after);
        let place = LineIndex::new(&text).position(&text, finding.span.start);
        format!("{place} {} {}", finding.rule.id, finding.message)
    };
    findings(rule, before, after, accepted).iter().map(shown).collect()
}

pub(super) fn help_after(rule: &'static Rule, before: &str, after: &str) -> String {
    findings(rule, before, after, &Accepts(&[])).into_iter().find_map(|finding| finding.help).unwrap()
}

fn findings(rule: &'static Rule, before: &str, after: &str, accepted: &dyn AcceptedLosses) -> Vec<Finding> {
    let [before, after] = [before, after].map(|frontmatter| tracked("prd.md", &file(frontmatter)));
    let base = BaseVersion { tracked: &before, accepted: Some(accepted) };
    let subject = Subject::of(&after).since(base);
    let mut found = Vec::new();
    rule.look_at(&subject, &mut found);
    found
}

fn file(frontmatter: &str) -> Vec<u8> {
    format!("---\n{frontmatter}\n---\n# PRD\n").into_bytes()
}
