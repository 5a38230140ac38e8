//! The keys of `.stepmark/config.yaml`, each declared once here: the declaration parses it, merges layers,
//! gives the default, and describes it in the schema and in [`VARIABLES`](crate::configuration::VARIABLES).

use std::{collections::BTreeMap, num::NonZeroU32, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;
use serde_yaml::Mapping;

use crate::configuration::values::{
    AllowanceKeys, Count, FilePath, Limit, MemoryStoreSettings, Milestone, PathAllowance, PreferText,
    ProjectId, Repository, RuleLevel, RuleLevels, RuleName, SettingText, Share, StoreName, StoryPattern,
    Track, VariableName, VariablePath, WorkflowDeclaration, WorkflowKeys, gates,
};
use stepmark_model::{
    artifact::{PathGlob, PathGlobs, ProjectPath},
    asdd::{SteeringRule, Thresholds},
    autodev::Flow,
    check::{Levels, rule_of},
    coordination::Format,
    lifecycle::{DeclaredLifecycle, LifecycleDeclaration, Roles},
};

#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub(super) name: &'static str,
    /// `env`: a scalar, also settable by environment variable or flag. `map`: a mapping with free names.
    /// `section`: a mapping with the keys `below`. `value`: anything else.
    pub(super) kind: &'static str,
    /// True for a person's or machine's key, false for a project's.
    pub(super) is_of_system: bool,
    pub(super) meaning: &'static str,
    pub(super) below: &'static [Self],
}

