//! What a manifest says, compared with what is there.

use std::collections::HashSet;

use super::{FolderIndex, LineEndHashes, Listed, Scope};
use crate::document::FileHash;

/// How a file stands to its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileClass {
    /// The bytes have the listed hash.
    Ok,
    /// The file is there, and the manifest holds no hash of it: nobody can tell.
    Unhashed,
    /// The bytes have the listed hash once their line ends are turned to LF or to CRLF: git, not an edit.
    LineEndsOnly,
    /// The bytes differ, and the installer writes this file anew on every run ([`Scope::regenerates`]): no edit.
    Regenerated,
    /// The file is gone together with its whole folder, while the module's folder is still there: that is what the
    /// installer does with skills once it has copied them to where an agent reads them (219 of the 235 rows of a
    /// fresh 6.12 install). A file deleted from a folder that is still there is [`FileClass::Missing`], and so is
    /// everything when a module, or the whole root, is gone.
    RemovedWithItsFolder,
    /// The file belongs to the manifest's scope, and no row names it.
    Unlisted,
    /// The bytes differ from the listed hash.
    Modified,
    /// The file is not there.
    Missing,
    /// The file is there, and its bytes could not be read.
    Unreadable,
}

impl FileClass {
    /// All classes, from harmless to worst.
    pub const ALL: [Self; 9] = [
        Self::Ok,
        Self::Unhashed,
        Self::LineEndsOnly,
        Self::Regenerated,
        Self::RemovedWithItsFolder,
        Self::Unlisted,
        Self::Modified,
        Self::Missing,
        Self::Unreadable,
    ];

    /// The name in reports: lower case, words joined by `-`.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unhashed => "unhashed",
            Self::LineEndsOnly => "line-ends-only",
            Self::Regenerated => "regenerated",
            Self::RemovedWithItsFolder => "removed-with-its-folder",
            Self::Unlisted => "unlisted",
            Self::Modified => "modified",
            Self::Missing => "missing",
            Self::Unreadable => "unreadable",
        }
    }

    /// Whether a file of this class makes the verification fail.
    pub const fn is_finding(self) -> bool {
        matches!(self, Self::Modified | Self::Missing | Self::Unreadable)
    }
}

/// What was found where a row points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// No file of that name, or no such folder.
    Nothing,
    /// Something that could not be read, and why.
    Unreadable(String),
    /// A file.
    File {
        /// The hash of its bytes.
        hash: FileHash,
        /// Its hashes with other line ends; wanted only where `hash` is not the listed one.
        line_ends: Option<Box<LineEndHashes>>,
    },
}

/// Everything that was seen under a manifest's root.
#[derive(Clone, Debug, Default)]
pub struct Observations {
    /// What each row points at; row by row, in the order of the listing.
    pub found: Vec<Found>,
    /// Every folder that was seen, relative to the root; the root itself is the empty path.
    pub folders: HashSet<String>,
    /// Folders that could not be looked into, and why.
    pub closed_folders: Vec<(String, String)>,
    /// The files in scope that no row names.
    pub unlisted: Vec<String>,
}

/// One file that is not simply in order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileVerdict {
    /// The file, relative to the manifest's root.
    pub path: String,
    /// How it stands to its row.
    pub class: FileClass,
    /// Why it could not be read.
    pub reason: Option<String>,
}

/// The result of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// How many files are as their rows say.
    pub ok: usize,
    /// All others, by path.
    pub others: Vec<FileVerdict>,
}

impl Verification {
    /// How many files are of `class`.
    pub fn count(&self, class: FileClass) -> usize {
        if class == FileClass::Ok {
            return self.ok;
        }
        self.others.iter().filter(|file| file.class == class).count()
    }

    /// Whether a file is modified, missing or unreadable.
    pub fn has_findings(&self) -> bool {
        self.others.iter().any(|file| file.class.is_finding())
    }
}

