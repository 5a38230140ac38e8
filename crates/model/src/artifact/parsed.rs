//! The state region of a file, parsed once for all that is read from it.

use super::{ProjectPath, body::conflict_below, state_region};
use stepmark_frontmatter::{Document, ParseError, RegionError, Span, Yaml};

/// The frontmatter of a document.
pub(super) enum Parsed<'b, 't> {
    /// There is none.
    Absent,
    /// It is never closed; this is the opening fence.
    Unclosed(Span),
    /// The heading above it stands nowhere, or several times.
    NoBlock(RegionError),
    /// It is no YAML.
    NotYaml(ParseError),
    /// It was parsed.
    Own(Yaml<'b>),
    /// Somebody else has parsed it.
    Given(&'t Yaml<'b>),
}

impl<'b> Parsed<'b, '_> {
    /// Of a file in which git left two versions of some lines of the body, too, nobody knows the state.
    pub(super) fn of(path: &ProjectPath, document: &Document<'b>) -> Self {
        if let Some(offset) = conflict_below(document) {
            return Self::NotYaml(ParseError::MergeConflict { offset });
        }
        match state_region(path).find(document) {
            Err(RegionError::NoFrontmatter) => Self::Absent,
            Err(RegionError::Unclosed { opening }) => Self::Unclosed(opening),
            Err(error) => Self::NoBlock(error),
            Ok(content) => Yaml::parse(document.bytes(), content).map_or_else(Self::NotYaml, Self::Own),
        }
    }

    /// The YAML; `None` where there is none that can be read.
    pub(super) fn yaml(&self) -> Option<&Yaml<'b>> {
        match self {
            Self::Own(yaml) => Some(yaml),
            Self::Given(yaml) => Some(yaml),
            Self::Absent | Self::Unclosed(_) | Self::NoBlock(_) | Self::NotYaml(_) => None,
        }
    }
}