/// Declares a mapping's keys, all optional: kind, name, written type, type of the setting, meaning,
/// conversion.
macro_rules! keys {
    ($(#[$about:meta])* $settings:ident, $keys:ident, $expecting:literal {
        $($(@$system:ident)? $kind:ident $key:ident: $written:ty => $type:ty, $($meaning:literal,)? $(#[$attribute:meta])*
            |$given:ident| $value:expr;)*
    }) => {
        #[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
        #[serde(expecting = $expecting)]
        pub(super) struct $keys {
            $($(#[doc = $meaning])? $(#[$attribute])* pub(super) $key: Option<$written>,)*
        }

        impl $keys {
            pub(super) const KEYS: &[Key] = &[$(Key {
                name: stringify!($key),
                kind: stringify!($kind),
                is_of_system: !concat!($(stringify!($system))?).is_empty(),
                meaning: concat!($($meaning)?),
                below: below!($kind $written),
            }),*];

            /// `nearer` wins: key by key in sections and maps, otherwise as a whole.
            pub(super) fn overlaid(self, nearer: Self) -> Self {
                Self { $($key: overlaid!($kind self.$key, nearer.$key),)* }
            }
        }

        $(#[$about])*
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub struct $settings {
            $($(#[doc = $meaning])? pub $key: $type,)*
        }

        impl From<$keys> for $settings {
            fn from(keys: $keys) -> Self {
                Self { $($key: { let $given = keys.$key; $value },)* }
            }
        }
    };
}

macro_rules! below {
    (section $written:ty) => {
        <$written>::KEYS
    };
    ($kind:ident $written:ty) => {
        &[]
    };
}

macro_rules! overlaid {
    (section $far:expr, $near:expr) => {
        overlaid!(map $far, $near)
    };
    (map $far:expr, $near:expr) => {
        match ($far, $near) {
            (Some(far), Some(near)) => Some(far.overlaid(near)),
            (far, near) => near.or(far),
        }
    };
    ($kind:ident $far:expr, $near:expr) => {
        $near.or($far)
    };
}

trait Overlaid {
    fn overlaid(self, nearer: Self) -> Self;
}

impl<K: Ord, V> Overlaid for BTreeMap<K, V> {
    fn overlaid(mut self, nearer: Self) -> Self {
        self.extend(nearer);
        self
    }
}

keys! {
    /// The merged settings of all layers.
    Settings, Keys, "a mapping of keys such as `project_id` and `artifacts`" {
        value project_id: ProjectId => Option<String>, "the project's identity in tickets, memory and history",
            |given| given.map(|id| id.0);
        section project: ProjectKeys => ProjectDescription, |given| given.unwrap_or_default().into();
        section artifacts: ArtifactKeys => ArtifactSettings, |given| given.unwrap_or_default().into();
        value workflows: Vec<WorkflowDeclaration> => Vec<WorkflowDeclaration>,
            "declared workflows and the artifacts bound to them",
            #[schemars(with = "Option<Vec<WorkflowKeys>>")]
            |given| given.unwrap_or_default();
        value lifecycles: Vec<LifecycleDeclaration> => Vec<DeclaredLifecycle>,
            "declared lifecycles and the artifacts that they apply to",
            // Each layer was already refused if one of its own is invalid.
            |given| given.iter().flatten().filter_map(|own| DeclaredLifecycle::of(own).ok()).collect();
        map roles: Roles => Roles,
            "who has a role that lifecycles ask for: `custodian`, `tech_lead`, `product_owner`, and others",
            |given| given.into_iter().fold(Roles::default(), Roles::overlaid);
        map variables: BTreeMap<VariableName, VariablePath> => BTreeMap<String, String>,
            "folders that step files name by a variable",
            |given| given.into_iter().flatten().map(|(name, path)| (name.0, path.0)).collect();
        env active: FilePath => Option<ProjectPath>, "the artifact that is worked on",
            |given| given.map(|path| path.0);
        env main_config: FilePath => Option<ProjectPath>, "the configuration file of the workflows",
            |given| given.map(|path| path.0);
        env config_source: FilePath => Option<ProjectPath>, "the same, under its older name",
            |given| given.map(|path| path.0);
        value milestones: Vec<Milestone> => Vec<Milestone>,
            "steps after which a checkpoint is made, and `finished`", |given| given.unwrap_or_default();
        section checkpoints: CheckpointKeys => CheckpointSettings, |given| given.unwrap_or_default().into();
        section delegation: DelegationKeys => DelegationSettings, |given| given.unwrap_or_default().into();
        section instructions: InstructionKeys => InstructionSettings, |given| given.unwrap_or_default().into();
        @system section lease: LeaseKeys => LeaseSettings, |given| given.unwrap_or_default().into();
        @system env gates: bool => bool, "whether completed steps have files in `.stepmark/gates/`",
            #[serde(default, deserialize_with = "gates")]
            |given| given.unwrap_or_default();
        @system section git_history: GitHistoryKeys => GitHistorySettings, |given| given.unwrap_or_default().into();
        section stories: StoryKeys => StorySettings, |given| given.unwrap_or_default().into();
        section coordination: CoordinationKeys => Option<CoordinationSettings>, |given| given.map(Into::into);
        section asdd: AsddKeys => Option<AsddSettings>, |given| given.map(Into::into);
        section memory: MemoryKeys => MemorySettings, |given| given.unwrap_or_default().into();
        section flows: FlowKeys => Option<FlowSettings>, |given| given.map(Into::into);
        section autodev: AutodevKeys => Option<AutodevSettings>, |given| given.map(Into::into);
        section check: CheckKeys => CheckSettings, |given| given.unwrap_or_default().into();
        // The crate that keeps tickets interprets these two: only their form is checked here.
        value trackers: Mapping => Option<Mapping>, "where tickets of artifacts are kept",
            #[schemars(with = "Option<BTreeMap<String, Json>>")]
            |given| given;
        @system value credentials: Mapping => Option<Mapping>,
            "which host gets which credential; in the user's file alone",
            #[schemars(with = "Option<BTreeMap<String, Json>>")]
            |given| given;
        @system map settings: BTreeMap<VariableName, SettingText> => BTreeMap<String, String>,
            "what instructions tell an agent: names, languages, skill level",
            |given| given.into_iter().flatten().map(|(name, text)| (name.0, text.0)).collect();
    }
}

keys! {
    #[derive(Default)]
    ProjectDescription, ProjectKeys, "a mapping with `name`, `repositories`, `constitution` and `documents`" {
        value name: String => Option<String>, "the name of the project", |given| given;
        value repositories: Vec<Repository> => Vec<Repository>, "repositories that its work changes or reads",
            |given| given.unwrap_or_default();
        value constitution: FilePath => Option<ProjectPath>, "the document that its work has to keep to",
            |given| given.map(|path| path.0);
        value documents: Vec<FilePath> => Vec<ProjectPath>, "other documents of the project",
            |given| given.into_iter().flatten().map(|path| path.0).collect();
    }
}

keys! {
    ArtifactSettings, ArtifactKeys, "a mapping with `include` and `exclude`" {
        value include: Vec<PathGlob> => Option<PathGlobs>, "patterns of files that are artifacts",
            |given| given.map(PathGlobs::new);
        value exclude: Vec<PathGlob> => Option<PathGlobs>,
            "patterns of files that are none, though they are included", |given| given.map(PathGlobs::new);
    }
}

keys! {
    CheckpointSettings, CheckpointKeys, "a mapping with `every`" {
        env every: Count => Option<NonZeroU32>, "after how many steps a checkpoint is made",
            |given| given.map(|count| count.0);
    }
}

keys! {
    DelegationSettings, DelegationKeys, "a mapping with `folder`" {
        env folder: FilePath => Option<ProjectPath>, "where delegated artifacts are made",
            |given| given.map(|path| path.0);
    }
}

keys! {
    InstructionSettings, InstructionKeys, "a mapping with `output` and `components`" {
        env output: FilePath => Option<ProjectPath>, "the assembled instruction file",
            |given| given.map(|path| path.0);
        value components: Vec<FilePath> => Vec<ProjectPath>, "the Markdown files that it is assembled from",
            |given| given.into_iter().flatten().map(|path| path.0).collect();
    }
}

/// In seconds.
pub(super) const DEFAULT_LEASE: u32 = 600;

/// The default limit for asking git for a file's history in `resume`, in milliseconds (issue "State that
/// survives", tier 3).
pub(super) const DEFAULT_GIT_HISTORY_LIMIT: u32 = 300;

keys! {
    LeaseSettings, LeaseKeys, "a mapping with `seconds`" {
        env seconds: Count => Duration, "how long a lease lasts",
            |given| Duration::from_secs(count(given, DEFAULT_LEASE).get().into());
    }
}

keys! {
    GitHistorySettings, GitHistoryKeys, "a mapping with `limit_ms`" {
        env limit_ms: Limit => Duration, "how long `resume` asks git, in milliseconds",
            |given| Duration::from_millis(given.map_or(DEFAULT_GIT_HISTORY_LIMIT, |limit| limit.0).into());
    }
}

keys! {
    StorySettings, StoryKeys, "a mapping with `take_in_agreed` and `key_pattern`" {
        value take_in_agreed: bool => bool,
            "whether the hook takes in what line and ledger of a story agree on", |given| given.unwrap_or_default();
        value key_pattern: StoryPattern => Option<PathGlob>,
            "the keys of stories, and names of their files, that are not `N-M-slug`: `story_*`",
            |given| given.map(|pattern| pattern.0);
    }
}

keys! {
    CoordinationSettings, CoordinationKeys, "a mapping with `option`, `folder`, `state_file` and limits in seconds" {
        value option: Format => Format, "which files follow the tasks: A, B or C",
            |given| given.unwrap_or(Format::TasksFile);
        value folder: FilePath => ProjectPath, "the folder of tasks, agents and discoveries",
            |given| path(given, ".coordination");
        value state_file: FilePath => ProjectPath, "the state file of option C",
            |given| path(given, "orchestrator-state.json");
        value stale_seconds: Count => NonZeroU32, "after which silence of its agent a task is free again",
            |given| count(given, 900);
        value inactive_seconds: Count => NonZeroU32, "after which silence an agent does not count as active",
            |given| count(given, 60);
        value claims_per_agent: Count => NonZeroU32, "how many tasks an agent may hold at once",
            |given| count(given, 1);
    }
}

keys! {
    AsddSettings, AsddKeys, "a mapping with `folder`, the logs, thresholds and limits in seconds" {
        value folder: FilePath => ProjectPath, "the folder of slices and of the manifest", |given| path(given, ".asdd");
        value failure_log: FilePath => ProjectPath, "the document to which failures of agents are added",
            |given| path(given, "docs/agent-failure-log.md");
        value thresholds: BTreeMap<String, Share> => Thresholds, "the least confidence of each agent",
            |given| Thresholds(given.into_iter().flatten().map(|(agent, least)| (agent, least.0)).collect());
        value ccs_floor: Share => Option<f64>, "the least product of the confidences of a slice",
            |given| given.map(|floor| floor.0);
        value steering: Vec<SteeringKeys> => Vec<SteeringRule>, "which of several proposals counts",
            |given| given.into_iter().flatten().map(Into::into).collect();
        value conflict_seconds: Count => u64,
            "after which a conflict that no rule decides blocks a slice", |given| count(given, 60).get().into();
        section monitor: MonitorKeys => MonitorSettings,
            "when agents are looked at, and how long they may be silent", |given| given.unwrap_or_default().into();
    }
}

keys! {
    MonitorSettings, MonitorKeys, "a mapping with `every_seconds`, `timeout_seconds` and `retries`" {
        value every_seconds: Count => u64, |given| count(given, 60).get().into();
        value timeout_seconds: Count => u64, |given| count(given, 600).get().into();
        value retries: Count => u64, |given| count(given, 2).get().into();
    }
}

keys! {
    MemorySettings, MemoryKeys, "a mapping with `track`, `stores` and `recall`" {
        value track: Track => Track,
            "whether what is told to memory stays in this clone (`local`) or is tracked (`git`)",
            |given| given.unwrap_or_default();
        value stores: BTreeMap<StoreName, MemoryStoreSettings> => BTreeMap<String, MemoryStoreSettings>,
            "stores that are given what is remembered, beside the embedded one",
            |given| given.into_iter().flatten().map(|(name, settings)| (name.0, settings)).collect();
        section recall: RecallKeys => RecallSettings, "how much of memory is handed to an agent",
            |given| given.unwrap_or_default().into();
    }
}

keys! {
    RecallSettings, RecallKeys, "a mapping with `limit` and `budget_chars`" {
        value limit: Count => usize, |given| count(given, 10).get() as usize;
        value budget_chars: Count => usize, |given| count(given, 4_000).get() as usize;
    }
}

keys! {
    FlowSettings, FlowKeys, "a mapping with `folder` and `stale_seconds`" {
        value folder: FilePath => ProjectPath, "the folder of graphs, flows and executions", |given| path(given, "flows");
        value stale_seconds: Count => NonZeroU32, "after which silence of its agent an attempt counts as crashed",
            |given| count(given, 900);
    }
}

keys! {
    AutodevSettings, AutodevKeys, "a mapping with `file`, `docs`, `skill`, `flows`, `states` or `summary`" {
        value file: FilePath => ProjectPath, "the state file of autodev", |given| path(given, "_docs/_autodev_state.md");
        value docs: FilePath => ProjectPath, "the folder of the documents of autodev", |given| path(given, "_docs");
        value skill: FilePath => Option<ProjectPath>, "the folder of the skill, whose flow files are read",
            |given| given.map(|path| path.0);
        value flows: Vec<Flow> => Vec<Flow>, "flows of the project", |given| given.unwrap_or_default();
        value states: BTreeMap<String, FilePath> => BTreeMap<String, ProjectPath>,
            "the files in which skills keep a state of their own, by the step", |given| {
                let usual = ("Document".to_owned(), path(None, "_docs/02_document/state.json"));
                let given = given.into_iter().flatten().map(|(step, path)| (step, path.0));
                std::iter::once(usual).chain(given).collect()
            };
        value summary: FilePath => Option<ProjectPath>, "the file in which `project` writes a summary of autodev",
            |given| given.map(|path| path.0);
    }
}

keys! {
    CheckSettings, CheckKeys, "a mapping with `rules` and `allow`" {
        map rules: BTreeMap<RuleName, RuleLevel> => Levels,
            "how bad the findings of a rule are: off, note, warning, error",
            #[schemars(with = "Option<RuleLevels>")]
            |given| given.into_iter().flatten().filter_map(|(rule, level)| Some((rule_of(rule.0)?, level.0))).collect();
        value allow: Vec<PathAllowance> => Vec<PathAllowance>,
            "findings that are accepted, by path and with a reason",
            #[schemars(with = "Option<Vec<AllowanceKeys>>")]
            |given| given.unwrap_or_default();
    }
}

#[expect(clippy::expect_used, reason = "the defaults are paths of a project, and a test reads them")]
fn path(given: Option<FilePath>, usual: &str) -> ProjectPath {
    given.map_or_else(|| usual.parse().expect("a path"), |path| path.0)
}

fn count(given: Option<Count>, usual: u32) -> NonZeroU32 {
    given.map_or(NonZeroU32::MIN.saturating_add(usual - 1), |count| count.0)
}

/// An entry of `asdd.steering`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(expecting = "a mapping with `keys` and `prefer`")]
pub(super) struct SteeringKeys {
    keys: Option<Vec<String>>,
    prefer: PreferText,
}

impl From<SteeringKeys> for SteeringRule {
    fn from(written: SteeringKeys) -> Self {
        Self { keys: written.keys.unwrap_or_default(), prefer: written.prefer.0 }
    }
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
