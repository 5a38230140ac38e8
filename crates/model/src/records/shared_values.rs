//! The values of a record.

use std::{
    ops::{Deref, DerefMut},
    sync::Arc,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value as Json};

/// The values of a record: copies of it share them until one of them changes.
#[derive(Clone, Debug, Default)]
pub struct SharedValues(Arc<Map<String, Json>>);

impl Deref for SharedValues {
    type Target = Map<String, Json>;

    fn deref(&self) -> &Map<String, Json> {
        &self.0
    }
}

impl DerefMut for SharedValues {
    fn deref_mut(&mut self) -> &mut Map<String, Json> {
        Arc::make_mut(&mut self.0)
    }
}

impl PartialEq for SharedValues {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl From<Map<String, Json>> for SharedValues {
    fn from(values: Map<String, Json>) -> Self {
        Self(Arc::new(values))
    }
}

impl From<SharedValues> for Map<String, Json> {
    fn from(values: SharedValues) -> Self {
        Arc::unwrap_or_clone(values.0)
    }
}

impl Serialize for SharedValues {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_ref().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SharedValues {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(Self::from)
    }
}
