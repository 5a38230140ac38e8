//! Markdown files of a workflow; the caller has read them.

use std::borrow::Cow;

use crate::{
    artifact::ProjectPath,
    workflow::{
        Chain, ChainDiagnosis, Edge, EdgeKind, EdgeSource, Graph, MAX_STEPS, OutputPattern, Recording, Route,
        RoutePosition, Step, StepId, StepNumber, Track, WorkflowDefinition, WorkflowDetail, WorkflowOutline,
        definition::{self, Reference, ReferenceBase},
        is_alternative, mark_loops, nearest_group, same_step, start,
    },
};
use stepmark_frontmatter::{Document, Frontmatter, Yaml};

pub(super) const OUTPUT_KEYS: [&str; 5] =
    ["outputFile", "default_output_file", "output_file", "wipFile", "progressFile"];

/// A step or an entry (`workflow.md`, `SKILL.md`).
#[derive(Clone, Debug)]
pub struct WorkflowFile<'text> {
    pub path: ProjectPath,
    /// Top-level scalars in file order, with repeated keys.
    pub keys: Vec<(String, String)>,
    pub body: Cow<'text, str>,
    /// `keys` is empty then.
    pub unreadable: Option<String>,
}

impl<'text> WorkflowFile<'text> {
    /// Never fails: 6.0.4 ships a file with invalid YAML (`'don\'t'`), whose chain is followed by prose and
    /// numbers.
    pub fn read(path: ProjectPath, bytes: &'text [u8]) -> Self {
        let document = Document::scan(bytes);
        let body = &bytes[document.body().range()];
        // Checking first is far faster than searching for replacements, which are rare.
        let body = std::str::from_utf8(body).map_or_else(|_| String::from_utf8_lossy(body), Cow::Borrowed);
        let (keys, unreadable) = match document.frontmatter() {
            Frontmatter::Absent => (Vec::new(), None),
            Frontmatter::Unclosed { .. } => {
                (Vec::new(), Some("the opening fence is never closed".to_owned()))
            }
            Frontmatter::Present { content, .. } => match Yaml::parse(bytes, content) {
                Ok(yaml) => (scalars(&yaml), None),
                Err(error) => (Vec::new(), Some(error.to_string())),
            },
        };
        Self { path, keys, body, unreadable }
    }

    pub(super) fn key(&self, key: &str) -> Option<&str> {
        self.keys.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}

fn scalars(yaml: &Yaml<'_>) -> Vec<(String, String)> {
    let entries = yaml.root().map_or(&[][..], |root| root.entries());
    let scalar = |entry: &stepmark_frontmatter::Entry<'_>| {
        Some((entry.key.as_key()?.to_owned(), entry.value.text()?.to_owned()))
    };
    entries.iter().filter_map(scalar).collect()
}

/// `nextStep…` covers `nextStepFile`, `nextStepFile_modeA`, `nextStepFileExpert`; `alt…` covers `altStepFile`
/// and `alternateNextStepFile` (docs/formats.md, "Step files"). `skipToStepFile` and `resumeStepFile` are in
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

