//! The default artifact of commands.

use std::{collections::BTreeSet, path::Path};

use stepmark_model::{
    artifact::ProjectPath,
    tracked_artifact::TrackedArtifact,
    workflow::{Next, StepId, StepMatch},
};
use stepmark_store::resuming::ResumeChoice;
use stepmark_view::overview::short_names;

use crate::{
    environment::Environment,
    exit::{Exit, Failure},
    output::spinner,
    project::Project,
};

const FIRST: [&str; 4] = ["prd", "brief", "spec", "create"];

const NAMED: usize = 5;

impl Project {
    /// Defaults to the configured artifact, else the last unfinished one of this session (without a session:
    /// of anybody), else the only unfinished one.
    pub(crate) fn artifact_or_active(&self, given: Option<&Path>) -> Result<ProjectPath, Failure> {
        if let Some(given) = given {
            return self.artifact_path(given);
        }
        self.chosen(self.resume_choice()?)
    }

    pub(crate) fn resume_choice(&self) -> Result<ResumeChoice, Failure> {
        Ok(self.workspace.history().artifact_to_resume(self.session.as_ref())?)
    }

    pub(crate) fn chosen(&self, choice: ResumeChoice) -> Result<ProjectPath, Failure> {
        let paths = match choice {
            ResumeChoice::One(path) => return Ok(path),
            ResumeChoice::Unclear(paths) => paths,
        };
        if !paths.is_empty() {
            return Err(self.several_unfinished(&paths, Exit::Usage)?);
        }
        Err(if self.workspace.artifacts()?.artifacts.is_empty() {
            Failure::new(Exit::Usage, "there is no artifact yet").with_help(self.beginning())
        } else {
            Failure::new(Exit::Usage, "no artifact is named, and none is unfinished")
                .with_help("`stepmark list` shows all; name one")
        })
    }

    /// Help on starting a project: its first workflow and file.
    pub(crate) fn beginning(&self) -> String {
        let workflows = self.workspace.workflows();
        let names: BTreeSet<String> =
            (0..workflows.len()).filter_map(|index| workflows.name(index)).collect();
        // Projects begin with a brief, a PRD or a spec.
        let place = |name: &String| FIRST.iter().position(|word| name.contains(word)).unwrap_or(FIRST.len());
        let mut names: Vec<String> = names.into_iter().collect();
        names.sort_by_key(place);
        let named: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
        if named.is_empty() {
            return "a Markdown file with `stepsCompleted` or `status` in its frontmatter is one".to_owned();
        }
        format!(
            "have your agent begin a workflow ({}, …): the document that it writes is shown here",
            named.join(", ")
        )
    }

    pub(crate) fn several_unfinished(&self, paths: &[ProjectPath], exit: Exit) -> Result<Failure, Failure> {
        let found = self.workspace.artifacts()?;
        let first: Vec<&ProjectPath> = paths.iter().take(NAMED).collect();
        let names = short_names(&first, found.artifacts.iter().map(TrackedArtifact::path));
        let named: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let more = paths.len().saturating_sub(NAMED);
        let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
        let count = spinner::count(paths.len(), "artifact");
        let message = format!("no artifact is named, and {count} are unfinished: {}{rest}", named.join(", "));
        Ok(Failure::new(exit, message).with_help("name one; `stepmark status` shows what comes next in each"))
    }

    pub(crate) fn artifact_and_steps<'w>(
        &self,
        words: &'w [String],
    ) -> Result<(ProjectPath, &'w [String]), Failure> {
        let Some((first, steps)) = words.split_first() else {
            return Err(Failure::new(Exit::Usage, "name a step"));
        };
        let is_file = Environment::exists(&self.place(Path::new(first)));
        if steps.is_empty() {
            let of_active = |path: &ProjectPath| self.may_be_step(path, first).unwrap_or(false);
            let is_step = || {
                is_spelled_as_step(first) || self.artifact_or_active(None).is_ok_and(|path| of_active(&path))
            };
            if is_file || !is_step() && self.is_called(first)? {
                return Err(self.without_step(first));
            }
            return Ok((self.artifact_or_active(None)?, words));
        }
        // All that looks like a path is one, so that a typo is reported as a missing file.
        let is_path = is_file || first.contains('/') || first.ends_with(".md");
        if is_path || self.is_called(first)? {
            return Ok((self.artifact_path(Path::new(first))?, steps));
        }
        match self.artifact_or_active(None) {
            Ok(path) if self.may_be_step(&path, first)? => Ok((path, words)),
            Err(failure) if is_spelled_as_step(first) => Err(failure),
            _ => {
                let message = format!("there is no artifact `{first}`");
                Err(Failure::new(Exit::Usage, message).with_help("`stepmark status` lists what there is"))
            }
        }
    }

    fn without_step(&self, name: &str) -> Failure {
        let artifact =
            self.artifact_path(Path::new(name)).and_then(|path| Ok(self.workspace.artifact(&path)?));
        let next = artifact.ok().and_then(|artifact| match artifact.progress()?.next {
            Next::Step { step, .. } => Some(step.name().to_owned()),
            _ => None,
        });
        let help = match next {
            Some(step) => format!("the next one is `{step}`"),
            None => format!("`stepmark next {name}` says which is the next"),
        };
        Failure::new(Exit::Usage, format!("name a step of `{name}`")).with_help(help)
    }

    fn may_be_step(&self, path: &ProjectPath, word: &str) -> Result<bool, Failure> {
        if is_spelled_as_step(word) {
            return Ok(true);
        }
        let artifact = self.workspace.artifact(path)?;
        let id = StepId::parse(word);
        Ok(artifact.workflow().is_some_and(|workflow| workflow.chain.find(&id) != StepMatch::None)
            || artifact.steps().completed().iter().any(|listed| listed.spelling() == word))
    }
}

/// `3`, `02b`, `step-03-success`; not `1.2` or `1-2-lamp`, which is a story.
fn is_spelled_as_step(word: &str) -> bool {
    word.starts_with("step-")
        || word.starts_with(|first: char| first.is_ascii_digit()) && !word.contains(['.', '-'])
}
