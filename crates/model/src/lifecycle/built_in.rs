//! The tables that come with stepmark.

use std::sync::{Arc, LazyLock};

use super::{Condition, DeclaredLifecycle, Lifecycle, LifecycleDeclaration};

/// One file a table, in the order in which they are listed.
const TABLES: [&str; 12] = [
    include_str!("tables/bmad-spec.yaml"),
    include_str!("tables/bmad-story.yaml"),
    include_str!("tables/bmad-epic.yaml"),
    include_str!("tables/bmad-retrospective.yaml"),
    include_str!("tables/bmad-document.yaml"),
    include_str!("tables/bmad-research.yaml"),
    include_str!("tables/bmad-prfaq.yaml"),
    include_str!("tables/d4-ticket.yaml"),
    include_str!("tables/task.yaml"),
    include_str!("tables/asdd-slice.yaml"),
    include_str!("tables/hivemind-task.yaml"),
    include_str!("tables/cc-task.yaml"),
];

static BUILT_IN: LazyLock<Vec<DeclaredLifecycle>> =
    LazyLock::new(|| TABLES.iter().map(|table| read(table)).collect());

#[expect(clippy::expect_used, reason = "the tables are files of this crate, and a test reads each")]
fn read(table: &str) -> DeclaredLifecycle {
    let declaration: LifecycleDeclaration = serde_yaml::from_str(table).expect("a built-in table is read");
    let applies_to = Condition::assemble(&declaration).expect("a built-in condition says something");
    let lifecycle = Lifecycle::assemble(&declaration).expect("a built-in table is well formed");
    DeclaredLifecycle { lifecycle: Arc::new(lifecycle), applies_to }
}

/// The tables that come with stepmark, with the artifacts that they apply to.
pub(super) fn tables() -> &'static [DeclaredLifecycle] {
    &BUILT_IN
}

/// The table of this name that comes with stepmark: `bmad-spec`, `bmad-story`, `bmad-epic`, `bmad-retrospective`, `bmad-document`,
/// `bmad-research`, `bmad-prfaq`, `d4-ticket`, `task`, `asdd-slice`, `hivemind-task`, `cc-task`.
pub fn built_in(name: &str) -> Option<&'static Arc<Lifecycle>> {
    tables().iter().map(|table| &table.lifecycle).find(|lifecycle| lifecycle.name() == name)
}
