//! The successors of a step by its keys, its prose and the numbers.

use super::step_file::WorkflowFile;
use crate::artifact::ProjectPath;
use crate::workflow::{
    ChainDiagnosis, Edge, EdgeKind, EdgeSource, Graph, Step, StepNumber, is_alternative, nearest_group,
    reference::{self, Reference, ReferenceBase},
    same_step,
};

/// The kind of edge that a frontmatter key stands for.
///
/// `nextStep…` covers `nextStepFile`, `nextStepFile_modeA`, `nextStepFileExpert`; `alt…` covers `altStepFile`
/// and `alternateNextStepFile` (docs/formats.md, "Step files"); `skipToStepFile` and `resumeStepFile` were
/// seen in alpha.22's tech-spec workflow and in the test architecture module.
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

/// Adds the successors that the keys of a step file name.
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
pub(super) fn add_unwritten_edges(
    graph: &mut Graph,
    at: usize,
    steps: &[Step],
    file: &WorkflowFile<'_>,
    workflow_folder: &ProjectPath,
) {
    let base = ReferenceBase { own_folder: file.path.parent(), workflow_folder };
    // What a key has named already is an alternative or a way back, not the regular successor.
    let open =
        |to: &usize| *to != at && !graph.resume[*to] && graph.edges[at].iter().all(|edge| edge.to != *to);
    let linked: Vec<usize> = reference::links(&file.body)
        .filter_map(|link| reference::read(link, &base))
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
    // `step-oneshot`: a step without a number that prose names is a way beside the numbered ones.
    let unnumbered = linked.into_iter().filter(|to| own.is_some() && steps[*to].id.number().is_none());
    for to in unnumbered {
        if edges.iter().all(|edge| edge.to != to) {
            edges.push(Edge { to, kind: EdgeKind::Alternative, source: EdgeSource::Prose });
        }
    }
    edges.sort_by_key(|edge| edge.kind != EdgeKind::Next);
}
