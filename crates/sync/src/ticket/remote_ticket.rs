//! A ticket as its tracker names it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Where a ticket is in its tracker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteTicket {
    /// The id by which the tracker is asked for it: GitHub's number, Jira's id. Unique within the tracker.
    pub id: String,
    /// What people call it: `#12`, `ABC-3`.
    pub key: String,
    /// Where people look at it.
    pub url: String,
    /// Further ids that some requests want, by the tracker's names for them (`node_id`, `database_id`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other_ids: BTreeMap<String, String>,
}
