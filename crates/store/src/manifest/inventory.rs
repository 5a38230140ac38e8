//! A manifest's files, with hashes.

use std::{
    collections::HashSet,
    ops::Range,
    path::{Path, PathBuf},
    sync::atomic::Ordering,
};

use crate::{
    Error,
    configuration::Configuration,
    disk::{
        CONFIGURATION_PATH, Root,
        folder::{EntryKind, Folder},
        stat_cache::{RunStart, StatCache},
        walk::{Unignored, Visitor, WalkProblem, WalkProblemKind, Walked, walk},
    },
    manifest::{
        CacheOutcome, DEFAULT_MANIFEST, IgnoreFiles, ManifestRequest, own_path, renew, stat_cache_of,
        verify::{FolderPart, Observer, Seen},
    },
    workspace::Workspace,
};
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    bmad::settings::{BOOKS, INSTALLERS_MANIFEST, MODULES_BOOK},
    projection::files_manifest::{ArtifactFilter, Listing, ManifestScope},
};

/// A file in scope whose bytes could not be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema)]
pub struct UnreadableFile {
    /// The file, relative to the root.
    pub path: String,
    pub reason: String,
}

pub(super) struct Inventory<'run> {
    pub(super) request: &'run ManifestRequest<'run>,
    pub(super) selection: Selection<'run>,
    pub(super) earlier: &'run Listing,
}

pub(super) struct Collected {
    /// By path; without a hash if unreadable.
    pub(super) files: Vec<(String, Option<FileHash>)>,
    pub(super) unreadable: Vec<UnreadableFile>,
    pub(super) problems: Vec<WalkProblem>,
    pub(super) cache: CacheOutcome,
}

impl Inventory<'_> {
    pub(super) fn run(&self, cache: Option<&StatCache>, start: RunStart) -> Result<Collected, Error> {
        let root = self.request.root;
        let enters = |path: &str, kind| kind == EntryKind::Folder && self.enters(path);
        let new_collector = || Collector {
            inventory: self,
            observer: Observer::new(root, cache),
            files: Vec::new(),
            unreadable: Vec::new(),
            problems: Vec::new(),
        };
        let Walked { visitors, folders, mut problems } = walk(root.path(), &enters, &new_collector)?;
        let (mut files, mut unreadable, mut renewals) = (Vec::new(), Vec::new(), Vec::new());
        for collector in visitors {
            files.extend(collector.files);
            unreadable.extend(collector.unreadable);
            problems.extend(collector.problems);
            renewals.extend(collector.observer.into_renewals());
        }
        files.sort_unstable();
        unreadable.sort_unstable();
        problems.sort_unstable();
        let visited: HashSet<String> = folders.into_iter().collect();
        let cache = renew(self.request.stat_cache, cache, start, renewals, &visited, None);
        Ok(Collected { files, unreadable, problems, cache })
    }

    fn enters(&self, folder: &str) -> bool {
        let listed = self.request.scope.keeps_listed() && self.earlier.reaches_into(folder);
        listed || self.selection.enters(folder)
    }

    fn holds(&self, folder: &Folder, name: &str, path: &str) -> bool {
        self.selection.holds(path)
            || (self.request.scope.keeps_listed()
                && !self.selection.is_manifest(path)
                && self.is_listed(folder, name))
    }

    fn is_listed(&self, folder: &Folder, name: &str) -> bool {
        self.earlier.folder(folder.path()).is_some_and(|listed| listed.place_of(name).is_some())
    }
}

struct Collector<'run> {
    inventory: &'run Inventory<'run>,
    observer: Observer<'run>,
    files: Vec<(String, Option<FileHash>)>,
    unreadable: Vec<UnreadableFile>,
    problems: Vec<WalkProblem>,
}

impl Visitor for Collector<'_> {
    fn visit(&mut self, folder: &Folder, places: Range<usize>) {
        let looked_at = places.len();
        let mut part = self.observer.begin(folder, places.start);
        for place in places {
            let kind = folder.kind(place);
            if !matches!(kind, EntryKind::File | EntryKind::Link) {
                continue;
            }
            let name = folder.name(place);
            let path = folder.path_of(name);
            if !self.inventory.holds(folder, name, &path) {
                self.pass(&mut part, folder, place, path);
                continue;
            }
            match self.observer.look(&mut part, folder, place) {
                Seen::File(hash) => self.files.push((path, Some(hash))),
                Seen::Gone => {}
                Seen::LinkedFolder => {
                    self.problems.push(WalkProblem { path, kind: WalkProblemKind::LinkedFolder });
                }
                Seen::Unreadable(reason) if kind == EntryKind::Link => {
                    self.problems.push(WalkProblem { path, kind: WalkProblemKind::BrokenLink { reason } });
                }
                Seen::Unreadable(reason) => {
                    self.files.push((path.clone(), None));
                    self.unreadable.push(UnreadableFile { path, reason });
                }
            }
        }
        self.observer.end(part);
        self.inventory.request.looked_at.fetch_add(looked_at, Ordering::Relaxed);
    }
}

