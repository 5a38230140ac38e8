//! A document with its meaning: the typed view of its frontmatter.

use std::collections::HashSet;

use serde_json::Value as Json;

use super::{
    BodyStatus, Delegation, Diagnosis, Field, FieldKind, InputDocument, Problem, ProjectPath, STEPS_KEYS,
    Scope, StateUnreadable, Steps, Timestamp, ambiguity, body, digest::state_value, field, inputs,
};
use crate::artifact::FileHash;
use stepmark_frontmatter::{
    Document, Frontmatter, Node, NodeKind, ParseError, Yaml, heading_title, merge_conflict,
};

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

/// The key that names the project in every artifact of it.
const PROJECT_NAME_KEY: &str = "project_name";

/// The keys that make a file an artifact.
const STATE_KEYS: [&str; 9] = [
    "stepsCompleted:",
    "validationStepsCompleted:",
    "lastStep:",
    "currentStep:",
    "current_step:",
    "status:",
    "workflowType:",
    "stepmark_id:",
    "validationStatus:",
];

/// The state that the frontmatter of an artifact holds.
#[derive(Clone, Debug, Default)]
pub struct FrontmatterState {
    /// Completed steps; two lists in files that are validated too.
    pub steps: Vec<Steps>,
    /// `lastStep`.
    pub last_step: Option<Field>,
    /// `currentStep` and `current_step`.
    pub current_step: Vec<Field>,
    /// `status`, kept as text; a lifecycle says what it means.
    pub status: Option<Field>,
    /// `validationStatus`.
    pub validation_status: Option<Field>,
    /// `nextStep` and its kin: the step that is to come, as the artifact names it.
    pub next_steps: Vec<Field>,
    /// `workflowType`.
    pub workflow_type: Option<Field>,
    /// `research_type`, which tells the three research workflows apart.
    pub research_type: Option<Field>,
    /// Documents that the artifact was made from.
    pub input_documents: Vec<InputDocument>,
    /// `scope`: how big the work is.
    pub scope: Option<Field>,
    /// `scope_source`: who gave the scope.
    pub scope_source: Option<Field>,
    /// `scope_confidence`: how sure an AI was of it.
    pub scope_confidence: Option<Field>,
    /// `id`: the artifact's own id.
    pub id: Option<Field>,
    /// `stepmark_id`: the id that `track` gave to an artifact without one.
    pub stepmark_id: Option<Field>,
    /// `title`, else `name`, else `project_name` where the body has no heading: in a whole project that is
    /// the same.
    pub title: Option<Field>,
    /// `delegation`: its place in a chain of delegation.
    pub delegation: Option<Delegation>,
    /// All times.
    pub times: Vec<Timestamp>,
    /// All other keys of the root, in order. Nothing is done with them; they survive every edit.
    pub other_keys: Vec<String>,
    /// The `Status:` line of the body.
    pub body_status: Option<BodyStatus>,
}

