//! The sections of the configuration that say how the project is run: `autodev:`, `coordination:`, `flows:`,
//! `project:` and `memory:`.

use crate::configuration::scalars::{Count, FilePath, StoreName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, num::NonZeroU32};
use stepmark_model::{artifact::ProjectPath, autodev::Flow, coordination::Format};

/// Declares the settings of a section, and the keys as they are written, each of which may be missing: the
/// type in which it is written, that of the setting, and how the one becomes the other.
macro_rules! section {
    ($(#[$about:meta])* $settings:ident, $keys:ident, $expecting:literal {
        $($(#[doc = $doc:literal])* $(@[$attribute:meta])? $key:ident: $written:ty => $type:ty, |$given:ident| $value:expr;)*
    }) => {
        #[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
        #[serde(expecting = $expecting)]
        pub(super) struct $keys {
            $($(#[$attribute])? pub(super) $key: Option<$written>,)*
        }

        $(#[$about])*
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub struct $settings {
            $($(#[doc = $doc])* pub $key: $type,)*
        }

        impl From<$keys> for $settings {
            fn from(keys: $keys) -> Self {
                Self { $($key: { let $given = keys.$key; $value },)* }
            }
        }
    };
}

section! {
    AutodevSettings, AutodevKeys, "a mapping with `file`, `docs`, `skill`, `flows`, `states` or `summary`" {
        /// The state file: `_docs/_autodev_state.md`.
        file: FilePath => ProjectPath, |given| path(given, "_docs/_autodev_state.md");
        /// The folder of its documents: `_docs`.
        docs: FilePath => ProjectPath, |given| path(given, "_docs");
        /// The folder of the skill, whose flow files are read.
        skill: FilePath => Option<ProjectPath>, |given| given.map(|path| path.0);
        flows: Vec<Flow> => Vec<Flow>, |given| given.unwrap_or_default();
        /// The files in which skills keep a state of their own, by the name of the step that they do.
        states: BTreeMap<String, FilePath> => BTreeMap<String, ProjectPath>, |given| {
            let usual = ("Document".to_owned(), path(None, "_docs/02_document/state.json"));
            let given = given.into_iter().flatten().map(|(step, path)| (step, path.0));
            std::iter::once(usual).chain(given).collect()
        };
        /// The file in which `project` writes a summary.
        summary: FilePath => Option<ProjectPath>, |given| given.map(|path| path.0);
    }
}

section! {
    CoordinationSettings, CoordinationKeys, "a mapping with `option`, `folder`, `state_file` and limits in seconds" {
        @[serde(rename = "option")]
        format: Format => Format, |given| given.unwrap_or(Format::TasksFile);
        /// The folder of the records, and of the files of options A and B: `.coordination`.
        folder: FilePath => ProjectPath, |given| path(given, ".coordination");
        /// The state file of option C: `orchestrator-state.json`.
        state_file: FilePath => ProjectPath, |given| path(given, "orchestrator-state.json");
        /// The silence, in seconds, after which the task of an agent is free again: 900.
        stale_seconds: Count => NonZeroU32, |given| count(given, 900);
        /// The silence, in seconds, after which an agent is not counted as active: 60.
        inactive_seconds: Count => NonZeroU32, |given| count(given, 60);
        /// The number of tasks that an agent may hold at once: 1.
        claims_per_agent: Count => NonZeroU32, |given| count(given, 1);
    }
}

section! {
    FlowSettings, FlowKeys, "a mapping with `folder` and `stale_seconds`" {
        /// The folder of graphs, flows and executions: `flows`.
        folder: FilePath => ProjectPath, |given| path(given, "flows");
        /// The silence, in seconds, after which an attempt counts as crashed: 900.
        stale_seconds: Count => NonZeroU32, |given| count(given, 900);
    }
}

section! {
    #[derive(Default)]
    ProjectDescription, ProjectKeys, "a mapping with `name`, `repositories`, `constitution` and `documents`" {
        name: String => Option<String>, |given| given;
        repositories: Vec<Repository> => Vec<Repository>, |given| given.unwrap_or_default();
        constitution: FilePath => Option<ProjectPath>, |given| given.map(|path| path.0);
        documents: Vec<FilePath> => Vec<ProjectPath>, |given| {
            given.into_iter().flatten().map(|path| path.0).collect()
        };
    }
}

section! {
    MemorySettings, MemoryKeys, "a mapping with `track`, `stores` and `recall`" {
        track: Track => Track, |given| given.unwrap_or_default();
        recall: RecallKeys => RecallSettings, |given| given.unwrap_or_default().into();
        stores: BTreeMap<StoreName, MemoryStoreSettings> => BTreeMap<String, MemoryStoreSettings>, |given| {
            given.into_iter().flatten().map(|(name, settings)| (name.0, settings)).collect()
        };
    }
}

section! {
    RecallSettings, RecallKeys, "a mapping with `limit` and `budget_chars`" {
        /// The most records that are handed to an agent: 10.
        limit: Count => usize, |given| count(given, 10).get() as usize;
        /// The most characters that are handed to an agent: 4,000.
        budget_chars: Count => usize, |given| count(given, 4_000).get() as usize;
    }
}

#[expect(clippy::expect_used, reason = "the defaults are paths of a project, and a test reads them")]
pub(super) fn path(given: Option<FilePath>, usual: &str) -> ProjectPath {
    given.map_or_else(|| usual.parse().expect("a path"), |path| path.0)
}

pub(super) fn count(given: Option<Count>, usual: u32) -> NonZeroU32 {
    given.map_or(NonZeroU32::MIN.saturating_add(usual - 1), |count| count.0)
}

/// A repository that the work of the project changes or reads.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Repository {
    /// Its name.
    pub name: String,
    /// Its place, as the project spells it.
    pub path: String,
    /// The right to it.
    #[serde(default)]
    pub access: Access,
}

/// The right of the work to a repository.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// It is only read.
    #[default]
    Ro,
    /// It is changed.
    Rw,
}

/// A store that is given what is remembered, beside the embedded one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(expecting = "a mapping with `kind` and `tiers`", deny_unknown_fields)]
pub struct MemoryStoreSettings {
    /// Its kind.
    pub kind: MemoryStoreKind,
    /// The tiers that it is given; all, where nothing is said.
    #[serde(default = "all_tiers")]
    pub tiers: Vec<MemoryTier>,
}

/// The kind of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryStoreKind {
    /// The program `kuzu-memory`.
    KuzuMemory,
    /// A database of Ladybug, by its Python package.
    Ladybug,
}

/// The moment at which records are given to a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MemoryTier {
    /// At once: decisions, errors, security, preferences.
    Continuous,
    /// At milestones: what was seen and done on the way, and the graph.
    Milestones,
    /// At the end of a session: its summary.
    Sessions,
}

fn all_tiers() -> Vec<MemoryTier> {
    vec![MemoryTier::Continuous, MemoryTier::Milestones, MemoryTier::Sessions]
}

/// The place of what is told to memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Track {
    /// In this clone.
    #[default]
    Local,
    /// In the tracked journal, for every clone.
    Git,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_is_usual() {
        let settings = FlowSettings::from(FlowKeys::default());
        assert_eq!((settings.folder.as_str(), settings.stale_seconds.get()), ("flows", 900));
        let settings = AutodevSettings::from(AutodevKeys::default());
        assert_eq!(settings.file.as_str(), "_docs/_autodev_state.md");
        let settings = CoordinationSettings::from(CoordinationKeys::default());
        assert_eq!(settings.state_file.as_str(), "orchestrator-state.json");
    }
}
