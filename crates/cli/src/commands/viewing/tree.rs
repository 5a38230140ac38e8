//! `stepmark tree`

use std::path::PathBuf;

use clap::Args;
use stepmark_model::{
    artifact::ProjectPath,
    delegation::{Chains, Completion, Forest, ForestRow, Member},
    tracked_artifact::TrackedArtifact,
};
use stepmark_store::workspace::ChainLink;

use crate::{
    exit::{Exit, Failure},
    output::{ListArguments, Output, Row, bar, on_one_line, spinner, table, with_spinner},
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
        let nodes = rows.iter().map(|row| Node::of(row.member, row.level, row.is_cut_off));
        let nodes = list.keep_fields(nodes)?;
        output.answer(|| Answer::Tree { nodes, more });
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
    list.remark_more(more, output);
    Ok(())
}

fn print_chain(output: &Output, links: &[ChainLink], list: &ListArguments) -> Result<(), Failure> {
    let members: Vec<(&ChainLink, Option<Member>)> =
        links.iter().map(|link| (link, link.artifact.as_ref().map(TrackedArtifact::member))).collect();
    if output.json {
        let nodes = members.iter().enumerate().map(|(level, (link, member))| match member {
            Some(member) => ChainNode::Known(Node::of(member, level, false)),
            None => ChainNode::Unknown { path: None, id: &link.id, level },
        });
        let nodes = list.keep_fields(nodes)?;
        output.answer(|| Answer::Chain { nodes });
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

answers! { Answer<'a>
    /// `tree`: artifacts by delegation
    "stepmark.tree/1" Tree { nodes: Vec<Row<Node<'a>>>, more: usize }
    /// `tree --up`: the chain above an artifact
    "stepmark.chain/1" Chain { nodes: Vec<Row<ChainNode<'a>>> }
    struct Node<'a> {
        path: &'a ProjectPath, id: Option<&'a str>, parent_id: Option<&'a str>, level: usize,
        title: Option<&'a str>, agent: Option<&'a str>, status: Option<&'a str>, done: Option<usize>,
        total: Option<usize>, finished: bool, cut_off: bool,
    }
    enum ChainNode<'a> {
        Known(Node<'a>),
        Unknown { path: Option<&'a ProjectPath>, id: &'a str, level: usize },
    }
}

impl<'a> Node<'a> {
    fn of(member: &'a Member, level: usize, cut_off: bool) -> Self {
        let Completion { by_workflow, by_status } = member.completion;
        Self {
            path: &member.path,
            id: member.id(),
            parent_id: member.parent_id(),
            level,
            title: member.title.as_deref(),
            agent: member.agent.as_ref().map(|agent| &*agent.0),
            status: member.status.as_deref(),
            done: member.progress.map(|(done, _)| done),
            total: member.progress.map(|(_, total)| total),
            finished: by_workflow || by_status,
            cut_off,
        }
    }
}
