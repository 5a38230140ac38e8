//! The marker in a ticket that names its artifact.

use std::{
    fmt,
    str::FromStr,
    sync::{Arc, LazyLock},
};

use super::{Commit, snapshot::LazyCommit};
use crate::{Error, ErrorKind, Result};
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use stepmark_model::{artifact::FileHash, journal::ArtifactKey};

/// The identity of an artifact in tickets: the ids of project and artifact, which never change
/// (docs/design.md, "Tickets"). Hidden in every ticket from the request that creates it. An artifact without
/// an id has no marker: it would get a second ticket when the file moves (docs/design.md, "Identity"). As
/// text it is `PROJECT/id:ID`, where every byte but ASCII letters, digits, `_`, `.`, `:` and a single `-` is
/// percent-encoded for HTML comments, Jira properties and database keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Marker {
    project: String,
    artifact: ArtifactKey,
}

const LABEL_PREFIX: &str = "stepmark:";

/// On GitHub, in characters (docs/formats.md, "Trackers").
const LABEL_LIMIT: usize = 50;

impl Marker {
    pub fn new(project: &str, artifact: ArtifactKey) -> Result<Self> {
        let refused = |message: &str| Err(Error::new(ErrorKind::Refused, message));
        if project.is_empty() {
            return refused(
                "the project has no id, so its tickets could not be told from others: run `stepmark init`",
            );
        }
        if artifact.is_path() {
            return refused(
                "without an id a ticket is lost when the file moves: run `stepmark track --all` once",
            );
        }
        Ok(Self { project: project.to_owned(), artifact })
    }

    pub fn project(&self) -> &str {
        &self.project
    }

    pub const fn artifact(&self) -> &ArtifactKey {
        &self.artifact
    }

    pub fn label(&self) -> String {
        project_label(&self.project)
    }
}

/// `stepmark:PROJECT`, by which tickets are listed. Of a UUID, as `stepmark init` makes it, the first eight
/// digits; of an id that is too long for GitHub, the first 16 digits of its SHA-256: the label finds, the
/// marker decides.
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

/// Never `--`, which would end the HTML comment for some readers.
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
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parts = || {
            let (project, artifact) = text.split_once('/')?;
            let artifact = decoded(artifact)?;
            Some((decoded(project)?, ArtifactKey::of_id(artifact.strip_prefix("id:")?)))
        };
        let unreadable = || {
            let message =
                format!("`{text}` is no marker of a ticket: `PROJECT/id:ID`, percent-encoded, is wanted");
            Error::new(ErrorKind::Refused, message)
        };
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

/// A hidden line: what the ticket was made and last written from. Not digested: another commit alone changes
/// no ticket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stamp {
    /// The checkout, with [`CHANGED`] behind it if the artifact differed from that commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The second of the creation, and a unique text (`1764180000-5f`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made: Option<String>,
    /// A copy of the ticket has another id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ticket: Option<String>,
    #[serde(skip)]
    pub checkout: Checkout,
}

pub const CHANGED: &str = "+";

const BEGIN: &str = "<!-- stepmark:from ";
const END: &str = " -->";

impl Stamp {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn of_creation(made_at: Timestamp, draw: u64) -> String {
        format!("{}-{draw:x}", made_at.as_second())
    }

    pub(crate) fn made_at(&self) -> Option<i64> {
        self.made.as_deref()?.split_once('-')?.0.parse().ok()
    }

    #[must_use]
    pub(crate) fn over(&self, current: &Self) -> Self {
        Self { made: current.made.clone().or_else(|| self.made.clone()), ..self.clone() }
    }

    pub(crate) fn line(&self) -> String {
        if self.is_empty() { String::new() } else { format!("{BEGIN}{self}{END}\n") }
    }

    pub(crate) fn in_section(section: &str) -> Self {
        let line = section.lines().find_map(|line| line.trim().strip_prefix(BEGIN)?.strip_suffix(END));
        line.map(Self::read).unwrap_or_default()
    }

    pub(crate) fn removed_from(body: &str) -> String {
        body.split_inclusive('\n').filter(|line| !line.starts_with(BEGIN)).collect()
    }

    /// Skips words that only a later version knows.
    pub(crate) fn read(text: &str) -> Self {
        let of = |name: &str| {
            let mut words = text.split(' ').filter_map(|word| word.split_once('='));
            let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '+';
            words
                .find(|(own, _)| *own == name)
                .map(|(_, value)| value.to_owned())
                .filter(|value| value.chars().all(is_plain))
        };
        Self { commit: of("commit"), made: of("made"), ticket: of("ticket"), checkout: Checkout::default() }
    }
}

