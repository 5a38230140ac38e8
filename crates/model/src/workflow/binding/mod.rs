//! Binding of an artifact to the workflow that wrote it.

mod pattern;

use std::{collections::BTreeMap, fmt};

use crate::{
    artifact::ProjectPath,
    workflow::{StepForm, StepId, Track, WorkflowDetail, WorkflowOutline, binding::pattern::agreement},
};

pub use pattern::{NameAgreement, OutputPattern};

/// The candidates of a project, prepared to bind many artifacts.
#[derive(Clone, Debug)]
pub struct Binder {
    candidates: Vec<Candidate>,
    by_step: BTreeMap<StepForm, Vec<(usize, Track)>>,
}

impl Binder {
    pub fn new(candidates: Vec<Candidate>) -> Self {
        let mut by_step: BTreeMap<StepForm, Vec<(usize, Track)>> = BTreeMap::new();
        for (at, candidate) in candidates.iter().enumerate() {
            for (track, id) in candidate.steps.iter().filter(|(_, id)| id.slug().is_some()) {
                by_step.entry(id.form().clone()).or_default().push((at, *track));
            }
        }
        Self { candidates, by_step }
    }

    /// Finds the workflow of an artifact: each kind of evidence leaves the candidates for which it speaks
    /// most, until one is left. The order: configuration; `workflowType`; names in the list of steps; the
    /// track of that list; words of the file's name; the output that the workflow names, since only that
    /// needs the workflow's files to be read ([`Candidate::with_detail`]).
    pub fn bind(&self, facts: &ArtifactFacts<'_>) -> Binding {
        if let Some(configured) = &facts.configured {
            return self.bind_configured(facts, configured);
        }
        let mut narrowing = Narrowing { left: (0..self.candidates.len()).collect(), evidence: Vec::new() };
        let unknown_type = facts.workflow_type.filter(|_| !self.weigh_workflow_type(facts, &mut narrowing));
        self.weigh_steps(facts, &mut narrowing);
        if !narrowing.evidence.is_empty() {
            self.weigh_track(facts, &mut narrowing);
        }
        if let Some(value) = unknown_type.filter(|_| !narrowing.is_decided()) {
            if self.candidates.iter().any(|candidate| candidate.declared_names.is_none()) {
                // One of the unread files may declare that name, so a file's name must not decide yet.
                return self.decide(facts, narrowing);
            }
            narrowing.left.retain(|at| self.candidates[*at].shares_word(value));
        }
        self.weigh_file_name(facts, &mut narrowing);
        if let Some(value) = unknown_type.filter(|_| !narrowing.evidence.is_empty()) {
            narrowing.evidence.insert(0, BindingReason::UnknownWorkflowType { value: value.to_owned() });
        }
        self.decide(facts, narrowing)
    }

    fn bind_configured(&self, facts: &ArtifactFacts<'_>, configured: &ConfiguredWorkflow<'_>) -> Binding {
        let mut narrowing = Narrowing { left: (0..self.candidates.len()).collect(), evidence: Vec::new() };
        narrowing.keep_best(
            |at| self.candidates[at].agreement(configured.name).filter(|how| *how >= NameAgreement::Core),
            |_| BindingReason::Configured,
        );
        if narrowing.evidence.is_empty() {
            return Binding::NoSuchWorkflow { name: configured.name.to_owned() };
        }
        self.weigh_steps(facts, &mut narrowing);
        self.weigh_track(facts, &mut narrowing);
        match (self.decide(facts, narrowing), configured.track) {
            (Binding::Bound { workflow, evidence, .. }, Some(track)) => {
                Binding::Bound { workflow, track, evidence }
            }
            (binding, _) => binding,
        }
    }

