//! Which keys hold times.

use super::Field;

/// The keys that say when something happened. They do not count as state: a state digest leaves them out at any depth
/// (DESIGN.md, invariant 11; seed `001_…`, D4-Q15 "timestamps excluded from hash").
pub const TIME_KEYS: [&str; 24] = [
    "created",
    "created_at",
    "createdAt",
    "updated",
    "updated_at",
    "updatedAt",
    "date",
    "completed_at",
    "completedAt",
    "claimed_at",
    "generated",
    "lastEdited",
    "lastModified",
    "lastSaved",
    "lastUpdated",
    "last_activity",
    "last_execution",
    "last_modified",
    "last_saved",
    "last_updated",
    "modified",
    "rollback_timestamp",
    "timestamp",
    "validationDate",
];

/// Whether `key` holds a time.
pub fn is_time_key(key: &str) -> bool {
    TIME_KEYS.contains(&key)
}

/// A time as it is written; nothing is parsed here, since templates and free text stand in these keys too.
pub type Timestamp = Field;
