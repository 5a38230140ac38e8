//! Bytes of other programs that a commit kept beside a file.

use std::ops::Range;

use super::{
    folder::{EntryKind, Folder},
    walk::{self, Visitor, WalkError},
};
use crate::root::Root;

/// How the names of such files start (`commit`, "Guarantees").
const PREFIX: &str = ".stepmark-kept-";

/// Folders of other tools, in which no artifact stands.
const FOREIGN: [&str; 2] = [".git", "node_modules"];

/// Collects the names of one thread.
struct Collector(Vec<String>);

impl Visitor for Collector {
    fn visit(&mut self, folder: &Folder, places: Range<usize>) {
        let names = places.map(|place| folder.name(place)).filter(|name| name.starts_with(PREFIX));
        self.0.extend(names.map(|name| folder.path_of(name)));
    }
}

/// The paths of all such files, in order.
pub(super) fn find(root: &Root) -> Result<Vec<String>, WalkError> {
    let enters = |path: &str, kind: EntryKind| {
        let name = path.rsplit('/').next().unwrap_or(path);
        kind == EntryKind::Folder && !FOREIGN.contains(&name)
    };
    let walked = walk::walk(root.path(), &enters, &|| Collector(Vec::new()))?;
    let mut paths: Vec<String> = walked.visitors.into_iter().flat_map(|visitor| visitor.0).collect();
    paths.sort();
    Ok(paths)
}
