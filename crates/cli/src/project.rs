//! The project that a command works on, and the paths that a person gives.

use std::path::{Path, PathBuf};

use stepmark_model::{
    artifact::{LedgerKey, ProjectPath, ProjectPathError},
    journal::{ArtifactKey, Attribution, SessionId},
    tracked_artifact::TrackedArtifact,
};
use stepmark_store::configuration::ConfigurationSources;
use stepmark_store::disk::{RelativeError, Root};
use stepmark_store::git::{Comparison, GitVersion};
use stepmark_store::manifest::ManifestChoice;
use stepmark_store::workspace::{ArtifactError, OpenError, Workspace};

use crate::{
    arguments::{ActingArguments, ProjectArguments},
    attribution,
    environment::Environment,
    exit::{Exit, Failure},
};

fn sources(arguments: &ProjectArguments, environment: &Environment) -> ConfigurationSources {
    let mut sources = environment.configuration.clone();
    sources.flags.clone_from(&arguments.config);
    sources
}

/// An open project.
pub(crate) struct Project {
    pub(crate) workspace: Workspace,
    current_folder: PathBuf,
    root_is_given: bool,
}

impl Project {
    pub(crate) fn open(
        arguments: &ProjectArguments,
        acting: &ActingArguments,
        environment: &Environment,
    ) -> Result<Self, Failure> {
        let sources = sources(arguments, environment);
        let workspace = match &arguments.root {
            Some(root) => Workspace::open_with(environment.current_folder.join(root), &sources)?,
            None => Workspace::discover_with(&environment.current_folder, &sources)?,
        };
        Ok(Self::of(workspace, arguments, acting, environment))
    }

    /// Opens the project as git holds it: its configuration is the one that stands there.
    pub(crate) fn open_version(
        arguments: &ProjectArguments,
        acting: &ActingArguments,
        environment: &Environment,
        comparison: &Comparison,
    ) -> Result<(Self, GitVersion), Failure> {
        let root = match &arguments.root {
            Some(root) => Root::open(environment.current_folder.join(root)),
            None => Root::discover(&environment.current_folder),
        };
        let version = GitVersion::open(&root.map_err(OpenError::Root)?, comparison)?;
        let workspace = Workspace::open_version(&version, &sources(arguments, environment))?;
        Ok((Self::of(workspace, arguments, acting, environment), version))
    }

    fn of(
        workspace: Workspace,
        arguments: &ProjectArguments,
        acting: &ActingArguments,
        environment: &Environment,
    ) -> Self {
        let named = attribution::with_flags(environment.attribution.clone(), acting);
        let attribution = attribution::settled(&workspace, named, environment.host.as_deref());
        Self {
            workspace: workspace.with_attribution(attribution).with_clock(environment.clock.clone()),
            current_folder: environment.current_folder.clone(),
            root_is_given: arguments.root.is_some(),
        }
    }

    /// The same project, where what is done belongs to this session.
    pub(crate) fn in_session(self, session: Option<SessionId>) -> Self {
        let attribution = Attribution { session, ..self.workspace.attribution().clone() };
        Self { workspace: self.workspace.with_attribution(attribution), ..self }
    }

    /// What is said about a manifest by `--root` and `--file`.
    pub(crate) fn manifest_choice<'a>(&'a self, file: Option<&'a Path>) -> ManifestChoice<'a> {
        ManifestChoice {
            root: self.root(),
            root_is_named: self.root_is_given,
            file,
            current_folder: &self.current_folder,
        }
    }

    pub(crate) fn root(&self) -> &Root {
        self.workspace.root()
    }

