//! The text of `files-manifest.csv` → rows.

use std::{borrow::Cow, fmt};

use super::write::HEADER;
use crate::artifact::{FileHash, FileHashError};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManifestReading<'text> {
    pub rows: Vec<ReadRow<'text>>,
    /// Lines in another form than the installer's.
    pub oddities: Vec<ManifestWarning>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadRow<'text> {
    /// From 1, the header.
    pub line: usize,
    pub row: FileRow<'text>,
}

/// Skipped, with a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestWarning {
    pub line: usize,
    pub kind: ManifestWarningKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManifestWarningKind {
    /// As in the installer's reader, the first line counts as header, whatever it says.
    Header { text: String },
    /// Less than four fields: skipped, as in the installer's reader.
    ShortRow { fields: usize },
    /// The last field is not a SHA-256: read as a row without hash.
    Hash(FileHashError),
    /// Absolute, empty, or with `.` or `..` components: skipped.
    Path { path: String },
    /// As in the installer's reader, the later row counts.
    Repeated { path: String },
    /// Wrong bytes are read as U+FFFD.
    NotUtf8,
}

impl fmt::Display for ManifestWarning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}: {}", self.line, self.kind)
    }
}

impl fmt::Display for ManifestWarningKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header { text } => {
                write!(out, "`{HEADER}` is wanted as the header, `{}` stands there", text.escape_debug())
            }
            Self::ShortRow { fields } => {
                write!(
                    out,
                    "a row of {fields} fields is passed over: at least type, name, module and path are wanted"
                )
            }
            Self::Hash(wrong) => write!(out, "{wrong}; the file cannot be compared"),
            Self::Path { path } => {
                write!(out, "`{}` is no path inside the root; the row is passed over", path.escape_debug())
            }
            Self::Repeated { path } => {
                write!(out, "`{}` is listed again further down; the later row counts", path.escape_debug())
            }
            Self::NotUtf8 => out.write_str("not UTF-8; the wrong bytes are read as U+FFFD"),
        }
    }
}

/// Parses as the installer's reader does (docs/formats.md): splits at every LF, trims lines (CR included),
/// takes the first line for the header, and splits at commas outside of quotes; each quote toggles and
/// disappears. That is not RFC 4180, so the `csv` crate cannot read it.
///
/// Never fails: unusable rows are skipped, with an entry in [`ManifestReading::oddities`].
pub fn read(text: &str) -> ManifestReading<'_> {
    let (mut reader, mut reading) = (LineReader::default(), ManifestReading::default());
    for line in lines(text) {
        reading.rows.extend(reader.row(line, &mut reading.oddities));
    }
    reading
}

/// Without LF.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).chain(std::iter::once(text.len()));
    let mut start = 0;
    ends.map(move |end| {
        let line = text.get(start..end).unwrap_or_default();
        start = end + 1;
        line
    })
}

#[derive(Clone, Debug, Default)]
pub(super) struct LineReader {
    lines: usize,
}

impl LineReader {
    pub(super) fn row<'text>(
        &mut self,
        line: &'text str,
        oddities: &mut Vec<ManifestWarning>,
    ) -> Option<ReadRow<'text>> {
        self.lines += 1;
        let text = trimmed(line);
        if self.lines == 1 {
            oddities.extend(header(text));
            return None;
        }
        if text.is_empty() { None } else { row(self.lines, text, oddities) }
    }

    pub(super) fn lines_read(&self) -> usize {
        self.lines
    }
}

fn header(text: &str) -> Option<ManifestWarning> {
    let is_known = text == HEADER || Some(text) == HEADER.strip_suffix(",hash");
    (!is_known)
        .then(|| ManifestWarning { line: 1, kind: ManifestWarningKind::Header { text: text.to_owned() } })
}

fn row<'text>(line: usize, text: &'text str, oddities: &mut Vec<ManifestWarning>) -> Option<ReadRow<'text>> {
    let mut fields = Fields { rest: Some(text) };
    let row = [fields.next(), fields.next(), fields.next(), fields.next()];
    let [Some(kind), Some(name), Some(module), Some(path)] = row else {
        let fields = row.iter().flatten().count();
        oddities.push(ManifestWarning { line, kind: ManifestWarningKind::ShortRow { fields } });
        return None;
    };
    let hash = match fields.next() {
        None => None,
        Some(text) if text.is_empty() => None,
        Some(text) => text
            .parse::<FileHash>()
            .map_err(|wrong| oddities.push(ManifestWarning { line, kind: ManifestWarningKind::Hash(wrong) }))
            .ok(),
    };
    Some(ReadRow { line, row: FileRow { kind, name, module, path, hash } })
}

