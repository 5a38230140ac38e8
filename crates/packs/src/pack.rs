//! Pack files: the kinds of artifacts of a state system, as one YAML file declares them.

use std::sync::{Arc, LazyLock};

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;
use stepmark_frontmatter::{KeyPath, ReadError, Region, from_region};

use crate::{
    ArgumentType, NamedMoveDeclaration,
    lifecycle::Guard,
    lifecycle::{
        ChangeRefusal, ConditionDeclaration, CounterDeclaration, Lifecycle, LifecycleDeclaration,
        LifecycleError, LifecycleProblem, MoveDeclaration, Roles, StateDeclaration, refused_to,
    },
    scalar::Name,
    spelling::argument,
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
    pub closed: Option<std::collections::BTreeMap<Name, Vec<Name>>>,
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

/// A kind of artifacts.
#[derive(Debug)]
pub struct Kind {
    pub name: String,
    pub plural: String,
    /// The pack that declares it, which is also the key of a built-in system in the configuration.
    pub system: String,
    /// True if it can be next, is done at some time, and has a ticket.
    pub is_work: bool,
    /// True if artifacts say under `stepmark_kind` that they are of it.
    pub is_record: bool,
    /// Names that its states had before.
    pub renamed: Vec<String>,
    /// True if only recorded changes of it count.
    pub is_recorded: bool,
    pub title: Option<String>,
    pub parent: Option<String>,
    pub agent: Option<String>,
    /// The word behind `stepmark` for its moves.
    pub command: String,
    pub keys: Vec<(String, ArgumentType)>,
    /// The role of those who may change it, where it has no lifecycle that says so.
    pub writers: Option<String>,
    /// The commands that lead on, by state; `ID` stands for the id.
    pub commands: Vec<(String, String)>,
    pub lifecycle: Option<Arc<Lifecycle>>,
}

/// A kind, and the artifacts that are of it.
#[derive(Clone, Debug)]
pub struct PackKind {
    pub kind: Arc<Kind>,
    pub applies_to: Vec<ConditionDeclaration>,
}

#[derive(Clone, Debug)]
pub struct Pack {
    pub name: String,
    pub about: Option<String>,
    pub kinds: Vec<PackKind>,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("in the kind `{kind}` of the pack `{pack}`: {problem}")]
    Kind { pack: String, kind: String, way: KeyPath, problem: String },
    #[error("in the pack `{pack}`: {problem}")]
    Pack { pack: String, way: KeyPath, problem: String },
}

/// The most bytes of a pack file.
pub const MOST_BYTES: usize = 1024 * 1024;
const MOST: [(&str, usize); 3] = [("kinds", 64), ("states", 200), ("moves", 500)];

impl PackDeclaration {
    pub fn read(bytes: &[u8]) -> Result<Self, PackError> {
        Ok(from_region(bytes, &Region::WholeFile)?)
    }

    pub fn template(name: &str) -> String {
        include_str!("template.yaml").replace("NAME", name)
    }

    /// The JSON Schema (draft 2020-12) of a pack file, for editors.
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
        self.records = self.records.or(base.records);
        self
    }

    /// Refuses what is too large, and names that no command can have.
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

    pub fn assemble(&self, base: Option<&Self>) -> Result<Pack, PackError> {
        self.refuse_code()?;
        let merged = base.map(|base| self.clone().over(base));
        let whole = merged.as_ref().unwrap_or(self);
        whole.check()?;
        let kinds =
            whole.kinds.iter().map(|(name, kind)| whole.kind(name, kind)).collect::<Result<_, _>>()?;
        Ok(Pack { name: self.pack.0.clone(), about: self.about.clone(), kinds })
    }

    /// Refuses conditions in Rust: only a pack that comes with the program has some.
    fn refuse_code(&self) -> Result<(), PackError> {
        if FILES.iter().any(|(name, _)| *name == self.pack.0) {
            return Ok(());
        }
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
            keys: declared.keys.iter().flatten().map(|(key, kind)| (key.0.clone(), *kind)).collect(),
            commands,
            writers: lifecycle.is_none().then(|| text(declared.writers.clone())).flatten(),
            lifecycle: lifecycle.map(Arc::new),
        };
        Ok(PackKind { kind: Arc::new(kind), applies_to: declared.applies_to.clone().unwrap_or_default() })
    }
}

