//! One open folder: the names in it, and its files by name.

#[cfg(unix)]
mod by_descriptor;
#[cfg(any(test, not(unix)))]
mod by_path;

#[cfg(unix)]
use by_descriptor::Handle;
#[cfg(not(unix))]
use by_path::Handle;

use std::{fs::File, io, ops::Range, path::Path};

use crate::disk::file_reading::FileStat;

/// A symbolic link is a `Link`, whatever its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File,
    Folder,
    Link,
    /// A device, socket or pipe: has no bytes to hash.
    Other,
}

#[derive(Debug)]
pub(crate) struct Folder {
    path: String,
    handle: Handle,
    names: String,
    entries: Vec<Entry>,
    names_not_utf8: Vec<String>,
}

#[derive(Clone, Debug)]
struct Entry {
    /// The first 16 bytes of the name, which decide most comparisons.
    start: u128,
    name: Range<usize>,
    kind: EntryKind,
}

impl Entry {
    fn append(names: &mut String, name: &str, kind: EntryKind) -> Self {
        // No name has a NUL, so padding keeps the order of prefixes.
        let mut start = [0; 16];
        let length = name.len().min(16);
        start[..length].copy_from_slice(&name.as_bytes()[..length]);
        let first = names.len();
        names.push_str(name);
        Self { start: u128::from_be_bytes(start), name: first..names.len(), kind }
    }

    fn name<'names>(&self, names: &'names str) -> &'names str {
        &names[self.name.clone()]
    }
}

impl Folder {
    /// `path` is below `root`; empty for the root itself.
    pub(crate) fn open(root: &Path, path: String) -> io::Result<Self> {
        let handle = if path.is_empty() { Handle::open(root)? } else { Handle::open(&root.join(&path))? };
        let (mut names, mut entries, mut names_not_utf8) = (String::new(), Vec::<Entry>::new(), Vec::new());
        handle.list(|name, kind| match name.to_str() {
            Some(name) => entries.push(Entry::append(&mut names, name, kind)),
            None => names_not_utf8.push(name.to_string_lossy().into_owned()),
        })?;
        entries.sort_unstable_by(|one, other| {
            one.start.cmp(&other.start).then_with(|| one.name(&names).cmp(other.name(&names)))
        });
        Ok(Self { path, handle, names, entries, names_not_utf8 })
    }

