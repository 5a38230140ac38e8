//! `stepmark scope`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use stepmark_model::{
    artifact,
    journal::ActorKind,
    transition::{Command, Confidence, ScopeSource, Strictness},
};
use stepmark_store::changes::ChangeReason;

use super::change;
use crate::{
    arguments::reason,
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};

/// Say how big the work of an artifact is, and who says so
///
/// Sets `scope`, `scope_source` and, for an AI, `scope_confidence`. The scope that a person gave stands: an
/// AI that would change it is refused.
#[derive(Debug, Args)]
pub(crate) struct Scope {
    /// The artifact
    artifact: PathBuf,
    /// How big the work is
    scope: ScopeWord,
    /// Who says so; without it whoever acts: an agent is an AI
    #[arg(long, ignore_case = true, value_name = "WHO")]
    by: Option<Source>,
    /// How sure the AI is, from 0 to 1
    #[arg(long, value_name = "N")]
    confidence: Option<Confidence>,
    /// Why, for history
    #[arg(short = 'm', long, value_name = "TEXT", value_parser = reason)]
    reason: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ScopeWord {
    Micro,
    Small,
    Medium,
    Large,
    Epic,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Source {
    Human,
    Ai,
}

impl Scope {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let scope = match self.scope {
            ScopeWord::Micro => artifact::Scope::Micro,
            ScopeWord::Small => artifact::Scope::Small,
            ScopeWord::Medium => artifact::Scope::Medium,
            ScopeWord::Large => artifact::Scope::Large,
            ScopeWord::Epic => artifact::Scope::Epic,
        };
        let command = Command::Scope { scope, source: self.source(project)? };
        let path = project.artifact_path(&self.artifact)?;
        let reason = ChangeReason::said(self.reason.clone());
        change::execute(project, output, &path, (&command, Strictness::Warn), reason)
    }

    fn source(&self, project: &Project) -> Result<ScopeSource, Failure> {
        let actor = &project.workspace.attribution().actor;
        let by_default = if actor.kind == ActorKind::Agent { Source::Ai } else { Source::Human };
        match (self.by.unwrap_or(by_default), self.confidence) {
            (Source::Ai, confidence) => Ok(ScopeSource::Ai { confidence }),
            (Source::Human, None) => Ok(ScopeSource::Human),
            (Source::Human, Some(_)) => Err(Failure::new(Exit::Usage, "only an AI has a confidence")
                .with_help("say `--by ai`, or leave `--confidence` out")),
        }
    }
}
