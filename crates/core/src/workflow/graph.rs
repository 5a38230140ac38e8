//! Which step leads to which: edges from keys, prose and numbers, with loops told apart.

use crate::artifact::ProjectPath;

use super::{
    ChainDiagnosis, Edge, EdgeKind, EdgeSource, Step, StepNumber, StepSource,
    reference::{self, Reference, ReferenceBase},
};

/// The edges of a chain. Those of the kinds `Next` and `Alternative` are free of cycles.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    /// For each step its edges, regular successors first in the order of the file.
    pub(super) edges: Vec<Vec<Edge>>,
    /// The steps that only take a later session back into the workflow.
    pub(super) resume: Vec<bool>,
    /// The first steps: one, or several to choose from.
    pub(super) start: Vec<usize>,
}

impl Graph {
    /// `count` steps, each leading to the next one.
    pub(super) fn sequence(count: usize) -> Self {
        let edge = |to| Edge { to, kind: EdgeKind::Next, source: EdgeSource::Declared };
        let edges = (0..count).map(|at| (at + 1 < count).then(|| edge(at + 1)).into_iter().collect()).collect();
        Self { edges, resume: vec![false; count], start: (0..count).take(1).collect() }
    }

    /// Where `step` leads by edges of `kind`.
    pub(super) fn targets(&self, step: usize, kind: EdgeKind) -> impl Iterator<Item = usize> {
        self.edges[step].iter().filter(move |edge| edge.kind == kind).map(|edge| edge.to)
    }

    /// Where `step` leads onward: to its regular successors and its alternatives.
    pub(super) fn onward(&self, step: usize) -> impl Iterator<Item = usize> {
        self.edges[step].iter().filter(|edge| is_onward(edge)).map(|edge| edge.to)
    }