impl<'run> Collector<'run> {
    fn pass(&mut self, part: &mut FolderPart<'run>, folder: &Folder, place: usize, path: String) {
        if folder.kind(place) == EntryKind::File {
            self.observer.pass(part, folder.name(place));
        } else if self.observer.link_target(folder, place) == Ok(EntryKind::Folder)
            && self.inventory.enters(&path)
        {
            self.problems.push(WalkProblem { path, kind: WalkProblemKind::LinkedFolder });
        }
    }
}

/// The request's scope without ignored files and the manifest.
#[derive(Debug)]
pub(super) struct Selection<'run> {
    request: &'run ManifestRequest<'run>,
    manifest: Option<String>,
    unignored: Option<Unignored>,
}

impl<'run> Selection<'run> {
    pub(super) fn new(request: &'run ManifestRequest<'run>) -> Self {
        let unignored = match request.ignore_files {
            IgnoreFiles::Disregarded => None,
            IgnoreFiles::Honoured => Some(Unignored::below(request.root.path())),
        };
        Self { request, manifest: own_path(request), unignored }
    }

    pub(super) fn enters(&self, folder: &str) -> bool {
        self.request.scope.enters(folder) && self.leaves_over(folder)
    }

    pub(super) fn holds(&self, path: &str) -> bool {
        !self.is_manifest(path) && self.request.scope.holds(path) && self.leaves_over(path)
    }

    /// A manifest cannot hold its own hash.
    pub(super) fn is_manifest(&self, path: &str) -> bool {
        self.manifest.as_deref() == Some(path)
    }

    fn leaves_over(&self, path: &str) -> bool {
        self.unignored.as_ref().is_none_or(|unignored| unignored.contains(path))
    }
}

#[derive(Clone, Copy, Debug)]
pub struct ManifestChoice<'a> {
    /// The project, or the named folder.
    pub root: &'a Root,
    /// True for `--root`; otherwise the root was found.
    pub root_is_named: bool,
    /// `--file`.
    pub file: Option<&'a Path>,
    /// For relative paths; absolute.
    pub current_folder: &'a Path,
}

/// A manifest, and its scope.
///
/// * Without `--file`: the project's [`DEFAULT_MANIFEST`], for the configured artifacts. In a `_bmad` folder
///   the installer's manifest, which can be compared but not written this way.
/// * `--file` alone: that manifest, for the project's configured artifacts; for the `_bmad` folder if it is
///   the installer's manifest there.
/// * `--root` and `--file`: that manifest, for all files of the folder (in `_bmad` by the installer's rules),
///   or for the configured artifacts if the folder has a configuration.
#[derive(Clone, Debug)]
pub struct ManifestPlace {
    root: Root,
    project: Root,
    manifest: PathBuf,
    files: Files,
    pub(super) is_named: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Files {
    Artifacts,
    BmadFolder,
    All,
}

impl ManifestPlace {
    pub fn find(choice: &ManifestChoice<'_>) -> Result<Self, Error> {
        let root = choice.root.clone();
        if !choice.root_is_named {
            let named = choice.file.map(|file| choice.current_folder.join(file));
            return Ok(match named.as_deref().and_then(bmad_folder_of_installers) {
                Some(bmad) => Self::of_folder(Root::open(bmad)?, root, Files::BmadFolder, named),
                None => Self::of_project(root, named),
            });
        }
        let project = Root::discover(root.path())?;
        let named = choice.file.map(|file| named_file(choice, &project, file));
        Ok(if is_file(&root.path().join(CONFIGURATION_PATH)) {
            Self::of_project(root, named)
        } else if is_bmad_folder(root.path()) {
            Self::of_folder(root, project, Files::BmadFolder, named)
        } else if named.is_some() {
            Self::of_folder(root, project, Files::All, named)
        } else {
            Self::of_project(root, named)
        })
    }

    fn of_project(root: Root, named: Option<PathBuf>) -> Self {
        let is_named = named.is_some();
        let manifest = named.unwrap_or_else(|| root.path().join(DEFAULT_MANIFEST));
        Self { project: root.clone(), root, manifest, files: Files::Artifacts, is_named }
    }

    fn of_folder(root: Root, project: Root, files: Files, named: Option<PathBuf>) -> Self {
        let is_named = named.is_some();
        let manifest = named.unwrap_or_else(|| installers_manifest(root.path()));
        Self { root, project, manifest, files, is_named }
    }

    pub fn manifest(&self) -> &Path {
        &self.manifest
    }

    pub fn root(&self) -> &Root {
        &self.root
    }

