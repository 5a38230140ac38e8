//! `asdd:` of the configuration: agents lead slices through phases.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::configuration::scalars::{Count, FilePath};
use crate::configuration::sections::{count, path};
use stepmark_model::{
    artifact::ProjectPath,
    asdd::{Prefer, Rules, SteeringRule, Thresholds},
};

/// `asdd:`, as written. Its presence switches ASDD on.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(expecting = "a mapping with `folder`, the logs, thresholds and limits in seconds")]
pub(super) struct AsddKeys {
    pub(super) folder: Option<FilePath>,
    pub(super) failure_log: Option<FilePath>,
    pub(super) thresholds: Option<BTreeMap<String, Share>>,
    pub(super) ccs_floor: Option<Share>,
    pub(super) steering: Option<Vec<SteeringKeys>>,
    pub(super) conflict_seconds: Option<Count>,
    pub(super) monitor: Option<MonitorKeys>,
}

/// A number from 0 to 1.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "f64")]
pub(super) struct Share(#[schemars(range(min = 0.0, max = 1.0))] f64);

impl TryFrom<f64> for Share {
    type Error = String;

    fn try_from(number: f64) -> Result<Self, String> {
        match (0.0..=1.0).contains(&number) {
            true => Ok(Self(number)),
            false => Err(format!("{number} is no number from 0 to 1")),
        }
    }
}

/// An entry of `asdd.steering`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(expecting = "a mapping with `keys` and `prefer`")]
pub(super) struct SteeringKeys {
    pub(super) keys: Option<Vec<String>>,
    pub(super) prefer: PreferText,
}

/// `higher-confidence`, `first` or `agent NAME`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
pub(super) struct PreferText(Prefer);

impl TryFrom<String> for PreferText {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.split_once(' ') {
            None if text == "higher-confidence" => Ok(Self(Prefer::HigherConfidence)),
            None if text == "first" => Ok(Self(Prefer::First)),
            Some(("agent", name)) if !name.trim().is_empty() => {
                Ok(Self(Prefer::Agent(name.trim().to_owned())))
            }
            _ => Err(format!("`{text}` is none of `higher-confidence`, `first` and `agent NAME`")),
        }
    }
}

/// `asdd.monitor`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(expecting = "a mapping with `every_seconds`, `timeout_seconds` and `retries`")]
pub(super) struct MonitorKeys {
    pub(super) every_seconds: Option<Count>,
    pub(super) timeout_seconds: Option<Count>,
    pub(super) retries: Option<Count>,
}

#[derive(Clone, Debug)]
pub struct AsddSettings {
    /// The folder of the records and of the manifest: `.asdd`.
    pub folder: ProjectPath,
    /// The document to which failures are added: `docs/agent-failure-log.md`.
    pub failure_log: ProjectPath,
    pub rules: Rules,
    /// The time, in seconds, after which a conflict that no rule decides blocks the slice: 60.
    pub conflict_seconds: u64,
    /// The time, in seconds, between two looks at the agents: 60.
    pub every_seconds: u64,
    /// The silence, in seconds, after which an agent that works is told: 600.
    pub timeout_seconds: u64,
    /// The number of times that it is told before its slice is blocked: 2.
    pub retries: u64,
}

impl From<AsddKeys> for AsddSettings {
    fn from(keys: AsddKeys) -> Self {
        let count = |given, usual| u64::from(count(given, usual).get());
        let monitor = keys.monitor.unwrap_or_default();
        let thresholds = keys.thresholds.into_iter().flatten().map(|(agent, least)| (agent, least.0));
        let rule =
            |rule: SteeringKeys| SteeringRule { keys: rule.keys.unwrap_or_default(), prefer: rule.prefer.0 };
        Self {
            folder: path(keys.folder, ".asdd"),
            failure_log: path(keys.failure_log, "docs/agent-failure-log.md"),
            rules: Rules {
                thresholds: Thresholds(thresholds.collect()),
                ccs_floor: keys.ccs_floor.map(|floor| floor.0),
                steering: keys.steering.into_iter().flatten().map(rule).collect(),
            },
            conflict_seconds: count(keys.conflict_seconds, 60),
            every_seconds: count(monitor.every_seconds, 60),
            timeout_seconds: count(monitor.timeout_seconds, 600),
            retries: count(monitor.retries, 2),
        }
    }
}
