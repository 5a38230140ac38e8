//! The kinds of catalogues.

/// A catalogue.
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
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Agent, Self::Workflow, Self::Skill, Self::Task, Self::Tool];

    /// The noun for an entry.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Workflow => "workflow",
            Self::Skill => "skill",
            Self::Task => "task",
            Self::Tool => "tool",
        }
    }

    /// The name of the file.
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
    fn every_column_of_the_newest_release_is_known() {
        for kind in CatalogueKind::ALL {
            assert!(kind.newest_columns().iter().all(|column| Column::named(column).is_some()), "{kind:?}");
            assert_eq!(kind.file_name(), format!("{}-manifest.csv", kind.noun()));
        }
    }
}
