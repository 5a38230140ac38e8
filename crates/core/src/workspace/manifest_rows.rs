//! What the manifest of the project's artifacts says of a file, wherever it is read from.

use std::sync::OnceLock;

use super::Configuration;
use crate::{
    artifact::ProjectPath,
    check::ManifestRow,
    project::files_manifest::{Listing, ListingBuilder, OddityKind},
};

/// The rows of a manifest, read when the first is asked for.
#[derive(Debug, Default)]
pub(super) struct ManifestRows(OnceLock<Option<Listing>>);

impl ManifestRows {
    /// What it says of the file at `path`; `read` gives it when it is first asked.
    pub(super) fn row(
        &self,
        path: &ProjectPath,
        configuration: &Configuration,
        read: impl FnOnce() -> Option<Listing>,
    ) -> ManifestRow {
        let Some(listing) = self.0.get_or_init(|| read().filter(is_manifest)) else {
            return ManifestRow::Uncovered;
        };
        if !configuration.is_artifact(path) {
            return ManifestRow::Uncovered;
        }
        let (folder, name) = path.as_str().rsplit_once('/').unwrap_or(("", path.as_str()));
        let folder = listing.folder(folder);
        match folder.and_then(|folder| Some((folder, folder.place_of(name)?))) {
            None => ManifestRow::Missing,
            Some((folder, place)) => folder.hash(place).map_or(ManifestRow::WithoutHash, ManifestRow::Hash),
        }
    }
}

/// Whether the file is a manifest at all.
fn is_manifest(listing: &Listing) -> bool {
    !listing.oddities().iter().any(|oddity| matches!(oddity.kind, OddityKind::Header { .. }))
}

/// The rows in the `bytes` of a manifest.
pub(super) fn listing(bytes: &[u8]) -> Listing {
    let mut builder = ListingBuilder::default();
    bytes.split(|byte| *byte == b'\n').for_each(|line| builder.push_bytes(line));
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::FileHash;

    #[test]
    fn artifacts_have_rows_and_other_files_need_none() {
        let (configuration, hash) = (Configuration::default(), FileHash::of(b"a"));
        let text = format!(
            "type,name,module,path,hash\n\"md\",\"a\",\"docs\",\"docs/a.md\",\"{hash}\"\n\"md\",\"b\",\"b.md\",\"b.md\",\"\"\n"
        );
        let rows = ManifestRows::default();
        let row = |path: &str| {
            rows.row(&ProjectPath::new(path).unwrap(), &configuration, || Some(listing(text.as_bytes())))
        };
        assert_eq!(row("docs/a.md"), ManifestRow::Hash(hash));
        assert_eq!(row("b.md"), ManifestRow::WithoutHash);
        assert_eq!(row("docs/c.md"), ManifestRow::Missing);
        assert_eq!(row("docs/c.txt"), ManifestRow::Uncovered, "no artifact");
        for text in ["", "a,b\n1,2\n"] {
            let path = ProjectPath::new("docs/a.md").unwrap();
            let row = ManifestRows::default().row(&path, &configuration, || Some(listing(text.as_bytes())));
            assert_eq!(row, ManifestRow::Uncovered, "{text:?}");
        }
    }
}
