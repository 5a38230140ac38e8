//! Artifacts: project files with their workflow state.

use super::{
    Diagnosis, FileHash, FrontmatterState, Problem, ProjectPath, StateUnreadable, Steps,
    body::conflict_below,
    digest::state_value,
    frontmatter_state::{first_heading, read_state},
};
use serde_json::{Map, Value as Json};
use stepmark_frontmatter::{
    Document, Edit, EditError, KeyPath, Node, ParseError, Region, RegionError, Span, Value, Yaml, apply,
};
use stepmark_packs::lifecycle::RootKeys;

/// Reading never fails; unreadable parts become diagnoses.
#[derive(Clone, Debug)]
pub struct Artifact {
    path: ProjectPath,
    bytes: Vec<u8>,
    state: FrontmatterState,
    diagnoses: Vec<Diagnosis>,
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
        state.kind = state.kind.or_else(|| super::body::of_file(&path));
        let value = has_value.then(|| Box::new(state_value(&parsed)));
        drop(parsed);
        Self { path, bytes, state, diagnoses, value }
    }

    /// The frontmatter as a JSON object, times included; `{}` if there is none. Numbers out of JSON's range
    /// and keys that are not text become text ([`Value::to_json`](stepmark_frontmatter::Value::to_json)).
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

    /// Unticked and total; `None` if all are ticked.
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

    /// `stepsCompleted` before `validationStepsCompleted`.
    pub fn steps(&self) -> Option<&Steps> {
        self.state.steps.first()
    }

    pub fn diagnoses(&self) -> &[Diagnosis] {
        &self.diagnoses
    }

    /// If not, only its path is known.
    pub fn is_readable(&self) -> bool {
        !self.diagnoses.iter().any(|diagnosis| diagnosis.problem.hides_state())
    }

    /// Has workflow state, readable or not; other Markdown files are ignored.
    pub fn is_tracked(&self) -> bool {
        self.has_workflow_keys()
            || self.state.status.is_some()
            || self.is_story()
            || self.state.kind.is_some()
            || self.names_state_unreadably()
    }

    /// `status` is the only workflow key, as `status: published` in a blog post.
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

    /// Unreadable frontmatter with a workflow key: a broken artifact.
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

    /// False for blanks only, and for a template: headings, comments and lines with a placeholder
    /// (`{{project_name}}`), at least one.
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
    Unclosed(Span),
    /// The heading above it is missing or repeated.
    NoBlock(RegionError),
    NotYaml(ParseError),
    Own(Yaml<'b>),
    Given(&'t Yaml<'b>),
}

impl<'b> Parsed<'b, '_> {
    /// Conflict markers in the body make the state unknown, too.
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

    pub(super) fn yaml(&self) -> Option<&Yaml<'b>> {
        match self {
            Self::Own(yaml) => Some(yaml),
            Self::Given(yaml) => Some(yaml),
            Self::Absent | Self::Unclosed(_) | Self::NoBlock(_) | Self::NotYaml(_) => None,
        }
    }
}

/// See docs/formats.md, "autodev".
const AUTODEV_FILE: &str = "_autodev_state.md";

const AUTODEV_BLOCK: &str = "Current Step";

/// The frontmatter; for `_autodev_state.md` the lines below `## Current Step`.
pub fn state_region(path: &ProjectPath) -> Region {
    match path.file_name() {
        AUTODEV_FILE => Region::Block(AUTODEV_BLOCK.to_owned()),
        _ => Region::Frontmatter,
    }
}

/// Frontmatter is put above `body`; a state block replaces it.
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

    pub fn state_yaml(&self) -> Option<Yaml<'_>> {
        Yaml::parse(self.bytes(), self.state_span()?).ok()
    }

    /// Empty if unreadable; `check` reports that.
    pub fn root_keys(&self) -> RootKeys {
        self.state_yaml().map(|yaml| RootKeys::of(&yaml)).unwrap_or_default()
    }

    /// `operator_actions` of bmad-loop: tasks for a person before work continues.
    pub fn operator_actions(&self) -> Vec<String> {
        let yaml = self.state_yaml();
        let list = yaml.as_ref().and_then(|yaml| yaml.root()?.get("operator_actions"));
        let texts = list.map(Node::items).unwrap_or_default().iter().filter_map(Node::text);
        texts.map(|text| text.trim().to_owned()).collect()
    }
}

