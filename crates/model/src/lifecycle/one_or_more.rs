//! One text, or a list of them.

use std::{borrow::Cow, fmt, marker::PhantomData, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use crate::artifact::parsed_scalar::{deserialize_as_scalar, schema_of_scalar};

/// One value, or a list of them that is not empty; each is parsed where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OneOrMore<T>(pub(super) Vec<T>);

/// A name that is not empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name(pub(super) String);

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
