//! The lifecycle of an artifact, and the reasons.

use std::fmt;
use std::sync::{Arc, LazyLock};

use super::condition::ConditionInput;
use super::{
    Attributes, Condition, ConditionMatch, Lifecycle, LifecycleDeclaration, LifecycleError, LifecycleProblem,
};
use crate::artifact::Artifact;
use stepmark_frontmatter::KeyPath;
use stepmark_packs::{Kind, PackKind};

/// A lifecycle, and the artifacts that it applies to.
#[derive(Clone, Debug)]
pub struct DeclaredLifecycle {
    /// The lifecycle.
    pub lifecycle: Arc<Lifecycle>,
    /// It applies where one of these holds.
    pub applies_to: Vec<Condition>,
    /// The kind of a pack that it comes from.
    pub kind: Option<Arc<Kind>>,
}

/// The lifecycles of a project: those that it declares, then those that are built in.
#[derive(Clone, Debug, Default)]
pub struct Lifecycles {
    declared: Vec<DeclaredLifecycle>,
}

/// The lifecycle of an artifact.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The lifecycle.
    pub lifecycle: Arc<Lifecycle>,
    /// The kind of a pack that it comes from.
    pub kind: Option<Arc<Kind>>,
    /// The source.
    pub source: LifecycleSource,
    /// The reasons why it applies. Never empty.
    pub evidence: Vec<ConditionMatch>,
}

/// The source that assigns a lifecycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifecycleSource {
    /// The project's configuration.
    Declared,
    /// stepmark, since the artifact is of a type that it knows.
    ArtifactType,
}

impl fmt::Display for Choice {
    /// Writes the reasons why it applies, as half a sentence.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self.source {
            LifecycleSource::Declared => "the configuration says so",
            LifecycleSource::ArtifactType => "its type is known",
        })?;
        self.evidence.iter().enumerate().try_for_each(|(place, evidence)| {
            write!(out, "{}{evidence}", if place == 0 { ": " } else { ", " })
        })
    }
}

impl DeclaredLifecycle {
    /// Reads `declaration`.
    ///
    /// # Errors
    /// When the table is not well formed, or its name stands for a built-in one and it is more than that.
    pub fn of(declaration: &LifecycleDeclaration) -> Result<Self, LifecycleError> {
        let name = &declaration.name.0;
        let wrong =
            |key: &str, problem| LifecycleError { name: name.clone(), way: KeyPath::key(key), problem };
        let applies_to = Condition::assemble(name, declaration.applies_to.as_deref().unwrap_or_default())?;
        let says_more = declaration.states.is_some()
            || declaration.moves.is_some()
            || declaration.counters.is_some()
            || !Attributes::of(declaration).is_empty();
        let lifecycle = match built_in(name) {
            Some(_) if says_more => return Err(wrong("name", LifecycleProblem::BuiltInName)),
            Some(built_in) => Arc::clone(built_in),
            None if declaration.states.as_ref().is_none_or(Vec::is_empty) => {
                let built_in = tables().iter().map(|table| table.lifecycle.name().to_owned());
                return Err(wrong("name", LifecycleProblem::NoStates { built_in: built_in.collect() }));
            }
            None => Arc::new(Lifecycle::assemble(declaration)?),
        };
        Ok(Self { lifecycle, applies_to, kind: None })
    }
}

impl DeclaredLifecycle {
    /// The lifecycle of a kind of a pack; `None` where it has none.
    ///
    /// # Errors
    /// When a condition says nothing.
    pub fn of_kind(kind: &PackKind) -> Result<Option<Self>, LifecycleError> {
        let Some(lifecycle) = &kind.kind.lifecycle else { return Ok(None) };
        let applies_to = Condition::assemble(lifecycle.name(), &kind.applies_to)?;
        let kind = Some(Arc::clone(&kind.kind));
        Ok(Some(Self { lifecycle: Arc::clone(lifecycle), applies_to, kind }))
    }
}

impl Lifecycles {
    /// The lifecycles of a project that declares `declared`, in its order.
    pub const fn new(declared: Vec<DeclaredLifecycle>) -> Self {
        Self { declared }
    }

    /// The lifecycles that the project declares.
    pub fn declared(&self) -> &[DeclaredLifecycle] {
        &self.declared
    }

    /// All lifecycles, each once: those that the project declares, then those that are built in.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Lifecycle>> {
        let declared = self.declared.iter().map(|declared| &declared.lifecycle);
        let is_new = |table: &&DeclaredLifecycle| {
            !self.declared.iter().any(|declared| declared.lifecycle.name() == table.lifecycle.name())
        };
        let built_in = tables().iter().filter(is_new);
        declared.chain(built_in.map(|table| &table.lifecycle))
    }

    /// Returns whether any of them says more of a change than whether the status may move. Mostly none does,
    /// and nobody need ask which one an artifact has.
    pub fn judge_changes(&self) -> bool {
        self.declared.iter().chain(tables()).any(|table| table.lifecycle.judges_changes())
    }

    /// The lifecycle of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<Lifecycle>> {
        self.all().find(|lifecycle| lifecycle.name() == name)
    }

    /// The lifecycle of `artifact`: the first that the project declares for it, else the one of its type,
    /// else none. A status alone is no evidence: `complete` in a PRD belongs to no table.
    pub fn choose(&self, artifact: &Artifact) -> Option<Choice> {
        let subject = ConditionInput::new(artifact);
        let first = |tables: &[DeclaredLifecycle], source: LifecycleSource| {
            tables.iter().find_map(|table| {
                let evidence = table.applies_to.iter().find_map(|condition| condition.evidence(&subject))?;
                let (lifecycle, kind) = (Arc::clone(&table.lifecycle), table.kind.clone());
                Some(Choice { lifecycle, kind, source, evidence })
            })
        };
        first(&self.declared, LifecycleSource::Declared)
            .or_else(|| first(tables(), LifecycleSource::ArtifactType))
    }
}

static BUILT_IN: LazyLock<Vec<DeclaredLifecycle>> = LazyLock::new(|| {
    let kinds = stepmark_packs::built_in().flat_map(|pack| &pack.kinds);
    kinds.filter_map(|kind| DeclaredLifecycle::of_kind(kind).ok().flatten()).collect()
});

/// The built-in tables, in the order in which an artifact is looked for in them.
pub(super) fn tables() -> &'static [DeclaredLifecycle] {
    &BUILT_IN
}

/// The built-in lifecycle `name`.
pub fn built_in(name: &str) -> Option<&'static Arc<Lifecycle>> {
    tables().iter().map(|table| &table.lifecycle).find(|lifecycle| lifecycle.name() == name)
}
