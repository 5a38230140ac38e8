//! Texts with places to fill in.

use std::str::FromStr;

use crate::scalar::deserialize_as_scalar;

/// A text in which `{name}` stands for a fact of the artifact, and `{{` and `}}` for braces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Place(Placeholder),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` cannot be used as a template: {reason}")]
pub struct TemplateError {
    pub text: String,
    pub reason: String,
}

impl Template {
    /// The text with its places filled in by `fact`; `None` where one of these facts is not known.
    pub fn fill(&self, fact: impl Fn(Placeholder) -> Option<String>) -> Option<String> {
        let mut filled = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Place(place) => filled.push_str(&fact(*place)?),
            }
        }
        Some(filled)
    }
}

impl FromStr for Template {
    type Err = TemplateError;

    fn from_str(text: &str) -> Result<Self, TemplateError> {
        let wrong = |reason: String| TemplateError { text: text.to_owned(), reason };
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            plain.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some(after) = rest.strip_prefix("{{").or_else(|| rest.strip_prefix("}}")) {
                plain.push_str(&rest[..1]);
                rest = after;
                continue;
            }
            let name = rest.strip_prefix('{').and_then(|inner| inner.split_once('}'));
            let Some((name, after)) = name else {
                return Err(wrong("a brace stands alone; double it if it is meant as text".to_owned()));
            };
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }
            pieces.push(Piece::Place(name.trim().parse().map_err(wrong)?));
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(Self { pieces })
    }
}

deserialize_as_scalar!(Template);

/// A fact of an artifact that a template may name, as `{title}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholder {
    /// Its title; else its first heading, else the name of its file.
    Title,
    Workflow,
    Status,
    Scope,
    Path,
    Id,
    Done,
    Total,
    /// The share of steps that are done, in percent.
    Percent,
    Next,
}

impl Placeholder {
    pub const ALL: [(&'static str, Self); 10] = [
        ("title", Self::Title),
        ("workflow", Self::Workflow),
        ("status", Self::Status),
        ("scope", Self::Scope),
        ("path", Self::Path),
        ("id", Self::Id),
        ("done", Self::Done),
        ("total", Self::Total),
        ("percent", Self::Percent),
        ("next", Self::Next),
    ];
}

impl FromStr for Placeholder {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().find(|(own, _)| *own == name);
        known.map(|(_, placeholder)| *placeholder).ok_or_else(|| {
            let names: Vec<String> = Self::ALL.iter().map(|(name, _)| format!("`{{{name}}}`")).collect();
            format!("`{{{name}}}` stands for nothing; there are {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(template: &str) -> Option<String> {
        let template: Template = template.parse().unwrap();
        template.fill(|place| match place {
            Placeholder::Title => Some("A {b}".to_owned()),
            Placeholder::Done => Some("3".to_owned()),
            _ => None,
        })
    }

    #[test]
    fn places_are_filled_once() {
        for (template, expected) in [
            ("", Some("")),
            ("plain", Some("plain")),
            ("{title}", Some("A {b}")),
            ("{ title }: {done}/3", Some("A {b}: 3/3")),
            ("{{title}} {{{done}}}", Some("{title} {3}")),
            ("scope:{scope}", None),
        ] {
            assert_eq!(filled(template).as_deref(), expected, "{template}");
        }
    }

    #[test]
    fn what_cannot_be_filled_is_refused() {
        for (template, reason) in [
            ("{titel}", "`{title}`"),
            ("{title", "stands alone"),
            ("a } b", "stands alone"),
            ("{}", "`{}` stands"),
        ] {
            let error = template.parse::<Template>().unwrap_err().to_string();
            assert!(error.contains(reason), "{template}: {error}");
        }
    }
}
