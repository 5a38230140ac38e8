//! Records of a coordination: tasks, agents and discoveries.

pub(crate) mod dependency_unknown;
pub(crate) mod dependency_circle;
pub(crate) mod holder_wrong;
pub(crate) mod done_before_dependencies;
pub(crate) mod priority_wrong;
pub(crate) mod result_missing;
pub(crate) mod task_orphaned;
pub(crate) mod agent_unknown;
pub(crate) mod too_many_claims;
pub(crate) mod time_order;
pub(crate) mod not_for_orchestrators;
pub(crate) mod dependency_cancelled;

use super::{super::Subject, value_span};
use crate::coordination::{Record, RecordKind};
use stepmark_frontmatter::{Span, Yaml};

/// The task that the subject is.
fn task<'s>(subject: &'s Subject<'_>) -> Option<&'s Record> {
    subject.record().filter(|record| record.kind == RecordKind::Task)
}

/// The span of the value under `key`; that of the frontmatter where it is missing.
fn span(subject: &Subject<'_>, key: &str) -> Span {
    value_span(subject.artifact, &[key])
}

/// The span of the item `text` of the list of dependencies.
fn dependency_span(subject: &Subject<'_>, text: &str) -> Span {
    let yaml = subject.artifact.state_yaml();
    let list = yaml.as_ref().and_then(Yaml::root).and_then(|root| root.get("dependencies"));
    let item = list.and_then(|list| list.items().iter().find(|item| item.text() == Some(text)));
    item.map_or_else(|| span(subject, "dependencies"), |item| item.span)
}