    /// In the local state, if the project has a `.stepmark/` or the manifest goes there.
    pub(super) fn stat_cache(&self) -> Option<PathBuf> {
        let is_default = !self.is_named && self.files == Files::Artifacts;
        let has_place = is_default || is_folder(&self.project.path().join(".stepmark"));
        has_place.then(|| stat_cache_of(&self.project, &self.root)).flatten()
    }

    /// `stat_cache` is [`ManifestPlace::stat_cache`].
    pub(super) fn request<'a>(
        &'a self,
        workspace: &'a Workspace,
        ignore_files: IgnoreFiles,
        stat_cache: Option<&'a Path>,
    ) -> ManifestRequest<'a> {
        let scope = match self.files {
            Files::Artifacts => ManifestScope::Artifacts(workspace.configuration()),
            Files::BmadFolder => ManifestScope::BmadFolder,
            Files::All => ManifestScope::Everything,
        };
        let (root, manifest, looked_at) = (&self.root, self.manifest.as_path(), workspace.files_looked_at());
        ManifestRequest { root, manifest, scope, ignore_files, stat_cache, looked_at }
    }

    pub fn target(&self) -> Result<(&Root, ProjectPath), Error> {
        if !self.is_named && self.files == Files::BmadFolder {
            return Err(Error::usage(format!(
                "`{}` is the installer's own manifest: it is written only if --file names it; to keep one of your \
                 own, name another file",
                self.manifest.display()
            )));
        }
        Ok((&self.project, self.project.relative(&self.manifest, self.project.path())?))
    }

    /// True if the manifest is among the installer's own. Rewriting it would make edited files look pristine,
    /// and the installer's next update overwrites them without a `.bak`.
    pub fn is_among_installers_books(&self) -> bool {
        self.manifest.ancestors().skip(1).any(|folder| {
            let is_book = folder.file_name().is_some_and(|name| BOOKS.iter().any(|book| name == *book));
            is_book && folder.parent().is_some_and(is_bmad_folder)
        })
    }
}

fn named_file(choice: &ManifestChoice<'_>, project: &Root, file: &Path) -> PathBuf {
    let here = choice.current_folder.join(file);
    let is_of_project = project.relative(&here, choice.current_folder).is_ok();
    if is_of_project || is_file(&here) { here } else { choice.root.path().join(file) }
}

fn bmad_folder_of_installers(manifest: &Path) -> Option<&Path> {
    let book = manifest.parent()?;
    let is_installers = manifest.file_name()? == INSTALLERS_MANIFEST
        && BOOKS.iter().any(|name| book.file_name().is_some_and(|book| book == *name));
    book.parent().filter(|folder| is_installers && is_bmad_folder(folder))
}

fn is_bmad_folder(folder: &Path) -> bool {
    BOOKS.iter().any(|book| {
        let book = folder.join(book);
        is_file(&book.join(MODULES_BOOK)) || is_file(&book.join(INSTALLERS_MANIFEST))
    })
}

pub(super) fn installers_manifest(bmad: &Path) -> PathBuf {
    let [newer, older] = BOOKS.map(|book| bmad.join(book).join(INSTALLERS_MANIFEST));
    if !is_file(&newer) && is_file(&older) { older } else { newer }
}

#[expect(clippy::disallowed_methods, reason = "an edge module: what a path leads to is asked here")]
fn is_file(path: &Path) -> bool {
    path.is_file()
}

#[expect(clippy::disallowed_methods, reason = "an edge module: what a path leads to is asked here")]
fn is_folder(path: &Path) -> bool {
    path.is_dir()
}

impl ArtifactFilter for Configuration {
    fn is_artifact(&self, path: &str) -> bool {
        ProjectPath::new(path).is_ok_and(|path| Configuration::is_artifact(self, &path))
    }

    fn skips_folder(&self, folder: &str) -> bool {
        ProjectPath::new(folder).is_ok_and(|folder| Configuration::skips_folder(self, &folder))
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests make the folders that they ask about")]
mod tests {
    use std::fs;

    use super::*;

    /// A project with a BMAD installation; `configured` with a configuration of stepmark, too.
    fn project(configured: bool) -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        for path in ["_bmad/_config/manifest.yaml", "_bmad/_config/files-manifest.csv", "docs/prd.md"] {
            let place = root.path().join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, "").unwrap();
        }
        if configured {
            fs::create_dir(root.path().join(".stepmark")).unwrap();
            fs::write(root.path().join(CONFIGURATION_PATH), "").unwrap();
        }
        (folder, root)
    }

    fn meant(project: &Root, root: Option<&str>, file: Option<&str>) -> (String, String, Files) {
        let place = find(project, root, file);
        let inside = |path: &Path| path.strip_prefix(project.path()).unwrap().to_str().unwrap().to_owned();
        assert_eq!(place.project.path(), project.path());
        (inside(place.root.path()), inside(&place.manifest), place.files)
    }

