//! The lifecycle of an artifact, chosen by [`Lifecycles::choose`]. Tables and their laws are in `packs`.

use std::{
    cell::OnceCell,
    fmt,
    sync::{Arc, LazyLock},
};

use crate::{
    artifact::{Artifact, Delegation, ProjectPath},
    spelling::folded,
};
use memchr::memmem;
use stepmark_frontmatter::KeyPath;
use stepmark_packs::{
    Kind, PackKind, PathGlob,
    lifecycle::{ANY, ConditionDeclaration},
    scalar::{Name, OneOrMore},
};

pub use stepmark_packs::lifecycle::{
    Attributes, ChangeRefusal, Counter, CounterLimit, Guard, KeyUpdate, Lasting, Lifecycle,
    LifecycleDeclaration, LifecycleError, LifecycleProblem, LifecycleState, Move, MoveDecision, MoveFacts,
    MoveRefusal, Once, Roles, RootKeys,
};

#[derive(Clone, Debug)]
pub struct DeclaredLifecycle {
    pub lifecycle: Arc<Lifecycle>,
    pub applies_to: Vec<Condition>,
    pub kind: Option<Arc<Kind>>,
}

#[derive(Clone, Debug, Default)]
pub struct Lifecycles {
    declared: Vec<DeclaredLifecycle>,
}

#[derive(Clone, Debug)]
pub struct Choice {
    pub lifecycle: Arc<Lifecycle>,
    pub kind: Option<Arc<Kind>>,
    /// Of another pack that claims the artifact, too.
    pub rival: Option<Arc<Kind>>,
    pub source: LifecycleSource,
    /// Never empty.
    pub evidence: Vec<ConditionMatch>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifecycleSource {
    Declared,
    ArtifactType,
}

impl fmt::Display for Choice {
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
    pub fn of_kind(kind: &PackKind) -> Result<Option<Self>, LifecycleError> {
        let Some(lifecycle) = &kind.kind.lifecycle else { return Ok(None) };
        let applies_to = Condition::assemble(lifecycle.name(), &kind.applies_to)?;
        let kind = Some(Arc::clone(&kind.kind));
        Ok(Some(Self { lifecycle: Arc::clone(lifecycle), applies_to, kind }))
    }

    /// The lifecycle of stories, for `files`.
    pub fn of_stories(files: PathGlob) -> Option<Self> {
        let applies_to = vec![Condition { paths: vec![files], ..Condition::default() }];
        Some(Self { lifecycle: Arc::clone(built_in("bmad-story")?), applies_to, kind: None })
    }

    /// By path alone.
    pub fn may_apply_at(&self, path: &ProjectPath) -> bool {
        let may_fit =
            |own: &Condition| own.paths.is_empty() || own.paths.iter().any(|glob| glob.matches(path));
        self.applies_to.iter().any(may_fit)
    }
}

impl Lifecycles {
    pub const fn new(declared: Vec<DeclaredLifecycle>) -> Self {
        Self { declared }
    }

    pub fn declared(&self) -> &[DeclaredLifecycle] {
        &self.declared
    }

    /// Declared ones first, then built-in ones.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Lifecycle>> {
        let declared = self.declared.iter().map(|declared| &declared.lifecycle);
        let is_new = |table: &&DeclaredLifecycle| {
            !self.declared.iter().any(|declared| declared.lifecycle.name() == table.lifecycle.name())
        };
        let built_in = tables().iter().filter(is_new);
        declared.chain(built_in.map(|table| &table.lifecycle))
    }

    /// Almost always false; then none need be chosen.
    pub fn judge_changes(&self) -> bool {
        self.declared.iter().chain(tables()).any(|table| table.lifecycle.judges_changes())
    }

    pub fn get(&self, name: &str) -> Option<&Arc<Lifecycle>> {
        self.all().find(|lifecycle| lifecycle.name() == name)
    }

    pub fn is_recorded(&self, artifact: &Artifact) -> bool {
        self.choose(artifact).and_then(|choice| choice.kind).is_some_and(|kind| kind.is_recorded)
    }

