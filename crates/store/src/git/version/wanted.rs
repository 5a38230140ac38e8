//! The changes that are asked for, and the objects that must be read for them.

use crate::git::{
    version::ChangedFile, version::GitChanges, version::GitVersionError, version::Object, version::OverLimit,
    version::objects::ObjectReader, version::raw_diff::RawChange, version::raw_diff::RawSide,
};
use stepmark_model::artifact::ProjectPath;

/// Changes whose bytes are not read yet.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    found: GitChanges,
    objects: Vec<WantedObject>,
}

/// An object, and where its bytes go.
#[derive(Debug)]
struct WantedObject {
    name: String,
    /// The place of the file in the changes.
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
            // Under its new name it is no artifact any more.
            (_, Some(path)) if is_wanted(&path) => self.push(path, None, before, None),
            _ => {}
        }
    }

    /// The bytes as a path; `None`, and a note if somebody asks for such a file, where they are no UTF-8.
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

    /// Reads the bytes of all of them.
    pub(super) fn read(self, reader: &mut ObjectReader) -> Result<GitChanges, GitVersionError> {
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
                    return Err(GitVersionError::NoObject { path: file.path.clone(), object });
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

#[cfg(test)]
mod tests {
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
