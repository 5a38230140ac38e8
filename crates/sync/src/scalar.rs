//! Configuration scalars that are parsed where they stand, so that an error has their line and column.

use std::{fmt, marker::PhantomData, str::FromStr};

use serde::{Deserializer, de};

/// Reads one scalar as a `T`. Only inside the visitor does the YAML reader know the scalar's own place.
pub(crate) fn parsed<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: fmt::Display>,
{
    struct Text<T>(PhantomData<T>);

    impl<T: FromStr<Err: fmt::Display>> de::Visitor<'_> for Text<T> {
        type Value = T;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a text")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }
    }

    from.deserialize_str(Text(PhantomData))
}

/// Implements `Deserialize` for types that are one scalar of the configuration.
macro_rules! deserialize_as_scalar {
    ($($scalar:ty),+) => {$(
        impl<'de> serde::Deserialize<'de> for $scalar {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::scalar::parsed(from)
            }
        }
    )+};
}

pub(crate) use deserialize_as_scalar;
