//! Git's hooks.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: git is asked, and hooks are read and written here"
)]

use std::{
    ffi::OsString,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use crate::Error;
use crate::git::{process::answer, process::git_rev_parse};
use crate::workspace::Workspace;
use stepmark_model::projection::git_hook::{
    self, EVERY_PROJECT, FORMER_HOOK, FoundHook, HOOKS, HookPlan, KEPT_SUFFIX,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookOutcome {
    pub place: PathBuf,
    pub change: HookChange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HookChange {
    /// Nothing: it is as it should be.
    Unchanged,
    Created,
    /// Our lines stand in a script that was there.
    Added,
    /// A program that was there is called by ours.
    Chained,
    /// Our lines are gone, and what was there before is as it was.
    Removed,
}

impl HookChange {
    pub const fn is_ours(self) -> bool {
        matches!(self, Self::Created | Self::Added | Self::Chained)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookState {
    pub name: &'static str,
    pub place: PathBuf,
    /// True if git runs our lines.
    pub is_installed: bool,
}

fn all_hooks() -> impl Iterator<Item = &'static str> {
    HOOKS.into_iter().map(|(name, _)| name).chain([FORMER_HOOK])
}

struct Hooks {
    folder: PathBuf,
    /// True if hooks run even if not executable.
    runs_any: bool,
    /// Project roots, relative to the top of the work tree.
    roots: Vec<String>,
    /// All projects below the top, if that is not a project.
    every: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
pub struct GitHooks<'w> {
    pub(crate) workspace: &'w Workspace,
}

impl Workspace {
    pub const fn hooks(&self) -> GitHooks<'_> {
        GitHooks { workspace: self }
    }
}

impl GitHooks<'_> {
    /// Installs the `wanted` [`HOOKS`]: git checks commits and pushes, and rebuilds gates of changed files.
    pub fn install(&self, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<HookOutcome>, Error> {
        let hooks = self.hooks()?;
        let install = |name: &str| {
            hooks.change(name, HookChange::Added, |found, _| git_hook::install(name, &hooks.roots, found))
        };
        HOOKS.iter().map(|(name, _)| *name).filter(|name| wanted(name)).map(install).collect()
    }

    /// Of [`HOOKS`] and [`TRAILER_HOOK`].
    pub fn states(&self) -> Result<Vec<HookState>, Error> {
        let hooks = self.hooks()?;
        let state = |name: &'static str| {
            let place = hooks.folder.join(name);
            let found = read(&place)
                .map_err(|source| Error::io(format!("cannot read the hook `{}`", place.display()), source))?;
            let is_installed = found.is_some_and(|(bytes, is_executable, is_link)| {
                let is_executable = is_executable || hooks.runs_any;
                git_hook::is_installed(&FoundHook { bytes: &bytes, is_executable, is_link })
            });
            Ok(HookState { name, place, is_installed })
        };
        all_hooks().map(state).collect()
    }

    pub fn uninstall(&self) -> Result<Vec<HookOutcome>, Error> {
        let hooks = self.hooks()?;
        let uninstall = |name: &str| {
            let decide = |found: Option<FoundHook<'_>>, has_kept: bool| {
                git_hook::uninstall(name, (&hooks.roots, &hooks.every), found, has_kept)
            };
            hooks.change(name, HookChange::Removed, decide)
        };
        all_hooks().map(uninstall).collect()
    }

    fn hooks(&self) -> Result<Hooks, Error> {
        let root = self.workspace.root().path();
        let ask = |folder: &Path, argument: &[&str]| -> Result<Option<PathBuf>, Error> {
            let (status, printed) = answer(&mut git_rev_parse(folder, argument)).map_err(|source| {
                Error::refused("cannot run git, which knows where its hooks are").because(source)
            })?;
            let answer = String::from_utf8_lossy(&printed);
            // Empty: a bare repository has no work tree.
            let answer = answer.trim_end_matches(['\n', '\r']);
            Ok((status.success() && !answer.is_empty()).then(|| folder.join(answer)))
        };
        let none = || {
            let folder = root.display();
            Error::refused(format!("`{folder}` is in no git repository: there are no hooks to add to"))
        };
        let top = ask(root, &["--show-toplevel"])?.ok_or_else(none)?;
        let folder = ask(&top, &["--git-path", "hooks"])?.ok_or_else(none)?;
        let shared = ask(&top, &["--git-common-dir"])?.ok_or_else(none)?;
        // Husky rewrites its folder `_` with each install; its hooks run those beside it with `sh`.
        let runs_any = folder.ends_with(".husky/_") || folder.ends_with("_") && folder.join("h").is_file();
        let folder = if runs_any { folder.parent().unwrap_or(&folder).to_owned() } else { folder };
        let real = |place: &Path| fs::canonicalize(place).unwrap_or_else(|_| place.to_owned());
        let (top, shared) = (real(&top), real(&shared));
        // The folder may be missing, unlike its parents.
        let inside = folder.ancestors().map(real).find(|above| above.is_dir()).unwrap_or_default();
        if !inside.starts_with(&top) && !inside.starts_with(&shared) {
            return Err(Error::refused(format!(
                "git takes its hooks from `{}`, outside of this repository, where other repositories find them too: \
                 set `core.hooksPath` for this repository, and run the command again",
                folder.display()
            )));
        }
        let seen = root.strip_prefix(&top).ok().and_then(Path::to_str).unwrap_or_default().replace('\\', "/");
        let every = Workspace::open(&top)
            .ok()
            .and_then(|top| top.repository().projects_below().ok())
            .unwrap_or_default();
        let root = match (seen.is_empty(), every.is_empty()) {
            (false, _) => seen,
            (true, true) => ".".to_owned(),
            // The top is not a project.
            (true, false) => EVERY_PROJECT.to_owned(),
        };
        Ok(Hooks { folder, runs_any, roots: vec![root], every })
    }
}

impl Hooks {
    fn change(
        &self,
        name: &str,
        rewritten: HookChange,
        decide: impl FnOnce(Option<FoundHook<'_>>, bool) -> HookPlan,
    ) -> Result<HookOutcome, Error> {
        let place = self.folder.join(name);
        let failed = |source| Error::io(format!("cannot change the hook `{}`", place.display()), source);
        let kept = self.folder.join(format!("{name}{KEPT_SUFFIX}"));
        let has_kept = fs::symlink_metadata(&kept).is_ok();
        let found = read(&place).map_err(failed)?;
        let was_there = found.is_some();
        let seen = found.as_ref().map(|(bytes, is_executable, is_link)| FoundHook {
            bytes,
            is_executable: *is_executable || self.runs_any,
            is_link: *is_link,
        });
        let change = match decide(seen, has_kept) {
            HookPlan::Keep => HookChange::Unchanged,
            HookPlan::Write(text) => {
                write(&place, &text).map_err(failed)?;
                if was_there { rewritten } else { HookChange::Created }
            }
            HookPlan::SetAside(text) => {
                if has_kept {
                    let taken = format!("`{}` is there already", kept.display());
                    return Err(failed(io::Error::new(io::ErrorKind::AlreadyExists, taken)));
                }
                fs::rename(&place, &kept).and_then(|()| write(&place, &text)).map_err(failed)?;
                HookChange::Chained
            }
            HookPlan::Remove => {
                let done = if has_kept { fs::rename(&kept, &place) } else { fs::remove_file(&place) };
                done.map_err(failed)?;
                HookChange::Removed
            }
        };
        Ok(HookOutcome { place, change })
    }
}

/// The bytes, executable?, link?
fn read(place: &Path) -> io::Result<Option<(Vec<u8>, bool, bool)>> {
    let is_link = match fs::symlink_metadata(place) {
        Ok(metadata) => metadata.is_symlink(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    // A dangling link is set aside, too.
    let (bytes, is_executable) = match fs::read(place) {
        Ok(bytes) => (bytes, is_executable(&fs::metadata(place)?)),
        Err(error) if is_link && error.kind() == io::ErrorKind::NotFound => (Vec::new(), false),
        Err(error) => return Err(error),
    };
    Ok(Some((bytes, is_executable, is_link)))
}

#[cfg(unix)]
fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
const fn is_executable(_metadata: &fs::Metadata) -> bool {
    true
}

/// Atomic, so that git never runs half a hook.
fn write(place: &Path, text: &[u8]) -> io::Result<()> {
    let folder = place.parent().unwrap_or(place);
    fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    let mut prefix = OsString::from(".");
    prefix.push(place.file_name().unwrap_or_default());
    builder.prefix(&prefix);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755));
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(text)?;
    file.as_file().sync_all()?;
    #[cfg(unix)]
    if let Ok(metadata) = fs::metadata(place) {
        file.as_file().set_permissions(metadata.permissions())?;
    }
    file.persist(place)?;
    Ok(())
}
