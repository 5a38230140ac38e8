//! The keys that only one kind of tracker has, read where they stand, so that an error has a place.

use std::marker::PhantomData;

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, DeserializeSeed, Error as _, IgnoredAny, MapAccess, Visitor},
    forward_to_deserialize_any,
};
use stepmark_frontmatter::Position;

use super::position_and_reason;

#[derive(Debug)]
pub(super) struct OwnKeys<'f> {
    pub(super) file: &'f [u8],
    pub(super) tracker: &'f str,
    /// Their names, in the order of the file.
    pub(super) names: Vec<&'f str>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum KeyError {
    #[error("the key `{key}` is missing")]
    Missing { key: String },
    #[error("{reason}")]
    Invalid {
        /// The position of the value, as far as that is known.
        position: Option<Position>,
        reason: String,
    },
}

impl From<serde_yaml::Error> for KeyError {
    fn from(error: serde_yaml::Error) -> Self {
        let (position, reason) = position_and_reason(&error);
        Self::Invalid { position, reason }
    }
}

impl OwnKeys<'_> {
    /// The value of `key`; `None` where it is missing or empty.
    pub(super) fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, KeyError> {
        if !self.names.contains(&key) {
            return Ok(None);
        }
        let value = read_at::<Option<T>>(self.file, &["trackers", self.tracker, key])?;
        Ok(value.flatten())
    }

    pub(super) fn refused(&self, key: &str, reason: impl Into<String>) -> KeyError {
        let position = position_of(self.file, &["trackers", self.tracker, key]);
        KeyError::Invalid { position, reason: reason.into() }
    }

    pub(super) fn need<T: DeserializeOwned>(&self, key: &str) -> Result<T, KeyError> {
        self.get(key)?.ok_or_else(|| KeyError::Missing { key: key.to_owned() })
    }
}

/// Reads the value that stands in `file` behind the keys of `way`; `None` where there is none.
pub(super) fn read_at<T: DeserializeOwned>(
    file: &[u8],
    way: &[&str],
) -> Result<Option<T>, serde_yaml::Error> {
    Way(way, PhantomData).deserialize(serde_yaml::Deserializer::from_slice(file))
}

/// The position of the value that stands in `file` behind the keys of `way`. The reader of YAML gives
/// positions to errors alone.
pub(super) fn position_of(file: &[u8], way: &[&str]) -> Option<Position> {
    read_at::<Refused>(file, way).err().and_then(|error| position_and_reason(&error).0)
}

struct Refused;

impl<'de> Deserialize<'de> for Refused {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Self)
    }
}

impl Visitor<'_> for Refused {
    type Value = Self;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("another value")
    }
}

/// Follows keys into mappings, and reads what stands at the end.
struct Way<'w, T>(&'w [&'w str], PhantomData<T>);

impl<'de, T: Deserialize<'de>> DeserializeSeed<'de> for Way<'_, T> {
    type Value = Option<T>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Option<T>, D::Error> {
        if self.0.is_empty() { T::deserialize(from).map(Some) } else { from.deserialize_map(self) }
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Way<'_, T> {
    type Value = Option<T>;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("a mapping")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Option<T>, A::Error> {
        let (mut found, mut is_found) = (None, false);
        let Some((first, rest)) = self.0.split_first() else { return Ok(None) };
        while let Some(key) = entries.next_key::<String>()? {
            if key != *first {
                entries.next_value::<IgnoredAny>()?;
                continue;
            }
            if std::mem::replace(&mut is_found, true) {
                return Err(A::Error::custom(format!("duplicate field `{key}`")));
            }
            found = entries.next_value_seed(Way(rest, PhantomData))?;
        }
        Ok(found)
    }
}

pub(super) fn fields_of<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut fields: &[&str] = &[];
    // It never succeeds: nothing stands there.
    let _failed = T::deserialize(Fields(&mut fields));
    fields
}

/// Notes which fields a type asks for.
struct Fields<'f>(&'f mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Fields<'_> {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(Self::Error::custom("it has no value"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