impl Stamp {
    /// The reason not to overwrite a ticket with the stamp `written`: that would take it back. `is_own` if
    /// this ledger wrote it last.
    pub(crate) fn refusal(&self, written: &Self, is_own: bool) -> Option<String> {
        let Checkout { commit: Some(found), is_forced: false } = &self.checkout else { return None };
        let written = written.commit.as_deref()?;
        let id = written.trim_end_matches(CHANGED);
        let short = id.get(..10).unwrap_or(id);
        let Some(commit) = LazyLock::force(found) else {
            return Some(format!("it was written from commit {short}, and nothing is checked out here"));
        };
        if id != commit.id {
            let is_newer = !(commit.contains)(id);
            return is_newer.then(|| {
                format!("it was written from commit {short}, which this checkout does not contain")
            });
        }
        let is_changed = self.commit.as_ref().is_some_and(|ours| ours.ends_with(CHANGED));
        let may_be_newer = written != id && !is_own && !is_changed;
        may_be_newer
            .then(|| format!("it was written from changes of commit {short} that are not committed here"))
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = [("commit", &self.commit), ("made", &self.made), ("ticket", &self.ticket)];
        let words = words.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value.as_ref()?)));
        out.write_str(&words.collect::<Vec<_>>().join(" "))
    }
}

/// The commit that is checked out, found when first asked for. Tickets are never written from an older one.
#[derive(Clone, Default)]
pub struct Checkout {
    pub(super) commit: Option<Arc<LazyCommit>>,
    /// A person wants tickets to be written, whatever they were written from.
    pub(super) is_forced: bool,
}

impl Checkout {
    /// `None` outside of git, and before the first commit.
    pub fn commit(&self) -> Option<&Commit> {
        LazyLock::force(self.commit.as_deref()?).as_ref()
    }
}

impl fmt::Debug for Checkout {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Checkout").field("is_forced", &self.is_forced).finish_non_exhaustive()
    }
}

/// A plan is equal wherever it was made.
impl PartialEq for Checkout {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Checkout {}

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
            assert_eq!(text.parse::<Marker>().unwrap(), marker("p", id));
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
        assert!(Marker::new("p", key).unwrap_err().message.starts_with("without an id"));
        assert!(
            Marker::new("", ArtifactKey::of_id("a"))
                .unwrap_err()
                .message
                .starts_with("the project has no id")
        );
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
            prop_assert_eq!(text.parse::<Marker>().unwrap(), marker);
        }
    }
}

#[cfg(test)]
mod stamp_tests {
    use super::*;

    #[test]
    fn a_stamp_is_read_as_it_is_written() {
        let stamp = Stamp {
            commit: Some("ab+".to_owned()),
            made: Some(Stamp::of_creation(Timestamp::UNIX_EPOCH, 255)),
            ..Stamp::default()
        };
        assert_eq!(stamp.to_string(), "commit=ab+ made=0-ff");
        assert_eq!((Stamp::read(&stamp.to_string()), stamp.made_at()), (stamp.clone(), Some(0)));
        assert_eq!(Stamp::in_section(&format!("x\n{}y", stamp.line())), stamp);
        assert_eq!(Stamp::removed_from(&format!("x\n{}y", stamp.line())), "x\ny");
        assert_eq!(Stamp::read("commit=a\u{1b} made later=x"), Stamp::default());
    }

    #[test]
    fn no_ticket_is_written_from_an_older_state() {
        let commit = Commit { contains: Arc::new(|id| id == "old"), ..Commit::sample("head") };
        let commit = Some(Arc::new(LazyLock::new(Box::new(|| Some(commit)) as Box<_>)));
        let checkout = Checkout { commit, is_forced: false };
        let forced = Checkout { is_forced: true, ..checkout.clone() };
        let outside = Checkout { commit: Some(Arc::new(LazyLock::new(Box::new(|| None)))), is_forced: false };
        let at = |commit: &str, checkout: &Checkout| {
            let commit = Some(commit.to_owned()).filter(|commit| !commit.is_empty());
            Stamp { commit, checkout: checkout.clone(), ..Stamp::default() }
        };
        for (written, ours, is_own, may) in [
            ("", "head", false, true),
            ("old", "head", false, true),
            ("old+", "head", false, true),
            ("new", "head", true, false),
            ("new", "head+", true, false),
            ("head", "head", false, true),
            ("head+", "head", false, false),
            ("head+", "head+", false, true),
            ("head+", "head", true, true),
        ] {
            let stamp = at(written, &Checkout::default());
            let refusal = at(ours, &checkout).refusal(&stamp, is_own);
            assert_eq!(refusal.is_none(), may, "{written} {ours} {is_own}: {refusal:?}");
            assert_eq!(at(ours, &forced).refusal(&stamp, is_own), None);
            assert_eq!(at("", &outside).refusal(&stamp, is_own).is_none(), written.is_empty());
        }
    }
}