pub(super) fn add_key_edges(
    graph: &mut Graph,
    at: usize,
    steps: &[Step],
    file: &WorkflowFile<'_>,
    workflow_folder: &ProjectPath,
    diagnoses: &mut Vec<ChainDiagnosis>,
) {
    let base = ReferenceBase { own_folder: file.path.parent(), workflow_folder };
    let step = || steps[at].name().to_owned();
    for (key, value) in &file.keys {
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

/// Keys may omit the extension; in prose every word would match.
fn read_key(value: &str, base: &ReferenceBase<'_>) -> Option<Reference> {
    definition::read(value, base).or_else(|| definition::read(&format!("{}.md", value.trim()), base))
}

enum LookUp {
    Exact(usize),
    /// Folder name (if any) and file name match, the path does not.
    ByName(usize),
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

/// Adds successors from prose, else from numbers, to steps without a written one.
pub(super) fn add_unwritten_edges(
    graph: &mut Graph,
    at: usize,
    steps: &[Step],
    file: &WorkflowFile<'_>,
    workflow_folder: &ProjectPath,
) {
    let base = ReferenceBase { own_folder: file.path.parent(), workflow_folder };
    // A key's target is an alternative or a way back, not the regular successor.
    let open =
        |to: &usize| *to != at && !graph.resume[*to] && graph.edges[at].iter().all(|edge| edge.to != *to);
    let linked: Vec<usize> = definition::links(&file.body)
        .filter_map(|link| definition::read(link, &base))
        .filter_map(|reference| match look_up(&reference, steps) {
            LookUp::Exact(to) | LookUp::ByName(to) => Some(to),
            LookUp::Elsewhere | LookUp::Missing => None,
        })
        .filter(open)
        .collect();
    let own = steps[at].id.number();
    let later = linked.iter().copied().filter(|to| steps[*to].id.number() > own);
    let mut next = graph.nearest_of(nearest_group(later.collect(), steps));
    let mut from = EdgeSource::Prose;
    if let (true, Some(own)) = (next.is_empty(), own) {
        from = EdgeSource::Numbering;
        let aside = |number: StepNumber| is_alternative(own, steps) && same_step(number, own);
        let is_later =
            |to: &usize| steps[*to].id.number().is_some_and(|number| number > own && !aside(number));
        let later = (0..steps.len()).filter(|to| open(to) && is_later(to));
        next = graph.nearest_of(nearest_group(later.collect(), steps));
    }
    let edges = &mut graph.edges[at];
    edges.extend(next.into_iter().map(|to| Edge { to, kind: EdgeKind::Next, source: from.clone() }));
    // `step-oneshot`: an unnumbered step linked in prose is an alternative.
    let unnumbered = linked.into_iter().filter(|to| own.is_some() && steps[*to].id.number().is_none());
    for to in unnumbered {
        if edges.iter().all(|edge| edge.to != to) {
            edges.push(Edge { to, kind: EdgeKind::Alternative, source: EdgeSource::Prose });
        }
    }
    edges.sort_by_key(|edge| edge.kind != EdgeKind::Next);
}

impl Chain {
    /// Each step's successors come from the first source that has any: keys `nextStep…`; the nearest later
    /// step of the folder linked in prose; numbers in the names. `alt…`, `alternate…` and `skipTo…` add
    /// alternatives; `continue…` and `resume…` lead back into the workflow.
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

/// `steps` and `files` are parallel, ordered by number.
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
    // Resume steps have no predecessor, and their successors do not belong to the order.
    for at in 0..steps.len() {
        let leaves_resume = graph.resume[at];
        let resume = &graph.resume;
        graph.edges[at].retain(|edge| edge.kind == EdgeKind::Resume || (!leaves_resume && !resume[edge.to]));
    }
    mark_loops(&mut graph, steps, diagnoses);
    // A new edge may turn a written one into a loop and leave another step without successor: repeat, once
    // per step.
    let mut served = graph.resume.clone();
    loop {
        let open: Vec<usize> = (0..steps.len())
            .filter(|at| !served[*at] && graph.targets(*at, EdgeKind::Next).next().is_none())
            .collect();
        if open.is_empty() {
            break;
        }
        // Backwards: successors of candidates distinguish alternatives from sequences.
        for at in open.into_iter().rev() {
            served[at] = true;
            add_unwritten_edges(&mut graph, at, steps, files[at], workflow_folder);
        }
        mark_loops(&mut graph, steps, diagnoses);
    }
    graph.start = start(&graph, steps);
    graph
}

/// Only if more than half of the steps on the route name it.
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

/// Excludes steps linked in the prose of a reachable one: they are part of it, as sub-agent files of the test
/// architecture module.
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
    /// Outputs come from the keys `outputFile`, `default_output_file`, `output_file`, `wipFile` and
    /// `progressFile`, and from an entry's line with `default_output_file` (architecture and UX have no such
    /// key).
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> WorkflowFile<'_> {
        WorkflowFile::read(ProjectPath::new("steps/step-01.md").unwrap(), text.as_bytes())
    }

    #[test]
    fn keeps_scalars_in_order() {
        let file = read("---\nname: 'a'\nlist: [1]\nnextStepFile: ./b.md # c\nname: d\n---\nbody\n");
        let keys: Vec<_> = file.keys.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(keys, [("name", "a"), ("nextStepFile", "./b.md"), ("name", "d")]);
        assert_eq!((file.key("name"), file.key("list"), &*file.body), (Some("a"), None, "body\n"));
    }

    #[test]
    fn a_broken_frontmatter_leaves_the_body() {
        let file = read("---\ndescription: 'don\\'t'\n---\nLoad ./step-02.md\n");
        assert!(file.unreadable.is_some() && file.keys.is_empty());
        assert_eq!(&*file.body, "Load ./step-02.md\n");
        assert!(read("---\nname: a\n").unreadable.is_some());
        assert!(read("# No frontmatter\n").unreadable.is_none());
    }
}
