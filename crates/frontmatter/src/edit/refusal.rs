//! Refusals of edits.

use std::collections::{HashMap, HashSet};

use super::{Change, Context, Edit, Splice, plan, prove::Meaning};
use crate::{Segment, Span};

/// The reason for which an edit is refused. Each names a fact of the document, so that a person can change
/// it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The key stands twice, and readers disagree on which one counts.
    #[error("the key `{key}` stands {count} times; keep one of them")]
    DuplicateKey {
        /// The key.
        key: String,
        /// The number of times that it occurs.
        count: usize,
    },
    /// A key that is no text has this name for readers of JSON, for which the new key would stand twice.
    #[error(
        "the key {written} is there already, and readers of JSON call it `{key}`, too; rename or remove it first"
    )]
    SameNameInJson {
        /// The new key.
        key: Box<str>,
        /// The key in place, as it is written.
        written: Box<str>,
    },
    /// An alias uses the anchor of this value: it would change in both places.
    #[error("the alias `*{name}` would change with it; write its value out first")]
    AnchorInUse {
        /// Name of the anchor.
        name: String,
    },
    /// The value is an alias, or lies behind one.
    #[error("it is the alias `*{name}`; change the place of its anchor, or write the value out")]
    Alias {
        /// The name after the `*`.
        name: String,
    },
    /// The value has a tag that says another type than the new value's.
    #[error("the tag `{tag}` says another type; change the value with its tag by hand")]
    Tagged {
        /// The tag as written.
        tag: String,
    },
    /// The region holds several YAML documents.
    #[error("there are {count} YAML documents; only a single one can be edited")]
    SeveralDocuments {
        /// The number.
        count: usize,
    },
    /// The path leads through a value that is no mapping.
    #[error("`{found}` is no mapping, so it has no keys")]
    NotAMapping {
        /// The path of that value.
        found: String,
    },
    /// The value at the path is no list.
    #[error("it is no list")]
    NotAList,
    /// Nothing stands at the path.
    #[error("there is no such value")]
    Absent,
    /// The list has fewer items.
    #[error("the list has {length} items, so there is no place {index}")]
    NoSuchItem {
        /// The index that was asked for, from 0.
        index: usize,
        /// Length of the list.
        length: usize,
    },
    /// The layout is one that the edit engine does not write.
    #[error("{what}")]
    Layout {
        /// The text that is there.
        what: &'static str,
    },
    /// The edit would take a comment along that is not about the value that goes.
    #[error("the comment `{text}` would be lost; move it away from the value, or make the edit by hand")]
    CommentLost {
        /// The text of the comment, without its `#`.
        text: String,
    },
    /// The text after the edit does not say what it should: another value or the key order would change.
    #[error("the edit would change another value; please make it by hand")]
    NotProven,
}

/// As many edits as could be planned on one reading, from the first on.
pub(super) struct Batch {
    /// Edits that are planned, those that change nothing included.
    pub(super) count: usize,
    /// The changes of the others.
    pub(super) changes: Vec<Change>,
}

/// Plans the first of `edits`, and all behind it up to one whose outcome may depend on those before it: that
/// one waits until they are made.
///
/// # Errors
/// When the first edit cannot be made.
pub(super) fn plan_batch(context: &Context<'_, '_>, edits: &[Edit]) -> Result<Batch, (Refusal, Span)> {
    let mut batch = Batch { count: 0, changes: Vec::new() };
    let mut before = Planned::default();
    for edit in edits {
        if before.concern(edit) {
            break;
        }
        let change = match plan(context, edit) {
            Ok(change) => change,
            Err(refused) if batch.count == 0 => return Err(refused),
            // Told when it is the first one.
            Err(_) => break,
        };
        if let Some(change) = change {
            if before.made_again(edit, &change.meaning) {
                break;
            }
            before.add(edit, &change.meaning);
            batch.changes.push(change);
        }
        batch.count += 1;
    }
    Ok(batch)
}

impl Batch {
    /// The splices of all changes in the order of the file; of several at one place the earlier edit's come
    /// first.
    pub(super) fn splices(&self) -> Vec<Splice> {
        let mut splices: Vec<_> = self.changes.iter().flat_map(|change| &change.splices).cloned().collect();
        splices.sort_by_key(|splice| splice.span);
        splices
    }
}

