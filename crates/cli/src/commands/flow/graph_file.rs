//! A graph in a file, which may stand outside of the project.

#![expect(clippy::disallowed_methods, reason = "an edge module: a file that a person names is read here")]

use std::{fs, io, path::Path};
use stepmark_store::flows::unusable_graph;

use serde_json::Value as Json;
use stepmark_model::flows::Graph;

use crate::{
    exit::{Exit, Failure},
    project::Project,
};

const SIZE_LIMIT: u64 = 4 << 20;

pub(crate) fn read(project: &Project, file: &Path) -> Result<Graph, Failure> {
    graph_in(&text(project, file)?, file)
}

pub(crate) fn text(project: &Project, file: &Path) -> Result<String, Failure> {
    let place = project.place(file);
    // A pipe would be waited for, a device never ends.
    let text = || match fs::metadata(&place)? {
        found if !found.is_file() => Err(io::Error::other("it is not a regular file")),
        found if found.len() > SIZE_LIMIT => Err(io::Error::other("it has more than 4 MiB")),
        _ => fs::read_to_string(&place),
    };
    text().map_err(|error| Failure::new(Exit::Io, format!("cannot read `{}`: {error}", file.display())))
}

pub(crate) fn graph_in(text: &str, file: &Path) -> Result<Graph, Failure> {
    let shown = file.display();
    let unreadable = |error: &dyn std::fmt::Display| {
        Failure::new(Exit::Findings, format!("`{shown}` is no graph in YAML or JSON: {error}"))
    };
    // A mapping of YAML refuses a key that stands twice, one of JSON would drop the first.
    let value: serde_yaml::Value = serde_yaml::from_str(text).map_err(|error| unreadable(&error))?;
    let value: Json = serde_json::to_value(value).map_err(|error| unreadable(&error))?;
    let id = value["id"].as_str().unwrap_or_default().to_owned();
    Graph::read(&value).map_err(|source| unusable_graph(&id, source).into())
}
