//! `stepmark memory recall`, `decisions` and `summary`

use std::path::{Path, PathBuf};

use clap::Args;
use jiff::Timestamp;
use stepmark_memory::{MemoryKind, Query, Recalled};

use super::{
    now, open, report,
    storing::{Store, store_failed},
};
use crate::{
    exit::{Exit, Failure},
    output::{ListArguments, Output},
    project::Project,
};

/// Recall what answers a question, the best first; without one, what matters most
#[derive(Debug, Args)]
pub(super) struct Recall {
    /// The question, in words
    question: Vec<String>,
    /// The artifact that is worked on, by its path or id: what hangs on it comes first
    #[arg(long)]
    artifact: Option<PathBuf>,
    /// Only records of this kind; once for each
    #[arg(long = "kind")]
    kinds: Vec<MemoryKind>,
    /// Only records from this time on: 2026-11-01, or a time of RFC 3339
    #[arg(long, value_parser = time)]
    since: Option<Timestamp>,
    /// Also what was superseded or has ended
    #[arg(long)]
    all: bool,
    /// Say why each stands where it stands
    #[arg(long)]
    explain: bool,
    /// Ask this store of `memory.stores`; the records are shown as this project knows them
    #[arg(long, value_name = "NAME", conflicts_with_all = ["artifact", "kinds", "since", "all", "explain"])]
    store: Option<String>,
    #[command(flatten)]
    list: ListArguments,
}

/// List decisions with reasons and what was rejected, the newest first
#[derive(Debug, Args)]
pub(super) struct Decisions {
    /// Words that they are about
    words: Vec<String>,
    /// Only those that hang on this artifact
    #[arg(long)]
    artifact: Option<PathBuf>,
    /// Also those that no longer hold
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    list: ListArguments,
}

/// Show the summaries of sessions that have ended, the newest first
#[derive(Debug, Args)]
pub(super) struct Summary {
    /// Only that of this session (`--session` before the command is the session that it belongs to)
    id: Option<String>,
    #[command(flatten)]
    list: ListArguments,
}

impl Recall {
    pub(super) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let limit = self.list.limit().unwrap_or(project.workspace.configuration().memory.recall.limit);
        if let Some(name) = &self.store {
            let found = of_store(project, name, &self.question.join(" "), limit)?;
            return report::records((output, &self.list), found, false);
        }
        let query = Query {
            text: self.question.join(" "),
            kinds: self.kinds.clone(),
            artifact: called(project, self.artifact.as_deref()),
            since: self.since,
            all: self.all,
            limit,
            ..Query::default()
        };
        let found = open(project)?.recall(&query, now(project))?;
        report::records((output, &self.list), found, self.explain)
    }
}

impl Decisions {
    pub(super) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let query = Query {
            text: self.words.join(" "),
            artifact: called(project, self.artifact.as_deref()),
            all: self.all,
            ..Query::default()
        };
        let mut found = open(project)?.decisions(&query, now(project))?;
        if self.artifact.is_some() {
            found.retain(|recalled| recalled.score.graph > 0.0);
        }
        report::records((output, &self.list), found, false)
    }
}

impl Summary {
    pub(super) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let query = Query {
            kinds: vec![MemoryKind::Summary],
            session: self.id.clone(),
            all: true,
            limit: usize::MAX,
            ..Query::default()
        };
        let mut found: Vec<Recalled> = open(project)?.recall(&query, now(project))?;
        found.sort_by_key(|recalled| std::cmp::Reverse(recalled.record.created_at));
        report::records((output, &self.list), found, false)
    }
}

fn of_store(project: &Project, name: &str, question: &str, limit: usize) -> Result<Vec<Recalled>, Failure> {
    let memory = open(project)?;
    let mut found = Vec::new();
    for mut store in Store::all(&project.workspace, Some(name), &memory)? {
        let failed = |failure| store_failed(name, &failure);
        for id in store.target.recall(question, limit, now(project)).map_err(failed)? {
            let known = memory.known(&id, now(project))?;
            found
                .extend(known.filter(|known| {
                    known.superseded_by.is_empty() && !known.record.is_expired(now(project))
                }));
        }
    }
    Ok(found)
}

pub(super) fn called(project: &Project, artifact: Option<&Path>) -> Option<String> {
    let artifact = artifact?;
    let known = project.identity(artifact).map(|(_, path)| path.to_string());
    Some(known.unwrap_or_else(|_| artifact.to_string_lossy().into_owned()))
}

fn time(text: &str) -> Result<Timestamp, String> {
    let whole = if text.len() == 10 { format!("{text}T00:00:00Z") } else { text.to_owned() };
    whole.parse().map_err(|_| format!("`{text}` is no time: 2026-11-01 is one, and 2026-11-01T10:00:00Z"))
}
