//! Pack files: parsing, and assembly into a [`Pack`].

use std::{collections::BTreeMap, sync::Arc};

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;
use stepmark_frontmatter::{KeyPath, Region, from_region};

use crate::{
    ArgumentType, KeyRule, Kind, NamedMoveDeclaration, Pack, PackError, PackKind,
    lifecycle::{
        ConditionDeclaration, CounterDeclaration, Guard, Lifecycle, LifecycleDeclaration, LifecycleError,
        LifecycleProblem, MoveDeclaration, StateDeclaration,
    },
    pack::{FileDeclaration, commands},
    scalar::Name,
};

/// A pack: a state system.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping with `pack` and `kinds`")]
pub struct PackDeclaration {
    /// Its name.
    pub pack: Name,
    /// Its purpose, in one sentence.
    pub about: Option<String>,
    /// The pack that it builds on: a kind of the same name adds states, transitions and moves to that one.
    pub extends: Option<Name>,
    /// True if an artifact says under `stepmark_kind` which kind it is.
    pub records: Option<bool>,
    /// `recorded` where a change that no command made is a finding, and stops moves until a person accepts
    /// it; without it such a change is as good as one by `stepmark set`.
    pub hand_edits: Option<HandEdits>,
    /// The place among the packs in which a file is looked for.
    pub order: Option<u32>,
    /// The kinds of artifacts, by name.
    pub kinds: IndexMap<Name, KindDeclaration>,
    /// Files that list artifacts for other programs; they follow each change.
    pub files: Option<Vec<FileDeclaration>>,
}

/// The worth of changes that no command made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HandEdits {
    Legal,
    Recorded,
}

/// A kind of artifacts: how they are known, their states and their moves.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping with `applies_to`, `states`, `moves`")]
pub struct KindDeclaration {
    /// The name of its lifecycle, where that is not the name of the kind.
    pub lifecycle: Option<Name>,
    /// Its title.
    pub title: Option<String>,
    /// The name of several.
    pub plural: Option<String>,
    /// True if it is work: it can be next, is done at some time, and has a ticket. Every kind with states is,
    /// unless this says no.
    pub work: Option<bool>,
    /// The word behind `stepmark` for its moves; the name of the kind where it says nothing.
    pub command: Option<Name>,
    /// The frontmatter keys in which it has what every artifact has.
    pub view: Option<ViewDeclaration>,
    /// The artifacts that are of this kind: those for which one of these holds.
    pub applies_to: Option<Vec<ConditionDeclaration>>,
    /// Frontmatter keys with their types, as those of arguments: `check` finds values that are not of them.
    pub keys: Option<IndexMap<Name, ArgumentType>>,
    /// Rules about the values of keys.
    pub rules: Option<Vec<KeyRule>>,
    /// The frontmatter keys by whose values `stepmark next` and files sort the artifacts.
    pub order: Option<Vec<Name>>,
    /// The states, in the order in which people read them.
    pub states: Option<Vec<StateDeclaration>>,
    /// Names that states had before, with those that they have now: they are read, and `stepmark pack check
    /// --rename` writes the new ones.
    pub renamed: Option<IndexMap<Name, Name>>,
    /// Legal changes of the status that no move makes.
    pub transitions: Option<Vec<MoveDeclaration>>,
    /// The moves, by name.
    pub moves: Option<IndexMap<Name, NamedMoveDeclaration>>,
    /// Numbers in the frontmatter that say how often a state was entered.
    pub counters: Option<Vec<CounterDeclaration>>,
    /// The frontmatter keys that say whose status it is.
    pub subject: Option<Vec<Name>>,
    /// The frontmatter key that gets the date of each move, where it is there.
    pub dated: Option<Name>,
    /// Frontmatter keys of lists that only grow.
    pub append_only: Option<Vec<Name>>,
    /// Frontmatter keys that an agent changes by moves alone.
    pub by_moves: Option<Vec<Name>>,
    /// Frontmatter keys under which no other names may stand than these.
    pub closed: Option<BTreeMap<Name, Vec<Name>>>,
    /// The role of those who may change the frontmatter.
    pub writers: Option<Name>,
    /// The role of the people whose approval counts.
    pub approvers: Option<Name>,
}

