//! Refusals of edits.

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
