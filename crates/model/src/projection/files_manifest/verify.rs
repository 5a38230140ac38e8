//! Verification of the files against a manifest.

use std::collections::HashSet;

use super::{LineEndHashes, ManifestScope};
use crate::{artifact::FileHash, spelling::is_same_name};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileClass {
    /// The bytes have the listed hash.
    Ok,
    /// The file is there, and the manifest holds no hash of it: nobody can tell.
    Unhashed,
    /// The bytes have the listed hash once their line ends are turned to LF or to CRLF: git, not an edit.
    LineEndsOnly,
    /// The bytes differ, and the installer writes this file anew on every run
    /// ([`ManifestScope::regenerates`]): no edit.
    Regenerated,
    /// The file is gone together with its whole folder, while the module's folder is still there: that is
    /// what the installer does with skills once it has copied them to where an agent reads them (219 of the
    /// 235 rows of a fresh 6.12 install). A file deleted from a folder that is still there is
    /// [`FileClass::Missing`], and so is everything when a module, or the whole root, is gone. In a project's
    /// own manifest nothing is excused so: a lost folder of artifacts is lost work.
    RemovedWithItsFolder,
    /// The file belongs to the manifest's scope, and no row names it.
    Unlisted,
    /// The bytes differ from the listed hash.
    Modified,
    Missing,
    /// The file is there, and its bytes could not be read.
    Unreadable,
}

impl FileClass {
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

    /// Returns whether a file of this class makes the verification fail.
    pub const fn is_finding(self) -> bool {
        matches!(self, Self::Modified | Self::Missing | Self::Unreadable)
    }
}

/// The file found where a row points, unless the bytes there have the listed hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoundFile {
    /// No file of that name, or no such folder.
    Nothing,
    /// Something that could not be read, and why.
    Unreadable(String),
    /// A file whose bytes have another hash, or whose row has none. Its hashes with other line ends, where it
    /// could be read once more.
    OtherBytes(Option<Box<LineEndHashes>>),
}

/// A listed file that is not simply as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deviation {
    pub path: String,
    /// Its hash in the manifest; `None` where the manifest holds none.
    pub listed: Option<FileHash>,
    pub found: FoundFile,
}

/// Everything that was seen under a manifest's root.
#[derive(Clone, Debug, Default)]
pub struct Observations {
    pub as_listed: usize,
    pub deviations: Vec<Deviation>,
    /// Every folder that was seen, relative to the root; the root itself is the empty path.
    pub folders: HashSet<String>,
    /// Folders that could not be looked into, and why.
    pub closed_folders: Vec<(String, String)>,
    /// The files in scope that no row names.
    pub unlisted: Vec<String>,
}

/// One file that is not simply in order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileResult {
    /// The file, relative to the manifest's root.
    pub path: String,
    pub class: FileClass,
    /// The reason why it could not be read.
    pub reason: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// The number of files that are as their rows say.
    pub ok: usize,
    pub others: Vec<FileResult>,
}

impl Verification {
    pub fn count(&self, class: FileClass) -> usize {
        if class == FileClass::Ok {
            return self.ok;
        }
        self.others.iter().filter(|file| file.class == class).count()
    }

    pub fn has_findings(&self) -> bool {
        self.others.iter().any(|file| file.class.is_finding())
    }
}

pub fn verify(scope: &ManifestScope<'_>, observed: Observations) -> Verification {
    let verdict = |deviation: &Deviation| {
        let (class, mut reason) = class(deviation, scope, &observed);
        if class == FileClass::Missing {
            let mut unlisted = observed.unlisted.iter();
            let other = unlisted.find(|other| is_same_name(other, &deviation.path));
            reason = other.map(|other| format!("its name is spelled otherwise in Unicode now: `{other}`"));
        }
        FileResult { path: deviation.path.clone(), class, reason }
    };
    let mut others: Vec<FileResult> = observed.deviations.iter().map(verdict).collect();
    let unlisted = |path| FileResult { path, class: FileClass::Unlisted, reason: None };
    others.extend(observed.unlisted.into_iter().map(unlisted));
    others.sort_unstable();
    Verification { ok: observed.as_listed, others }
}

fn class(
    deviation: &Deviation,
    scope: &ManifestScope<'_>,
    observed: &Observations,
) -> (FileClass, Option<String>) {
    let Deviation { path, listed, found } = deviation;
    match (found, listed) {
        (FoundFile::Unreadable(reason), _) => (FileClass::Unreadable, Some(reason.clone())),
        (FoundFile::Nothing, _) => absent(path, scope, observed),
        (FoundFile::OtherBytes(_), None) => (FileClass::Unhashed, None),
        (FoundFile::OtherBytes(Some(hashes)), Some(listed)) if hashes.holds(*listed) => {
            (FileClass::LineEndsOnly, None)
        }
        (FoundFile::OtherBytes(_), Some(_)) if scope.regenerates(path) => (FileClass::Regenerated, None),
        (FoundFile::OtherBytes(_), Some(_)) => (FileClass::Modified, None),
    }
}

