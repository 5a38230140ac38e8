//! Agents, workflows, tasks and tools in the folders of modules.

use crate::bmad::catalogues::{Installation, Search, installation};
use crate::disk::folder::EntryKind;
use stepmark_model::{
    artifact::ProjectPath,
    bmad::catalogue::{
        CatalogueFile, CatalogueKind, Entry, EntryReading, NO_MODULE, is_workflow_file, read_agent,
        read_task, read_workflow,
    },
};

/// The folder of agents in a module; one directly in the installation holds agents of no module.
const AGENTS: &str = "agents";

/// The depth to which folders are entered below a module's `workflows` or `agents`; known releases have 4.
const DEPTH_LIMIT: usize = 12;

pub(super) fn entries(
    search: &mut Search<'_>,
    installation: &Installation,
    modules: &[String],
    kind: CatalogueKind,
) -> Vec<Entry> {
    let mut entries = Vec::new();
    let there = |module: &&String| installation.folders.contains(module);
    for module in modules.iter().filter(there) {
        if let Ok(folder) = installation.folder.join(&format!("{module}/{}", folder_of(kind))) {
            read_below(search, &folder, module, kind, 0, &mut entries);
        }
    }
    if kind == CatalogueKind::Agent
        && let Ok(folder) = installation.folder.join(AGENTS)
    {
        // One folder for each agent of no module.
        for name in installation::folders(search, &folder) {
            if let Ok(folder) = folder.join(&name) {
                read_below(search, &folder, NO_MODULE, kind, 0, &mut entries);
            }
        }
    }
    entries
}

const fn folder_of(kind: CatalogueKind) -> &'static str {
    match kind {
        CatalogueKind::Agent => AGENTS,
        CatalogueKind::Workflow => "workflows",
        CatalogueKind::Skill => "",
        CatalogueKind::Task => "tasks",
        CatalogueKind::Tool => "tools",
    }
}

/// Reads the files of `folder`, and of those below it where this kind may stand there, in the order of their
/// names.
fn read_below(
    search: &mut Search<'_>,
    folder: &ProjectPath,
    module: &str,
    kind: CatalogueKind,
    depth: usize,
    entries: &mut Vec<Entry>,
) {
    let is_deep = matches!(kind, CatalogueKind::Agent | CatalogueKind::Workflow);
    for (name, entry_kind) in installation::names(search, folder) {
        let Ok(path) = folder.join(&name) else { continue };
        if entry_kind == EntryKind::Folder {
            if is_deep && depth < DEPTH_LIMIT {
                read_below(search, &path, module, kind, depth + 1, entries);
            }
        } else if installation::is_file(entry_kind) && is_candidate(kind, &name) {
            let Some(bytes) = search.read(&path) else { continue };
            let source = CatalogueFile { path: &path, bytes: &bytes, module, listed_path: path.as_str() };
            let EntryReading { entry, problem } = match kind {
                CatalogueKind::Agent => read_agent(&source),
                CatalogueKind::Workflow => read_workflow(&source),
                CatalogueKind::Task | CatalogueKind::Tool => read_task(kind, &source),
                CatalogueKind::Skill => EntryReading::default(),
            };
            search.problems.extend(problem);
            entries.extend(entry);
        }
    }
}

fn is_candidate(kind: CatalogueKind, name: &str) -> bool {
    match kind {
        CatalogueKind::Agent => name.ends_with(".md"),
        CatalogueKind::Workflow => is_workflow_file(name),
        CatalogueKind::Task | CatalogueKind::Tool => name.ends_with(".md") || name.ends_with(".xml"),
        CatalogueKind::Skill => false,
    }
}
