//! The order of entries: by module, and within one as the official installer comes past their files.

use std::{cmp::Ordering, collections::HashMap};

use super::{Column, Entry};

/// The modules in the order of the catalogues: `core`, then as the installer's book names them, then folders
/// that it does not name, by name. Only `folders`, the folders that are there, can have entries, but skills
/// may have left theirs.
pub fn module_order(named: &[String], folders: &[String]) -> Vec<String> {
    let mut folders = folders.to_vec();
    folders.sort_unstable();
    let mut modules: Vec<String> = Vec::new();
    for module in std::iter::once("core").chain(named.iter().chain(&folders).map(String::as_str)) {
        if !modules.iter().any(|known| known == module) {
            modules.push(module.to_owned());
        }
    }
    modules
}

/// Sorts entries by module, what belongs to none of `modules` last, and within one by path: folder by folder,
/// names in the order of their bytes, as Node lists them.
pub fn in_walk_order(mut entries: Vec<Entry>, modules: &[String]) -> Vec<Entry> {
    let rank = |entry: &Entry| {
        let module = entry.get(Column::Module);
        modules.iter().position(|known| known == module).unwrap_or(modules.len())
    };
    entries.sort_by(|one, other| {
        rank(one)
            .cmp(&rank(other))
            .then_with(|| one.get(Column::Module).cmp(other.get(Column::Module)))
            .then_with(|| compare_paths(one.get(Column::Path), other.get(Column::Path)))
    });
    entries
}

/// `a/z` before `a-b/c`: a folder is compared as a whole, not by what follows its name.
fn compare_paths(one: &str, other: &str) -> Ordering {
    one.split('/').cmp(other.split('/'))
}

/// The entries without those whose module and name came before: the later value stands at the earlier place.
pub fn distinct(entries: Vec<Entry>) -> Vec<Entry> {
    let mut places: HashMap<(String, String), usize> = HashMap::new();
    let mut distinct: Vec<Entry> = Vec::new();
    for entry in entries {
        let key = (entry.get(Column::Module).to_owned(), entry.get(Column::Name).to_owned());
        match places.get(&key) {
            Some(place) => distinct[*place] = entry,
            None => {
                places.insert(key, distinct.len());
                distinct.push(entry);
            }
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(module: &str, name: &str, path: &str) -> Entry {
        Entry::default().with(Column::Module, module).with(Column::Name, name).with(Column::Path, path)
    }

    fn paths(entries: &[Entry]) -> Vec<&str> {
        entries.iter().map(|entry| entry.get(Column::Path)).collect()
    }

    #[test]
    fn core_comes_first_then_the_installers_order_then_folders() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let order = module_order(&names(&["tea", "core", "bmm"]), &names(&["zoo", "bmm", "art"]));
        assert_eq!(order, ["core", "tea", "bmm", "art", "zoo"]);
        assert_eq!(module_order(&[], &[]), ["core"]);
    }

    #[test]
    fn entries_stand_as_a_walk_comes_past_them() {
        let modules = ["core".to_owned(), "bmm".to_owned()];
        let entries = ["bmm/b", "bmm/a-b/c", "bmm/a/z", "bmm/B", "zoo/x", "core/z", "ant/x"]
            .map(|path| entry(path.split('/').next().unwrap(), path, path));
        assert_eq!(
            paths(&in_walk_order(entries.to_vec(), &modules)),
            ["core/z", "bmm/B", "bmm/a/z", "bmm/a-b/c", "bmm/b", "ant/x", "zoo/x"]
        );
    }

    #[test]
    fn of_two_with_one_name_the_later_stands_at_the_earlier_place() {
        let entries =
            vec![entry("m", "x", "1"), entry("m", "y", "2"), entry("m", "x", "3"), entry("n", "x", "4")];
        assert_eq!(paths(&distinct(entries)), ["3", "2", "4"]);
    }
}
