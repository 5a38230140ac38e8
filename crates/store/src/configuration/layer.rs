//! One layer of the configuration: a file, an environment variable or a flag.

use crate::{Error, ErrorKind, configuration::read};
use std::{
    fmt,
    path::{Path, PathBuf},
};

use serde_yaml::{Mapping, Value as Written};

use crate::configuration::{UnknownKey, Variable, keys::Keys, values::WORKFLOW_KEYS};
use stepmark_frontmatter::{
    Document, Entry, KeyPath, LineIndex, Node, NodeKind, Position, Region, Segment, Span, Value, Yaml,
};
use stepmark_model::{
    check::rule_of,
    lifecycle::{DeclaredLifecycle, LifecycleDeclaration, LifecycleError, LifecycleProblem},
};

/// Ordered from the weakest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    Default,
    /// `stepmark/config.yaml` in the user's configuration folder.
    User(Place),
    /// `.stepmark/config.yaml`.
    Project(Place),
    Environment {
        variable: String,
    },
    Flag,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub file: PathBuf,
    pub position: Position,
}

impl Origin {
    pub const fn layer(&self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::User(_) => "user",
            Self::Project(_) => "project",
            Self::Environment { .. } => "environment",
            Self::Flag => "flag",
        }
    }

    pub const fn place(&self) -> Option<&Place> {
        match self {
            Self::User(place) | Self::Project(place) => Some(place),
            Self::Default | Self::Environment { .. } | Self::Flag => None,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(place) | Self::Project(place) => {
                write!(out, "{} {}:{}", self.layer(), place.file.display(), place.position.line)
            }
            Self::Environment { variable } => write!(out, "environment {variable}"),
            Self::Default | Self::Flag => out.write_str(self.layer()),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct ConfiguredValue {
    /// Dotted: `lease.seconds`, `settings.user_name`.
    pub key: String,
    pub value: Value,
    pub origin: Origin,
}

impl ConfiguredValue {
    /// On one line: texts as they are, other values as JSON.
    pub fn text(&self) -> String {
        match &self.value {
            Value::String(text) => text.clone(),
            other => other.to_json().to_string(),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct ConfigurationLayer {
    pub(super) keys: Keys,
    pub(super) values: Vec<ConfiguredValue>,
    pub(super) unknown_keys: Vec<UnknownKey>,
}

/// The path to the faulty value, and the reason.
type Problem = (KeyPath, String);

impl ConfigurationLayer {
    /// `origin` maps a key's position to the value's origin.
    pub(super) fn read(file: &Path, bytes: &[u8], origin: impl Fn(Place) -> Origin) -> Result<Self, Error> {
        let tree = Yaml::parse(bytes, whole(bytes));
        let lines = LineIndex::new(bytes);
        let invalid = |position, reason: String| read::invalid(file, position, &reason);
        let invalid_at = |offset, reason| invalid(Some(lines.position(bytes, offset)), reason);
        let of_reader = |error| {
            let (position, reason) = position_and_reason(&error);
            invalid(position, reason)
        };
        // State comes first: it is wrong whatever its value.
        if let Ok(tree) = &tree
            && let Some((key, span, Variable { meaning, side, .. })) = state_key(tree)
        {
            let (path, position) = (file.display(), lines.position(bytes, span.start));
            let belongs = read::belongs_to(side, &key);
            let message = format!(
                "`{path}:{position}` holds state: `{key}` is {meaning}; configuration is static, and this belongs \
                 {belongs}"
            );
            return Err(
                Error::new(ErrorKind::Io, message).help("take the key out of that file; nothing was changed")
            );
        }
        let keys: Option<Keys> = serde_yaml::from_slice(bytes).map_err(of_reader)?;
        let written: Written = serde_yaml::from_slice(bytes).map_err(of_reader)?;
        let tree = tree.map_err(|error| invalid_at(error.offset(), error.to_string()))?;
        let mut keys = keys.unwrap_or_default();
        let refused = |(way, reason): Problem| invalid_at(offset(&tree, &way), reason);
        check_names(&keys, &tree).map_err(refused)?;
        check_lifecycles(keys.lifecycles.as_deref().unwrap_or_default()).map_err(refused)?;
        let allowances = keys.check.as_mut().and_then(|check| check.allow.as_mut()).into_iter().flatten();
        for (place, allowance) in allowances.enumerate() {
            let way = KeyPath::key("check").then("allow").item(place);
            allowance.span = node(&tree, &way).ok().map(|node| node.span);
        }
        let mut values = Vec::new();
        for (key, entry) in leaves(&tree) {
            let value = Value::of(&tree, &entry.value)
                .map_err(|error| invalid_at(entry.value.span.start, error.to_string()))?;
            let position = lines.position(bytes, entry.key.span.start);
            let origin = origin(Place { file: file.to_owned(), position });
            values.push(ConfiguredValue { key, value, origin });
        }
        Ok(Self { keys, values, unknown_keys: unknown_keys(&written, file) })
    }

    /// A value from outside files; `key` may be dotted.
    pub(super) fn given(key: &str, text: &str, origin: Origin) -> Result<Self, String> {
        // Whoever starts a command must not choose their own permissions.
        if key.split('.').next() == Some("roles") {
            return Err("roles are given in `.stepmark/config.yaml` alone".to_owned());
        }
        let below = |value, key: &str| Written::Mapping(Mapping::from_iter([(Written::from(key), value)]));
        let written = key.rsplit('.').fold(Written::from(text), below);
        let keys = serde_yaml::from_value(written).map_err(|error| position_and_reason(&error).1)?;
        let value = Value::from_argument(text).map_err(|error| error.to_string())?.resolved();
        let value = ConfiguredValue { key: key.to_owned(), value, origin };
        Ok(Self { keys, values: vec![value], ..Self::default() })
    }
}

/// Splits a YAML error into its position and the message without it.
pub fn position_and_reason(error: &serde_yaml::Error) -> (Option<Position>, String) {
    let position = error.location().map(|at| Position { line: at.line(), column: at.column() });
    let mut reason = error.to_string();
    if let Some(Position { line, column }) = position
        && let Some(plain) = reason.strip_suffix(&format!(" at line {line} column {column}"))
    {
        reason.truncate(plain.len());
    }
    (position, reason)
}

/// Refuses equal workflow names, and a rule under both of its names.
fn check_names(keys: &Keys, tree: &Yaml<'_>) -> Result<(), Problem> {
    let workflows = keys.workflows.as_deref().unwrap_or_default();
    let is_twice = |(place, name): (usize, &str)| workflows[..place].iter().any(|other| other.name == name);
    let mut names = workflows.iter().map(|workflow| workflow.name.as_str()).enumerate();
    if let Some((_, name)) = names.find(|found| is_twice(*found)) {
        return Err((KeyPath::key("workflows"), format!("workflows: `{name}` is declared twice")));
    }
    let way = KeyPath::key("check").then("rules");
    let levels = node(tree, &way).map(Node::entries).unwrap_or_default();
    let mut seen = Vec::new();
    for rule in levels.iter().filter_map(|entry| rule_of(entry.key.as_key()?)) {
        if seen.contains(&rule.id) {
            let (id, name) = (rule.id, rule.name);
            return Err((way, format!("check.rules: `{id}` (`{name}`) stands here twice")));
        }
        seen.push(rule.id);
    }
    Ok(())
}

fn check_lifecycles(declared: &[LifecycleDeclaration]) -> Result<(), Problem> {
    let mut names: Vec<String> = Vec::new();
    for (place, declaration) in declared.iter().enumerate() {
        let misplaced = |error: LifecycleError| {
            let mut way = KeyPath::key("lifecycles").item(place);
            way.0.extend(error.way.0.iter().cloned());
            (way, error.to_string())
        };
        let own = DeclaredLifecycle::of(declaration).map_err(misplaced)?;
        let name = own.lifecycle.name().to_owned();
        if names.contains(&name) {
            let way = KeyPath::key("name");
            return Err(misplaced(LifecycleError { name, way, problem: LifecycleProblem::NameTwice }));
        }
        names.push(name);
    }
    Ok(())
}

/// Keys that nothing reads: newer versions may add keys, and older ones report that they have no effect.
fn unknown_keys(written: &Written, file: &Path) -> Vec<UnknownKey> {
    let mut unknown = Vec::new();
    let mut compare = |values: &Written, way: &str, known: &[&str]| {
        for key in values.as_mapping().into_iter().flat_map(Mapping::keys) {
            if !key.as_str().is_some_and(|key| known.contains(&key)) {
                let spelling = serde_yaml::to_string(key).unwrap_or_default();
                unknown.push(UnknownKey::new(way, spelling.trim_end(), file, known.iter().copied()));
            }
        }
    };
    let mut open = vec![(written, String::new(), Keys::KEYS)];
    while let Some((values, way, known)) = open.pop() {
        compare(values, &way, &known.iter().map(|key| key.name).collect::<Vec<_>>());
        let sections = known.iter().filter(|key| !key.below.is_empty());
        open.extend(sections.rev().map(|key| (&values[key.name], format!("{way}{}.", key.name), key.below)));
    }
    for (index, workflow) in written["workflows"].as_sequence().into_iter().flatten().enumerate() {
        compare(workflow, &format!("workflows[{index}]."), &WORKFLOW_KEYS);
    }
    unknown
}

/// The position of the value at `way`, or of its last existing parent.
pub fn position_of(bytes: &[u8], way: &KeyPath) -> Option<Position> {
    let tree = Yaml::parse(bytes, whole(bytes)).ok()?;
    Some(LineIndex::new(bytes).position(bytes, offset(&tree, way)))
}

fn offset(tree: &Yaml<'_>, way: &KeyPath) -> usize {
    let (Ok(node) | Err(Some(node))) = node(tree, way) else { return tree.span().start };
    node.span.start
}

/// The value at `way`, or its last existing parent. A text instead of a list is its first item.
fn node<'t, 'a>(tree: &'t Yaml<'a>, way: &KeyPath) -> Result<&'t Node<'a>, Option<&'t Node<'a>>> {
    let mut node = tree.root().ok_or(None)?;
    for segment in &way.0 {
        let within = tree.target(node).unwrap_or(node);
        let next = match (segment, &within.kind) {
            (Segment::Key(key), _) => within.get(key),
            (Segment::Index(index), NodeKind::Sequence { items, .. }) => items.get(*index),
            (Segment::Index(_), _) => None,
        };
        node = next.ok_or(Some(node))?;
    }
    Ok(tree.target(node).unwrap_or(node))
}

/// Without the byte order mark.
fn whole(bytes: &[u8]) -> Span {
    let document = Document::scan(bytes);
    Region::WholeFile.find(&document).unwrap_or_else(|_| document.body())
}

/// Sections in which `status` may be a word of a table.
const OTHER_DIALECTS: [&str; 8] =
    ["asdd", "autodev", "coordination", "flows", "lifecycles", "trackers", "credentials", "memory"];

fn state_key(tree: &Yaml<'_>) -> Option<(String, Span, Variable)> {
    let mut open: Vec<(&Node<'_>, String)> =
        tree.root().map(|root| (root, String::new())).into_iter().collect();
    let mut found = Vec::new();
    while let Some((node, way)) = open.pop() {
        match &node.kind {
            NodeKind::Sequence { items, .. } => open.extend(items.iter().map(|item| (item, way.clone()))),
            NodeKind::Mapping { entries, .. } => {
                for Entry { key, value } in entries {
                    let Some(name) = key.as_key() else { continue };
                    let below = if way.is_empty() { name.to_owned() } else { format!("{way}.{name}") };
                    if OTHER_DIALECTS.contains(&below.as_str()) {
                        continue;
                    }
                    let variable = Variable::dynamic_at(&below, name);
                    found.extend(variable.map(|variable| (below.clone(), key.span, variable)));
                    open.push((value, below));
                }
            }
            NodeKind::Scalar { .. } | NodeKind::Alias { .. } => {}
        }
    }
    found.into_iter().min_by_key(|(_, span, _)| *span)
}

fn leaves<'t, 'a>(tree: &'t Yaml<'a>) -> Vec<(String, &'t Entry<'a>)> {
    let mut found = Vec::new();
    let Some(root) = tree.root() else { return found };
    for variable in Variable::all_static() {
        let mut names = variable.name.split('.');
        let first = names.next().and_then(|name| entry(root, name));
        let Some(found_entry) = names.fold(first, |above, name| entry(&above?.value, name)) else { continue };
        if variable.is_map {
            let named = found_entry.value.entries().iter().filter_map(|entry| {
                let name = entry.key.as_key()?;
                Some((format!("{}.{name}", variable.name), entry))
            });
            found.extend(named);
        } else {
            found.push((variable.name.clone(), found_entry));
        }
    }
    found.retain(|(_, entry)| !entry.value.is_null());
    found
}

fn entry<'t, 'a>(node: &'t Node<'a>, key: &str) -> Option<&'t Entry<'a>> {
    node.entries().iter().find(|entry| entry.key.as_key() == Some(key))
}
