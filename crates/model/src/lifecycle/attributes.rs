//! Attributes of artifacts that have a lifecycle: they hold for every change, whatever the status.

use std::collections::BTreeMap;

use super::{LifecycleDeclaration, one_or_more::Name};

/// The attributes of artifacts that have a lifecycle: they hold for every change, whatever the status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// The frontmatter keys of lists that only grow; each may be a path.
    pub append_only: Vec<String>,
    /// The names that may stand under a frontmatter key, or in each entry of the list under it.
    pub closed: BTreeMap<String, Vec<String>>,
    /// The role of those who may change the frontmatter; without one everybody may.
    pub writers: Option<String>,
    /// The role of the people whose approval counts; without one that of any person does.
    pub approvers: Option<String>,
}

impl Attributes {
    /// Those that `declaration` writes down.
    pub(super) fn of(declaration: &LifecycleDeclaration) -> Self {
        let LifecycleDeclaration { append_only, closed, writers, approvers, .. } = declaration;
        let names = |names: &[Name]| names.iter().map(|name| name.0.clone()).collect::<Vec<_>>();
        let closed = closed.iter().flatten();
        Self {
            append_only: append_only.as_deref().map(names).unwrap_or_default(),
            closed: closed.map(|(key, known)| (key.0.clone(), names(known))).collect(),
            writers: writers.as_ref().map(|role| role.0.clone()),
            approvers: approvers.as_ref().map(|role| role.0.clone()),
        }
    }

    /// Returns whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
