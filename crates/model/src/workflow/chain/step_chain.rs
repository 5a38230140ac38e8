//! The steps of one track of a workflow, and which follows which.

use crate::artifact::ProjectPath;

use crate::workflow::{
    ChainDiagnosis, StepId, Track, WorkflowFile,
    chain::graph::{self, Graph},
    chain::route::{Route, RoutePosition},
};

/// Most steps a chain may have; the largest one known has 22. What comes after is left out, with a diagnosis.
pub const MAX_STEPS: usize = 512;

/// One step of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The step's name: its file's stem, or the name that the configuration declares.
    pub id: StepId,
    /// The file to read for this step; `None` where the configuration declares the step without a file.
    pub path: Option<ProjectPath>,
    /// Whether an artifact's list can be expected to name this step.
    pub recording: Recording,
}

impl Step {
    /// The name as it goes into a list that holds names: the file's stem.
    pub fn name(&self) -> &str {
        self.path.as_ref().map_or_else(|| self.id.spelling(), ProjectPath::file_stem)
    }
}

/// Whether a step, by its own text, records itself in `stepsCompleted`.
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

/// How one step leads to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EdgeKind {
    /// The regular successor.
    Next,
    /// A way that is taken in special cases: `altStepFile`, `alternateNextStepFile`, `skipToStepFile`.
    Alternative,
    /// The step that takes a later session back into the workflow: `continueStepFile`, `resumeStepFile`.
    Resume,
    /// A regular successor that leads back to a step which leads here.
    Loop,
}

/// Where the knowledge of a successor comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EdgeSource {
    /// A frontmatter key of the step file, such as `nextStepFile`.
    Key(Box<str>),
    /// A link in the step's prose.
    Prose,
    /// The numbers in the names alone.
    Numbering,
    /// The order of a declared list of steps.
    Declared,
}

/// One successor of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::workflow) struct Edge {
    /// Index of the step it leads to.
    pub(in crate::workflow) to: usize,
    /// How it leads there.
    pub(in crate::workflow) kind: EdgeKind,
    /// Who says so.
    pub(in crate::workflow) source: EdgeSource,
}

/// One successor of a step, as callers see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Successor<'chain> {
    /// The step that follows.
    pub step: &'chain Step,
    /// How it follows.
    pub kind: EdgeKind,
    /// Who says so.
    pub source: &'chain EdgeSource,
}