/// As JavaScript: trims U+FEFF, which is not white space in Rust, but not U+0085, which is.
fn trimmed(line: &str) -> &str {
    let plain = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_graphic());
    if plain(line.as_bytes().first()) && plain(line.as_bytes().last()) {
        return line;
    }
    line.trim_matches(|letter: char| letter == '\u{FEFF}' || (letter.is_whitespace() && letter != '\u{85}'))
}

struct Fields<'text> {
    /// After the last comma; `None` after the last field.
    rest: Option<&'text str>,
}

impl<'text> Iterator for Fields<'text> {
    type Item = Cow<'text, str>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest?;
        // Fast path for the installer's own output: quote, field, quote, then a comma or the end.
        if let Some(quoted) = rest.strip_prefix('"')
            && let Some(close) = memchr::memchr(b'"', quoted.as_bytes())
        {
            match quoted.as_bytes().get(close + 1) {
                None => {
                    self.rest = None;
                    return Some(Cow::Borrowed(&quoted[..close]));
                }
                Some(b',') => {
                    self.rest = Some(&quoted[close + 2..]);
                    return Some(Cow::Borrowed(&quoted[..close]));
                }
                Some(_) => {}
            }
        }
        Some(self.toggled(rest))
    }
}

impl<'text> Fields<'text> {
    /// General case: quotes toggle and disappear, a comma outside of them ends the field.
    fn toggled(&mut self, rest: &'text str) -> Cow<'text, str> {
        let mut quoted = false;
        let end = rest.bytes().position(|byte| {
            quoted ^= byte == b'"';
            byte == b',' && !quoted
        });
        let field = match end {
            Some(comma) => {
                self.rest = Some(&rest[comma + 1..]);
                &rest[..comma]
            }
            None => {
                self.rest = None;
                rest
            }
        };
        if field.contains('"') { Cow::Owned(field.replace('"', "")) } else { Cow::Borrowed(field) }
    }
}

/// `type,name,module,path,hash`.
///
/// The first three are computed from the path as the installer does (docs/formats.md), with its quirks: the
/// extension is lower-cased before it is cut off, so `A.MD` has type `md` and name `A.MD`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRow<'text> {
    /// Lower-case extension without dot; `file` if there is none.
    pub kind: Cow<'text, str>,
    pub name: Cow<'text, str>,
    /// First component of the path (for a file in the root, its name).
    pub module: Cow<'text, str>,
    pub path: Cow<'text, str>,
    /// Of the raw bytes. `None`: unreadable when the manifest was written, or a manifest older than the
    /// column.
    pub hash: Option<FileHash>,
}

/// The installer's reader would not read the path back.
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
    /// The reader splits at every LF; a CR ends a row in other readers, and git changes it.
    #[error("it holds a line break")]
    LineBreak,
    #[error("it holds a backslash")]
    Backslash,
}

impl<'text> FileRow<'text> {
    /// Relative to the manifest's root, with `/`.
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

/// As Node's `path.extname`: a leading dot starts no extension.
fn extension_with_dot(base: &str) -> &str {
    match base.rfind('.') {
        Some(dot) if dot > 0 && base != ".." => &base[dot..],
        _ => "",
    }
}

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
    use proptest::prelude::*;