/// The frontmatter keys in which a kind has what every artifact has.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping with `title`, `parent`, `agent`")]
pub struct ViewDeclaration {
    /// The title, which is its first line.
    pub title: Option<Name>,
    /// The id of the artifact that it is a part of.
    pub parent: Option<Name>,
    /// The agent that works on it.
    pub agent: Option<Name>,
}

pub const MOST_BYTES: usize = 1024 * 1024;
const MOST: [(&str, usize); 3] = [("kinds", 64), ("states", 200), ("moves", 500)];

impl PackDeclaration {
    pub fn read(bytes: &[u8]) -> Result<Self, PackError> {
        Ok(from_region(bytes, &Region::WholeFile)?)
    }

    pub fn template(name: &str) -> String {
        include_str!("template.yaml").replace("NAME", name)
    }

    /// JSON Schema draft 2020-12, for editors.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Self).to_value()
    }

    #[must_use]
    pub fn over(mut self, base: &Self) -> Self {
        let mut kinds = base.kinds.clone();
        for (name, kind) in self.kinds {
            let merged = match kinds.get(&name) {
                Some(below) => kind.over(below),
                None => kind,
            };
            kinds.insert(name, merged);
        }
        self.kinds = kinds;
        self.files = joined(&base.files, self.files, |one, other| one.path == other.path);
        self.records = self.records.or(base.records);
        self
    }

    fn check(&self) -> Result<(), PackError> {
        let wrong = |way, problem| Err(PackError::Pack { pack: self.pack.0.clone(), way, problem });
        let states: usize = self.kinds.values().map(|kind| kind.states.as_ref().map_or(0, Vec::len)).sum();
        let moves: usize = self.kinds.values().map(|kind| kind.moves.as_ref().map_or(0, IndexMap::len)).sum();
        for ((what, most), found) in MOST.iter().zip([self.kinds.len(), states, moves]) {
            if found > *most {
                return wrong(
                    KeyPath::key("kinds"),
                    format!("it has {found} {what}, and {most} are the most"),
                );
            }
        }
        let words = self.kinds.iter().flat_map(|(name, kind)| {
            let way = KeyPath::key("kinds").then(&name.0);
            let command = kind.command.iter().map({
                let way = way.clone();
                move |word| (way.clone().then("command"), word)
            });
            let moves = kind.moves.iter().flatten().map({
                let way = way.clone();
                move |(word, _)| (way.clone().then("moves").then(&word.0), word)
            });
            [(way, name)].into_iter().chain(command).chain(moves)
        });
        for (way, word) in [(KeyPath::key("pack"), &self.pack)].into_iter().chain(words) {
            if !is_word(&word.0) {
                let word = &word.0;
                return wrong(
                    way,
                    format!("`{word}` is no name: write letters, digits, `-` and `_`, a letter first"),
                );
            }
        }
        Ok(())
    }

    fn check_names(&self) -> Result<(), PackError> {
        let wrong = |way, problem| Err(PackError::Pack { pack: self.pack.0.clone(), way, problem });
        for (name, kind) in &self.kinds {
            let way = KeyPath::key("kinds").then(&name.0);
            let named = |(key, own): (&Name, &ArgumentType)| Some((key.clone(), own.target.clone()?));
            let args = kind.moves.iter().flatten().flat_map(|(_, made)| made.args.iter().flatten());
            let mut named = kind.keys.iter().flatten().chain(args).filter_map(named);
            if let Some((key, target)) = named.find(|(_, target)| !self.kinds.contains_key(target)) {
                return wrong(
                    way,
                    format!("`{}` names the kind `{}`, which the pack lacks", key.0, target.0),
                );
            }
            for (place, rule) in kind.rules.iter().flatten().enumerate() {
                if let Some(problem) = rule.problem() {
                    return wrong(way.then("rules").item(place), problem.to_owned());
                }
            }
        }
        for (place, file) in self.files.iter().flatten().enumerate() {
            let way = KeyPath::key("files").item(place);
            if !self.kinds.contains_key(&file.kind) {
                return wrong(way.then("kind"), format!("`{}` is no kind of this pack", file.kind.0));
            }
            if self.files.iter().flatten().take(place).any(|other| other.path == file.path) {
                return wrong(way.then("path"), format!("`{}` is written twice", file.path.0));
            }
            let is_hidden = file.path.0.split('/').any(|part| part.starts_with('.') || part.is_empty());
            if is_hidden || file.path.0.contains('\\') || !file.is_csv() && !file.path.0.ends_with(".json") {
                let problem = "write a path below the project root that ends with `.csv` or `.json`, no part with a `.` in front";
                return wrong(way.then("path"), problem.to_owned());
            }
        }
        Ok(())
    }

    /// The pack of a project, on top of the built-in pack `base`.
    pub fn assemble(&self, base: Option<&Self>) -> Result<Pack, PackError> {
        self.refuse_code()?;
        self.assembled(base)
    }

    pub(crate) fn assembled(&self, base: Option<&Self>) -> Result<Pack, PackError> {
        let merged = base.map(|base| self.clone().over(base));
        let whole = merged.as_ref().unwrap_or(self);
        whole.check()?;
        whole.check_names()?;
        let kinds =
            whole.kinds.iter().map(|(name, kind)| whole.kind(name, kind)).collect::<Result<_, _>>()?;
        let files = whole.files.clone().unwrap_or_default();
        Ok(Pack { name: self.pack.0.clone(), about: self.about.clone(), kinds, files })
    }

    /// Only built-in packs have conditions in Rust.
    fn refuse_code(&self) -> Result<(), PackError> {
        for (name, kind) in &self.kinds {
            let moves = kind.moves.iter().flatten().map(|(_, own)| (own.by.as_ref(), &own.guards));
            let transitions = kind.transitions.iter().flatten().map(|own| (None, &own.guards));
            let mut guards = moves
                .chain(transitions)
                .flat_map(|(by, guards)| by.into_iter().chain(guards.iter().flatten()));
            if let Some(guard) = guards.find(|guard| matches!(guard, Guard::Code(_))) {
                let way = KeyPath::key("kinds").then(&name.0);
                let problem = format!("`{guard}` is a guard of packs that come with stepmark alone");
                return Err(PackError::Pack { pack: self.pack.0.clone(), way, problem });
            }
        }
        Ok(())
    }

    fn kind(&self, name: &Name, declared: &KindDeclaration) -> Result<PackKind, PackError> {
        let wrong =
            |way, problem| PackError::Kind { pack: self.pack.0.clone(), kind: name.0.clone(), way, problem };
        let of = |LifecycleError { way, problem, .. }: LifecycleError| wrong(way, problem.to_string());
        let lifecycle = match &declared.states {
            Some(_) => Some(declared.lifecycle(name).map_err(of)?),
            None if declared.moves.is_some() || declared.transitions.is_some() => {
                return Err(wrong(KeyPath::default(), "it has moves, but no states".to_owned()));
            }
            None => None,
        };
        let view = declared.view.clone().unwrap_or_default();
        let command = declared.command.as_ref().unwrap_or(name).0.clone();
        let commands = lifecycle.as_ref().map(|table| commands(table, &command)).unwrap_or_default();
        let text = |key: Option<Name>| key.map(|key| key.0);
        let kind = Kind {
            name: name.0.clone(),
            plural: declared.plural.clone().unwrap_or_else(|| format!("{}s", name.0)),
            system: self.pack.0.clone(),
            is_work: declared.work.unwrap_or(lifecycle.is_some() && self.records != Some(true)),
            is_record: self.records == Some(true),
            renamed: declared.renamed.iter().flatten().map(|(old, _)| old.0.clone()).collect(),
            is_recorded: self.hand_edits == Some(HandEdits::Recorded),
            title: text(view.title),
            parent: text(view.parent),
            agent: text(view.agent),
            command,
            keys: declared.keys.iter().flatten().map(|(key, kind)| (key.0.clone(), kind.clone())).collect(),
            rules: declared.rules.clone().unwrap_or_default(),
            order: declared.order.iter().flatten().map(|key| key.0.clone()).collect(),
            commands,
            writers: lifecycle.is_none().then(|| text(declared.writers.clone())).flatten(),
            lifecycle: lifecycle.map(Arc::new),
        };
        Ok(PackKind { kind: Arc::new(kind), applies_to: declared.applies_to.clone().unwrap_or_default() })
    }
}

