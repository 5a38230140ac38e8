//! Kinds of records: under which keys a system says what every artifact says.

use super::{Field, ProjectPath, state_region};
use crate::spelling::argument;
use stepmark_frontmatter::Region;

/// The frontmatter key that names the kind of a record.
pub const KIND_KEY: &str = "stepmark_kind";

/// A kind of records of a system: the keys from which the typed view is filled, and the commands that move a
/// record on.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// The name of several.
    pub plural: &'static str,
    /// The key of its system in the configuration.
    pub system: &'static str,
    /// True if a record is work: it can be next, is done at some time, and has a ticket.
    pub is_work: bool,
    /// The key of the title, which is its first line.
    pub title: Option<&'static str>,
    /// The key of the id of the record that it is a part of.
    pub parent: Option<&'static str>,
    /// The key of the agent that works on it.
    pub agent: Option<&'static str>,
    /// The commands that move a record on, by the state of its lifecycle; `ID` stands for its id. None for a
    /// kind that the commands of every artifact move on.
    pub commands: &'static [(&'static str, &'static str)],
}

/// The keys of the agent of an artifact that is of no kind, or whose kind names none.
const AGENT_KEYS: [&str; 3] = ["assignee", "agent", "owner"];

/// All kinds. A system adds its own here.
static KINDS: [Kind; 10] = [
    Kind {
        name: "task",
        plural: "tasks",
        is_work: true,
        title: Some("description"),
        parent: Some("parent_id"),
        agent: Some("claimed_by"),
        commands: &[
            ("pending", "task free ID"),
            ("blocked", "task free ID"),
            ("available", "task claim ID"),
            ("claimed", "task start ID"),
            ("in_progress", "task done ID"),
            ("failed", "task retry ID"),
        ],
        ..Kind::of_system("coordination")
    },
    Kind {
        name: "coordination",
        plural: "coordinations",
        title: Some("goal"),
        ..Kind::of_system("coordination")
    },
    Kind { name: "agent", plural: "agents", ..Kind::of_system("coordination") },
    Kind {
        name: "discovery",
        plural: "discoveries",
        agent: Some("agent_id"),
        ..Kind::of_system("coordination")
    },
    Kind { name: "asdd-project", plural: "projects", ..Kind::of_system("asdd") },
    Kind {
        name: "asdd-slice",
        plural: "slices",
        is_work: true,
        title: Some("name"),
        commands: &[
            ("DISCOVERY", "asdd begin ID"),
            ("SPEC", "asdd begin ID"),
            ("VALIDATION", "asdd begin ID"),
            ("PARTIAL", "asdd begin ID"),
            ("DESIGN", "asdd begin ID"),
            ("IMPLEMENTATION", "asdd begin ID"),
            ("CI_CD", "asdd begin ID"),
            ("OBSERVABILITY", "asdd begin ID"),
            ("QUICK_FIX", "asdd begin ID"),
            ("BEHAVIOR_CAPTURE", "asdd begin ID"),
            ("BLOCKED", "asdd unblock ID"),
            ("LOCK", "asdd proposals"),
            ("NEEDS_HUMAN_REVIEW", "asdd review ID"),
        ],
        ..Kind::of_system("asdd")
    },
    Kind {
        name: "task-graph",
        plural: "graphs",
        commands: &[("DRAFT", "flow create ID")],
        ..Kind::of_system("flows")
    },
    Kind {
        name: "task-flow",
        plural: "flows",
        is_work: true,
        commands: &[
            ("CREATED", "flow start ID"),
            ("RUNNING", "flow next ID"),
            ("PAUSED", "flow resume ID"),
            ("COMPLETED", "flow merge prepare ID"),
            ("FROZEN_FOR_MERGE", "flow merge approve ID"),
        ],
        ..Kind::of_system("flows")
    },
    Kind {
        name: "task-execution",
        plural: "executions",
        is_work: true,
        parent: Some("flow"),
        commands: &[
            ("PENDING", "flow next ID"),
            ("READY", "flow next ID"),
            ("RETRY", "flow next ID"),
            ("RUNNING", "flow attempt end ID"),
            ("VERIFYING", "flow verify ID"),
            ("FAILED", "flow retry ID"),
            ("ESCALATED", "flow retry ID"),
        ],
        ..Kind::of_system("flows")
    },
    // Known by the name of its file.
    Kind {
        name: "autodev",
        plural: "flows",
        is_work: true,
        commands: &[
            ("not_started", "autodev start"),
            ("in_progress", "autodev complete"),
            ("failed", "autodev retry --reset"),
        ],
        ..Kind::of_system("autodev")
    },
];

impl Kind {
    /// A kind without a name, of which a system says only what differs.
    const fn of_system(system: &'static str) -> Self {
        Self {
            name: "",
            plural: "",
            system,
            is_work: false,
            title: None,
            parent: None,
            agent: None,
            commands: &[],
        }
    }

    /// All kinds.
    pub fn all() -> &'static [Self] {
        &KINDS
    }

    /// The kind that a record names under [`KIND_KEY`].
    pub fn named(name: &str) -> Option<&'static Self> {
        KINDS.iter().find(|kind| kind.name == name)
    }

    /// The kind of the file at `path`, where its name says it.
    pub(super) fn of_file(path: &ProjectPath) -> Option<&'static Self> {
        (state_region(path) != Region::Frontmatter).then(|| Self::named("autodev"))?
    }

    /// The command behind `stepmark` that moves the record `id` on from `state`.
    pub fn command(&self, state: &str, id: &str) -> Option<String> {
        let (_, command) = self.commands.iter().find(|(own, _)| *own == state)?;
        Some(command.replace("ID", &argument(id)))
    }

    /// The command whose parts move records of the kind, where it has some of its own: `stepmark task`.
    pub fn mover(&self) -> Option<String> {
        let (_, command) = self.commands.first()?;
        command.split(' ').next().map(|word| format!("stepmark {word}"))
    }

    /// The title, the parent and the agent that the fields under its keys say; `field` reads one.
    pub(super) fn read(kind: Option<&Self>, field: impl Fn(&str) -> Option<Field>) -> KindFields {
        let filled = |key: &str| field(key).filter(|field| field.filled().is_some());
        let own = |key: fn(&Self) -> Option<&'static str>| filled(kind.and_then(key)?);
        let title = own(|kind| kind.title).and_then(|field| {
            let line = field.text.lines().map(str::trim).find(|line| !line.is_empty())?.to_owned();
            Some(Field { text: line, ..field })
        });
        let agent = match kind.and_then(|kind| kind.agent) {
            Some(key) => filled(key),
            None => AGENT_KEYS.into_iter().find_map(filled),
        };
        KindFields { title, parent: own(|kind| kind.parent), agent }
    }
}

/// The fields that a kind fills.
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
        for kind in Kind::all() {
            assert_eq!(Kind::named(kind.name), Some(kind));
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
            assert_eq!(artifact.state().kind.map(|kind| kind.name), Some(name));
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
