//! Delegation: creates the child and completes the parent in one commit.

use crate::Error;
use crate::changes::{exists, not_edited};
use crate::commit::FileDecision;
use crate::workspace::{Delegations, Workspace};
use stepmark_frontmatter::apply;
use stepmark_model::{
    artifact::{ProjectPath, state_region},
    delegation::ChainPosition,
    journal::{EventDraft, Kind},
    transition::{NewChild, delegate},
};

#[derive(Clone, Copy, Debug)]
pub struct DelegationOrder<'a> {
    pub parent: &'a ProjectPath,
    pub agent: &'a str,
    pub task: Option<&'a str>,
    /// The file to create; `None`: `AGENT-ID.md` in the configured folder, else in `PARENT.delegations/`
    /// beside the parent.
    pub file: Option<&'a ProjectPath>,
    /// Random, so that no two agents choose the same.
    pub child_id: &'a str,
    pub parent_id: &'a str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delegated {
    pub child: ProjectPath,
    pub position: ChainPosition,
    /// True if the parent lacked an id or a place in a chain.
    pub parent_was_changed: bool,
}

pub(crate) fn default_folder(parent: &ProjectPath) -> ProjectPath {
    let name = format!("{}.delegations", parent.file_stem());
    in_folder(parent.parent().as_ref(), &name)
}

/// `None`: the project's root.
#[expect(clippy::expect_used, reason = "one part without separators below a project path is a project path")]
fn in_folder(folder: Option<&ProjectPath>, name: &str) -> ProjectPath {
    folder.map_or_else(|| ProjectPath::new(name), |folder| folder.join(name)).expect("a relative path")
}

/// Digits of the child's id in its file name: enough to be unique, few enough to read.
const DIGITS: usize = 6;

/// Only letters and digits that every file system accepts.
fn file_name(agent: &str, id: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c.to_ascii_lowercase() } else { '-' };
    let agent: String = agent.chars().map(safe).take(40).collect();
    let agent = agent.trim_matches('-');
    let digits: String = id.chars().filter(char::is_ascii_alphanumeric).take(DIGITS).collect();
    format!("{}-{digits}.md", if agent.is_empty() { "agent" } else { agent })
}

impl Workspace {
    fn delegation_draft(&self, order: &DelegationOrder<'_>, is_child: bool) -> EventDraft {
        let command = format!("delegate {} --to {}", order.parent, order.agent);
        let kind = if is_child { Kind::DELEGATE } else { Kind::CHANGE };
        let draft = EventDraft::new(kind).with_command(command);
        if !is_child {
            return draft;
        }
        draft.with("parent", order.parent.as_str()).with("to", order.agent).with("task", order.task)
    }

    fn decide_delegation(
        &self,
        order: &DelegationOrder<'_>,
        child: &ProjectPath,
        found: &[Option<&[u8]>],
    ) -> Result<(Vec<u8>, stepmark_model::transition::DelegationPlan), Error> {
        let &[Some(parent), existing] = found else {
            return Err(Error::missing(order.parent.clone()));
        };
        if existing.is_some() {
            return Err(exists(child));
        }
        let parent = self.read_again(order.parent, parent)?;
        let plan = delegate(parent.artifact(), parent.completion(), order.parent_id, order.child_id)
            .map_err(|source| Error::left(order.parent, source))?;
        let title = title(order, parent.state().title.as_ref().and_then(|title| title.filled()));
        let link = relative(child, order.parent);
        let new = NewChild {
            position: &plan.position,
            title: &title,
            agent: order.agent,
            task: order.task,
            parent_link: &link,
        };
        let bytes = new.to_bytes().map_err(|source| not_edited(child, &[], source))?;
        Ok((bytes, plan))
    }
}

