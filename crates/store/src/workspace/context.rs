//! The active artifact, its workflow and its configuration file.

use crate::Error;
use crate::configuration::{ConfiguredValue, Origin, StepSource};
use crate::workspace::Workspace;
use stepmark_model::tracked_artifact::{Membership, TrackedArtifact};
use stepmark_model::{
    artifact::ProjectPath,
    workflow::{
        Binding, BindingReason, ContextAnswer, ContextQuery, ContextSource, ContextSourceKind,
        ContextStatement, answer_context, context_statements,
    },
};

#[derive(Clone, Debug)]
pub struct Context {
    /// The named artifact, else the configured active one, if it exists.
    pub artifact: Option<ProjectPath>,
    pub workflow: Option<ContextWorkflow>,
    pub active: ContextAnswer,
    pub configuration_file: ContextAnswer,
    /// Effective paths without a readable file, with the reason.
    pub missing: Vec<(ProjectPath, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextWorkflow {
    pub name: String,
    pub track: String,
    pub evidence: Vec<BindingReason>,
}

impl Context {
    pub fn has_problem(&self) -> bool {
        self.active.has_problem() || self.configuration_file.has_problem() || !self.missing.is_empty()
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Contexts<'w> {
    workspace: &'w Workspace,
}

impl Workspace {
    pub const fn context(&self) -> Contexts<'_> {
        Contexts { workspace: self }
    }
}

impl Contexts<'_> {
    /// Of `artifact`, or of the configured active one. Any file is accepted: a `workflow.yaml` answers for
    /// itself.
    pub fn of(&self, artifact: Option<&ProjectPath>) -> Result<Context, Error> {
        let subject = match artifact {
            Some(path) => Some(self.workspace.artifact(path)?),
            // If it is unreadable, the effective path is reported.
            None => self
                .workspace
                .configuration()
                .active
                .as_ref()
                .and_then(|path| self.workspace.artifact(path).ok()),
        };
        let mut sources = Vec::new();
        if let Some(artifact) = &subject {
            sources.push(source(
                ContextSourceKind::Artifact,
                artifact.path(),
                artifact.artifact().bytes(),
                None,
            ));
            for (path, folder) in self.workflow_files(artifact) {
                match self.workspace.read_file(&path) {
                    Ok(bytes) => {
                        sources.push(source(ContextSourceKind::Workflow, &path, &bytes, Some(folder)));
                    }
                    Err(error) if error.is_missing() => {}
                    Err(error) => sources.push(unreadable(&path, folder, &error)),
                }
            }
        }
        let answer = |question| {
            let sources = [sources.clone(), self.configured_sources(question)].concat();
            answer_context(question, &sources, &self.workspace.configuration().variables)
        };
        let active = answer(ContextQuery::Active);
        let configuration_file = answer(ContextQuery::ConfigurationFile);
        let named = [active.path(), configuration_file.path()].into_iter().flatten();
        let missing =
            named.filter_map(|path| Some((path.clone(), self.workspace.read_file(path).err()?.to_string())));
        let workflow = subject.as_ref().and_then(workflow_of);
        Ok(Context {
            missing: missing.collect(),
            artifact: subject.map(|artifact| artifact.path().clone()),
            workflow,
            active,
            configuration_file,
        })
    }

    /// Files that may describe the workflow, each with the workflow's folder; the artifact's own track first.
    /// They may be missing.
    fn workflow_files(&self, artifact: &TrackedArtifact) -> Vec<(ProjectPath, ProjectPath)> {
        let mut files = Vec::new();
        if let Binding::Bound { workflow, track, .. } = self.workspace.workflows().bind(artifact.artifact())
            && let Some(outline) = self.workspace.workflows().outline(workflow)
        {
            let mut entries = outline.entries.clone();
            let word = track.to_string();
            entries.sort_by_key(|entry| !entry.file_stem().split('-').any(|part| part == word));
            files.extend(entries.into_iter().map(|entry| (entry, outline.folder.clone())));
            let yaml = ["workflow.yaml", "workflow.yml"].into_iter();
            files.extend(
                yaml.filter_map(|name| Some((outline.folder.join(name).ok()?, outline.folder.clone()))),
            );
        }
        let declarations = self.workspace.configuration().workflows.iter();
        for declaration in declarations.filter(|declaration| declaration.artifacts.matches(artifact.path())) {
            let StepSource::Folder(folder) = &declaration.steps else { continue };
            for name in ["workflow.md", "workflow.yaml", "workflow.yml"] {
                if let Ok(file) = folder.join(name)
                    && !files.iter().any(|(own, _)| *own == file)
                {
                    files.push((file, folder.clone()));
                }
            }
        }
        files
    }

    /// One a key, the stronger first: each may come from another layer.
    fn configured_sources(&self, question: ContextQuery) -> Vec<ContextSource> {
        let values = self.workspace.configuration().effective_values();
        let named = |key: &&str| values.iter().find(|value| value.key == *key);
        let mut sources: Vec<_> = question.keys().iter().filter_map(named).map(configured).collect();
        if sources.is_empty() {
            sources.push(configuration("all layers".to_owned(), Vec::new()));
        }
        sources
    }
}

fn configuration(name: String, statements: Vec<ContextStatement>) -> ContextSource {
    ContextSource {
        kind: ContextSourceKind::Configuration,
        name,
        folder: None,
        workflow_folder: None,
        statements: Ok(statements),
    }
}

fn configured(value: &ConfiguredValue) -> ContextSource {
    let position = value.origin.place().map(|place| place.position);
    let name = match &value.origin {
        Origin::User(place) | Origin::Project(place) => place.file.display().to_string(),
        origin => origin.to_string(),
    };
    configuration(name, vec![ContextStatement { key: value.key.clone(), text: Some(value.text()), position }])
}

fn source(
    place: ContextSourceKind,
    path: &ProjectPath,
    bytes: &[u8],
    workflow_folder: Option<ProjectPath>,
) -> ContextSource {
    ContextSource {
        kind: place,
        name: path.to_string(),
        folder: path.parent(),
        workflow_folder,
        statements: context_statements(path, bytes).map_err(|error| error.to_string()),
    }
}

fn unreadable(path: &ProjectPath, folder: ProjectPath, error: &Error) -> ContextSource {
    ContextSource {
        kind: ContextSourceKind::Workflow,
        name: path.to_string(),
        folder: path.parent(),
        workflow_folder: Some(folder),
        statements: Err(error.to_string()),
    }
}

fn workflow_of(artifact: &TrackedArtifact) -> Option<ContextWorkflow> {
    match artifact.membership() {
        Membership::Member { workflow, evidence } => Some(ContextWorkflow {
            name: workflow.name.clone(),
            track: workflow.chain.track().to_string(),
            evidence: evidence.clone(),
        }),
        _ => None,
    }
}
