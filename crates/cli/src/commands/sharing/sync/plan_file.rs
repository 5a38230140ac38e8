//! A plan as a file.
#![expect(clippy::disallowed_methods, reason = "an edge: a person names a file for a plan")]

use std::{fs, io, path::Path};

use stepmark_sync::plan::Plan;

use crate::{
    exit::{Exit, Failure},
    published_file,
};

pub(super) fn write(file: &Path, plan: &Plan) -> Result<(), Failure> {
    let json = serde_json::to_string_pretty(plan)
        .map_err(|error| Failure::new(Exit::Io, format!("cannot write `{}`: {error}", file.display())))?;
    Ok(published_file::publish(file, (json + "\n").as_bytes(), is_plan)?)
}

fn is_plan(beginning: &[u8]) -> bool {
    let text = String::from_utf8_lossy(beginning);
    text.starts_with('{') && text.contains("\"schema\": \"stepmark.sync-plan/")
}

pub(super) fn read(file: &Path) -> Result<Plan, Failure> {
    let json = fs::read_to_string(file).map_err(|error| {
        let is_missing = error.kind() == io::ErrorKind::NotFound;
        let exit = if is_missing { Exit::Usage } else { Exit::Io };
        Failure::new(exit, format!("cannot read `{}`: {error}", file.display()))
    })?;
    Ok(Plan::read(&json)?)
}
