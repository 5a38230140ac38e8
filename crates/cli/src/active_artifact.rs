//! The artifact of a command that may leave it out.

use std::path::Path;

use stepmark_model::artifact::ProjectPath;
use stepmark_store::resuming::ResumeChoice;

use crate::{
    artifact_name,
    environment::Environment,
    exit::{Exit, Failure},
    output::wording,
    project::Project,
};

impl Project {
    /// The artifact that the command line names, else the active one: that of the configuration, else the last one that this session (or,
    /// without one, anybody) worked on and that is not finished, else the only one that is not.
    ///
    /// # Errors
    /// When the name is none, or several are not finished and nothing says which is meant.
    pub(crate) fn artifact_or_active(&self, given: Option<&Path>) -> Result<ProjectPath, Failure> {
        if let Some(given) = given {
            return self.artifact_path(given);
        }
        let several = match self.workspace.active_artifact()? {
            ResumeChoice::Active(path) | ResumeChoice::LastEvent(path) | ResumeChoice::Only(path) => {
                return Ok(path);
            }
            ResumeChoice::Several(paths) => paths,
            ResumeChoice::Nothing => Vec::new(),
        };
        let help = "name one, or set `active` in `.stepmark/config.yaml`";
        if several.is_empty() {
            let message = "no artifact is named, and none is unfinished";
            return Err(Failure::new(Exit::Usage, message).with_help("`stepmark list` shows all; name one"));
        }
        let count = wording::count(several.len(), "artifact");
        let message =
            format!("no artifact is named, and {count} are unfinished: {}", artifact_name::listed(&several));
        Err(Failure::new(Exit::Usage, message).with_help(help))
    }

    /// An artifact and the steps behind it on the command line; of steps alone that of the active artifact.
    ///
    /// # Errors
    /// When there is no step, or nothing says which artifact is meant.
    pub(crate) fn artifact_and_steps<'w>(
        &self,
        words: &'w [String],
    ) -> Result<(ProjectPath, &'w [String]), Failure> {
        let Some((first, steps)) = words.split_first() else {
            return Err(Failure::new(Exit::Usage, "name a step"));
        };
        let is_file = Environment::exists(&self.place(Path::new(first)));
        if steps.is_empty() {
            if is_file {
                return Err(Failure::new(Exit::Usage, format!("name a step of `{first}`"))
                    .with_help(format!("`stepmark next {first}` says which is the next")));
            }
            return Ok((self.artifact_or_active(None)?, words));
        }
        // Whatever looks like a path is one, so that a misspelt one is said to be missing.
        let is_path = is_file || first.contains('/') || first.ends_with(".md");
        if is_path || self.is_called(first)? {
            return Ok((self.artifact_path(Path::new(first))?, steps));
        }
        Ok((self.artifact_or_active(None)?, words))
    }
}
