//! Conditions under which a lifecycle applies to an artifact.

use std::{cell::OnceCell, fmt};

use memchr::memmem;

use super::{LifecycleError, LifecycleProblem, RootKeys};
use crate::artifact::{Artifact, Delegation};
use crate::spelling::folded;
use stepmark_frontmatter::KeyPath;
use stepmark_packs::{
    PathGlob,
    lifecycle::{ANY, ConditionDeclaration},
    scalar::{Name, OneOrMore},
};

/// The condition under which a lifecycle applies to an artifact: all parts of it hold.
#[derive(Clone, Debug)]
pub struct Condition {
    pub(super) paths: Vec<PathGlob>,
    pub(super) workflow_types: Vec<String>,
    /// Keys with their values; none means any value.
    pub(super) keys: Vec<(String, Option<Vec<String>>)>,
    pub(super) heading: Option<String>,
    /// True if it was delegated.
    pub(super) delegated: Option<bool>,
}

/// Something about an artifact that a lifecycle wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionMatch {
    /// Its path fits this pattern.
    Path(String),
    /// Its `workflowType`.
    WorkflowType(String),
    /// It has this key.
    Key(String),
    /// It has this key with this value.
    KeyValue(String, String),
    /// Its first heading.
    Heading(String),
    /// It was delegated from another artifact, or was not.
    Delegated(bool),
}

impl fmt::Display for ConditionMatch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(pattern) => write!(out, "its path fits `{pattern}`"),
            Self::WorkflowType(value) => write!(out, "its `workflowType` is `{value}`"),
            Self::Key(key) => write!(out, "it has the key `{key}`"),
            Self::KeyValue(key, value) => write!(out, "its `{key}` is `{value}`"),
            Self::Heading(heading) => write!(out, "its heading is `{heading}`"),
            Self::Delegated(true) => out.write_str("it was delegated"),
            Self::Delegated(false) => out.write_str("it was not delegated"),
        }
    }
}

/// An artifact with what is read of it at the first question.
pub(super) struct ConditionInput<'a> {
    artifact: &'a Artifact,
    keys: OnceCell<RootKeys>,
}

impl<'a> ConditionInput<'a> {
    pub(super) const fn new(artifact: &'a Artifact) -> Self {
        Self { artifact, keys: OnceCell::new() }
    }

    /// Returns whether the key may stand in the frontmatter: most artifacts have none of the keys, and need
    /// not be read again.
    fn may_have(&self, key: &str) -> bool {
        let state = self.artifact.state_span().map(|span| &self.artifact.bytes()[span.range()]);
        state.is_some_and(|state| memmem::find(state, key.as_bytes()).is_some())
    }

    fn keys(&self) -> &RootKeys {
        self.keys.get_or_init(|| self.artifact.root_keys())
    }
}

impl Condition {
    /// The reasons why it holds; `None` where it does not. What costs least is asked first.
    pub(super) fn evidence(&self, subject: &ConditionInput<'_>) -> Option<Vec<ConditionMatch>> {
        let mut found = Vec::new();
        if !self.paths.is_empty() {
            let glob = self.paths.iter().find(|glob| glob.matches(subject.artifact.path()))?;
            found.push(ConditionMatch::Path(glob.as_str().to_owned()));
        }
        if !self.workflow_types.is_empty() {
            let own = subject.artifact.state().workflow_type.as_ref()?.filled()?;
            self.workflow_types.iter().find(|wanted| folded(wanted) == folded(own))?;
            found.push(ConditionMatch::WorkflowType(own.to_owned()));
        }
        if let Some(wanted) = self.delegated {
            let delegation = subject.artifact.state().delegation.as_ref();
            let delegation = delegation.filter(|delegation| !delegation.is_parent_alone);
            let is_child = delegation.and_then(Delegation::parent_id).is_some();
            (is_child == wanted).then_some(())?;
            found.push(ConditionMatch::Delegated(wanted));
        }
        self.keys.iter().all(|(key, _)| subject.may_have(key)).then_some(())?;
        for (key, values) in &self.keys {
            let keys = subject.keys();
            match values {
                None => {
                    keys.has(key).then_some(())?;
                    found.push(ConditionMatch::Key(key.clone()));
                }
                Some(values) => {
                    let own = keys.text(key)?;
                    values.iter().find(|wanted| folded(wanted) == folded(own))?;
                    found.push(ConditionMatch::KeyValue(key.clone(), own.to_owned()));
                }
            }
        }
        if let Some(wanted) = &self.heading {
            let heading = subject.artifact.first_heading()?;
            let own: Vec<&str> = heading.split_whitespace().collect();
            let wanted: Vec<&str> = wanted.split_whitespace().collect();
            own.starts_with(&wanted).then_some(())?;
            found.push(ConditionMatch::Heading(heading));
        }
        Some(found)
    }
}

impl Condition {
    /// All conditions of `declaration`.
    pub(super) fn assemble(
        name: &str,
        declared: &[ConditionDeclaration],
    ) -> Result<Vec<Self>, LifecycleError> {
        let read = |(place, declared): (usize, &ConditionDeclaration)| {
            let condition = Self::of(declared);
            if condition.is_empty() {
                let way = KeyPath::key("applies_to").item(place);
                return Err(LifecycleError {
                    name: name.to_owned(),
                    way,
                    problem: LifecycleProblem::EmptyCondition,
                });
            }
            Ok(condition)
        };
        declared.iter().enumerate().map(read).collect()
    }

    fn of(declared: &ConditionDeclaration) -> Self {
        let ConditionDeclaration { path, workflow_type, key, heading, delegated } = declared;
        let words = |words: &OneOrMore<Name>| words.0.iter().map(|word| word.0.clone()).collect::<Vec<_>>();
        let values = |values: &OneOrMore<Name>| {
            let values = words(values);
            (!values.iter().any(|value| value == ANY)).then_some(values)
        };
        Self {
            paths: path.as_ref().map(|paths| paths.0.clone()).unwrap_or_default(),
            workflow_types: workflow_type.as_ref().map(words).unwrap_or_default(),
            keys: key.iter().flatten().map(|(key, wanted)| (key.clone(), values(wanted))).collect(),
            heading: heading.as_ref().map(|heading| heading.0.clone()),
            delegated: *delegated,
        }
    }

    fn is_empty(&self) -> bool {
        let Self { paths, workflow_types, keys, heading, delegated } = self;
        let says_nothing = heading.is_none() && delegated.is_none();
        paths.is_empty() && workflow_types.is_empty() && keys.is_empty() && says_nothing
    }
}
