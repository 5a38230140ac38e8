//! `memory:` of the configuration: what was decided and learned is remembered.

use std::{collections::BTreeMap, num::NonZeroU32};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::configuration::scalars::{Count, StoreName};

/// `memory:`, as written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(expecting = "a mapping with `track`, `stores` and `recall`")]
pub(super) struct MemoryKeys {
    pub(super) track: Option<Track>,
    pub(super) recall: Option<RecallKeys>,
    #[serde(default)]
    pub(super) stores: BTreeMap<StoreName, MemoryStoreSettings>,
}

/// A store that is given what is remembered, beside the embedded one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(expecting = "a mapping with `kind` and `tiers`", deny_unknown_fields)]
#[non_exhaustive]
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
#[non_exhaustive]
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

/// `memory.recall`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(expecting = "a mapping with `limit` and `budget_chars`")]
pub(super) struct RecallKeys {
    pub(super) limit: Option<Count>,
    pub(super) budget_chars: Option<Count>,
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

#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MemorySettings {
    /// True where the configuration says something about memory: then it is handed to agents that start.
    pub is_configured: bool,
    pub track: Track,
    /// The most records that are handed to an agent: 10.
    pub limit: usize,
    /// The most characters that are handed to an agent: 4,000.
    pub budget_chars: usize,
    pub stores: BTreeMap<String, MemoryStoreSettings>,
}

impl From<Option<MemoryKeys>> for MemorySettings {
    fn from(keys: Option<MemoryKeys>) -> Self {
        let is_configured = keys.is_some();
        let keys = keys.unwrap_or_default();
        let recall = keys.recall.unwrap_or_default();
        let number = |count: Option<Count>, usual| {
            count.map(|count: Count| count.0).map_or(usual, |number: NonZeroU32| number.get() as usize)
        };
        Self {
            is_configured,
            track: keys.track.unwrap_or_default(),
            limit: number(recall.limit, 10),
            budget_chars: number(recall.budget_chars, 4_000),
            stores: keys.stores.into_iter().map(|(name, settings)| (name.0, settings)).collect(),
        }
    }
}
