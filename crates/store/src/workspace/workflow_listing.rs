//! Files below the folders of installed workflows.
#![expect(clippy::disallowed_methods, reason = "an edge module: folders are listed here")]

use crate::Error;
use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use crate::disk::{Root, file_lock::uninterrupted};
use stepmark_model::artifact::ProjectPath;

/// Without workflows, or far too full; `_config`, `_cfg` and `_memory` are the installer's own.
const SKIPPED: [&str; 6] = ["node_modules", ".git", "_config", "_cfg", "_memory", "site-packages"];

/// The deepest step file of a known release is 7 deep.
const DEPTH_LIMIT: usize = 12;

/// Markdown files below `folders`, in their order, then by path; and errors. Missing folders are empty. Each
/// linked folder inside the project is followed once.
pub(crate) fn markdown_below(root: &Root, folders: &[ProjectPath]) -> (Vec<ProjectPath>, Vec<Error>) {
    let mut walk = Walk { root, entered_by_link: BTreeSet::new(), files: Vec::new(), problems: Vec::new() };
    for folder in folders {
        let first = walk.files.len();
        walk.enter(folder, &root.path().join(folder), 0);
        walk.files[first..].sort_unstable();
    }
    (walk.files, walk.problems)
}

fn not_listed(folder: &ProjectPath, source: io::Error) -> Error {
    Error::io(format!("cannot look for workflows in `{folder}`"), source).at(folder)
}

struct Walk<'root> {
    root: &'root Root,
    entered_by_link: BTreeSet<PathBuf>,
    files: Vec<ProjectPath>,
    problems: Vec<Error>,
}

impl Walk<'_> {
    fn enter(&mut self, folder: &ProjectPath, place: &Path, depth: usize) {
        let entries = match uninterrupted(|| fs::read_dir(place)) {
            Ok(entries) => entries,
            // A root may be missing in this project.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return;
            }
            Err(source) => return self.problems.push(not_listed(folder, source)),
        };
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(source) => {
                    self.problems.push(not_listed(folder, source));
                    continue;
                }
            };
            let kind = match entry.file_type() {
                Ok(kind) => kind,
                Err(source) => {
                    self.problems.push(not_listed(folder, source));
                    continue;
                }
            };
            // Other step files name step files, so their names are UTF-8.
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            let is_markdown = name.ends_with(".md");
            if kind.is_file() && !is_markdown {
                continue;
            }
            let Ok(path) = folder.join(name) else { continue };
            if kind.is_dir() {
                self.descend(&path, &entry.path(), depth);
            } else if kind.is_file() {
                self.files.push(path);
            } else if kind.is_symlink() {
                self.follow(path, is_markdown, depth);
            }
        }
    }

    fn descend(&mut self, folder: &ProjectPath, place: &Path, depth: usize) {
        if depth < DEPTH_LIMIT && !SKIPPED.contains(&folder.file_name()) {
            self.enter(folder, place, depth + 1);
        }
    }

    /// Dangling links, and links out of the project, have no workflow of it.
    fn follow(&mut self, path: ProjectPath, is_markdown: bool, depth: usize) {
        let Ok(real) = self.root.resolve(&path) else { return };
        let Ok(kind) = fs::metadata(&real) else { return };
        if kind.is_file() && is_markdown {
            self.files.push(path);
        } else if kind.is_dir() && self.entered_by_link.insert(real.clone()) {
            self.descend(&path, &real, depth);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Root, path: &str) {
        let place = root.path().join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, "x").unwrap();
    }

    fn listed(root: &Root, folders: &[&str]) -> Vec<String> {
        let folders: Vec<_> = folders.iter().map(|folder| ProjectPath::new(folder).unwrap()).collect();
        let (files, problems) = markdown_below(root, &folders);
        assert!(problems.is_empty(), "{problems:?}");
        files.iter().map(|path| path.as_str().to_owned()).collect()
    }

    #[test]
    fn lists_markdown_by_root_then_path() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        for path in
            ["_bmad/b/x.md", "_bmad/a.md", "_bmad/c.csv", "_bmad/_config/y.md", "_bmad/node_modules/z.md"]
        {
            write(&root, path);
        }
        write(&root, ".claude/skills/s/SKILL.md");
        assert_eq!(
            listed(&root, &[".claude/skills", "_bmad", "missing", "_bmad/a.md"]),
            [".claude/skills/s/SKILL.md", "_bmad/a.md", "_bmad/b/x.md"]
        );
    }

    #[cfg(unix)]
    #[test]
    fn follows_links_inside_the_project_and_survives_loops() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        write(&root, ".agents/skills/s/SKILL.md");
        write(&root, ".claude/skills/own.md");
        fs::write(outside.path().join("secret.md"), "x").unwrap();
        let link = |target: &Path, name: &str| {
            symlink(target, root.path().join(".claude/skills").join(name)).unwrap()
        };
        link(Path::new("../../.agents/skills/s"), "s");
        link(Path::new("."), "loop");
        link(outside.path(), "out");
        link(Path::new("nowhere"), "broken");
        let files = listed(&root, &[".claude/skills"]);
        assert_eq!(
            files,
            [".claude/skills/loop/own.md", ".claude/skills/own.md", ".claude/skills/s/SKILL.md"]
        );
    }
}
