//! A project's workflows: found at once, read only as far as needed.
#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "tests make step files"))]

use std::{
    collections::BTreeMap,
    ptr,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use crate::configuration::{Configuration, StepSource};
use crate::disk::Root;
use crate::workspace::workflow_listing;
use crate::{Error, ErrorKind};
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    bmad::steps::{DEFAULT_ROOTS, WorkflowFile, discover},
    transition::{completed_ids, step_list_key},
    workflow::{
        ArtifactFacts, Binder, Binding, Candidate, ConfiguredWorkflow, StepList, Track, WorkflowDefinition,
        WorkflowDetail, WorkflowOutline,
    },
};

#[derive(Clone, Debug)]
enum Source {
    Found(WorkflowOutline),
    /// By a list of steps in the configuration.
    Declared {
        name: String,
        steps: Vec<String>,
    },
}

/// In order of preference: declared ones, then those of [`DEFAULT_ROOTS`].
///
/// Finding lists folders and reads no file. Binding reads the entries and first steps of all workflows only
/// if names do not decide; a definition reads one track's step files. Everything is read at most once.
#[derive(Debug)]
pub struct Workflows {
    root: Root,
    files: Vec<ProjectPath>,
    sources: Vec<Source>,
    /// For each artifact pattern of the configuration the workflow's name.
    declarations: Vec<crate::configuration::WorkflowDeclaration>,
    binder: Binder,
    detailed: OnceLock<Binder>,
    definitions: Mutex<BTreeMap<(usize, Track), Arc<WorkflowDefinition>>>,
    problems: Vec<Error>,
}

impl Workflows {
    pub fn find(root: &Root, configuration: &Configuration) -> Self {
        let declarations = configuration.workflows.to_vec();
        let folders: Vec<ProjectPath> = declarations
            .iter()
            .filter_map(|declaration| match &declaration.steps {
                StepSource::Folder(folder) => Some(folder.clone()),
                StepSource::Listed(_) | StepSource::Discovered => None,
            })
            .collect();
        let standard = DEFAULT_ROOTS.iter().filter_map(|folder| ProjectPath::new(folder).ok());
        let roots: Vec<ProjectPath> = folders.iter().cloned().chain(standard).collect();
        let (mut listing, problems) = workflow_listing::markdown_below(root, &roots);
        remove_repeated(&mut listing);
        let declared = declarations.iter().filter_map(|declaration| match &declaration.steps {
            StepSource::Listed(steps) => {
                Some(Source::Declared { name: declaration.name.clone(), steps: steps.clone() })
            }
            StepSource::Folder(_) | StepSource::Discovered => None,
        });
        let sources: Vec<Source> =
            declared.chain(discover(&listing, &folders).into_iter().map(Source::Found)).collect();
        let binder = Binder::new(sources.iter().map(|source| candidate(source, &declarations)).collect());
        Self {
            root: root.clone(),
            files: listing,
            sources,
            declarations,
            binder,
            detailed: OnceLock::new(),
            definitions: Mutex::default(),
            problems,
        }
    }

    pub fn len(&self) -> usize {
        self.sources.len()
    }

    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    pub fn name(&self, index: usize) -> Option<String> {
        self.sources.get(index).map(|source| match source {
            Source::Found(outline) => outline.name(),
            Source::Declared { name, .. } => name.clone(),
        })
    }

    /// `None` for a workflow declared by its steps.
    pub fn outline(&self, index: usize) -> Option<&WorkflowOutline> {
        match self.sources.get(index)? {
            Source::Found(outline) => Some(outline),
            Source::Declared { .. } => None,
        }
    }

    pub(crate) fn files(&self) -> &[ProjectPath] {
        &self.files
    }

    pub fn problems(&self) -> &[Error] {
        &self.problems
    }

    /// Indices are those of [`Workflows::name`].
    pub fn bind(&self, artifact: &Artifact) -> Binding {
        let completed = completed_ids(artifact, step_list_key(artifact, Track::Create));
        let state = artifact.state();
        let facts = ArtifactFacts {
            path: artifact.path(),
            workflow_type: state.workflow_type.as_ref().and_then(|field| field.filled()),
            research_type: state.research_type.as_ref().and_then(|field| field.filled()),
            completed: &completed,
            list: StepList::from(artifact),
            configured: self
                .declarations
                .iter()
                .find(|declaration| declaration.artifacts.matches(artifact.path()))
                .map(|declaration| ConfiguredWorkflow { name: &declaration.name, track: None }),
        };
        match self.binder.bind(&facts) {
            bound @ Binding::Bound { .. } => bound,
            _ => self.detailed.get_or_init(|| self.read_details()).bind(&facts),
        }
    }

