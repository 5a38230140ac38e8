//! `flows:` of the configuration: graphs of tasks are run in the project.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::configuration::scalars::{Count, FilePath};
use stepmark_model::artifact::ProjectPath;

/// `flows:`, as written. Its presence switches flows on.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(expecting = "a mapping with `folder` and `stale_seconds`")]
pub(super) struct FlowKeys {
    pub(super) folder: Option<FilePath>,
    pub(super) stale_seconds: Option<Count>,
}

/// The settings of flows.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FlowSettings {
    /// The folder of graphs, flows and executions: `flows`.
    pub folder: ProjectPath,
    /// The silence, in seconds, after which an attempt counts as crashed: 900.
    pub stale_seconds: NonZeroU32,
}

impl From<FlowKeys> for FlowSettings {
    #[expect(clippy::expect_used, reason = "the default is a path of a project, and a test reads it")]
    fn from(keys: FlowKeys) -> Self {
        let folder = keys.folder.map(|path| path.0).or_else(|| "flows".parse().ok());
        let stale = keys.stale_seconds.map_or(NonZeroU32::MIN.saturating_add(899), |count| count.0);
        Self { folder: folder.expect("a path"), stale_seconds: stale }
    }
}

#[cfg(test)]
mod tests {
    use super::{FlowKeys, FlowSettings};

    #[test]
    fn what_is_not_said_is_usual() {
        let settings = FlowSettings::from(FlowKeys::default());
        assert_eq!((settings.folder.as_str(), settings.stale_seconds.get()), ("flows", 900));
    }
}
