//! The packs that come with the program.

use std::sync::LazyLock;

use crate::{Kind, Pack, PackDeclaration};

impl Kind {
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().iter().copied().find(|kind| kind.name == name)
    }

    pub fn all() -> &'static [&'static Self] {
        static RECORDS: LazyLock<Vec<&'static Kind>> = LazyLock::new(|| {
            let kinds = built_in().flat_map(|pack| &pack.kinds);
            kinds.map(|own| &*own.kind).filter(|kind| kind.is_record).collect()
        });
        &RECORDS
    }
}

// One entry for each folder beside this file with a `pack.yaml`; the build script writes it.
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

/// In the order in which packs are asked whether an artifact is theirs.
pub fn built_in() -> impl ExactSizeIterator<Item = &'static Pack> + Clone {
    BUILT_IN.iter().map(|(_, pack)| pack)
}

pub fn declaration_of(name: &str) -> Option<&'static PackDeclaration> {
    BUILT_IN.iter().map(|(declaration, _)| declaration).find(|declaration| declaration.pack.0 == name)
}