    pub fn definition(&self, index: usize, track: Track) -> Result<Option<Arc<WorkflowDefinition>>, Error> {
        let Some(source) = self.sources.get(index) else { return Ok(None) };
        let known =
            self.definitions.lock().unwrap_or_else(PoisonError::into_inner).get(&(index, track)).cloned();
        if known.is_some() {
            return Ok(known);
        }
        let definition = match source {
            Source::Declared { name, steps } => WorkflowDefinition::declared(name, steps),
            Source::Found(outline) => {
                let Some(chain) = outline.chain(track) else { return Ok(None) };
                let texts =
                    chain.steps.iter().map(|step| self.read(&step.path)).collect::<Result<Vec<_>, _>>()?;
                let files: Vec<WorkflowFile<'_>> = chain
                    .steps
                    .iter()
                    .zip(&texts)
                    .map(|(step, text)| WorkflowFile::read(step.path.clone(), text))
                    .collect();
                WorkflowDefinition::from_files(outline, track, &files)
            }
        };
        let definition = Arc::new(definition);
        let mut definitions = self.definitions.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Some(definitions.entry((index, track)).or_insert(definition).clone()))
    }

    /// The index and track of a `definition` from here.
    pub(crate) fn key_of(&self, definition: &WorkflowDefinition) -> Option<(usize, Track)> {
        let definitions = self.definitions.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = definitions.iter().filter(|(_, own)| ptr::eq(Arc::as_ptr(own), definition));
        found.next().map(|(key, _)| *key)
    }

    /// Reads each workflow's entry and first step. Unreadable files are skipped here; the definition reports
    /// them.
    fn read_details(&self) -> Binder {
        let detailed = |source: &Source| {
            let candidate = candidate(source, &self.declarations);
            let Source::Found(outline) = source else { return candidate };
            let paths = outline.telling_files();
            let texts: Vec<(ProjectPath, Vec<u8>)> =
                paths.into_iter().filter_map(|path| Some((path.clone(), self.read(path).ok()?))).collect();
            let files: Vec<WorkflowFile<'_>> =
                texts.iter().map(|(path, text)| WorkflowFile::read(path.clone(), text)).collect();
            candidate.with_detail(&WorkflowDetail::read(outline, &files))
        };
        Binder::new(self.sources.iter().map(detailed).collect())
    }

    fn read(&self, path: &ProjectPath) -> Result<Vec<u8>, Error> {
        let failed = || Error::new(ErrorKind::Io, format!("cannot read `{path}` of a workflow")).at(path);
        let place = self.root.resolve(path).map_err(|source| failed().because(source))?;
        crate::disk::file_reading::read_file(&place).map_err(|source| failed().because(source))
    }
}

fn candidate(source: &Source, declarations: &[crate::configuration::WorkflowDeclaration]) -> Candidate {
    match source {
        Source::Declared { name, steps } => Candidate::declared(name, steps),
        Source::Found(outline) => {
            let named = declarations.iter().filter(|declaration| match &declaration.steps {
                StepSource::Folder(folder) => {
                    outline.folder.starts_with(folder) || outline.holds_steps_in(folder)
                }
                StepSource::Listed(_) | StepSource::Discovered => false,
            });
            named.fold(Candidate::from_outline(outline), |candidate, declaration| {
                candidate.also_named(&declaration.name)
            })
        }
    }
}

