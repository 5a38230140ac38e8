//! The BMAD installation of a project: its folder, its modules, and the installer's books.

use std::io;

use crate::{
    bmad::catalogues::Search,
    disk::folder::{EntryKind, Folder},
};
use stepmark_frontmatter::{Node, Span, Yaml};
use stepmark_model::{
    artifact::ProjectPath,
    bmad::{
        catalogue::{CatalogueKind, EntryProblemKind, Table},
        installation::{BOOKS, FOLDERS, MODULES_BOOK, RENDERED},
    },
};

#[derive(Debug)]
pub(super) struct Installation {
    /// Its folder: `_bmad`, or `bmad` in alpha releases.
    pub(super) folder: ProjectPath,
    books: Option<ProjectPath>,
    /// The modules that the installer's book names, in its order.
    pub(super) modules: Vec<String>,
    pub(super) folders: Vec<String>,
}

impl Installation {
    pub(super) fn find(search: &mut Search<'_>) -> Option<Self> {
        for name in FOLDERS {
            let Ok(folder) = ProjectPath::new(name) else { continue };
            let folders = folders(search, &folder);
            let book = BOOKS.into_iter().find(|book| folders.iter().any(|name| name == book));
            let books = book.and_then(|book| folder.join(book).ok());
            if books.is_none() && (name != FOLDERS[0] || folders.is_empty()) {
                continue;
            }
            let is_module =
                |name: &String| !name.starts_with('.') && !BOOKS.contains(&name.as_str()) && name != RENDERED;
            let folders = folders.into_iter().filter(is_module).collect();
            let modules = books.as_ref().map(|books| modules(search, books)).unwrap_or_default();
            return Some(Self { folder, books, modules, folders });
        }
        None
    }

    pub(super) fn catalogue(&self, search: &mut Search<'_>, kind: CatalogueKind) -> Option<Table> {
        let path = self.books.as_ref()?.join(kind.file_name()).ok()?;
        let bytes = search.read(&path)?;
        let reason = match Table::read(&bytes) {
            Ok(table) if table.is_catalogue() => return Some(table),
            Ok(_) => "its header is none of a catalogue".to_owned(),
            Err(error) => error.to_string(),
        };
        search.note(&path, EntryProblemKind::InstallersBook { reason });
        None
    }
}

/// The modules that the book names: `modules` is a list of names, or of maps with `name`.
fn modules(search: &mut Search<'_>, books: &ProjectPath) -> Vec<String> {
    let Ok(path) = books.join(MODULES_BOOK) else { return Vec::new() };
    let Some(bytes) = search.read(&path) else { return Vec::new() };
    let yaml = match Yaml::parse(&bytes, Span::new(0, bytes.len())) {
        Ok(yaml) => yaml,
        Err(error) => {
            search.note(&path, EntryProblemKind::InstallersBook { reason: error.to_string() });
            return Vec::new();
        }
    };
    let modules = yaml.root().and_then(|root| root.get("modules")).map(Node::items).unwrap_or_default();
    let name = |module: &Node<'_>| match module.text() {
        Some(name) => Some(name.to_owned()),
        None => module.get("name").and_then(Node::text).map(str::to_owned),
    };
    modules.iter().filter_map(name).collect()
}

/// The entries of `folder`, in the order of the bytes of the names, as Node lists them. A folder that is not
/// there holds nothing; one that cannot be listed, or that leads out of the project, neither, which is noted.
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

pub(super) const fn is_file(kind: EntryKind) -> bool {
    matches!(kind, EntryKind::File | EntryKind::Link)
}