    /// Every step to which `step` leads onward, however far; the step itself is not among them.
    pub(super) fn reachable_from(&self, step: usize) -> Vec<bool> {
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

    /// `steps` without those that another of them leads to: what remains are alternatives to each other.
    pub(super) fn nearest_of(&self, mut steps: Vec<usize>) -> Vec<usize> {
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

/// Builds the graph of step files. `steps` and `sources` run in parallel, in the order of the numbers.
pub(super) fn from_sources(
    steps: &[Step],
    sources: &[&StepSource<'_>],
    workflow_folder: &ProjectPath,
    diagnoses: &mut Vec<ChainDiagnosis>,
) -> Graph {
    let resume = steps.iter().map(|step| step.id.is_resume()).collect();
    let mut graph = Graph { edges: vec![Vec::new(); steps.len()], resume, start: Vec::new() };
    for (at, source) in sources.iter().enumerate() {
        add_key_edges(&mut graph, at, steps, source, workflow_folder, diagnoses);
    }
    // Nothing goes on to a resume step, and nothing after it belongs to the chain's order.
    for at in 0..steps.len() {
        let leaves_resume = graph.resume[at];
        let resume = &graph.resume;
        graph.edges[at].retain(|edge| edge.kind == EdgeKind::Resume || (!leaves_resume && !resume[edge.to]));
    }
    mark_loops(&mut graph, steps, diagnoses);
    // An unwritten edge may turn a written one into a loop, which leaves another step without a successor: repeat.
    // Each step gets its turn once.
    let mut served = graph.resume.clone();
    loop {
        let open: Vec<usize> = (0..steps.len())
            .filter(|at| !served[*at] && graph.targets(*at, EdgeKind::Next).next().is_none())
            .collect();
        if open.is_empty() {
            break;
        }
        // From the end: the successors of a candidate are known when alternatives are told from a sequence.
        for at in open.into_iter().rev() {
            served[at] = true;
            add_unwritten_edges(&mut graph, at, steps, sources[at], workflow_folder);
        }
        mark_loops(&mut graph, steps, diagnoses);
    }
    graph.start = start(&graph, steps);
    graph
}

/// What a frontmatter key says about successors.
///
/// `nextStep…` covers `nextStepFile`, `nextStepFile_modeA`, `nextStepFileExpert`; `alt…` covers `altStepFile` and
/// `alternateNextStepFile` (FORMATS.md, "Step files and chains"); `skipToStepFile` and `resumeStepFile` were seen in
/// alpha.22's tech-spec workflow and in the test architecture module.
fn role(key: &str) -> Option<EdgeKind> {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| key.starts_with(prefix));
    if starts(&["nextStep"]) {
        Some(EdgeKind::Next)
    } else if starts(&["altStep", "altNextStep", "alternateStep", "alternateNextStep", "skipToStep"]) {
        Some(EdgeKind::Alternative)
    } else if starts(&["continueStep", "resumeStep"]) {
        Some(EdgeKind::Resume)
    } else {
        None
    }
}

fn add_key_edges(
    graph: &mut Graph,
    at: usize,
    steps: &[Step],
    source: &StepSource<'_>,
    workflow_folder: &ProjectPath,
    diagnoses: &mut Vec<ChainDiagnosis>,
) {
    let base = ReferenceBase { own_folder: source.path.parent(), workflow_folder };
    let step = || steps[at].name().to_owned();
    for (key, value) in &source.keys {
        let Some(kind) = role(key) else { continue };
        if value.trim().is_empty() {
            continue;
        }
        let (step, key, value) = (step(), key.clone(), value.clone());
        let found = read_key(&value, &base).map(|reference| look_up(&reference, steps));
        let to = match found {
            Some(LookUp::Exact(to)) => to,
            Some(LookUp::ByName(to)) => {
                let found = steps[to].name().to_owned();
                diagnoses.push(ChainDiagnosis::SuccessorByName { step, key: key.clone(), value, found });
                to
            }
            Some(LookUp::Elsewhere) => {
                diagnoses.push(ChainDiagnosis::SuccessorElsewhere { step, key, value });
                continue;
            }
            Some(LookUp::Missing) | None => {
                diagnoses.push(ChainDiagnosis::SuccessorMissing { step, key, value });
                continue;
            }
        };
        if to == at {
            diagnoses.push(ChainDiagnosis::SuccessorIsItself { step: steps[at].name().to_owned(), key });
            continue;
        }
        graph.resume[to] |= kind == EdgeKind::Resume;
        graph.edges[at].push(Edge { to, kind, source: EdgeSource::Key(key.into()) });
    }
}

/// A key may leave the extension out; prose must not, for it would be any word.
fn read_key(value: &str, base: &ReferenceBase<'_>) -> Option<Reference> {
    reference::read(value, base).or_else(|| reference::read(&format!("{}.md", value.trim()), base))
}

enum LookUp {
    Exact(usize),
    /// Another path, but the folder's name (if any) and the file's name are right.
    ByName(usize),
    /// The path is clear and leads to another folder.
    Elsewhere,
    Missing,
}

fn look_up(reference: &Reference, steps: &[Step]) -> LookUp {
    let at = |wanted: &dyn Fn(&ProjectPath) -> bool| {
        steps.iter().position(|step| step.path.as_ref().is_some_and(wanted))
    };
    if let Some(step) = reference.path.as_ref().and_then(|path| at(&|own| own == path)) {
        return LookUp::Exact(step);
    }
    let own_folder = steps.iter().find_map(|step| step.path.as_ref()?.parent());
    let same_folder = match (&reference.folder, &own_folder) {
        (Some(folder), Some(own)) => folder == own.file_name(),
        _ => true,
    };
    if !same_folder {
        return if reference.path.is_some() { LookUp::Elsewhere } else { LookUp::Missing };
    }
    at(&|own| own.file_name() == reference.file_name).map_or(LookUp::Missing, LookUp::ByName)
}

/// Adds the successors that no key names: from prose, else from numbers.
fn add_unwritten_edges(
    graph: &mut Graph,
    at: usize,
    steps: &[Step],
    source: &StepSource<'_>,
    workflow_folder: &ProjectPath,
) {
    let base = ReferenceBase { own_folder: source.path.parent(), workflow_folder };
    let linked = reference::links(source.body)
        .filter_map(|link| reference::read(link, &base))
        .filter_map(|reference| match look_up(&reference, steps) {
            LookUp::Exact(to) | LookUp::ByName(to) => Some(to),
            LookUp::Elsewhere | LookUp::Missing => None,
        })
        // What a key has named already is an alternative or a way back, not the regular successor.
        .filter(|to| *to != at && !graph.resume[*to] && graph.edges[at].iter().all(|edge| edge.to != *to))
        .collect::<Vec<_>>();
    let own = steps[at].id.number();
    let later = linked.iter().copied().filter(|to| steps[*to].id.number() > own);
    let mut next = graph.nearest_of(nearest_group(later.collect(), steps));
    let mut from = EdgeSource::Prose;
    if let (true, Some(own)) = (next.is_empty(), own) {
        from = EdgeSource::Numbering;
        let aside = |number: StepNumber| is_alternative(own, steps) && same_step(number, own);
        let later = (0..steps.len()).filter(|to| {
            !graph.resume[*to] && steps[*to].id.number().is_some_and(|number| number > own && !aside(number))
        });
        next = graph.nearest_of(nearest_group(later.collect(), steps));
    }
    let edges = &mut graph.edges[at];
    edges.extend(next.into_iter().map(|to| Edge { to, kind: EdgeKind::Next, source: from.clone() }));
    // `step-oneshot`: a step without a number that prose names is a way beside the numbered ones.
    let unnumbered = linked.into_iter().filter(|to| own.is_some() && steps[*to].id.number().is_none());
    for to in unnumbered {
        if edges.iter().all(|edge| edge.to != to) {
            edges.push(Edge { to, kind: EdgeKind::Alternative, source: EdgeSource::Prose });
        }
    }
    edges.sort_by_key(|edge| edge.kind != EdgeKind::Next);
}

/// Of `later`, the steps with the lowest number. A letter without a plain number beside it (02a–02d with no 02) is
/// one of several alternatives, so all of these are returned; with one (02, 02b, 02c) the letters are a sequence.
fn nearest_group(later: Vec<usize>, steps: &[Step]) -> Vec<usize> {
    let Some(lowest) = later.iter().filter_map(|at| steps[*at].id.number()).min() else { return Vec::new() };
    let together = is_alternative(lowest, steps);
    let belongs = |number: StepNumber| number == lowest || (together && same_step(number, lowest));
    later.into_iter().filter(|at| steps[*at].id.number().is_some_and(belongs)).collect()
}

/// Whether `number` has a letter, and no step has the same number without one.
pub(super) fn is_alternative(number: StepNumber, steps: &[Step]) -> bool {
    let plain = StepNumber { letter: None, ..number };
    number.letter.is_some() && steps.iter().all(|step| step.id.number() != Some(plain))
}

/// Whether two numbers differ at most in their letters.
pub(super) fn same_step(a: StepNumber, b: StepNumber) -> bool {
    (a.major, a.minor) == (b.major, b.minor)
}

fn is_onward(edge: &Edge) -> bool {
    matches!(edge.kind, EdgeKind::Next | EdgeKind::Alternative)
}

/// Turns every onward edge that closes a cycle into a loop, by a depth-first walk in the order of the steps.
fn mark_loops(graph: &mut Graph, steps: &[Step], diagnoses: &mut Vec<ChainDiagnosis>) {
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
                    let (from, to) = (steps[at].name().to_owned(), steps[next.to].name().to_owned());
                    diagnoses.push(ChainDiagnosis::Loop { from, to });
                }
                Mark::Done => {}
            }
        }
    }
}

/// The lowest number; where no step has one, the steps to which nothing leads.
fn start(graph: &Graph, steps: &[Step]) -> Vec<usize> {
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