    /// Relative to the root, with `/`; empty for the root.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The indices of names count from 0, in byte order.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn name(&self, place: usize) -> &str {
        self.entries[place].name(&self.names)
    }

    pub(crate) fn kind(&self, place: usize) -> EntryKind {
        self.entries[place].kind
    }

    pub(crate) fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { [&*self.path, "/", name].concat() }
    }

    /// With replacement characters.
    pub(crate) fn names_not_utf8(&self) -> &[String] {
        &self.names_not_utf8
    }

    /// Of the target, if it is a link.
    pub(crate) fn stat(&self, place: usize) -> io::Result<(EntryKind, FileStat)> {
        self.handle.stat(self.name(place), self.kind(place) == EntryKind::Link)
    }

    /// For a name that is not a link; looks it up once.
    pub(crate) fn open_with_stat(&self, place: usize) -> io::Result<(File, EntryKind, FileStat)> {
        self.handle.open_with_stat(self.name(place))
    }

    pub(crate) fn open_file(&self, place: usize) -> io::Result<File> {
        self.handle.open_file(self.name(place))
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests make the folders that they list")]
mod tests {
    use std::{fs, io::Read};

    use super::*;

    #[test]
    fn lists_stats_and_reads() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("a/b")).unwrap();
        fs::write(root.path().join("a/z.md"), "zz").unwrap();
        fs::write(root.path().join("a/Ü.md"), "").unwrap();
        let folder = Folder::open(root.path(), "a".to_owned()).unwrap();
        let names: Vec<_> = (0..folder.len()).map(|place| (folder.name(place), folder.kind(place))).collect();
        assert_eq!(names, [("b", EntryKind::Folder), ("z.md", EntryKind::File), ("Ü.md", EntryKind::File)]);
        assert_eq!((folder.path(), folder.path_of("z.md")), ("a", "a/z.md".to_owned()));
        let (kind, stat) = folder.stat(1).unwrap();
        assert_eq!((kind, stat.size), (EntryKind::File, 2));
        let mut text = String::new();
        folder.open_file(1).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "zz");
        assert!(Folder::open(root.path(), "nowhere".to_owned()).is_err());
        assert!(Folder::open(root.path(), "a/z.md".to_owned()).is_err());
        let above = Folder::open(root.path(), String::new()).unwrap();
        assert_eq!(above.path_of("a"), "a");
    }

    #[test]
    fn names_stand_in_byte_order_whether_they_differ_early_or_late() {
        let root = tempfile::tempdir().unwrap();
        let stem = "0123456789abcde";
        let mut made: Vec<String> =
            ["", "!", "f", "fa", "fb", "ü", "üa", "~"].map(|end| format!("{stem}{end}")).into();
        made.extend(["0", "01", "0 1", "z", "é"].map(str::to_owned));
        made.iter().for_each(|name| fs::write(root.path().join(name), "").unwrap());
        let folder = Folder::open(root.path(), String::new()).unwrap();
        made.sort_unstable();
        assert_eq!((0..folder.len()).map(|place| folder.name(place)).collect::<Vec<_>>(), made);
    }

    #[cfg(unix)]
    #[test]
    fn both_ways_to_a_folder_say_the_same() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("file"), "abc").unwrap();
        fs::create_dir(root.path().join("folder")).unwrap();
        for (target, link) in
            [("file", "link"), ("folder", "to-folder"), ("nowhere", "broken"), ("loop", "loop")]
        {
            std::os::unix::fs::symlink(target, root.path().join(link)).unwrap();
        }
        let one = by_descriptor::Handle::open(root.path()).unwrap();
        let other = by_path::Handle::open(root.path()).unwrap();
        let (mut one_lists, mut other_lists) = (Vec::new(), Vec::new());
        one.list(|name, kind| one_lists.push((name.to_owned(), kind))).unwrap();
        other.list(|name, kind| other_lists.push((name.to_owned(), kind))).unwrap();
        one_lists.sort_by(|one, other| one.0.cmp(&other.0));
        other_lists.sort_by(|one, other| one.0.cmp(&other.0));
        assert_eq!(one_lists.len(), 6);
        assert_eq!(one_lists, other_lists);
        for (name, kind) in &one_lists {
            let name = name.to_str().unwrap();
            let link = *kind == EntryKind::Link;
            let stats = (one.stat(name, link).ok(), other.stat(name, link).ok());
            assert_eq!(stats.0, stats.1, "{name}");
            assert_eq!(stats.0.is_none(), matches!(name, "broken" | "loop"), "{name}");
            assert_eq!(one.open_file(name).is_ok(), other.open_file(name).is_ok(), "{name}");
        }
        let stats = |opened: (File, EntryKind, FileStat)| (opened.1, opened.2);
        let expected = one.stat("file", false).unwrap();
        assert_eq!(stats(one.open_with_stat("file").unwrap()), expected);
        assert_eq!(stats(other.open_with_stat("file").unwrap()), expected);
        assert!(one.open_with_stat("link").is_err(), "a file that was replaced by a link is not followed");
        assert_eq!(one.stat("to-folder", true).unwrap().0, EntryKind::Folder);
        assert_eq!(one.stat("link", true).unwrap().1.size, 3);
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_no_file_and_never_waited_for() {
        let root = tempfile::tempdir().unwrap();
        let pipe = root.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0)
            .unwrap();
        let folder = Folder::open(root.path(), String::new()).unwrap();
        assert_eq!((folder.kind(0), folder.stat(0).unwrap().0), (EntryKind::Other, EntryKind::Other));
        folder.open_file(0).unwrap();
    }
}
