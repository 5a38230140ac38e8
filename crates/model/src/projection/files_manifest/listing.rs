//! Manifest rows by folder and name, for comparison with the disk.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    ops::Range,
};

use super::{
    ManifestWarning, ManifestWarningKind, ReadRow,
    read::{LineReader, lines},
};
use crate::{
    artifact::FileHash,
    bmad::settings::{installer_never_compares, installer_skips_file, installer_skips_folder},
};

#[derive(Clone, Debug, Default)]
pub struct Listing {
    folders: Vec<ListedFolder>,
    places: HashMap<Box<str>, usize>,
    above: HashSet<Box<str>>,
    oddities: Vec<ManifestWarning>,
}

/// Directly in one folder. Indices count from 0, in byte order of names.
#[derive(Clone, Debug)]
pub struct ListedFolder {
    path: Box<str>,
    /// Concatenated: verification reads them once, sequentially.
    names: String,
    files: Vec<PackedFile>,
}

#[derive(Clone, Debug)]
struct PackedFile {
    name: Range<usize>,
    hash: Option<FileHash>,
    line: usize,
}

impl Listing {
    /// Parses as [`read`](super::read). As in the installer, the later of two equal paths counts; the earlier
    /// one is an oddity.
    pub fn read(text: &str) -> Self {
        let mut builder = ListingBuilder::default();
        for line in lines(text) {
            builder.push_line(line);
        }
        builder.finish()
    }

    fn add(&mut self, folder: ListedFolder) -> usize {
        let mut rest = &*folder.path;
        while let Some(slash) = rest.rfind('/') {
            rest = &rest[..slash];
            self.above.insert(rest.into());
        }
        self.places.insert(folder.path.clone(), self.folders.len());
        self.folders.push(folder);
        self.folders.len() - 1
    }

    pub fn folder(&self, path: &str) -> Option<&ListedFolder> {
        self.places.get(path).and_then(|place| self.folders.get(*place))
    }

    pub fn folders(&self) -> &[ListedFolder] {
        &self.folders
    }

    /// Directly or deeper.
    pub fn reaches_into(&self, folder: &str) -> bool {
        self.places.contains_key(folder) || self.above.contains(folder)
    }

    pub fn lines(&self) -> impl Iterator<Item = (String, usize)> {
        let of = |folder: &ListedFolder| {
            let lines: Vec<_> = folder
                .files
                .iter()
                .enumerate()
                .map(|(place, file)| (folder.path_of(place), file.line))
                .collect();
            lines
        };
        self.folders.iter().flat_map(of)
    }

    pub fn oddities(&self) -> &[ManifestWarning] {
        &self.oddities
    }
}

impl ListedFolder {
    fn new(path: &str) -> Self {
        Self { path: path.into(), names: String::new(), files: Vec::new() }
    }

    fn push(&mut self, name: &str, hash: Option<FileHash>, line: usize) {
        let start = self.names.len();
        self.names.push_str(name);
        self.files.push(PackedFile { name: start..self.names.len(), hash, line });
    }

    pub fn path(&self) -> &str {
        &self.path
    }

    pub fn len(&self) -> usize {
        self.files.len()
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Empty past the last.
    pub fn name(&self, place: usize) -> &str {
        self.files.get(place).map_or("", |file| &self.names[file.name.clone()])
    }

    pub fn hash(&self, place: usize) -> Option<FileHash> {
        self.files.get(place).and_then(|file| file.hash)
    }

    /// Relative to the manifest's root.
    pub fn path_of(&self, place: usize) -> String {
        let name = self.name(place);
        if self.path.is_empty() { name.to_owned() } else { format!("{}/{name}", self.path) }
    }

    /// The first index with a name not less than `name`.
    pub fn place_from(&self, name: &str) -> usize {
        self.files.partition_point(|file| &self.names[file.name.clone()] < name)
    }

    pub fn place_of(&self, name: &str) -> Option<usize> {
        let place = self.place_from(name);
        (place < self.len() && self.name(place) == name).then_some(place)
    }

    fn arrange(&mut self, oddities: &mut Vec<ManifestWarning>) {
        let names = &self.names;
        // A stable sort keeps rows of one path in order; the last one counts.
        self.files.sort_by(|one, other| names[one.name.clone()].cmp(&names[other.name.clone()]));
        let mut repeated = Vec::new();
        self.files.dedup_by(|next, kept| {
            let again = names[kept.name.clone()] == names[next.name.clone()];
            if again {
                std::mem::swap(kept, next);
                repeated.push(next.clone());
            }
            again
        });
        for file in repeated {
            let name = &self.names[file.name];
            let path = if self.path.is_empty() { name.to_owned() } else { format!("{}/{name}", self.path) };
            oddities.push(ManifestWarning { line: file.line, kind: ManifestWarningKind::Repeated { path } });
        }
    }
}

#[derive(Debug, Default)]
pub struct ListingBuilder {
    listing: Listing,
    reader: LineReader,
}

impl ListingBuilder {
    /// Without LF.
    pub fn push_line(&mut self, line: &str) {
        let oddities = &mut self.listing.oddities;
        let Some(ReadRow { line, row }) = self.reader.row(line, oddities) else {
            return;
        };
        let Some(start) = name_in(&row.path) else {
            let path = row.path.into_owned();
            oddities.push(ManifestWarning { line, kind: ManifestWarningKind::Path { path } });
            return;
        };
        let (path, name) = (&row.path[..start.saturating_sub(1)], &row.path[start..]);
        self.folder(path).push(name, row.hash, line);
    }

