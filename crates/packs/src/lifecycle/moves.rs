//! Named moves: the arguments, requirements and writes of a command.
//!
//! The language is bounded: `set`, `push`, `add`, `clear`, variables and arguments. No conditions,
//! expressions or loops.

use std::fmt;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use stepmark_frontmatter::{Edit, KeyPath, Value};

use super::arguments::{ArgumentType, Need};
use super::{Guard, Lifecycle, LifecycleState, MoveRefusal};
use crate::{
    scalar::{Name, OneOrMore},
    spelling::near_words,
};

/// A move with a name: `stepmark COMMAND NAME ID` makes it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping with `from`")]
pub struct NamedMoveDeclaration {
    /// Its purpose, for people and agents.
    pub about: Option<String>,
    /// The states that are left; `*` means every one that is not terminal.
    pub from: OneOrMore<Name>,
    /// The state that is entered; `$return` leads back to the one that `return_to` of the state names.
    /// Without it the state stays.
    pub to: Option<Name>,
    /// The arguments with their types: `text`, `int`, `number`, `bool`, `time`, `list`, `map`; with `?` it
    /// may be absent.
    pub args: Option<IndexMap<Name, ArgumentType>>,
    /// Who may make it: `person`, `holder(KEY)`, `role(NAME)`, `other-than(KEY)`.
    pub by: Option<Guard>,
    /// What it may not be made without: `reason`, `evidence`.
    pub needs: Option<OneOrMore<Need>>,
    /// The guards, as those of transitions.
    pub guards: Option<Vec<Guard>>,
    /// Frontmatter keys with what they get; `$now`, `$actor`, `$agent`, `$session`, `$id`, `$reason`,
    /// `$evidence` and `$ARGUMENT` stand for values.
    pub set: Option<IndexMap<Name, Json>>,
    /// Frontmatter keys of lists with the item that is added.
    pub push: Option<IndexMap<Name, Json>>,
    /// Frontmatter keys of numbers with what is added.
    pub add: Option<IndexMap<Name, i64>>,
    /// Frontmatter keys that are taken away.
    pub clear: Option<Vec<Name>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NamedMove {
    pub name: String,
    pub about: Option<String>,
    pub from: Vec<String>,
    /// A state, `$return`, or no state change.
    pub to: Option<String>,
    pub args: Vec<(String, ArgumentType)>,
    pub needs: Vec<Need>,
    pub guards: Vec<Guard>,
    writes: Writes,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Writes {
    set: Vec<(String, Json)>,
    push: Vec<(String, Json)>,
    add: Vec<(String, i64)>,
    clear: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    Set(String, Json),
    Append(String, Json),
    Remove(String),
}

impl Write {
    pub fn apply(self, values: &mut Map<String, Json>) {
        match self {
            Self::Set(key, value) => drop(values.insert(key, value)),
            Self::Append(key, item) => match values.get_mut(&key) {
                Some(Json::Array(items)) => items.push(item),
                _ => drop(values.insert(key, vec![item].into())),
            },
            Self::Remove(key) => drop(values.shift_remove(&key)),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct MoveCall {
    /// The word after `stepmark`, and the move.
    pub command: String,
    pub name: String,
    /// Values of [`VARIABLES`], and arguments that are not text.
    pub given: Map<String, Json>,
    /// As written; a list has several of one name.
    pub args: Vec<(String, String)>,
}

pub const VARIABLES: [&str; 7] = ["now", "actor", "agent", "session", "id", "reason", "evidence"];

pub(crate) const RETURN: &str = "$return";

/// In bytes.
const MOST_TEXT: usize = 64 * 1024;

pub(crate) type MoveProblem = (KeyPath, String);

impl NamedMove {
    pub(crate) fn read(
        name: &str,
        declared: &NamedMoveDeclaration,
        (from, to): (Vec<String>, Option<String>),
    ) -> Result<Self, MoveProblem> {
        let pairs = |map: &Option<IndexMap<Name, Json>>| -> Vec<(String, Json)> {
            map.iter().flatten().map(|(key, value)| (key.0.clone(), value.clone())).collect()
        };
        let writes = Writes {
            set: pairs(&declared.set),
            push: pairs(&declared.push),
            add: declared.add.iter().flatten().map(|(key, count)| (key.0.clone(), *count)).collect(),
            clear: declared.clear.iter().flatten().map(|key| key.0.clone()).collect(),
        };
        let args: Vec<_> =
            declared.args.iter().flatten().map(|(name, kind)| (name.0.clone(), kind.clone())).collect();
        let guards = declared.by.iter().chain(declared.guards.iter().flatten()).cloned().collect();
        let needs = declared.needs.iter().flat_map(|needs| needs.0.iter().copied()).collect();
        let read = Self {
            name: name.to_owned(),
            about: declared.about.clone(),
            from,
            to,
            args,
            needs,
            guards,
            writes,
        };
        read.check()?;
        Ok(read)
    }

    fn check(&self) -> Result<(), MoveProblem> {
        if let Some((name, _)) = self.args.iter().find(|(name, _)| VARIABLES.contains(&name.as_str())) {
            let taken = format!("`{name}` is a variable of every move: call the argument otherwise");
            return Err((KeyPath::key("args").then(name), taken));
        }
        let Writes { set, push, add, clear } = &self.writes;
        let mut seen: Vec<&str> = Vec::new();
        let keys = [
            ("set", set.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>()),
            ("push", push.iter().map(|(key, _)| key.as_str()).collect()),
            ("add", add.iter().map(|(key, _)| key.as_str()).collect()),
            ("clear", clear.iter().map(String::as_str).collect()),
        ];
        for (part, key) in keys.iter().flat_map(|(part, keys)| keys.iter().map(move |key| (*part, *key))) {
            let way = || KeyPath::key(part).then(key);
            if key == "status" {
                return Err((way(), "the status is what `to` says: leave it away here".to_owned()));
            }
            if seen.contains(&key) {
                return Err((way(), format!("the move writes `{key}` twice")));
            }
            seen.push(key);
        }
        for (part, pairs) in [("set", set), ("push", push)] {
            for (key, value) in pairs {
                let mut unknown = None;
                variables(value, &mut |name| {
                    let is_known = VARIABLES.contains(&name) || self.args.iter().any(|(own, _)| own == name);
                    if !is_known {
                        unknown.get_or_insert_with(|| name.to_owned());
                    }
                });
                if let Some(name) = unknown {
                    let known = VARIABLES.into_iter().chain(self.args.iter().map(|(own, _)| own.as_str()));
                    let near = near_words(&name, known.clone());
                    let hint = match near.first() {
                        Some(near) => format!("is `${near}` meant?"),
                        None => format!(
                            "there are {}",
                            known.map(|name| format!("`${name}`")).collect::<Vec<_>>().join(", ")
                        ),
                    };
                    return Err((
                        KeyPath::key(part).then(key),
                        format!("there is no `${name}`: {hint}; `$$` writes a `$`"),
                    ));
                }
            }
        }
        Ok(())
    }

    pub fn way(&self) -> String {
        let from = self.from.join(", ");
        match self.to.as_deref() {
            Some(RETURN) => format!("from {from} to where it was"),
            Some(to) => format!("from {from} to {to}"),
            None => format!("in {from}"),
        }
    }

    /// Without the status.
    pub fn edits(&self, state: &Json, call: &MoveCall) -> Result<Vec<Edit>, MoveRefusal> {
        let nothing = Map::new();
        let state = state.as_object().unwrap_or(&nothing);
        let edit = |write| match write {
            Write::Set(key, value) => Edit::Set { path: KeyPath::key(&key), value: Value::from_json(&value) },
            Write::Append(key, item) => {
                Edit::Append { path: KeyPath::key(&key), item: Value::from_json(&item) }
            }
            Write::Remove(key) => Edit::Remove { path: KeyPath::key(&key) },
        };
        Ok(self.writes(state, &self.values(call)?).into_iter().map(edit).collect())
    }

    /// Without the status.
    fn writes(&self, state: &Map<String, Json>, values: &Map<String, Json>) -> Vec<Write> {
        let (set, push) = (self.writes.set.iter(), self.writes.push.iter());
        let set = set.filter_map(|(key, value)| Some(Write::Set(key.clone(), filled(value, values)?)));
        let push = push.filter_map(|(key, item)| {
            let item = filled(item, values)?;
            let has_items = state.get(key).and_then(Json::as_array).is_some_and(|items| !items.is_empty());
            Some(match has_items {
                true => Write::Append(key.clone(), item),
                false => Write::Set(key.clone(), vec![item].into()),
            })
        });
        let add = self.writes.add.iter().map(|(key, count)| {
            let old = state.get(key).and_then(Json::as_i64).unwrap_or_default();
            Write::Set(key.clone(), old.saturating_add(*count).into())
        });
        let clear = self.writes.clear.iter().filter(|key| state.contains_key(*key));
        set.chain(push).chain(add).chain(clear.cloned().map(Write::Remove)).collect()
    }

    /// True if the same caller already made this move: it may be repeated.
    fn is_made(&self, record: &Map<String, Json>, call: &MoveCall, values: &Map<String, Json>) -> bool {
        let agent = call.given.get("agent").filter(|agent| !agent.is_null());
        let holds = self.guards.iter().filter_map(|guard| match guard {
            Guard::Holder(key) => Some(&**key),
            _ => None,
        });
        let takes = self.writes.set.iter().filter(|(_, value)| *value == "$agent").map(|(key, _)| &**key);
        let is_own = agent.is_some() && holds.chain(takes).any(|key| record.get(key) == agent);
        let mut lasting = self.writes.set.iter().filter(|(_, value)| *value != "$now");
        is_own && lasting.all(|(key, value)| record.get(key) == filled(value, values).as_ref())
    }

    fn values(&self, call: &MoveCall) -> Result<Map<String, Json>, MoveRefusal> {
        let refused = |reason: String| MoveRefusal::Argument { made: self.name.clone(), reason };
        let mut values = call.given.clone();
        for (name, text) in &call.args {
            let Some((_, kind)) = self.args.iter().find(|(own, _)| own == name) else {
                let known: Vec<String> = self.args.iter().map(|(own, _)| format!("`{own}`")).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(refused(format!("it has no argument `{name}`, but {known}")));
            };
            if text.len() > MOST_TEXT {
                let bytes = text.len();
                return Err(refused(format!(
                    "`{name}` has {bytes} bytes, and {MOST_TEXT} are kept: put it into a file and name that"
                )));
            }
            let read = kind.shape.read(text);
            let read = read.ok_or_else(|| {
                refused(format!("`{name}` is `{text}`, and {} is wanted", kind.shape.name()))
            })?;
            match (values.get_mut(name), read) {
                (Some(Json::Array(items)), Json::Array(more)) => items.extend(more),
                (_, read) => drop(values.insert(name.clone(), read)),
            }
        }
        let is_there =
            |name: &str| values.get(name).is_some_and(|value| !value.is_null() && value.as_str() != Some(""));
        let needs = self.needs.iter().map(|need| need.name());
        let wanted = self.args.iter().filter(|(_, kind)| !kind.is_optional).map(|(name, _)| name.as_str());
        let missing: Vec<String> =
            needs.chain(wanted).filter(|name| !is_there(name)).map(|name| format!("`{name}`")).collect();
        match missing.is_empty() {
            true => Ok(values),
            false => Err(refused(format!("{} is missing", missing.join(" and ")))),
        }
    }
}

fn variables(value: &Json, each: &mut impl FnMut(&str)) {
    match value {
        Json::String(text) => {
            if let Some(name) = text.strip_prefix('$').filter(|name| !name.starts_with('$')) {
                each(name);
            }
        }
        Json::Array(items) => items.iter().for_each(|item| variables(item, each)),
        Json::Object(entries) => entries.values().for_each(|value| variables(value, each)),
        _ => {}
    }
}

/// `None` for a variable without a value; such entries of lists and mappings are dropped.
fn filled(template: &Json, values: &Map<String, Json>) -> Option<Json> {
    Some(match template {
        Json::String(text) => match text.strip_prefix('$') {
            Some(rest) if rest.starts_with('$') => rest.into(),
            Some(name) => return values.get(name).filter(|value| !value.is_null()).cloned(),
            None => template.clone(),
        },
        Json::Array(items) => items.iter().filter_map(|item| filled(item, values)).collect(),
        Json::Object(entries) => {
            let entry = |(key, value): (&String, &Json)| Some((key.clone(), filled(value, values)?));
            Json::Object(entries.iter().filter_map(entry).collect())
        }
        other => other.clone(),
    })
}

impl MoveCall {
    pub fn new(command: &str, name: &str) -> Self {
        Self { command: command.to_owned(), name: name.to_owned(), ..Self::default() }
    }

    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Json>) -> Self {
        self.given.insert(name.to_owned(), value.into());
        self
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.given.get(name)?.as_str()
    }
}

#[derive(Debug)]
pub enum Refused<R> {
    Move(Box<MoveRefusal>),
    /// The first unmet guard, then the others.
    Guard(R, Vec<R>),
}

impl<R> From<MoveRefusal> for Refused<R> {
    fn from(refusal: MoveRefusal) -> Self {
        Self::Move(Box::new(refusal))
    }
}

impl Lifecycle {
    pub fn named_moves(&self) -> &[NamedMove] {
        &self.named
    }

    pub fn named_from(&self, state: &LifecycleState) -> impl Iterator<Item = &NamedMove> {
        self.named.iter().filter(|made| made.from.contains(&state.name))
    }

    /// `status` is the current word, which may be a synonym.
    pub fn named_move(&self, name: &str, status: Option<&str>) -> Result<&NamedMove, MoveRefusal> {
        let found = self.named.iter().find(|made| made.name == name);
        let found = found.ok_or_else(|| MoveRefusal::UnknownMove {
            lifecycle: self.name().to_owned(),
            name: name.to_owned(),
            moves: self.named.iter().map(|made| made.name.clone()).collect(),
        })?;
        let state = status.and_then(|status| self.state_of(status));
        if state.is_some_and(|state| found.from.contains(&state.name)) {
            return Ok(found);
        }
        Err(MoveRefusal::NotFrom {
            made: found.name.clone(),
            status: status.unwrap_or_default().to_owned(),
            wanted: found.from.clone(),
            legal: state
                .map(|state| self.named_from(state).map(|made| made.name.clone()).collect())
                .unwrap_or_default(),
        })
    }

    /// `text` returns the value of a key.
    pub fn target<'k>(
        &self,
        made: &NamedMove,
        from: &str,
        text: impl Fn(&str) -> Option<&'k str>,
    ) -> Option<&LifecycleState> {
        let to = made.to.as_deref()?;
        if to != RETURN {
            return self.state_of(to);
        }
        let keys = self.state_of(from).map(|from| from.return_to.as_slice()).unwrap_or_default();
        let words = keys.iter().filter_map(|key| self.state_of(text(key)?));
        words.chain(self.states.iter()).find(|state| state.return_to.is_empty())
    }

    /// The new status comes first. Empty if the same caller repeats the move. `unmet` returns the reason why
    /// a guard fails.
    pub fn make<R>(
        &self,
        (status, record): (&str, &Map<String, Json>),
        call: &MoveCall,
        unmet: impl FnMut(&Guard) -> Option<R>,
    ) -> Result<Vec<Write>, Refused<R>> {
        let named = self.named.iter().find(|made| made.name == call.name);
        let is_there = |made: &&NamedMove| {
            self.state_of(status).is_some_and(|state| made.to.as_ref() == Some(&state.name))
        };
        if let Some(made) = named.filter(is_there) {
            let values = made.values(call)?;
            if made.is_made(record, call, &values) {
                return Ok(Vec::new());
            }
        }
        let made = self.named_move(&call.name, Some(status))?;
        let mut missing = made.guards.iter().filter_map(unmet);
        if let Some(first) = missing.next() {
            return Err(Refused::Guard(first, missing.collect()));
        }
        let to = self.target(made, status, |key| record.get(key).and_then(Json::as_str));
        let to = to.map(|to| Write::Set("status".to_owned(), to.name.as_str().into()));
        Ok(to.into_iter().chain(made.writes(record, &made.values(call)?)).collect())
    }
}

impl fmt::Display for MoveCall {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.command, self.name)
    }
}
