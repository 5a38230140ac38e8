//! The names under which a file system finds git's own folder, and stepmark's.

use crate::artifact::ProjectPath;

/// Code points that HFS+ leaves out when it compares names.
const IGNORED_BY_HFS: [std::ops::RangeInclusive<char>; 4] =
    ['\u{200C}'..='\u{200F}', '\u{202A}'..='\u{202E}', '\u{206A}'..='\u{206F}', '\u{FEFF}'..='\u{FEFF}'];

/// Returns whether a part of a path names git's folder on some file system: `.git` in any case, its short
/// name on Windows, and what Windows or HFS+ take for them (a colon, dots and blanks at the end, invisible
/// characters), as git itself judges names.
pub fn names_git_folder(part: &str) -> bool {
    is_spelling_of(part, &[".git", "git~1"])
}

/// Returns whether `letter` is the lower-case `wanted` in any case, by Unicode's simple case folding: a long
/// s and the sign of Kelvin are an s and a k, a dotless i is no i.
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
    /// Returns whether the path is git's folder or lies in it: nothing is ever written there for a project.
    pub fn is_in_git_folder(&self) -> bool {
        self.as_str().split(['/', '\\']).any(names_git_folder)
    }

    /// Returns whether the path is a file that tells git what to do, under any name that a file system takes
    /// for it.
    pub fn is_file_of_git(&self) -> bool {
        const NAMES: [&str; 6] =
            [".gitignore", "gitign~1", ".gitattributes", "gitatt~1", ".gitmodules", "gitmod~1"];
        self.as_str().rsplit(['/', '\\']).next().is_some_and(|name| is_spelling_of(name, &NAMES))
    }

    /// Returns whether the path is a folder in which stepmark keeps its own files, or lies in one.
    pub fn is_in_own_folder(&self) -> bool {
        self.as_str().split(['/', '\\']).any(|part| is_spelling_of(part, &[".stepmark", "stepma~1"]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
