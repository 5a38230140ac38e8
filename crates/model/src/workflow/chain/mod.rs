//! The steps of one track of a workflow, with their order.

use crate::{
    artifact::ProjectPath,
    workflow::{StepId, StepNumber, Track},
};

/// `Next` and `Alternative` edges have no cycles.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    /// Per step; regular successors first, in file order.
    pub(crate) edges: Vec<Vec<Edge>>,
    /// Steps that only lead a later session back into the workflow.
    pub(crate) resume: Vec<bool>,
    pub(crate) start: Vec<usize>,
}

impl Graph {
    pub(crate) fn sequence(count: usize) -> Self {
        let edge = |to| Edge { to, kind: EdgeKind::Next, source: EdgeSource::Declared };
        let edges =
            (0..count).map(|at| (at + 1 < count).then(|| edge(at + 1)).into_iter().collect()).collect();
        Self { edges, resume: vec![false; count], start: (0..count).take(1).collect() }
    }

    pub(crate) fn targets(&self, step: usize, kind: EdgeKind) -> impl Iterator<Item = usize> {
        self.edges[step].iter().filter(move |edge| edge.kind == kind).map(|edge| edge.to)
    }

    pub(crate) fn onward(&self, step: usize) -> impl Iterator<Item = usize> {
        self.edges[step].iter().filter(|edge| is_onward(edge)).map(|edge| edge.to)
    }

    /// Transitive, without the step itself.
    pub(crate) fn reachable_from(&self, step: usize) -> Vec<bool> {
        let mut reached = vec![false; self.edges.len()];
        let mut open = vec![step];
        while let Some(at) = open.pop() {
            for to in self.onward(at) {
                if !std::mem::replace(&mut reached[to], true) {
                    open.push(to);
                }
            }
        }
        reached
    }

    /// Removes steps that follow another one: the rest are alternatives.
    pub(crate) fn nearest_of(&self, mut steps: Vec<usize>) -> Vec<usize> {
        steps.sort_unstable();
        steps.dedup();
        if steps.len() < 2 {
            return steps;
        }
        let mut later = vec![false; self.edges.len()];
        for step in &steps {
            for (at, reached) in self.reachable_from(*step).into_iter().enumerate() {
                later[at] |= reached;
            }
        }
        steps.retain(|step| !later[*step]);
        steps
    }
}

fn is_onward(edge: &Edge) -> bool {
    matches!(edge.kind, EdgeKind::Next | EdgeKind::Alternative)
}

/// Depth-first, in the order of steps: an edge that closes a cycle becomes a loop.
pub(crate) fn mark_loops(graph: &mut Graph, steps: &[Step], diagnoses: &mut Vec<ChainDiagnosis>) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        Fresh,
        OnWay,
        Done,
    }
    let mut marks = vec![Mark::Fresh; graph.edges.len()];
    for root in 0..graph.edges.len() {
        let mut way = vec![(root, 0)];
        while let Some((at, edge)) = way.pop() {
            marks[at] = if marks[at] == Mark::Fresh { Mark::OnWay } else { marks[at] };
            if marks[at] == Mark::Done {
                continue;
            }
            let Some(next) = graph.edges[at].get_mut(edge) else {
                marks[at] = Mark::Done;
                continue;
            };
            way.push((at, edge + 1));
            if !is_onward(next) {
                continue;
            }
            match marks[next.to] {
                Mark::Fresh => way.push((next.to, 0)),
                Mark::OnWay => {
                    next.kind = EdgeKind::Loop;
                    // Prose may mention going back; a key is the way on.
                    if !matches!(next.source, EdgeSource::Key(_)) {
                        continue;
                    }
                    let (from, to) = (steps[at].name().to_owned(), steps[next.to].name().to_owned());
                    diagnoses.push(ChainDiagnosis::Loop { from, to });
                }
                Mark::Done => {}
            }
        }
    }
}

