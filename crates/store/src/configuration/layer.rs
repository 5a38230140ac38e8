//! One layer of the configuration: what one file, one environment variable or one flag says.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use crate::configuration::{
    UnknownKey, Variable, check_keys, keys::Keys, keys::Misplaced, lifecycles, variable_sides::FREE_MAPS,
};
use stepmark_frontmatter::{Document, Entry, LineIndex, Node, NodeKind, Position, Region, Span, Value, Yaml};
use stepmark_model::lifecycle::DeclaredLifecycle;

/// The origin of a value of the configuration, the weakest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    Default,
    /// The configuration of the person: `stepmark/config.yaml` in the folder for configuration.
    User(Place),
    /// `.stepmark/config.yaml` of the project.
    Project(Place),
    Environment {
        variable: String,
    },
    /// `--config KEY=VALUE` on the command line.
    Flag,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub file: PathBuf,
    pub position: Position,
}

impl Origin {
    /// The name of the layer: `default`, `user`, `project`, `environment` or `flag`.
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
    /// The key; `.` leads into a mapping: `lease.seconds`, `settings.user_name`.
    pub key: String,
    pub value: Value,
    pub origin: Origin,
}

#[derive(Debug, Default)]
pub(super) struct ConfigurationLayer {
    pub(super) keys: Keys,
    pub(super) values: Vec<ConfiguredValue>,
    pub(super) unknown_keys: Vec<UnknownKey>,
    pub(super) lifecycles: Option<Vec<DeclaredLifecycle>>,
}

/// A reason why a layer cannot be used.
#[derive(Debug)]
pub(super) enum LayerError {
    /// It is no YAML, or a value is not what stands for its key.
    Invalid(Misplaced),
    StateKey {
        position: Position,
        key: String,
        variable: Variable,
    },
}

impl From<Misplaced> for LayerError {
    fn from(misplaced: Misplaced) -> Self {
        Self::Invalid(misplaced)
    }
}

impl ConfigurationLayer {
    /// Reads a file; `origin` makes the origin of the value whose key stands at a place.
    pub(super) fn read(
        file: &Path,
        bytes: &[u8],
        origin: impl Fn(Place) -> Origin,
    ) -> Result<Self, LayerError> {
        let tree = Yaml::parse(bytes, whole(bytes));
        let lines = LineIndex::new(bytes);
        // State comes first: it is wrong whatever its value is.
        if let Ok(tree) = &tree
            && let Some((way, span, variable)) = state_key(tree)
        {
            let position = lines.position(bytes, span.start);
            return Err(LayerError::StateKey { position, key: way, variable });
        }
        let (mut keys, unknown_keys) = Keys::read(bytes, file)?;
        let invalid = |reason: String, offset| {
            LayerError::Invalid(Misplaced { position: Some(lines.position(bytes, offset)), reason })
        };
        let tree = tree.map_err(|error| invalid(error.to_string(), error.offset()))?;
        if let Some(allowances) = keys.check.as_mut().and_then(|check| check.allow.as_mut()) {
            check_keys::place(allowances, &tree);
        }
        let lifecycles = keys.lifecycles.take().map(|declared| lifecycles::assemble(&declared, &tree));
        let lifecycles = lifecycles.transpose().map_err(|error| invalid(error.reason, error.offset))?;
        let mut values = Vec::new();
        for (key, entry) in leaves(&tree) {
            let value = Value::of(&tree, &entry.value)
                .map_err(|error| invalid(error.to_string(), entry.value.span.start))?;
            let position = lines.position(bytes, entry.key.span.start);
            values.push(ConfiguredValue {
                key,
                value,
                origin: origin(Place { file: file.to_owned(), position }),
            });
        }
        Ok(Self { keys, values, unknown_keys, lifecycles })
    }

    pub(super) fn given(key: &str, text: &str, origin: Origin) -> Result<Self, String> {
        // Whoever starts a command is not the one who says what they may do.
        if key.split('.').next() == Some("roles") {
            return Err("roles are given in `.stepmark/config.yaml` alone".to_owned());
        }
        let keys = Keys::given(key, text)?;
        let value = Value::from_argument(text).map_err(|error| error.to_string())?.resolved();
        let value = ConfiguredValue { key: key.to_owned(), value, origin };
        Ok(Self { keys, values: vec![value], ..Self::default() })
    }
}

/// All of the file behind a byte order mark.
pub(super) fn whole(bytes: &[u8]) -> Span {
    let document = Document::scan(bytes);
    Region::WholeFile.find(&document).unwrap_or_else(|_| document.body())
}

/// The sections whose keys belong to other dialects, where `status` may be a word of a table: lifecycles and
/// trackers.
const OTHER_DIALECTS: [&str; 8] =
    ["asdd", "autodev", "coordination", "flows", "lifecycles", "trackers", "credentials", "memory"];

/// The first key in the file that names state: the way to it, its place, and what it is.
fn state_key(tree: &Yaml<'_>) -> Option<(String, Span, Variable)> {
    let mut open: Vec<(&Node<'_>, String)> =
        tree.root().map(|root| (root, String::new())).into_iter().collect();
    let mut first: Option<(String, Span, Variable)> = None;
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
                    let found = Variable::dynamic_at(&below, name);
                    if let Some(variable) = found
                        && first.as_ref().is_none_or(|(_, span, _)| key.span < *span)
                    {
                        first = Some((below.clone(), key.span, variable));
                    }
                    open.push((value, below));
                }
            }
            NodeKind::Scalar { .. } | NodeKind::Alias { .. } => {}
        }
    }
    first
}

/// The entries of all static variables that have a value, in the order of the table.
fn leaves<'t, 'a>(tree: &'t Yaml<'a>) -> Vec<(String, &'t Entry<'a>)> {
    let mut found = Vec::new();
    let Some(root) = tree.root() else { return found };
    for variable in Variable::all_static() {
        let (section, leaf) = match variable.name.split_once('.') {
            Some((section, leaf)) => (entry(root, section).map(|entry| &entry.value), leaf),
            None => (Some(root), variable.name),
        };
        let Some(entry) = section.and_then(|section| entry(section, leaf)) else { continue };
        if FREE_MAPS.contains(&variable.name) {
            let named = entry.value.entries().iter().filter_map(|entry| {
                let name = entry.key.as_key()?;
                Some((format!("{}.{name}", variable.name), entry))
            });
            found.extend(named);
        } else {
            found.push((variable.name.to_owned(), entry));
        }
    }
    found.retain(|(_, entry)| !entry.value.is_null());
    found
}

fn entry<'t, 'a>(node: &'t Node<'a>, key: &str) -> Option<&'t Entry<'a>> {
    node.entries().iter().find(|entry| entry.key.as_key() == Some(key))
}
