//! Running the checks of a graph: commands of a shell, in the folder of the project.

#![expect(clippy::disallowed_methods, reason = "an edge module: the checks of a graph are started here")]

use std::{
    path::Path,
    process::{Command, Stdio},
};

use stepmark_model::{
    artifact::FileHash,
    flows::{Check, CheckResult},
};

use crate::exit::{Exit, Failure};

/// Runs a check in `folder`. What it prints is kept as a digest.
pub(super) fn run(folder: &Path, check: &Check) -> Result<CheckResult, Failure> {
    let (shell, option) = if cfg!(windows) { ("cmd", "/C") } else { ("/bin/sh", "-c") };
    let output = Command::new(shell)
        .args([option, &check.command])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Failure::new(Exit::Io, format!("cannot run the check `{}`: {error}", check.name)))?;
    let printed = [output.stdout, output.stderr].concat();
    Ok(CheckResult {
        name: check.name.clone(),
        command: check.command.clone(),
        passed: output.status.success(),
        required: check.required,
        exit_status: output.status.code().map(i64::from),
        output_digest: Some(FileHash::of(&printed).to_string()),
    })
}
