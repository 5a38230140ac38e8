//! `stepmark memory status` and `rebuild`

use serde_json::json;
use stepmark_memory::{Memory, store::Counts};

use super::open;
use crate::{
    exit::{Exit, Failure},
    output::{Output, wording},
    project::Project,
};

const SCHEMA: &str = "stepmark.memory-status/1";

/// Shows how much is remembered.
pub(super) fn status(project: &Project, output: &Output) -> Result<Exit, Failure> {
    told(open(project)?.counts()?, project, output)
}

/// Makes the store anew.
pub(super) fn rebuild(project: &Project, output: &Output) -> Result<Exit, Failure> {
    told(Memory::rebuilt(&project.workspace)?.counts()?, project, output)
}

fn told(counts: Counts, project: &Project, output: &Output) -> Result<Exit, Failure> {
    let track = project.workspace.configuration().memory().track;
    output.json_or(
        SCHEMA,
        || json!({"counts": counts, "track": format!("{track:?}").to_lowercase()}),
        || {
            let count =
                |number: u64, word| wording::count(usize::try_from(number).unwrap_or(usize::MAX), word);
            output.line(format_args!(
                "{} ({} superseded), {}, {}; made of {}",
                count(counts.memories, "record"),
                counts.superseded,
                count(counts.nodes, "node"),
                count(counts.edges, "edge"),
                count(counts.events, "event"),
            ));
        },
    );
    Ok(Exit::Fine)
}
