//! The result of a projection, and how it is told.

use super::Projection;
use crate::output::{Output, wording};

#[derive(Debug, Default)]
pub(super) struct Done {
    /// The number of artifacts, files or entries that it is made of.
    pub(super) artifacts: usize,
    pub(super) noun: &'static str,
    pub(super) written: usize,
    pub(super) removed: usize,
    pub(super) unchanged: usize,
    /// The problems: what could not be taken into it, a line each.
    pub(super) problems: Vec<String>,
    /// The warnings: what else there is to look at, a line each.
    pub(super) warnings: Vec<String>,
    /// The remarks: what was written, a line each, where that is worth telling.
    pub(super) remarks: Vec<String>,
    /// Places of files that stand in the way, for people.
    pub(super) excerpts: Vec<String>,
    pub(super) more: serde_json::Value,
}

pub(super) fn report(output: &Output, done: &[(Projection, Done)]) {
    if output.json {
        let projections: Vec<_> = done
            .iter()
            .map(|(projection, done)| {
                let mut wire = serde_json::json!({
                    "name": projection.name(),
                    "artifacts": done.artifacts,
                    "written": done.written,
                    "removed": done.removed,
                    "unchanged": done.unchanged,
                    "problems": done.problems,
                    "warnings": done.warnings,
                });
                if let (Some(wire), Some(more)) = (wire.as_object_mut(), done.more.as_object()) {
                    wire.extend(more.clone());
                }
                wire
            })
            .collect();
        output.json("stepmark.project/1", serde_json::json!({"projections": projections}));
    }
    for (projection, done) in done {
        done.remarks.iter().for_each(|line| output.remark(line));
        done.excerpts.iter().for_each(|excerpt| output.styled_line(excerpt));
        done.problems.iter().chain(&done.warnings).for_each(|line| output.warning(line));
        output.remark(format_args!(
            "{}: {}, {} written, {} removed, {} unchanged",
            projection.name(),
            wording::count(done.artifacts, done.noun),
            done.written,
            done.removed,
            done.unchanged,
        ));
    }
}
