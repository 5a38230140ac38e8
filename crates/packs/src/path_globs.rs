//! Patterns over project paths.

use std::{fmt, str::FromStr, sync::OnceLock};

use globset::{Glob, GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};

use crate::{deserialize_as_scalar, schema_of_scalar};

/// A pattern as in `.gitignore`, but always relative to the project root: `*` and `?` match within a path
/// component, `**` crosses folders, `[a-z]` and `{a,b}` choose. A final `/` matches everything in the folder.
///
/// Checked when parsed, compiled on first match: most commands match nothing, and compiling is the slowest
/// part.
#[derive(Clone)]
pub struct PathGlob {
    text: String,
    glob: Glob,
    /// For `/**` at the end: matches folders whose whole content matches.
    folder: Option<Glob>,
    matcher: OnceLock<GlobMatcher>,
}

impl PartialEq for PathGlob {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for PathGlob {}

/// In bytes. With [`BRACES_LIMIT`] it keeps patterns so small that compilation cannot fail.
const LENGTH_LIMIT: usize = 1024;

/// Count of `{`; the automaton allows 250 nested ones.
const BRACES_LIMIT: usize = 64;

impl PathGlob {
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn matches(&self, path: &impl AsRef<str>) -> bool {
        self.matcher.get_or_init(|| self.glob.compile_matcher()).is_match(path.as_ref())
    }
}

impl FromStr for PathGlob {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |reason: &str| format!("`{text}` is not a path pattern: {reason}");
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
        if pattern.len() > LENGTH_LIMIT {
            return Err(wrong("it is longer than 1024 bytes: write several patterns"));
        }
        if pattern.matches('{').count() > BRACES_LIMIT {
            return Err(wrong("it has more than 64 choices in braces: write several patterns"));
        }
        let whole = if pattern.ends_with('/') { format!("{pattern}**") } else { pattern.to_owned() };
        let parse = |pattern: &str| {
            let mut builder = GlobBuilder::new(pattern);
            let glob = builder.literal_separator(true).backslash_escape(true).build();
            glob.map_err(|error| wrong(&error.kind().to_string()))
        };
        let folder = whole.strip_suffix("/**").map(parse).transpose()?;
        Ok(Self { text: text.to_owned(), glob: parse(&whole)?, folder, matcher: OnceLock::new() })
    }
}

deserialize_as_scalar!(PathGlob);
// Only the parser can check the brackets.
schema_of_scalar!(PathGlob, {
    "description": "A pattern over paths, seen from the project root: `*` stays within a folder, `**` crosses folders",
    "type": "string",
    "minLength": 1,
    "maxLength": 1024,
    "not": {"pattern": r"^/|^(\./)*$|(^|/)\.\.(/|$)"},
});

/// Prints only the pattern: the automaton fills pages.
impl fmt::Debug for PathGlob {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(out)
    }
}

/// Matched together in one pass, compiled on first match.
#[derive(Clone)]
pub struct PathGlobs {
    globs: Vec<PathGlob>,
    files: OnceLock<Matchers>,
    folders: OnceLock<Matchers>,
}

#[derive(Clone)]
enum Matchers {
    Joined(GlobSet),
    Single(Vec<GlobMatcher>),
}

impl Matchers {
    fn new<'globs>(globs: impl Iterator<Item = &'globs Glob> + Clone) -> Self {
        let mut set = GlobSetBuilder::new();
        for glob in globs.clone() {
            set.add(glob.clone());
        }
        match set.build() {
            Ok(set) => Self::Joined(set),
            Err(_too_large) => Self::Single(globs.map(Glob::compile_matcher).collect()),
        }
    }

    fn is_match(&self, path: &str) -> bool {
        match self {
            Self::Joined(set) => set.is_match(path),
            Self::Single(matchers) => matchers.iter().any(|matcher| matcher.is_match(path)),
        }
    }
}

impl PathGlobs {
    pub fn new(globs: Vec<PathGlob>) -> Self {
        Self { globs, files: OnceLock::new(), folders: OnceLock::new() }
    }

    pub fn matches(&self, path: &impl AsRef<str>) -> bool {
        let globs = self.globs.iter().map(|glob| &glob.glob);
        self.files.get_or_init(|| Matchers::new(globs)).is_match(path.as_ref())
    }

    /// A walk need not enter such a folder.
    pub fn matches_all_in(&self, folder: &impl AsRef<str>) -> bool {
        let globs = self.globs.iter().filter_map(|glob| glob.folder.as_ref());
        let folders = self.folders.get_or_init(|| Matchers::new(globs));
        let path = folder.as_ref();
        let above = path.match_indices('/').map(|(end, _)| &path[..end]);
        above.chain([path]).any(|folder| folders.is_match(folder))
    }

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
            assert_eq!(glob.matches(&file), expected, "{pattern} {file}");
            let single = Matchers::Single(vec![glob.glob.compile_matcher()]);
            assert_eq!(single.is_match(file), expected, "{pattern} {file}, by itself");
            let globs = PathGlobs::new(vec![glob]);
            assert_eq!(globs.matches(&file), expected, "{pattern} {file}, as a set");
        }
    }

    #[test]
    fn knows_folders_of_which_nothing_is_left() {
        let globs = ["_bmad/**", "**/node_modules/**", "**/.*/**", "drafts/", "docs/*.md"];
        let globs = PathGlobs::new(globs.iter().map(|text| text.parse().unwrap()).collect());
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
            assert_eq!(globs.matches_all_in(&folder), expected, "{folder}");
        }
    }

    #[test]
    fn refuses_what_can_match_nothing() {
        for text in ["", "./", "/docs/*.md", "../*.md", "docs/../x", "docs/[a", "docs/{a"] {
            let refused = text.parse::<PathGlob>().unwrap_err();
            assert!(refused.contains(text), "{refused}");
        }
    }

    #[test]
    fn whatever_is_accepted_can_be_compiled() {
        let longest = |unit: &str| unit.repeat(LENGTH_LIMIT / unit.len());
        for text in [
            longest("*"),
            longest("?"),
            longest("[!a-z]"),
            longest("**/"),
            longest("ü"),
            format!("{}x{}", "{".repeat(BRACES_LIMIT), "}".repeat(BRACES_LIMIT)),
            format!("{{{}}}", longest("*?,").split_at(LENGTH_LIMIT - 9).0),
        ] {
            let glob: PathGlob = text.parse().unwrap();
            let globs = PathGlobs::new(vec![glob.clone(); 2]);
            let path = "docs/prd.md";
            assert_eq!(globs.matches(&path), glob.matches(&path), "{text}");
        }
        for text in [format!("{}x", longest("*")), "{a,b}".repeat(BRACES_LIMIT + 1)] {
            assert!(text.parse::<PathGlob>().is_err());
        }
    }
}