/// Compares the rows of `index` with what was observed. `observed.found` runs parallel to `listed`.
pub fn verify(
    listed: &[Listed<'_>],
    index: &FolderIndex<'_>,
    scope: &Scope<'_>,
    observed: Observations,
) -> Verification {
    let mut result = Verification::default();
    for row in index.rows() {
        let Some((row, found)) = listed.get(row).zip(observed.found.get(row)) else {
            continue;
        };
        match class(row, found, scope, &observed) {
            (FileClass::Ok, _) => result.ok += 1,
            (class, reason) => {
                result.others.push(FileVerdict { path: row.path.to_string(), class, reason });
            }
        }
    }
    let unlisted = |path| FileVerdict { path, class: FileClass::Unlisted, reason: None };
    result.others.extend(observed.unlisted.into_iter().map(unlisted));
    result.others.sort_unstable();
    result
}

fn class(
    row: &Listed<'_>,
    found: &Found,
    scope: &Scope<'_>,
    observed: &Observations,
) -> (FileClass, Option<String>) {
    match (found, row.hash) {
        (Found::Unreadable(reason), _) => (FileClass::Unreadable, Some(reason.clone())),
        (Found::Nothing, _) => absent(row, observed),
        (Found::File { .. }, None) => (FileClass::Unhashed, None),
        (Found::File { hash, .. }, Some(wanted)) if *hash == wanted => (FileClass::Ok, None),
        (Found::File { line_ends: Some(hashes), .. }, Some(wanted)) if hashes.holds(wanted) => {
            (FileClass::LineEndsOnly, None)
        }
        (Found::File { .. }, Some(_)) if scope.regenerates(&row.path) => (FileClass::Regenerated, None),
        (Found::File { .. }, Some(_)) => (FileClass::Modified, None),
    }
}

/// The class of a row at which nothing was found.
fn absent(row: &Listed<'_>, observed: &Observations) -> (FileClass, Option<String>) {
    let closed = observed.closed_folders.iter().find(|(folder, _)| {
        let below = row.path.strip_prefix(folder.as_str());
        below.is_some_and(|rest| folder.is_empty() || rest.starts_with('/'))
    });
    if let Some((folder, reason)) = closed {
        return (FileClass::Unreadable, Some(format!("the folder `{folder}` cannot be opened: {reason}")));
    }
    let module = row.path.split('/').next().unwrap_or_default();
    if observed.folders.contains(module) && !observed.folders.contains(row.folder()) {
        (FileClass::RemovedWithItsFolder, None)
    } else {
        (FileClass::Missing, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files_manifest::{listed, read};

    fn file(bytes: &str) -> Found {
        let line_ends = Some(Box::new(LineEndHashes::of(bytes.as_bytes())));
        Found::File { hash: FileHash::of(bytes.as_bytes()), line_ends }
    }

    fn observed(found: Vec<Found>, folders: &[&str]) -> Observations {
        let folders = folders.iter().map(|folder| (*folder).to_owned()).collect();
        Observations { found, folders, ..Observations::default() }
    }

    /// A manifest that lists each path with the hash of `a\nb\n`.
    fn compare(paths: &[&str], scope: &Scope<'_>, observed: Observations) -> Vec<(String, &'static str)> {
        let hash = FileHash::of(b"a\nb\n");
        let rows: String = paths.iter().map(|path| format!("t,n,m,{path},{hash}\n")).collect();
        let text = format!("type,name,module,path,hash\n{rows}");
        let mut oddities = Vec::new();
        let listed = listed(read(&text), &mut oddities);
        let index = FolderIndex::new(&listed, &mut oddities);
        let result = verify(&listed, &index, scope, observed);
        assert_eq!(result.has_findings(), result.others.iter().any(|file| file.class.is_finding()));
        result.others.into_iter().map(|file| (file.path, file.class.label())).collect()
    }

    #[test]
    fn tells_an_edit_from_changed_line_ends() {
        let found =
            vec![file("a\nb\n"), file("a\r\nb\r\n"), file("a\nB\n"), Found::Unreadable("no".to_owned())];
        let files = compare(&["ok", "crlf", "edited", "shut"], &Scope::Everything, observed(found, &[""]));
        assert_eq!(
            files,
            [
                ("crlf".to_owned(), "line-ends-only"),
                ("edited".to_owned(), "modified"),
                ("shut".to_owned(), "unreadable")
            ]
        );
    }

    #[test]
    fn a_deleted_file_is_missing_and_a_deleted_folder_is_not_unless_it_is_a_module() {
        for (path, folders, class) in [
            ("m/skill/SKILL.md", &["", "m"][..], "removed-with-its-folder"),
            ("m/skill/steps/1.md", &["", "m", "m/skill"], "removed-with-its-folder"),
            ("m/skill/SKILL.md", &["", "m", "m/skill"], "missing"),
            ("m/a.md", &["", "m"], "missing"),
            ("m/a.md", &[""], "missing"),
            ("m/skill/SKILL.md", &[""], "missing"),
            ("top.md", &[""], "missing"),
        ] {
            let files = compare(&[path], &Scope::BmadFolder, observed(vec![Found::Nothing], folders));
            assert_eq!(files, [(path.to_owned(), class)], "{folders:?}");
        }
    }

    #[test]
    fn what_lies_in_a_closed_folder_is_unreadable() {
        let mut seen = observed(vec![Found::Nothing, Found::Nothing], &[""]);
        seen.closed_folders.push(("m".to_owned(), "permission denied".to_owned()));
        let files = compare(&["m/x/a.md", "mm/a.md"], &Scope::Everything, seen);
        assert_eq!(files, [("m/x/a.md".to_owned(), "unreadable"), ("mm/a.md".to_owned(), "missing")]);
    }

    #[test]
    fn what_the_installer_writes_anew_is_never_modified() {
        let found = || vec![file("x"), file("x")];
        let paths = ["bmm/config.yaml", "bmm/module-help.csv"];
        let bmad = compare(&paths, &Scope::BmadFolder, observed(found(), &["", "bmm"]));
        assert_eq!([bmad[0].1, bmad[1].1], ["regenerated", "modified"]);
        let plain = compare(&paths, &Scope::Everything, observed(found(), &["", "bmm"]));
        assert_eq!([plain[0].1, plain[1].1], ["modified", "modified"]);
    }

    #[test]
    fn a_row_without_hash_says_nothing_and_unlisted_files_are_told() {
        let mut oddities = Vec::new();
        let listed = listed(read("type,name,module,path\nt,n,m,old.md\n"), &mut oddities);
        let index = FolderIndex::new(&listed, &mut oddities);
        let mut seen = observed(vec![file("x")], &[""]);
        seen.unlisted.push("new.md".to_owned());
        let result = verify(&listed, &index, &Scope::Everything, seen);
        assert!(!result.has_findings());
        assert_eq!(
            (result.count(FileClass::Unhashed), result.count(FileClass::Unlisted), result.ok),
            (1, 1, 0)
        );
    }
}
