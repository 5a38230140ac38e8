//! The output of `git diff-index --raw -z` and `git diff-tree --raw -z` (git-diff(1), "Raw output format").

use crate::git::version::error::{failed_as, no_git, pipe};
use crate::{Error, ErrorKind};
use std::{
    fmt::Write as _,
    io::{self, BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

use crate::git::process;
use stepmark_model::artifact::{ProjectPath, READ_LIMIT};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RawChange {
    /// `A`dded, `M`odified, `D`eleted, `R`enamed, `T`ype changed, `U`nmerged.
    pub(super) status: char,
    pub(super) before: Option<RawSide>,
    pub(super) after: Option<RawSide>,
    /// The new path; the old one if deleted.
    pub(super) path: Vec<u8>,
    pub(super) renamed_from: Option<Vec<u8>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RawSide {
    pub(super) object: String,
}

pub(super) fn parse(output: &[u8]) -> Result<Vec<RawChange>, String> {
    let mut changes = Vec::new();
    let mut parts = output.split(|byte| *byte == 0);
    while let Some(head) = parts.next().filter(|head| !head.is_empty()) {
        let unknown = || String::from_utf8_lossy(head).into_owned();
        let text = std::str::from_utf8(head).map_err(|_| unknown())?;
        let words: Vec<&str> = text.strip_prefix(':').ok_or_else(unknown)?.split(' ').collect();
        let [old_mode, new_mode, old_object, new_object, status] = words[..] else { return Err(unknown()) };
        let status = status.chars().next().ok_or_else(unknown)?;
        let first = parts.next().ok_or_else(unknown)?.to_vec();
        let (path, renamed_from) = if matches!(status, 'R' | 'C') {
            let path = parts.next().ok_or_else(unknown)?.to_vec();
            (path, Some(first).filter(|_| status == 'R'))
        } else {
            (first, None)
        };
        let before = side(old_mode, old_object).filter(|_| status != 'C');
        changes.push(RawChange { status, before, after: side(new_mode, new_object), path, renamed_from });
    }
    Ok(changes)
}

/// `None` for nothing (`000000`), links (`120000`) and submodules (`160000`).
fn side(mode: &str, object: &str) -> Option<RawSide> {
    mode.starts_with("100").then(|| RawSide { object: object.to_owned() })
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// The new path; the old one if deleted.
    pub path: ProjectPath,
    pub renamed_from: Option<ProjectPath>,
    /// `None` if the file is new.
    pub before: Option<Vec<u8>>,
    /// `None` if the file was deleted, or moved to an unwanted name.
    pub after: Option<Vec<u8>>,
}

/// In path order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitChanges {
    pub files: Vec<ChangedFile>,
    /// Conflicts, which have no state to compare.
    pub unmerged: Vec<ProjectPath>,
    pub over_limit: Vec<OverLimit>,
    /// With U+FFFD for invalid bytes.
    pub not_utf8: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverLimit {
    pub path: ProjectPath,
    pub size: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tree {
    entries: Vec<u8>,
    /// The length of object names in bytes.
    name_length: usize,
}

impl Tree {
    /// `digits`: the length of object names in hexadecimal.
    pub(super) const fn new(entries: Vec<u8>, digits: usize) -> Self {
        Self { entries, name_length: digits / 2 }
    }

    pub(super) fn object(&self, file: &str) -> Option<String> {
        let mut rest = self.entries.as_slice();
        while let Some(end) = memchr::memchr(0, rest) {
            let (head, name) = (&rest[..end], rest.get(end + 1..end + 1 + self.name_length)?);
            if head.starts_with(b"100")
                && head.splitn(2, |byte| *byte == b' ').nth(1) == Some(file.as_bytes())
            {
                return Some(hexadecimal(name));
            }
            rest = &rest[end + 1 + self.name_length..];
        }
        None
    }
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut digits, byte| {
        // Writing to a string never fails.
        let _written = write!(digits, "{byte:02x}");
        digits
    })
}

#[derive(Debug, Default)]
pub(super) struct Wanted {
    found: GitChanges,
    objects: Vec<WantedObject>,
}

#[derive(Debug)]
struct WantedObject {
    name: String,
    /// The file's index in the changes.
    file: usize,
    side: Side,
}

#[derive(Clone, Copy, Debug)]
enum Side {
    Before,
    After,
}

impl Wanted {
    pub(super) fn add(&mut self, change: RawChange, is_wanted: &dyn Fn(&ProjectPath) -> bool) {
        let RawChange { status, before, after, path, renamed_from } = change;
        let path = self.named(&path, is_wanted);
        let renamed_from = renamed_from.and_then(|path| self.named(&path, is_wanted));
        match (path, renamed_from) {
            (Some(path), None) if status == 'U' && is_wanted(&path) => self.found.unmerged.push(path),
            (Some(path), renamed_from) if is_wanted(&path) => self.push(path, renamed_from, before, after),
            // Its new name is not an artifact's.
            (_, Some(path)) if is_wanted(&path) => self.push(path, None, before, None),
            _ => {}
        }
    }

    /// `None` for invalid UTF-8; reports it if such a file is wanted.
    fn named(&mut self, bytes: &[u8], is_wanted: &dyn Fn(&ProjectPath) -> bool) -> Option<ProjectPath> {
        let text = String::from_utf8_lossy(bytes);
        let path = ProjectPath::new(text.as_ref()).ok()?;
        if std::str::from_utf8(bytes).is_ok() {
            return Some(path);
        }
        if is_wanted(&path) {
            self.found.not_utf8.push(path.to_string());
        }
        None
    }

    fn push(
        &mut self,
        path: ProjectPath,
        renamed_from: Option<ProjectPath>,
        before: Option<RawSide>,
        after: Option<RawSide>,
    ) {
        if before.is_none() && after.is_none() {
            return;
        }
        let file = self.found.files.len();
        for (side, object) in [(Side::Before, before), (Side::After, after)] {
            let object = object.map(|RawSide { object }| WantedObject { name: object, file, side });
            self.objects.extend(object);
        }
        self.found.files.push(ChangedFile { path, renamed_from, before: None, after: None });
    }

    pub(super) fn read(self, reader: &mut ObjectReader) -> Result<GitChanges, Error> {
        let Self { mut found, objects } = self;
        let names: Vec<&str> = objects.iter().map(|object| object.name.as_str()).collect();
        let answers = reader.read(&names)?;
        let mut left_out = Vec::new();
        for (object, answer) in objects.iter().zip(answers) {
            let file = &mut found.files[object.file];
            match (answer, object.side) {
                (Object::Blob(bytes), Side::Before) => file.before = Some(bytes),
                (Object::Blob(bytes), Side::After) => file.after = Some(bytes),
                (Object::OverLimit(size), _) => {
                    found.over_limit.push(OverLimit { path: file.path.clone(), size });
                    left_out.push(file.path.clone());
                }
                (Object::Missing | Object::Folder(_) | Object::Other, _) => {
                    let object = object.name.clone();
                    let message = format!(
                        "the object {object} of `{}` is not in this clone: `git fsck` tells more",
                        file.path
                    );
                    return Err(Error::new(ErrorKind::Io, message));
                }
            }
        }
        found.files.retain(|file| !left_out.contains(&file.path));
        found.files.sort_by(|one, other| one.path.cmp(&other.path));
        found.unmerged.sort();
        found.unmerged.dedup();
        Ok(found)
    }
}

/// Objects requested before reading answers: few enough for any pipe, so that neither side blocks.
const ASKED_AT_ONCE: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    Blob(Vec<u8>),
    /// Larger than [`READ_LIMIT`], so its bytes were dropped.
    OverLimit(u64),
    Folder(Tree),
    Other,
    Missing,
}

#[derive(Debug)]
pub(crate) struct ObjectReader {
    process: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl ObjectReader {
    pub(crate) fn start(folder: &Path) -> Result<Self, Error> {
        let mut process = process::git(folder, &["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(no_git)?;
        match (process.stdin.take(), process.stdout.take()) {
            (requests @ Some(_), Some(answers)) => {
                Ok(Self { process, requests, answers: BufReader::new(answers) })
            }
            _ => {
                process::end(&mut process);
                Err(pipe(io::ErrorKind::BrokenPipe.into()))
            }
        }
    }

    pub(crate) fn read(&mut self, names: &[impl AsRef<str>]) -> Result<Vec<Object>, Error> {
        let mut objects = Vec::with_capacity(names.len());
        for names in names.chunks(ASKED_AT_ONCE) {
            let lines: String = names.iter().map(|name| format!("{}\n", name.as_ref())).collect();
            let mut answer = || {
                let requests = self.requests.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
                requests.write_all(lines.as_bytes())?;
                requests.flush()?;
                names.iter().try_for_each(|_| {
                    objects.push(read_object(&mut self.answers)?);
                    Ok(())
                })
            };
            let answered: io::Result<()> = answer();
            answered.map_err(|source| self.broken(source))?;
        }
        Ok(objects)
    }

    /// Includes git's last message, if any.
    fn broken(&mut self, source: io::Error) -> Error {
        self.requests = None;
        let mut reason = Vec::new();
        let said = self.process.stderr.take().map(|mut stderr| stderr.read_to_end(&mut reason));
        let reason = String::from_utf8_lossy(&reason).trim().to_owned();
        match said {
            Some(Ok(_)) if !reason.is_empty() => failed_as(&["cat-file", "--batch"], &reason),
            _ => pipe(source),
        }
    }
}

impl Drop for ObjectReader {
    fn drop(&mut self) {
        // Closing its input ends it.
        self.requests = None;
        process::end(&mut self.process);
    }
}

/// `NAME TYPE SIZE\nBYTES\n`, or a line for a missing object.
pub(crate) fn read_object(answers: &mut impl BufRead) -> io::Result<Object> {
    let mut header = Vec::new();
    answers.read_until(b'\n', &mut header)?;
    if header.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let header = String::from_utf8_lossy(&header);
    let words: Vec<&str> = header.split_ascii_whitespace().collect();
    let [name, kind, size] = words[..] else { return Ok(Object::Missing) };
    let Ok(size) = size.parse::<u64>() else { return Ok(Object::Missing) };
    if !matches!(kind, "blob" | "tree") || size > READ_LIMIT {
        let skipped = io::copy(&mut answers.take(size + 1), &mut io::sink())?;
        let is_whole = skipped == size + 1;
        let object = if kind == "blob" { Object::OverLimit(size) } else { Object::Other };
        return if is_whole { Ok(object) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
    }
    let mut bytes = Vec::new();
    answers.take(size + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != size + 1 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    bytes.pop();
    Ok(if kind == "blob" { Object::Blob(bytes) } else { Object::Folder(Tree::new(bytes, name.len())) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(object: &str) -> Option<RawSide> {
        Some(RawSide { object: object.to_owned() })
    }

    #[test]
    fn every_kind_of_entry_is_read() {
        let output = b":000000 100644 00 a1 A\0docs/a b.md\0\
            :100644 100755 b0 b1 M\0docs/\xc3\xbc.md\0\
            :100644 000000 c0 00 D\0c\nd.md\0\
            :100644 100644 d0 d1 R087\0old.md\0new.md\0\
            :100644 120000 e0 e1 T\0link.md\0\
            :160000 160000 f0 f1 M\0sub\0\
            :100644 000000 g0 00 U\0conflict.md\0\
            :100644 100644 h0 h0 C100\0source.md\0copy.md\0";
        let changes = parse(output).unwrap();
        let seen: Vec<_> = changes.iter().map(|change| (change.status, change.path.as_slice())).collect();
        assert_eq!(
            seen,
            [
                ('A', &b"docs/a b.md"[..]),
                ('M', "docs/ü.md".as_bytes()),
                ('D', b"c\nd.md"),
                ('R', b"new.md"),
                ('T', b"link.md"),
                ('M', b"sub"),
                ('U', b"conflict.md"),
                ('C', b"copy.md"),
            ]
        );
        assert_eq!((&changes[0].before, &changes[0].after), (&None, &file("a1")));
        assert_eq!((&changes[2].before, &changes[2].after), (&file("c0"), &None));
        assert_eq!(changes[3].renamed_from.as_deref(), Some(&b"old.md"[..]));
        assert_eq!((&changes[4].before, &changes[4].after), (&file("e0"), &None), "a link is no file");
        assert_eq!((&changes[5].before, &changes[5].after), (&None, &None), "a submodule is none either");
        assert_eq!((&changes[7].before, &changes[7].renamed_from), (&None, &None), "a copy is new");
        assert_eq!(parse(b"").unwrap(), []);
    }

    #[test]
    fn another_form_is_an_error_and_no_panic() {
        for output in
            [&b"M\0a.md\0"[..], b":100644\0a.md\0", b":1 2 3 4 \0a\0", b":1 2 3 4 M", b":1 2 3 4 R1\0a"]
        {
            assert!(parse(output).is_err(), "{output:?}");
        }
    }

    #[test]
    fn files_have_names_and_nothing_else_has() {
        let mut entries = Vec::new();
        for (entry, byte) in [
            ("100644 a b.csv", 1),
            ("100755 run", 2),
            ("120000 link", 3),
            ("40000 sub", 4),
            ("160000 module", 5),
        ] {
            entries.extend_from_slice(entry.as_bytes());
            entries.push(0);
            // A zero inside a name is no end.
            entries.extend_from_slice(&[byte, 0].repeat(10));
        }
        let tree = Tree::new(entries.clone(), 40);
        assert_eq!(tree.object("a b.csv"), Some("0100".repeat(10)));
        assert_eq!(tree.object("run"), Some("0200".repeat(10)));
        for none in ["link", "sub", "module", "a", "", "missing"] {
            assert_eq!(tree.object(none), None, "{none}");
        }
        entries.truncate(30);
        assert_eq!(Tree::new(entries, 40).object("a b.csv"), None, "cut");
        assert_eq!(Tree::new(Vec::new(), 64).object("a"), None);
    }
}

#[cfg(test)]
mod wanted_tests {
    use super::*;
    use crate::git::version::raw_diff;

    fn added(output: &[u8]) -> Wanted {
        let mut wanted = Wanted::default();
        for change in raw_diff::parse(output).unwrap() {
            wanted.add(change, &|path| path.as_str().ends_with(".md"));
        }
        wanted
    }

    fn objects(wanted: &Wanted) -> Vec<&str> {
        wanted.objects.iter().map(|object| object.name.as_str()).collect()
    }

    #[test]
    fn only_files_that_are_asked_for_are_read() {
        let wanted = added(
            b":100644 100644 a0 a1 M\0a.md\0:100644 100644 b0 b1 M\0b.txt\0:160000 160000 c0 c1 M\0sub.md\0",
        );
        assert_eq!(objects(&wanted), ["a0", "a1"]);
        assert_eq!(wanted.found.files.len(), 1);
    }

    #[test]
    fn a_move_concerns_both_names() {
        for (names, path, renamed_from, read) in [
            ("old.md\0new.md", "new.md", Some("old.md"), &["a0", "a1"][..]),
            ("old.txt\0new.md", "new.md", Some("old.txt"), &["a0", "a1"]),
            ("old.md\0new.txt", "old.md", None, &["a0"]),
        ] {
            let wanted = added(format!(":100644 100644 a0 a1 R099\0{names}\0").as_bytes());
            let [file] = &wanted.found.files[..] else { panic!("{names}") };
            assert_eq!(file.path.as_str(), path);
            assert_eq!(file.renamed_from.as_ref().map(ProjectPath::as_str), renamed_from);
            assert_eq!(objects(&wanted), read, "{names}");
        }
        assert!(added(b":100644 100644 a0 a1 R099\0a.txt\0b.txt\0").found.files.is_empty());
    }

    #[test]
    fn conflicts_and_odd_names_are_told() {
        let wanted = added(
            b":100644 000000 a0 00 U\0a.md\0:000000 100644 00 b1 A\0\xff.md\0:000000 100644 00 c1 A\0\xff\0",
        );
        assert_eq!(wanted.found.unmerged, [ProjectPath::new("a.md").unwrap()]);
        assert_eq!(wanted.found.not_utf8, ["\u{FFFD}.md"]);
        assert!(wanted.found.files.is_empty() && wanted.objects.is_empty());
    }
}

#[cfg(test)]
mod objects_tests {
    use super::*;

    #[test]
    fn answers_are_read_to_their_ends() {
        let mut answers =
            &b"0a blob 3\nab\n\n0b missing\n:./a b.md missing\n0c tree 2\nxy\n0c tag 2\nxy\n0d blob 0\n\n0e blob 9\nshort"
                [..];
        let mut next = || read_object(&mut answers);
        assert_eq!(next().unwrap(), Object::Blob(b"ab\n".to_vec()));
        assert_eq!(next().unwrap(), Object::Missing);
        assert_eq!(next().unwrap(), Object::Missing, "a name with a blank");
        assert_eq!(next().unwrap(), Object::Folder(Tree::new(b"xy".to_vec(), 2)));
        assert_eq!(next().unwrap(), Object::Other, "a tag");
        assert_eq!(next().unwrap(), Object::Blob(Vec::new()));
        assert!(next().is_err());
        assert!(read_object(&mut &b""[..]).is_err());
    }

    #[test]
    fn what_is_too_large_is_passed_over_without_being_kept() {
        let size = READ_LIMIT + 1;
        let header = io::Cursor::new(format!("0a blob {size}\n").into_bytes());
        let rest = io::Cursor::new(b"\n0b blob 1\nx\n".to_vec());
        let mut answers = BufReader::new(header.chain(io::repeat(b'y').take(size)).chain(rest));
        assert_eq!(read_object(&mut answers).unwrap(), Object::OverLimit(size));
        assert_eq!(read_object(&mut answers).unwrap(), Object::Blob(b"x".to_vec()));
    }
}