    /// Not necessarily UTF-8; decoded as the installer does.
    pub fn push_bytes(&mut self, line: &[u8]) {
        match std::str::from_utf8(line) {
            Ok(line) => self.push_line(line),
            Err(_) => {
                self.push_line(&String::from_utf8_lossy(line));
                let line = self.reader.lines_read();
                self.listing.oddities.push(ManifestWarning { line, kind: ManifestWarningKind::NotUtf8 });
            }
        }
    }

    pub fn finish(mut self) -> Listing {
        let Listing { folders, oddities, .. } = &mut self.listing;
        folders.iter_mut().for_each(|folder| folder.arrange(oddities));
        oddities.sort_by_key(|oddity| oddity.line);
        self.listing
    }

    fn folder(&mut self, path: &str) -> &mut ListedFolder {
        let place = match self.listing.places.get(path) {
            Some(place) => *place,
            None => self.listing.add(ListedFolder::new(path)),
        };
        &mut self.listing.folders[place]
    }
}

/// `None` for absolute paths and `.` or `..` components.
fn name_in(path: &str) -> Option<usize> {
    let names_something = |part: &str| !matches!(part, "" | "." | "..");
    let mut start = 0;
    for end in memchr::memchr2_iter(b'/', b'\0', path.as_bytes()) {
        if !names_something(&path[start..end]) || !path[end..].starts_with('/') {
            return None;
        }
        start = end + 1;
    }
    names_something(&path[start..]).then_some(start)
}

/// Paths are relative to the root, with `/`. A scope decides about files on disk that are *not* listed:
/// `verify` reports them, `write` adds them. Listed files are always checked, so no scope can make one look
/// missing.
#[derive(Clone, Copy)]
pub enum ManifestScope<'a> {
    /// Without files of git and stepmark.
    Everything,
    /// A user's own files in a `_bmad` folder, by the installer's definition. Files that it skips stay only
    /// if already listed.
    BmadFolder,
    Artifacts(&'a dyn ArtifactFilter),
}

pub trait ArtifactFilter: Sync {
    fn is_artifact(&self, path: &str) -> bool;

    /// At any depth.
    fn skips_folder(&self, folder: &str) -> bool;
}

impl fmt::Debug for ManifestScope<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Everything => "Everything",
            Self::BmadFolder => "BmadFolder",
            Self::Artifacts(_) => "Artifacts",
        })
    }
}