    /// Says whether `workflowType` names a workflow: by its files' names, else by what they declare. Where
    /// several agree listed steps count first: a release that is gone may have left a folder of that name.
    fn weigh_workflow_type(&self, facts: &ArtifactFacts<'_>, narrowing: &mut Narrowing) -> bool {
        let Some(workflow_type) = facts.workflow_type else { return false };
        let with_kind = facts.research_type.map(|kind| format!("{}-{workflow_type}", kind.trim()));
        let values: Vec<String> = with_kind.into_iter().chain([workflow_type.to_owned()]).collect();
        let matched = self.listed_steps(facts);
        for agreement in [Candidate::agreement, Candidate::declared_agreement] {
            for value in &values {
                let evidence =
                    |(_, agreement)| BindingReason::WorkflowType { value: value.clone(), agreement };
                let score = |at: usize| Some((matched[at], agreement(&self.candidates[at], value)?));
                if narrowing.keep_best(score, evidence) {
                    return true;
                }
            }
        }
        false
    }

    /// The count of listed steps that each candidate has in one track: an edit adds steps of another one.
    fn listed_steps(&self, facts: &ArtifactFacts<'_>) -> Vec<usize> {
        let mut matched: BTreeMap<(usize, Track), usize> = BTreeMap::new();
        for id in facts.completed.iter().filter(|id| id.slug().is_some()) {
            let holders = self.by_step.get(id.form()).into_iter().flatten();
            holders.for_each(|holder| *matched.entry(*holder).or_default() += 1);
        }
        let mut best = vec![0; self.candidates.len()];
        matched.into_iter().for_each(|((at, _), count)| best[at] = best[at].max(count));
        best
    }

    fn weigh_steps(&self, facts: &ArtifactFacts<'_>, narrowing: &mut Narrowing) {
        let matched = self.listed_steps(facts);
        narrowing.keep_best(
            |at| Some(matched[at]).filter(|matched| *matched > 0),
            |matched| BindingReason::StepNames { matched },
        );
    }

    fn weigh_track(&self, facts: &ArtifactFacts<'_>, narrowing: &mut Narrowing) {
        if narrowing.left.len() < 2 {
            return;
        }
        let track = match facts.list {
            StepList::Completed | StepList::Absent => Track::Create,
            StepList::Validation => Track::Validate,
        };
        narrowing.keep_best(
            |at| self.candidates[at].has_track(track).then_some(()),
            |()| BindingReason::Track(track),
        );
    }

    fn weigh_file_name(&self, facts: &ArtifactFacts<'_>, narrowing: &mut Narrowing) {
        if narrowing.is_decided() || facts.list == StepList::Absent {
            return;
        }
        let words = pattern::words(facts.path.file_stem());
        let run = |mark: &Vec<String>| words.windows(mark.len()).any(|run| run == mark.as_slice());
        narrowing.keep_best(
            |at| self.candidates[at].marks.iter().filter(|mark| run(mark)).map(Vec::len).max(),
            |words| BindingReason::FileNameWords { words },
        );
        if narrowing.is_decided() {
            return;
        }
        let file_name = facts.path.file_name();
        let fitting = |at: usize| {
            self.candidates[at]
                .outputs
                .iter()
                .filter(|output| output.fits(file_name))
                .map(OutputPattern::weight)
                .max()
        };
        narrowing.keep_best(fitting, |_| BindingReason::OutputPattern);
    }

    fn decide(&self, facts: &ArtifactFacts<'_>, narrowing: Narrowing) -> Binding {
        let Narrowing { left, evidence } = narrowing;
        match left.as_slice() {
            _ if evidence.is_empty() => Binding::Unbound,
            [workflow] => {
                Binding::Bound { workflow: *workflow, track: self.track(facts, *workflow), evidence }
            }
            _ => Binding::Ambiguous { workflows: left, evidence },
        }
    }

