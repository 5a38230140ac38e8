//! Finds the workflow that wrote an artifact.

mod pattern;

use std::{collections::BTreeMap, fmt};

use crate::{
    artifact::ProjectPath,
    workflow::{StepForm, StepId, Track, WorkflowDetail, WorkflowOutline, binding::pattern::agreement},
};

pub use pattern::{NameAgreement, OutputPattern};

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

    /// Each kind of evidence keeps the best candidates; the first that leaves one decides. In order:
    /// configuration; `workflowType`; names in the list of steps; the track of that list; words of the file
    /// name; declared output. The last needs the workflow's files ([`Candidate::with_detail`]), so reading
    /// them never changes an earlier result. Evidence without a match is skipped.
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
                // An unread file may declare that name, so the file name must not decide yet.
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

    /// By file names, else by declared names. Of several the listed steps decide: an update may have left a
    /// folder of that name.
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

    /// Validate for a validation report; else the track of all named steps, or create: a PRD edited later
    /// lists its own steps, too.
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
    /// Keeps all if none has a score; returns if any had one.
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

#[derive(Clone, Debug)]
pub struct Candidate {
    pub(in crate::workflow) names: Vec<String>,
    /// `None`: not read yet.
    pub(in crate::workflow) declared_names: Option<Vec<String>>,
    pub(in crate::workflow) steps: Vec<(Track, StepId)>,
    /// Word sequences in file names: `["product", "brief"]`.
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
        // A shared folder and `template.md` say nothing about file names.
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
    /// Distinguishes research workflows.
    pub research_type: Option<&'artifact str>,
    pub completed: &'artifact [StepId],
    pub list: StepList,
    pub configured: Option<ConfiguredWorkflow<'artifact>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepList {
    Completed,
    /// `validationStepsCompleted`, of the track validate.
    Validation,
    /// Without such a key only configuration and `workflowType` count: a spec of BMAD 6.12 has its state in
    /// `status`, and a matching file name does not prove a workflow.
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
    /// No workflow has that name; the file name counts only for those that share a word with it.
    UnknownWorkflowType {
        value: String,
    },
    WorkflowType {
        value: String,
        agreement: NameAgreement,
    },
    StepNames {
        matched: usize,
    },
    Track(Track),
    /// From the name of the workflow or its template.
    FileNameWords {
        words: usize,
    },
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Binding {
    Bound {
        workflow: usize,
        track: Track,
        /// In order of evaluation; never empty.
        evidence: Vec<BindingReason>,
    },
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