    /// The first declared one, else that of the artifact's type. A status alone is no evidence: `complete` in
    /// a PRD belongs to no table.
    pub fn choose(&self, artifact: &Artifact) -> Option<Choice> {
        let subject = ConditionInput::new(artifact);
        let fits = |table: &DeclaredLifecycle, source: LifecycleSource| {
            let evidence = table.applies_to.iter().find_map(|condition| condition.evidence(&subject))?;
            let (lifecycle, kind) = (Arc::clone(&table.lifecycle), table.kind.clone());
            Some(Choice { lifecycle, kind, rival: None, source, evidence })
        };
        let mut declared = self.declared.iter().filter_map(|table| fits(table, LifecycleSource::Declared));
        let Some(first) = declared.next() else {
            return tables().iter().find_map(|table| fits(table, LifecycleSource::ArtifactType));
        };
        let own = first.kind.as_ref().map(|kind| &kind.system);
        let mut others = declared.filter_map(|other| other.kind).filter(|_| own.is_some());
        let rival = others.find(|other| Some(&other.system) != own);
        Some(Choice { rival, ..first })
    }
}

static BUILT_IN: LazyLock<Vec<DeclaredLifecycle>> = LazyLock::new(|| {
    let kinds = stepmark_packs::built_in().flat_map(|pack| &pack.kinds);
    kinds.filter_map(|kind| DeclaredLifecycle::of_kind(kind).ok().flatten()).collect()
});

fn tables() -> &'static [DeclaredLifecycle] {
    &BUILT_IN
}

pub fn built_in(name: &str) -> Option<&'static Arc<Lifecycle>> {
    tables().iter().map(|table| &table.lifecycle).find(|lifecycle| lifecycle.name() == name)
}

/// All parts must hold.
#[derive(Clone, Debug, Default)]
pub struct Condition {
    paths: Vec<PathGlob>,
    workflow_types: Vec<String>,
    /// `None`: any value.
    keys: Vec<(String, Option<Vec<String>>)>,
    heading: Option<String>,
    delegated: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionMatch {
    Path(String),
    WorkflowType(String),
    Key(String),
    KeyValue(String, String),
    Heading(String),
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

impl Choice {
    pub fn guide<'s>(&self, state: &'s LifecycleState, artifact: &Artifact) -> Option<&'s str> {
        let own = state.read.iter().find(|own| is_for(own.when.as_ref(), artifact))?;
        Some(&own.file.0)
    }

    pub fn once<'s>(&self, state: &'s LifecycleState, artifact: &Artifact) -> Option<(&'s str, Once)> {
        let own = state.once.iter().find(|own| is_for(own.when.as_ref(), artifact))?;
        Some((&own.key.0, own.value))
    }
}

fn is_for(when: Option<&ConditionDeclaration>, artifact: &Artifact) -> bool {
    when.is_none_or(|when| Condition::of(when).evidence(&ConditionInput::new(artifact)).is_some())
}

/// Parsed on first use.
struct ConditionInput<'a> {
    artifact: &'a Artifact,
    keys: OnceCell<RootKeys>,
}

impl<'a> ConditionInput<'a> {
    const fn new(artifact: &'a Artifact) -> Self {
        Self { artifact, keys: OnceCell::new() }
    }

    /// Fast path: most frontmatter lacks the key and is not parsed.
    fn may_have(&self, key: &str) -> bool {
        let state = self.artifact.state_span().map(|span| &self.artifact.bytes()[span.range()]);
        state.is_some_and(|state| memmem::find(state, key.as_bytes()).is_some())
    }

    fn keys(&self) -> &RootKeys {
        self.keys.get_or_init(|| self.artifact.root_keys())
    }
}

impl Condition {
    fn evidence(&self, subject: &ConditionInput<'_>) -> Option<Vec<ConditionMatch>> {
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
    fn assemble(name: &str, declared: &[ConditionDeclaration]) -> Result<Vec<Self>, LifecycleError> {
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

#[cfg(test)]
mod cases;
#[cfg(test)]
mod change_cases;