    use super::*;
    use crate::projection::files_manifest::write;

    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn paths<'text>(reading: &'text ManifestReading<'_>) -> Vec<(usize, &'text str, bool)> {
        reading.rows.iter().map(|read| (read.line, &*read.row.path, read.row.hash.is_some())).collect()
    }

    #[test]
    fn reads_every_generation() {
        let full = format!("type,name,module,path,hash\n\"md\",\"a\",\"m\",\"m/a.md\",\"{ABC}\"\n");
        let windows = format!("\u{FEFF}{}", full.replace('\n', "\r\n"));
        let old = "type,name,module,path\n\"md\",\"a\",\"m\",\"m/a.md\"\n";
        let bare = format!("type,name,module,path,hash\nmd,a,m,m/a.md,{}", ABC.to_uppercase());
        for (text, hash) in [(full.as_str(), true), (&windows, true), (old, false), (&bare, true)] {
            let reading = read(text);
            assert_eq!(paths(&reading), [(2, "m/a.md", hash)], "{text:?}");
            assert_eq!(reading.oddities, [], "{text:?}");
        }
    }

    #[test]
    fn tells_what_it_passes_over() {
        let reading = read("\"md\",\"a\",\"m\",\"lost\"\n\n\"md\",\"a\",\"m\"\na,b,c,x,zz\n  \na,b,\"c,d\n");
        assert_eq!(paths(&reading), [(4, "x", false)]);
        let told: Vec<String> = reading.oddities.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 4, "{told:?}");
        assert!(told[0].starts_with("line 1: `type,name,module,path,hash` is wanted"), "{told:?}");
        assert!(told[1].starts_with("line 3: a row of 3 fields"), "{told:?}");
        assert!(told[2].starts_with("line 4: `zz` is not a SHA-256"), "{told:?}");
        assert!(told[3].starts_with("line 6: a row of 3 fields"), "{told:?}");
        assert_eq!(read("").oddities.len(), 1);
    }

    fn installer_reads(text: &str) -> Vec<Vec<String>> {
        let javascript_blank = |letter: char| {
            matches!(letter, '\t' | '\u{B}' | '\u{C}' | '\n' | '\r' | '\u{2028}' | '\u{2029}' | '\u{FEFF}')
                || matches!(letter, ' ' | '\u{A0}' | '\u{1680}' | '\u{2000}'..='\u{200A}')
                || matches!(letter, '\u{202F}' | '\u{205F}' | '\u{3000}')
        };
        let mut rows = Vec::new();
        for line in text.split('\n').skip(1) {
            let line = line.trim_matches(javascript_blank);
            if line.is_empty() {
                continue;
            }
            let (mut parts, mut current, mut quoted) = (Vec::new(), String::new(), false);
            for letter in line.chars() {
                match letter {
                    '"' => quoted = !quoted,
                    ',' if !quoted => parts.push(std::mem::take(&mut current)),
                    letter => current.push(letter),
                }
            }
            parts.push(current);
            if parts.len() >= 4 {
                rows.push(parts[..4].to_vec());
            }
        }
        rows
    }

    proptest! {
        #[test]
        fn agrees_with_the_installers_reader(text in "([\"\",,a/ \r\n\u{85}\u{FEFF}\u{2028}é]|\"a\",|,\"\"\n){0,60}") {
            let reading = read(&text);
            let fields = |read: &ReadRow<'_>| {
                [&read.row.kind, &read.row.name, &read.row.module, &read.row.path].map(|field| field.to_string()).to_vec()
            };
            prop_assert_eq!(reading.rows.iter().map(fields).collect::<Vec<_>>(), installer_reads(&text));
        }

        #[test]
        fn what_is_written_reads_back(files in proptest::collection::vec(("[^\"\\\\\r\n\0/][^\"\\\\\r\n\0]{0,12}", any::<Option<[u8; 32]>>()), 0..9)) {
            let rows: Vec<FileRow<'_>> = files
                .iter()
                .map(|(path, digest)| FileRow::of(path, digest.map(FileHash::from_digest)).unwrap())
                .collect();
            let bytes = write(&rows).unwrap();
            let text = std::str::from_utf8(&bytes).unwrap();
            let reading = read(text);
            prop_assert_eq!(&reading.oddities, &[]);
            let read_back: Vec<FileRow<'_>> = reading.rows.into_iter().map(|read| read.row).collect();
            prop_assert_eq!(&read_back, &rows);
            // The csv crate, which reads RFC 4180, sees the same paths.
            let mut standard = csv::Reader::from_reader(&*bytes);
            let standard: Vec<String> = standard.records().map(|row| row.unwrap()[3].to_owned()).collect();
            prop_assert_eq!(standard, rows.iter().map(|row| row.path.to_string()).collect::<Vec<_>>());
        }
    }
}

#[cfg(test)]
mod row_tests {
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
