//! The shortest names that tell artifacts apart.

use std::collections::HashMap;

use stepmark_model::artifact::ProjectPath;

/// Returns for each of the paths `shown` its shortest end, in whole parts and without `.md`, that no other of
/// `all` ends with.
pub fn short_names<'p>(
    shown: &[&'p ProjectPath],
    all: impl IntoIterator<Item = &'p ProjectPath>,
) -> Vec<String> {
    // The ends that may become names, by how many paths have them.
    let mut ends: HashMap<&str, usize> =
        shown.iter().flat_map(|path| ends_of(path)).map(|end| (end, 0)).collect();
    for path in all {
        for end in ends_of(path) {
            match ends.get_mut(end) {
                Some(count) => *count += 1,
                // No path has a longer end of one whose shorter end it has not.
                None => break,
            }
        }
    }
    let shortest = |path: &&'p ProjectPath| {
        let is_unique = |end: &&str| ends.get(end) == Some(&1);
        ends_of(path).find(is_unique).unwrap_or(path.as_str()).to_owned()
    };
    shown.iter().map(shortest).collect()
}

/// The ends of `path`, the shortest first.
fn ends_of(path: &ProjectPath) -> impl Iterator<Item = &str> {
    let path = path.as_str();
    let stem = path.strip_suffix(".md").unwrap_or(path);
    let parts = stem.rmatch_indices('/').map(|(at, _)| &stem[at + 1..]);
    parts.chain([stem])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_short_as_they_tell_apart() {
        for (paths, expected) in [
            (&["prd.md", "s/1-1-lend.md"][..], &["prd", "1-1-lend"][..]),
            (&["a/SPEC.md", "b/SPEC.md", "c/x.md"], &["a/SPEC", "b/SPEC", "x"]),
            (&["a/x/n.md", "b/x/n.md", "b/n.md"], &["a/x/n", "b/x/n", "b/n"]),
            (&["x/n.md", "n.md"], &["x/n", "n.md"]),
            (&["n.md", "n.markdown"], &["n", "n.markdown"]),
        ] {
            let paths: Vec<ProjectPath> = paths.iter().map(|path| path.parse().unwrap()).collect();
            let all: Vec<_> = paths.iter().collect();
            assert_eq!(short_names(&all, paths.iter()), expected);
            for (path, name) in paths.iter().zip(expected) {
                assert_eq!(short_names(&[path], paths.iter()), [*name], "as among all");
            }
        }
    }
}