/// The changes of a batch, as paths of the text before it.
#[derive(Default)]
struct Planned {
    /// Values that become another, come or go.
    whole: HashSet<Vec<Segment>>,
    /// Collections and values around those.
    around: HashSet<Vec<Segment>>,
    /// Lists in which items move: the first item that does.
    moving: HashMap<Vec<Segment>, usize>,
}

impl Planned {
    /// Returns whether `edit` may mean another thing after these than before.
    fn concern(&self, edit: &Edit) -> bool {
        let path = normal(&edit.path().0);
        let path = path.as_slice();
        let is_moved = |at: usize| match &path[at] {
            Segment::Index(index) => self.moving.get(&path[..at]).is_some_and(|first| index >= first),
            Segment::Key(_) => false,
        };
        let is_inside = (0..=path.len()).any(|length| self.whole.contains(&path[..length]));
        let is_inserted = match edit {
            Edit::Insert { .. } => self.moving.contains_key(path) || self.around.contains(path),
            Edit::InsertEntry { .. } => self.around.contains(path),
            Edit::Append { .. } => false,
            // It names the whole file as it is at its turn.
            Edit::Rewrite { .. } | Edit::PutBack { .. } => !self.whole.is_empty() || !self.around.is_empty(),
            Edit::Set { .. } | Edit::Remove { .. } => self.around.contains(path),
        };
        is_inside || is_inserted || (0..path.len()).any(is_moved)
    }

    /// Returns whether what `meaning` replaces or adds was replaced or added before: a key of a mapping that
    /// is missing may be wanted by two edits.
    fn made_again(&self, edit: &Edit, meaning: &Meaning) -> bool {
        self.whole.contains(whole(edit, meaning).as_slice())
    }

    fn add(&mut self, edit: &Edit, meaning: &Meaning) {
        let path = normal(&edit.path().0);
        match (edit, path.split_last()) {
            (Edit::Remove { .. }, Some((Segment::Index(index), list))) => self.moves(list, *index),
            (Edit::Insert { index, .. }, _) => self.moves(&path, *index),
            _ => {}
        }
        let whole = whole(edit, meaning);
        self.around.extend((0..whole.len()).map(|length| whole[..length].to_vec()));
        if !matches!(meaning, Meaning::ItemAdded { .. }) {
            self.whole.insert(whole);
        } else {
            self.around.insert(path);
        }
    }

    fn moves(&mut self, list: &[Segment], index: usize) {
        let first = self.moving.entry(list.to_vec()).or_insert(index);
        *first = index.min(*first);
    }
}

/// The path of the value that `meaning` replaces, adds or removes: `edit` may have named one below it.
fn whole(edit: &Edit, meaning: &Meaning) -> Vec<Segment> {
    let path = normal(&edit.path().0);
    match (edit, meaning) {
        (_, Meaning::Replaced { place, .. }) => path[..place.len().min(path.len())].to_vec(),
        (Edit::InsertEntry { key, .. }, _) => normal(&edit.path().clone().then(key).0),
        (_, Meaning::EntryAdded { place, .. }) => path[..(place.len() + 1).min(path.len())].to_vec(),
        _ => path,
    }
}