/// Minimal edits: only the changed entry of a mapping, only new items of a list that grew; else the whole
/// value.
pub fn state_edits(before: &Map<String, Json>, after: &Map<String, Json>) -> Vec<Edit> {
    let gone = before.keys().filter(|key| !after.contains_key(*key));
    let gone = gone.map(|key| Edit::Remove { path: KeyPath::key(key) });
    let differs = after.iter().filter(|(key, value)| before.get(*key) != Some(value));
    let set = differs.flat_map(|(key, value)| {
        let (path, old) = (KeyPath::key(key), before.get(key));
        if let Some(new) = old.and_then(|old| new_items(old, value)) {
            let append = |item| Edit::Append { path: path.clone(), item: Value::from_json(item) };
            return new.iter().map(append).collect();
        }
        vec![match old.and_then(|old| only_difference(old, value)) {
            Some((inner, value)) => Edit::Set { path: path.then(inner), value: Value::from_json(value) },
            None => Edit::Set { path, value: Value::from_json(value) },
        }]
    });
    set.chain(gone).collect()
}

pub fn state_file(frontmatter: &Map<String, Json>, body: &str) -> Result<Vec<u8>, EditError> {
    let set = |(key, value): (&String, &Json)| Edit::Set {
        path: KeyPath::key(key),
        value: Value::from_json(value),
    };
    let edits: Vec<Edit> = frontmatter.iter().map(set).collect();
    Ok(apply(format!("---\n---\n{body}").as_bytes(), &Region::Frontmatter, &edits)?.bytes)
}

/// New items, if `new` begins with the items of `old`.
fn new_items<'v>(old: &Json, new: &'v Json) -> Option<&'v [Json]> {
    let (old, new) = (old.as_array()?, new.as_array()?);
    (!old.is_empty() && new.starts_with(old)).then(|| &new[old.len()..])
}

/// `None` for several differences, or a removed entry.
fn only_difference<'v>(old: &Json, new: &'v Json) -> Option<(&'v str, &'v Json)> {
    let (old, new) = (old.as_object()?, new.as_object()?);
    let mut differing = new.iter().filter(|(key, value)| old.get(*key) != Some(value));
    let (key, value) = differing.next()?;
    let is_only = differing.next().is_none() && old.keys().all(|key| new.contains_key(key));
    (is_only && !old.is_empty()).then_some((key, value))
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

#[cfg(test)]
mod state_edits_tests {
    use super::*;

    #[test]
    fn only_what_differs_is_edited() {
        for (before, after, edits) in [
            ("a: [1] # one\nb: {c: 1, d: 2}", "a: [1, 2]\nb: {c: 1, d: 3}", 2),
            ("a: [1, 2]\nb: 1", "a: [2]", 2),
            ("a: []", "a: [{b: 1}]", 1),
            ("a: 1", "a: 1", 0),
        ] {
            let read = |text: &str| serde_yaml::from_str::<Map<String, Json>>(text).unwrap();
            let (old, new) = (read(before), read(after));
            let made = state_edits(&old, &new);
            assert_eq!(made.len(), edits, "{before} → {after}");
            let file = format!("---\n{before}\n---\nBody\n");
            let edited = apply(file.as_bytes(), &Region::Frontmatter, &made).unwrap().bytes;
            let text = String::from_utf8(edited).unwrap();
            let inner = text.strip_prefix("---\n").and_then(|text| text.strip_suffix("---\nBody\n")).unwrap();
            assert_eq!(read(inner), new, "{text}");
            assert_eq!(state_edits(&read(inner), &new), [], "{text}");
        }
    }
}
