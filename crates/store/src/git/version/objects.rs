//! Objects of a repository, by `git cat-file --batch`: one process for all of them.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

use crate::git::{process, version::GitVersionError, version::raw_diff::Tree};
use stepmark_model::artifact::READ_LIMIT;

/// The number of objects that are asked for before their answers are read: so few that the questions fit into
/// any pipe, and neither side ever waits for the other.
const ASKED_AT_ONCE: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    Blob(Vec<u8>),
    /// A file with more bytes than [`READ_LIMIT`], which were not kept.
    OverLimit(u64),
    Folder(Tree),
    Other,
    Missing,
}

/// A running `git cat-file --batch`.
#[derive(Debug)]
pub(crate) struct ObjectReader {
    process: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl ObjectReader {
    pub(crate) fn start(folder: &Path) -> Result<Self, GitVersionError> {
        let mut process = process::git(folder, &["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|source| GitVersionError::NoGit { source })?;
        match (process.stdin.take(), process.stdout.take()) {
            (requests @ Some(_), Some(answers)) => {
                Ok(Self { process, requests, answers: BufReader::new(answers) })
            }
            _ => {
                process::end(&mut process);
                Err(GitVersionError::Pipe { source: io::ErrorKind::BrokenPipe.into() })
            }
        }
    }

    pub(crate) fn read(&mut self, names: &[impl AsRef<str>]) -> Result<Vec<Object>, GitVersionError> {
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

    /// The error of a pipe that broke: what git said last, if it said anything.
    fn broken(&mut self, source: io::Error) -> GitVersionError {
        self.requests = None;
        let mut reason = Vec::new();
        let said = self.process.stderr.take().map(|mut stderr| stderr.read_to_end(&mut reason));
        let reason = String::from_utf8_lossy(&reason).trim().to_owned();
        match said {
            Some(Ok(_)) if !reason.is_empty() => {
                GitVersionError::Failed { command: "cat-file --batch".to_owned(), reason }
            }
            _ => GitVersionError::Pipe { source },
        }
    }
}

impl Drop for ObjectReader {
    fn drop(&mut self) {
        // The end of its input ends it.
        self.requests = None;
        process::end(&mut self.process);
    }
}

/// One answer of `cat-file --batch`: `NAME TYPE SIZE\nBYTES\n`, or a line that says that there is no such
/// object.
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
