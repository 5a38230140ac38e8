//! Rows of the artifacts' manifest, wherever it is read from.

use std::{collections::BTreeSet, sync::OnceLock};

use memchr::memmem;

use crate::configuration::Configuration;
use stepmark_model::{
    artifact::ProjectPath,
    check::ManifestRow,
    projection::files_manifest::{Listing, ListingBuilder, ManifestWarningKind},
};

#[derive(Debug, Default)]
pub(crate) struct ManifestRows(OnceLock<Option<Listing>>);

impl ManifestRows {
    pub(crate) fn row(
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

fn is_manifest(listing: &Listing) -> bool {
    !listing.oddities().iter().any(|oddity| matches!(oddity.kind, ManifestWarningKind::Header { .. }))
}

const FEW: usize = 64;

/// May return other rows too: for few files it parses few lines of a long manifest.
#[cfg_attr(not(feature = "history"), expect(dead_code, reason = "only versions in git are read in part"))]
pub(crate) fn rows_of(bytes: &[u8], paths: &[&ProjectPath]) -> Listing {
    let mut builder = ListingBuilder::default();
    if paths.len() > FEW {
        bytes.split(|byte| *byte == b'\n').for_each(|line| builder.push_bytes(line));
        return builder.finish();
    }
    // The header line.
    let mut starts = BTreeSet::from([0]);
    for path in paths {
        let places = memmem::find_iter(bytes, path.as_str());
        starts.extend(places.map(|at| memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |end| end + 1)));
    }
    for start in starts {
        let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |length| start + length);
        builder.push_bytes(&bytes[start..end]);
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepmark_model::artifact::FileHash;

    #[test]
    fn artifacts_have_rows_and_other_files_need_none() {
        let (configuration, hash) = (Configuration::default(), FileHash::of(b"a"));
        let text = format!(
            "type,name,module,path,hash\n\"md\",\"a\",\"docs\",\"docs/a.md\",\"{hash}\"\n\"md\",\"b\",\"b.md\",\"b.md\",\"\"\n"
        );
        let path = |path: &str| ProjectPath::new(path).unwrap();
        let asked = ["docs/a.md", "b.md", "docs/c.md"].map(path);
        let asked: Vec<&ProjectPath> = asked.iter().collect();
        let rows = ManifestRows::default();
        let row =
            |name: &str| rows.row(&path(name), &configuration, || Some(rows_of(text.as_bytes(), &asked)));
        assert_eq!(row("docs/a.md"), ManifestRow::Hash(hash));
        assert_eq!(row("b.md"), ManifestRow::WithoutHash);
        assert_eq!(row("docs/c.md"), ManifestRow::Missing);
        assert_eq!(row("docs/c.txt"), ManifestRow::Uncovered, "no artifact");
        for text in ["", "a,b\n1,2\n"] {
            let read = || Some(rows_of(text.as_bytes(), &asked));
            let row = ManifestRows::default().row(asked[0], &configuration, read);
            assert_eq!(row, ManifestRow::Uncovered, "{text:?}");
        }
    }

    #[test]
    fn few_files_have_the_rows_that_they_have_among_many() {
        let configuration = Configuration::default();
        let hash = |text: &str| FileHash::of(text.as_bytes());
        let row = |path: &str, text: &str| format!("\"md\",\"a\",\"docs\",\"{path}\",\"{}\"\n", hash(text));
        // The second row of a path counts; names that hold another name are not that one.
        let rows = [("a.md", "1"), ("docs/a.md", "2"), ("a.md.md", "3"), ("xa.md", "4"), ("a.md", "5")];
        let rows: String = rows.map(|(path, text)| row(path, text)).concat();
        let text = format!("type,name,module,path,hash\n{rows}");
        let names =
            ["a.md", "docs/a.md", "a.md.md", "xa.md", "b.md"].map(|name| ProjectPath::new(name).unwrap());
        let few: Vec<&ProjectPath> = names.iter().collect();
        let many: Vec<&ProjectPath> = names.iter().cycle().take(FEW + 1).collect();
        for name in &names {
            let row = |paths| {
                ManifestRows::default().row(name, &configuration, || Some(rows_of(text.as_bytes(), paths)))
            };
            assert_eq!(row(&few[..]), row(&many), "{name}");
            assert_eq!(row(&[name]), row(&many), "{name}");
        }
        let rows = ManifestRows::default();
        let row = rows.row(&names[0], &configuration, || Some(rows_of(text.as_bytes(), &few)));
        assert_eq!(row, ManifestRow::Hash(hash("5")));
    }
}
