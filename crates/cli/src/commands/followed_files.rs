//! Messages and JSON about the files that follow the records of a system.

use stepmark_model::records::{Drift, DriftChange};
use stepmark_store::projection::Followed;

use crate::{exit::Exit, output::Output};

pub(crate) fn told<K>(files: &Followed<Drift<K>>, system: &str, output: &Output) -> Exit {
    for drift in &files.drift {
        let removes = if drift.change == DriftChange::Removed { " --remove" } else { "" };
        output.warning(format_args!(
            "`{}` was {} in a state file, and stays there so: `stepmark import {system} --take file{removes}` takes it, \
             `stepmark {system} project --overwrite {}` gives it up",
            drift.id,
            drift.change.name(),
            drift.id
        ));
    }
    if let Some(behind) = &files.behind {
        output.warning(format_args!("the change is made, and what follows it is not: {behind}"));
    }
    for kept in &files.kept {
        output.warning(format_args!(
            "a state file could not be read and was made again; what stood there: {kept}"
        ));
    }
    Exit::Fine
}
