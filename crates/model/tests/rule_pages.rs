//! `docs/rules` says what the rules say. `STEPMARK_WRITE_PAGES=1 cargo test -p stepmark-model --test
//! rule_pages` (`just rule-pages`) writes it again.
#![expect(clippy::disallowed_methods, reason = "tests read and write files directly")]

use std::{collections::BTreeSet, env, fs, path::Path};

use stepmark_model::check::pages;

#[test]
fn the_pages_are_those_of_the_rules() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules");
    let pages = pages();
    if env::var_os("STEPMARK_WRITE_PAGES").is_some() {
        let _gone = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        for (name, text) in &pages {
            fs::write(folder.join(name), text).unwrap();
        }
    }
    for (name, text) in &pages {
        let written = fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert!(written == *text, "docs/rules/{name} is not what the rule says: `just rule-pages` writes it");
    }
    let names: BTreeSet<_> = pages.iter().map(|(name, _)| name.clone()).collect();
    let listed = fs::read_dir(&folder).unwrap();
    let there: BTreeSet<_> = listed.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(there, names, "a page of a rule that is gone");
}