/// The lowest number; without numbers, steps without predecessors.
pub(crate) fn start(graph: &Graph, steps: &[Step]) -> Vec<usize> {
    let regular: Vec<usize> = (0..steps.len()).filter(|at| !graph.resume[*at]).collect();
    let lowest = nearest_group(regular.clone(), steps);
    if !lowest.is_empty() {
        return graph.nearest_of(lowest);
    }
    let mut entered = vec![false; steps.len()];
    for at in &regular {
        graph.onward(*at).for_each(|to| entered[to] = true);
    }
    regular.into_iter().filter(|at| !entered[*at]).collect()
}

/// Steps of `later` with the lowest number. Letters without a plain number (02a–02d, no 02) are alternatives,
/// and all returned; with one (02, 02b, 02c) they are a sequence.
pub(crate) fn nearest_group(later: Vec<usize>, steps: &[Step]) -> Vec<usize> {
    let Some(lowest) = later.iter().filter_map(|at| steps[*at].id.number()).min() else { return Vec::new() };
    let together = is_alternative(lowest, steps);
    let belongs = |number: StepNumber| number == lowest || (together && same_step(number, lowest));
    later.into_iter().filter(|at| steps[*at].id.number().is_some_and(belongs)).collect()
}

/// `number` has a letter, and no step has it without one.
pub(crate) fn is_alternative(number: StepNumber, steps: &[Step]) -> bool {
    let plain = StepNumber { letter: None, ..number };
    number.letter.is_some() && steps.iter().all(|step| step.id.number() != Some(plain))
}

pub(crate) fn same_step(a: StepNumber, b: StepNumber) -> bool {
    (a.major, a.minor) == (b.major, b.minor)
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainDiagnosis {
    #[error(
        "the frontmatter of `{step}` cannot be read ({reason}); what follows it comes from its prose or number"
    )]
    Unreadable { step: String, reason: String },
    #[error(
        "`{key}` of `{step}` names `{value}`, which is no step of this workflow; the next step comes from its prose or number instead"
    )]
    SuccessorMissing { step: String, key: String, value: String },
    #[error(
        "`{key}` of `{step}` names the step itself; the next step comes from its prose or number instead"
    )]
    SuccessorIsItself { step: String, key: String },
    /// The key's value leads elsewhere, or has an unknown variable; the file name matched.
    #[error("`{key}` of `{step}` names `{value}`; taken as `{found}`, the step of that file name")]
    SuccessorByName { step: String, key: String, value: String, found: String },
    #[error("`{key}` of `{step}` leads out of its steps, to `{value}`")]
    SuccessorElsewhere { step: String, key: String, value: String },
    /// The order ignores that edge.
    #[error("`{from}` leads back to `{to}`")]
    Loop { from: String, to: String },
    #[error("nothing leads to `{step}` from the first step")]
    Unreachable { step: String },
    #[error("{found} steps were found and the first {kept} are used")]
    TooManySteps { found: usize, kept: usize },
}

