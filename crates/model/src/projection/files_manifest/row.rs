//! One row of `files-manifest.csv`, and how its fields follow from a path.

use std::borrow::Cow;

use crate::artifact::FileHash;

/// One row: `type,name,module,path,hash`. The fields borrow from the manifest's text or from the path.
///
/// The first three follow from the path as the official installer computes them (docs/formats.md), oddities
/// included: the extension is lower-cased before it is cut off, so `A.MD` has the type `md` but keeps the
/// name `A.MD`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRow<'text> {
    /// Column `type`: the extension in lower case without its dot, or `file` where there is none.
    pub kind: Cow<'text, str>,
    /// Column `name`: the file's name without its extension.
    pub name: Cow<'text, str>,
    /// Column `module`: the first part of the path (for a file in the root, its own name).
    pub module: Cow<'text, str>,
    /// Column `path`: relative to the root of the manifest, with `/`.
    pub path: Cow<'text, str>,
    /// Column `hash`: SHA-256 of the raw bytes. `None` where the manifest holds none (the file could not be
    /// read when the manifest was written, or the manifest is older than the column).
    pub hash: Option<FileHash>,
}

/// A path that the official installer's reader would read back as something else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot list `{}` in files-manifest.csv: {reason}, and the format has no escape for it; rename the file or \
     leave it out of the configured artifacts",
    path.escape_debug()
)]
pub struct UnlistablePath {
    pub path: String,
    pub reason: UnlistableReason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnlistableReason {
    #[error("it holds a quotation mark")]
    Quote,
    /// The reader splits at LF wherever it stands; a CR ends a row in other readers and is changed by git.
    #[error("it holds a line break")]
    LineBreak,
    #[error("it holds a backslash")]
    Backslash,
}

impl<'text> FileRow<'text> {
    /// The row of the file at `path` (relative to the manifest's root, `/` between its parts).
    pub fn of(path: &'text str, hash: Option<FileHash>) -> Result<Self, UnlistablePath> {
        if let Some(reason) = unlistable(path) {
            return Err(UnlistablePath { path: path.to_owned(), reason });
        }
        let base = path.rsplit('/').next().unwrap_or(path);
        let extension = extension_with_dot(base);
        let lower = extension.to_lowercase();
        let name = base.strip_suffix(lower.as_str()).filter(|name| !name.is_empty()).unwrap_or(base);
        Ok(Self {
            kind: match lower.strip_prefix('.') {
                None | Some("") => Cow::Borrowed("file"),
                Some(_) if lower == extension => Cow::Borrowed(&extension[1..]),
                Some(kind) => Cow::Owned(kind.to_owned()),
            },
            name: Cow::Borrowed(name),
            module: Cow::Borrowed(path.split('/').next().unwrap_or(path)),
            path: Cow::Borrowed(path),
            hash,
        })
    }
}

/// The extension as Node's `path.extname` cuts it: from the last dot on, and nothing where that dot begins
/// the name.
fn extension_with_dot(base: &str) -> &str {
    match base.rfind('.') {
        Some(dot) if dot > 0 && base != ".." => &base[dot..],
        _ => "",
    }
}

/// The first thing in `field` that the manifest cannot hold.
pub(super) fn unlistable(field: &str) -> Option<UnlistableReason> {
    field.bytes().find_map(|byte| match byte {
        b'"' => Some(UnlistableReason::Quote),
        b'\n' | b'\r' => Some(UnlistableReason::LineBreak),
        b'\\' => Some(UnlistableReason::Backslash),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line was computed by Node 20 with `path.extname`, `toLowerCase` and `path.basename` as the
    /// installer calls them: path, type, name, module.
    #[test]
    fn derives_the_fields_as_the_installer_does() {
        for (path, kind, name, module) in [
            ("bmm/config.yaml", "yaml", "config", "bmm"),
            ("config.user.toml", "toml", "config.user", "config.user.toml"),
            ("docs/A.MD", "md", "A.MD", "docs"),
            ("docs/A.Md", "md", "A.Md", "docs"),
            ("custom/.gitignore", "file", ".gitignore", "custom"),
            ("a/.b.md", "md", ".b", "a"),
            ("LICENSE", "file", "LICENSE", "LICENSE"),
            ("a/trailing.", "file", "trailing", "a"),
            ("a/x..", "file", "x.", "a"),
            ("a/...", "file", "..", "a"),
            ("a/x.tar.gz", "gz", "x.tar", "a"),
            ("a/ü.ÄÖ", "äö", "ü.ÄÖ", "a"),
            ("a/x.İ", "i\u{307}", "x.İ", "a"),
            ("a/x.ΑΣ", "ας", "x.ΑΣ", "a"),
            ("a b/c d.m d", "m d", "c d", "a b"),
            ("a/ .md", "md", " ", "a"),
            ("a/x,y.md", "md", "x,y", "a"),
        ] {
            let row = FileRow::of(path, None).unwrap();
            assert_eq!((&*row.kind, &*row.name, &*row.module, &*row.path), (kind, name, module, path));
        }
    }

    #[test]
    fn refuses_what_its_reader_would_read_otherwise() {
        for (path, reason) in [
            ("a/\"x\".md", UnlistableReason::Quote),
            ("a/x\n.md", UnlistableReason::LineBreak),
            ("a/x\r.md", UnlistableReason::LineBreak),
            ("a\\x.md", UnlistableReason::Backslash),
        ] {
            assert_eq!(FileRow::of(path, None), Err(UnlistablePath { path: path.to_owned(), reason }));
        }
    }
}
