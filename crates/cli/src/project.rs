//! The project of a command, and paths from the command line.

use std::path::{Path, PathBuf};

use stepmark_model::{
    artifact::{ProjectPath, ProjectPathError},
    journal::{ArtifactKey, Attribution, SessionId},
    tracked_artifact::TrackedArtifact,
};
use stepmark_store::disk::Root;
use stepmark_store::git::{Comparison, GitVersion};
use stepmark_store::manifest::ManifestChoice;
use stepmark_store::workspace::Workspace;
use stepmark_store::{Error, configuration::ConfigurationSources};

use crate::{
    arguments::{ActingArguments, ProjectArguments},
    artifact_name, attribution,
    environment::Environment,
    exit::Failure,
};

fn sources(arguments: &ProjectArguments, environment: &Environment) -> ConfigurationSources {
    let mut sources = environment.configuration.clone();
    sources.flags.clone_from(&arguments.config);
    sources
}

pub(crate) struct Project {
    pub(crate) workspace: Workspace,
    current_folder: PathBuf,
    root_is_given: bool,
    /// Without the actor, who may have to be asked of git.
    pub(crate) session: Option<SessionId>,
}

fn root_of(arguments: &ProjectArguments, environment: &Environment) -> Result<Root, Error> {
    Ok(match &arguments.root {
        Some(root) => Root::open(environment.current_folder.join(root))?,
        None => Root::discover(&environment.current_folder)?,
    })
}

impl Project {
    pub(crate) fn open(
        arguments: &ProjectArguments,
        acting: &ActingArguments,
        environment: &Environment,
    ) -> Result<Self, Failure> {
        let sources = sources(arguments, environment);
        let workspace = Workspace::open_with(root_of(arguments, environment)?, &sources)?;
        Ok(Self::of(workspace, arguments, acting, environment))
    }

    pub(crate) fn open_version(
        arguments: &ProjectArguments,
        acting: &ActingArguments,
        environment: &Environment,
        comparison: &Comparison,
    ) -> Result<(Self, GitVersion), Failure> {
        let version = GitVersion::open(&root_of(arguments, environment)?, comparison)?;
        let workspace = version.workspace(&sources(arguments, environment))?;
        Ok((Self::of(workspace, arguments, acting, environment), version))
    }

    fn of(
        workspace: Workspace,
        arguments: &ProjectArguments,
        acting: &ActingArguments,
        environment: &Environment,
    ) -> Self {
        let named = attribution::with_flags(environment.attribution.clone(), acting);
        let session = named.0.session.clone();
        let workspace =
            attribution::settled(workspace, named, environment.host.clone(), !environment.only_looks);
        Self {
            workspace: workspace.with_clock(environment.clock.clone()),
            current_folder: environment.current_folder.clone(),
            root_is_given: arguments.root.is_some(),
            session,
        }
    }

    pub(crate) fn in_session(self, session: Option<SessionId>) -> Self {
        let attribution = Attribution { session: session.clone(), ..self.workspace.attribution().clone() };
        Self { workspace: self.workspace.with_attribution(attribution), session, ..self }
    }

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

    pub(crate) fn path(&self, given: &Path) -> Result<ProjectPath, Failure> {
        match self.root().relative(given, &self.current_folder) {
            Ok(path) => Ok(path),
            Err(error) if self.root_is_given && given.is_relative() => {
                ProjectPath::new(given).map_err(|_| Failure::from(error))
            }
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn seen(&self, path: &ProjectPath) -> ProjectPath {
        let folder = self.root().path().strip_prefix(&self.current_folder);
        let seen = folder.ok().and_then(|folder| ProjectPath::new(folder.join(path.as_str())).ok());
        seen.unwrap_or_else(|| path.clone())
    }

    /// By path, or by a unique short name: the end of its path, its name without `.md`, a story number
    /// (`1-2`, `1.2`), or the beginning of its name.
    ///
    /// All commands resolve artifacts here or in [`Self::known_path`], so that typos give the same error.
    pub(crate) fn artifact_path(&self, given: &Path) -> Result<ProjectPath, Failure> {
        self.named(given, |_| Ok(false))
    }

    pub(crate) fn known_path(&self, given: &Path) -> Result<ProjectPath, Failure> {
        self.named(given, |path| Ok(self.workspace.history().remembers(path)?))
    }

    fn named(
        &self,
        given: &Path,
        is_known: impl FnOnce(&ProjectPath) -> Result<bool, Failure>,
    ) -> Result<ProjectPath, Failure> {
        let path = self.path(given);
        let is_there = |path: &ProjectPath| Environment::exists(&self.root().path().join(path.as_str()));
        if let Ok(path) = &path
            && (is_there(path) || is_known(path)?)
        {
            return Ok(path.clone());
        }
        let called = given.to_str().map(|name| self.called(name)).transpose()?.unwrap_or_default();
        if let Some(only) = artifact_name::only(given, called)? {
            return Ok(only);
        }
        // Reading it gives the reason: no file, or a dangling link.
        let path = path?;
        self.workspace.artifact(&path)?;
        Ok(path)
    }

    pub(crate) fn is_called(&self, name: &str) -> Result<bool, Failure> {
        Ok(!self.called(name)?.is_empty())
    }

    fn called(&self, name: &str) -> Result<Vec<ProjectPath>, Failure> {
        let tickets = self.workspace.tickets();
        let called = tickets.called(name);
        if !called.is_empty() {
            return Ok(called);
        }
        let found = self.workspace.artifacts()?;
        let called = artifact_name::called(name, found.artifacts.iter().map(TrackedArtifact::path));
        Ok(if called.is_empty() { tickets.titled(name) } else { called })
    }

    pub(crate) fn place(&self, given: &Path) -> PathBuf {
        self.current_folder.join(given)
    }

    pub(crate) fn is_folder(&self, given: &Path) -> bool {
        Environment::is_folder(&self.current_folder.join(given))
            || self.root_is_given && Environment::is_folder(&self.root().path().join(given))
    }

    pub(crate) fn folder_or_artifact(&self, given: &Path) -> Result<Option<ProjectPath>, Failure> {
        if self.is_folder(given) { self.folder(given) } else { self.artifact_path(given).map(Some) }
    }

    pub(crate) fn folder(&self, given: &Path) -> Result<Option<ProjectPath>, Failure> {
        match self.root().relative(given, &self.current_folder) {
            Err(error) if matches!(error.detail(), Some(ProjectPathError::Empty)) => Ok(None),
            _ => self.path(given).map(Some),
        }
    }

    /// The id in its file, else its path.
    pub(crate) fn identity(&self, given: &Path) -> Result<(ArtifactKey, ProjectPath), Failure> {
        let path = self.known_path(given)?;
        match self.workspace.artifact(&path) {
            Ok(tracked) => Ok((ArtifactKey::of(tracked.artifact()), path)),
            Err(error) if error.is_missing() => Ok((ArtifactKey::of_path(&path), path)),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn artifact(&self, given: &Path) -> Result<TrackedArtifact, Failure> {
        let path = self.artifact_path(given)?;
        let artifact = self.workspace.artifact(&path)?;
        Ok(artifact)
    }
}
