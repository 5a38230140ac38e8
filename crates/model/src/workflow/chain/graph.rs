//! Which step leads to which: edges from keys, prose and numbers, with loops told apart.

use crate::artifact::ProjectPath;

use crate::workflow::{
    ChainDiagnosis, Edge, EdgeKind, EdgeSource, Step, WorkflowFile,
    chain::successor::{add_key_edges, add_unwritten_edges, nearest_group},
};

/// The edges of a chain. Those of the kinds `Next` and `Alternative` are free of cycles.
#[derive(Clone, Debug)]
pub(in crate::workflow) struct Graph {
    /// For each step its edges, regular successors first in the order of the file.
    pub(in crate::workflow) edges: Vec<Vec<Edge>>,
    /// The steps that only take a later session back into the workflow.
    pub(in crate::workflow) resume: Vec<bool>,
    /// The first steps: one, or several to choose from.
    pub(in crate::workflow) start: Vec<usize>,
}

impl Graph {
    /// `count` steps, each leading to the next one.
    pub(in crate::workflow) fn sequence(count: usize) -> Self {
        let edge = |to| Edge { to, kind: EdgeKind::Next, source: EdgeSource::Declared };
        let edges =
            (0..count).map(|at| (at + 1 < count).then(|| edge(at + 1)).into_iter().collect()).collect();
        Self { edges, resume: vec![false; count], start: (0..count).take(1).collect() }
    }

    /// Where `step` leads by edges of `kind`.
    pub(in crate::workflow) fn targets(&self, step: usize, kind: EdgeKind) -> impl Iterator<Item = usize> {
        self.edges[step].iter().filter(move |edge| edge.kind == kind).map(|edge| edge.to)
    }

    /// Where `step` leads onward: to its regular successors and its alternatives.
    pub(in crate::workflow) fn onward(&self, step: usize) -> impl Iterator<Item = usize> {
        self.edges[step].iter().filter(|edge| is_onward(edge)).map(|edge| edge.to)
    }

    /// Every step to which `step` leads onward, however far; the step itself is not among them.
    pub(in crate::workflow) fn reachable_from(&self, step: usize) -> Vec<bool> {
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
    pub(in crate::workflow) fn nearest_of(&self, mut steps: Vec<usize>) -> Vec<usize> {
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

/// Builds the graph of step files. `steps` and `files` run in parallel, in the order of the numbers.
pub(in crate::workflow) fn from_files(
    steps: &[Step],
    files: &[&WorkflowFile<'_>],
    workflow_folder: &ProjectPath,
    diagnoses: &mut Vec<ChainDiagnosis>,
) -> Graph {
    let resume = steps.iter().map(|step| step.id.is_resume()).collect();
    let mut graph = Graph { edges: vec![Vec::new(); steps.len()], resume, start: Vec::new() };
    for (at, file) in files.iter().enumerate() {
        add_key_edges(&mut graph, at, steps, file, workflow_folder, diagnoses);
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
            add_unwritten_edges(&mut graph, at, steps, files[at], workflow_folder);
        }
        mark_loops(&mut graph, steps, diagnoses);
    }
    graph.start = start(&graph, steps);
    graph
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
                    // Prose may well speak of going back; a key is meant as the way on.
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
