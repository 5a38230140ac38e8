//! Kinds of records: under which keys a system says what every artifact says.

use super::{Field, ProjectPath, state_region};
use stepmark_frontmatter::Region;
pub use stepmark_packs::Kind;

pub const KIND_KEY: &str = "stepmark_kind";

/// The keys of the agent of an artifact that is of no kind, or whose kind names none.
const AGENT_KEYS: [&str; 3] = ["assignee", "agent", "owner"];

pub(super) fn of_file(path: &ProjectPath) -> Option<&'static Kind> {
    (state_region(path) != Region::Frontmatter).then(|| Kind::named("autodev"))?
}

/// The title, the parent and the agent that the fields under its keys say; `field` reads one.
pub(super) fn fields(kind: Option<&Kind>, field: impl Fn(&str) -> Option<Field>) -> KindFields {
    let filled = |key: &str| field(key).filter(|field| field.filled().is_some());
    let own = |key: fn(&Kind) -> Option<&str>| filled(kind.and_then(key)?);
    let title = own(|kind| kind.title.as_deref()).and_then(|field| {
        let line = field.text.lines().map(str::trim).find(|line| !line.is_empty())?.to_owned();
        Some(Field { text: line, ..field })
    });
    let agent = match kind.and_then(|kind| kind.agent.as_deref()) {
        Some(key) => filled(key),
        None => AGENT_KEYS.into_iter().find_map(filled),
    };
    KindFields { title, parent: own(|kind| kind.parent.as_deref()), agent }
}

#[derive(Debug, Default)]
pub(super) struct KindFields {
    pub(super) title: Option<Field>,
    pub(super) parent: Option<Field>,
    pub(super) agent: Option<Field>,
}

#[cfg(test)]
mod tests {
    use crate::artifact::{Artifact, Delegation};

    use super::*;

    fn read(path: &str, text: &str) -> Artifact {
        Artifact::read(ProjectPath::new(path).unwrap(), text.as_bytes().to_vec())
    }

    #[test]
    fn each_kind_has_a_name_of_its_own() {
        for kind in Kind::all().iter().copied() {
            assert_eq!(Kind::named(&kind.name), Some(kind));
            assert!(!kind.plural.is_empty() && (!kind.is_work || !kind.commands.is_empty()), "{kind:?}");
        }
    }

    #[test]
    fn a_record_is_seen_through_its_kind() {
        for (text, title, parent, agent) in [
            ("description: Parse\nclaimed_by: w1\nparent_id: t0\nowner: ana", "Parse", "t0", "w1"),
            ("description: |\n\n  Parse it\n  all\ntitle: other\nowner: ana", "Parse it", "-", "-"),
            ("title: Named\nclaimed_by: null\nparent_id: ''", "Named", "-", "-"),
        ] {
            let file = format!("---\nid: t1\nstatus: available\n{text}\nstepmark_kind: task\n---\n");
            let state = read("t1.md", &file).state().clone();
            let said =
                |field: &Option<Field>| field.as_ref().and_then(Field::filled).unwrap_or("-").to_owned();
            let above = state.delegation.as_ref().and_then(Delegation::parent_id).unwrap_or("-");
            let found = (said(&state.title), above, said(&state.agent));
            assert_eq!(found, (title.to_owned(), parent, agent.to_owned()), "{file}");
        }
    }

    #[test]
    fn an_artifact_of_no_kind_is_read_as_ever() {
        for kind in ["", "stepmark_kind: other\n", "stepmark_kind: [task]\n"] {
            let file =
                format!("---\n{kind}status: draft\ndescription: D\nparent_id: p\nagent: a\nowner: b\n---\n");
            let state = read("a.md", &file).state().clone();
            assert!(state.kind.is_none() && state.title.is_none() && state.delegation.is_none(), "{file}");
            assert_eq!(state.agent.map(|agent| agent.text).as_deref(), Some("a"), "{file}");
        }
    }

    #[test]
    fn every_record_is_an_artifact() {
        for (path, text, name) in [
            ("a.md", "---\nstepmark_kind: agent\nagent: w1\n---\n", "agent"),
            ("d.md", "---\nid: d1\nstepmark_kind: discovery\n---\nFound\n", "discovery"),
            ("_docs/_autodev_state.md", "## Current Step\nstep: 3\n", "autodev"),
        ] {
            let artifact = read(path, text);
            assert!(artifact.is_tracked(), "{path}");
            assert_eq!(artifact.state().kind.map(|kind| kind.name.as_str()), Some(name));
        }
    }

    #[test]
    fn the_state_says_the_command() {
        let task = Kind::named("task").unwrap();
        assert_eq!(task.command("available", "t1").as_deref(), Some("task claim t1"));
        assert_eq!(task.command("claimed", "a b").as_deref(), Some("task start 'a b'"));
        assert_eq!(task.command("done", "t1"), None);
        assert_eq!(task.mover().as_deref(), Some("stepmark task"));
    }
}
