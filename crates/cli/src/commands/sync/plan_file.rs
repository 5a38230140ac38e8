//! A plan as a file.
#![expect(clippy::disallowed_methods, reason = "an edge: a person names a file for a plan")]

use std::{fs, path::Path};

use stepmark_sync::plan::Plan;

use crate::exit::{Exit, Failure};

/// Writes a plan. It is no state: where that is cut off, reading it says so.
pub(super) fn write(file: &Path, plan: &Plan) -> Result<(), Failure> {
    let failed =
        |reason: String| Failure::new(Exit::Io, format!("cannot write `{}`: {reason}", file.display()));
    let json = serde_json::to_string_pretty(plan).map_err(|error| failed(error.to_string()))?;
    fs::write(file, json + "\n").map_err(|error| failed(error.to_string()))
}

/// Reads one.
pub(super) fn read(file: &Path) -> Result<Plan, Failure> {
    let json = fs::read_to_string(file)
        .map_err(|error| Failure::new(Exit::Io, format!("cannot read `{}`: {error}", file.display())))?;
    Ok(Plan::read(&json)?)
}