impl FrontmatterState {
    /// The scope that `scope` names; `None` where nothing stands there.
    pub fn scope(&self) -> Option<Scope> {
        self.scope.as_ref().and_then(Field::filled).map(Scope::read)
    }
}

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

    /// Reads the bytes of the file at `path` together with its [state value](Self::state_value), from `tree` where somebody has parsed
    /// the frontmatter.
    pub fn read_with_value(path: ProjectPath, bytes: &[u8], tree: Option<&Yaml<'_>>) -> Self {
        Self::of(path, bytes.to_vec(), tree, true)
    }

    fn of(path: ProjectPath, bytes: Vec<u8>, tree: Option<&Yaml<'_>>, has_value: bool) -> Self {
        let document = Document::scan(&bytes);
        let parsed = if tree.is_none() { parse(&document, &bytes) } else { None };
        let parsed = tree.map(Ok).or_else(|| parsed.as_ref().map(Result::as_ref));
        let (state, diagnoses) = read_state(&bytes, &document, parsed);
        let value = has_value.then(|| Box::new(state_value(&document, parsed)));
        Self { path, bytes, state, diagnoses, value }
    }

    /// The frontmatter as JSON, times included: an object, `{}` where there is no frontmatter or an empty
    /// one. Line ends, comments and quoting are gone; numbers beyond JSON's reach and keys that are not text
    /// enter as text ([`Value::to_json`](stepmark_frontmatter::Value::to_json)).
    ///
    /// # Errors
    /// When the frontmatter does not say one thing to every reader: see [`StateUnreadable`].
    pub fn state_value(&self) -> Result<Json, StateUnreadable> {
        match &self.value {
            Some(value) => (**value).clone(),
            None => {
                let document = self.document();
                state_value(&document, parse(&document, &self.bytes).as_ref().map(Result::as_ref))
            }
        }
    }

    /// The path of the artifact in the project.
    pub const fn path(&self) -> &ProjectPath {
        &self.path
    }

    /// The bytes that were read.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The hash of these bytes.
    pub fn file_hash(&self) -> FileHash {
        FileHash::of(&self.bytes)
    }

    /// The bytes as a document.
    pub fn document(&self) -> Document<'_> {
        Document::scan(&self.bytes)
    }

    /// The state in the frontmatter.
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

    /// Returns whether the file holds workflow state, readable or not. Other Markdown files are none of our
    /// business.
    pub fn is_tracked(&self) -> bool {
        self.has_workflow_keys()
            || self.state.status.is_some()
            || self.is_story()
            || self.names_state_unreadably()
    }

    /// Returns whether a status word alone makes the file an artifact, as `status: published` does with a
    /// post.
    pub fn has_status_alone(&self) -> bool {
        let state = &self.state;
        let says_more = state.delegation.is_some() || state.scope.is_some() || state.body_status.is_some();
        state.status.is_some() && !says_more && !self.has_workflow_keys()
    }

    /// Returns whether a key stands there that only workflows write.
    const fn has_workflow_keys(&self) -> bool {
        let state = &self.state;
        !state.steps.is_empty()
            || state.last_step.is_some()
            || !state.current_step.is_empty()
            || state.workflow_type.is_some()
            || state.stepmark_id.is_some()
            || state.validation_status.is_some()
    }

    /// The title of the first heading of the body.
    pub fn first_heading(&self) -> Option<String> {
        first_heading(&self.document(), &self.bytes)
    }

    /// Returns whether frontmatter that no reader sees names a key of ours at the start of a line: then the
    /// file is an artifact that broke.
    fn names_state_unreadably(&self) -> bool {
        let is_broken = self.diagnoses.iter().any(|diagnosis| {
            matches!(
                diagnosis.problem,
                Problem::FenceUnclosed
                    | Problem::FrontmatterMisplaced
                    | Problem::NotYaml { .. }
                    | Problem::NotAMapping
                    | Problem::StepsInBody
            )
        });
        is_broken
            && STATE_KEYS.iter().any(|key| {
                memchr::memmem::find_iter(&self.bytes, key.as_bytes()).any(|at| {
                    at.checked_sub(1).is_none_or(|before| matches!(self.bytes[before], b'\n' | b'\r' | b' '))
                })
            })
    }

    /// Returns whether anything stands below the frontmatter but blanks, or what a template has there: headings,
    /// comments and lines with a placeholder (`{{project_name}}`), at least one of these.
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

fn first_heading(document: &Document<'_>, bytes: &[u8]) -> Option<String> {
    let lines = bytes[document.body().range()].split(|byte| matches!(byte, b'\n' | b'\r'));
    let title = lines.into_iter().find_map(|line| heading_title(line).filter(|title| !title.is_empty()))?;
    Some(String::from_utf8_lossy(title).into_owned())
}

/// The conflict that begins with the first line of a file: its frontmatter is on both sides.
fn begins_with_conflict(bytes: &[u8]) -> Option<Diagnosis> {
    bytes.starts_with(b"<<<<<<<").then_some(())?;
    let whole = stepmark_frontmatter::Span::new(0, bytes.len());
    let offset = merge_conflict(bytes, whole).filter(|at| *at == 0)?;
    let problem = Problem::NotYaml { error: ParseError::MergeConflict { offset } };
    Some(Diagnosis::new(problem, stepmark_frontmatter::Span::at(offset)))
}