/// The class of a listed file of which nothing was found.
fn absent(path: &str, scope: &ManifestScope<'_>, observed: &Observations) -> (FileClass, Option<String>) {
    let folder = path.rfind('/').map_or("", |slash| &path[..slash]);
    let closed = observed.closed_folders.iter().find(|(closed, _)| {
        let below = folder.strip_prefix(closed.as_str());
        below.is_some_and(|rest| closed.is_empty() || rest.is_empty() || rest.starts_with('/'))
    });
    if let Some((closed, reason)) = closed {
        return (FileClass::Unreadable, Some(format!("the folder `{closed}` cannot be opened: {reason}")));
    }
    let module = folder.split('/').next().unwrap_or_default();
    let is_installers = matches!(scope, ManifestScope::BmadFolder);
    if is_installers && observed.folders.contains(module) && !observed.folders.contains(folder) {
        (FileClass::RemovedWithItsFolder, None)
    } else {
        (FileClass::Missing, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTED: &str = "a\nb\n";

    fn other(bytes: &str) -> FoundFile {
        FoundFile::OtherBytes(Some(Box::new(LineEndHashes::of(bytes.as_bytes()))))
    }

    fn observed(deviations: Vec<(&str, FoundFile)>, folders: &[&str]) -> Observations {
        let listed = Some(FileHash::of(LISTED.as_bytes()));
        let deviation = |(path, found): (&str, _)| Deviation { path: path.to_owned(), listed, found };
        Observations {
            deviations: deviations.into_iter().map(deviation).collect(),
            folders: folders.iter().map(|folder| (*folder).to_owned()).collect(),
            ..Observations::default()
        }
    }

    fn classes(scope: &ManifestScope<'_>, observed: Observations) -> Vec<(String, &'static str)> {
        let result = verify(scope, observed);
        assert_eq!(result.has_findings(), result.others.iter().any(|file| file.class.is_finding()));
        result.others.into_iter().map(|file| (file.path, file.class.label())).collect()
    }

    #[test]
    fn tells_an_edit_from_changed_line_ends() {
        let deviations = vec![
            ("shut", FoundFile::Unreadable("no".to_owned())),
            ("crlf", other("a\r\nb\r\n")),
            ("edited", other("a\nB\n")),
            ("gone since", FoundFile::OtherBytes(None)),
        ];
        let expected = [
            ("crlf", "line-ends-only"),
            ("edited", "modified"),
            ("gone since", "modified"),
            ("shut", "unreadable"),
        ];
        let expected = expected.map(|(path, class)| (path.to_owned(), class));
        assert_eq!(classes(&ManifestScope::Everything, observed(deviations, &[""])), expected);
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
            let files =
                classes(&ManifestScope::BmadFolder, observed(vec![(path, FoundFile::Nothing)], folders));
            assert_eq!(files, [(path.to_owned(), class)], "{folders:?}");
            let own =
                classes(&ManifestScope::Everything, observed(vec![(path, FoundFile::Nothing)], folders));
            assert_eq!(own, [(path.to_owned(), "missing")], "{folders:?}");
        }
    }

    #[test]
    fn what_lies_in_a_closed_folder_is_unreadable() {
        let mut seen =
            observed(vec![("m/x/a.md", FoundFile::Nothing), ("mm/a.md", FoundFile::Nothing)], &[""]);
        seen.closed_folders.push(("m".to_owned(), "permission denied".to_owned()));
        let expected = [("m/x/a.md".to_owned(), "unreadable"), ("mm/a.md".to_owned(), "missing")];
        assert_eq!(classes(&ManifestScope::Everything, seen), expected);
    }

    #[test]
    fn what_the_installer_writes_anew_is_never_modified() {
        let seen = || {
            observed(vec![("bmm/config.yaml", other("x")), ("bmm/module-help.csv", other("x"))], &["", "bmm"])
        };
        let classes = |scope| classes(&scope, seen()).iter().map(|(_, class)| *class).collect::<Vec<_>>();
        assert_eq!(classes(ManifestScope::BmadFolder), ["regenerated", "modified"]);
        assert_eq!(classes(ManifestScope::Everything), ["modified", "modified"]);
    }

    #[test]
    fn a_row_without_hash_says_nothing_and_unlisted_files_are_told() {
        let deviation = Deviation { path: "old.md".to_owned(), listed: None, found: other("x") };
        let result = verify(
            &ManifestScope::Everything,
            Observations {
                as_listed: 3,
                deviations: vec![deviation],
                unlisted: vec!["new.md".to_owned()],
                ..Observations::default()
            },
        );
        assert!(!result.has_findings());
        let count = |class| result.count(class);
        assert_eq!([FileClass::Ok, FileClass::Unhashed, FileClass::Unlisted].map(count), [3, 1, 1]);
    }
}
