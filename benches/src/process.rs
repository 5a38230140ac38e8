//! Processes that are timed.

use std::{
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use crate::failure::Failure;

/// The time that the process takes from its start to its end; it must succeed.
pub(crate) fn time(command: &mut Command) -> Result<Duration, Failure> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let started = Instant::now();
    let output = command.output();
    let took = started.elapsed();
    checked(command, output)?;
    Ok(took)
}

/// The output of the process; it must succeed.
pub(crate) fn stdout(command: &mut Command) -> Result<String, Failure> {
    let output = command.stdin(Stdio::null()).output();
    let output = checked(command, output)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn checked(command: &Command, output: std::io::Result<Output>) -> Result<Output, Failure> {
    let failed = |reason: String| Failure::Process { command: format!("{command:?}"), reason };
    let output = output.map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        Ok(output)
    } else {
        Err(failed(format!("{}\n{}", output.status, String::from_utf8_lossy(&output.stderr))))
    }
}
