//! Workflows: outlines from file names, and details from contents.

use std::fmt;

use super::{Chain, OutputPattern, Progress, StepId, StepRecord};
use crate::artifact::ProjectPath;
use serde::{Deserialize, Serialize};

/// From entries and first steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkflowDetail {
    /// `name:` of entries: one, or one per track (`create-prd`, `edit-prd`).
    pub names: Vec<String>,
    pub outputs: Vec<OutputPattern>,
}

#[derive(Clone, Debug)]
pub struct WorkflowDefinition {
    pub name: String,
    pub chain: Chain,
    pub siblings: Vec<(Track, StepId)>,
}

impl WorkflowDefinition {
    pub fn declared(name: impl Into<String>, steps: &[impl AsRef<str>]) -> Self {
        Self { name: name.into(), chain: Chain::declared(Track::Create, steps), siblings: Vec::new() }
    }

    pub fn progress(&self, record: &StepRecord<'_>) -> Progress<'_> {
        Progress::read(&self.chain, &self.siblings, record)
    }
}

/// From file names alone.
///
/// Enough to bind most artifacts, and to know the few files to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkflowOutline {
    pub folder: ProjectPath,
    /// Distinguishes workflows of one folder: `market` for `research/market-steps`.
    pub variant: Option<String>,
    /// `workflow.md`, `workflow-create-prd.md`, `SKILL.md`.
    pub entries: Vec<ProjectPath>,
    /// Markdown files with `template` in the name, in the folder or in `templates/`.
    pub templates: Vec<ProjectPath>,
    /// Create first.
    pub chains: Vec<ChainOutline>,
    /// Folders with the same workflow.
    pub copies: Vec<ProjectPath>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainOutline {
    pub track: Track,
    pub folder: ProjectPath,
    pub steps: Vec<StepOutline>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepOutline {
    pub path: ProjectPath,
    pub id: StepId,
}

impl WorkflowOutline {
    pub fn chain(&self, track: Track) -> Option<&ChainOutline> {
        self.chains.iter().find(|chain| chain.track == track)
    }

    /// Of other tracks, for [`super::Progress::read`].
    pub fn siblings(&self, track: Track) -> Vec<(Track, StepId)> {
        let others = self.chains.iter().filter(|chain| chain.track != track);
        others.flat_map(|chain| chain.steps.iter().map(|step| (chain.track, step.id.clone()))).collect()
    }

    /// For display and configuration: the folder name (`create-prd`, `bmad-market-research`), with the
    /// variant if that is missing in it (`market-research` for `research/market-steps`).
    pub fn name(&self) -> String {
        let folder = self.folder.file_name();
        match &self.variant {
            Some(variant) if !folder.split('-').any(|word| word == variant) => format!("{variant}-{folder}"),
            _ => folder.to_owned(),
        }
    }

    pub fn holds_steps_in(&self, folder: &ProjectPath) -> bool {
        self.chains.iter().any(|chain| chain.folder == *folder)
    }

    pub(crate) fn has_numbers(&self) -> bool {
        self.chains.iter().flat_map(|chain| &chain.steps).any(|step| step.id.number().is_some())
    }

    /// Entries and first steps: they name the workflow and its output.
    pub fn telling_files(&self) -> Vec<&ProjectPath> {
        let number = |step: &&StepOutline| (step.id.number().is_none(), step.id.number());
        let first = self.chains.iter().filter_map(|chain| chain.steps.iter().min_by_key(number));
        self.entries.iter().chain(first.map(|step| &step.path)).collect()
    }

    /// Step file names by track: equal for copies of a workflow.
    pub(crate) fn signature(&self) -> Vec<(Track, Vec<&str>)> {
        fn names(chain: &ChainOutline) -> Vec<&str> {
            let mut names: Vec<&str> = chain.steps.iter().map(|step| step.path.file_name()).collect();
            names.sort_unstable();
            names
        }
        let mut signature: Vec<_> = self.chains.iter().map(|chain| (chain.track, names(chain))).collect();
        signature.sort_unstable();
        signature
    }
}

/// BMAD has a folder per mode (`steps-c`, `steps-e`, `steps-v`) and marks steps of the last two in their
/// names (`step-e-01-discovery`, `step-v-02b-parity-check`); docs/formats.md, "Lists of steps".
/// in their names (`step-e-01-discovery`, `step-v-02b-parity-check`); docs/formats.md, "Lists of steps".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Track {
    /// First writing: `steps`, `steps-c`, and other step folders.
    Create,
    /// Revision: `steps-e`, `step-e-NN`.
    Edit,
    /// Review, in `validationStepsCompleted`: `steps-v`, `step-v-NN`.
    Validate,
}

impl Track {
    /// `c`, `e` or `v`, as in `step-e-01`.
    pub(crate) fn from_marker(marker: char) -> Option<Self> {
        match marker {
            'c' => Some(Self::Create),
            'e' => Some(Self::Edit),
            'v' => Some(Self::Validate),
            _ => None,
        }
    }
}

impl fmt::Display for Track {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Create => "create",
            Self::Edit => "edit",
            Self::Validate => "validate",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) path: Option<ProjectPath>,
    /// The direct parent folder, as written.
    pub(crate) folder: Option<String>,
    pub(crate) file_name: String,
}

