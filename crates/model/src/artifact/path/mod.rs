//! Project paths, globs, and their order.

use std::{borrow::Borrow, cmp::Ordering, fmt, path::Path, str::FromStr};

use serde::{Deserialize, Deserializer, de::Error as _};

pub use stepmark_packs::{PathGlob, PathGlobs};

/// In bytes. Artifacts are prose (the largest of 734 real ones is far below 1 MiB), and a manifest of 100,000
/// rows has about 12 MB.
pub const READ_LIMIT: u64 = 64 * 1024 * 1024;

/// Relative to the project root: UTF-8, separated by `/`, without empty, `.` and `..` components. Equal on
/// all platforms, so it may be in manifests, the journal and identities.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProjectPath(Box<str>);

stepmark_packs::schema_of_scalar!(ProjectPath, {"type": "string"});

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectPathError {
    #[error("the path names the project itself, not a file in it")]
    Empty,
    #[error("`{path}` is absolute: a path relative to the project root is wanted")]
    Absolute { path: String },
    #[error("`{path}` leads out of the project")]
    Outside { path: String },
    #[error("`{path}` is not a UTF-8 path")]
    NotUtf8 {
        /// With replacement characters.
        path: String,
    },
}

impl ProjectPath {
    /// Normalises: removes `.` and empty components, resolves `..` as text, turns `\` into `/` on Windows.
    pub fn new(path: impl AsRef<Path>) -> Result<Self, ProjectPathError> {
        let path = path.as_ref();
        let Some(text) = path.to_str().filter(|text| !text.contains('\0')) else {
            return Err(ProjectPathError::NotUtf8 { path: path.to_string_lossy().into_owned() });
        };
        let text = if cfg!(windows) { text.replace('\\', "/") } else { text.to_owned() };
        if path.is_absolute() || text.starts_with('/') {
            return Err(ProjectPathError::Absolute { path: text });
        }
        if text.split('/').all(|part| !matches!(part, "" | "." | "..")) {
            return Ok(Self(text.into()));
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in text.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    if parts.pop().is_none() {
                        return Err(ProjectPathError::Outside { path: text.clone() });
                    }
                }
                part => parts.push(part),
            }
        }
        if parts.is_empty() {
            return Err(ProjectPathError::Empty);
        }
        Ok(Self(parts.join("/").into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// Up to the last dot; a leading dot belongs to the name.
    pub fn file_stem(&self) -> &str {
        let name = self.file_name();
        match name.rfind('.') {
            Some(dot) if dot > 0 => &name[..dot],
            _ => name,
        }
    }

    /// After the last dot; a leading dot starts no extension.
    pub fn extension(&self) -> Option<&str> {
        let name = self.file_name();
        name.rfind('.').filter(|dot| *dot > 0).map(|dot| &name[dot + 1..])
    }

    pub fn parent(&self) -> Option<ProjectPath> {
        self.0.rfind('/').map(|slash| Self(self.0[..slash].into()))
    }

    pub fn join(&self, relative: &str) -> Result<ProjectPath, ProjectPathError> {
        if relative.starts_with('/') {
            return Err(ProjectPathError::Absolute { path: relative.to_owned() });
        }
        Self::new(format!("{}/{relative}", self.0))
    }

    pub fn starts_with(&self, folder: &ProjectPath) -> bool {
        self.0.strip_prefix(&*folder.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl fmt::Display for ProjectPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl AsRef<str> for ProjectPath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl AsRef<Path> for ProjectPath {
    fn as_ref(&self) -> &Path {
        Path::new(&*self.0)
    }
}

impl Borrow<str> for ProjectPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl FromStr for ProjectPath {
    type Err = ProjectPathError;

    fn from_str(text: &str) -> Result<Self, ProjectPathError> {
        Self::new(text)
    }
}

impl serde::Serialize for ProjectPath {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for ProjectPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::new(text).map_err(D::Error::custom)
    }
}

/// HFS+ ignores them when it compares names.
const IGNORED_BY_HFS: [std::ops::RangeInclusive<char>; 4] =
    ['\u{200C}'..='\u{200F}', '\u{202A}'..='\u{202E}', '\u{206A}'..='\u{206F}', '\u{FEFF}'..='\u{FEFF}'];

/// Names that some file system takes for `.git`: any case, the Windows short name, and the forms that Windows
/// or HFS+ equate with them (colon, final dots and blanks, invisible characters), as git does.
pub fn names_git_folder(part: &str) -> bool {
    is_spelling_of(part, &[".git", "git~1"])
}

/// Unicode simple case folding: long s and the Kelvin sign are s and k; dotless i is not i.
fn is_case_of(letter: char, wanted: char) -> bool {
    letter.eq_ignore_ascii_case(&wanted) || matches!((letter, wanted), ('\u{17F}', 's') | ('\u{212A}', 'k'))
}

fn is_spelling_of(part: &str, names: &[&str]) -> bool {
    let is_visible = |letter: &char| !IGNORED_BY_HFS.iter().any(|range| range.contains(letter));
    let letters = part.chars().filter(is_visible).take_while(|letter| *letter != ':');
    names.iter().any(|name| {
        let mut letters = letters.clone();
        name.chars().all(|wanted| letters.next().is_some_and(|letter| is_case_of(letter, wanted)))
            && letters.all(|letter| matches!(letter, '.' | ' '))
    })
}

impl ProjectPath {
    /// Projects never write there.
    pub fn is_in_git_folder(&self) -> bool {
        self.as_str().split(['/', '\\']).any(names_git_folder)
    }

    /// Configures git, under any name that a file system takes for it.
    pub fn is_file_of_git(&self) -> bool {
        const NAMES: [&str; 6] =
            [".gitignore", "gitign~1", ".gitattributes", "gitatt~1", ".gitmodules", "gitmod~1"];
        self.as_str().rsplit(['/', '\\']).next().is_some_and(|name| is_spelling_of(name, &NAMES))
    }

    /// In a folder of stepmark's own files.
    pub fn is_in_own_folder(&self) -> bool {
        self.as_str().split(['/', '\\']).any(|part| is_spelling_of(part, &[".stepmark", "stepma~1"]))
    }
}

/// Compares runs of digits as numbers; leading zeros decide last.
pub fn natural_order(one: &str, other: &str) -> Ordering {
    let start = common_runs(one.as_bytes(), other.as_bytes());
    let (mut left, mut right) = (&one[start..], &other[start..]);
    loop {
        let (next_left, next_right) = (run(left), run(right));
        let order = match (next_left, next_right) {
            ("", _) | (_, "") => return left.len().cmp(&right.len()).then_with(|| one.cmp(other)),
            _ => compare_runs(next_left, next_right),
        };
        if order != Ordering::Equal {
            return order;
        }
        (left, right) = (&left[next_left.len()..], &right[next_right.len()..]);
    }
}

/// Skips the common start of both texts in large pieces: most paths of a project share one.
fn common_runs(one: &[u8], other: &[u8]) -> usize {
    let (pieces, others) = (one.chunks(PIECE), other.chunks(PIECE));
    let same = pieces.zip(others).take_while(|(one, other)| one == other).count() * PIECE;
    let same = same.min(one.len()).min(other.len());
    let same = same + one[same..].iter().zip(&other[same..]).take_while(|(one, other)| one == other).count();
    let Some(is_number) = one[..same].last().map(u8::is_ascii_digit) else { return 0 };
    one[..same].iter().rposition(|byte| byte.is_ascii_digit() != is_number).map_or(0, |place| place + 1)
}

/// In bytes.
const PIECE: usize = 16;

/// Digits, or text up to the first digit.
fn run(text: &str) -> &str {
    let is_number = text.as_bytes().first().is_some_and(u8::is_ascii_digit);
    let end = text.bytes().position(|next| next.is_ascii_digit() != is_number);
    &text[..end.unwrap_or(text.len())]
}

fn compare_runs(one: &str, other: &str) -> Ordering {
    let is_number = |run: &str| run.as_bytes().first().is_some_and(u8::is_ascii_digit);
    if !(is_number(one) && is_number(other)) {
        return one.cmp(other);
    }
    // Without leading zeros, the longer number is the greater one.
    let (one, other) = (one.trim_start_matches('0'), other.trim_start_matches('0'));
    one.len().cmp(&other.len()).then_with(|| one.cmp(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalises_by_text() {
        for (given, kept) in [
            ("docs/prd.md", "docs/prd.md"),
            ("./docs//prd.md", "docs/prd.md"),
            ("docs/../prd.md", "prd.md"),
            ("a b/ü.md", "a b/ü.md"),
        ] {
            assert_eq!(ProjectPath::new(given).unwrap().as_str(), kept);
        }
    }

    #[test]
    fn refuses_what_is_no_file_of_the_project() {
        for given in ["", ".", "a/..", "/etc/passwd", "../x", "a/../../x", "a\0b"] {
            assert!(ProjectPath::new(given).is_err(), "{given:?}");
        }
    }

    #[test]
    fn names_its_parts() {
        let path = ProjectPath::new("docs/.a/step-01.init.md").unwrap();
        assert_eq!(
            (path.file_name(), path.file_stem(), path.extension()),
            ("step-01.init.md", "step-01.init", Some("md"))
        );
        assert_eq!(path.parent().unwrap().as_str(), "docs/.a");
        let hidden = ProjectPath::new(".gitignore").unwrap();
        assert_eq!((hidden.file_stem(), hidden.extension(), hidden.parent()), (".gitignore", None, None));
        assert!(path.starts_with(&ProjectPath::new("docs").unwrap()));
        assert!(!path.starts_with(&ProjectPath::new("doc").unwrap()));
        assert_eq!(path.parent().unwrap().join("../b.md").unwrap().as_str(), "docs/b.md");
    }

    #[test]
    fn knows_every_spelling_of_gits_folder_and_nothing_else() {
        for (path, expected) in [
            (".git", true),
            (".git/hooks/post-checkout", true),
            ("vendor/.GIT/config", true),
            ("GIT~1/config", true),
            (".git./config", true),
            (".git . /config", true),
            (".git::$INDEX_ALLOCATION/config", true),
            (".g\u{200C}it/config", true),
            ("docs\\.git\\config", true),
            (".gitignore", false),
            (".github/workflows/a.yml", false),
            ("git/config", false),
            ("a.git/config", false),
            (".git2", false),
            ("git~10", false),
            (".g\u{131}t/config", false),
        ] {
            assert_eq!(ProjectPath::new(path).unwrap().is_in_git_folder(), expected, "{path}");
        }
    }
}

#[cfg(test)]
mod natural_order_tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_are_counted() {
        let order = [
            "",
            "1-1-a",
            "1-2-b",
            "1-2a-c",
            "1-10-d",
            "2-1-a",
            "10-1-a",
            "a/1.md",
            "a/2.md",
            "a/10.md",
            "b",
            "step-9",
            "step-09b",
            "step-10",
            "x99999999999999999999",
            "x100000000000000000000",
        ];
        for (at, one) in order.iter().enumerate() {
            for (place, other) in order.iter().enumerate() {
                assert_eq!(natural_order(one, other), at.cmp(&place), "{one} {other}");
            }
        }
        assert_eq!(natural_order("a01", "a1"), Ordering::Less, "a total order");
    }

    proptest! {
        /// A common beginning changes no order, wherever it ends.
        #[test]
        fn a_common_beginning_changes_nothing(common in "[a0-2./ü-]{0,40}", one in "[a0-2./ü-]{0,6}", other in "[a0-2./ü-]{0,6}") {
            let (one, other) = (common.clone() + &one, common + &other);
            prop_assert_eq!(natural_order(&one, &other), run_by_run(&one, &other), "{} {}", one, other);
        }
    }

    fn run_by_run(one: &str, other: &str) -> Ordering {
        let (mut left, mut right) = (one, other);
        while !left.is_empty() && !right.is_empty() {
            let (own, others) = (run(left), run(right));
            if compare_runs(own, others) != Ordering::Equal {
                return compare_runs(own, others);
            }
            (left, right) = (&left[own.len()..], &right[others.len()..]);
        }
        left.len().cmp(&right.len()).then_with(|| one.cmp(other))
    }
}
