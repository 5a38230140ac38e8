//! The rules, one a file, in a folder for each group. A rule's id, its words and its examples stand beside
//! what it looks for.

pub mod suppression;
pub(crate) mod document;
pub(crate) mod steps;
pub mod status;
pub mod references;
pub(crate) mod delegation;
pub(crate) mod gates;
pub(crate) mod scope;
pub(crate) mod manifest;
pub mod history;
pub(crate) mod asdd;
pub(crate) mod autodev;
pub(crate) mod coordination;
pub(crate) mod flows;
pub mod memory;
pub mod systems;
#[cfg(test)]
pub(crate) mod sample;

use crate::artifact::Artifact;
pub(crate) use crate::spelling::argument;
use stepmark_frontmatter::{Span, Yaml};

/// The span of the value under `keys` of the state; where it is missing, that of what should hold it.
pub(crate) fn value_span(artifact: &Artifact, keys: &[&str]) -> Span {
    let yaml = artifact.state_yaml();
    let mut node = yaml.as_ref().and_then(Yaml::root);
    let mut span = node.map_or(Span::at(0), |root| root.span);
    for key in keys {
        node = node.and_then(|node| node.get(key));
        span = node.map_or(span, |node| node.span);
    }
    span
}
