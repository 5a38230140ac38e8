//! What a manifest says, compared with what is there.

use std::collections::HashSet;

use super::{LineEndHashes, ListedFolder, Listing, Scope};

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
    Unreadable(Box<str>),
    /// A file whose bytes have the listed hash.
    AsListed,
    /// A file whose bytes have another hash, or whose row has none. Its hashes with other line ends, where it could be
    /// read once more.
    OtherBytes(Option<Box<LineEndHashes>>),
}

/// Everything that was seen under a manifest's root.
#[derive(Clone, Debug, Default)]
pub struct Observations {
    /// What each listed file is found to be, by its number in the listing.
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

/// Compares `listing` with what was observed. `observed.found` runs parallel to the numbers of the listed files.
pub fn verify(listing: &Listing, scope: &Scope<'_>, observed: Observations) -> Verification {
    let mut result = Verification::default();
    for folder in listing.folders() {
        for place in 0..folder.len() {
            let found = observed.found.get(folder.number(place)).unwrap_or(&Found::Nothing);
            match class(folder, place, found, scope, &observed) {
                (FileClass::Ok, _) => result.ok += 1,
                (class, reason) => {
                    result.others.push(FileVerdict { path: folder.path_of(place), class, reason });
                }
            }
        }
    }
    let unlisted = |path| FileVerdict { path, class: FileClass::Unlisted, reason: None };
    result.others.extend(observed.unlisted.into_iter().map(unlisted));
    result.others.sort_unstable();
    result
}

fn class(
    folder: &ListedFolder,
    place: usize,
    found: &Found,
    scope: &Scope<'_>,
    observed: &Observations,
) -> (FileClass, Option<String>) {
    match (found, folder.hash(place)) {
        (Found::Unreadable(reason), _) => (FileClass::Unreadable, Some(reason.to_string())),
        (Found::Nothing, _) => absent(folder.path(), observed),
        (Found::AsListed, Some(_)) => (FileClass::Ok, None),
        (Found::AsListed | Found::OtherBytes(_), None) => (FileClass::Unhashed, None),
        (Found::OtherBytes(Some(hashes)), Some(wanted)) if hashes.holds(wanted) => {
            (FileClass::LineEndsOnly, None)
        }
        (Found::OtherBytes(_), Some(_)) if scope.regenerates(&folder.path_of(place)) => {
            (FileClass::Regenerated, None)
        }
        (Found::OtherBytes(_), Some(_)) => (FileClass::Modified, None),
    }
}

/// The class of a file listed in `folder` of which nothing was found.
fn absent(folder: &str, observed: &Observations) -> (FileClass, Option<String>) {
    let closed = observed.closed_folders.iter().find(|(closed, _)| {
        let below = folder.strip_prefix(closed.as_str());
        below.is_some_and(|rest| closed.is_empty() || rest.is_empty() || rest.starts_with('/'))
    });
    if let Some((closed, reason)) = closed {
        return (FileClass::Unreadable, Some(format!("the folder `{closed}` cannot be opened: {reason}")));
    }
    let module = folder.split('/').next().unwrap_or_default();
    if observed.folders.contains(module) && !observed.folders.contains(folder) {
        (FileClass::RemovedWithItsFolder, None)
    } else {
        (FileClass::Missing, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::FileHash;

    fn other(bytes: &str) -> Found {
        Found::OtherBytes(Some(Box::new(LineEndHashes::of(bytes.as_bytes()))))
    }

    fn observed(found: Vec<Found>, folders: &[&str]) -> Observations {
        let folders = folders.iter().map(|folder| (*folder).to_owned()).collect();
        Observations { found, folders, ..Observations::default() }
    }

    /// A manifest that lists each path with the hash of `a\nb\n`; `observed` follows their byte order.
    fn compare(paths: &[&str], scope: &Scope<'_>, observed: Observations) -> Vec<(String, &'static str)> {
        let hash = FileHash::of(b"a\nb\n");
        let rows: String = paths.iter().map(|path| format!("t,n,m,{path},{hash}\n")).collect();
        let text = format!("type,name,module,path,hash\n{rows}");
        let listing = Listing::read(&text);
        let result = verify(&listing, scope, observed);
        assert_eq!(result.has_findings(), result.others.iter().any(|file| file.class.is_finding()));
        result.others.into_iter().map(|file| (file.path, file.class.label())).collect()
    }

    #[test]
    fn tells_an_edit_from_changed_line_ends() {
        let found =
            vec![other("a\r\nb\r\n"), other("a\nB\n"), Found::AsListed, Found::Unreadable("no".into())];
        let files = compare(&["crlf", "edited", "ok", "shut"], &Scope::Everything, observed(found, &[""]));
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
        let found = || vec![other("x"), other("x")];
        let paths = ["bmm/config.yaml", "bmm/module-help.csv"];
        let bmad = compare(&paths, &Scope::BmadFolder, observed(found(), &["", "bmm"]));
        assert_eq!([bmad[0].1, bmad[1].1], ["regenerated", "modified"]);
        let plain = compare(&paths, &Scope::Everything, observed(found(), &["", "bmm"]));
        assert_eq!([plain[0].1, plain[1].1], ["modified", "modified"]);
    }

    #[test]
    fn a_row_without_hash_says_nothing_and_unlisted_files_are_told() {
        let listing = Listing::read("type,name,module,path\nt,n,m,old.md\n");
        let mut seen = observed(vec![other("x")], &[""]);
        seen.unlisted.push("new.md".to_owned());
        let result = verify(&listing, &Scope::Everything, seen);
        assert!(!result.has_findings());
        assert_eq!(
            (result.count(FileClass::Unhashed), result.count(FileClass::Unlisted), result.ok),
            (1, 1, 0)
        );
    }
}
