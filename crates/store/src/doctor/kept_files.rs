//! The files that commits left beside others: bytes of other programs that they kept, and temporary files of
//! processes that were killed.

use std::ops::Range;

use crate::disk::{folder::EntryKind, folder::Folder, root::Root, walk, walk::Visitor, walk::WalkError};

/// The start of the names of all such files (`commit`, "Guarantees").
const PREFIX: &str = ".stepmark-";

/// The start of the names of those that hold bytes of other programs.
const KEPT: &str = ".stepmark-kept-";

const TEMPORARY: &str = ".tmp";

/// Folders of other tools, in which no artifact stands.
const FOREIGN: [&str; 2] = [".git", "node_modules"];

struct Collector(Vec<String>);

impl Visitor for Collector {
    fn visit(&mut self, folder: &Folder, places: Range<usize>) {
        let names = places.map(|place| folder.name(place)).filter(|name| name.starts_with(PREFIX));
        self.0.extend(names.map(|name| folder.path_of(name)));
    }
}

/// The paths of such files, in order.
#[derive(Debug, Default)]
pub(crate) struct LeftFiles {
    pub(crate) kept: Vec<String>,
    /// A process that was killed left them, or one that lives is writing them.
    pub(crate) temporary: Vec<String>,
}

pub(crate) fn find(root: &Root) -> Result<LeftFiles, WalkError> {
    let enters = |path: &str, kind: EntryKind| {
        let name = path.rsplit('/').next().unwrap_or(path);
        kind == EntryKind::Folder && !FOREIGN.contains(&name)
    };
    let walked = walk::walk(root.path(), &enters, &|| Collector(Vec::new()))?;
    let mut paths: Vec<String> = walked.visitors.into_iter().flat_map(|visitor| visitor.0).collect();
    paths.sort();
    let mut found = LeftFiles::default();
    for path in paths {
        let name = path.rsplit('/').next().unwrap_or(&path);
        if name.starts_with(KEPT) {
            found.kept.push(path);
        } else if name.ends_with(TEMPORARY) {
            found.temporary.push(path);
        }
    }
    Ok(found)
}
