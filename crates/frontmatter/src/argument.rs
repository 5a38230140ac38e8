//! Values as a person types them.

use super::{Node, NodeKind, Scalar, ScalarStyle, Span, Value, Yaml, yaml_1_1::disagreement};

/// A typed value that readers would disagree on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the key `{key}` stands twice in `{text}`, and readers disagree on which one counts: leave one of them out"
)]
pub struct ArgumentError {
    /// The key.
    pub key: String,
    /// The text as typed.
    pub text: String,
}

impl Value {
    /// Reads a value as a person types it after `KEY=`: `3`, `true`, `null`, `[a, b]`, `{a: 1}`, and text for
    /// all else. What is no YAML at all is text too. A number that no reader would give back as it is typed
    /// (`1.10`, `010`, `75e9782`) becomes a [`Value::Number`] with that spelling; [`Value::settled`] says
    /// whether it is meant as one.
    ///
    /// # Errors
    /// When a key stands twice in one map.
    pub fn from_argument(text: &str) -> Result<Self, ArgumentError> {
        let as_text = || Self::String(text.to_owned());
        let Ok(yaml) = Yaml::parse(text.as_bytes(), Span::new(0, text.len())) else { return Ok(as_text()) };
        let Some(root) = yaml.root().filter(|root| is_meant_as_yaml(text, root) && yaml.documents() == 1)
        else {
            return Ok(as_text());
        };
        let twice = yaml.duplicate_keys();
        if let Some(key) = twice.first().and_then(|key| key.as_key()) {
            return Err(ArgumentError { key: key.to_owned(), text: text.to_owned() });
        }
        // Aliases have nothing to refer to.
        Ok(if Self::of(&yaml, root).is_ok() { typed(root) } else { as_text() })
    }

    /// The same value with each number that has a spelling of its own as text, unless `as_numbers`: the
    /// values that stand around say that a number is meant. Beside other numbers of its list such a number is
    /// one.
    #[must_use]
    pub fn settled(self, as_numbers: bool) -> Self {
        match self {
            // A hash such as `12e5` is no number, whatever stands around.
            Self::Number(text) if !gives_back(&text) && (!as_numbers || disagreement(&text).is_some()) => {
                Self::String(text)
            }
            Self::Sequence(items) => {
                let is_number = |item: &Self| match item {
                    Self::Integer(_) | Self::Float(_) => true,
                    Self::Number(text) => gives_back(text),
                    _ => false,
                };
                let as_numbers = as_numbers || items.iter().any(is_number);
                Self::Sequence(items.into_iter().map(|item| item.settled(as_numbers)).collect())
            }
            Self::Mapping(entries) => {
                Self::Mapping(entries.into_iter().map(|(key, value)| (key, value.settled(false))).collect())
            }
            other => other,
        }
    }

    /// The same value with each number as a reader gives it back: for settings, where the spelling says
    /// nothing.
    #[must_use]
    pub fn resolved(self) -> Self {
        match self {
            Self::Number(text) => Self::from(Scalar::resolve(&text)),
            Self::Sequence(items) => Self::Sequence(items.into_iter().map(Self::resolved).collect()),
            Self::Mapping(entries) => {
                Self::Mapping(entries.into_iter().map(|(key, value)| (key, value.resolved())).collect())
            }
            other => other,
        }
    }
}

/// Returns whether all of `text` is one scalar without quotes, or a list or map in brackets: on a command
/// line `a: b` is a sentence, `-` a dash, and `{{date}}` a placeholder.
fn is_meant_as_yaml(text: &str, root: &Node<'_>) -> bool {
    let is_whole = Span::new(0, text.len()) == root.span;
    match &root.kind {
        NodeKind::Scalar { style, text: read } => *style == ScalarStyle::Plain && read == text,
        NodeKind::Sequence { .. } => is_whole && text.starts_with('['),
        NodeKind::Mapping { entries, .. } => {
            let is_placeholder = matches!(&entries[..], [only] if only.value.is_empty_value());
            is_whole && text.starts_with('{') && !is_placeholder
        }
        NodeKind::Alias { .. } => false,
    }
}

