//! The process environment, read once and passed on as values.
#![expect(
    clippy::disallowed_methods,
    reason = "the edge of the program: folder, environment and random ids enter here"
)]

use std::{
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
};

use stepmark_model::{journal::Attribution, packs::MOST_BYTES};
use stepmark_store::{configuration::ConfigurationSources, workspace::Clock};

use crate::{
    attribution::{self, ActorSource},
    exit::{Exit, Failure},
};

/// XDG Base Directory Specification.
const CONFIGURATION: &str = "XDG_CONFIG_HOME";
const STATE: &str = "XDG_STATE_HOME";

#[derive(Clone)]
pub(crate) struct Environment {
    pub(crate) current_folder: PathBuf,
    pub(crate) configuration: ConfigurationSources,
    /// Without flags.
    pub(crate) attribution: (Attribution, ActorSource),
    /// `STEPMARK_TEST_HOST` fixes it; `none`: without a name.
    pub(crate) host: Option<String>,
    /// `STEPMARK_TEST_TIME` stops it: tests compare whole files.
    pub(crate) clock: Clock,
    /// The command never needs the actor.
    pub(crate) only_looks: bool,
}

impl Environment {
    pub(crate) fn read() -> Result<Self, Failure> {
        let current_folder = std::env::current_dir()
            .map_err(|error| Failure::new(Exit::Io, format!("cannot find the current folder: {error}")))?;
        let configuration = ConfigurationSources {
            user_file: user_file(),
            environment: configuration_variables()?,
            flags: Vec::new(),
        };
        let attribution = attribution::from_variables(variable)?;
        let clock = variable("STEPMARK_TEST_TIME")?.map_or(Ok(Clock::System), |time| fixed_clock(&time))?;
        Ok(Self { current_folder, configuration, attribution, host: host()?, clock, only_looks: false })
    }

    pub(crate) fn exists(path: &Path) -> bool {
        path.exists()
    }

    /// Limited to the size of a pack.
    pub(crate) fn read_file(path: &Path) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() > MOST_BYTES {
            return Err(std::io::Error::other(format!("it has more than {MOST_BYTES} bytes")));
        }
        Ok(bytes)
    }

    pub(crate) fn words() -> impl Iterator<Item = String> {
        let words = std::env::args_os().skip(1).filter_map(|word| word.into_string().ok());
        words.filter(|word| !word.starts_with('-'))
    }

    pub(crate) fn names_file_below(&self, folder: &Path) -> bool {
        let given = std::env::args_os().skip(1).map(|argument| self.current_folder.join(argument));
        let mut real = given.filter_map(|place| place.canonicalize().ok());
        real.any(|place| place.starts_with(folder))
    }

    pub(crate) fn is_folder(path: &Path) -> bool {
        path.is_dir()
    }
}

fn host() -> Result<Option<String>, Failure> {
    if let Some(host) = variable("STEPMARK_TEST_HOST")? {
        return Ok(Some(host).filter(|host| host != "none"));
    }
    for name in ["HOSTNAME", "COMPUTERNAME"] {
        if let Some(host) = variable(name)? {
            return Ok(Some(host));
        }
    }
    let told = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    Ok(Some(told.trim().to_owned()).filter(|host| !host.is_empty()))
}

/// A relative `XDG_CONFIG_HOME` is ignored (XDG Base Directory Specification).
fn user_file() -> Option<PathBuf> {
    let folder = configuration_folder().or_else(|| home().ok().map(|home| home.join(".config")))?;
    Some(folder.join("stepmark").join("config.yaml"))
}

pub(crate) fn home() -> Result<PathBuf, Failure> {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    home.ok_or_else(|| Failure::new(Exit::Usage, "the environment variable HOME names no absolute path"))
}

pub(crate) fn configuration_folder() -> Option<PathBuf> {
    named_folder(CONFIGURATION)
}

fn named_folder(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|folder| folder.is_absolute())
}

fn configuration_variables() -> Result<Vec<(String, String)>, Failure> {
    let mut variables = Vec::new();
    for (name, value) in std::env::vars_os() {
        let Some(name) = name.to_str().filter(|name| name.starts_with("STEPMARK_")) else { continue };
        let value = value.into_string().map_err(|_| {
            Failure::new(Exit::Usage, format!("the environment variable `{name}` is not UTF-8"))
        })?;
        if !value.is_empty() {
            variables.push((name.to_owned(), value));
        }
    }
    Ok(variables)
}

/// An empty one counts as unset.
fn variable(name: &str) -> Result<Option<String>, Failure> {
    let Some(value) = std::env::var_os(name).filter(|value| !value.is_empty()) else { return Ok(None) };
    let not_text = |_| Failure::new(Exit::Usage, format!("the environment variable {name} is no UTF-8"));
    value.into_string().map(Some).map_err(not_text)
}

fn fixed_clock(time: &str) -> Result<Clock, Failure> {
    let not_a_time = |error: jiff::Error| {
        Failure::new(Exit::Usage, format!("the environment variable STEPMARK_TEST_TIME is no time: {error}"))
            .with_help("write it as in 2026-11-22T10:00:00Z, or unset it")
    };
    time.parse().map(Clock::Fixed).map_err(not_a_time)
}

/// XDG Base Directory Specification.
pub(crate) fn state_folder() -> Result<PathBuf, Failure> {
    let folder = match named_folder(STATE) {
        Some(folder) => folder,
        None => home()?.join(".local").join("state"),
    };
    Ok(folder.join("stepmark"))
}

pub(crate) fn random() -> u64 {
    let (high, low) = uuid::Uuid::new_v4().as_u64_pair();
    // The first two bits of the lower half are the UUID variant.
    low << 2 | high & 3
}

/// UUID version 4 (RFC 9562). `STEPMARK_TEST_ID` fixes it: tests compare whole files.
pub(crate) fn new_id() -> String {
    std::env::var("STEPMARK_TEST_ID").unwrap_or_else(|_| uuid::Uuid::new_v4().to_string())
}
