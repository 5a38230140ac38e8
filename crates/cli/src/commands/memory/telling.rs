//! `stepmark memory remember`, `decide` and `supersede`

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use stepmark_memory::{Decision, Draft, MemoryKind, supersession};
use stepmark_store::configuration::Track;

use super::open;
use crate::{
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};

const SCHEMA: &str = "stepmark.memory-told/1";

/// Facts told beside a memory.
#[derive(Debug, Args)]
struct About {
    /// The artifact that it is about: its path or id
    #[arg(long)]
    artifact: Option<PathBuf>,
    /// A word to find it by; once for each
    #[arg(long = "tag")]
    tags: Vec<String>,
    /// Its importance, from 0 to 1
    #[arg(long, value_name = "NUMBER")]
    importance: Option<f64>,
    /// Its certainty, from 0 to 1
    #[arg(long, value_name = "NUMBER")]
    confidence: Option<f64>,
    /// The memory whose place it takes
    #[arg(long, value_name = "ID")]
    supersedes: Option<String>,
}

/// Remember something: a learning, unless --kind says otherwise
#[derive(Debug, Args)]
pub(super) struct Remember {
    /// The text
    text: String,
    /// Its kind: decision, error, security, preference, learning, observation, pattern, documentation
    #[arg(long)]
    kind: Option<MemoryKind>,
    /// The reason
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
    #[command(flatten)]
    about: About,
}

/// Remember a decision with its reason and what was rejected
#[derive(Debug, Args)]
pub(super) struct Decide {
    /// The question
    question: String,
    /// The answer
    #[arg(long)]
    chosen: String,
    /// The reason
    #[arg(long, value_name = "TEXT")]
    because: String,
    /// An answer that was rejected; once for each
    #[arg(long = "rejected", value_name = "ANSWER")]
    alternatives: Vec<String>,
    #[command(flatten)]
    about: About,
}

/// Say that one memory takes the place of another, which is kept and no longer recalled
#[derive(Debug, Args)]
pub(super) struct Supersede {
    /// The memory that no longer holds
    id: String,
    /// The one that holds instead
    #[arg(long, value_name = "ID")]
    by: String,
}

impl Remember {
    pub(super) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let draft = Draft {
            kind: self.kind,
            content: self.text.clone(),
            rationale: self.why.clone(),
            ..Draft::default()
        };
        tell(draft, &self.about, project, output)
    }
}

impl Decide {
    pub(super) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let decision = Decision {
            question: self.question.clone(),
            chosen: self.chosen.clone(),
            alternatives: self.alternatives.clone(),
        };
        tell(Draft::of_decision(decision, Some(self.because.clone())), &self.about, project, output)
    }
}

impl Supersede {
    pub(super) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let memory = open(project)?;
        let (old, new) = (memory.record(&self.id)?.id, memory.record(&self.by)?.id);
        if old == new {
            return Err(Failure::new(Exit::Findings, "a memory cannot take its own place"));
        }
        let (mut later, mut at) = (vec![new.clone()], 0);
        while let Some(id) = later.get(at).cloned() {
            let next = memory.superseded_by(&id)?;
            later.extend(next.into_iter().filter(|id| !later.contains(id)).collect::<Vec<_>>());
            at += 1;
        }
        if later.contains(&old) {
            let why = format!("{old:.8} took the place of {new:.8}: in a circle neither would be recalled");
            return Err(Failure::new(Exit::Findings, why).with_help(
                "decide anew: `stepmark memory decide … --supersedes` makes a memory of its own",
            ));
        }
        project.workspace.history().append_event(supersession(&old, &new, is_local(project)))?;
        output.json_or(
            SCHEMA,
            || json!({"id": new, "supersedes": old}),
            || output.line(format_args!("{:.8} takes the place of {:.8}", new, old)),
        );
        Ok(Exit::Fine)
    }
}

fn tell(mut draft: Draft, about: &About, project: &Project, output: &Output) -> Result<Exit, Failure> {
    draft = about_artifact(draft, about.artifact.as_deref(), project)?;
    draft.tags.clone_from(&about.tags);
    (draft.importance, draft.confidence) = (about.importance, about.confidence);
    let old = about.supersedes.as_deref().map(|id| Ok::<_, Failure>(open(project)?.record(id)?.id));
    let old = old.transpose()?;
    let id = told(&draft, project)?;
    if let Some(old) = &old {
        project.workspace.history().append_event(supersession(old, &id, is_local(project)))?;
    }
    output.json_or(
        SCHEMA,
        || json!({"id": id, "supersedes": old}),
        || output.line(format_args!("{id:.8}  {}", stepmark_memory::context::plain(&draft.content, 200))),
    );
    Ok(Exit::Fine)
}

pub(super) fn about_artifact(
    draft: Draft,
    artifact: Option<&Path>,
    project: &Project,
) -> Result<Draft, Failure> {
    let Some(artifact) = artifact else { return Ok(draft) };
    let (key, path) = project.identity(artifact)?;
    Ok(Draft { key: Some(key.to_string()), artifact: Some(path.to_string()), ..draft })
}

pub(super) fn told(draft: &Draft, project: &Project) -> Result<String, Failure> {
    let event = draft.event(is_local(project))?.with_command("memory remember");
    Ok(project.workspace.history().append_event(event)?.id.to_string())
}

fn is_local(project: &Project) -> bool {
    project.workspace.configuration().memory.track == Track::Local
}
