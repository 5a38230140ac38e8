//! An artifact: a file of the project with the state that it holds.

use super::frontmatter_state::{first_heading, read_state};
use super::{
    Diagnosis, FileHash, FrontmatterState, Problem, ProjectPath, StateUnreadable, Steps, state_region,
};
use super::{body::conflict_below, digest::state_value};
use serde_json::Value as Json;
use stepmark_frontmatter::{Document, ParseError, RegionError, Span, Yaml};

/// A file of the project with the state that its frontmatter holds. Reading never fails: what cannot be read
/// is a diagnosis, and what is unknown is kept as text.
#[derive(Clone, Debug)]
pub struct Artifact {
    path: ProjectPath,
    bytes: Vec<u8>,
    state: FrontmatterState,
    diagnoses: Vec<Diagnosis>,
    /// The state value, where it was read together with the rest.
    value: Option<Box<Result<Json, StateUnreadable>>>,
}

const STATE_KEYS: [&str; 10] = [
    "stepsCompleted:",
    "validationStepsCompleted:",
    "lastStep:",
    "currentStep:",
    "current_step:",
    "status:",
    "workflowType:",
    "stepmark_id:",
    "validationStatus:",
    "Status:",
];

impl Artifact {
    /// Reads the bytes of the file at `path`.
    ///
    /// ```
    /// use stepmark_model::artifact::{Artifact, ProjectPath};
    ///
    /// let file = b"---\nstepsCompleted: [1, 2]\nstatus: draft # draft | done\n---\n# PRD\n";
    /// let prd = Artifact::read(ProjectPath::new("docs/prd.md")?, file.to_vec());
    /// assert_eq!(prd.state().status.as_ref().and_then(|status| status.filled()), Some("draft"));
    /// assert_eq!(prd.steps().unwrap().spellings().collect::<Vec<_>>(), ["1", "2"]);
    /// assert!(prd.diagnoses().is_empty());
    /// # Ok::<(), stepmark_model::artifact::ProjectPathError>(())
    /// ```
    pub fn read(path: ProjectPath, bytes: Vec<u8>) -> Self {
        Self::of(path, bytes, None, false)
    }

    pub fn read_with_value(path: ProjectPath, bytes: &[u8], tree: Option<&Yaml<'_>>) -> Self {
        Self::of(path, bytes.to_vec(), tree, true)
    }

    fn of(path: ProjectPath, bytes: Vec<u8>, tree: Option<&Yaml<'_>>, has_value: bool) -> Self {
        let document = Document::scan(&bytes);
        let tree = tree.filter(|_| super::body::conflict_below(&document).is_none());
        let parsed = tree.map_or_else(|| Parsed::of(&path, &document), Parsed::Given);
        let (mut state, diagnoses) = read_state(&document, &parsed);
        state.kind = state.kind.or_else(|| super::kind::of_file(&path));
        let value = has_value.then(|| Box::new(state_value(&parsed)));
        drop(parsed);
        Self { path, bytes, state, diagnoses, value }
    }

    /// The frontmatter as JSON, times included: an object, `{}` where there is no frontmatter or an empty
    /// one. Line ends, comments and quoting are gone; numbers beyond JSON's reach and keys that are not text
    /// enter as text ([`Value::to_json`](stepmark_frontmatter::Value::to_json)).
    pub fn state_value(&self) -> Result<Json, StateUnreadable> {
        match &self.value {
            Some(value) => (**value).clone(),
            None => state_value(&Parsed::of(&self.path, &self.document())),
        }
    }

    pub const fn path(&self) -> &ProjectPath {
        &self.path
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn file_hash(&self) -> FileHash {
        FileHash::of(&self.bytes)
    }

    /// The number of boxes in its body that are not ticked, and of all; `None` where all are.
    pub fn open_boxes(&self) -> Option<(usize, usize)> {
        let body = String::from_utf8_lossy(&self.bytes[self.document().body().range()]);
        let boxes = super::body::boxes(&body);
        let open = boxes.iter().filter(|(_, is_ticked)| !is_ticked).count();
        (open > 0).then_some((open, boxes.len()))
    }

    pub fn document(&self) -> Document<'_> {
        Document::scan(&self.bytes)
    }

    pub const fn state(&self) -> &FrontmatterState {
        &self.state
    }

    /// The list of completed steps, `stepsCompleted` before `validationStepsCompleted`.
    pub fn steps(&self) -> Option<&Steps> {
        self.state.steps.first()
    }

    /// The diagnoses, in file order.
    pub fn diagnoses(&self) -> &[Diagnosis] {
        &self.diagnoses
    }

    /// Returns whether its frontmatter can be read. Else nothing is known of it but its path.
    pub fn is_readable(&self) -> bool {
        !self.diagnoses.iter().any(|diagnosis| diagnosis.problem.hides_state())
    }

    /// Returns whether the file holds workflow state, readable or not. Other Markdown files are none of our
    /// business.
    pub fn is_tracked(&self) -> bool {
        self.has_workflow_keys()
            || self.state.status.is_some()
            || self.is_story()
            || self.state.kind.is_some()
            || self.names_state_unreadably()
    }

    /// Returns whether a status word alone makes the file an artifact, as `status: published` does with a
    /// post.
    pub fn has_status_alone(&self) -> bool {
        let state = &self.state;
        let says_more = state.delegation.is_some() || state.scope.is_some() || state.body_status.is_some();
        state.status.is_some() && !says_more && !self.has_workflow_keys()
    }

    const fn has_workflow_keys(&self) -> bool {
        let state = &self.state;
        !state.steps.is_empty()
            || state.last_step.is_some()
            || !state.current_step.is_empty()
            || state.workflow_type.is_some()
            || state.stepmark_id.is_some()
            || state.validation_status.is_some()
    }

    pub fn first_heading(&self) -> Option<String> {
        first_heading(&self.document(), &self.bytes)
    }

    /// Returns whether frontmatter that no reader sees names a key of ours at the start of a line: then the
    /// file is an artifact that broke.
    fn names_state_unreadably(&self) -> bool {
        let is_broken = self
            .diagnoses
            .iter()
            .any(|diagnosis| diagnosis.problem.hides_state() || diagnosis.problem == Problem::StepsInBody);
        is_broken
            && STATE_KEYS.iter().any(|key| {
                memchr::memmem::find_iter(&self.bytes, key.as_bytes()).any(|at| {
                    at.checked_sub(1).is_none_or(|before| matches!(self.bytes[before], b'\n' | b'\r' | b' '))
                })
            })
    }

    /// Returns whether anything stands below the frontmatter but blanks, or what a template has there:
    /// headings, comments and lines with a placeholder (`{{project_name}}`), at least one of these.
    pub fn has_body(&self) -> bool {
        let body = &self.bytes[self.document().body().range()];
        let mut lines = body.split(|byte| matches!(byte, b'\n' | b'\r')).map(<[u8]>::trim_ascii);
        let (mut is_blank, mut has_placeholder) = (true, false);
        let is_of_template = lines.all(|line| {
            let holds_placeholder = line.windows(2).any(|pair| pair == b"{{");
            has_placeholder |= holds_placeholder;
            is_blank &= line.is_empty();
            holds_placeholder || line.is_empty() || line.starts_with(b"#") || line.starts_with(b"<!--")
        });
        !(is_of_template && (is_blank || has_placeholder))
    }
}

pub(super) enum Parsed<'b, 't> {
    Absent,
    /// It is never closed; this is the opening fence.
    Unclosed(Span),
    /// The heading above it stands nowhere, or several times.
    NoBlock(RegionError),
    NotYaml(ParseError),
    Own(Yaml<'b>),
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
