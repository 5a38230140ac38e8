//! The files that follow: writing, another option, and the state file of option C.

use std::collections::BTreeSet;

use serde_json::json;
use stepmark_model::{artifact::ProjectPath, coordination::Format, records::RecordSet as _};
use stepmark_store::coordination::{Coordination, Overwrite};

use super::report;
use crate::commands::followed_files;
use crate::{
    exit::{Exit, Failure},
    output::{Output, wording},
};

pub(super) fn project(
    coordination: &Coordination<'_>,
    overwrite: &Overwrite,
    output: &Output,
) -> Result<Exit, Failure> {
    if let Overwrite::Records(ids) = overwrite {
        refuse_unknown(coordination, ids)?;
    }
    let files = coordination.project(overwrite)?;
    output.json_or(
        "stepmark.coordination-files/1",
        || followed_files::wire(&files),
        || files.written.iter().for_each(|path| output.line(path)),
    );
    report::told(&files, output);
    Ok(if files.drift.is_empty() { Exit::Fine } else { Exit::Findings })
}

fn refuse_unknown(coordination: &Coordination<'_>, ids: &BTreeSet<String>) -> Result<(), Failure> {
    let (state, drift) = (coordination.state()?, coordination.drift()?);
    let is_known = |id: &&String| {
        state.records().any(|record| record.id == **id) || drift.iter().any(|drift| drift.id == **id)
    };
    match ids.iter().find(|id| !is_known(id)) {
        None => Ok(()),
        Some(id) => Err(Failure::new(
            Exit::Findings,
            format!("there is no record `{id}`, here or in the files that follow; nothing was written"),
        )
        .with_help("`stepmark coordination project` says which records other programs changed")),
    }
}

pub(super) fn convert(
    coordination: &Coordination<'_>,
    to: Format,
    dry_run: bool,
    output: &Output,
) -> Result<Exit, Failure> {
    let from = coordination.settings().option;
    if from == to {
        output.remark(format_args!("the project keeps option {to} already"));
        return Ok(Exit::Fine);
    }
    let drift = coordination.drift()?;
    if !drift.is_empty() {
        let ids: Vec<&str> = drift.iter().map(|drift| drift.id.as_str()).collect();
        return Err(Failure::new(
            Exit::Findings,
            format!("other programs changed {} in the files of option {from}", ids.join(", ")),
        )
        .with_help("take the changes with `stepmark import coordination`, or give them up with `stepmark coordination project --overwrite`"));
    }
    if dry_run {
        output.remark(format_args!("option {to} would follow, and the files of option {from} would go"));
        return Ok(Exit::Fine);
    }
    let (files, removed) = coordination.convert(to)?;
    output.json_or(
        "stepmark.coordination-files/1",
        || {
            let mut wire = followed_files::wire(&files);
            wire["removed"] = json!(removed.iter().map(ProjectPath::as_str).collect::<Vec<_>>());
            wire
        },
        || {
            files.written.iter().for_each(|path| output.line(path));
            removed.iter().for_each(|path| output.remark(format_args!("{path}: removed")));
        },
    );
    Ok(report::told(&files, output))
}

pub(super) fn save(coordination: &Coordination<'_>, output: &Output) -> Result<Exit, Failure> {
    wants_state_file(coordination)?;
    project(coordination, &Overwrite::None, output)
}

pub(super) fn checkpoint(
    coordination: &Coordination<'_>,
    name: &str,
    output: &Output,
) -> Result<Exit, Failure> {
    wants_state_file(coordination)?;
    let kept = coordination.checkpoint(name)?;
    output.line(kept);
    Ok(Exit::Fine)
}

pub(super) fn load(
    coordination: &Coordination<'_>,
    name: Option<&str>,
    output: &Output,
) -> Result<Exit, Failure> {
    wants_state_file(coordination)?;
    let place = match name {
        Some(name) => coordination.checkpoint_path(name)?,
        None => coordination.settings().state_file.clone(),
    };
    let found = coordination.survey(Some(&place))?;
    let survey = &found.survey;
    let missing: Vec<&str> =
        survey.rows.iter().filter(|row| row.file.is_none()).map(|row| row.id.as_str()).collect();
    // A copy that was kept is the whole state; a file that was not saved lately is not.
    let (count, _) = coordination.import(&found, true, name.is_some())?;
    let (count, same) = (wording::count(count, "record"), wording::count(survey.same, "record"));
    output.remark(format_args!("{place}: {count} written, {same} the same"));
    if !missing.is_empty() {
        let fate = if name.is_some() { "gone, as in the copy" } else { "kept, though the file has them not" };
        output.remark(format_args!("{}: {fate}", missing.join(", ")));
    }
    Ok(Exit::Fine)
}

fn wants_state_file(coordination: &Coordination<'_>) -> Result<(), Failure> {
    match coordination.settings().option {
        Format::OrchestratorState => Ok(()),
        other => Err(Failure::new(
            Exit::Findings,
            format!("the project keeps option {other}, whose files follow each change"),
        )
        .with_help("`stepmark coordination convert --to C` changes to the state file of option C")),
    }
}
