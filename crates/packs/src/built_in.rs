//! The packs that come with the program.

use std::sync::LazyLock;

use crate::{Kind, Pack, PackDeclaration};

impl Kind {
    /// The built-in kind that a record names under `stepmark_kind`.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().iter().copied().find(|kind| kind.name == name)
    }

    /// The built-in kinds of records.
    pub fn all() -> &'static [&'static Self] {
        static RECORDS: LazyLock<Vec<&'static Kind>> = LazyLock::new(|| {
            let kinds = built_in().flat_map(|pack| &pack.kinds);
            kinds.map(|own| &*own.kind).filter(|kind| kind.is_record).collect()
        });
        &RECORDS
    }
}

// Each folder beside this file with a `pack.yaml`, by its name.
include!(concat!(env!("OUT_DIR"), "/packs.rs"));

static BUILT_IN: LazyLock<Vec<(PackDeclaration, Pack)>> = LazyLock::new(|| {
    let mut packs: Vec<_> = FILES.iter().map(|(_, file)| read(file)).collect();
    packs.sort_by_key(|(declaration, _)| declaration.order.unwrap_or(u32::MAX));
    packs
});

#[expect(clippy::expect_used, reason = "the packs are files of this crate, and a test reads each")]
fn read(file: &str) -> (PackDeclaration, Pack) {
    let declaration = PackDeclaration::read(file.as_bytes()).expect("a built-in pack is read");
    let pack = declaration.assembled(None).expect("a built-in pack can be used");
    (declaration, pack)
}

/// The packs that come with the program, in the order in which an artifact is looked for in them.
pub fn built_in() -> impl ExactSizeIterator<Item = &'static Pack> + Clone {
    BUILT_IN.iter().map(|(_, pack)| pack)
}

pub fn declaration_of(name: &str) -> Option<&'static PackDeclaration> {
    BUILT_IN.iter().map(|(declaration, _)| declaration).find(|declaration| declaration.pack.0 == name)
}