    /// The track of a validation report is validate. Otherwise it is the one track that all named steps
    /// belong to, or create: a PRD that was edited later keeps its own steps beside those of the edit.
    fn track(&self, facts: &ArtifactFacts<'_>, workflow: usize) -> Track {
        let candidate = &self.candidates[workflow];
        if facts.list == StepList::Validation && candidate.has_track(Track::Validate) {
            return Track::Validate;
        }
        let mut tracks: Vec<Track> = facts
            .completed
            .iter()
            .flat_map(|id| self.by_step.get(id.form()).into_iter().flatten())
            .filter(|(at, _)| *at == workflow)
            .map(|(_, track)| *track)
            .collect();
        tracks.sort_unstable();
        tracks.dedup();
        match tracks.as_slice() {
            [track] => *track,
            _ if candidate.has_track(Track::Create) => Track::Create,
            _ => candidate.steps.first().map_or(Track::Create, |(track, _)| *track),
        }
    }
}

struct Narrowing {
    left: Vec<usize>,
    evidence: Vec<BindingReason>,
}

impl Narrowing {
    /// Keeps the candidates with the highest score, or all without any; says whether any had one.
    fn keep_best<Score: Ord + Copy>(
        &mut self,
        score: impl Fn(usize) -> Option<Score>,
        evidence: impl FnOnce(Score) -> BindingReason,
    ) -> bool {
        let Some(best) = self.left.iter().filter_map(|at| score(*at)).max() else { return false };
        self.left.retain(|at| score(*at) == Some(best));
        self.evidence.push(evidence(best));
        true
    }

    fn is_decided(&self) -> bool {
        !self.evidence.is_empty() && self.left.len() == 1
    }
}

/// One workflow that an artifact may belong to.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub(in crate::workflow) names: Vec<String>,
    /// The names that its files declare; `None` before they are read.
    pub(in crate::workflow) declared_names: Option<Vec<String>>,
    pub(in crate::workflow) steps: Vec<(Track, StepId)>,
    /// Runs of words that mark a file's name: `["product", "brief"]`.
    pub(in crate::workflow) marks: Vec<Vec<String>>,
    pub(in crate::workflow) outputs: Vec<OutputPattern>,
}

impl Candidate {
    pub fn from_outline(outline: &WorkflowOutline) -> Self {
        let mut names = vec![outline.name()];
        if outline.variant.is_some() {
            names.push(outline.folder.file_name().to_owned());
        }
        let entries = outline.entries.iter().filter_map(|entry| entry.file_stem().strip_prefix("workflow-"));
        names.extend(entries.map(str::to_owned));
        // A folder that several workflows share says nothing about a file's name; neither does `template.md`.
        let of_names = names.iter().filter(|name| Some(name.as_str()) != shared_name(outline));
        let templates = outline.templates.iter().map(|template| {
            let mut words = pattern::words(template.file_stem());
            words.retain(|word| word != "template");
            words
        });
        let mut marks: Vec<Vec<String>> =
            of_names.map(|own| pattern::words(pattern::core(own))).chain(templates).collect();
        marks.retain(|words| !words.is_empty());
        let steps = outline
            .chains
            .iter()
            .flat_map(|chain| chain.steps.iter().map(|step| (chain.track, step.id.clone())));
        Self { names, declared_names: None, steps: steps.collect(), marks, outputs: Vec::new() }
    }

    pub fn with_detail(mut self, detail: &WorkflowDetail) -> Self {
        self.declared_names = Some(detail.names.clone());
        self.outputs.extend(detail.outputs.iter().cloned());
        self
    }

    /// Adds a name that the project's configuration gives to it.
    pub fn also_named(mut self, name: &str) -> Self {
        self.names.push(name.to_owned());
        self
    }

    pub fn declared(name: &str, steps: &[impl AsRef<str>]) -> Self {
        let steps = steps.iter().map(|step| (Track::Create, StepId::parse(step.as_ref())));
        Self {
            names: vec![name.to_owned()],
            declared_names: Some(Vec::new()),
            steps: steps.collect(),
            marks: vec![pattern::words(pattern::core(name))],
            outputs: Vec::new(),
        }
    }

