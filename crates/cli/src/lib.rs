//! The commands of stepmark: parse → library → report. Nothing here decides about state; that is stepmark-core.

use std::process::ExitCode;

/// Runs the program with the arguments of the process.
pub fn run() -> ExitCode {
    ExitCode::SUCCESS
}
