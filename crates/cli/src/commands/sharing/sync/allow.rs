//! `stepmark sync allow`, and the user's own file of allowed destinations.
#![expect(clippy::disallowed_methods, reason = "an edge: the file belongs to the user, not to a project")]

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use clap::Args;
use tempfile::Builder;

use crate::{
    environment,
    exit::{Exit, Failure},
    output::{Output, wire::Open},
};
use stepmark_sync::{
    configuration::{BaseUrl, Destination},
    credential::AllowedDestinations,
};

/// Allow trackers of repositories to send your credential to this repository or project; without arguments,
/// list what is allowed
///
/// The address of a tracker comes with a repository, which may be a stranger's, so the first time it is asked
/// for. Where nobody can answer, this command does. It is remembered for you, in all projects.
#[derive(Debug, Args)]
pub(super) struct Allow {
    /// The address: `base_url` of the tracker, such as `https://api.github.com`
    #[arg(requires = "target")]
    base_url: Option<BaseUrl>,
    /// The repository (`owner/name`) or the key of the project
    target: Option<String>,
    /// Take it back: the next time, it is asked for again
    #[arg(long, requires = "target")]
    remove: bool,
}

answers! { Answer<'a>
    /// `sync allow`: the targets that are allowed
    "stepmark.sync-allow/2" Allow { outcome: Option<&'a str>, allowed: Vec<Open<&'a Destination>> }
}

impl Allow {
    pub(super) fn run(&self, output: &Output) -> Result<Exit, Failure> {
        let outcome = match (&self.base_url, &self.target) {
            (Some(base_url), Some(target)) => {
                let destination = Destination::new(base_url, target.clone());
                Some((self.change(&destination)?, destination))
            }
            _ => None,
        };
        let allowed = read()?;
        let answer = || Answer::Allow {
            outcome: outcome.as_ref().map(|(outcome, _)| *outcome),
            allowed: allowed.iter().map(Open).collect(),
        };
        output.answer_or(answer, || match &outcome {
            Some((outcome, destination)) => output.line(format_args!("{outcome} {destination}")),
            None if allowed.iter().next().is_none() => output.note("no tracker is allowed yet"),
            None => allowed.iter().for_each(|destination| output.line(destination)),
        });
        Ok(Exit::Fine)
    }

    fn change(&self, destination: &Destination) -> Result<&'static str, Failure> {
        if self.remove {
            return Ok(if remove(destination)? { "removed" } else { "not allowed" });
        }
        allow(destination.clone())?;
        Ok("allowed")
    }
}

const FILE: &str = "allowed-targets.json";

/// In bytes: a larger one was not written by stepmark.
const SIZE_LIMIT: u64 = 1024 * 1024;

pub(super) fn read() -> Result<AllowedDestinations, Failure> {
    read_at(&path()?)
}

pub(super) fn allow(destination: Destination) -> Result<(), Failure> {
    let mut allowed = read()?;
    allowed.allow(destination);
    remember(&allowed)
}

/// `false` if it was not allowed.
pub(super) fn remove(destination: &Destination) -> Result<bool, Failure> {
    let mut allowed = read()?;
    let is_removed = allowed.remove(destination);
    if is_removed {
        remember(&allowed)?;
    }
    Ok(is_removed)
}

fn remember(allowed: &AllowedDestinations) -> Result<(), Failure> {
    let path = path()?;
    replace(&path, allowed.to_text().as_bytes())
        .map_err(|error| Failure::new(Exit::Io, format!("cannot write `{}`: {error}", path.display())))
}

/// Without a terminal, it is not allowed.
pub(super) fn ask(credential: &str, destination: &Destination, output: &Output) -> Result<bool, Failure> {
    output.asks(format_args!(
        "This repository asks for the credential of `{credential}` to be sent to {destination}, from now on. Allow it?"
    ))
}

fn path() -> Result<PathBuf, Failure> {
    Ok(environment::state_folder()?.join(FILE))
}

fn read_at(path: &Path) -> Result<AllowedDestinations, Failure> {
    let refused = |reason: String| {
        Failure::new(Exit::Io, format!("cannot tell what was allowed by `{}`: {reason}", path.display()))
            .with_help("remove the file; then every destination is asked for again")
    };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(AllowedDestinations::default()),
        Err(error) => return Err(refused(error.to_string())),
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let found = file.metadata().map_err(|error| refused(error.to_string()))?;
        if !found.is_file() || found.permissions().mode() & 0o022 != 0 {
            return Err(refused("others than its owner may have written it".to_owned()));
        }
    }
    let mut bytes = Vec::new();
    file.take(SIZE_LIMIT).read_to_end(&mut bytes).map_err(|error| refused(error.to_string()))?;
    AllowedDestinations::read(&bytes).map_err(refused)
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let Some(folder) = path.parent() else { return Err(io::ErrorKind::InvalidInput.into()) };
    fs::create_dir_all(folder)?;
    // A temporary file has mode 0600.
    let mut staged = Builder::new().prefix(".stepmark-").tempfile_in(folder)?;
    staged.write_all(bytes)?;
    staged.as_file().sync_all()?;
    staged.persist(path).map_err(|error| error.error)?;
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    Ok(())
}
