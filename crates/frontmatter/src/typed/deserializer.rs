//! A tree as a source of values for `serde`, without a value or text in between.

use std::{borrow::Cow, cell::Cell};

use serde::{
    Deserializer,
    de::{
        DeserializeSeed, EnumAccess, Error, IntoDeserializer, MapAccess, SeqAccess, VariantAccess, Visitor,
    },
    forward_to_deserialize_any,
};

use super::value::Wrong;
use crate::{Entry, LIMITS, Node, NodeKind, Scalar, Segment, ValueError, Yaml};

/// A node that is being read, with the tree around it.
#[derive(Clone, Copy)]
pub(super) struct NodeReader<'t, 'a> {
    tree: &'t Tree<'t, 'a>,
    node: &'t Node<'a>,
    depth: usize,
}

/// The tree, and how many nodes aliases have led to.
pub(super) struct Tree<'t, 'a> {
    yaml: &'t Yaml<'a>,
    followed: Cell<usize>,
}

impl<'t, 'a> Tree<'t, 'a> {
    pub(super) const fn new(yaml: &'t Yaml<'a>) -> Self {
        Self { yaml, followed: Cell::new(0) }
    }

    pub(super) const fn reader(&'t self, node: &'t Node<'a>) -> NodeReader<'t, 'a> {
        NodeReader { tree: self, node, depth: 0 }
    }
}

impl<'t, 'a> NodeReader<'t, 'a> {
    const fn child(self, node: &'t Node<'a>) -> Self {
        Self { node, depth: self.depth + 1, ..self }
    }

    /// The node that is meant: behind aliases, within the limits.
    fn target(mut self) -> Result<Self, Wrong> {
        let offset = self.node.span.start;
        let nodes = self.tree.followed.get() + 1;
        self.tree.followed.set(nodes);
        if nodes > LIMITS.nodes || self.depth > 2 * LIMITS.depth {
            return Err(Wrong::custom(ValueError::TooManyNodes { limit: LIMITS.nodes, offset }).at(offset));
        }
        while let NodeKind::Alias { name } = &self.node.kind {
            let missing =
                || Wrong::custom(ValueError::NoAnchor { name: name.to_string(), offset }).at(offset);
            self.node = self.tree.yaml.target(self.node).ok_or_else(missing)?;
        }
        Ok(self)
    }

    fn read<V>(self, visit: impl FnOnce(Self) -> Result<V, Wrong>) -> Result<V, Wrong> {
        visit(self.target()?).map_err(|wrong| wrong.at(self.node.span.start))
    }

    fn scalar<V: Visitor<'a>>(self, text: &Cow<'a, str>, visitor: V) -> Result<V::Value, Wrong> {
        match self.node.scalar() {
            None | Some(Scalar::Null) => visitor.visit_unit(),
            Some(Scalar::Bool(value)) => visitor.visit_bool(value),
            Some(Scalar::Integer(value)) => visitor.visit_i64(value),
            Some(Scalar::Float(value)) => visitor.visit_f64(value),
            Some(Scalar::Number(text)) => number(text, visitor),
            Some(Scalar::String(_)) => match text {
                Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
                Cow::Owned(text) => visitor.visit_str(text),
            },
        }
    }
}

/// A number that 64 bits do not hold.
fn number<'a, V: Visitor<'a>>(text: &str, visitor: V) -> Result<V::Value, Wrong> {
    let digits = text.trim_start_matches('+');
    let based = |prefix, radix| digits.strip_prefix(prefix).map(|digits| u128::from_str_radix(digits, radix));
    let unsigned = based("0x", 16).or_else(|| based("0o", 8)).unwrap_or_else(|| digits.parse());
    match (unsigned.map(|value| (value, u64::try_from(value))), digits.parse::<i128>()) {
        (Ok((_, Ok(value))), _) => visitor.visit_u64(value),
        (Ok((value, Err(_))), _) => visitor.visit_u128(value),
        (Err(_), Ok(value)) => visitor.visit_i128(value),
        _ => match digits.to_ascii_lowercase().as_str() {
            ".nan" => visitor.visit_f64(f64::NAN),
            ".inf" => visitor.visit_f64(f64::INFINITY),
            "-.inf" => visitor.visit_f64(f64::NEG_INFINITY),
            other => visitor.visit_f64(other.parse().map_err(Wrong::custom)?),
        },
    }
}

impl<'a> Deserializer<'a> for NodeReader<'_, 'a> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.read(|target| match &target.node.kind {
            NodeKind::Scalar { text, .. } => target.scalar(text, visitor),
            NodeKind::Sequence { items, .. } => {
                visitor.visit_seq(Items { reader: target, items: items.iter().enumerate() })
            }
            NodeKind::Mapping { entries, .. } => {
                visitor.visit_map(Entries { reader: target, entries: entries.iter(), open: None })
            }
            NodeKind::Alias { .. } => visitor.visit_unit(),
        })
    }

    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.read(|target| match target.node.is_null() {
            true => visitor.visit_none(),
            false => visitor.visit_some(target),
        })
    }

    fn deserialize_newtype_struct<V: Visitor<'a>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'a>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        self.read(|target| match (&target.node.kind, target.node.entries()) {
            (NodeKind::Scalar { text, .. }, _) => visitor.visit_enum((&**text).into_deserializer()),
            (_, [Entry { key, value }]) => {
                visitor.visit_enum(Variant { key: Key(target.child(key)), value: target.child(value) })
            }
            _ => Err(Wrong::custom("expected the name of a variant, or a map with that one key")),
        })
    }

    fn deserialize_ignored_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        <V: Visitor<'a>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier
    }
}