    pub(in crate::workflow) fn has_track(&self, track: Track) -> bool {
        self.steps.iter().any(|(own, _)| *own == track)
    }

    pub(in crate::workflow) fn agreement(&self, workflow_type: &str) -> Option<NameAgreement> {
        self.names.iter().filter_map(|name| agreement(name, workflow_type)).max()
    }

    pub(in crate::workflow) fn declared_agreement(&self, workflow_type: &str) -> Option<NameAgreement> {
        self.declared_names.iter().flatten().filter_map(|name| agreement(name, workflow_type)).max()
    }

    pub(in crate::workflow) fn shares_word(&self, workflow_type: &str) -> bool {
        let wanted = pattern::words(workflow_type);
        let names = self.names.iter().chain(self.declared_names.iter().flatten());
        names.flat_map(|own| pattern::words(pattern::core(own))).any(|word| wanted.contains(&word))
    }
}

fn shared_name(outline: &WorkflowOutline) -> Option<&str> {
    outline.variant.as_ref().map(|_| outline.folder.file_name())
}

#[derive(Clone, Copy, Debug)]
pub struct ArtifactFacts<'artifact> {
    pub path: &'artifact ProjectPath,
    pub workflow_type: Option<&'artifact str>,
    /// Its `research_type`, which tells research workflows apart.
    pub research_type: Option<&'artifact str>,
    pub completed: &'artifact [StepId],
    pub list: StepList,
    pub configured: Option<ConfiguredWorkflow<'artifact>>,
}

/// Under which key an artifact keeps its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepList {
    Completed,
    /// `validationStepsCompleted`: a validation report, written by the track validate.
    Validation,
    /// The artifact has no key about steps. Only configuration and `workflowType` bind it then: a spec of
    /// BMAD 6.12 keeps its state in `status`, and a file that is called like an artifact need not be written
    /// by a workflow.
    Absent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfiguredWorkflow<'configuration> {
    pub name: &'configuration str,
    pub track: Option<Track>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindingReason {
    Configured,
    /// `workflowType` names no workflow; the file's name counts only for those that share a word with it.
    UnknownWorkflowType {
        value: String,
    },
    /// The artifact's `workflowType`, with its `research_type`, names the workflow.
    WorkflowType {
        value: String,
        agreement: NameAgreement,
    },
    /// Items of the artifact's list are names of the workflow's steps.
    StepNames {
        matched: usize,
    },
    /// Of the remaining workflows only some have the track that the artifact's list belongs to.
    Track(Track),
    /// The artifact's file name holds words of the workflow's or its template's name.
    FileNameWords {
        words: usize,
    },
    /// The artifact's file name fits the output that the workflow names.
    OutputPattern,
}

impl fmt::Display for BindingReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Configured => out.write_str("the configuration names it"),
            Self::UnknownWorkflowType { value } => write!(out, "no workflow is called `{value}`"),
            Self::WorkflowType { value, .. } => write!(out, "`workflowType` says `{value}`"),
            Self::StepNames { matched: 1 } => out.write_str("a listed step is one of its steps"),
            Self::StepNames { matched } => write!(out, "{matched} listed steps are its steps"),
            Self::Track(track) => write!(out, "the list is one of the track {track}"),
            Self::FileNameWords { .. } => out.write_str("the file is named like its artifact"),
            Self::OutputPattern => out.write_str("the workflow names this file as its output"),
        }
    }
}

/// The workflow that an artifact belongs to. Indices are positions in the list of candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Binding {
    Bound {
        workflow: usize,
        track: Track,
        /// The evidence that singled it out, in the order in which it was weighed. Never empty.
        evidence: Vec<BindingReason>,
    },
    /// Several fit, and nothing tells them apart.
    Ambiguous {
        workflows: Vec<usize>,
        evidence: Vec<BindingReason>,
    },
    NoSuchWorkflow {
        name: String,
    },
    Unbound,
}

#[cfg(test)]
mod cases;
