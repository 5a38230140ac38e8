//! Chains of the step files of BMAD, and what else its files tell of a workflow.

use super::{
    step_file::{OUTPUT_KEYS, WorkflowFile},
    step_file::{add_key_edges, add_unwritten_edges},
};
use crate::{
    artifact::ProjectPath,
    workflow::{
        Chain, ChainDiagnosis, EdgeKind, Graph, MAX_STEPS, OutputPattern, Recording, Route, RoutePosition,
        Step, StepId, Track, WorkflowDefinition, WorkflowDetail, WorkflowOutline, mark_loops, start,
    },
};

impl Chain {
    /// Builds the chain of the step files of one folder.
    ///
    /// Successors come, for each step, from the first of these that gives one: the keys `nextStep…`; the
    /// nearest later step of the same folder that its prose links to; the numbers in the names. `alt…`,
    /// `alternate…` and `skipTo…` keys add alternatives, `continue…` and `resume…` keys the way back into the
    /// workflow.
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
        let mut steps: Vec<Step> = order
            .iter()
            .map(|(id, file)| Step {
                id: id.clone(),
                path: Some(file.path.clone()),
                recording: Recording::Expected,
            })
            .collect();
        let graph = graph_of(&steps, &files, workflow_folder, &mut diagnoses);
        let route = Route::through(&graph);
        mark_silent(&mut steps, &route, &files);
        diagnoses.extend(unreachable(&route, &files));
        Self::of(track, steps, (graph, route), diagnoses)
    }
}

/// Builds the graph of step files. `steps` and `files` run in parallel, in the order of the numbers.
fn graph_of(
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
    // An unwritten edge may turn a written one into a loop, which leaves another step without a successor:
    // repeat. Each step gets its turn once.
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

/// Marks the steps that never name `stepsCompleted`, where more than half of the steps on the route do.
fn mark_silent(steps: &mut [Step], route: &Route, files: &[&WorkflowFile<'_>]) {
    let names_list: Vec<bool> = files.iter().map(|file| file.body.contains("stepsCompleted")).collect();
    let on_route = |at: &usize| matches!(route.places[*at], RoutePosition::Unit(_));
    let way: Vec<usize> = (0..steps.len()).filter(on_route).collect();
    let naming = way.iter().filter(|at| names_list[**at]).count();
    if naming * 2 > way.len() {
        for (step, names_list) in steps.iter_mut().zip(names_list) {
            step.recording = if names_list { Recording::Expected } else { Recording::Silent };
        }
    }
}

/// The steps that nothing leads to. One that the prose of a reachable step names is none of them: it is part
/// of that step's work, as the sub-agent files of the test architecture module.
fn unreachable<'r>(
    route: &'r Route,
    files: &'r [&WorkflowFile<'_>],
) -> impl Iterator<Item = ChainDiagnosis> + 'r {
    let reachable = || files.iter().zip(&route.places).filter(|(_, place)| place.rank().is_some());
    files.iter().zip(&route.places).filter_map(move |(file, place)| {
        let named = || reachable().any(|(other, _)| other.body.contains(file.path.file_name()));
        let is_unreachable = *place == RoutePosition::Unreachable && !named();
        is_unreachable.then(|| ChainDiagnosis::Unreachable { step: file.path.file_stem().to_owned() })
    })
}

impl WorkflowDefinition {
    pub fn from_files(outline: &WorkflowOutline, track: Track, steps: &[WorkflowFile<'_>]) -> Self {
        let chain = Chain::from_files(track, &outline.folder, steps);
        Self { name: outline.name(), chain, siblings: outline.siblings(track) }
    }
}

impl WorkflowDetail {
    /// Reads entries and steps of the workflow of `outline`.
    ///
    /// Output comes from the keys `outputFile`, `default_output_file`, `output_file`, `wipFile` and
    /// `progressFile`, and from a line of an entry that names `default_output_file` (architecture and UX have
    /// no such key).
    pub fn read(outline: &WorkflowOutline, files: &[WorkflowFile<'_>]) -> Self {
        let mut detail = Self::default();
        for file in files {
            let is_entry = outline.entries.contains(&file.path);
            if let Some(name) = file.key("name").filter(|name| is_entry && !name.trim().is_empty()) {
                detail.add_name(name.trim());
            }
            let keys = file.keys.iter().filter(|(key, _)| OUTPUT_KEYS.contains(&key.as_str()));
            keys.for_each(|(_, value)| detail.add_output(value));
            if is_entry {
                let lines = file.body.lines().filter(|line| line.contains("default_output_file"));
                let quoted = lines.flat_map(|line| line.split('`'));
                quoted.for_each(|value| detail.add_output(value));
            }
        }
        detail
    }

    fn add_name(&mut self, name: &str) {
        if !self.names.iter().any(|own| own == name) {
            self.names.push(name.to_owned());
        }
    }

    fn add_output(&mut self, value: &str) {
        if let Some(pattern) = OutputPattern::parse(value).filter(|pattern| !self.outputs.contains(pattern)) {
            self.outputs.push(pattern);
        }
    }
}
