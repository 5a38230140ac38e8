//! The lifecycle of an artifact, and the reasons.

use std::fmt;
use std::sync::{Arc, LazyLock};

use super::condition::ConditionInput;
use super::{
    Attributes, Condition, ConditionMatch, Lifecycle, LifecycleDeclaration, LifecycleError, LifecycleProblem,
};
use crate::artifact::Artifact;
use stepmark_frontmatter::{KeyPath, Region, from_region};

/// A lifecycle, and the artifacts that it applies to.
#[derive(Clone, Debug)]
pub struct DeclaredLifecycle {
    /// The lifecycle.
    pub lifecycle: Arc<Lifecycle>,
    /// It applies where one of these holds.
    pub applies_to: Vec<Condition>,
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
        let applies_to = Condition::assemble(declaration)?;
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
        Ok(Self { lifecycle, applies_to })
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
                Some(Choice { lifecycle: Arc::clone(&table.lifecycle), source, evidence })
            })
        };
        first(&self.declared, LifecycleSource::Declared)
            .or_else(|| first(tables(), LifecycleSource::ArtifactType))
    }
}

/// One file a table, in the order in which they are listed.
const TABLES: [&str; 16] = [
    include_str!("tables/bmad-spec.yaml"),
    include_str!("tables/bmad-story.yaml"),
    include_str!("tables/bmad-epic.yaml"),
    include_str!("tables/bmad-retrospective.yaml"),
    include_str!("tables/bmad-document.yaml"),
    include_str!("tables/bmad-prd.yaml"),
    include_str!("tables/bmad-research.yaml"),
    include_str!("tables/bmad-prfaq.yaml"),
    include_str!("tables/d4-ticket.yaml"),
    include_str!("tables/task.yaml"),
    include_str!("tables/asdd-slice.yaml"),
    include_str!("tables/hivemind-graph.yaml"),
    include_str!("tables/hivemind-flow.yaml"),
    include_str!("tables/hivemind-task.yaml"),
    include_str!("tables/cc-task.yaml"),
    include_str!("tables/autodev-step.yaml"),
];

static BUILT_IN: LazyLock<Vec<DeclaredLifecycle>> =
    LazyLock::new(|| TABLES.iter().map(|table| read(table)).collect());

#[expect(clippy::expect_used, reason = "the tables are files of this crate, and a test reads each")]
fn read(table: &str) -> DeclaredLifecycle {
    let declaration: LifecycleDeclaration =
        from_region(table.as_bytes(), &Region::WholeFile).expect("a built-in table is read");
    let applies_to = Condition::assemble(&declaration).expect("a built-in condition says something");
    let lifecycle = Lifecycle::assemble(&declaration).expect("a built-in table is well formed");
    DeclaredLifecycle { lifecycle: Arc::new(lifecycle), applies_to }
}

/// The tables that come with stepmark, with the artifacts that they apply to.
pub(super) fn tables() -> &'static [DeclaredLifecycle] {
    &BUILT_IN
}

/// The table of this name that comes with stepmark: `bmad-spec`, `bmad-story`, `bmad-epic`,
/// `bmad-retrospective`, `bmad-document`, `bmad-prd`, `bmad-research`, `bmad-prfaq`, `d4-ticket`, `task`,
/// `asdd-slice`, `hivemind-graph`, `hivemind-flow`, `hivemind-task`, `cc-task`, `autodev-step`.
pub fn built_in(name: &str) -> Option<&'static Arc<Lifecycle>> {
    tables().iter().map(|table| &table.lifecycle).find(|lifecycle| lifecycle.name() == name)
}
