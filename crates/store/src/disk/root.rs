//! A project's root folder, and resolving names to files inside it.
#![expect(clippy::disallowed_methods, reason = "an edge module: paths are resolved on the file system here")]

use std::{
    ffi::OsStr,
    fs, io,
    path::{Component, Path, PathBuf},
};

use crate::{Error, ErrorKind, disk::local_state::LocalState};
use stepmark_model::artifact::{ProjectPath, ProjectPathError, names_git_folder};

pub const CONFIGURATION_PATH: &str = ".stepmark/config.yaml";

const OWN_FOLDER: &str = ".stepmark";

/// Dangling links followed before a path counts as a loop; Linux has the same limit.
const LINK_LIMIT: u8 = 40;

/// A project's root: absolute, without links. All files are found through [`Root::resolve`], which refuses
/// paths outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    path: PathBuf,
    state: LocalState,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    #[error(
        "`{path}` leads out of the project: it resolves to `{}`, which is not inside `{}`; \
         replace the link by a file, or run stepmark with the --root that holds both",
        leads_to.display(), root.display()
    )]
    Outside { path: ProjectPath, leads_to: PathBuf, root: PathBuf },
    #[error(
        "cannot write `{path}`: `{}` is in git's own folder, where stepmark writes nothing; choose another path",
        leads_to.display()
    )]
    GitFolder {
        path: ProjectPath,
        /// The path with links followed, inside the project.
        leads_to: PathBuf,
    },
    #[error(
        "cannot use `{path}`: a link leads to `{}`, and files of stepmark are never links; replace it by a file or a folder",
        leads_to.display()
    )]
    Elsewhere { path: ProjectPath, leads_to: PathBuf },
    #[error("cannot follow `{path}` to its file")]
    Unreachable { path: ProjectPath, source: io::Error },
}

impl ResolveError {
    pub const fn path(&self) -> &ProjectPath {
        match self {
            Self::Outside { path, .. }
            | Self::GitFolder { path, .. }
            | Self::Elsewhere { path, .. }
            | Self::Unreachable { path, .. } => path,
        }
    }
}

impl From<ResolveError> for Error {
    fn from(error: ResolveError) -> Self {
        let is_unreachable = matches!(error, ResolveError::Unreachable { .. });
        let path = error.path().clone();
        Self::told(if is_unreachable { ErrorKind::Io } else { ErrorKind::Usage }, error).at(&path)
    }
}

impl Root {
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, Error> {
        let folder = folder.as_ref();
        let real = fs::canonicalize(folder).map_err(|source| no_folder(folder, source))?;
        if !real.is_dir() {
            return Err(Error::usage(format!(
                "`{}` is not a folder: the root of a project is one",
                real.display()
            )));
        }
        Ok(Self::at(real))
    }

    /// Finds the project of `start` (a folder or file): the nearest folder upwards with
    /// `.stepmark/config.yaml`; else with a BMAD installation (`_bmad/`, or `bmad/` or `.bmad/` with the
    /// installer's `_cfg/` or `_config/`); else with `.git`; else `start` itself.
    pub fn discover(start: impl AsRef<Path>) -> Result<Self, Error> {
        let start = start.as_ref();
        let mut real = fs::canonicalize(start).map_err(|source| no_folder(start, source))?;
        if !real.is_dir() {
            real.pop();
        }
        let holds: [fn(&Path) -> bool; 3] =
            [holds_configuration, holds_bmad, |folder| folder.join(".git").exists()];
        let found = holds.iter().find_map(|holds| real.ancestors().find(|folder| holds(folder)));
        Ok(Self::at(found.map_or_else(|| real.clone(), Path::to_owned)))
    }

    /// True for the top of a repository without configuration and BMAD.
    #[cfg(feature = "history")]
    pub(crate) fn is_repository_alone(&self) -> bool {
        self.path.join(".git").exists() && !self.holds_project("")
    }

