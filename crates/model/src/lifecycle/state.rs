//! A state of a lifecycle.

use std::collections::BTreeMap;

/// A state of a lifecycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LifecycleState {
    /// Its name, as it is written into artifacts.
    pub name: String,
    /// Other words for it.
    pub synonyms: Vec<String>,
    /// What it means, for people.
    pub meaning: Option<String>,
    /// How far the work is: a higher rank is further. `None` for a state beside the way, such as blocked.
    pub rank: Option<u32>,
    /// Whether work begins in it.
    pub is_initial: bool,
    /// Whether the work has ended in it. Its exits are those that the table names; `*` means it not.
    pub is_terminal: bool,
    /// The frontmatter key that remembers which state it was entered from: it is left for that one.
    pub return_to: Option<String>,
    /// The numbers that are written beside the status when it is entered: those that other programs read.
    pub sets: BTreeMap<String, u64>,
}