    /// The project path of a path on the command line: seen from the current folder, or from `--root` when the
    /// current folder lies outside of it.
    pub(crate) fn path(&self, given: &Path) -> Result<ProjectPath, Failure> {
        match self.root().relative(given, &self.current_folder) {
            Ok(path) => Ok(path),
            Err(error) if self.root_is_given && given.is_relative() => {
                ProjectPath::new(given).map_err(|_| Failure::from(error))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// A path as the current folder sees it, where the project lies below that.
    pub(crate) fn seen(&self, path: &ProjectPath) -> ProjectPath {
        let folder = self.root().path().strip_prefix(&self.current_folder);
        let seen = folder.ok().and_then(|folder| ProjectPath::new(folder.join(path.as_str())).ok());
        seen.unwrap_or_else(|| path.clone())
    }

    /// The project path of an artifact that the command line names: by its path, or by what one artifact alone is called: the end of its
    /// path, its name without `.md`, or the number of a story (`1-2`, `1.2`).
    pub(crate) fn artifact_path(&self, given: &Path) -> Result<ProjectPath, Failure> {
        let path = self.path(given);
        if path.as_ref().is_ok_and(|path| Environment::exists(&self.root().path().join(path.as_str()))) {
            return path;
        }
        let called = given.to_str().map(|name| self.called(name)).transpose()?.unwrap_or_default();
        match called.as_slice() {
            [] => path,
            [only] => Ok(only.clone()),
            several => {
                let names: Vec<String> = several.iter().take(10).map(|path| format!("`{path}`")).collect();
                let message = format!("`{}` may be any of {} artifacts", given.display(), several.len());
                let failure = Failure::new(Exit::Usage, message);
                Err(failure.with_help(format!("say more of its path: {}", names.join(", "))))
            }
        }
    }

    /// Whether people call an artifact by `name`.
    pub(crate) fn is_called(&self, name: &str) -> Result<bool, Failure> {
        Ok(!self.called(name)?.is_empty())
    }

    /// The artifacts that people call by `name`.
    fn called(&self, name: &str) -> Result<Vec<ProjectPath>, Failure> {
        let found = self.workspace.artifacts()?;
        let paths = || found.artifacts.iter().map(TrackedArtifact::path);
        let ends = |path: &&ProjectPath| {
            let path = path.as_str();
            let path = path.strip_suffix(".md").filter(|_| !name.ends_with(".md")).unwrap_or(path);
            path == name || path.strip_suffix(name).is_some_and(|folder| folder.ends_with('/'))
        };
        let exact: Vec<ProjectPath> = paths().filter(ends).cloned().collect();
        match story_number(name).filter(|_| exact.is_empty()) {
            None => Ok(exact),
            Some(story) => {
                let is_it = |path: &&ProjectPath| LedgerKey::of(path).is_some_and(|(key, _)| key == story);
                Ok(paths().filter(is_it).cloned().collect())
            }
        }
    }

    /// The place of a path of the command line that need not lie in the project.
    pub(crate) fn place(&self, given: &Path) -> PathBuf {
        self.current_folder.join(given)
    }

    /// Whether a path of the command line names a folder.
    pub(crate) fn is_folder(&self, given: &Path) -> bool {
        Environment::is_folder(&self.current_folder.join(given))
            || self.root_is_given && Environment::is_folder(&self.root().path().join(given))
    }

    /// The project path of a folder; `None` for the root itself.
    pub(crate) fn folder(&self, given: &Path) -> Result<Option<ProjectPath>, Failure> {
        match self.root().relative(given, &self.current_folder) {
            Err(RelativeError::Unusable { source: ProjectPathError::Empty }) => Ok(None),
            _ => self.path(given).map(Some),
        }
    }

    /// What history knows the artifact at a path of the command line by: the id in its file, else its path.
    pub(crate) fn identity(&self, given: &Path) -> Result<(ArtifactKey, ProjectPath), Failure> {
        let path = self.artifact_path(given)?;
        match self.workspace.artifact(&path) {
            Ok(tracked) => Ok((ArtifactKey::of(tracked.artifact()), path)),
            Err(ArtifactError::Missing { .. }) => Ok((ArtifactKey::of_path(&path), path)),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads the artifact at a path of the command line.
    pub(crate) fn artifact(&self, given: &Path) -> Result<TrackedArtifact, Failure> {
        let path = self.artifact_path(given)?;
        let artifact = self.workspace.artifact(&path)?;
        Ok(artifact)
    }
}

/// The story that `1-2` or `1.2` means, whatever it is called.
fn story_number(name: &str) -> Option<LedgerKey> {
    let (epic, story) = name.split_once(['-', '.']).filter(|(_, story)| !story.contains(['-', '.']))?;
    LedgerKey::read(&format!("{epic}-{story}-any")).filter(|key| key.is_story())
}