#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) units: Vec<RouteUnit>,
    pub(crate) places: Vec<RoutePosition>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RouteUnit {
    pub(crate) members: Vec<usize>,
    /// Some path skips it.
    pub(crate) may_be_passed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RoutePosition {
    Unit(usize),
    /// Off the route: an alternative, entered from the unit of this index.
    Aside(usize),
    /// Only leads a later session back into the workflow.
    Resume,
    Unreachable,
}

impl RoutePosition {
    /// Comparable between units and asides; `None` off the route.
    pub(crate) fn rank(self) -> Option<usize> {
        match self {
            Self::Unit(unit) => Some(2 * unit),
            Self::Aside(unit) => Some(2 * unit + 1),
            Self::Resume | Self::Unreachable => None,
        }
    }
}

impl Route {
    /// Follows regular successors.
    ///
    /// Several successors are one unit, a choice, if none leads to another; the route goes on at the first
    /// step after all of them. Otherwise (quick-dev's two modes) the longer path is the route, and steps that
    /// the shorter one skips are optional.
    pub(crate) fn through(graph: &Graph) -> Self {
        let count = graph.edges.len();
        let mut places: Vec<RoutePosition> = graph
            .resume
            .iter()
            .map(|resume| if *resume { RoutePosition::Resume } else { RoutePosition::Unreachable })
            .collect();
        let mut units: Vec<RouteUnit> = Vec::new();
        let mut ahead = graph.nearest_of(graph.start.clone());
        // Onward edges have no cycles, so each turn takes new steps; the bound is a safeguard.
        while !ahead.is_empty() && units.len() < count {
            for step in &ahead {
                places[*step] = RoutePosition::Unit(units.len());
            }
            let next = match ahead.as_slice() {
                [step] => graph.nearest_of(graph.targets(*step, EdgeKind::Next).collect()),
                members => junction(graph, members).into_iter().collect(),
            };
            units.push(RouteUnit { members: ahead, may_be_passed: false });
            ahead = next;
        }
        let mut route = Self { units, places };
        route.explore_asides(graph);
        route
    }

    fn explore_asides(&mut self, graph: &Graph) {
        for unit in 0..self.units.len() {
            let mut open = self.units[unit].members.clone();
            let mut seen = vec![false; graph.edges.len()];
            let mut farthest = unit;
            while let Some(at) = open.pop() {
                for to in graph.onward(at) {
                    match self.places[to] {
                        RoutePosition::Unit(reached) => farthest = farthest.max(reached),
                        RoutePosition::Aside(_) | RoutePosition::Unreachable
                            if !std::mem::replace(&mut seen[to], true) =>
                        {
                            self.places[to] = RoutePosition::Aside(unit);
                            open.push(to);
                        }
                        RoutePosition::Aside(_) | RoutePosition::Unreachable | RoutePosition::Resume => {}
                    }
                }
            }
            for passed in unit + 1..farthest {
                self.units[passed].may_be_passed = true;
            }
        }
    }
}

fn junction(graph: &Graph, members: &[usize]) -> Option<usize> {
    let reached: Vec<Vec<bool>> = members.iter().map(|member| graph.reachable_from(*member)).collect();
    let common = (0..graph.edges.len()).filter(|step| reached.iter().all(|from| from[*step])).collect();
    graph.nearest_of(common).into_iter().next()
}

/// The largest known chain has 22 steps. Others are dropped, with a diagnosis.
pub const MAX_STEPS: usize = 512;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Stem of its file, or declared name.
    pub id: StepId,
    /// `None` for steps declared in the configuration.
    pub path: Option<ProjectPath>,
    pub recording: Recording,
}

impl Step {
    /// As in lists of names: the file's stem.
    pub fn name(&self) -> &str {
        self.path.as_ref().map_or_else(|| self.id.spelling(), ProjectPath::file_stem)
    }
}

/// Does the step record itself in `stepsCompleted`?
///
/// Some do not: `step-04-generate-tests` of the test architecture module hands over to `step-04c-aggregate`,
/// which alone is recorded. Such a step is no gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Recording {
    /// The file names `stepsCompleted`, or nothing is known.
    Expected,
    /// The file never names it, while most files of the chain do.
    Silent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum EdgeKind {
    Next,
    /// `altStepFile`, `alternateNextStepFile`, `skipToStepFile`: in special cases.
    Alternative,
    /// `continueStepFile`, `resumeStepFile`: a later session returns here.
    Resume,
    Loop,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum EdgeSource {
    /// `nextStepFile`, for example.
    Key(Box<str>),
    Prose,
    Numbering,
    Declared,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) to: usize,
    pub(crate) kind: EdgeKind,
    pub(crate) source: EdgeSource,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit<'chain> {
    Step(&'chain Step),
    Choice(Vec<&'chain Step>),
}

/// Always usable: oddities of step files become [`ChainDiagnosis`]. The route has no cycles.
#[derive(Clone, Debug)]
pub struct Chain {
    track: Track,
    steps: Vec<Step>,
    graph: Graph,
    route: Route,
    diagnoses: Vec<ChainDiagnosis>,
}

impl Chain {
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

    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The route from start to end.
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

#[cfg(test)]
pub(crate) mod sample;
