//! The stamp of a ticket: what it was made and last written from.

use std::{
    fmt,
    sync::{Arc, LazyLock},
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Commit, snapshot::LazyCommit};

/// The hidden line of a ticket that says what it was made and last written from. It is no part of what the
/// ticket says: another commit alone changes no ticket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stamp {
    /// The commit that was checked out when it was written, with [`CHANGED`] behind it where the artifact
    /// differed from that commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The creation that made the ticket: the second, and a text that tells it from others (`1764180000-5f`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made: Option<String>,
    /// The id of the ticket that it was written into. A copy of the ticket has another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ticket: Option<String>,
    #[serde(skip)]
    pub checkout: Checkout,
}

/// Stands behind the commit of an artifact that was changed since.
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

    /// A body without the lines of stamps.
    pub(crate) fn removed_from(body: &str) -> String {
        body.split_inclusive('\n').filter(|line| !line.starts_with(BEGIN)).collect()
    }

    /// Reads what [`Display`](fmt::Display) writes. Words that are not known are left out: a later version
    /// may have written them.
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
    /// The reason why a ticket with the stamp `written` must not be written with this one: that would take it
    /// back. `is_own` where this ledger wrote it last.
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

/// The commit that is checked out, found when it is first asked for. Tickets are written from it, and never
/// from anything older than what they were written from.
#[derive(Clone, Default)]
pub struct Checkout {
    pub(super) commit: Option<Arc<LazyCommit>>,
    /// A person wants tickets to be written from it, whatever they were written from.
    pub(super) is_forced: bool,
}

impl Checkout {
    /// The commit; `None` outside of git, and before the first one.
    pub fn commit(&self) -> Option<&Commit> {
        LazyLock::force(self.commit.as_deref()?).as_ref()
    }
}

impl fmt::Debug for Checkout {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Checkout").field("is_forced", &self.is_forced).finish_non_exhaustive()
    }
}

/// A plan says the same wherever it was made.
impl PartialEq for Checkout {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Checkout {}

#[cfg(test)]
mod tests {
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
