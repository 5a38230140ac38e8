//! Showing and adding slices of `stepmark asdd`.

use stepmark_store::{asdd::Asdd, records::SystemError};

use super::report;
use crate::{
    exit::{Exit, Failure},
    output::Output,
};

pub(super) fn show(asdd: &Asdd<'_>, slice: &str, output: &Output) -> Result<Exit, Failure> {
    let state = asdd.state()?;
    let unknown = || SystemError::Unknown { what: "slice", id: slice.to_owned() };
    report::slice(state.slice(slice).ok_or_else(unknown)?, output);
    Ok(Exit::Fine)
}

pub(super) fn add(
    asdd: &Asdd<'_>,
    id: Option<&str>,
    (name, kind): (&str, &str),
    status: &str,
    output: &Output,
) -> Result<Exit, Failure> {
    let prefix = if kind == "RETRO_SPEC" { "RETRO" } else { "SLICE" };
    let state = if id.is_none() { Some(asdd.state()?) } else { None };
    let is_free = |id: &String| state.as_ref().is_some_and(|state| state.slice(id).is_none());
    let mut free = (1u32..).map(|number| format!("{prefix}-{number:03}")).filter(is_free);
    loop {
        let given = id.map_or_else(|| free.next().unwrap_or_default(), str::to_owned);
        match asdd.add(&given, (name, kind), status) {
            // Somebody else has taken it since, or one that is gone had it.
            Err(SystemError::IdTaken { .. }) if id.is_none() => {}
            added => {
                let (slice, files) = added?;
                report::changed(&slice, &files, output);
                return Ok(Exit::Fine);
            }
        }
    }
}
