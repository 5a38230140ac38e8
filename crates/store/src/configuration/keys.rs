//! The keys of `.stepmark/config.yaml` as they are written, each checked where it stands, so that an error
//! has a place.

use std::{borrow::Cow, collections::BTreeMap, path::Path};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};
use serde_yaml::{Mapping, Value};

use crate::configuration::check_keys::{CheckKeys, RuleLevels};
use crate::configuration::scalars::{
    Count, FilePath, Limit, ProjectId, SettingText, VariableName, VariablePath,
};
use crate::configuration::sections::{AutodevKeys, CoordinationKeys, FlowKeys, MemoryKeys, ProjectKeys};
use crate::configuration::variable_sides::{FREE_MAPS, Variable};
use crate::configuration::{Milestone, UnknownKey, workflow_declaration::Workflows};
use crate::configuration::{WorkflowDeclaration, asdd::AsddKeys};
use stepmark_frontmatter::Position;
use stepmark_model::{
    artifact::{PathGlob, PathGlobs},
    lifecycle::{LifecycleDeclaration, Roles},
};

/// The whole file. Every key may be missing or empty.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(expecting = "a mapping of keys such as `project_id` and `artifacts`")]
pub(super) struct Keys {
    pub(super) project_id: Option<ProjectId>,
    pub(super) project: Option<ProjectKeys>,
    pub(super) artifacts: Option<ArtifactKeys>,
    pub(super) workflows: Option<Workflows>,
    pub(super) lifecycles: Option<Vec<LifecycleDeclaration>>,
    pub(super) roles: Option<Roles>,
    pub(super) variables: Option<BTreeMap<VariableName, VariablePath>>,
    pub(super) active: Option<FilePath>,
    pub(super) main_config: Option<FilePath>,
    pub(super) config_source: Option<FilePath>,
    pub(super) milestones: Option<Vec<Milestone>>,
    pub(super) checkpoints: Option<CheckpointKeys>,
    pub(super) delegation: Option<DelegationKeys>,
    pub(super) lease: Option<LeaseKeys>,
    #[serde(default, deserialize_with = "gates")]
    pub(super) gates: Option<bool>,
    pub(super) git_history: Option<GitHistoryKeys>,
    pub(super) stories: Option<StoryKeys>,
    pub(super) instructions: Option<InstructionKeys>,
    pub(super) asdd: Option<AsddKeys>,
    pub(super) autodev: Option<AutodevKeys>,
    pub(super) coordination: Option<CoordinationKeys>,
    pub(super) flows: Option<FlowKeys>,
    pub(super) memory: Option<MemoryKeys>,
    pub(super) settings: Option<BTreeMap<VariableName, SettingText>>,
    pub(super) check: Option<CheckKeys>,
    pub(super) trackers: Option<Trackers>,
    pub(super) credentials: Option<Credentials>,
}

/// `trackers:`, whose meaning the crate that keeps tickets knows.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct Trackers(#[expect(dead_code, reason = "only its form is checked here")] Mapping);

/// `credentials:` of the user's file, whose meaning the same crate knows.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct Credentials(#[expect(dead_code, reason = "only its form is checked here")] Mapping);

/// `checkpoints:`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(expecting = "a mapping with `every`")]
pub(super) struct CheckpointKeys {
    pub(super) every: Option<Count>,
}

/// `delegation:`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(expecting = "a mapping with `folder`")]
pub(super) struct DelegationKeys {
    pub(super) folder: Option<FilePath>,
}

/// `lease:`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(expecting = "a mapping with `seconds`")]
pub(super) struct LeaseKeys {
    pub(super) seconds: Option<Count>,
}

/// `gates:`. Earlier versions, which always had gates, wrote `{days: N}`.
fn gates<'de, D: serde::Deserializer<'de>>(text: D) -> Result<Option<bool>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected `true` or `false`")]
    enum Written {
        Switch(bool),
        Days {
            #[serde(rename = "days")]
            _days: serde::de::IgnoredAny,
        },
    }
    Written::deserialize(text).map(|gates| Some(!matches!(gates, Written::Switch(false))))
}

