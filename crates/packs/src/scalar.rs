//! Scalars of pack files and configurations; one value or a list.

use std::{borrow::Cow, fmt, marker::PhantomData, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

/// Keeps the spelling of the file (`1.10` stays `1.10`). Parses inside the visitor: only there does an error
/// get line and column.
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

        // Some readers resolve integers first.
        fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
            self.visit_str(&number.to_string())
        }
    }

    from.deserialize_str(Visitor(PhantomData))
}

#[doc(hidden)]
#[macro_export]
macro_rules! deserialize_as_scalar {
    ($($scalar:ty),+) => {$(
        impl<'de> serde::Deserialize<'de> for $scalar {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::scalar::parsed_scalar(from)
            }
        }
    )+};
}

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

/// Not empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneOrMore<T>(pub Vec<T>);

/// Not empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(pub String);

impl FromStr for Name {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        match text.trim() {
            "" => Err("a name is empty"),
            name => Ok(Self(name.to_owned())),
        }
    }
}

deserialize_as_scalar!(Name);
schema_of_scalar!(Name, {"type": "string", "pattern": r"\S"});

impl<'de, T: Deserialize<'de> + FromStr<Err: fmt::Display>> Deserialize<'de> for OneOrMore<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Visitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de> + FromStr<Err: fmt::Display>> de::Visitor<'de> for Visitor<T> {
            type Value = OneOrMore<T>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a text or a list of texts; what YAML takes for a number stands in quotes")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<OneOrMore<T>, E> {
                Ok(OneOrMore(vec![text.parse().map_err(E::custom)?]))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut items: A) -> Result<OneOrMore<T>, A::Error> {
                let mut all = Vec::new();
                while let Some(item) = items.next_element()? {
                    all.push(item);
                }
                if all.is_empty() { Err(de::Error::custom("the list is empty")) } else { Ok(OneOrMore(all)) }
            }
        }

        from.deserialize_any(Visitor(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for OneOrMore<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("OneOrMore_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]})
    }
}