impl ManifestScope<'_> {
    /// True also for folders below it.
    pub fn enters(&self, folder: &str) -> bool {
        let name = folder.rsplit('/').next().unwrap_or(folder);
        match (name, self) {
            (".git" | ".stepmark", _) => false,
            (_, Self::Everything) => true,
            (_, Self::BmadFolder) => name != "node_modules" && !installer_skips_folder(folder),
            (_, Self::Artifacts(filter)) => !filter.skips_folder(folder),
        }
    }

    /// For a file that is not listed yet.
    pub fn holds(&self, path: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::BmadFolder => !installer_skips_file(path),
            Self::Artifacts(filter) => filter.is_artifact(path),
        }
    }

    /// The installer lists files (its configuration, `_config/manifest.yaml`) that it skips when it looks for
    /// a user's files: those stay if already listed.
    pub fn keeps_listed(&self) -> bool {
        matches!(self, Self::BmadFolder)
    }

    /// Its hash may differ without an edit.
    ///
    /// In a `_bmad` folder: files that the installer rewrites on every run and never compares (`config.yaml`,
    /// `_config/`, `render/`, agents' memory), and `config.toml` with `config.user.toml` in its root, which
    /// `--set` changes after the manifest is written (seen with 6.12.0).
    pub fn regenerates(&self, path: &str) -> bool {
        matches!(self, Self::BmadFolder)
            && (installer_never_compares(path) || matches!(path, "config.toml" | "config.user.toml"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arranges_rows_by_folder_and_name() {
        let listing = Listing::read(
            "type,name,module,path,hash\n\
             a,b,c,m/x/b.md\na,b,c,top\na,b,c,m/x/a.md\na,b,c,/etc/passwd\na,b,c,m/../x\na,b,c,m/x/b.md\n",
        );
        let names = |path| {
            let folder = listing.folder(path)?;
            Some((0..folder.len()).map(|place| folder.name(place)).collect::<Vec<_>>())
        };
        assert_eq!(names("m/x"), Some(vec!["a.md", "b.md"]));
        assert_eq!(names(""), Some(vec!["top"]));
        assert_eq!(names("m"), None);
        assert!(listing.reaches_into("m") && listing.reaches_into("m/x") && !listing.reaches_into("m/x/y"));
        let kinds: Vec<_> =
            listing.oddities().iter().map(|odd| (odd.line, std::mem::discriminant(&odd.kind))).collect();
        let path = std::mem::discriminant(&ManifestWarningKind::Path { path: String::new() });
        let repeated = std::mem::discriminant(&ManifestWarningKind::Repeated { path: String::new() });
        assert_eq!(kinds, [(2, repeated), (5, path), (6, path)]);
        let mut lines: Vec<_> = listing.lines().collect();
        lines.sort();
        assert_eq!(
            lines,
            [("m/x/a.md".to_owned(), 4), ("m/x/b.md".to_owned(), 7), ("top".to_owned(), 3)],
            "of a path listed twice the later row counts"
        );
    }

    #[test]
    fn finds_names_in_a_folder() {
        let listing = Listing::read("type,name,module,path\na,b,c,m/é/b.md\na,b,c,m/é/d.md\n");
        let folder = listing.folder("m/é").unwrap();
        assert_eq!((folder.path_of(1), folder.path()), ("m/é/d.md".to_owned(), "m/é"));
        assert_eq!(["a", "b.md", "c", "d.md", "e"].map(|name| folder.place_from(name)), [0, 0, 1, 1, 2]);
        assert_eq!(
            ["a", "b.md", "d.md", "e"].map(|name| folder.place_of(name)),
            [None, Some(0), Some(1), None]
        );
    }

    #[test]
    fn bytes_that_are_no_text_are_told() {
        let mut builder = ListingBuilder::default();
        builder.push_bytes(b"type,name,module,path,hash");
        builder.push_bytes(b"a,b,c,x\xFF.md\r");
        let listing = builder.finish();
        assert_eq!(listing.folder("").unwrap().name(0), "x\u{FFFD}.md");
        assert_eq!(listing.oddities(), [ManifestWarning { line: 2, kind: ManifestWarningKind::NotUtf8 }]);
    }
}

#[cfg(test)]
mod scope_tests {
    use super::*;

    #[test]
    fn a_bmad_folder_is_searched_as_the_installer_searches_it() {
        let scope = ManifestScope::BmadFolder;
        for (path, held, regenerated) in [
            ("custom/config.toml", true, false),
            ("bmm/module-help.csv", true, false),
            ("bmm/x/render/a.md", true, false),
            ("memory.md", true, false),
            ("bmm/config.yaml", false, true),
            ("config.yaml", false, true),
            ("bmm/old-config.yaml", true, false),
            ("config.toml", true, true),
            ("bmm/config.toml", true, false),
            ("_config/manifest.yaml", false, true),
            ("_config/agents/x.customize.yaml", false, true),
            ("_memory/tech-writer-sidecar/a.md", false, true),
            ("memory/a.md", false, true),
            ("render/.gitignore", false, true),
            ("bmm/agents/pm.md", false, false),
            ("bmm/agents/pm.csv", true, false),
        ] {
            assert_eq!((scope.holds(path), scope.regenerates(path)), (held, regenerated), "{path}");
        }
        for (folder, entered) in [
            ("render", false),
            ("bmm/render", true),
            ("bmm/node_modules", false),
            (".git", false),
            ("_config", false),
            ("bmm", true),
        ] {
            assert_eq!(scope.enters(folder), entered, "{folder}");
        }
    }

    struct Markdown;

    impl ArtifactFilter for Markdown {
        fn is_artifact(&self, path: &str) -> bool {
            path.ends_with(".md")
        }

        fn skips_folder(&self, folder: &str) -> bool {
            folder.ends_with("node_modules")
        }
    }

    #[test]
    fn other_scopes_leave_out_git_and_stepmark_only() {
        let artifacts = ManifestScope::Artifacts(&Markdown);
        assert!(
            artifacts.holds("_config/a.md")
                && !artifacts.holds("a.txt")
                && !artifacts.regenerates("config.toml")
        );
        assert!(ManifestScope::Everything.enters("a/node_modules") && !artifacts.enters("a/node_modules"));
        for scope in [artifacts, ManifestScope::Everything] {
            assert!(scope.enters("render") && !scope.enters("a/.git") && !scope.enters(".stepmark"));
        }
    }
}
