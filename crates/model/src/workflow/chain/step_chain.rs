//! The steps of one track of a workflow, and which follows which.

use crate::artifact::ProjectPath;

use crate::workflow::{ChainDiagnosis, StepId, Track, chain::graph::Graph, chain::graph::Route};

/// Most steps a chain may have; the largest one known has 22. What comes after is left out, with a diagnosis.
pub const MAX_STEPS: usize = 512;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The step's name: its file's stem, or the name that the configuration declares.
    pub id: StepId,
    /// The file to read for this step; `None` where the configuration declares the step without a file.
    pub path: Option<ProjectPath>,
    pub recording: Recording,
}

impl Step {
    /// The name as it goes into a list that holds names: the file's stem.
    pub fn name(&self) -> &str {
        self.path.as_ref().map_or_else(|| self.id.spelling(), ProjectPath::file_stem)
    }
}

/// The expectation that a step, by its own text, records itself in `stepsCompleted`.
///
/// Upstream leaves some steps out: `step-04-generate-tests` of the test architecture module hands over to
/// `step-04c-aggregate`, which alone is recorded. Passing such a step without an entry is no gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Recording {
    /// The step's file names `stepsCompleted`, or nothing is known about it.
    Expected,
    /// The step's file never names `stepsCompleted`, while most files of its chain do.
    Silent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum EdgeKind {
    Next,
    /// A way that is taken in special cases: `altStepFile`, `alternateNextStepFile`, `skipToStepFile`.
    Alternative,
    /// The step that takes a later session back into the workflow: `continueStepFile`, `resumeStepFile`.
    Resume,
    /// A regular successor that leads back to a step which leads here.
    Loop,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum EdgeSource {
    /// A frontmatter key of the step file, such as `nextStepFile`.
    Key(Box<str>),
    Prose,
    Numbering,
    /// The order of a declared list of steps.
    Declared,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    /// Index of the step it leads to.
    pub(crate) to: usize,
    pub(crate) kind: EdgeKind,
    pub(crate) source: EdgeSource,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit<'chain> {
    Step(&'chain Step),
    /// One of several steps is done, at the person's choice (02a–02d of brainstorming).
    Choice(Vec<&'chain Step>),
}

/// The steps of one track of a workflow, in order, with what leads where.
///
/// A chain is always usable: whatever is odd in the step files is kept as a [`ChainDiagnosis`]. Its route is
/// free of cycles, whatever the files say.
#[derive(Clone, Debug)]
pub struct Chain {
    track: Track,
    steps: Vec<Step>,
    graph: Graph,
    route: Route,
    diagnoses: Vec<ChainDiagnosis>,
}

impl Chain {
    /// Builds a chain from a declared list of step names, each leading to the next one.
    pub fn declared(track: Track, names: &[impl AsRef<str>]) -> Self {
        let mut diagnoses = Vec::new();
        if names.len() > MAX_STEPS {
            diagnoses.push(ChainDiagnosis::TooManySteps { found: names.len(), kept: MAX_STEPS });
        }
        let steps: Vec<Step> = names
            .iter()
            .take(MAX_STEPS)
            .map(|name| Step { id: StepId::parse(name.as_ref()), path: None, recording: Recording::Expected })
            .collect();
        let graph = Graph::sequence(steps.len());
        let route = Route::through(&graph);
        Self::of(track, steps, (graph, route), diagnoses)
    }

    pub(crate) fn of(
        track: Track,
        steps: Vec<Step>,
        (graph, route): (Graph, Route),
        diagnoses: Vec<ChainDiagnosis>,
    ) -> Self {
        Self { track, steps, graph, route, diagnoses }
    }

    pub fn track(&self) -> Track {
        self.track
    }

    /// Every step, resume steps and unreachable ones included, in the order of their numbers.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The units of progress in order: what a run from the start to the end does.
    pub fn units(&self) -> impl ExactSizeIterator<Item = Unit<'_>> {
        self.route.units.iter().map(|unit| match unit.members.as_slice() {
            [step] => Unit::Step(&self.steps[*step]),
            members => Unit::Choice(members.iter().map(|step| &self.steps[*step]).collect()),
        })
    }

    pub fn diagnoses(&self) -> &[ChainDiagnosis] {
        &self.diagnoses
    }

    pub(crate) fn index_of(&self, step: &Step) -> Option<usize> {
        self.steps.iter().position(|own| std::ptr::eq(own, step) || own == step)
    }

    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    pub(crate) fn route(&self) -> &Route {
        &self.route
    }
}
