//! Typed access to the frontmatter of an artifact.

use std::collections::HashSet;

use super::{
    BodyStatus, Delegation, Diagnosis, Field, FieldKind, InputDocument, KIND_KEY, Kind, Problem, STEPS_KEYS,
    Scope, Steps, Timestamp,
    body::{self, KindFields},
    delegation, field,
    view::Parsed,
};
use stepmark_frontmatter::{
    CollectionStyle, Document, Frontmatter, Node, NodeKind, ParseError, Span, Yaml, heading_title,
    merge_conflict,
};

const PROJECT_NAME_KEY: &str = "project_name";

#[derive(Clone, Debug, Default)]
pub struct FrontmatterState {
    /// Two lists if the file is validated, too.
    pub steps: Vec<Steps>,
    pub last_step: Option<Field>,
    pub current_step: Vec<Field>,
    /// Its meaning depends on the lifecycle.
    pub status: Option<Field>,
    pub validation_status: Option<Field>,
    pub next_steps: Vec<Field>,
    pub workflow_type: Option<Field>,
    /// Distinguishes the three research workflows.
    pub research_type: Option<Field>,
    pub input_documents: Vec<InputDocument>,
    pub scope: Option<Field>,
    pub scope_source: Option<Field>,
    pub scope_confidence: Option<Field>,
    pub id: Option<Field>,
    /// Assigned by `track` to artifacts without an id.
    pub stepmark_id: Option<Field>,
    pub kind: Option<&'static Kind>,
    /// The title key of the kind; else `title`, `name`, or (in a body without heading) `project_name`, which
    /// all artifacts of a project share.
    pub title: Option<Field>,
    /// The agent key of the kind; else `assignee`, `agent` or `owner`.
    pub agent: Option<Field>,
    /// `delegation`; else made from the parent key of the kind.
    pub delegation: Option<Delegation>,
    pub times: Vec<Timestamp>,
    /// In order; kept by every edit.
    pub other_keys: Vec<String>,
    pub body_status: Option<BodyStatus>,
}

impl FrontmatterState {
    pub fn scope(&self) -> Option<Scope> {
        self.scope.as_ref().and_then(Field::filled).map(Scope::read)
    }
}

pub(super) fn first_heading(document: &Document<'_>, bytes: &[u8]) -> Option<String> {
    let lines = bytes[document.body().range()].split(|byte| matches!(byte, b'\n' | b'\r'));
    let title = lines.into_iter().find_map(|line| heading_title(line).filter(|title| !title.is_empty()))?;
    Some(String::from_utf8_lossy(title).into_owned())
}

/// The frontmatter is on both sides of the conflict.
fn begins_with_conflict(bytes: &[u8]) -> Option<Diagnosis> {
    bytes.starts_with(b"<<<<<<<").then_some(())?;
    let whole = Span::new(0, bytes.len());
    let offset = merge_conflict(bytes, whole).filter(|at| *at == 0)?;
    let problem = Problem::NotYaml { error: ParseError::MergeConflict { offset } };
    Some(Diagnosis::new(problem, Span::at(offset)))
}

pub(super) fn read_state(
    document: &Document<'_>,
    parsed: &Parsed<'_, '_>,
) -> (FrontmatterState, Vec<Diagnosis>) {
    let (mut state, mut diagnoses) = (FrontmatterState::default(), Vec::new());
    let (bytes, found) = (document.bytes(), &mut diagnoses);
    match parsed {
        Parsed::Unclosed(opening) => found.push(Diagnosis::new(Problem::FenceUnclosed, *opening)),
        Parsed::Absent => {
            let misplaced = document.misplaced_frontmatter();
            let misplaced = misplaced.map(|span| Diagnosis::new(Problem::FrontmatterMisplaced, span));
            found.extend(begins_with_conflict(bytes).or(misplaced));
        }
        Parsed::NoBlock(error) => {
            found.push(Diagnosis::new(Problem::NoStateBlock { error: error.clone() }, Span::at(0)));
        }
        Parsed::NotYaml(_) | Parsed::Own(_) | Parsed::Given(_) => {
            if document.has_byte_order_mark() {
                found.push(Diagnosis::new(Problem::ByteOrderMark, Span::new(0, 3)));
            }
            if document.has_mixed_line_ends()
                && let Frontmatter::Present { content, .. } = document.frontmatter()
            {
                found.push(Diagnosis::new(Problem::LineEndsMixed, content));
            }
        }
    }
    if let Parsed::NotYaml(error) = parsed {
        let problem = Problem::NotYaml { error: error.clone() };
        found.push(Diagnosis::new(problem, Span::at(error.offset())));
    }
    if let Some(yaml) = parsed.yaml() {
        read_frontmatter(bytes, yaml, &mut state, found);
    }
    let is_of_project = |title: &Field| title.key == PROJECT_NAME_KEY;
    // An unfilled placeholder is not a title.
    let is_said = |heading: String| !(heading.starts_with("{{") && heading.ends_with("}}"));
    let says_more = |document| first_heading(document, bytes).is_some_and(is_said);
    if state.title.as_ref().is_some_and(is_of_project) && says_more(document) {
        state.title = None;
    }
    state.body_status = body::read(document, found);
    if let (Some(body), Some(status)) = (&state.body_status, &state.status)
        && !body::is_same_status(&status.text, &body.text)
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
    let field = |key: &str| Field::read(key, field::followed(yaml, root.get(key)?));
    let KindFields { title, parent, agent } = super::body::fields(state.kind, field);
    state.title = title.or(state.title.take());
    state.delegation = state.delegation.take().or_else(|| parent.map(Delegation::of_parent));
    state.agent = agent;
    // BMAD's architecture spine uses the key for a sentence.
    if root.get("type").and_then(Node::text) == Some("architecture-spine") {
        state.scope = None;
    }
    delegation::diagnose(yaml, found);
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
        key if delegation::is_inputs_key(key) => {
            state.input_documents.extend(delegation::read(yaml, node, found))
        }
        key if field::is_time_key(key) => state.times.extend(field()),
        KIND_KEY => state.kind = node.text().and_then(Kind::named),
        key => state.other_keys.push(key.to_owned()),
    }
}

fn diagnose_value(bytes: &[u8], key: &str, node: &Node<'_>, found: &mut Vec<Diagnosis>) {
    if is_placeholder(node) {
        found.push(Diagnosis::new(Problem::TemplateUnfilled { key: key.to_owned() }, node.span));
    }
    if !field::is_plain(node) {
        return;
    }
    // `#680` is an issue number; a comment has blanks on both sides of `#`.
    let rest = &bytes[node.span.end..];
    let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let Some(comment) = rest[blanks..].strip_prefix(b"#") else { return };
    let line = &rest[..memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len())];
    if comment.first().is_some_and(u8::is_ascii_digit) && !node.span.is_empty() {
        let lost = String::from_utf8_lossy(line.trim_ascii()).into_owned();
        found.push(Diagnosis::new(Problem::CutByComment { key: key.to_owned(), lost }, node.span));
    }
}

fn is_placeholder(node: &Node<'_>) -> bool {
    match &node.kind {
        NodeKind::Scalar { text, .. } => {
            let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
            inner.is_some_and(|inner| !inner.is_empty() && !inner.contains([':', ',', '"']))
        }
        NodeKind::Mapping { style: CollectionStyle::Flow, entries } => match entries.as_slice() {
            [only] => only.value.is_empty_value(),
            _ => false,
        },
        _ => false,
    }
}
