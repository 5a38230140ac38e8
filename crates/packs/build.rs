//! The packs that come with the program: each folder of `src` with a `pack.yaml` is one.
#![expect(clippy::disallowed_methods, reason = "an edge: a build script reads the folders of packs")]

use std::{
    env, fs,
    io::{self, Write as _},
    path::Path,
};

fn main() -> io::Result<()> {
    writeln!(io::stdout(), "cargo::rerun-if-changed=src")?;
    let folder = |name: &str| env::var_os(name).ok_or_else(|| io::Error::other(name.to_owned()));
    let source = list(&Path::new(&folder("CARGO_MANIFEST_DIR")?).join("src"))?;
    fs::write(Path::new(&folder("OUT_DIR")?).join("packs.rs"), source)
}

/// The Rust source of a list of the packs below `folder`, each with its name and the text of its file.
pub(crate) fn list(folder: &Path) -> io::Result<String> {
    let mut packs = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let file = entry.path().join("pack.yaml");
        if file.is_file() {
            packs.push((entry.file_name().to_string_lossy().into_owned(), file));
        }
    }
    packs.sort();
    // The texts themselves: several checkouts may share a folder of builds.
    let entry = |(name, file)| Ok(format!("({name:?}, {:?}), ", fs::read_to_string(file)?));
    let entries = packs.into_iter().map(entry).collect::<io::Result<String>>()?;
    Ok(format!("const FILES: &[(&str, &str)] = &[{entries}];\n"))
}
