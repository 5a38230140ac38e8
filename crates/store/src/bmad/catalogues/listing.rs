//! The names in a folder of the project.

use std::io;

use crate::bmad::catalogues::Search;
use crate::disk::{folder::EntryKind, folder::Folder};
use stepmark_model::{artifact::ProjectPath, bmad::catalogue::EntryProblemKind};

/// What stands in `folder`, in the order of the bytes of the names, as Node lists it. A folder that is not there holds nothing;
/// one that cannot be listed, or that leads out of the project, neither, which is noted.
pub(super) fn names(search: &mut Search<'_>, folder: &ProjectPath) -> Vec<(String, EntryKind)> {
    let root = search.workspace.root();
    let listed = match root.resolve(folder) {
        Ok(_) => Folder::open(root.path(), folder.as_str().to_owned()).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => None,
            _ => Some(error.to_string()),
        }),
        Err(error) => Err(Some(error.to_string())),
    };
    match listed {
        Ok(listed) => {
            for name in listed.names_not_utf8() {
                search.note(folder, EntryProblemKind::NameNotUtf8 { name: name.clone() });
            }
            (0..listed.len()).map(|place| (listed.name(place).to_owned(), listed.kind(place))).collect()
        }
        Err(reason) => {
            if let Some(reason) = reason {
                search.note(folder, EntryProblemKind::Unreadable { reason });
            }
            Vec::new()
        }
    }
}

/// The names of the folders in `folder`. A link to a folder is none, as for the installer.
pub(super) fn folders(search: &mut Search<'_>, folder: &ProjectPath) -> Vec<String> {
    let names = names(search, folder).into_iter();
    names.filter(|(_, kind)| *kind == EntryKind::Folder).map(|(name, _)| name).collect()
}

/// Whether a name may stand for a file.
pub(super) const fn is_file(kind: EntryKind) -> bool {
    matches!(kind, EntryKind::File | EntryKind::Link)
}
