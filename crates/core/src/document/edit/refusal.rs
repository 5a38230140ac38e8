//! Why an edit was not made.

/// The reason for which an edit is refused. Each names a fact of the document, so that a person can change it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The key stands twice, and readers disagree on which one counts.
    #[error("the key `{key}` stands {count} times; keep one of them")]
    DuplicateKey {
        /// The key.
        key: String,
        /// How often it stands.
        count: usize,
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
    /// The region holds several YAML documents.
    #[error("there are {count} YAML documents; only a single one can be edited")]
    SeveralDocuments {
        /// How many.
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
        /// What stands there.
        what: &'static str,
    },
    /// The text after the edit does not say what it should: a value, the key order or a comment would be lost.
    #[error("the edit would change a comment or another value; please make it by hand")]
    NotProven,
}
