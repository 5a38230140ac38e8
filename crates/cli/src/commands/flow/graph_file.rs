//! A graph in a file, which may stand outside of the project.

#![expect(clippy::disallowed_methods, reason = "an edge module: a file that a person names is read here")]

use std::{fs, path::Path};

use serde_json::Value as Json;
use stepmark_model::flows::Graph;
use stepmark_store::flows::FlowError;

use crate::{
    exit::{Exit, Failure},
    project::Project,
};

/// The graph in a file, in YAML or JSON.
pub(crate) fn read(project: &Project, file: &Path) -> Result<Graph, Failure> {
    graph_in(&text(project, file)?, file)
}

/// The text of a file.
pub(crate) fn text(project: &Project, file: &Path) -> Result<String, Failure> {
    fs::read_to_string(project.place(file))
        .map_err(|error| Failure::new(Exit::Io, format!("cannot read `{}`: {error}", file.display())))
}

/// The graph that `text`, that of `file`, is.
pub(crate) fn graph_in(text: &str, file: &Path) -> Result<Graph, Failure> {
    let shown = file.display();
    let unreadable = |error: &dyn std::fmt::Display| {
        Failure::new(Exit::Findings, format!("`{shown}` is no graph in YAML or JSON: {error}"))
    };
    // A mapping of YAML refuses a key that stands twice, one of JSON would drop the first.
    let value: serde_yaml::Value = serde_yaml::from_str(text).map_err(|error| unreadable(&error))?;
    let value: Json = serde_json::to_value(value).map_err(|error| unreadable(&error))?;
    let id = value["id"].as_str().unwrap_or_default().to_owned();
    Graph::read(&value).map_err(|source| FlowError::Graph { id, source }.into())
}
