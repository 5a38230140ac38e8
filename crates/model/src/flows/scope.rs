//! Files that tasks read and write, and whether two tasks want the same.

use super::Scopes;
use crate::artifact::{PathGlob, ProjectPath};

/// The scopes in which two tasks are in each other's way: what one writes, the other reads or writes.
/// Patterns are compared by the folders that they lie in: none is missed, some are told that never meet.
pub fn overlap<'s>(one: &'s Scopes, other: &'s Scopes) -> Option<(&'s str, &'s str)> {
    let meet = |left: &'s [String], right: &'s [String]| {
        left.iter().find_map(|left| {
            let met = right.iter().find(|right| meets(left, right))?;
            Some((left.as_str(), met.as_str()))
        })
    };
    meet(&one.write, &other.write)
        .or_else(|| meet(&one.write, &other.read))
        .or_else(|| meet(&one.read, &other.write))
}

/// Returns whether the file at `path` lies in one of `scopes`.
pub fn allows(scopes: &[String], path: &str) -> bool {
    let project_path = ProjectPath::new(path).ok();
    scopes.iter().any(|scope| {
        let glob = scope.parse::<PathGlob>().ok();
        let is_matched = glob.zip(project_path.as_ref()).is_some_and(|(glob, path)| glob.matches(path));
        is_matched || !is_pattern(scope) && is_within(path, folder(scope))
    })
}

fn meets(one: &str, other: &str) -> bool {
    let (one, other) = (fixed(one), fixed(other));
    is_within(one, other) || is_within(other, one)
}

fn is_within(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder);
    folder.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The path or folder that a scope lies in, whatever its pattern.
fn fixed(scope: &str) -> &str {
    let scope = folder(scope);
    match scope.find(PATTERN) {
        Some(at) => scope[..at].rfind('/').map_or("", |slash| &scope[..slash]),
        None => scope,
    }
}

const PATTERN: [char; 4] = ['*', '?', '[', '{'];

fn is_pattern(scope: &str) -> bool {
    scope.contains(PATTERN)
}

fn folder(scope: &str) -> &str {
    let scope = scope.strip_prefix("./").unwrap_or(scope).trim_end_matches('/');
    if scope == "." { "" } else { scope }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_writes_is_alone() {
        let scopes = |read: &[&str], write: &[&str]| {
            let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
            Scopes { read: texts(read), write: texts(write) }
        };
        for (one, other, expected) in [
            (scopes(&[], &["src/a.rs"]), scopes(&[], &["src/b.rs"]), false),
            (scopes(&[], &["src"]), scopes(&[], &["src/b.rs"]), true),
            (scopes(&[], &["src/**"]), scopes(&["src/b.rs"], &[]), true),
            (scopes(&["src"], &[]), scopes(&["src"], &[]), false),
            (scopes(&["src/"], &[]), scopes(&[], &["./src/x"]), true),
            (scopes(&[], &["src/a*"]), scopes(&[], &["source/a"]), false),
            (scopes(&[], &["**/*.md"]), scopes(&[], &["docs/a.md"]), true),
            (scopes(&[], &["."]), scopes(&[], &["x"]), true),
            (scopes(&[], &[]), scopes(&[], &["x"]), false),
        ] {
            assert_eq!(overlap(&one, &other).is_some(), expected, "{one:?} {other:?}");
            assert_eq!(overlap(&other, &one).is_some(), expected, "{other:?} {one:?}");
        }
        let written = ["src/**".to_owned(), "docs".to_owned(), "a.md".to_owned()];
        for (path, expected) in
            [("src/x/y.rs", true), ("docs/a.md", true), ("a.md", true), ("b.md", false), ("docs2/a", false)]
        {
            assert_eq!(allows(&written, path), expected, "{path}");
        }
    }
}
