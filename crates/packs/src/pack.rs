//! Packs as used at run time: kinds of artifacts with their lifecycles.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;
use stepmark_frontmatter::{KeyPath, ReadError};

use crate::{
    ArgumentType, KeyRule, KeyTest,
    lifecycle::{ChangeRefusal, ConditionDeclaration, Lifecycle, LifecycleState, Roles, refused_to},
    scalar::Name,
    spelling::argument,
};

#[derive(Debug)]
pub struct Kind {
    pub name: String,
    pub plural: String,
    /// The pack name; for built-in systems also the configuration key.
    pub system: String,
    /// Listed by `next`, can be done, has a ticket.
    pub is_work: bool,
    /// Artifacts of it have `stepmark_kind`.
    pub is_record: bool,
    pub renamed: Vec<String>,
    pub is_recorded: bool,
    pub title: Option<String>,
    pub parent: Option<String>,
    pub agent: Option<String>,
    pub command: String,
    pub keys: Vec<(String, ArgumentType)>,
    pub rules: Vec<KeyRule>,
    pub order: Vec<String>,
    /// For kinds without a lifecycle: the role that may write.
    pub writers: Option<String>,
    /// By state; `ID` is replaced with the id.
    pub commands: Vec<(String, String)>,
    pub lifecycle: Option<Arc<Lifecycle>>,
}

#[derive(Clone, Debug)]
pub struct PackKind {
    pub kind: Arc<Kind>,
    pub applies_to: Vec<ConditionDeclaration>,
}

/// A file that lists the artifacts of a kind, a row each.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping with `path`, `kind` and `keys`")]
pub struct FileDeclaration {
    /// Its path, seen from the project root; `.csv` or `.json` at its end says its format.
    pub path: Name,
    /// The kind of the artifacts.
    pub kind: Name,
    /// The frontmatter keys of a row, behind the path.
    pub keys: Vec<Name>,
}

#[derive(Clone, Debug)]
pub struct Pack {
    pub name: String,
    pub about: Option<String>,
    pub kinds: Vec<PackKind>,
    pub files: Vec<FileDeclaration>,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PackError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("in the kind `{kind}` of the pack `{pack}`: {problem}")]
    Kind { pack: String, kind: String, way: KeyPath, problem: String },
    #[error("in the pack `{pack}`: {problem}")]
    Pack { pack: String, way: KeyPath, problem: String },
}

/// Per state: its own command, else its first move to another state.
pub(crate) fn commands(table: &Lifecycle, word: &str) -> Vec<(String, String)> {
    let of = |state: &LifecycleState| {
        let mut moves = table.named_from(state).filter(|made| made.to.is_some());
        let named = || moves.next().map(|made| format!("{word} {} ID", made.name));
        Some((state.name.clone(), state.next.clone().or_else(named)?))
    };
    table.states().iter().filter_map(of).collect()
}

pub fn command_for(command: &str, id: &str) -> String {
    match command.strip_suffix(" ID") {
        Some(command) => format!("{command} {}", argument(id)),
        None => command.to_owned(),
    }
}

impl FileDeclaration {
    pub fn is_csv(&self) -> bool {
        self.path.0.ends_with(".csv")
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        (&self.system, &self.name) == (&other.system, &other.name)
    }
}

impl Eq for Kind {}

impl Kind {
    pub fn faults(&self, state: &Json) -> Vec<(&str, String)> {
        let types = self.keys.iter().filter_map(|(key, own)| Some((&**key, own.fault(key, state.get(key))?)));
        let rules = self.rules.iter().filter_map(|rule| Some((&*rule.key.0, rule.fault(state)?)));
        types.chain(rules).collect()
    }

    /// Rules between artifacts: references, unique values.
    pub fn has_peers(&self) -> bool {
        let names_others = self.keys.iter().any(|(_, own)| own.target.is_some());
        names_others || self.rules.iter().any(|rule| matches!(rule.test, KeyTest::NoCircle | KeyTest::Unique))
    }

    pub fn has_holders(&self) -> bool {
        self.rules.iter().any(|rule| rule.test == KeyTest::HolderAlive)
    }

    pub fn judge_writer(&self, actor: &str, roles: &Roles) -> Option<ChangeRefusal> {
        refused_to(&self.name, self.writers.as_deref()?, (actor, roles))
    }

    /// Without the word `stepmark`.
    pub fn command(&self, state: &str, id: &str) -> Option<String> {
        let (_, command) = self.commands.iter().find(|(own, _)| *own == state)?;
        Some(command_for(command, id))
    }

    /// `stepmark task`, if the kind has commands of its own.
    pub fn mover(&self) -> Option<String> {
        let (_, command) = self.commands.first()?;
        command.split(' ').next().map(|word| format!("stepmark {word}"))
    }
}