impl Delegations<'_> {
    /// Creates the child, and gives the parent an id and a place in a chain: both or neither. Locks the
    /// parent, so that it is not finished at the same time.
    pub fn delegate(&self, order: &DelegationOrder<'_>) -> Result<Delegated, Error> {
        let child = match (order.file, self.workspace.configuration().delegation.folder.as_ref()) {
            (Some(file), _) => file.clone(),
            (None, Some(folder)) => in_folder(Some(folder), &file_name(order.agent, order.child_id)),
            (None, None) => {
                in_folder(Some(&default_folder(order.parent)), &file_name(order.agent, order.child_id))
            }
        };
        // A refused delegation changes nothing.
        let parent = self.workspace.artifact(order.parent).map_err(Error::unwritten)?;
        let refused = |source| Error::left(order.parent, source);
        delegate(parent.artifact(), parent.completion(), order.parent_id, order.child_id).map_err(refused)?;
        crate::commit::make_folders_to(self.workspace.root(), &child, self.workspace.commit_options().fsync)
            .map_err(crate::commit::CommitError::from)?;

        let mut delegated = None;
        let draft = |path: &ProjectPath| self.workspace.delegation_draft(order, *path == child);
        self.workspace.change_files(&[order.parent.clone(), child.clone()], draft, |found| {
            let (bytes, plan) = self.workspace.decide_delegation(order, &child, found)?;
            let parent_bytes = found.first().copied().flatten().unwrap_or_default();
            let edited = apply(parent_bytes, &state_region(order.parent), &plan.parent)
                .map_err(|source| not_edited(order.parent, parent_bytes, source))?;
            delegated = Some(Delegated {
                child: child.clone(),
                position: plan.position,
                parent_was_changed: !edited.splices.is_empty(),
            });
            Ok(vec![FileDecision::Write(edited.bytes), FileDecision::Write(bytes)])
        })?;
        // A successful commit has decided at least once.
        delegated.ok_or_else(|| Error::missing(order.parent.clone()).unwritten())
    }
}

/// The task's first line if it is short, otherwise the work's origin.
fn title(order: &DelegationOrder<'_>, parent: Option<&str>) -> String {
    const LONGEST: usize = 100;
    let first = order.task.and_then(|task| task.lines().map(str::trim).find(|line| !line.is_empty()));
    let first =
        first.map(|line| line.trim_start_matches('#').trim()).filter(|line| line.chars().count() <= LONGEST);
    first.filter(|line| !line.is_empty()).map_or_else(
        || format!("{} for {}", parent.unwrap_or_else(|| order.parent.file_stem()), order.agent),
        str::to_owned,
    )
}

fn relative(from: &ProjectPath, to: &ProjectPath) -> String {
    let (from, to): (Vec<&str>, Vec<&str>) =
        (from.as_str().split('/').collect(), to.as_str().split('/').collect());
    let folders = from.len() - 1;
    let common =
        from[..folders].iter().zip(&to[..to.len() - 1]).take_while(|(one, other)| one == other).count();
    let mut parts = vec![".."; folders - common];
    parts.extend(&to[common..]);
    parts.join("/").replace(' ', "%20")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_links() {
        for (agent, id, name) in [
            ("Writer 2", "1a2b3c4d-5e6f", "writer-2-1a2b3c.md"),
            ("agent:../x", "00000000", "agent----x-000000.md"),
            ("é", "1-2", "agent-12.md"),
        ] {
            assert_eq!(file_name(agent, id), name);
        }
        let path = |path: &str| ProjectPath::new(path).unwrap();
        assert_eq!(default_folder(&path("docs/prd.md")), path("docs/prd.delegations"));
        assert_eq!(default_folder(&path("prd.md")), path("prd.delegations"));
        for (from, to, link) in [
            ("docs/prd.delegations/a.md", "docs/prd.md", "../prd.md"),
            ("a.md", "b c.md", "b%20c.md"),
            ("x/y/a.md", "z/b.md", "../../z/b.md"),
            ("x/a.md", "x/y/b.md", "y/b.md"),
        ] {
            assert_eq!(relative(&path(from), &path(to)), link);
        }
    }
}
