//! A YAML scalar that is parsed where it stands.

use std::{fmt, marker::PhantomData, str::FromStr};

use serde::{Deserializer, de};

/// Reads one scalar as a `T`, from the spelling in the file (`1.10` stays `1.10`). The text is parsed inside
/// the visitor, because only there does an error get the scalar's own line and column.
pub fn parsed_scalar<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: fmt::Display>,
{
    struct Visitor<T>(PhantomData<T>);

    impl<T: FromStr<Err: fmt::Display>> de::Visitor<'_> for Visitor<T> {
        type Value = T;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a text")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }
    }

    from.deserialize_str(Visitor(PhantomData))
}

/// Implements `Deserialize` for types that are one scalar of the configuration.
#[doc(hidden)]
#[macro_export]
macro_rules! deserialize_as_scalar {
    ($($scalar:ty),+) => {$(
        impl<'de> serde::Deserialize<'de> for $scalar {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::artifact::parsed_scalar::parsed_scalar(from)
            }
        }
    )+};
}

pub use deserialize_as_scalar;

/// Implements `JsonSchema` for types that are one scalar of the configuration: what an editor may check of
/// it.
#[doc(hidden)]
#[macro_export]
macro_rules! schema_of_scalar {
    ($scalar:ty, $schema:tt) => {
        impl schemars::JsonSchema for $scalar {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($scalar).into()
            }

            fn json_schema(_generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!($schema)
            }
        }
    };
}

pub use schema_of_scalar;
