//! Artifacts with lifecycles of a project, at two moments, for the tests of rules.

use std::sync::Arc;

use crate::{
    artifact::{Artifact, ProjectPath},
    check::{AcceptedLosses, BaseVersion, Finding, Loss, Rule, Subject},
    lifecycle::{DeclaredLifecycle, LifecycleDeclaration, Lifecycles},
    tracked_artifact::{Membership, TrackedArtifact},
};
use stepmark_frontmatter::LineIndex;

const LIFECYCLES: &str = "
- name: record
  states: [{name: kept, terminal: true}]
  writers: custodian
  applies_to: [{key: {kind: kept}}]
- name: run
  states:
    - {name: open, initial: true}
    - {name: closed, frozen: true, terminal: true}
    - {name: accepted, terminal: true}
  moves: [{from: open, to: closed}, {from: closed, to: accepted}]
  append_only: [attempts]
  applies_to: [{path: run.md}]
";

/// A history that knows of changes of these keys.
struct Explained<'k>(&'k [&'k str]);

impl AcceptedLosses for Explained<'_> {
    fn accepts(&self, loss: &Loss<'_>) -> bool {
        matches!(loss, Loss::Value { key } if self.0.contains(key))
    }
}

/// The findings of `rule` in `run.md` after its frontmatter went from `before` to `after`, where history
/// tells of changes of the keys `explained`: `line:column id message`.
pub(super) fn found_after(rule: &'static Rule, before: &str, after: &str, explained: &[&str]) -> Vec<String> {
    let declared: Vec<LifecycleDeclaration> = serde_yaml::from_str(LIFECYCLES).unwrap();
    let declared = declared.iter().map(|own| DeclaredLifecycle::of(own).unwrap());
    let lifecycles = Arc::new(Lifecycles::new(declared.collect()));
    let file = |frontmatter: &str| format!("---\n{frontmatter}\n---\n").into_bytes();
    let tracked = |frontmatter: &str| {
        let artifact = Artifact::read(ProjectPath::new("run.md").unwrap(), file(frontmatter));
        TrackedArtifact::new(artifact, Membership::None, Arc::clone(&lifecycles))
    };
    let [before, now] = [before, after].map(tracked);
    let base = BaseVersion { tracked: &before, accepted: Some(&Explained(explained)) };
    let subject = Subject::of(&now).since(base);
    let mut found = Vec::new();
    rule.look_at(&subject, &mut found);
    let shown = |finding: &Finding| {
        let text = file(after);
        let place = LineIndex::new(&text).position(&text, finding.span.start);
        format!("{place} {} {}", finding.rule.id, finding.message)
    };
    found.iter().map(shown).collect()
}