/// `git_history:`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(expecting = "a mapping with `limit_ms`")]
pub(super) struct GitHistoryKeys {
    pub(super) limit_ms: Option<Limit>,
}

/// `stories:`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(expecting = "a mapping with `take_in_agreed`")]
pub(super) struct StoryKeys {
    pub(super) take_in_agreed: Option<bool>,
}

/// `instructions:`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(expecting = "a mapping with `output` and `components`")]
pub(super) struct InstructionKeys {
    pub(super) output: Option<FilePath>,
    pub(super) components: Option<Vec<FilePath>>,
}

/// `artifacts:`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(expecting = "a mapping with `include` and `exclude`")]
pub(super) struct ArtifactKeys {
    pub(super) include: Option<Globs>,
    pub(super) exclude: Option<Globs>,
}

/// Implements `JsonSchema` for a type that is written like another.
macro_rules! schema_as {
    ($own:ty, $written:ty) => {
        impl JsonSchema for $own {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($own).into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                <$written>::json_schema(generator)
            }
        }
    };
}

/// A problem in the file, and its place.
#[derive(Debug)]
pub(super) struct Misplaced {
    pub(super) position: Option<Position>,
    pub(super) reason: String,
}

impl Keys {
    /// Reads `file`, which holds `bytes`; beside the keys stand those that are unknown.
    pub(super) fn read(bytes: &[u8], file: &Path) -> Result<(Self, Vec<UnknownKey>), Misplaced> {
        let keys: Option<Self> = serde_yaml::from_slice(bytes)?;
        let values: Value = serde_yaml::from_slice(bytes)?;
        Ok((keys.unwrap_or_default(), unknown_keys(&values, file)))
    }

    /// Reads one value that stands outside of files; `key` may lead into mappings: `section.key`.
    pub(super) fn given(key: &str, text: &str) -> Result<Self, String> {
        let mapping = |key: &str, value| Value::Mapping(Mapping::from_iter([(Value::from(key), value)]));
        let file = key.rsplit('.').fold(Value::from(text), |value, key| mapping(key, value));
        serde_yaml::from_value(file).map_err(|error| Misplaced::from(error).reason)
    }

    /// The keys that count where `nearer` lies over these: its values, key by key in mappings; its lists as a
    /// whole.
    pub(super) fn overlaid(self, nearer: Self) -> Self {
        Self {
            project_id: nearer.project_id.or(self.project_id),
            project: nearer.project.or(self.project),
            artifacts: both(self.artifacts, nearer.artifacts, |far, near| ArtifactKeys {
                include: near.include.or(far.include),
                exclude: near.exclude.or(far.exclude),
            }),
            workflows: nearer.workflows.or(self.workflows),
            lifecycles: nearer.lifecycles.or(self.lifecycles),
            roles: both(self.roles, nearer.roles, Roles::overlaid),
            variables: both(self.variables, nearer.variables, united),
            active: nearer.active.or(self.active),
            main_config: nearer.main_config.or(self.main_config),
            config_source: nearer.config_source.or(self.config_source),
            milestones: nearer.milestones.or(self.milestones),
            checkpoints: both(self.checkpoints, nearer.checkpoints, |far, near| CheckpointKeys {
                every: near.every.or(far.every),
            }),
            delegation: both(self.delegation, nearer.delegation, |far, near| DelegationKeys {
                folder: near.folder.or(far.folder),
            }),
            lease: both(self.lease, nearer.lease, |far, near| LeaseKeys {
                seconds: near.seconds.or(far.seconds),
            }),
            gates: nearer.gates.or(self.gates),
            git_history: both(self.git_history, nearer.git_history, |far, near| GitHistoryKeys {
                limit_ms: near.limit_ms.or(far.limit_ms),
            }),
            stories: nearer.stories.or(self.stories),
            instructions: both(self.instructions, nearer.instructions, |far, near| InstructionKeys {
                output: near.output.or(far.output),
                components: near.components.or(far.components),
            }),
            asdd: nearer.asdd.or(self.asdd),
            autodev: nearer.autodev.or(self.autodev),
            coordination: nearer.coordination.or(self.coordination),
            flows: nearer.flows.or(self.flows),
            memory: nearer.memory.or(self.memory),
            settings: both(self.settings, nearer.settings, united),
            check: both(self.check, nearer.check, |far, near| CheckKeys {
                rules: both(far.rules, near.rules, RuleLevels::overlaid),
                allow: near.allow.or(far.allow),
            }),
            trackers: nearer.trackers.or(self.trackers),
            credentials: nearer.credentials.or(self.credentials),
        }
    }
}

