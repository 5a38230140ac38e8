//! Settings of tickets.

use std::{collections::BTreeMap, fmt, str::FromStr, sync::Arc};

use super::{BodyTemplate, FileUrl, Inline, Ticket, title::percent_encoded};
use crate::{
    Error, Result,
    scalar::{deserialize_as_scalar, one_of_two_words},
};
use serde::Deserialize;
use stepmark_model::artifact::ProjectPath;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, expecting = "a mapping with keys such as `title` and `labels`")]
pub struct TicketSettings {
    pub title: Template,
    pub intro: Option<Template>,
    /// In this order; [`Section::DEFAULT`] unless given.
    pub sections: Option<Vec<Section>>,
    pub template: Option<BodyTemplate>,
    /// A label with unknown facts is left out.
    pub labels: Vec<Template>,
    /// By the tracker's own names for them (`milestone`, `priority`, `customfield_10020`).
    pub fields: BTreeMap<String, Template>,
    pub file_url: Option<FileUrl>,
    /// `https://github.com`; shows files of repositories unless the configuration says where they are shown.
    #[serde(skip)]
    pub web: Option<String>,
    #[serde(skip)]
    pub tree: Option<(usize, usize)>,
    /// They close a ticket as not planned instead of completed. Case does not matter.
    pub not_planned: Vec<String>,
    pub parents: Parents,
}

impl Default for TicketSettings {
    fn default() -> Self {
        let template = |text: &str| Template::from_str(text);
        let labels = ["workflow:{workflow}", "status:{status}", "scope:{scope}"];
        #[expect(clippy::expect_used, reason = "constants, which the tests parse")]
        let (title, labels) = (|| {
            Ok::<_, Error>((
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
    Progress,
    Status,
    Scope,
    Next,
    Story,
    AcceptanceCriteria,
    Tasks,
    Steps,
    Files,
    Text,
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
    Ignore,
}

deserialize_as_scalar!(Section);
one_of_two_words!(Parents: "follow" => Follow, "ignore" => Ignore);

/// `{name}` is a fact of the artifact; `{{` and `}}` are braces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Place(Placeholder),
}

impl Template {
    /// `None` if one of its facts is not known.
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

    pub(super) fn read(text: &str) -> Result<Self, String> {
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
                return Err("a brace stands alone; double it if it is meant as text".to_owned());
            };
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }
            pieces.push(Piece::Place(name.trim().parse()?));
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(Self { pieces })
    }

    pub(super) fn unusable(text: &str, reason: &str) -> Error {
        Error::usage(format!("`{text}` cannot be used as a template: {reason}"))
    }
}

impl FromStr for Template {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::read(text).map_err(|reason| Self::unusable(text, &reason))
    }
}

deserialize_as_scalar!(Template);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholder {
    /// Else its first heading, else the name of its file.
    Title,
    Workflow,
    Status,
    Scope,
    Path,
    Id,
    Done,
    Total,
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

/// Not digested: another commit alone changes no ticket.
#[derive(Clone)]
pub struct Commit {
    pub id: String,
    /// The project's folder in the repository: empty, or ending with `/`.
    pub folder: String,
    pub remotes: Vec<String>,
    /// The commit has that file as it is. Asked only for artifacts whose ticket is made.
    pub holds: Arc<dyn Fn(&ProjectPath) -> bool + Send + Sync>,
    /// That commit is an ancestor, or was given up: no branch has it any more.
    pub contains: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    /// The branch that is checked out and the one that tickets follow, if they differ.
    pub aside: Option<(String, String)>,
}

impl fmt::Debug for Commit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Commit").field("id", &self.id).field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Commit {
    /// A link to the file at this commit, if the repository has a remote on the host of `web`
    /// (`https://github.com`).
    pub(super) fn address(&self, web: &str, path: &ProjectPath) -> Option<String> {
        let host = host_and_path(web)?.0;
        let own = |remote: &String| {
            let (host_of_remote, path) = host_and_path(remote)?;
            let path = path.trim_matches('/');
            let path = path.strip_suffix(".git").unwrap_or(path);
            let is_plain = path.split('/').count() == 2
                && path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte));
            (is_plain && host_of_remote.eq_ignore_ascii_case(host)).then(|| path.to_owned())
        };
        let repository = self.remotes.iter().find_map(own)?;
        let file = percent_encoded(&format!("{}{path}", self.folder));
        Some(format!("{}/{repository}/blob/{}/{file}", web.trim_end_matches('/'), self.id))
    }
}

