//! The region of a file that holds its state.

use super::{Artifact, ProjectPath};
use stepmark_frontmatter::{Node, Region, RegionError, Span, Yaml};
use stepmark_packs::lifecycle::RootKeys;

/// The file in which autodev keeps its state (docs/formats.md, "autodev").
const AUTODEV_FILE: &str = "_autodev_state.md";

const AUTODEV_BLOCK: &str = "Current Step";

/// The region that holds the state of the file at `path`: the frontmatter, but the lines below `## Current
/// Step` in a file called `_autodev_state.md`.
pub fn state_region(path: &ProjectPath) -> Region {
    match path.file_name() {
        AUTODEV_FILE => Region::Block(AUTODEV_BLOCK.to_owned()),
        _ => Region::Frontmatter,
    }
}

/// A file at `path` with the state `text`. Frontmatter stands above `body`; a block of the body stands alone.
pub fn file_with_state(path: &ProjectPath, text: &str, body: &[u8]) -> Vec<u8> {
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    match state_region(path) {
        Region::Block(title) => format!("## {title}\n{text}{end}").into_bytes(),
        Region::Frontmatter | Region::WholeFile => {
            [format!("---\n{text}{end}---\n").as_bytes(), body].concat()
        }
    }
}

impl Artifact {
    pub fn region(&self) -> Region {
        state_region(self.path())
    }

    pub fn has_state_region(&self) -> bool {
        let found = self.region().find(&self.document());
        !matches!(found, Err(RegionError::NoFrontmatter | RegionError::NoBlock { .. }))
    }

    pub fn state_span(&self) -> Option<Span> {
        self.region().find(&self.document()).ok()
    }

    /// That region as YAML; `None` where the file has none, or it cannot be read.
    pub fn state_yaml(&self) -> Option<Yaml<'_>> {
        Yaml::parse(self.bytes(), self.state_span()?).ok()
    }

    /// The keys of that region as lifecycles look at them; none where it cannot be read, which is a finding
    /// of `check`.
    pub fn root_keys(&self) -> RootKeys {
        self.state_yaml().map(|yaml| RootKeys::of(&yaml)).unwrap_or_default()
    }

    /// The tasks that a person has to do before the work goes on (`operator_actions` of bmad-loop).
    pub fn operator_actions(&self) -> Vec<String> {
        let yaml = self.state_yaml();
        let list = yaml.as_ref().and_then(|yaml| yaml.root()?.get("operator_actions"));
        let texts = list.map(Node::items).unwrap_or_default().iter().filter_map(Node::text);
        texts.map(|text| text.trim().to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::Problem;

    fn read(text: &str) -> Artifact {
        let path = ProjectPath::new("_docs/_autodev_state.md").unwrap();
        Artifact::read(path, text.as_bytes().to_vec())
    }

    #[test]
    fn the_state_of_autodev_stands_in_a_block_of_the_body() {
        let file =
            read("# Autodev State\n\n## Current Step\nflow: greenfield\nstatus: in_progress\nstep: 3\n");
        assert_eq!(file.state().status.as_ref().and_then(|status| status.filled()), Some("in_progress"));
        assert_eq!(
            file.state_value().unwrap(),
            serde_json::json!({"flow": "greenfield", "status": "in_progress", "step": 3})
        );
        assert!(file.is_tracked() && file.diagnoses().is_empty());
    }

    #[test]
    fn without_its_heading_the_state_is_hidden() {
        for (text, is_tracked) in
            [("# Autodev State\nstatus: x\n", true), ("## Current Step\n## Current Step\n", true)]
        {
            let file = read(text);
            let problems: Vec<_> = file.diagnoses().iter().map(|found| &found.problem).collect();
            assert!(matches!(problems[..], [Problem::NoStateBlock { .. }]), "{text}: {problems:?}");
            assert_eq!((file.is_tracked(), file.state_value().is_err()), (is_tracked, true), "{text}");
        }
    }
}
