//! Verification of the files against a manifest.

use std::{
    cmp::Ordering,
    collections::{HashMap, HashSet},
};

use super::{FileRow, LineEndHashes, ManifestScope};
use crate::{artifact::FileHash, spelling::is_same_name};
use icu_collator::{CollatorBorrowed, options::CollatorOptions};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileClass {
    Ok,
    /// The manifest has no hash of it.
    Unhashed,
    /// Equal after converting line ends to LF or CRLF: git, not an edit.
    LineEndsOnly,
    /// The installer rewrites it on every run ([`ManifestScope::regenerates`]): no edit.
    Regenerated,
    /// Gone with its whole folder, while the module's folder exists: the installer does that with skills
    /// after copying them to where agents read them (219 of the 235 rows of a fresh 6.12 install). In an
    /// existing folder, or if the module or the root is gone, it is [`FileClass::Missing`]. A project's own
    /// manifest has no such excuse: a lost folder of artifacts is lost work.
    RemovedWithItsFolder,
    /// In scope, without a row.
    Unlisted,
    Modified,
    Missing,
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

    /// In reports: lower case, joined by `-`.
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

    pub const fn is_finding(self) -> bool {
        matches!(self, Self::Modified | Self::Missing | Self::Unreadable)
    }
}

/// On disk, unless the hash is as listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoundFile {
    Nothing,
    Unreadable(String),
    /// Another hash, or a row without one. Has hashes with other line ends, if readable.
    OtherBytes(Option<Box<LineEndHashes>>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deviation {
    pub path: String,
    pub listed: Option<FileHash>,
    pub found: FoundFile,
}

#[derive(Clone, Debug, Default)]
pub struct Observations {
    pub as_listed: usize,
    pub deviations: Vec<Deviation>,
    /// Relative to the root, which is empty.
    pub folders: HashSet<String>,
    pub closed_folders: Vec<(String, String)>,
    pub unlisted: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileResult {
    /// Relative to the manifest's root.
    pub path: String,
    pub class: FileClass,
    pub reason: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
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

/// Order of the installer: by module, type and name, each by `localeCompare`, the Unicode root collation with
/// default options (docs/formats.md; 111 of the 235 rows of a fresh install are not in byte order).
///
/// Two rules make it total. Ties (two `README.md` of one module) keep the order of the existing manifest,
/// since the installer leaves them as it happened to copy them; then the path decides. If different texts
/// collate equal (they differ in ignorable characters), the next column decides.
///
/// The installer uses the user's locale: under one with its own rules (such as Swedish) its order differs.
/// Its reader ignores the order.
#[derive(Debug)]
pub struct RowOrder {
    collator: CollatorBorrowed<'static>,
}

/// Missing in this build.
#[derive(Debug, thiserror::Error)]
#[error("cannot sort files-manifest.csv: this build of stepmark holds no Unicode root collation")]
pub struct RowOrderError {
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl RowOrder {
    pub fn root() -> Result<Self, RowOrderError> {
        let prefs = icu_collator::CollatorPreferences::default();
        CollatorBorrowed::try_new(prefs, CollatorOptions::default())
            .map(|collator| Self { collator })
            .map_err(|source| RowOrderError { source: source.into() })
    }

    /// `existing` has the paths of the present manifest with their lines, to break ties.
    pub fn sort(&self, rows: &mut [FileRow<'_>], existing: impl IntoIterator<Item = (String, usize)>) {
        let places: HashMap<String, usize> = existing.into_iter().collect();
        let place = |row: &FileRow<'_>| places.get(&*row.path).copied().unwrap_or(usize::MAX);
        rows.sort_by(|one, other| {
            self.texts(&one.module, &other.module)
                .then_with(|| self.texts(&one.kind, &other.kind))
                .then_with(|| self.texts(&one.name, &other.name))
                .then_with(|| place(one).cmp(&place(other)))
                .then_with(|| one.path.cmp(&other.path))
        });
    }

    fn texts(&self, one: &str, other: &str) -> Ordering {
        if one == other { Ordering::Equal } else { self.collator.compare(one, other) }
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

#[cfg(test)]
mod order_tests {
    use proptest::prelude::*;

    use super::*;

    /// `order_fixture/generate.mjs` says how it was made.
    const NODE_ORDER: &str = include_str!("order_fixture/node-order.json");

    #[derive(serde::Deserialize)]
    struct NodeOrder {
        groups: Vec<Vec<String>>,
    }

    #[test]
    fn compares_texts_as_node_does() {
        let order = RowOrder::root().unwrap();
        let node: NodeOrder = serde_json::from_str(NODE_ORDER).unwrap();
        assert!(node.groups.len() > 2000, "the fixture is there");
        for group in &node.groups {
            for name in group {
                assert_eq!(order.texts(&group[0], name), Ordering::Equal, "{:?} {name:?}", group[0]);
            }
        }
        for pair in node.groups.windows(2) {
            assert_eq!(order.texts(&pair[0][0], &pair[1][0]), Ordering::Less, "{:?} {:?}", pair[0], pair[1]);
        }
    }

    fn sorted<'path>(paths: &[&'path str], existing: &[&str]) -> Vec<&'path str> {
        let mut rows: Vec<_> = paths.iter().map(|path| FileRow::of(path, None).unwrap()).collect();
        let existing = existing.iter().enumerate().map(|(line, path)| ((*path).to_owned(), line));
        RowOrder::root().unwrap().sort(&mut rows, existing);
        let at = |row: &FileRow<'_>| paths.iter().copied().find(|path| *path == row.path).unwrap();
        rows.iter().map(at).collect()
    }

    #[test]
    fn sorts_by_module_then_type_then_name() {
        let shuffled =
            ["b/a.md", "a/z.md", "a/B.md", "a/a.yaml", "a/_x.csv", "_config/manifest.yaml", "a/b.md"];
        let wanted =
            ["_config/manifest.yaml", "a/_x.csv", "a/b.md", "a/B.md", "a/z.md", "a/a.yaml", "b/a.md"];
        assert_eq!(sorted(&shuffled, &[]), wanted);
    }

    #[test]
    fn ties_keep_the_existing_order_and_new_rows_follow_by_path() {
        let paths = ["m/a/x.md", "m/b/x.md", "m/c/x.md", "m/d/x.md"];
        assert_eq!(
            sorted(&paths, &["m/d/x.md", "other", "m/b/x.md"]),
            ["m/d/x.md", "m/b/x.md", "m/a/x.md", "m/c/x.md"]
        );
    }

    proptest! {
        /// Whatever order the walk finds the files in, the manifest is the same.
        #[test]
        fn the_order_is_total(paths in proptest::collection::btree_set("[aAbé_/.\u{AD}\u{301}-]{1,8}", 0..12), seed: u64) {
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            let mut shuffled = paths.clone();
            let mut state = seed;
            for place in (1..shuffled.len()).rev() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                shuffled.swap(place, usize::try_from(state >> 33).unwrap() % (place + 1));
            }
            prop_assert_eq!(sorted(&paths, &[]), sorted(&shuffled, &[]));
        }
    }
}