pub(crate) struct ReferenceBase<'base> {
    pub(crate) own_folder: Option<ProjectPath>,
    pub(crate) workflow_folder: &'base ProjectPath,
}

/// From a successor key or a link in prose; `None` without a Markdown file name.
///
/// Variables: docs/formats.md, "Step files". Ignores a `workflow_path` in the step file itself: it is
/// outdated after installation in another folder.
pub(crate) fn read(text: &str, base: &ReferenceBase<'_>) -> Option<Reference> {
    let text = text.trim().trim_matches(['`', '\'', '"']);
    let (holder, file_name) =
        text.rsplit_once('/').map_or((None, text), |(holder, name)| (Some(holder), name));
    let stem = file_name.strip_suffix(".md")?;
    if stem.is_empty() || file_name.contains(['{', '}']) {
        return None;
    }
    let folder = holder
        .and_then(|holder| holder.rsplit('/').next())
        .filter(|part| !part.is_empty() && !matches!(*part, "." | "..") && !part.contains(['{', '}']))
        .map(str::to_owned);
    Some(Reference { path: path(text, base), folder, file_name: file_name.to_owned() })
}

pub(crate) fn path(text: &str, base: &ReferenceBase<'_>) -> Option<ProjectPath> {
    if let Some(rest) = text.strip_prefix('{') {
        let (variable, rest) = rest.split_once('}')?;
        let rest = rest.strip_prefix('/')?;
        if rest.contains('{') {
            return None;
        }
        return match variable {
            "project-root" | "project_root" => ProjectPath::new(rest).ok(),
            "workflow_path" | "workflow-path" | "installed_path" | "skill-root" | "skill_root" => {
                base.workflow_folder.join(rest).ok()
            }
            _ => None,
        };
    }
    if text.contains('{') {
        return None;
    }
    match &base.own_folder {
        Some(folder) => folder.join(text).ok(),
        None => ProjectPath::new(text).ok(),
    }
}

/// Markdown files in prose, in order: `` `./step-02-x.md` ``, `{project-root}/_bmad/…/step-02-x.md`,
/// `[[bmad-snapshot:step-02-x.md]]`.
pub(crate) fn links(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices(".md").filter_map(|(dot, extension)| {
        let end = dot + extension.len();
        if text[end..].starts_with(|next: char| next.is_alphanumeric() || matches!(next, '-' | '_')) {
            return None;
        }
        let before = &text[..dot];
        let start = before
            .rfind(|letter: char| !is_path_letter(letter))
            .map_or(0, |at| at + before[at..].chars().next().map_or(0, char::len_utf8));
        (start < dot).then(|| &text[start..end])
    })
}

fn is_path_letter(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/' | '{' | '}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(path: &str) -> ProjectPath {
        ProjectPath::new(path).unwrap()
    }

    #[test]
    fn resolves_the_variables_of_every_release() {
        let workflow = folder("_bmad/prd");
        let base = ReferenceBase { own_folder: Some(folder("_bmad/prd/steps")), workflow_folder: &workflow };
        for (text, path, holder) in [
            ("./step-02-x.md", Some("_bmad/prd/steps/step-02-x.md"), None),
            ("step-02-x.md", Some("_bmad/prd/steps/step-02-x.md"), None),
            ("../steps-v/step-v-01.md", Some("_bmad/prd/steps-v/step-v-01.md"), Some("steps-v")),
            ("{workflow_path}/steps/step-02-x.md", Some("_bmad/prd/steps/step-02-x.md"), Some("steps")),
            ("{installed_path}/step-02-x.md", Some("_bmad/prd/step-02-x.md"), None),
            ("{skill-root}/steps-c/step-02-x.md", Some("_bmad/prd/steps-c/step-02-x.md"), Some("steps-c")),
            ("{project-root}/_bmad/a/steps/step-02-x.md", Some("_bmad/a/steps/step-02-x.md"), Some("steps")),
            ("{elsewhere}/steps/step-02-x.md", None, Some("steps")),
            ("`./step-02-x.md`", Some("_bmad/prd/steps/step-02-x.md"), None),
            ("../../../../step-02-x.md", None, None),
        ] {
            let reference = read(text, &base).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(reference.path.as_ref().map(ProjectPath::as_str), path, "{text}");
            assert_eq!(reference.folder.as_deref(), holder, "{text}");
        }
        for text in ["", "./", "step-02-x", "./step-{{n}}-x.md", ".md", "no step file: none"] {
            assert_eq!(read(text, &base), None, "{text:?}");
        }
    }

    #[test]
    fn finds_links_in_prose() {
        let text = "Load `./step-02-a.md`, or [[snapshot:step-03-b.md]] (see {x}/steps/step-é.md) not a.mdx .md\n\
                    then steps/step-04.md.";
        assert_eq!(
            links(text).collect::<Vec<_>>(),
            ["./step-02-a.md", "step-03-b.md", "{x}/steps/step-é.md", "steps/step-04.md"]
        );
    }
}