/// One unit of progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit<'chain> {
    /// A step.
    Step(&'chain Step),
    /// One of several steps is done, at the person's choice (02a–02d of brainstorming).
    Choice(Vec<&'chain Step>),
}

/// The steps of one track of a workflow, in order, with what leads where.
///
/// A chain is always usable: whatever is odd in the step files is kept as a [`ChainDiagnosis`]. Its route is free
/// of cycles, whatever the files say.
#[derive(Clone, Debug)]
pub struct Chain {
    track: Track,
    steps: Vec<Step>,
    graph: Graph,
    route: Route,
    diagnoses: Vec<ChainDiagnosis>,
}

impl Chain {
    /// Builds the chain of the step files of one folder.
    ///
    /// Successors come, for each step, from the first of these that gives one: the keys `nextStep…`; the nearest
    /// later step of the same folder that its prose links to; the numbers in the names. `alt…`, `alternate…` and
    /// `skipTo…` keys add alternatives, `continue…` and `resume…` keys the way back into the workflow.
    pub fn from_files(track: Track, workflow_folder: &ProjectPath, files: &[WorkflowFile<'_>]) -> Self {
        let mut order: Vec<(StepId, &WorkflowFile<'_>)> =
            files.iter().map(|file| (StepId::parse(file.path.file_stem()), file)).collect();
        order.sort_by(|(a, a_file), (b, b_file)| {
            let rank = |id: &StepId| (id.number().is_none(), id.number());
            rank(a).cmp(&rank(b)).then_with(|| a_file.path.cmp(&b_file.path))
        });
        let mut diagnoses = Vec::new();
        if order.len() > MAX_STEPS {
            diagnoses.push(ChainDiagnosis::TooManySteps { found: order.len(), kept: MAX_STEPS });
            order.truncate(MAX_STEPS);
        }
        let files: Vec<&WorkflowFile<'_>> = order.iter().map(|(_, file)| *file).collect();
        diagnoses.extend(files.iter().filter_map(|file| {
            let reason = file.unreadable.clone()?;
            Some(ChainDiagnosis::Unreadable { step: file.path.file_stem().to_owned(), reason })
        }));
        let steps: Vec<Step> = order
            .iter()
            .map(|(id, file)| Step {
                id: id.clone(),
                path: Some(file.path.clone()),
                recording: Recording::Expected,
            })
            .collect();
        let graph = graph::from_files(&steps, &files, workflow_folder, &mut diagnoses);
        let mut chain = Self::new(track, steps, graph, diagnoses);
        chain.mark_silent(&files);
        chain.diagnose_unreachable(&files);
        chain
    }

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
        Self::new(track, steps, graph, diagnoses)
    }

    fn new(track: Track, steps: Vec<Step>, graph: Graph, diagnoses: Vec<ChainDiagnosis>) -> Self {
        let route = Route::through(&graph);
        Self { track, steps, graph, route, diagnoses }
    }

    /// Marks the steps that never name `stepsCompleted`, where more than half of the steps on the route do.
    fn mark_silent(&mut self, files: &[&WorkflowFile<'_>]) {
        let names_list: Vec<bool> = files.iter().map(|file| file.body.contains("stepsCompleted")).collect();
        let on_route = |at: &usize| matches!(self.route.places[*at], RoutePosition::Unit(_));
        let route: Vec<usize> = (0..self.steps.len()).filter(on_route).collect();
        let naming = route.iter().filter(|at| names_list[**at]).count();
        if naming * 2 > route.len() {
            for (step, names_list) in self.steps.iter_mut().zip(names_list) {
                step.recording = if names_list { Recording::Expected } else { Recording::Silent };
            }
        }
    }

    /// Reports the steps that nothing leads to. One that the prose of a reachable step names is none of them: it is
    /// part of that step's work, as the sub-agent files of the test architecture module.
    fn diagnose_unreachable(&mut self, files: &[&WorkflowFile<'_>]) {
        let places = &self.route.places;
        let reachable = || files.iter().zip(places).filter(|(_, place)| place.rank().is_some());
        for (file, place) in files.iter().zip(places) {
            let named = || reachable().any(|(other, _)| other.body.contains(file.path.file_name()));
            if *place == RoutePosition::Unreachable && !named() {
                self.diagnoses.push(ChainDiagnosis::Unreachable { step: file.path.file_stem().to_owned() });
            }
        }
    }

    /// The mode of these steps.
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

    /// What the step files say follows `step`, best first; empty for a step of another chain.
    pub fn successors<'chain>(&'chain self, step: &Step) -> impl Iterator<Item = Successor<'chain>> {
        let edges = self.index_of(step).map_or(&[][..], |index| &self.graph.edges[index]);
        edges.iter().map(|edge| Successor {
            step: &self.steps[edge.to],
            kind: edge.kind,
            source: &edge.source,
        })
    }

    /// What is odd in the step files.
    pub fn diagnoses(&self) -> &[ChainDiagnosis] {
        &self.diagnoses
    }

    pub(in crate::workflow) fn index_of(&self, step: &Step) -> Option<usize> {
        self.steps.iter().position(|own| std::ptr::eq(own, step) || own == step)
    }

    pub(in crate::workflow) fn graph(&self) -> &Graph {
        &self.graph
    }

    pub(in crate::workflow) fn route(&self) -> &Route {
        &self.route
    }
}
