//! A project's files, as autodev's conditions query them.
#![expect(clippy::disallowed_methods, reason = "an edge module: files are looked at here")]

use std::{fs, path::PathBuf};

use stepmark_frontmatter::{Document, Region, Yaml};
use stepmark_model::{
    artifact::{PathGlob, ProjectPath},
    autodev::ProjectFiles,
};

use crate::disk::{Root, file_reading::read_file};

const DEPTH_LIMIT: usize = 6;

const COUNT_LIMIT: usize = 10_000;

/// Files at the root that indicate code.
const CODE: [&str; 12] = [
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "requirements.txt",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "Gemfile",
    "composer.json",
    "CMakeLists.txt",
    "Makefile",
    "src",
];

/// Never reads outside the project.
pub(super) struct FilesOnDisk<'r>(&'r Root);

impl<'r> FilesOnDisk<'r> {
    pub(super) const fn new(root: &'r Root) -> Self {
        Self(root)
    }

    pub(super) fn has_code(&self, docs: &ProjectPath) -> bool {
        CODE.iter().any(|name| *name != docs.as_str() && self.exists(name))
    }

    fn place(&self, path: &str) -> Option<PathBuf> {
        self.0.resolve(&ProjectPath::new(path).ok()?).ok()
    }

    fn count_in(&self, folder: &str, glob: &PathGlob, depth: usize, count: &mut usize) {
        let entries = self.place(folder).and_then(|place| fs::read_dir(place).ok());
        for entry in entries.into_iter().flatten().flatten() {
            let (Some(name), Ok(kind)) = (entry.file_name().to_str().map(str::to_owned), entry.file_type())
            else {
                continue;
            };
            let path = format!("{folder}/{name}");
            if *count >= COUNT_LIMIT {
                return;
            } else if kind.is_dir() && depth < DEPTH_LIMIT {
                self.count_in(&path, glob, depth + 1, count);
            } else if kind.is_file() && ProjectPath::new(&path).is_ok_and(|path| glob.matches(&path)) {
                *count += 1;
            }
        }
    }
}

impl ProjectFiles for FilesOnDisk<'_> {
    fn exists(&self, path: &str) -> bool {
        self.place(path).is_some_and(|place| place.exists())
    }

    fn is_empty(&self, path: &str) -> bool {
        let Some(found) = self.place(path).and_then(|place| Some((fs::metadata(&place).ok()?, place))) else {
            return true;
        };
        match found {
            (folder, place) if folder.is_dir() => {
                fs::read_dir(place).is_ok_and(|mut entries| entries.next().is_none())
            }
            (file, _) => file.len() == 0,
        }
    }

    fn count(&self, glob: &PathGlob) -> usize {
        let fixed = glob.as_str().split('/').take_while(|part| !part.contains(['*', '?', '[', '{']));
        let folder = fixed.collect::<Vec<_>>().join("/");
        let mut count = 0;
        self.count_in(&folder, glob, 0, &mut count);
        count
    }

    fn text(&self, path: &str, key: &str) -> String {
        let bytes = self.place(path).and_then(|place| read_file(&place).ok()).unwrap_or_default();
        // JSON is YAML.
        let is_whole = [".yaml", ".yml", ".json"].iter().any(|ending| path.ends_with(ending));
        let region = if is_whole { Region::WholeFile } else { Region::Frontmatter };
        let span = region.find(&Document::scan(&bytes)).ok();
        let yaml = span.and_then(|span| Yaml::parse(&bytes, span).ok());
        let value = yaml
            .as_ref()
            .and_then(Yaml::root)
            .and_then(|root| root.get(key))
            .filter(|value| !value.is_null());
        value.and_then(|value| value.text()).unwrap_or_default().to_owned()
    }
}