fn both<T>(far: Option<T>, near: Option<T>, merge: impl FnOnce(T, T) -> T) -> Option<T> {
    match (far, near) {
        (Some(far), Some(near)) => Some(merge(far, near)),
        (far, near) => near.or(far),
    }
}

fn united<K: Ord, V>(mut far: BTreeMap<K, V>, near: BTreeMap<K, V>) -> BTreeMap<K, V> {
    far.extend(near);
    far
}

impl From<serde_yaml::Error> for Misplaced {
    fn from(error: serde_yaml::Error) -> Self {
        let mut reason = error.to_string();
        let position = error.location().map(|at| Position { line: at.line(), column: at.column() });
        if let Some(Position { line, column }) = position
            && let Some(plain) = reason.strip_suffix(&format!(" at line {line} column {column}"))
        {
            reason.truncate(plain.len());
        }
        Self { position, reason }
    }
}

/// Names the keys that nothing reads. Later issues add keys; an older version says that they have no effect.
fn unknown_keys(values: &Value, file: &Path) -> Vec<UnknownKey> {
    let mut unknown = Vec::new();
    let mut compare = |values: &Value, way: &str, known: &[&str]| {
        for key in values.as_mapping().into_iter().flat_map(serde_yaml::Mapping::keys) {
            if !key.as_str().is_some_and(|key| known.contains(&key)) {
                let spelling = serde_yaml::to_string(key).unwrap_or_default();
                unknown.push(UnknownKey::new(way, spelling.trim_end(), file, known.iter().copied()));
            }
        }
    };
    let sections: Vec<&str> = Variable::all_static().map(|variable| root_of(variable.name)).collect();
    compare(values, "", &sections);
    for (at, section) in sections.iter().enumerate() {
        let is_first = !sections[..at].contains(section);
        let leaves: Vec<&str> = Variable::all_static()
            .filter_map(|variable| variable.name.split_once('.'))
            .filter_map(|(own, leaf)| (own == *section).then_some(leaf))
            .collect();
        if is_first && !leaves.is_empty() && !FREE_MAPS.contains(section) {
            compare(&values[*section], &format!("{section}."), &leaves);
        }
    }
    for (index, workflow) in values["workflows"].as_sequence().into_iter().flatten().enumerate() {
        compare(workflow, &format!("workflows[{index}]."), &["name", "artifacts", "steps", "folder"]);
    }
    unknown
}

/// The part of a name before its first `.`.
fn root_of(name: &str) -> &str {
    name.split_once('.').map_or(name, |(root, _)| root)
}

#[derive(Clone, Debug)]
pub(super) struct Globs(pub(super) PathGlobs);

impl<'de> Deserialize<'de> for Globs {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Vec::<PathGlob>::deserialize(from).map(PathGlobs::new).map(Self)
    }
}

schema_as!(Trackers, BTreeMap<String, serde_json::Value>);
schema_as!(Credentials, BTreeMap<String, serde_json::Value>);
schema_as!(Globs, Vec<PathGlob>);
schema_as!(Workflows, Vec<WorkflowDeclaration>);
