//! Settings of tickets.

use std::{collections::BTreeMap, str::FromStr};

use super::{BodyTemplate, FileUrl};
use crate::scalar::{deserialize_as_scalar, one_of_two_words};
use serde::Deserialize;

/// `ticket:` of a tracker in the configuration. Every key may be missing.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, expecting = "a mapping with keys such as `title` and `labels`")]
pub struct TicketSettings {
    pub title: Template,
    /// A paragraph before everything else.
    pub intro: Option<Template>,
    /// The sections of the body, in this order; [`Section::DEFAULT`] unless given.
    pub sections: Option<Vec<Section>>,
    /// The body as a person wants it, instead of `intro` and `sections`.
    pub template: Option<BodyTemplate>,
    /// Labels. One whose facts are not known is left out. Those of a ticket that stepmark did not give to it
    /// are a person's.
    pub labels: Vec<Template>,
    /// Other fields of the tracker, by its own names for them (`milestone`, `priority`, `customfield_10020`).
    pub fields: BTreeMap<String, Template>,
    pub file_url: Option<FileUrl>,
    /// The address at which the tracker shows files of repositories, `https://github.com`, unless the
    /// configuration says where they are looked at.
    #[serde(skip)]
    pub web: Option<String>,
    /// The most tickets below one, and the most levels; `None` without a limit.
    #[serde(skip)]
    pub tree: Option<(usize, usize)>,
    /// Status words that close a ticket as not planned instead of completed. Their case does not matter.
    pub not_planned: Vec<String>,
    /// True where the ticket of a delegated artifact hangs below that of its parent.
    pub parents: Parents,
}

impl Default for TicketSettings {
    fn default() -> Self {
        let template = |text: &str| Template::from_str(text);
        let labels = ["workflow:{workflow}", "status:{status}", "scope:{scope}"];
        #[expect(clippy::expect_used, reason = "constants, which the tests parse")]
        let (title, labels) = (|| {
            Ok::<_, TemplateError>((
                template("{title}")?,
                labels.iter().copied().map(template).collect::<Result<_, _>>()?,
            ))
        })()
        .expect("the templates of the defaults can be read");
        Self {
            title,
            intro: None,
            sections: None,
            template: None,
            labels,
            fields: BTreeMap::new(),
            file_url: None,
            web: None,
            tree: None,
            not_planned: ["cancelled", "canceled", "superseded", "abandoned", "rejected", "wont-do"]
                .map(str::to_owned)
                .to_vec(),
            parents: Parents::default(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Section {
    /// A bar, and how many steps, or tasks of the text, are done.
    Progress,
    Status,
    Scope,
    Next,
    Story,
    AcceptanceCriteria,
    Tasks,
    Steps,
    /// The artifact and the documents that it was made from.
    Files,
    Text,
    /// The section of its text with this heading: `# Dev Notes`.
    Heading(String),
}

impl Section {
    pub const NAMED: [(&'static str, Self); 10] = [
        ("progress", Self::Progress),
        ("status", Self::Status),
        ("scope", Self::Scope),
        ("next", Self::Next),
        ("story", Self::Story),
        ("acceptance-criteria", Self::AcceptanceCriteria),
        ("tasks", Self::Tasks),
        ("steps", Self::Steps),
        ("files", Self::Files),
        ("text", Self::Text),
    ];

    /// The sections of a body unless a person chose something else.
    pub const DEFAULT: [Self; 9] = [
        Self::Progress,
        Self::Status,
        Self::Scope,
        Self::Next,
        Self::Story,
        Self::AcceptanceCriteria,
        Self::Tasks,
        Self::Steps,
        Self::Files,
    ];
}

impl FromStr for Section {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let heading = name.strip_prefix('#').map(|title| title.trim_start_matches('#').trim());
        if let Some(title) = heading.filter(|title| !title.is_empty()) {
            return Ok(Self::Heading(title.to_owned()));
        }
        let known = Self::NAMED.into_iter().find(|(own, _)| *own == name);
        known.map(|(_, section)| section).ok_or_else(|| {
            let names: Vec<String> = Self::NAMED.iter().map(|(name, _)| format!("`{name}`")).collect();
            format!(
                "there is no section `{name}`; there are {}, and headings as `# Dev Notes`",
                names.join(", ")
            )
        })
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parents {
    #[default]
    Follow,
    /// They do not.
    Ignore,
}

deserialize_as_scalar!(Section);
one_of_two_words!(Parents: "follow" => Follow, "ignore" => Ignore);

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

    #[test]
    fn the_defaults_can_be_read() {
        let defaults = TicketSettings::default();
        assert_eq!((defaults.labels.len(), defaults.sections), (3, None));
    }

    #[test]
    fn keys_that_are_missing_are_the_defaults() {
        let read: TicketSettings =
            serde_yaml::from_str("sections: [steps, '# Dev Notes']\nparents: ignore\n").unwrap();
        assert_eq!(read.sections, Some(vec![Section::Steps, Section::Heading("Dev Notes".to_owned())]));
        assert_eq!(read.labels, TicketSettings::default().labels);
        assert_eq!(read.parents, Parents::Ignore);
        let error = serde_yaml::from_str::<TicketSettings>("sections: [steps, stepz]\n").unwrap_err();
        assert!(error.to_string().contains("there is no section `stepz`"), "{error}");
        assert_eq!(error.location().map(|at| (at.line(), at.column())), Some((1, 19)));
    }
}

#[cfg(test)]
mod template_tests {
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