    fn find(project: &Root, root: Option<&str>, file: Option<&str>) -> ManifestPlace {
        let named = root.map(|root| Root::open(project.path().join(root)).unwrap());
        ManifestPlace::find(&ManifestChoice {
            root: named.as_ref().unwrap_or(project),
            root_is_named: root.is_some(),
            file: file.map(Path::new),
            current_folder: project.path(),
        })
        .unwrap()
    }

    #[test]
    fn knows_which_manifest_is_meant() {
        let installers = "_bmad/_config/files-manifest.csv";
        let (_plain, plain) = project(false);
        let (_configured, configured) = project(true);
        for (project, root, file, expected) in [
            (&plain, None, None, ("", DEFAULT_MANIFEST, Files::Artifacts)),
            (&plain, Some("."), None, ("", DEFAULT_MANIFEST, Files::Artifacts)),
            (&plain, None, Some("x.csv"), ("", "x.csv", Files::Artifacts)),
            (&plain, None, Some(installers), ("_bmad", installers, Files::BmadFolder)),
            (&plain, Some("_bmad"), None, ("_bmad", installers, Files::BmadFolder)),
            (&plain, Some("_bmad"), Some(installers), ("_bmad", installers, Files::BmadFolder)),
            (&plain, Some("_bmad"), Some("x.csv"), ("_bmad", "x.csv", Files::BmadFolder)),
            (&plain, Some("docs"), Some("docs/x.csv"), ("docs", "docs/x.csv", Files::All)),
            (&configured, Some("."), Some("x.csv"), ("", "x.csv", Files::Artifacts)),
            (&configured, Some("_bmad"), None, ("_bmad", installers, Files::BmadFolder)),
            (&configured, Some("docs"), Some("x.csv"), ("docs", "x.csv", Files::All)),
        ] {
            let (root_meant, manifest, files) = meant(project, root, file);
            assert_eq!((&*root_meant, &*manifest, files), expected, "--root {root:?} --file {file:?}");
        }
    }

    #[test]
    fn writes_only_inside_the_project_and_the_installers_manifest_only_by_name() {
        let (_folder, project) = project(false);
        let target = |root, file| find(&project, root, file).target().map(|(_, path)| path.to_string());
        assert_eq!(target(None, None).unwrap(), DEFAULT_MANIFEST);
        assert_eq!(target(Some("_bmad"), Some("x.csv")).unwrap(), "x.csv");
        assert!(
            target(Some("_bmad"), None).unwrap_err().to_string().contains("the installer's own manifest")
        );
        assert!(
            target(None, Some("/elsewhere/x.csv"))
                .unwrap_err()
                .to_string()
                .contains("not inside the project")
        );
        let installers = "_bmad/_config/files-manifest.csv";
        assert_eq!(target(None, Some(installers)).unwrap(), installers);
        let warned = |file| find(&project, Some("_bmad"), Some(file)).is_among_installers_books();
        assert!(
            warned(installers) && warned("_bmad/_config/x.csv") && !warned("x.csv") && !warned("_bmad/x.csv")
        );
    }

    #[test]
    fn a_relative_file_is_seen_from_a_named_root_when_the_current_folder_is_elsewhere() {
        let (_folder, project) = project(false);
        let elsewhere = tempfile::tempdir().unwrap();
        let choice = ManifestChoice {
            root: &project,
            root_is_named: true,
            file: Some(Path::new("x.csv")),
            current_folder: elsewhere.path(),
        };
        let manifest = |choice| ManifestPlace::find(choice).unwrap().manifest;
        assert_eq!(manifest(&choice), project.path().join("x.csv"));
        fs::write(elsewhere.path().join("x.csv"), "").unwrap();
        assert_eq!(manifest(&choice), elsewhere.path().join("x.csv"));
    }

    #[test]
    fn the_cache_lies_in_a_project_that_has_a_place_for_it() {
        let (_plain, plain) = project(false);
        let (_configured, configured) = project(true);
        let cache = |project: &Root, root, file| {
            let cache = find(project, root, file).stat_cache()?;
            Some(cache.strip_prefix(project.path()).unwrap().to_str().unwrap().to_owned())
        };
        assert_eq!(cache(&plain, Some("_bmad"), None), None);
        assert_eq!(cache(&plain, None, None).as_deref(), Some(".stepmark/local/cache/files.stat"));
        assert_eq!(
            cache(&configured, None, Some("x.csv")).as_deref(),
            Some(".stepmark/local/cache/files.stat")
        );
        let other = cache(&configured, Some("_bmad"), None).unwrap();
        assert!(other.starts_with(".stepmark/local/cache/files-") && other.len() == 49, "{other}");
    }
}