/// Of `https://[user@]host[:port]/path`, `ssh://…` or `[user@]host:path`.
fn host_and_path(address: &str) -> Option<(&str, &str)> {
    let (authority, path) = match address.split_once("://") {
        Some((_, rest)) => rest.split_once('/').unwrap_or((rest, "")),
        None => address.split_once(':')?,
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    Some((host.split_once(':').map_or(host, |(host, _)| host), path))
}

impl Ticket {
    pub(super) fn linked_at_commit(&self, markdown: &str) -> String {
        match (&self.file, &self.file_at_commit) {
            (Inline::Link { url, .. }, Some(at_commit)) => {
                markdown.replace(&format!("(<{url}>)"), &format!("(<{at_commit}>)"))
            }
            _ => markdown.to_owned(),
        }
    }

    /// Replaces the link at a commit by the one without, for comparison.
    pub(super) fn without_commit(&self, body: &str) -> String {
        let Inline::Link { text, url } = &self.file else { return body.to_owned() };
        let file = percent_encoded(text);
        let (mut kept, mut rest) = (String::with_capacity(body.len()), body);
        while let Some((before, after)) = rest.split_once("(<") {
            kept.push_str(before);
            kept.push_str("(<");
            let target = after.split_once(">)").map(|(target, _)| target);
            let is_at_commit = |target: &str| {
                target.split_once("/blob/").and_then(|(_, file)| file.split_once('/')).is_some_and(
                    |(commit, path)| {
                        let is_commit = matches!(commit.len(), 40 | 64)
                            && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
                        is_commit && (path == file || path.ends_with(&format!("/{file}")))
                    },
                )
            };
            rest = match target.filter(|target| is_at_commit(target)) {
                Some(target) => {
                    kept.push_str(url);
                    &after[target.len()..]
                }
                None => after,
            };
        }
        kept + rest
    }
}

#[cfg(test)]
impl Commit {
    pub(crate) fn sample(id: &str) -> Self {
        let (folder, remotes, aside) = (String::new(), Vec::new(), None);
        Self {
            id: id.to_owned(),
            folder,
            remotes,
            holds: Arc::new(|_| false),
            contains: Arc::new(|_| false),
            aside,
        }
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

#[cfg(test)]
mod commit_tests {
    use super::*;

    fn commit(remote: &str) -> Commit {
        Commit {
            folder: "sub dir/".to_owned(),
            remotes: vec!["/local/path".to_owned(), remote.to_owned()],
            holds: Arc::new(|path| path.as_str() == "docs/a.md"),
            ..Commit::sample(&"a".repeat(40))
        }
    }

    #[test]
    fn remotes_are_read_in_every_form() {
        let path = ProjectPath::new("docs/a.md").unwrap();
        for (remote, expected) in [
            ("https://github.com/o/r.git", Some("o/r")),
            ("https://me:secret@GitHub.com/o/r", Some("o/r")),
            ("git@github.com:o/r.git", Some("o/r")),
            ("ssh://git@github.com:22/o/r.git/", Some("o/r")),
            ("https://gitlab.com/o/r.git", None),
            ("https://github.com/o", None),
            ("https://github.com/o/r/x", None),
            ("https://github.com/o/r\"<x", None),
            ("/home/me/r.git", None),
        ] {
            let made = commit(remote).address("https://github.com", &path);
            let of = |slug| format!("https://github.com/{slug}/blob/{}/sub%20dir/docs/a.md", "a".repeat(40));
            assert_eq!(made, expected.map(of), "{remote}");
        }
    }
}
