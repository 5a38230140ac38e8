//! Bytes that a file in a repository might have. If its object has their name they are its bytes: git knows a
//! blob by nothing else (docs/adr/0010-reading-git.md).

use std::{
    collections::HashMap,
    sync::{MutexGuard, PoisonError},
};

use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::git::version::raw_diff::{RawChange, hexadecimal};
use crate::git::version::{GitVersion, GitVersionError, Object};
use stepmark_model::artifact::ProjectPath;

/// Bytes, and what is known of the file that might have them.
#[derive(Debug)]
pub(super) struct Supposed {
    bytes: Vec<u8>,
    place: Place,
    /// Their name in most repositories, made while git is listing.
    sha1: String,
}

/// The place of the name of the file's object.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// Nobody knows yet: the index was not compared with HEAD.
    Unknown,
    /// In a tree: the file did not change.
    Tree,
    /// In the list of changes; `None` for what is no file.
    Changed(Option<String>),
}

impl Supposed {
    fn new(bytes: Vec<u8>, place: Place) -> Self {
        Self { sha1: blob_name::<Sha1>(&bytes), bytes, place }
    }

    /// Returns whether a blob with this name has the bytes.
    fn has_name(&self, name: &str) -> bool {
        match name.len() {
            40 => name == self.sha1,
            64 => name == blob_name::<Sha256>(&self.bytes),
            _ => false,
        }
    }
}

impl GitVersion {
    /// Says that the file at `path`, which will be read, might have these `bytes`: of a long one git says its
    /// name, which proves it, much sooner than it unpacks its bytes. To be said before the changes are asked
    /// for: git is listing them meanwhile.
    pub(crate) fn suppose(&self, path: &ProjectPath, bytes: Vec<u8>) {
        let place = if self.revision.is_empty() { Place::Unknown } else { Place::Tree };
        self.supposed().insert(path.clone(), Supposed::new(bytes, place));
    }

    /// The supposed bytes of the file at `path`, if they are its own.
    pub(super) fn supposed_bytes(&self, path: &ProjectPath) -> Result<Option<Vec<u8>>, GitVersionError> {
        let Some(supposed) = self.supposed().remove(path) else { return Ok(None) };
        let name = self.name_in(path, &supposed.place)?;
        Ok(name.is_some_and(|name| supposed.has_name(&name)).then_some(supposed.bytes))
    }

    /// The name of the file at `path`, where it can be had without its bytes.
    fn name_in(&self, path: &ProjectPath, place: &Place) -> Result<Option<String>, GitVersionError> {
        match place {
            Place::Unknown => return Ok(None),
            Place::Changed(name) => return Ok(name.clone()),
            Place::Tree => {}
        }
        let revision = if self.revision.is_empty() { "HEAD" } else { &self.revision };
        let folder = path.parent().map_or_else(String::new, |folder| folder.to_string());
        if folder.contains('\n') {
            return Ok(None);
        }
        let tree = self.objects().read(&[format!("{revision}:./{folder}")])?;
        let [Object::Folder(tree)] = &tree[..] else { return Ok(None) };
        Ok(tree.object(path.file_name()))
    }

    /// Notes where the names of supposed files stand, now that it is known what changed in the index.
    pub(super) fn place_supposed(&self, changes: &[RawChange]) {
        for (path, supposed) in self.supposed().iter_mut() {
            let mut own = changes.iter().filter(|change| {
                let old = change.renamed_from.as_ref();
                change.path == path.as_str().as_bytes()
                    || old.is_some_and(|old| old == path.as_str().as_bytes())
            });
            supposed.place = match (own.next(), own.next()) {
                (None, _) => Place::Tree,
                (Some(change), None) if change.path == path.as_str().as_bytes() => {
                    Place::Changed(change.after.as_ref().map(|after| after.object.clone()))
                }
                // A conflict, or moved away.
                _ => Place::Changed(None),
            };
        }
    }

    fn supposed(&self) -> MutexGuard<'_, HashMap<ProjectPath, Supposed>> {
        // Whoever panicked left whole suppositions.
        self.supposed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(feature = "write")]
pub(crate) fn is_blob_of(name: &str, bytes: &[u8]) -> bool {
    match name.len() {
        40 => name == blob_name::<Sha1>(bytes),
        64 => name == blob_name::<Sha256>(bytes),
        _ => false,
    }
}

/// The name of a blob of these bytes: the hash of `blob SIZE\0` and the bytes, in hexadecimal
/// (gitformat-loose(5)).
fn blob_name<D: Digest>(bytes: &[u8]) -> String {
    let mut digest = D::new_with_prefix(format!("blob {}\0", bytes.len()));
    digest.update(bytes);
    hexadecimal(&digest.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_git() {
        // `printf 'a\n' | git hash-object --stdin`, in repositories of both hashes.
        let names = [
            "78981922613b2afb6025042ff6bd878ac1994e85",
            "f8625e43f9e04f24291f77cdbe4c71b3c2a3b0003f60419b3ed06a058d766c8b",
        ];
        let supposed = Supposed::new(b"a\n".to_vec(), Place::Tree);
        let other = Supposed::new(b"a\r\n".to_vec(), Place::Tree);
        for name in names {
            assert!(supposed.has_name(name) && !other.has_name(name), "{name}");
            assert!(!supposed.has_name(&name[1..]), "{name}");
            assert!(is_blob_of(name, b"a\n") && !is_blob_of(name, b"a"), "{name}");
        }
    }
}