fn joined<T: Clone>(
    below: &Option<Vec<T>>,
    above: Option<Vec<T>>,
    same: fn(&T, &T) -> bool,
) -> Option<Vec<T>> {
    let (mut all, above) = (below.clone().unwrap_or_default(), above.unwrap_or_default());
    for item in above {
        match all.iter_mut().find(|own| same(own, &item)) {
            Some(own) => *own = item,
            None => all.push(item),
        }
    }
    (!all.is_empty()).then_some(all)
}

fn is_word(text: &str) -> bool {
    let is_inner = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    text.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && text.len() <= 80
        && text.chars().all(is_inner)
}

impl KindDeclaration {
    /// A state replaces the state of `base` with the same name.
    fn over(self, base: &Self) -> Self {
        let keys: IndexMap<_, _> =
            base.keys.iter().chain(&self.keys).flatten().map(|(n, k)| (n.clone(), k.clone())).collect();
        let moves: IndexMap<_, _> =
            base.moves.iter().chain(&self.moves).flatten().map(|(n, m)| (n.clone(), m.clone())).collect();
        Self {
            lifecycle: self.lifecycle.or_else(|| base.lifecycle.clone()),
            title: self.title.or_else(|| base.title.clone()),
            plural: self.plural.or_else(|| base.plural.clone()),
            work: self.work.or(base.work),
            command: self.command.or_else(|| base.command.clone()),
            view: self.view.or_else(|| base.view.clone()),
            applies_to: self.applies_to.or_else(|| base.applies_to.clone()),
            states: joined(&base.states, self.states, |one, other| one.name == other.name),
            renamed: self.renamed.or_else(|| base.renamed.clone()),
            transitions: joined(&base.transitions, self.transitions, |_, _| false),
            keys: (!keys.is_empty()).then_some(keys),
            rules: joined(&base.rules, self.rules, |one, other| {
                (one.test, &one.key) == (other.test, &other.key)
            }),
            order: self.order.or_else(|| base.order.clone()),
            moves: (!moves.is_empty()).then_some(moves),
            counters: joined(&base.counters, self.counters, |one, other| one.key == other.key),
            subject: self.subject.or_else(|| base.subject.clone()),
            dated: self.dated.or_else(|| base.dated.clone()),
            append_only: joined(&base.append_only, self.append_only, |one, other| one == other),
            by_moves: joined(&base.by_moves, self.by_moves, |one, other| one == other),
            closed: self.closed.or_else(|| base.closed.clone()),
            writers: self.writers.or_else(|| base.writers.clone()),
            approvers: self.approvers.or_else(|| base.approvers.clone()),
        }
    }

