//! What a template may name.

use std::str::FromStr;

/// A fact of an artifact that a template may name, as `{title}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholder {
    /// Its title; else its first heading, else the name of its file.
    Title,
    /// The name of its workflow.
    Workflow,
    /// Its status word.
    Status,
    /// Its scope.
    Scope,
    /// Its path.
    Path,
    /// Its id.
    Id,
    /// How many steps are done.
    Done,
    /// How many steps there are.
    Total,
    /// How much of them, in percent.
    Percent,
    /// The step that comes next.
    Next,
}

impl Placeholder {
    /// All of them, with their names.
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