fn typed(node: &Node<'_>) -> Value {
    match &node.kind {
        NodeKind::Scalar { style: ScalarStyle::Plain, text } if node.properties.is_none() => {
            match Scalar::resolve(text) {
                Scalar::Integer(_) | Scalar::Float(_) if !gives_back(text) => Value::Number(text.to_string()),
                scalar => Value::from(scalar),
            }
        }
        NodeKind::Sequence { items, .. } => Value::Sequence(items.iter().map(typed).collect()),
        NodeKind::Mapping { entries, .. } => Value::Mapping(
            entries.iter().map(|entry| (typed(&entry.key).settled(false), typed(&entry.value))).collect(),
        ),
        _ => node.scalar().map_or(Value::Null, Value::from),
    }
}

/// Returns whether every reader takes the plain scalar `text` for the same number, and writes it as it is.
fn gives_back(text: &str) -> bool {
    match Scalar::resolve(text) {
        Scalar::Integer(value) => value.to_string() == text,
        Scalar::Float(value) => format!("{value:?}") == text && !text.contains('e'),
        Scalar::Number(_) => {
            let digits = text.strip_prefix('-').unwrap_or(text);
            !digits.contains(['e', 'E', 'x', 'o']) && !digits.starts_with(['0', '+'])
        }
        Scalar::Null | Scalar::Bool(_) | Scalar::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Value {
        Value::Number(text.to_owned())
    }

    #[test]
    fn an_argument_is_read_as_a_person_means_it() {
        for (text, wanted) in [
            ("3", Value::Integer(3)),
            ("-12", Value::Integer(-12)),
            ("1.5", Value::Float(1.5)),
            ("1.0", Value::Float(1.0)),
            ("true", Value::Bool(true)),
            ("", Value::from("")),
            ("null", Value::Null),
            ("~", Value::Null),
            ("in-progress", Value::from("in-progress")),
            ("yes", Value::from("yes")),
            ("a: b", Value::from("a: b")),
            ("x # y", Value::from("x # y")),
            ("[x] # y", Value::from("[x] # y")),
            ("'quoted'", Value::from("'quoted'")),
            ("!!int 3", Value::from("!!int 3")),
            ("-", Value::from("-")),
            ("- a", Value::from("- a")),
            ("? a", Value::from("? a")),
            ("--- a", Value::from("--- a")),
            ("{{date}}", Value::from("{{date}}")),
            ("{title}", Value::from("{title}")),
            ("[a, 1]", Value::Sequence(vec![Value::from("a"), Value::Integer(1)])),
            ("[1.10, '2']", Value::Sequence(vec![number("1.10"), Value::from("2")])),
            ("{a: 1}", Value::mapping([("a", Value::Integer(1))])),
            ("{1.10: 1}", Value::mapping([("1.10", Value::Integer(1))])),
            ("[broken", Value::from("[broken")),
            ("[*a]", Value::from("[*a]")),
            ("1.10", number("1.10")),
            ("010", number("010")),
            ("0123456", number("0123456")),
            ("0x1F", number("0x1F")),
            ("1e3", number("1e3")),
            ("1e16", number("1e16")),
            ("+5", number("+5")),
            ("75e9782", number("75e9782")),
            ("123e4567", number("123e4567")),
            ("99999999999999999999", number("99999999999999999999")),
            (".inf", number(".inf")),
        ] {
            assert_eq!(Value::from_argument(text), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn a_key_that_stands_twice_is_refused() {
        let error = Value::from_argument("{a: 1, a: 2}").unwrap_err();
        assert_eq!(error.key, "a");
        assert!(Value::from_argument("[{b: 1, 'b': 2}]").is_err());
    }

    #[test]
    fn a_number_with_its_own_spelling_is_text_unless_something_says_number() {
        let settled = |text: &str, as_numbers| Value::from_argument(text).unwrap().settled(as_numbers);
        for text in ["1.10", "010", "75e9782", "0x1F"] {
            assert_eq!(settled(text, false), Value::from(text));
            let is_one_to_all = matches!(text, "1.10" | "0x1F");
            assert_eq!(settled(text, true), if is_one_to_all { number(text) } else { Value::from(text) });
        }
        for text in ["99999999999999999999", ".inf", "-.inf"] {
            assert_eq!(settled(text, false), number(text));
        }
        assert_eq!(settled("[1.10, 1.20]", false), Value::Sequence(vec!["1.10".into(), "1.20".into()]));
        assert_eq!(settled("[1, 1.10]", false), Value::Sequence(vec![Value::Integer(1), number("1.10")]));
        assert_eq!(settled("{v: 1.10}", true), Value::mapping([("v", Value::from("1.10"))]));
        assert_eq!(
            Value::from_argument("[010, 0x1F]").unwrap().resolved(),
            Value::Sequence(vec![10.into(), 31.into()])
        );
    }
}
