//! The kinds of catalogues and their columns.

use std::collections::BTreeMap;

/// A column of a catalogue whose values are known. A catalogue of an installer may have others, which stay
/// empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Column {
    /// `canonicalId`: the name of a skill's folder.
    CanonicalId,
    Name,
    DisplayName,
    Title,
    Icon,
    Capabilities,
    Role,
    Identity,
    CommunicationStyle,
    Principles,
    Description,
    Module,
    /// `path`, with the name of the BMAD folder before it.
    Path,
    /// `standalone`: `true` or `false`.
    Standalone,
}

impl Column {
    pub const ALL: [Self; 14] = [
        Self::CanonicalId,
        Self::Name,
        Self::DisplayName,
        Self::Title,
        Self::Icon,
        Self::Capabilities,
        Self::Role,
        Self::Identity,
        Self::CommunicationStyle,
        Self::Principles,
        Self::Description,
        Self::Module,
        Self::Path,
        Self::Standalone,
    ];

    /// The name in a header, which is also the key in a frontmatter.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CanonicalId => "canonicalId",
            Self::Name => "name",
            Self::DisplayName => "displayName",
            Self::Title => "title",
            Self::Icon => "icon",
            Self::Capabilities => "capabilities",
            Self::Role => "role",
            Self::Identity => "identity",
            Self::CommunicationStyle => "communicationStyle",
            Self::Principles => "principles",
            Self::Description => "description",
            Self::Module => "module",
            Self::Path => "path",
            Self::Standalone => "standalone",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.name() == name)
    }
}

/// An agent, workflow, skill, task or tool: what is known of it by column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry(BTreeMap<Column, String>);

impl Entry {
    /// The value of a column; empty where nothing is known.
    pub fn get(&self, column: Column) -> &str {
        self.0.get(&column).map_or("", String::as_str)
    }

    #[must_use]
    pub fn with(mut self, column: Column, value: impl Into<String>) -> Self {
        self.0.insert(column, value.into());
        self
    }

    /// The fields of a row with these columns; of a column that is unknown, nothing.
    pub fn row<'a>(&'a self, columns: &'a [String]) -> impl Iterator<Item = &'a str> {
        columns.iter().map(|column| Column::named(column).map_or("", |column| self.get(column)))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CatalogueKind {
    /// `agent-manifest.csv`
    Agent,
    /// `workflow-manifest.csv`
    Workflow,
    /// `skill-manifest.csv`
    Skill,
    /// `task-manifest.csv`
    Task,
    /// `tool-manifest.csv`
    Tool,
}

impl CatalogueKind {
    pub const ALL: [Self; 5] = [Self::Agent, Self::Workflow, Self::Skill, Self::Task, Self::Tool];

    pub const fn noun(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Workflow => "workflow",
            Self::Skill => "skill",
            Self::Task => "task",
            Self::Tool => "tool",
        }
    }

    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Agent => "agent-manifest.csv",
            Self::Workflow => "workflow-manifest.csv",
            Self::Skill => "skill-manifest.csv",
            Self::Task => "task-manifest.csv",
            Self::Tool => "tool-manifest.csv",
        }
    }

    /// The columns of the newest release that writes this catalogue (docs/formats.md), for a project whose
    /// installer wrote none.
    pub const fn newest_columns(self) -> &'static [&'static str] {
        match self {
            Self::Agent => &[
                "name",
                "displayName",
                "title",
                "icon",
                "capabilities",
                "role",
                "identity",
                "communicationStyle",
                "principles",
                "module",
                "path",
                "canonicalId",
            ],
            Self::Workflow => &["name", "description", "module", "path", "canonicalId"],
            Self::Skill => &["canonicalId", "name", "description", "module", "path"],
            Self::Task | Self::Tool => {
                &["name", "displayName", "description", "module", "path", "standalone"]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bmad::catalogue::Column;

    #[test]
    fn a_row_has_the_columns_of_its_catalogue_in_their_order() {
        let entry = Entry::default().with(Column::Path, "a/b.md").with(Column::Name, "b");
        let columns = ["path", "install_to_bmad", "name", "title"].map(str::to_owned);
        assert_eq!(entry.row(&columns).collect::<Vec<_>>(), ["a/b.md", "", "b", ""]);
    }

    #[test]
    fn every_column_of_the_newest_release_is_known() {
        for kind in CatalogueKind::ALL {
            assert!(kind.newest_columns().iter().all(|column| Column::named(column).is_some()), "{kind:?}");
            assert_eq!(kind.file_name(), format!("{}-manifest.csv", kind.noun()));
        }
    }
}