    #[cfg(feature = "history")]
    pub(crate) fn holds_project(&self, path: &str) -> bool {
        let folder = self.path.join(path);
        holds_configuration(&folder) || holds_bmad(&folder)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub const fn state(&self) -> &LocalState {
        &self.state
    }

    /// For messages: relative to the root if below it, with `/`.
    pub fn shown(&self, place: &Path) -> String {
        match place.strip_prefix(&self.path) {
            Ok(below) if cfg!(windows) => below.to_string_lossy().replace('\\', "/"),
            Ok(below) => below.to_string_lossy().into_owned(),
            Err(_) => place.to_string_lossy().into_owned(),
        }
    }

    fn at(path: PathBuf) -> Self {
        Self { state: LocalState::of(&path), path }
    }

    /// Absolute, with links of the file and its folders followed. The file and its folders may be missing; a
    /// dangling link leads to its target. Never reaches `.stepmark` through a link.
    pub fn resolve(&self, path: &ProjectPath) -> Result<PathBuf, ResolveError> {
        // Part by part: a canonical Windows path has no `/` separators.
        let mut named = self.path.clone();
        named.extend(path.as_str().split('/'));
        if is_without_links(&named) {
            return Ok(named);
        }
        let leads_to = follow(&named, LINK_LIMIT)
            .map_err(|source| ResolveError::Unreachable { path: path.clone(), source })?;
        if Path::new(path.as_str()).starts_with(OWN_FOLDER) && leads_to != named {
            return Err(ResolveError::Elsewhere { path: path.clone(), leads_to });
        }
        if leads_to == self.path || !leads_to.starts_with(&self.path) {
            return Err(ResolveError::Outside { path: path.clone(), leads_to, root: self.path.clone() });
        }
        Ok(leads_to)
    }

    /// Like [`Root::resolve`]; also refuses git's folder, by whatever name or link.
    pub fn resolve_for_writing(&self, path: &ProjectPath) -> Result<PathBuf, ResolveError> {
        let place = self.resolve(path)?;
        let inside = place.strip_prefix(&self.path).unwrap_or(&place);
        let names_git = |part: &OsStr| names_git_folder(&part.to_string_lossy());
        let leads_to_git = inside.as_os_str() != path.as_str() && inside.iter().any(names_git);
        // Git's folder may have another name: `git init --separate-git-dir`.
        if path.is_in_git_folder() || leads_to_git || self.state.is_git_folder(&place) {
            return Err(ResolveError::GitFolder { path: path.clone(), leads_to: inside.to_owned() });
        }
        Ok(place)
    }

    /// Converts a person's path, absolute or relative to `current_folder` (absolute). Links inside the
    /// project keep their name, so that messages use the person's.
    pub fn relative(&self, path: &Path, current_folder: &Path) -> Result<ProjectPath, Error> {
        let absolute = current_folder.join(path);
        let climbs = absolute.components().any(|part| part == Component::ParentDir);
        if !climbs && let Ok(inside) = absolute.strip_prefix(&self.path) {
            return ProjectPath::new(inside).map_err(unusable);
        }
        // After a link, `..` is the target's parent, which only the file system knows.
        let followed = match (absolute.parent(), absolute.file_name()) {
            (Some(folder), Some(name)) => follow(folder, LINK_LIMIT).map(|folder| folder.join(name)),
            _ => follow(&absolute, LINK_LIMIT),
        };
        let real = match followed {
            Ok(real) => real,
            Err(source) => {
                return Err(Error::usage(format!("cannot follow `{}`", absolute.display())).because(source));
            }
        };
        match real.strip_prefix(&self.path) {
            Ok(inside) => ProjectPath::new(inside).map_err(unusable),
            Err(_) => {
                let (path, root) = (absolute.display(), self.path.display());
                Err(Error::usage(format!(
                    "`{path}` is not inside the project `{root}`; choose another project with --root"
                )))
            }
        }
    }
}

fn no_folder(path: &Path, source: io::Error) -> Error {
    Error::usage(format!(
        "cannot open the project folder `{}`: name an existing folder with --root",
        path.display()
    ))
    .because(source)
}

fn unusable(source: ProjectPathError) -> Error {
    let help = match &source {
        ProjectPathError::Empty => Some("name a file in it"),
        ProjectPathError::NotUtf8 { .. } => {
            Some("rename the file: such a name differs from system to system")
        }
        _ => None,
    };
    let error = Error::new(ErrorKind::Usage, "cannot use this path").because(source);
    help.into_iter().fold(error, Error::help)
}

fn holds_configuration(folder: &Path) -> bool {
    folder.join(CONFIGURATION_PATH).is_file()
}

/// Any folder may be called `bmad`, so older installations need the installer's own folder.
fn holds_bmad(folder: &Path) -> bool {
    let older = ["bmad/_cfg", "bmad/_config", ".bmad/_cfg", ".bmad/_config"];
    folder.join("_bmad").is_dir() || older.iter().any(|place| folder.join(place).is_dir())
}

/// True if no part of `place` (absolute) is a link; the last parts may be missing. One system call instead of
/// one a folder; `false` if that cannot tell.
#[cfg(target_os = "linux")]
fn is_without_links(place: &Path) -> bool {
    use rustix::{
        fs::{CWD, Mode, OFlags, ResolveFlags, openat2},
        io::Errno,
    };

    let opened =
        openat2(CWD, place, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS);
    // Lookup goes left to right, so before the missing part there was no link.
    matches!(opened, Ok(_) | Err(Errno::NOENT))
}

/// Other systems have no such call.
#[cfg(not(target_os = "linux"))]
const fn is_without_links(_place: &Path) -> bool {
    false
}

fn follow(path: &Path, links_left: u8) -> io::Result<PathBuf> {
    let missing = match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => error,
        done => return done,
    };
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(missing);
    };
    match fs::read_link(path) {
        Ok(target) if links_left > 0 => follow(&folder.join(target), links_left - 1),
        Ok(_) => Err(missing),
        Err(_no_link) => Ok(follow(folder, links_left)?.join(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project() -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        fs::create_dir_all(root.path().join("docs/deep")).unwrap();
        fs::write(root.path().join("docs/prd.md"), "x").unwrap();
        (folder, root)
    }

    fn named(path: &str) -> ProjectPath {
        ProjectPath::new(path).unwrap()
    }

    #[test]
    fn opens_folders_only() {
        let (_folder, root) = project();
        assert!(Root::open(root.path().join("absent")).unwrap_err().to_string().starts_with("cannot open"));
        assert!(
            Root::open(root.path().join("docs/prd.md")).unwrap_err().to_string().contains("not a folder")
        );
    }

    #[test]
    fn discovers_configuration_before_bmad_before_git_however_far() {
        let (_folder, root) = project();
        let place = |path: &str| root.path().join(path);
        fs::create_dir_all(place("a/b/c/d")).unwrap();
        fs::write(place("a/b/c/d/x.md"), "").unwrap();
        let found = || Root::discover(place("a/b/c/d/x.md")).unwrap().path().to_owned();

        fs::create_dir_all(place("a/b/c/.git")).unwrap();
        assert_eq!(found(), place("a/b/c"));
        fs::create_dir_all(place("a/b/c/d/bmad")).unwrap();
        assert_eq!(found(), place("a/b/c"), "a folder that happens to be called bmad");
        fs::create_dir_all(place("a/b/bmad/_cfg")).unwrap();
        assert_eq!(found(), place("a/b"));
        fs::create_dir_all(place("a/b/c/_bmad")).unwrap();
        assert_eq!(found(), place("a/b/c"));
        fs::create_dir_all(place("a/.stepmark")).unwrap();
        assert_eq!(found(), place("a/b/c"), "a .stepmark folder without configuration");
        fs::write(place("a/.stepmark/config.yaml"), "").unwrap();
        assert_eq!(found(), place("a"));
        assert!(Root::discover(place("absent")).unwrap_err().to_string().starts_with("cannot open"));
    }

    #[test]
    fn resolves_what_exists_and_what_does_not() {
        let (_folder, root) = project();
        for path in ["docs/prd.md", "docs/new.md", "new/folder/x.md", "docs/deep"] {
            assert_eq!(root.resolve(&named(path)).unwrap(), root.path().join(path));
        }
        assert!(matches!(root.resolve(&named("docs/prd.md/x")), Err(ResolveError::Unreachable { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn follows_links_inside_and_refuses_links_outside() {
        use std::os::unix::fs::symlink;
        let (_folder, root) = project();
        let outside = tempfile::tempdir().unwrap();
        let link = |target: &Path, name: &str| symlink(target, root.path().join(name)).unwrap();
        link(Path::new("docs/prd.md"), "file");
        link(Path::new("docs"), "folder");
        link(Path::new("docs/later.md"), "dangling");
        link(Path::new("folder/deep/../later.md"), "winding");
        link(outside.path(), "out");
        link(Path::new("../nowhere/x"), "out-dangling");
        link(Path::new("loop"), "loop");
        link(Path::new("."), "self");

        for (path, real) in [
            ("file", "docs/prd.md"),
            ("folder/prd.md", "docs/prd.md"),
            ("folder/deep/new.md", "docs/deep/new.md"),
            ("dangling", "docs/later.md"),
            ("winding", "docs/later.md"),
            ("self/docs/prd.md", "docs/prd.md"),
        ] {
            assert_eq!(root.resolve(&named(path)).unwrap(), root.path().join(real), "{path}");
        }
        for path in ["out", "out/x.md", "out/a/b.md", "out-dangling", "self"] {
            assert!(matches!(root.resolve(&named(path)), Err(ResolveError::Outside { .. })), "{path}");
        }
        assert!(matches!(root.resolve(&named("loop")), Err(ResolveError::Unreachable { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn writes_neither_into_gits_folder_nor_its_own_state_elsewhere() {
        use std::os::unix::fs::symlink;
        let (_folder, root) = project();
        for folder in [".git/hooks", "sub/.git", ".stepmark/cache"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        for (target, name) in [
            (".git/hooks", "hooks"),
            ("../.git", "docs/out"),
            (".git/hooks/new", "dangling"),
            ("../docs", ".stepmark/gates"),
            ("../../docs/prd.md", ".stepmark/cache/x"),
            ("cache", ".stepmark/inside"),
        ] {
            symlink(target, root.path().join(name)).unwrap();
        }
        for path in
            [".git/x", ".GIT/x", "git~1/x", "sub/.git/x", "hooks/x", "docs/out/config", "dangling", "hooks"]
        {
            let refused = root.resolve_for_writing(&named(path));
            assert!(matches!(refused, Err(ResolveError::GitFolder { .. })), "{path}: {refused:?}");
        }
        for path in [".stepmark/gates/prd.md", ".stepmark/gates", ".stepmark/cache/x", ".stepmark/inside/x"] {
            let refused = root.resolve_for_writing(&named(path));
            assert!(matches!(refused, Err(ResolveError::Elsewhere { .. })), "{path}: {refused:?}");
        }
        for path in ["docs/prd.md", ".stepmark/new/x", ".github/x", ".gitignore"] {
            assert!(root.resolve_for_writing(&named(path)).is_ok(), "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn makes_paths_of_a_person_relative() {
        use std::os::unix::fs::symlink;
        let (_folder, root) = project();
        let elsewhere = tempfile::tempdir().unwrap();
        symlink(root.path(), elsewhere.path().join("project")).unwrap();
        symlink(root.path().join("docs/deep"), root.path().join("link")).unwrap();
        let through_link = elsewhere.path().join("project");
        let docs = root.path().join("docs");

        for (path, folder, kept) in [
            ("prd.md", docs.as_path(), "docs/prd.md"),
            ("../x/new.md", &docs, "x/new.md"),
            ("./deep/", &docs, "docs/deep"),
            ("link/x.md", root.path(), "link/x.md"),
            ("link/../prd.md", root.path(), "docs/prd.md"),
            ("docs/prd.md", &through_link, "docs/prd.md"),
        ] {
            assert_eq!(root.relative(Path::new(path), folder).unwrap().as_str(), kept, "{path}");
        }
        let absolute = through_link.join("docs/prd.md");
        assert_eq!(root.relative(&absolute, elsewhere.path()).unwrap().as_str(), "docs/prd.md");
        let outside = root.relative(Path::new("../x"), root.path());
        assert!(outside.unwrap_err().to_string().contains("is not inside the project"));
        let itself = root.relative(Path::new("."), root.path()).unwrap_err();
        assert!(matches!(itself.detail(), Some(ProjectPathError::Empty)), "{itself:?}");
    }

    #[test]
    fn writes_nothing_into_gits_folder_of_another_name() {
        let (_folder, root) = project();
        for place in ["files.git/objects", "files.git/refs"] {
            fs::create_dir_all(root.path().join(place)).unwrap();
        }
        fs::write(root.path().join("files.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(root.path().join(".git"), "gitdir: files.git\n").unwrap();
        let root = Root::open(root.path()).unwrap();
        let found = root.resolve_for_writing(&named("files.git/info/attributes"));
        assert!(matches!(found, Err(ResolveError::GitFolder { .. })), "{found:?}");
        assert!(root.resolve_for_writing(&named("files.github/x")).is_ok());
    }
}
