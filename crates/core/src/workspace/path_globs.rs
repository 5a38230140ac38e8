//! Patterns over project paths.

use std::{fmt, str::FromStr};

use globset::{GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};

use super::parsed_scalar::deserialize_as_scalar;
use crate::artifact::ProjectPath;

/// A pattern over project paths, as in `.gitignore` but always seen from the project root: `*` and `?` stay within one
/// part of the path, `**` crosses folders, `[a-z]` and `{a,b}` choose. A final `/` stands for all that the folder holds.
#[derive(Clone)]
pub struct PathGlob {
    text: String,
    matcher: GlobMatcher,
    /// For a pattern that ends in `/**`: what matches the folders all of whose content it matches.
    folder: Option<GlobMatcher>,
}

/// Why a text is no pattern over project paths.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a path pattern: {reason}")]
pub struct PathGlobError {
    /// The text that was given.
    pub text: String,
    /// What is wrong with it.
    pub reason: String,
}

impl PathGlob {
    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the pattern matches the file at `path`.
    pub fn matches(&self, path: &ProjectPath) -> bool {
        self.matcher.is_match(path.as_str())
    }
}

impl FromStr for PathGlob {
    type Err = PathGlobError;

    fn from_str(text: &str) -> Result<Self, PathGlobError> {
        let wrong = |reason: &str| PathGlobError { text: text.to_owned(), reason: reason.to_owned() };
        let mut pattern = text;
        while let Some(rest) = pattern.strip_prefix("./") {
            pattern = rest;
        }
        if pattern.is_empty() {
            return Err(wrong("it is empty"));
        }
        if pattern.starts_with('/') {
            return Err(wrong(
                "it starts with `/`, but patterns are seen from the project root: leave the `/` away",
            ));
        }
        if pattern.split('/').any(|part| part == "..") {
            return Err(wrong("`..` leads out of the project"));
        }
        let whole = if pattern.ends_with('/') { format!("{pattern}**") } else { pattern.to_owned() };
        let compile = |pattern: &str| {
            GlobBuilder::new(pattern)
                .literal_separator(true)
                .backslash_escape(true)
                .build()
                .map(|glob| glob.compile_matcher())
                .map_err(|error| wrong(&error.kind().to_string()))
        };
        let folder = whole.strip_suffix("/**").map(compile).transpose()?;
        Ok(Self { text: text.to_owned(), matcher: compile(&whole)?, folder })
    }
}

deserialize_as_scalar!(PathGlob);

/// The pattern alone: the automaton behind it fills pages.
impl fmt::Debug for PathGlob {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(out)
    }
}

/// Several patterns, matched together in one pass.
#[derive(Clone)]
pub struct PathGlobs {
    globs: Vec<PathGlob>,
    files: GlobSet,
    folders: GlobSet,
}

impl PathGlobs {
    /// Joins `globs`.
    ///
    /// # Errors
    /// When together they exceed what one automaton may hold.
    pub fn new(globs: Vec<PathGlob>) -> Result<Self, PathGlobError> {
        let join = |matchers: &mut dyn Iterator<Item = &GlobMatcher>| {
            let mut set = GlobSetBuilder::new();
            for matcher in matchers {
                set.add(matcher.glob().clone());
            }
            set.build().map_err(|error| PathGlobError {
                text: error.glob().unwrap_or("(all patterns together)").to_owned(),
                reason: error.kind().to_string(),
            })
        };
        let files = join(&mut globs.iter().map(|glob| &glob.matcher))?;
        let folders = join(&mut globs.iter().filter_map(|glob| glob.folder.as_ref()))?;
        Ok(Self { globs, files, folders })
    }

    /// Whether a pattern matches the file at `path`.
    pub fn matches(&self, path: &ProjectPath) -> bool {
        self.files.is_match(path.as_str())
    }

    /// Whether a pattern matches whatever the folder at `path` holds, so that a walk need not enter it.
    pub fn matches_all_in(&self, folder: &ProjectPath) -> bool {
        let path = folder.as_str();
        let above = path.match_indices('/').map(|(end, _)| &path[..end]);
        above.chain([path]).any(|folder| self.folders.is_match(folder))
    }

    /// The single patterns, in the order in which they were given.
    pub fn iter(&self) -> impl Iterator<Item = &PathGlob> {
        self.globs.iter()
    }
}

impl fmt::Debug for PathGlobs {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.globs.fmt(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> ProjectPath {
        ProjectPath::new(text).unwrap()
    }

    #[test]
    fn matches_whole_project_paths() {
        for (pattern, file, expected) in [
            ("**/*.md", "prd.md", true),
            ("**/*.md", "docs/a/prd.md", true),
            ("**/*.md", "docs/prd.mdx", false),
            ("*.md", "docs/prd.md", false),
            ("./docs/*.md", "docs/prd.md", true),
            ("docs/", "docs/a/b.md", true),
            ("docs/", "docs.md", false),
            ("docs/**", "docs/a.md", true),
            ("**/.*/**", "a/.claude/b/c.md", true),
            ("**/.*/**", ".claude/c.md", true),
            ("**/.*", "a/.hidden.md", true),
            ("**/.*", "a/b.md", false),
            ("docs/{prd,ux}*.md", "docs/ux-1.md", true),
            ("docs/[a-c].md", "docs/b.md", true),
        ] {
            let glob: PathGlob = pattern.parse().unwrap();
            assert_eq!(glob.matches(&path(file)), expected, "{pattern} {file}");
            let globs = PathGlobs::new(vec![glob]).unwrap();
            assert_eq!(globs.matches(&path(file)), expected, "{pattern} {file}, as a set");
        }
    }

    #[test]
    fn knows_folders_of_which_nothing_is_left() {
        let globs = ["_bmad/**", "**/node_modules/**", "**/.*/**", "drafts/", "docs/*.md"];
        let globs = PathGlobs::new(globs.iter().map(|text| text.parse().unwrap()).collect()).unwrap();
        for (folder, expected) in [
            ("_bmad", true),
            ("_bmad/core/deep", true),
            ("a/_bmad", false),
            ("a/node_modules", true),
            ("a/.git", true),
            ("drafts", true),
            ("docs", false),
            ("_bmad-output", false),
        ] {
            assert_eq!(globs.matches_all_in(&path(folder)), expected, "{folder}");
        }
    }

    #[test]
    fn refuses_what_can_match_nothing() {
        for text in ["", "./", "/docs/*.md", "../*.md", "docs/../x", "docs/[a", "docs/{a"] {
            let refused = text.parse::<PathGlob>().unwrap_err();
            assert_eq!(refused.text, text);
        }
    }
}
