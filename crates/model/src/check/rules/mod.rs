//! Rule tables, a file per group; texts and examples are in the Markdown file beside each.

macro_rules! rules {
    ($group:ident; $($vis:vis $rule:ident $id:literal $name:literal $severity:ident $decision:expr;)+) => {
        $($vis static $rule: $crate::check::Rule = $crate::check::Rule::new(
            $id,
            $name,
            $crate::check::Group::$group,
            $crate::check::Severity::$severity,
            $decision,
        );)+
        pub(crate) const RULES: &[&$crate::check::Rule] = &[$(&$rule),+];
    };
}

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
pub mod bmad;
pub(crate) mod coordination;
pub(crate) mod flows;
pub mod memory;
pub mod systems;
#[cfg(test)]
pub(crate) mod sample;

use crate::artifact::Artifact;
pub(crate) use crate::spelling::argument;
use stepmark_frontmatter::{Span, Yaml};

/// Falls back to the nearest parent.
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