/// `path` in one spelling: a number may name an item or a key.
fn normal(path: &[Segment]) -> Vec<Segment> {
    let number = |segment: &Segment| match segment {
        Segment::Key(key) => key.parse().map_or_else(|_| segment.clone(), Segment::Index),
        Segment::Index(_) => segment.clone(),
    };
    path.iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Region, Value, edit::apply};

    const TEXT: &str = "a: 1 # one\ns:\n  x: 'b' # two\n  y: c\n  z:\n  f: {g: h, i: j}\n  l:\n    - k # three\n    - m\n    - n\n  t: |\n    \
                        long\nu: &v w\no: *v\n";

    fn set(path: &str, value: &str) -> Edit {
        Edit::Set { path: path.parse().unwrap(), value: Value::from(value) }
    }

    fn append(path: &str) -> Edit {
        Edit::Append { path: path.parse().unwrap(), item: Value::from("new") }
    }

    fn insert(path: &str, index: usize) -> Edit {
        Edit::Insert { path: path.parse().unwrap(), index, item: Value::from("put") }
    }

    fn remove(path: &str) -> Edit {
        Edit::Remove { path: path.parse().unwrap() }
    }

    fn entry(after: &str, key: &str) -> Edit {
        let (path, value) = ("s".parse().unwrap(), Value::from("v"));
        Edit::InsertEntry { path, after: after.to_owned(), key: key.to_owned(), value }
    }

    /// The number of `edits` that are planned on one reading of `text`.
    fn together(text: &str, edits: &[Edit]) -> usize {
        let yaml = crate::Yaml::parse(text.as_bytes(), Span::new(0, text.len())).unwrap();
        plan_batch(&Context::new(text.as_bytes(), &yaml), edits).map(|batch| batch.count).ok().unwrap()
    }

    #[test]
    fn edits_wait_for_those_they_depend_on() {
        for (edits, wanted) in [
            (vec![set("s.x", "1"), set("s.y", "2"), set("a", "3"), set("n", "4"), set("m", "5")], 5),
            (vec![set("s.x", "1"), set("s.x", "2")], 1),
            (vec![set("n", "1"), set("n", "2")], 1),
            (vec![set("n.a", "1"), set("n.b", "2")], 1),
            (vec![set("s.z.a", "1"), set("s.z.b", "2")], 1),
            (vec![set("s.f", "1"), set("s.f.g", "2")], 1),
            (vec![set("s.f.g", "1"), set("s.f", "2")], 1),
            (vec![append("s.l"), append("s.l"), append("n"), append("n")], 3),
            (vec![remove("s.l[2]"), remove("s.l[0]"), append("s.l")], 3),
            (vec![remove("s.l[0]"), set("s.l[1]", "x")], 1),
            (vec![remove("s.l[0]"), remove("/s/l/0")], 1),
            (vec![insert("s.l", 1), set("s.l[0]", "x"), set("s.l[1]", "x")], 2),
            (vec![append("s.l"), insert("s.l", 3)], 1),
            (vec![entry("x", "w"), entry("x", "v")], 1),
            (vec![set("s.n", "1"), entry("t", "v")], 1),
            (vec![set("a", "1"), set("a.b", "2")], 1),
        ] {
            assert_eq!(together(TEXT, &edits), wanted, "{edits:?}");
        }
    }

    #[test]
    fn what_one_edit_after_the_other_leads_to() {
        for edits in [
            vec![set("s.x", "done"), set("s.y", "done"), set("a", "x")],
            vec![set("s.f.g", "m"), set("s.f.i", "n"), set("s.l[0]", "p"), set("s.x", "a: b")],
            vec![set("s.z", "new"), set("s.y", "c"), set("s.t", "short"), set("s.y", "d")],
            vec![append("s.l"), append("s.l"), set("n", "1"), append("m"), append("m"), set("s.n", "2")],
            vec![remove("s.l[2]"), remove("s.l[1]"), remove("s.l[0]"), remove("s.f.g"), remove("s.f.i")],
            vec![remove("s.l[0]"), remove("s.l[0]"), append("s.l"), insert("s.l", 0), insert("s.l", 2)],
            vec![entry("x", "w"), entry("w", "v"), entry("x", "q"), remove("s.w"), set("s.w", "again")],
            vec![remove("a"), set("a", "back"), remove("s.z"), append("s.f.g2"), remove("s.t")],
            vec![set("s.y", "c")],
            vec![],
        ] {
            for text in [TEXT.to_owned(), TEXT.replace('\n', "\r\n")] {
                let one_by_one = edits.iter().fold(text.clone().into_bytes(), |bytes, edit| {
                    apply(&bytes, &Region::WholeFile, std::slice::from_ref(edit)).unwrap().bytes
                });
                let at_once = apply(text.as_bytes(), &Region::WholeFile, &edits).unwrap().bytes;
                assert_eq!(String::from_utf8(at_once), String::from_utf8(one_by_one), "{edits:?}");
            }
        }
    }

    #[test]
    fn nothing_is_changed_where_one_is_refused() {
        for (edits, culprit) in [
            (vec![set("s.x", "done"), set("u", "x")], "u"),
            (vec![set("o", "x"), set("s.x", "done")], "o"),
            (vec![set("s.f", "m"), set("s.f.g", "n")], "s.f.g"),
            (vec![set("s.x", "1"), remove("s.l[1]"), append("s.y")], "s.y"),
        ] {
            let error = apply(TEXT.as_bytes(), &Region::WholeFile, &edits).unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{culprit}` is left")), "{edits:?}: {error}");
        }
    }
}
