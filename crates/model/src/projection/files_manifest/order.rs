//! The order of the rows: JavaScript's `localeCompare`, because the official installer sorts with it.

use std::{cmp::Ordering, collections::HashMap};

use icu_collator::{CollatorBorrowed, options::CollatorOptions};

use super::FileRow;

/// Sorts rows as the official installer does: by module, type and name, each by `localeCompare`, which is the
/// Unicode root collation with its default options (docs/formats.md; 111 of the 235 rows of a fresh install
/// stand elsewhere than in byte order).
///
/// Two rules make the order total where the installer's is not. Rows that tie (two `README.md` of one module)
/// keep the order of the existing manifest, since the installer leaves them in the order in which it happened
/// to copy them; the rest follows by path. And where two different texts are equal to the collation (they
/// differ in ignorable characters only), the next column decides; the installer stops there.
///
/// The installer takes its collation from the user's locale; under a locale with rules of its own (Swedish,
/// say) it orders such names otherwise. Its reader does not depend on the order.
#[derive(Debug)]
pub struct RowOrder {
    collator: CollatorBorrowed<'static>,
}

/// The collation rules are not part of this build.
#[derive(Debug, thiserror::Error)]
#[error("cannot sort files-manifest.csv: this build of stepmark holds no Unicode root collation")]
pub struct RowOrderError {
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl RowOrder {
    pub fn root() -> Result<Self, RowOrderError> {
        let prefs = icu_collator::CollatorPreferences::default();
        CollatorBorrowed::try_new(prefs, CollatorOptions::default())
            .map(|collator| Self { collator })
            .map_err(|source| RowOrderError { source: source.into() })
    }

    /// Sorts `rows`. `existing` are the paths of the manifest that is there already with their lines; they
    /// break ties.
    pub fn sort(&self, rows: &mut [FileRow<'_>], existing: impl IntoIterator<Item = (String, usize)>) {
        let places: HashMap<String, usize> = existing.into_iter().collect();
        let place = |row: &FileRow<'_>| places.get(&*row.path).copied().unwrap_or(usize::MAX);
        rows.sort_by(|one, other| {
            self.texts(&one.module, &other.module)
                .then_with(|| self.texts(&one.kind, &other.kind))
                .then_with(|| self.texts(&one.name, &other.name))
                .then_with(|| place(one).cmp(&place(other)))
                .then_with(|| one.path.cmp(&other.path))
        });
    }

    fn texts(&self, one: &str, other: &str) -> Ordering {
        if one == other { Ordering::Equal } else { self.collator.compare(one, other) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `order_fixture/generate.mjs` says how it was made.
    const NODE_ORDER: &str = include_str!("order_fixture/node-order.json");

    #[derive(serde::Deserialize)]
    struct NodeOrder {
        groups: Vec<Vec<String>>,
    }

    #[test]
    fn compares_texts_as_node_does() {
        let order = RowOrder::root().unwrap();
        let node: NodeOrder = serde_json::from_str(NODE_ORDER).unwrap();
        assert!(node.groups.len() > 2000, "the fixture is there");
        for group in &node.groups {
            for name in group {
                assert_eq!(order.texts(&group[0], name), Ordering::Equal, "{:?} {name:?}", group[0]);
            }
        }
        for pair in node.groups.windows(2) {
            assert_eq!(order.texts(&pair[0][0], &pair[1][0]), Ordering::Less, "{:?} {:?}", pair[0], pair[1]);
        }
    }

    fn sorted<'path>(paths: &[&'path str], existing: &[&str]) -> Vec<&'path str> {
        let mut rows: Vec<_> = paths.iter().map(|path| FileRow::of(path, None).unwrap()).collect();
        let existing = existing.iter().enumerate().map(|(line, path)| ((*path).to_owned(), line));
        RowOrder::root().unwrap().sort(&mut rows, existing);
        let at = |row: &FileRow<'_>| paths.iter().copied().find(|path| *path == row.path).unwrap();
        rows.iter().map(at).collect()
    }

    #[test]
    fn sorts_by_module_then_type_then_name() {
        let shuffled =
            ["b/a.md", "a/z.md", "a/B.md", "a/a.yaml", "a/_x.csv", "_config/manifest.yaml", "a/b.md"];
        let wanted =
            ["_config/manifest.yaml", "a/_x.csv", "a/b.md", "a/B.md", "a/z.md", "a/a.yaml", "b/a.md"];
        assert_eq!(sorted(&shuffled, &[]), wanted);
    }

    #[test]
    fn ties_keep_the_existing_order_and_new_rows_follow_by_path() {
        let paths = ["m/a/x.md", "m/b/x.md", "m/c/x.md", "m/d/x.md"];
        assert_eq!(
            sorted(&paths, &["m/d/x.md", "other", "m/b/x.md"]),
            ["m/d/x.md", "m/b/x.md", "m/a/x.md", "m/c/x.md"]
        );
    }

    proptest! {
        /// Whatever order the walk finds the files in, the manifest is the same.
        #[test]
        fn the_order_is_total(paths in proptest::collection::btree_set("[aAbé_/.\u{AD}\u{301}-]{1,8}", 0..12), seed: u64) {
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            let mut shuffled = paths.clone();
            let mut state = seed;
            for place in (1..shuffled.len()).rev() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                shuffled.swap(place, usize::try_from(state >> 33).unwrap() % (place + 1));
            }
            prop_assert_eq!(sorted(&paths, &[]), sorted(&shuffled, &[]));
        }
    }
}
