//! A workflow that an artifact may belong to.

use crate::workflow::{
    NameAgreement, OutputPattern, StepId, Track, WorkflowDetail, WorkflowOutline,
    binding::name::{self, agreement},
};

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
    /// What the names of a workflow's files tell.
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
            let mut words = name::words(template.file_stem());
            words.retain(|word| word != "template");
            words
        });
        let mut marks: Vec<Vec<String>> =
            of_names.map(|own| name::words(name::core(own))).chain(templates).collect();
        marks.retain(|words| !words.is_empty());
        let steps = outline
            .chains
            .iter()
            .flat_map(|chain| chain.steps.iter().map(|step| (chain.track, step.id.clone())));
        Self { names, declared_names: None, steps: steps.collect(), marks, outputs: Vec::new() }
    }

    /// Adds what the text of its files tells.
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

    /// A workflow that the project's configuration declares.
    pub fn declared(name: &str, steps: &[impl AsRef<str>]) -> Self {
        let steps = steps.iter().map(|step| (Track::Create, StepId::parse(step.as_ref())));
        Self {
            names: vec![name.to_owned()],
            declared_names: Some(Vec::new()),
            steps: steps.collect(),
            marks: vec![name::words(name::core(name))],
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
        let wanted = name::words(workflow_type);
        let names = self.names.iter().chain(self.declared_names.iter().flatten());
        names.flat_map(|own| name::words(name::core(own))).any(|word| wanted.contains(&word))
    }
}

fn shared_name(outline: &WorkflowOutline) -> Option<&str> {
    outline.variant.as_ref().map(|_| outline.folder.file_name())
}