struct Items<'t, 'a> {
    reader: NodeReader<'t, 'a>,
    items: std::iter::Enumerate<std::slice::Iter<'t, Node<'a>>>,
}

impl<'a> SeqAccess<'a> for Items<'_, 'a> {
    type Error = Wrong;

    fn next_element_seed<S: DeserializeSeed<'a>>(&mut self, seed: S) -> Result<Option<S::Value>, Wrong> {
        let Some((index, item)) = self.items.next() else { return Ok(None) };
        let read = seed.deserialize(self.reader.child(item));
        read.map(Some).map_err(|wrong| wrong.at(item.span.start).below(Segment::Index(index)))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

struct Entries<'t, 'a> {
    reader: NodeReader<'t, 'a>,
    entries: std::slice::Iter<'t, Entry<'a>>,
    open: Option<&'t Entry<'a>>,
}

impl<'a> MapAccess<'a> for Entries<'_, 'a> {
    type Error = Wrong;

    fn next_key_seed<S: DeserializeSeed<'a>>(&mut self, seed: S) -> Result<Option<S::Value>, Wrong> {
        let Some(entry) = self.entries.next() else { return Ok(None) };
        self.open = Some(entry);
        let read = seed.deserialize(Key(self.reader.child(&entry.key)));
        read.map(Some).map_err(|wrong| wrong.at(entry.key.span.start))
    }

    fn next_value_seed<S: DeserializeSeed<'a>>(&mut self, seed: S) -> Result<S::Value, Wrong> {
        let entry = self.open.take().ok_or_else(|| Wrong::custom("a value was asked for before its key"))?;
        let read = seed.deserialize(self.reader.child(&entry.value));
        let key = || Segment::Key(entry.key.as_key().unwrap_or_default().to_owned());
        read.map_err(|wrong| wrong.at(entry.value.span.start).below(key()))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}

/// A key: to who asks for text it is what is written, be it a number.
struct Key<'t, 'a>(NodeReader<'t, 'a>);

impl<'a> Key<'_, 'a> {
    fn text<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match &self.0.node.kind {
            NodeKind::Scalar { text: Cow::Borrowed(text), .. } => visitor.visit_borrowed_str(text),
            NodeKind::Scalar { text: Cow::Owned(text), .. } => visitor.visit_str(text),
            _ => self.0.deserialize_any(visitor),
        }
    }
}

impl<'a> Deserializer<'a> for Key<'_, 'a> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.0.deserialize_any(visitor)
    }

    fn deserialize_str<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.text(visitor)
    }

    fn deserialize_string<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.text(visitor)
    }

    fn deserialize_identifier<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.text(visitor)
    }

    fn deserialize_enum<V: Visitor<'a>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        self.0.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        <V: Visitor<'a>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf option unit unit_struct newtype_struct seq
        tuple tuple_struct map struct ignored_any
    }
}

/// A variant that is the one key of a map.
struct Variant<'t, 'a> {
    key: Key<'t, 'a>,
    value: NodeReader<'t, 'a>,
}

impl<'t, 'a> EnumAccess<'a> for Variant<'t, 'a> {
    type Error = Wrong;
    type Variant = NodeReader<'t, 'a>;

    fn variant_seed<S: DeserializeSeed<'a>>(self, seed: S) -> Result<(S::Value, Self::Variant), Wrong> {
        Ok((seed.deserialize(self.key)?, self.value))
    }
}

impl<'a> VariantAccess<'a> for NodeReader<'_, 'a> {
    type Error = Wrong;

    fn unit_variant(self) -> Result<(), Wrong> {
        serde::Deserialize::deserialize(self)
    }

    fn newtype_variant_seed<S: DeserializeSeed<'a>>(self, seed: S) -> Result<S::Value, Wrong> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'a>>(self, _length: usize, visitor: V) -> Result<V::Value, Wrong> {
        self.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'a>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        self.deserialize_any(visitor)
    }
}

/// A region in which nothing is written: an empty map, and nothing to those who ask for nothing.
pub(super) struct Empty;

impl<'a> Deserializer<'a> for Empty {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_map(serde::de::value::MapDeserializer::new(std::iter::empty::<(&str, &str)>()))
    }

    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_none()
    }

    fn deserialize_unit<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        <V: Visitor<'a>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit_struct newtype_struct seq
        tuple tuple_struct map struct enum identifier ignored_any
    }
}
