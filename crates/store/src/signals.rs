//! Signs of life: small files of agents in the local state, replaced and never flushed.

#[cfg(feature = "write")]
use std::io;

#[cfg(feature = "write")]
use crate::commit::{FsyncPolicy, replace_state_file};
use crate::disk::{Root, local_state::StateFolder, names_in, own_file};
use stepmark_model::records::{Signal, Signals};

const LIMIT: u64 = 64 * 1024;

/// Skips unreadable ones: an agent repeats its own.
pub(crate) fn read_signals(root: &Root, system: &str) -> Signals {
    let Ok(folder) = root.state().folder(StateFolder::Signals) else { return Signals::new() };
    let read = |name: String| {
        name.strip_prefix(system)?.strip_prefix('-')?;
        let bytes = own_file::read(&folder, name.as_ref(), LIMIT).ok()?;
        let signal: Signal = serde_json::from_slice(&bytes).ok()?;
        Some((signal.agent.clone(), signal))
    };
    names_in(&folder).unwrap_or_default().into_iter().filter_map(read).collect()
}

/// `name` is the file's.
#[cfg(feature = "write")]
pub(crate) fn write_signal(root: &Root, (system, name): (&str, &str), signal: &Signal) -> io::Result<()> {
    let folder = root.state().make(StateFolder::Signals).map_err(io::Error::other)?;
    replace_state_file(
        &folder,
        &format!("{system}-{name}.json"),
        &serde_json::to_vec(signal)?,
        FsyncPolicy::Never,
    )
}