    fn lifecycle(&self, name: &Name) -> Result<Lifecycle, LifecycleError> {
        let mut states = self.states.clone();
        count_in_order(states.as_deref_mut().unwrap_or_default());
        let names: Vec<String> = states.iter().flatten().map(|state| state.name.0.clone()).collect();
        for (old, new) in self.renamed.iter().flatten() {
            let own = states.iter_mut().flatten().find(|state| state.name == *new);
            let own = own.ok_or_else(|| LifecycleError {
                name: name.0.clone(),
                way: KeyPath::key("renamed").then(&old.0),
                problem: LifecycleProblem::UnknownState { word: new.0.clone(), states: names.clone() },
            })?;
            own.synonyms.get_or_insert_default().push(old.clone());
        }
        let declaration = LifecycleDeclaration {
            name: self.lifecycle.as_ref().unwrap_or(name).clone(),
            title: self.title.clone(),
            states,
            moves: self.transitions.clone(),
            counters: self.counters.clone(),
            subject: self.subject.clone(),
            dated: self.dated.clone(),
            append_only: self.append_only.clone(),
            by_moves: self.by_moves.clone(),
            closed: self.closed.clone(),
            writers: self.writers.clone(),
            approvers: self.approvers.clone(),
            applies_to: None,
        };
        Lifecycle::with_moves(&declaration, self.moves.as_ref())
    }
}

/// Ranks states up to the first terminal one, unless a rank is given. Waiting states get none.
fn count_in_order(states: &mut [StateDeclaration]) {
    if states.iter().any(|state| state.rank.is_some()) {
        return;
    }
    let end = states.iter().position(|state| state.terminal == Some(true)).unwrap_or(states.len());
    let on_the_way = states.iter_mut().take(end + 1).filter(|state| state.waits_for.is_none());
    for (rank, state) in (0..).zip(on_the_way) {
        state.rank = Some(rank);
    }
}
