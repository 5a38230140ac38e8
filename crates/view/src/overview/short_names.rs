//! The shortest names that tell artifacts apart.

use std::collections::HashMap;

use stepmark_model::artifact::ProjectPath;

/// Returns for each path its shortest end, in whole parts and without `.md`, that no other path ends with.
pub fn short_names(paths: &[&ProjectPath]) -> Vec<String> {
    let mut ends: HashMap<&str, usize> = HashMap::new();
    for end in paths.iter().flat_map(|path| ends_of(path)) {
        *ends.entry(end).or_default() += 1;
    }
    let shortest = |path: &&ProjectPath| {
        let is_unique = |end: &&str| ends.get(end) == Some(&1);
        ends_of(path).find(is_unique).unwrap_or(path.as_str()).to_owned()
    };
    paths.iter().map(shortest).collect()
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
            assert_eq!(short_names(&paths.iter().collect::<Vec<_>>()), expected);
        }
    }
}
