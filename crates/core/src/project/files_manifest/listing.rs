//! The rows of a manifest arranged for a comparison with the disk: by folder, then by name.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use super::{Oddity, OddityKind, Reading};
use crate::document::FileHash;

/// What a manifest says about one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<'text> {
    /// The file, relative to the manifest's root.
    pub path: Cow<'text, str>,
    /// Its hash; `None` where the manifest holds none.
    pub hash: Option<FileHash>,
    line: usize,
}

impl Listed<'_> {
    /// The folder that holds the file; empty for the root.
    pub fn folder(&self) -> &str {
        self.path.rfind('/').map_or("", |slash| &self.path[..slash])
    }

    /// The file's name.
    pub fn name(&self) -> &str {
        self.path.rfind('/').map_or(&self.path, |slash| &self.path[slash + 1..])
    }
}

/// Takes the rows that name a file inside the root; tells of the others in `oddities`.
pub fn listed<'text>(reading: Reading<'text>, oddities: &mut Vec<Oddity>) -> Vec<Listed<'text>> {
    oddities.extend(reading.oddities);
    let mut listed = Vec::with_capacity(reading.rows.len());
    for read in reading.rows {
        if is_inside(&read.row.path) {
            listed.push(Listed { path: read.row.path, hash: read.row.hash, line: read.line });
        } else {
            let path = read.row.path.into_owned();
            oddities.push(Oddity { line: read.line, kind: OddityKind::Path { path } });
        }
    }
    listed
}

/// Whether every part of `path` names something; so it is relative and leads nowhere up.
fn is_inside(path: &str) -> bool {
    !path.contains('\0') && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// Finds the rows of a folder.
#[derive(Debug)]
pub struct FolderIndex<'rows> {
    /// Indices of rows, in the byte order of their names.
    folders: HashMap<&'rows str, Vec<usize>>,
    /// Every folder above a folder that has rows.
    above: HashSet<&'rows str>,
}

impl<'rows> FolderIndex<'rows> {
    /// Arranges `listed`. Where a path is listed twice, the later row counts, as for the installer's reader; the
    /// earlier one is told in `oddities` and left out.
    pub fn new(listed: &'rows [Listed<'_>], oddities: &mut Vec<Oddity>) -> Self {
        let mut folders: HashMap<&'rows str, Vec<usize>> = HashMap::new();
        for (index, row) in listed.iter().enumerate() {
            folders.entry(row.folder()).or_default().push(index);
        }
        let mut above = HashSet::new();
        for folder in folders.keys() {
            let mut rest = *folder;
            while let Some(slash) = rest.rfind('/') {
                rest = &rest[..slash];
                above.insert(rest);
            }
        }
        for rows in folders.values_mut() {
            // Stable, so that the rows of one path stay in the manifest's order, and the last one is kept.
            rows.sort_by(|one, other| listed[*one].name().cmp(listed[*other].name()));
            rows.dedup_by(|next, kept| {
                let row = &listed[*kept];
                let repeated = row.path == listed[*next].path;
                if repeated {
                    let kind = OddityKind::Repeated { path: row.path.to_string() };
                    oddities.push(Oddity { line: row.line, kind });
                    *kept = *next;
                }
                repeated
            });
        }
        oddities.sort_by_key(|oddity| oddity.line);
        Self { folders, above }
    }

    /// The rows of files that lie directly in `folder`, by their indices, in the byte order of their names.
    pub fn rows_in(&self, folder: &str) -> &[usize] {
        self.folders.get(folder).map_or(&[], Vec::as_slice)
    }

    /// Whether a row names a file in `folder` or anywhere below it.
    pub fn reaches_into(&self, folder: &str) -> bool {
        self.folders.contains_key(folder) || self.above.contains(folder)
    }

    /// All rows that count, by their indices, in no order.
    pub fn rows(&self) -> impl Iterator<Item = usize> {
        self.folders.values().flatten().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files_manifest::read;

    #[test]
    fn arranges_rows_by_folder_and_name() {
        let text = "type,name,module,path,hash\n\
                    a,b,c,m/x/b.md\na,b,c,top\na,b,c,m/x/a.md\na,b,c,/etc/passwd\na,b,c,m/../x\na,b,c,m/x/b.md\n";
        let mut oddities = Vec::new();
        let listed = listed(read(text), &mut oddities);
        let index = FolderIndex::new(&listed, &mut oddities);
        let names =
            |folder| index.rows_in(folder).iter().map(|row| (*row, listed[*row].name())).collect::<Vec<_>>();
        assert_eq!(names("m/x"), [(2, "a.md"), (3, "b.md")]);
        assert_eq!(names(""), [(1, "top")]);
        assert_eq!(names("m"), []);
        assert!(index.reaches_into("m") && index.reaches_into("m/x") && !index.reaches_into("m/x/y"));
        let mut rows: Vec<usize> = index.rows().collect();
        rows.sort_unstable();
        assert_eq!(rows, [1, 2, 3]);
        let told: Vec<(usize, bool)> =
            oddities.iter().map(|odd| (odd.line, matches!(odd.kind, OddityKind::Path { .. }))).collect();
        assert_eq!(told, [(2, false), (5, true), (6, true)]);
    }
}
