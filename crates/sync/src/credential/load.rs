//! Reading a credential where it is kept.
#![expect(clippy::disallowed_methods, reason = "an edge module: environment and files hold credentials")]

use std::{
    env, fmt,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    time::Duration,
};

use stepmark_model::artifact::FileHash;

use super::CredentialSource;
use crate::program::{Program, ProgramError};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// The name of the credential: where it comes from ([`CredentialSource`] as text).
    pub name: String,
    pub secret: Secret,
}

#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    #[error("no credential was found: looked for {}; give one in one of these places", .sources.join(", "))]
    NotFound { sources: Vec<String> },
    #[error("the credential of `{from}` cannot be used: {source}")]
    Unusable { from: String, source: SecretError },
    #[error(
        "the credential in `{path}` is not used, since others may read it (mode {mode:o}): `chmod 600 {path}`"
    )]
    Exposed { path: String, mode: u32 },
    #[error("the credential of `{from}` cannot be read: {source}")]
    Io { from: String, source: io::Error },
    #[error("`{command}` gives no credential: {reason}")]
    Command {
        command: String,
        /// The problem: never what the command printed.
        reason: String,
    },
}

/// The time that a command may take: it may ask a key ring, but nobody answers questions here.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(15);

impl Credential {
    /// A digest of the secret itself, wherever it comes from.
    pub fn digest(&self) -> String {
        FileHash::of(self.secret.expose().as_bytes()).to_string()
    }

    /// The credential of the first of `sources` that has one. A variable that is not set, a file that does
    /// not exist and a program that is not there have none; anything else that is wrong is an error, since
    /// the next place might hold another account.
    pub fn load(sources: &[CredentialSource]) -> Result<Self, CredentialError> {
        for source in sources {
            let name = source.to_string();
            let Some(text) = read(source)? else { continue };
            let secret = Secret::new(&text)
                .map_err(|source| CredentialError::Unusable { from: name.clone(), source })?;
            return Ok(Self { name, secret });
        }
        let sources = sources.iter().map(|source| format!("`{source}`")).collect();
        Err(CredentialError::NotFound { sources })
    }
}

/// Returns what stands at a place; `None` where there is nothing.
fn read(source: &CredentialSource) -> Result<Option<String>, CredentialError> {
    match source {
        CredentialSource::Environment { variable } => {
            // A variable that is set to nothing was switched off.
            Ok(env::var(variable).ok().filter(|value| !value.trim().is_empty()))
        }
        CredentialSource::File { path } => read_file(path),
        CredentialSource::Command { words, hidden_variables } => run(words, hidden_variables),
    }
}

fn read_file(path: &Path) -> Result<Option<String>, CredentialError> {
    let failed = |source| CredentialError::Io { from: format!("file {}", path.display()), source };
    let path = &at_home(path, env::var_os("HOME").map(PathBuf::from));
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    // Of the file that is open: the path may lead elsewhere by now.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = file.metadata().map_err(failed)?.permissions().mode() & 0o7777;
        if mode & 0o077 != 0 {
            return Err(CredentialError::Exposed { path: path.display().to_string(), mode });
        }
    }
    bounded(file).map(Some).map_err(failed)
}

/// The path, where a `~` at its beginning stands for `home`.
fn at_home(path: &Path, home: Option<PathBuf>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(below), Some(home)) => home.join(below),
        _ => path.to_owned(),
    }
}

/// Reads as much as a credential may have, and a little more, so that too long a one is noticed.
fn bounded(from: impl Read) -> io::Result<String> {
    let mut text = String::new();
    from.take(Secret::LIMIT as u64 + 64).read_to_string(&mut text)?;
    Ok(text)
}

fn run(words: &[String], hidden: &[String]) -> Result<Option<String>, CredentialError> {
    let Some((name, arguments)) = words.split_first() else { return Ok(None) };
    let program = Program {
        name,
        arguments,
        variables: &[],
        hidden,
        is_bare: false,
        folder: None,
        input: b"",
        patience: COMMAND_TIMEOUT,
        most: Secret::LIMIT as u64 + 64,
    };
    let failed = |reason: String| CredentialError::Command { command: words.join(" "), reason };
    match program.run() {
        Err(ProgramError::Missing) => Ok(None),
        Err(error) => Err(failed(error.to_string())),
        // `gh` fails where nobody is logged in: then the place holds nothing.
        Ok(printed) if !printed.has_succeeded => Ok(None),
        Ok(printed) => String::from_utf8(printed.output).map(Some).map_err(|error| failed(error.to_string())),
    }
}

/// A token or password, fit for a header. It has no `Display`, and its `Debug` says nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// A text that cannot be a credential. It is not repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", match .0 {
    SecretFault::Empty => "it is empty",
    SecretFault::TooLong => "it is too long for a credential",
    SecretFault::NotPrintable => "it holds blanks or other characters that no header may have",
})]
pub struct SecretError(SecretFault);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SecretFault {
    Empty,
    TooLong,
    NotPrintable,
}

const HIDDEN: &str = "[credential]";

impl Secret {
    /// The number of bytes that a credential has at most.
    pub const LIMIT: usize = 4096;

    /// The credential that `text` holds; blanks and line ends around it do not count.
    pub fn new(text: &str) -> Result<Self, SecretError> {
        let text = text.trim();
        match text {
            "" => Err(SecretError(SecretFault::Empty)),
            _ if text.len() > Self::LIMIT => Err(SecretError(SecretFault::TooLong)),
            _ if !text.bytes().all(|byte| byte.is_ascii_graphic()) => {
                Err(SecretError(SecretFault::NotPrintable))
            }
            _ => Ok(Self(text.to_owned())),
        }
    }

    /// The credential itself, for the header of a request alone.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// `text` without the credential, should a server repeat it.
    pub fn hide_in(&self, text: String) -> String {
        if text.contains(&self.0) { text.replace(&self.0, HIDDEN) } else { text }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(HIDDEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_begin_at_home() {
        for (path, home, expected) in [
            ("~/.config/token", Some("/home/ada"), "/home/ada/.config/token"),
            ("~/.config/token", None, "~/.config/token"),
            ("/run/token", Some("/home/ada"), "/run/token"),
            ("/~/token", Some("/home/ada"), "/~/token"),
        ] {
            assert_eq!(at_home(Path::new(path), home.map(PathBuf::from)), Path::new(expected), "{path}");
        }
    }
}