/// The command that leads on from each state: the one that the state names, else its first move that leads to
/// another one.
fn commands(table: &Lifecycle, word: &str) -> Vec<(String, String)> {
    let of = |state: &crate::lifecycle::LifecycleState| {
        let mut moves = table.named_from(state).filter(|made| made.to.is_some());
        let named = || moves.next().map(|made| format!("{word} {} ID", made.name));
        Some((state.name.clone(), state.next.clone().or_else(named)?))
    };
    table.states().iter().filter_map(of).collect()
}

/// The command of a state, which ends with `ID` where it names the artifact.
pub fn command_for(command: &str, id: &str) -> String {
    match command.strip_suffix(" ID") {
        Some(command) => format!("{command} {}", argument(id)),
        None => command.to_owned(),
    }
}

fn is_word(text: &str) -> bool {
    let is_inner = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    text.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && text.len() <= 80
        && text.chars().all(is_inner)
}

impl KindDeclaration {
    /// This kind on top of `base`: a state of the same name takes the place of that one.
    fn over(self, base: &Self) -> Self {
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
        let keys: IndexMap<_, _> =
            base.keys.iter().chain(&self.keys).flatten().map(|(n, k)| (n.clone(), *k)).collect();
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

/// Gives states their ranks where none has one: in their order up to the first terminal one. Those behind it,
/// and those that wait for a person, stand beside the way.
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

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        (&self.system, &self.name) == (&other.system, &other.name)
    }
}

impl Eq for Kind {}

impl Kind {
    /// The built-in kind that a record names under `stepmark_kind`.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().iter().copied().find(|kind| kind.name == name)
    }

    /// The built-in kinds of records.
    pub fn all() -> &'static [&'static Self] {
        static RECORDS: LazyLock<Vec<&'static Kind>> = LazyLock::new(|| {
            let kinds = built_in().flat_map(|pack| &pack.kinds);
            kinds.map(|own| &*own.kind).filter(|kind| kind.is_record).collect()
        });
        &RECORDS
    }

    /// The refusal of a change by `actor` of an artifact without a lifecycle.
    pub fn judge_writer(&self, actor: &str, roles: &Roles) -> Option<ChangeRefusal> {
        refused_to(&self.name, self.writers.as_deref()?, (actor, roles))
    }

    /// The command behind `stepmark` that moves the artifact `id` on from `state`.
    pub fn command(&self, state: &str, id: &str) -> Option<String> {
        let (_, command) = self.commands.iter().find(|(own, _)| *own == state)?;
        Some(command_for(command, id))
    }

    /// The command whose parts move artifacts of the kind, where it has some of its own: `stepmark task`.
    pub fn mover(&self) -> Option<String> {
        let (_, command) = self.commands.first()?;
        command.split(' ').next().map(|word| format!("stepmark {word}"))
    }
}

// Each folder beside this file with a `pack.yaml`, by its name.
include!(concat!(env!("OUT_DIR"), "/packs.rs"));

static BUILT_IN: LazyLock<Vec<(PackDeclaration, Pack)>> = LazyLock::new(|| {
    let mut packs: Vec<_> = FILES.iter().map(|(_, file)| read(file)).collect();
    packs.sort_by_key(|(declaration, _)| declaration.order.unwrap_or(u32::MAX));
    packs
});

#[expect(clippy::expect_used, reason = "the packs are files of this crate, and a test reads each")]
fn read(file: &str) -> (PackDeclaration, Pack) {
    let declaration = PackDeclaration::read(file.as_bytes()).expect("a built-in pack is read");
    let pack = declaration.assemble(None).expect("a built-in pack can be used");
    (declaration, pack)
}

/// The packs that come with the program, in the order in which an artifact is looked for in them.
pub fn built_in() -> impl ExactSizeIterator<Item = &'static Pack> + Clone {
    BUILT_IN.iter().map(|(_, pack)| pack)
}

pub fn declaration_of(name: &str) -> Option<&'static PackDeclaration> {
    BUILT_IN.iter().map(|(declaration, _)| declaration).find(|declaration| declaration.pack.0 == name)
}