/// The frontmatter of a file; `None` where there is none, or it is not closed.
fn parse<'a>(document: &Document<'_>, bytes: &'a [u8]) -> Option<Result<Yaml<'a>, ParseError>> {
    match document.frontmatter() {
        Frontmatter::Present { content, .. } => Some(Yaml::parse(bytes, content)),
        Frontmatter::Absent | Frontmatter::Unclosed { .. } => None,
    }
}

fn read_state(
    bytes: &[u8],
    document: &Document<'_>,
    parsed: Option<Result<&Yaml<'_>, &ParseError>>,
) -> (FrontmatterState, Vec<Diagnosis>) {
    let (mut state, mut diagnoses) = (FrontmatterState::default(), Vec::new());
    let found = &mut diagnoses;
    match document.frontmatter() {
        Frontmatter::Unclosed { opening } => found.push(Diagnosis::new(Problem::FenceUnclosed, opening)),
        Frontmatter::Absent => {
            let misplaced = document.misplaced_frontmatter();
            let misplaced = misplaced.map(|span| Diagnosis::new(Problem::FrontmatterMisplaced, span));
            found.extend(begins_with_conflict(bytes).or(misplaced));
        }
        Frontmatter::Present { content, .. } => {
            if document.has_byte_order_mark() {
                found.push(Diagnosis::new(Problem::ByteOrderMark, stepmark_frontmatter::Span::new(0, 3)));
            }
            if document.has_mixed_line_ends() {
                found.push(Diagnosis::new(Problem::LineEndsMixed, content));
            }
            match parsed {
                Some(Ok(yaml)) => read_frontmatter(bytes, yaml, &mut state, found),
                Some(Err(error)) => {
                    let at = stepmark_frontmatter::Span::at(error.offset());
                    found.push(Diagnosis::new(Problem::NotYaml { error: error.clone() }, at));
                }
                None => {}
            }
        }
    }
    let is_of_project = |title: &Field| title.key == PROJECT_NAME_KEY;
    // A heading that nobody filled in says nothing.
    let is_said = |heading: String| !(heading.starts_with("{{") && heading.ends_with("}}"));
    let says_more = |document| first_heading(document, bytes).is_some_and(is_said);
    if state.title.as_ref().is_some_and(is_of_project) && says_more(document) {
        state.title = None;
    }
    state.body_status = body::read(document, found);
    if let (Some(body), Some(status)) = (&state.body_status, &state.status)
        && !status.text.eq_ignore_ascii_case(&body.text)
    {
        let problem = Problem::StatusDisagrees { body: body.text.clone(), frontmatter: status.text.clone() };
        found.push(Diagnosis::new(problem, body.span));
    }
    found.sort_by_key(|diagnosis| diagnosis.span);
    (state, diagnoses)
}

fn read_frontmatter(bytes: &[u8], yaml: &Yaml<'_>, state: &mut FrontmatterState, found: &mut Vec<Diagnosis>) {
    let Some(root) = yaml.root() else { return };
    let NodeKind::Mapping { entries, .. } = &root.kind else {
        found.push(Diagnosis::new(Problem::NotAMapping, root.span));
        return;
    };
    if yaml.documents() > 1 {
        found.push(Diagnosis::new(Problem::SeveralDocuments, yaml.span()));
    }
    let repeated = yaml.duplicate_keys();
    for key in &repeated {
        let text = key.as_key().unwrap_or_default().to_owned();
        found.push(Diagnosis::new(Problem::KeyTwice { key: text }, key.span));
    }
    for alias in yaml.unresolved_aliases() {
        let NodeKind::Alias { name } = &alias.kind else { continue };
        found.push(Diagnosis::new(Problem::AliasUnresolved { name: name.to_string() }, alias.span));
    }
    let repeated: HashSet<_> = repeated.into_iter().map(std::ptr::from_ref).collect();
    for entry in entries {
        let Some(key) = entry.key.as_key() else { continue };
        diagnose_value(bytes, key, &entry.value, found);
        if !repeated.contains(&std::ptr::from_ref(&entry.key)) {
            read_entry(yaml, key, &entry.value, state, found);
        }
    }
    ambiguity::diagnose(yaml, found);
    if let [first, .., last] = state.current_step.as_slice()
        && first.text != last.text
    {
        found.push(Diagnosis::new(Problem::CurrentStepDisagrees { key: first.key.clone() }, last.span));
    }
}

