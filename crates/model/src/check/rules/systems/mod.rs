//! Rules about the records of every system: the files that follow them, and what their lifecycles say of
//! every change.

pub mod projection_drift;
pub mod projection_behind;
pub mod projection_damaged;
pub(crate) mod append_only_changed;
pub(crate) mod frozen_changed;
pub(crate) mod writer_not_allowed;
#[cfg(test)]
mod sample;

use super::{super::Subject, history::readable_base, value_span};
use crate::{
    check::{BaseVersion, Loss},
    lifecycle::{ChangeRefusal, Lifecycle},
};
use stepmark_frontmatter::Span;

/// An artifact whose lifecycle says something of every change, as it was at HEAD.
struct Past<'a> {
    base: BaseVersion<'a>,
    lifecycle: &'a Lifecycle,
}

impl<'a> Past<'a> {
    /// That of `subject`, where it has one.
    fn of(subject: &Subject<'a>) -> Option<Self> {
        // Mostly no lifecycle says anything of the kind.
        let base = readable_base(subject).filter(|base| base.tracked.may_have_attributes())?;
        let lifecycle = base.lifecycle()?;
        Some(Self { base, lifecycle })
    }

    /// The refusals that the change since would have got from the lifecycle.
    fn refusals(&self, subject: &Subject<'_>) -> Vec<ChangeRefusal> {
        self.lifecycle.judge_change([Some(self.base.artifact()), Some(subject.artifact)], None)
    }

    /// The first of the keys of the root that were changed since by other means than stepmark: a command
    /// would have been refused, or somebody insisted, which history keeps.
    fn unexplained(&self, subject: &Subject<'_>) -> Option<(String, Span)> {
        let before = self.base.artifact().state_value().ok()?;
        let now = subject.artifact.state_value().ok()?;
        let keys = before.as_object().into_iter().chain(now.as_object()).flat_map(|keys| keys.keys());
        let is_changed = |key: &&String| before.get(key.as_str()) != now.get(key.as_str());
        let key = keys.filter(is_changed).find(|key| !self.base.accepts(Loss::Value { key }))?;
        Some((key.clone(), value_span(subject.artifact, &[key])))
    }
}
