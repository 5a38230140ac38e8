//! A pack more is a folder more: no Rust file names it.
#![expect(clippy::disallowed_methods, reason = "a test writes a folder of packs")]

#[expect(dead_code, reason = "the test asks its list alone")]
#[path = "../build.rs"]
mod build;

use std::{fs, path::Path};

use stepmark_packs::PackDeclaration;

const THROWAWAY: &str = "pack: throwaway\nkinds:\n  ticket:\n    states: [{name: open}, {name: closed, terminal: true}]\n    \
                         moves: {close: {from: open, to: closed, by: person}}\n    applies_to: [{path: 'tickets/*.md'}]\n";

#[test]
fn a_folder_with_a_pack_file_is_one_more_pack() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let folder = std::env::temp_dir().join(format!("stepmark-new-pack-{}", std::process::id()));
    for name in fs::read_dir(&own).unwrap().map(|entry| entry.unwrap()) {
        let file = name.path().join("pack.yaml");
        if file.is_file() {
            fs::create_dir_all(folder.join(name.file_name())).unwrap();
            fs::copy(&file, folder.join(name.file_name()).join("pack.yaml")).unwrap();
        }
    }
    let before = build::list(&folder).unwrap();
    fs::create_dir(folder.join("throwaway")).unwrap();
    fs::write(folder.join("throwaway/pack.yaml"), THROWAWAY).unwrap();
    let after = build::list(&folder).unwrap();
    fs::remove_dir_all(&folder).unwrap();
    let own = stepmark_packs::built_in();
    assert!(own.clone().all(|pack| before.contains(&format!("({:?}, \"pack: {0}", pack.name))), "{before}");
    assert_eq!(before.matches(", \"pack: ").count(), own.len());
    assert_eq!(after.matches(", \"pack: ").count(), own.len() + 1);
    assert!(after.contains("(\"throwaway\", \"pack: throwaway"), "{after}");
    let pack = PackDeclaration::read(THROWAWAY.as_bytes()).unwrap().assemble(None).unwrap();
    let kind = &pack.kinds[0].kind;
    assert_eq!(kind.command("open", "T-1").as_deref(), Some("ticket close T-1"));
    assert_eq!(kind.lifecycle.as_ref().unwrap().named_moves()[0].way(), "from open to closed");
}

/// A move of a built-in pack is the part of a command that its system names: no word is made up for it.
#[test]
fn a_built_in_state_names_its_command_or_has_none() {
    for kind in stepmark_packs::built_in().flat_map(|pack| &pack.kinds).map(|own| &own.kind) {
        for (state, command) in &kind.commands {
            let table = kind.lifecycle.as_ref().unwrap();
            let own = table.state_of(state).unwrap();
            assert_eq!(own.next.as_ref(), Some(command), "{} {state}", kind.name);
        }
    }
}