fn read_entry(
    yaml: &Yaml<'_>,
    key: &str,
    node: &Node<'_>,
    state: &mut FrontmatterState,
    found: &mut Vec<Diagnosis>,
) {
    let node = field::followed(yaml, node);
    let field = || Field::read(key, node);
    if let Some(steps_key) = STEPS_KEYS.iter().find(|steps_key| **steps_key == key) {
        let at = usize::from(*steps_key != STEPS_KEYS[0]).min(state.steps.len());
        state.steps.insert(at, Steps::read(steps_key, yaml, node, found));
        return;
    }
    match key {
        "lastStep" => state.last_step = field(),
        "currentStep" | "current_step" => state.current_step.extend(field()),
        "nextStep" | "next_step" | "nextStepFile" | "next_step_file" => state.next_steps.extend(field()),
        "status" => {
            state.status = field().filter(|status| status.kind != FieldKind::Null);
            let is_text = state.status.as_ref().is_some_and(|status| status.kind == FieldKind::Text);
            if !is_text && !node.is_null() && !is_placeholder(node) {
                found.push(Diagnosis::new(Problem::StatusNotText, node.span));
            }
        }
        "validationStatus" => state.validation_status = field(),
        "workflowType" => state.workflow_type = field(),
        "research_type" => state.research_type = field(),
        "scope" if node.text().is_some() => state.scope = field(),
        "scope_source" => state.scope_source = field(),
        "scope_confidence" => state.scope_confidence = field(),
        "delegation" if !node.is_null() => state.delegation = Some(Delegation::read(yaml, node)),
        "id" => state.id = field(),
        "stepmark_id" => state.stepmark_id = field(),
        "title" => state.title = field(),
        "name" if state.title.as_ref().is_none_or(|title| title.key == PROJECT_NAME_KEY) => {
            state.title = field();
        }
        PROJECT_NAME_KEY if state.title.is_none() => state.title = field(),
        key if inputs::is_inputs_key(key) => state.input_documents.extend(inputs::read(yaml, node, found)),
        key if field::is_time_key(key) => state.times.extend(field()),
        key => state.other_keys.push(key.to_owned()),
    }
}

/// Oddities of a value that concern every key.
fn diagnose_value(bytes: &[u8], key: &str, node: &Node<'_>, found: &mut Vec<Diagnosis>) {
    if is_placeholder(node) {
        found.push(Diagnosis::new(Problem::TemplateUnfilled { key: key.to_owned() }, node.span));
    }
    if !field::is_plain(node) {
        return;
    }
    // ` #680`: a comment is set off by a blank on both sides, an issue number is not.
    let rest = &bytes[node.span.end..];
    let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let Some(comment) = rest[blanks..].strip_prefix(b"#") else { return };
    let line = &rest[..memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len())];
    if comment.first().is_some_and(u8::is_ascii_digit) && !node.span.is_empty() {
        let lost = String::from_utf8_lossy(line.trim_ascii()).into_owned();
        found.push(Diagnosis::new(Problem::CutByComment { key: key.to_owned(), lost }, node.span));
    }
}

/// `{ system-date }` and `{{date}}` are maps to YAML, `'{{date}}'` and `'{title}'` are text.
fn is_placeholder(node: &Node<'_>) -> bool {
    match &node.kind {
        NodeKind::Scalar { text, .. } => {
            let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
            inner.is_some_and(|inner| !inner.is_empty() && !inner.contains([':', ',', '"']))
        }
        NodeKind::Mapping { style: stepmark_frontmatter::CollectionStyle::Flow, entries } => {
            match entries.as_slice() {
                [only] => only.value.is_empty_value(),
                _ => false,
            }
        }
        _ => false,
    }
}
