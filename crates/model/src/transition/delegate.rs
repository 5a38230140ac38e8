//! Giving work to an agent in an artifact of its own.

use super::TransitionRefusal;
use crate::{
    artifact::Artifact,
    delegation::{ChainPosition, Completion, Member},
};
use stepmark_frontmatter::{Edit, EditError, KeyPath, Region, Value, apply};

/// The changes when work is delegated.
#[derive(Clone, Debug, PartialEq)]
pub struct DelegationPlan {
    /// Edits of the parent: it gets an id and a place, if it has none.
    pub parent: Vec<Edit>,
    pub from: ChainPosition,
    pub position: ChainPosition,
}

/// A new artifact that holds delegated work.
#[derive(Clone, Copy, Debug)]
pub struct NewChild<'a> {
    pub position: &'a ChainPosition,
    pub title: &'a str,
    /// The agent that is to do the work.
    pub agent: &'a str,
    pub task: Option<&'a str>,
    /// A link to the parent's file, seen from the child's folder.
    pub parent_link: &'a str,
}

pub fn delegate(
    parent: &Artifact,
    completion: Completion,
    parent_id: &str,
    child_id: &str,
) -> Result<DelegationPlan, TransitionRefusal> {
    super::decide::refuse_unreadable(parent)?;
    if completion.is_finished() {
        return Err(TransitionRefusal::Finished);
    }
    let member = Member::of(parent, None);
    let from = ChainPosition::of(&member, parent_id)?;
    let position = from.child(child_id)?;
    let mut edits = Vec::new();
    if member.identity.is_none() {
        edits.push(Edit::Set { path: KeyPath::key("stepmark_id"), value: Value::from(from.id()) });
    }
    if member.delegation.is_none() {
        edits.push(Edit::Set { path: KeyPath::key("delegation"), value: from.to_value() });
    }
    Ok(DelegationPlan { parent: edits, from, position })
}

impl NewChild<'_> {
    pub fn to_bytes(&self) -> Result<Vec<u8>, EditError> {
        let title = self.title.trim();
        let task = self.task.map_or_else(String::new, |task| format!("\n{}\n", task.trim_end()));
        let file = format!(
            "---\nstatus: todo\nstepsCompleted: []\n---\n\n# {}\n\nDelegated from [{link}]({link}).\n{task}",
            title.replace(['\n', '\r'], " "),
            link = self.parent_link,
        );
        let set = |key: &str, value| Edit::Set { path: KeyPath::key(key), value };
        let edits = [
            set("title", Value::from(title)),
            set("assignee", Value::from(self.agent)),
            set("stepmark_id", Value::from(self.position.id())),
            set("delegation", self.position.to_value()),
        ];
        Ok(apply(file.as_bytes(), &Region::Frontmatter, &edits)?.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::ProjectPath;

    fn artifact(file: &str) -> Artifact {
        Artifact::read(ProjectPath::new("docs/prd.md").unwrap(), file.as_bytes().to_vec())
    }

    #[test]
    fn a_parent_gets_what_it_lacks_and_no_more() {
        for (file, keys, chain) in [
            ("---\nstatus: draft\n---\n", &["stepmark_id", "delegation"][..], ["new", "c"]),
            ("---\nid: PRD-1\n---\n", &["delegation"], ["PRD-1", "c"]),
            ("---\nid: x\ndelegation: {id: x}\n---\n", &[], ["x", "c"]),
            ("---\ndelegation: {id: y}\n---\n", &["stepmark_id"], ["y", "c"]),
        ] {
            let plan = delegate(&artifact(file), Completion::default(), "new", "c").unwrap();
            let edited: Vec<String> = plan.parent.iter().map(|edit| edit.path().to_string()).collect();
            assert_eq!(
                (edited, plan.position.chain()),
                (keys.iter().map(|key| (*key).to_owned()).collect(), &chain.map(str::to_owned)[..]),
                "{file}"
            );
            assert!(apply(file.as_bytes(), &Region::Frontmatter, &plan.parent).is_ok());
        }
        let finished = Completion { by_status: true, ..Completion::default() };
        assert_eq!(
            delegate(&artifact("---\nid: a\n---\n"), finished, "n", "c"),
            Err(TransitionRefusal::Finished)
        );
        let broken = delegate(&artifact("---\na: [\n---\n"), Completion::default(), "n", "c");
        assert!(matches!(broken, Err(TransitionRefusal::Unreadable { .. })));
    }

    #[test]
    fn a_child_says_what_it_was_given() {
        let position = ChainPosition::root("r").child("c-1").unwrap();
        let child = NewChild {
            position: &position,
            title: "Review: the \"API\" # now\n",
            agent: "yes",
            task: Some("Look at it.\n\n---\nkey: value\n"),
            parent_link: "../prd.md",
        };
        let bytes = child.to_bytes().unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        let read = Artifact::read(ProjectPath::new("docs/c.md").unwrap(), bytes);
        assert!(read.diagnoses().is_empty(), "{text}\n{:?}", read.diagnoses());
        let state = read.state_value().unwrap();
        assert_eq!(
            (state["title"].as_str(), state["assignee"].as_str()),
            (Some("Review: the \"API\" # now"), Some("yes")),
            "{text}"
        );
        assert_eq!(
            (state["status"].as_str(), &state["stepsCompleted"]),
            (Some("todo"), &serde_json::json!([]))
        );
        assert_eq!(state["delegation"]["chain_path"], serde_json::json!(["r", "c-1"]));
        assert!(text.ends_with("\nLook at it.\n\n---\nkey: value\n"), "{text}");
    }
}
