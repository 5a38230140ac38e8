//! The sister catalogues of `files-manifest.csv`: which agents, workflows, skills, tasks and tools a project
//! has, taken from the frontmatter of their files (docs/formats.md).
//!
//! The rows are those of the official BMAD installers 6.0.4 and 6.12, in their order. Everything here is
//! pure: `workspace::catalogues` finds and reads the files and writes the catalogues.
//!
//! # Caveats
//! * A catalogue says what is there now. The installer keeps rows of agents, tasks and tools that are gone;
//!   this does not.
//! * Agents of 6.0.4 keep what they are in markup below the frontmatter, and most tasks are XML: of both
//!   the attributes and elements are read that the installer reads, and in its way (see `frontmatter`).
//! * Since 6.12 an agent is a skill: what its frontmatter says of it (`name`; `title`, `role` and the like
//!   where they stand there) is in the catalogue, and the rest stays empty. The installer keeps icons and
//!   titles of these in its own `config.toml`, which is no frontmatter.
//! * Columns of other releases, such as `install_to_bmad`, are kept and stay empty.

mod column;
mod frontmatter;
mod read_agent;
mod read_workflow;
mod table;
#[cfg(test)]
mod table_cases;

pub use column::{CatalogueKind, Column, Entry};
pub use read_agent::{SKILL_FILE, agent_of_skill, is_agent_skill, read_agent, read_skill};
pub use read_workflow::{is_workflow_file, read_task, read_workflow};
pub use table::{EntryProblem, EntryProblemKind, Table, TableError, write};
pub use table::{distinct, in_walk_order, module_order};

use crate::artifact::ProjectPath;

/// The module of what belongs to none: the word of the official installer for agents outside of its modules.
pub const NO_MODULE: &str = "standalone";

#[derive(Clone, Copy, Debug)]
pub struct CatalogueFile<'a> {
    pub path: &'a ProjectPath,
    pub bytes: &'a [u8],
    pub module: &'a str,
    /// The path that the catalogue says: where it was installed, which may be gone.
    pub listed_path: &'a str,
}

#[derive(Clone, Debug, Default)]
pub struct EntryReading {
    /// The entry; `None` for a file that is none, or that cannot be read as one.
    pub entry: Option<Entry>,
    pub problem: Option<EntryProblem>,
}

impl CatalogueFile<'_> {
    fn entry(&self) -> Entry {
        Entry::default().with(Column::Module, self.module).with(Column::Path, self.listed_path)
    }

    /// The whole file as text; what is no UTF-8 becomes U+FFFD, as for the installer.
    fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.bytes)
    }
}

impl EntryReading {
    fn of(entry: Entry) -> Self {
        Self { entry: Some(entry), problem: None }
    }

    fn failed(problem: EntryProblem) -> Self {
        Self { entry: None, problem: Some(problem) }
    }
}