/// A declared folder may be below a standard root, and so listed twice: the first counts.
fn remove_repeated(listing: &mut Vec<ProjectPath>) {
    let mut seen = std::collections::BTreeSet::new();
    listing.retain(|path| seen.insert(path.clone()));
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use stepmark_model::{
        transition::StepLists,
        workflow::{Next, Unit},
    };

    fn project(files: &[(&str, &str)], configuration: &str) -> (tempfile::TempDir, Root, Configuration) {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        for (path, text) in files.iter().chain(&[(crate::disk::CONFIGURATION_PATH, configuration)]) {
            let place = root.path().join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, text).unwrap();
        }
        let configuration = Configuration::load(&root).unwrap();
        (folder, root, configuration)
    }

    fn artifact(path: &str, text: &str) -> Artifact {
        Artifact::read(ProjectPath::new(path).unwrap(), text.as_bytes().to_vec())
    }

    fn bound(found: &Workflows, artifact: &Artifact) -> (usize, Arc<WorkflowDefinition>) {
        let Binding::Bound { workflow, track, .. } = found.bind(artifact) else {
            panic!("{:?}", found.bind(artifact))
        };
        (workflow, found.definition(workflow, track).unwrap().unwrap())
    }

    #[test]
    fn declared_workflows_come_first() {
        let files = [
            ("_bmad/prd/steps/step-01-init.md", ""),
            ("flows/audit/step-look.md", ""),
            ("flows/audit/step-02-judge.md", ""),
        ];
        let (_folder, root, configuration) = project(
            &files,
            "workflows:\n- {name: release, artifacts: ['docs/releases/'], steps: [collect, write]}\n\
             - {name: checkup, artifacts: ['docs/audit*.md'], folder: flows/audit}\n\
             - {name: prd, artifacts: ['docs/needs.md']}\n- {name: lost, artifacts: ['docs/lost.md']}\n",
        );
        let found = Workflows::find(&root, &configuration);
        let names: Vec<_> = (0..found.len()).filter_map(|index| found.name(index)).collect();
        assert_eq!(names, ["release", "audit", "prd"]);
        let text = "---\nstepsCompleted: [collect]\n---\n";

        let release = artifact("docs/releases/1.md", text);
        let (workflow, definition) = bound(&found, &release);
        assert_eq!((workflow, found.outline(workflow)), (0, None));
        let lists = StepLists::read(&release, Track::Create);
        let progress = definition.progress(&lists.record());
        assert!(matches!(progress.next, Next::Step { step, .. } if step.name() == "write"));

        let (workflow, definition) = bound(&found, &artifact("docs/audit-1.md", text));
        assert_eq!(found.name(workflow).as_deref(), Some("audit"));
        let units: Vec<_> = definition.chain.units().collect();
        assert!(matches!(units.as_slice(), [Unit::Step(step)] if step.name() == "step-02-judge"));

        assert_eq!(bound(&found, &artifact("docs/needs.md", text)).0, 2);
        let lost = found.bind(&artifact("docs/lost.md", text));
        assert_eq!(lost, Binding::NoSuchWorkflow { name: "lost".to_owned() });
    }

    #[test]
    fn a_definition_is_read_once() {
        let files = [("_bmad/prd/steps/step-01-init.md", ""), ("_bmad/prd/steps/step-02-end.md", "")];
        let (_folder, root, configuration) = project(&files, "");
        let found = Workflows::find(&root, &configuration);
        let first = found.definition(0, Track::Create).unwrap().unwrap();
        fs::remove_file(root.path().join(files[0].0)).unwrap();
        let second = found.definition(0, Track::Create).unwrap().unwrap();
        assert!(Arc::ptr_eq(&first, &second));
        assert!(found.definition(0, Track::Edit).unwrap().is_none());
        assert!(found.definition(1, Track::Create).unwrap().is_none());
    }

    #[test]
    fn a_step_file_that_went_away_is_an_error_that_names_it() {
        let (_folder, root, configuration) = project(&[("_bmad/prd/steps/step-01-init.md", "")], "");
        let found = Workflows::find(&root, &configuration);
        fs::remove_file(root.path().join("_bmad/prd/steps/step-01-init.md")).unwrap();
        let error = found.definition(0, Track::Create).unwrap_err();
        assert_eq!(error.to_string(), "cannot read `_bmad/prd/steps/step-01-init.md` of a workflow");
        // Binding by what files declare goes on without it.
        assert_eq!(found.bind(&artifact("x.md", "---\nworkflowType: y\n---\n")), Binding::Unbound);
    }

    #[test]
    fn without_workflows_nothing_is_bound() {
        let (_folder, root, configuration) = project(&[], "");
        let found = Workflows::find(&root, &configuration);
        assert!(found.is_empty());
        assert_eq!(found.bind(&artifact("prd.md", "---\nworkflowType: prd\n---\n")), Binding::Unbound);
    }
}
