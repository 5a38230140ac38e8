//! `stepmark tree`

use std::path::PathBuf;

use clap::Args;
use stepmark_model::{
    delegation::{Chains, Completion, Forest, ForestRow, Member},
    tracked_artifact::TrackedArtifact,
};
use stepmark_store::workspace::ChainLink;

use crate::{
    exit::{Exit, Failure},
    output::{ListArguments, Output, bar, on_one_line, spinner, table, with_spinner},
    project::Project,
};

/// Show the trees of delegation: who works on what, and how far it is
#[derive(Debug, Args)]
pub(crate) struct Tree {
    /// Only this artifact and what was delegated from it
    artifact: Option<PathBuf>,
    /// Only the way from the root of its chain to this artifact; reads no other files
    #[arg(long, requires = "artifact")]
    up: bool,
    #[command(flatten)]
    list: ListArguments,
}

impl Tree {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let path = self.artifact.as_deref().map(|given| project.artifact_path(given)).transpose()?;
        if let (Some(path), true) = (&path, self.up) {
            print_chain(output, &project.workspace.delegations().chain(path)?, &self.list)?;
            return Ok(Exit::Fine);
        }
        if let Some(path) = &path {
            // A folder is a mistake, not an empty tree.
            project.workspace.artifact(path)?;
        }
        let mut summaries =
            with_spinner("reading artifacts", output.quiet, project.workspace.files_looked_at(), || {
                project.workspace.checks().summaries()
            })?;
        summaries.keep();
        let found = summaries.found();
        let chains = Chains::of(summaries.rows().filter_map(|row| row.member()));
        let forest = Forest::of(&chains);
        let rows = path.as_ref().map_or(forest.rows.as_slice(), |path| forest.below(path));
        let mut rows = rows.to_vec();
        let more = self.list.cut(&mut rows);
        print_rows(output, &rows, more, &self.list)?;
        spinner::unreadable(found).iter().for_each(|problem| output.warning(problem));
        Ok(if found.is_whole() { Exit::Fine } else { Exit::Io })
    }
}

fn print_rows(
    output: &Output,
    rows: &[ForestRow<'_>],
    more: usize,
    list: &ListArguments,
) -> Result<(), Failure> {
    if output.json {
        let nodes: Vec<_> = rows.iter().map(|row| node(row.member, row.level, row.is_cut_off)).collect();
        let nodes = list.keep_fields(nodes)?;
        output.json("stepmark.tree/1", serde_json::json!({"nodes": nodes, "more": more}));
        return Ok(());
    }
    if rows.is_empty() {
        output.remark("nothing is delegated");
        return Ok(());
    }
    let top = rows.first().map_or(0, |row| row.level);
    // Whether a line goes on below each level.
    let mut goes_on: Vec<bool> = Vec::new();
    let lines: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let level = row.level - top;
            goes_on.truncate(level);
            let mut name: String =
                goes_on.iter().skip(1).map(|goes_on| if *goes_on { "│  " } else { "   " }).collect();
            if level > 0 {
                name.push_str(if row.is_last { "└─ " } else { "├─ " });
            }
            goes_on.push(level == 0 || !row.is_last);
            name.push_str(row.member.path.as_str());
            name.push_str(&title(row.member));
            if row.is_cut_off {
                name.push_str(" (its parent is missing)");
            }
            cells(name, row.member)
        })
        .collect();
    output.line(table(&["ARTIFACT", "AGENT", "DONE", "STATUS"], lines));
    if more > 0 {
        output.remark(format_args!("and {more} more"));
    }
    Ok(())
}

fn print_chain(output: &Output, links: &[ChainLink], list: &ListArguments) -> Result<(), Failure> {
    let members: Vec<(&ChainLink, Option<Member>)> =
        links.iter().map(|link| (link, link.artifact.as_ref().map(TrackedArtifact::member))).collect();
    if output.json {
        let nodes: Vec<_> = members
            .iter()
            .enumerate()
            .map(|(level, (link, member))| match member {
                Some(member) => node(member, level, false),
                None => serde_json::json!({"path": null, "id": link.id, "level": level}),
            })
            .collect();
        output.json("stepmark.chain/1", serde_json::json!({"nodes": list.keep_fields(nodes)?}));
        return Ok(());
    }
    let lines = members.iter().enumerate().map(|(level, (link, member))| {
        let indent = "   ".repeat(level.saturating_sub(1)) + if level > 0 { "└─ " } else { "" };
        match member {
            Some(member) => cells(format!("{indent}{}{}", member.path, title(member)), member),
            None => vec![format!("{indent}? no artifact has the id {}", link.id)],
        }
    });
    output.line(table(&["ARTIFACT", "AGENT", "DONE", "STATUS"], lines));
    Ok(())
}

fn title(member: &Member) -> String {
    let title = member.kind.and(member.title.as_deref());
    title.map_or_else(String::new, |title| format!("  {}", on_one_line(title)))
}

fn cells(name: String, member: &Member) -> Vec<String> {
    let dash = || "-".to_owned();
    vec![
        name,
        member.agent.as_ref().map_or_else(dash, |agent| agent.0.clone()),
        member.progress.map_or_else(dash, |(done, total)| bar(done, total)),
        member.status.clone().unwrap_or_else(dash),
    ]
}

fn node(member: &Member, level: usize, is_cut_off: bool) -> serde_json::Value {
    let Completion { by_workflow, by_status } = member.completion;
    serde_json::json!({
        "path": member.path.as_str(),
        "id": member.id(),
        "parent_id": member.parent_id(),
        "level": level,
        "title": member.title,
        "agent": member.agent.as_ref().map(|agent| &agent.0),
        "status": member.status,
        "done": member.progress.map(|(done, _)| done),
        "total": member.progress.map(|(_, total)| total),
        "finished": by_workflow || by_status,
        "cut_off": is_cut_off,
    })
}
