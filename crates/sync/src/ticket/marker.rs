//! The marker in a ticket that names its artifact.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use stepmark_model::{artifact::FileHash, journal::ArtifactKey};

/// The identity of an artifact in tickets: project id and the artifact's own id, neither of which ever
/// changes (docs/design.md, "Tickets"). It stands in every ticket, hidden, from the request that creates it.
/// An artifact that only has a path has no marker: it would get a second ticket when the file moves
/// (docs/design.md, "Identity").
///
/// As text it is `PROJECT/id:ID`, where every byte but ASCII letters, digits, `_`, `.`, `:` and a single `-`
/// is percent-encoded, so that it can stand in an HTML comment, a Jira property and a database key. Two
/// markers are equal or not; nothing else about them is ever compared.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Marker {
    project: String,
    artifact: ArtifactKey,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MarkerError {
    #[error("the project has no id, so its tickets could not be told from others: run `stepmark init`")]
    NoProject,
    #[error("without an id a ticket is lost when the file moves: run `stepmark track --all` once")]
    PathOnly { key: ArtifactKey },
    #[error("`{text}` is no marker of a ticket: `PROJECT/id:ID`, percent-encoded, is wanted")]
    Unreadable { text: String },
}

/// The text before the project id in the label of its tickets.
const LABEL_PREFIX: &str = "stepmark:";

/// The number of characters that a label may have on GitHub (docs/formats.md, "Trackers").
const LABEL_LIMIT: usize = 50;

impl Marker {
    pub fn new(project: &str, artifact: ArtifactKey) -> Result<Self, MarkerError> {
        if project.is_empty() {
            return Err(MarkerError::NoProject);
        }
        if artifact.is_path() {
            return Err(MarkerError::PathOnly { key: artifact });
        }
        Ok(Self { project: project.to_owned(), artifact })
    }

    pub fn project(&self) -> &str {
        &self.project
    }

    pub const fn artifact(&self) -> &ArtifactKey {
        &self.artifact
    }

    /// The label by which the tickets of this marker's project are listed.
    pub fn label(&self) -> String {
        project_label(&self.project)
    }
}

/// The label that all tickets of a project carry, by which they are listed: `stepmark:PROJECT`. People read
/// it on every ticket: of an id as `stepmark init` makes it, a UUID, the first eight digits are enough. Where
/// a label of GitHub has no room for another id, the first 16 digits of its SHA-256 stand for it: the label
/// finds, the marker decides.
pub fn project_label(project: &str) -> String {
    if is_uuid(project) {
        return format!("{LABEL_PREFIX}{}", &project[..8]);
    }
    if LABEL_PREFIX.len() + project.len() <= LABEL_LIMIT {
        return format!("{LABEL_PREFIX}{project}");
    }
    let hash = FileHash::of(project.as_bytes()).to_string();
    format!("{LABEL_PREFIX}{}", &hash[..16])
}

/// Returns whether `text` is a UUID in its usual form (RFC 9562, section 4).
fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

impl fmt::Display for Marker {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_encoded(out, &self.project)?;
        out.write_str("/")?;
        write_encoded(out, self.artifact.as_str())
    }
}

/// `--` would end the comment that the marker stands in, for some readers of HTML.
fn write_encoded(out: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let mut before = 0;
    for byte in text.bytes() {
        let is_plain =
            byte.is_ascii_alphanumeric() || b"_.:".contains(&byte) || byte == b'-' && before != b'-';
        before = byte;
        match is_plain {
            true => write!(out, "{}", char::from(byte))?,
            false => write!(out, "%{byte:02X}")?,
        }
    }
    Ok(())
}

impl FromStr for Marker {
    type Err = MarkerError;

    fn from_str(text: &str) -> Result<Self, MarkerError> {
        let parts = || {
            let (project, artifact) = text.split_once('/')?;
            let artifact = decoded(artifact)?;
            Some((decoded(project)?, ArtifactKey::of_id(artifact.strip_prefix("id:")?)))
        };
        let unreadable = || MarkerError::Unreadable { text: text.to_owned() };
        let (project, artifact) = parts().ok_or_else(unreadable)?;
        let marker = Self::new(&project, artifact)?;
        // One artifact, one spelling: another one was not written by stepmark.
        if marker.to_string() == text { Ok(marker) } else { Err(unreadable()) }
    }
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first == b'%' {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

impl Serialize for Marker {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Marker {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prop_assert, prop_assert_eq};
    use stepmark_model::artifact::ProjectPath;

    use super::*;

    fn marker(project: &str, id: &str) -> Marker {
        Marker::new(project, ArtifactKey::of_id(id)).unwrap()
    }

    #[test]
    fn is_written_in_one_way() {
        for (id, text) in [
            ("PRD-1", "p/id:PRD-1"),
            ("a--b", "p/id:a-%2Db"),
            ("x --> y", "p/id:x%20-%2D%3E%20y"),
            ("größe/1", "p/id:gr%C3%B6%C3%9Fe%2F1"),
            ("100%", "p/id:100%25"),
        ] {
            assert_eq!(marker("p", id).to_string(), text);
            assert_eq!(text.parse(), Ok(marker("p", id)));
        }
    }

    #[test]
    fn what_stepmark_would_not_write_is_no_marker() {
        for text in
            ["", "p", "p/PRD-1", "p/path:a.md", "/id:a", "p/id:a b", "p/id:%2", "p/id:%41", "p/id:%ff"]
        {
            assert!(text.parse::<Marker>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_path_is_no_identity() {
        let key = ArtifactKey::of_path(&ProjectPath::new("a.md").unwrap());
        assert_eq!(Marker::new("p", key.clone()), Err(MarkerError::PathOnly { key }));
        assert_eq!(Marker::new("", ArtifactKey::of_id("a")), Err(MarkerError::NoProject));
    }

    #[test]
    fn a_label_fits_where_labels_stand() {
        assert_eq!(project_label("4f6c"), "stepmark:4f6c");
        assert_eq!(project_label("423b406b-f3b9-401b-9c02-b206bb9d38f3"), "stepmark:423b406b");
        assert_eq!(project_label("423b406b-f3b9-401b-9c02-b206bb9d38fx").len(), 45);
        let long = project_label(&"x".repeat(64));
        assert_eq!(long.len(), 25);
        assert_ne!(long, project_label(&"y".repeat(64)));
    }

    proptest::proptest! {
        #[test]
        fn survives_a_round_trip(project in "[A-Za-z0-9._-]{1,64}", id in ".{1,40}") {
            let marker = marker(&project, &id);
            let text = marker.to_string();
            prop_assert!(!text.contains("--") && text.is_ascii() && !text.contains([' ', '>', '\n']), "{}", text);
            prop_assert_eq!(text.parse(), Ok(marker));
        }
    }
}
