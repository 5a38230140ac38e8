//! A declaration → a well-formed table, or its fault and the position of it.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::moves::{NamedMove, NamedMoveDeclaration, RETURN};
use super::{
    Attributes, Counter, Guard, Lifecycle, LifecycleDeclaration, LifecycleState,
    arguments::{CounterDeclaration, MoveDeclaration, StateDeclaration},
    table::{self, PlacedMove},
};
use crate::scalar::{Name, OneOrMore};
use crate::spelling::{folded, listed};
use stepmark_frontmatter::KeyPath;

/// As the source of a move: every state that is not terminal.
pub const ANY: &str = "*";

type Wrong = (KeyPath, LifecycleProblem);

type NamedMoves = IndexMap<Name, NamedMoveDeclaration>;

impl Lifecycle {
    pub fn assemble(declaration: &LifecycleDeclaration) -> Result<Self, LifecycleError> {
        Self::with_moves(declaration, None)
    }

    pub(crate) fn with_moves(
        declaration: &LifecycleDeclaration,
        named: Option<&NamedMoves>,
    ) -> Result<Self, LifecycleError> {
        let wrong = |(way, problem)| LifecycleError { name: declaration.name.0.clone(), way, problem };
        Self::table(declaration, named).map_err(wrong)
    }

    fn table(declaration: &LifecycleDeclaration, named: Option<&NamedMoves>) -> Result<Self, Wrong> {
        let states = declaration.states.as_deref().unwrap_or_default();
        let states = Words::read(states)?;
        let mut moves = states.moves(declaration.moves.as_deref().unwrap_or_default())?;
        let named = states.named(named, &mut moves)?;
        let counters = states.counters(declaration.counters.as_deref().unwrap_or_default())?;
        let Words { states, words } = states;
        let (name, title) = (declaration.name.0.clone(), declaration.title.clone());
        let subject = declaration.subject.iter().flatten().map(|key| key.0.clone()).collect();
        let attributes = Attributes::of(declaration);
        let dated = declaration.dated.as_ref().map(|key| key.0.clone());
        let lifecycle =
            Self { name, title, states, moves, named, counters, subject, dated, attributes, words };
        table::check_reachable(&lifecycle)
            .map_err(|(place, problem)| (KeyPath::key("states").item(place), problem))?;
        Ok(lifecycle)
    }
}

struct Words {
    states: Vec<LifecycleState>,
    words: BTreeMap<String, usize>,
}

impl Words {
    fn read(declared: &[StateDeclaration]) -> Result<Self, Wrong> {
        let has_initial = declared.iter().any(|state| state.initial == Some(true));
        let mut read = Self { states: Vec::new(), words: BTreeMap::new() };
        for (place, state) in declared.iter().enumerate() {
            let way = KeyPath::key("states").item(place);
            let synonyms = state.synonyms.as_deref().unwrap_or_default();
            read.add(place, &state.name, way.clone().then("name"), declared)?;
            for (at, synonym) in synonyms.iter().enumerate() {
                read.add(place, synonym, way.clone().then("synonyms").item(at), declared)?;
            }
            read.states.push(LifecycleState {
                name: state.name.0.clone(),
                synonyms: synonyms.iter().map(|synonym| synonym.0.clone()).collect(),
                meaning: state.meaning.clone(),
                rank: state.rank,
                is_initial: state.initial.unwrap_or(!has_initial && place == 0),
                is_terminal: state.terminal.unwrap_or(false),
                is_frozen: state.frozen.unwrap_or(false),
                return_to: state.return_to.iter().flat_map(|keys| &keys.0).map(|key| key.0.clone()).collect(),
                next: state.next.clone(),
                waits_for_person: state.waits_for.is_some(),
                sets: state.sets.clone().unwrap_or_default(),
                while_in: state.while_in.clone().unwrap_or_default(),
                once: state.once.clone().unwrap_or_default(),
                read: state.read.clone().unwrap_or_default(),
            });
        }
        Ok(read)
    }

    fn add(
        &mut self,
        place: usize,
        word: &Name,
        way: KeyPath,
        declared: &[StateDeclaration],
    ) -> Result<(), Wrong> {
        match self.words.insert(folded(&word.0), place) {
            None => Ok(()),
            Some(earlier) => {
                let earlier = declared[earlier].name.0.clone();
                Err((way, LifecycleProblem::WordTwice { word: word.0.clone(), earlier }))
            }
        }
    }

    fn find(&self, word: &Name, way: &KeyPath) -> Result<usize, Wrong> {
        self.words.get(&folded(&word.0)).copied().ok_or_else(|| {
            let states = self.states.iter().map(|state| state.name.clone()).collect();
            (way.clone(), LifecycleProblem::UnknownState { word: word.0.clone(), states })
        })
    }

    fn find_all(&self, words: &OneOrMore<Name>, way: &KeyPath) -> Result<Vec<(usize, KeyPath)>, Wrong> {
        let placed = words.0.iter().enumerate().map(|(at, word)| {
            let way = way.clone().item(at);
            Ok((self.find(word, &way)?, way))
        });
        placed.collect()
    }

    /// Moves out of one state come before moves out of any.
    fn moves(&self, declared: &[MoveDeclaration]) -> Result<Vec<PlacedMove>, Wrong> {
        let mut moves: Vec<PlacedMove> = Vec::new();
        let mut from_any: Vec<PlacedMove> = Vec::new();
        for (place, declared) in declared.iter().enumerate() {
            let way = KeyPath::key("moves").item(place);
            let guards = declared.guards.clone().unwrap_or_default();
            let targets = self.find_all(&declared.to, &way.clone().then("to"))?;
            for (at, from) in declared.from.0.iter().enumerate() {
                let way = way.clone().then("from").item(at);
                for (to, to_way) in &targets {
                    if from.0 == ANY {
                        self.add_from_any(&mut from_any, *to, &guards)
                            .map_err(|wrong| (to_way.clone(), wrong))?;
                    } else {
                        let from = self.find(from, &way)?;
                        let added = PlacedMove { from, to: *to, guards: guards.clone() };
                        self.add_move(&mut moves, added).map_err(|wrong| (to_way.clone(), wrong))?;
                    }
                }
            }
        }
        let is_said = |any: &PlacedMove| moves.iter().any(|said| (said.from, said.to) == (any.from, any.to));
        from_any.retain(|any| !is_said(any));
        moves.extend(from_any);
        Ok(moves)
    }

    fn add_from_any(
        &self,
        moves: &mut Vec<PlacedMove>,
        to: usize,
        guards: &[Guard],
    ) -> Result<(), LifecycleProblem> {
        if moves.iter().any(|earlier| earlier.to == to) {
            let to = self.states[to].name.clone();
            return Err(LifecycleProblem::MoveTwice { from: ANY.to_owned(), to });
        }
        let is_left = |place: &usize| *place != to && !self.states[*place].is_terminal;
        let places = (0..self.states.len()).filter(is_left);
        moves.extend(places.map(|from| PlacedMove { from, to, guards: guards.to_vec() }));
        Ok(())
    }

    fn add_move(&self, moves: &mut Vec<PlacedMove>, added: PlacedMove) -> Result<(), LifecycleProblem> {
        let name = |place: usize| self.states[place].name.clone();
        if added.from == added.to {
            return Err(LifecycleProblem::Loop { state: name(added.from) });
        }
        if moves.iter().any(|earlier| (earlier.from, earlier.to) == (added.from, added.to)) {
            return Err(LifecycleProblem::MoveTwice { from: name(added.from), to: name(added.to) });
        }
        moves.push(added);
        Ok(())
    }

    /// A status change that only named moves make, and no transition, requires what all of them require.
    fn named(
        &self,
        declared: Option<&NamedMoves>,
        moves: &mut Vec<PlacedMove>,
    ) -> Result<Vec<NamedMove>, Wrong> {
        let said = moves.len();
        let mut named = Vec::new();
        for (name, declared) in declared.into_iter().flatten() {
            let way = KeyPath::key("moves").then(&name.0);
            let is_back = declared.to.as_ref().is_some_and(|to| to.0 == RETURN);
            let to = declared.to.as_ref().filter(|_| !is_back);
            let to = to.map(|to| self.find(to, &way.clone().then("to"))).transpose()?;
            let (any, listed): (Vec<&Name>, Vec<&Name>) =
                declared.from.0.iter().partition(|from| from.0 == ANY);
            let listed = OneOrMore(listed.into_iter().cloned().collect());
            let found =
                self.find_all(&listed, &way.clone().then("from"))?.into_iter().map(|(place, _)| place);
            let open =
                |place: &usize| Some(*place) != to && !self.states[*place].is_terminal && !any.is_empty();
            let from: Vec<usize> = (0..self.states.len()).filter(open).chain(found).collect();
            let name_of = |place: usize| self.states[place].name.clone();
            let read = NamedMove::read(
                &name.0,
                declared,
                (
                    from.iter().copied().map(name_of).collect(),
                    to.map(name_of).or_else(|| is_back.then(|| RETURN.to_owned())),
                ),
            )
            .map_err(|(inner, problem)| {
                let way = KeyPath(way.0.iter().cloned().chain(inner.0).collect());
                (way, LifecycleProblem::Move { name: name.0.clone(), problem })
            })?;
            for (from, to) in
                from.into_iter().filter_map(|from| Some((from, to?))).filter(|(from, to)| from != to)
            {
                match moves.iter_mut().position(|own| (own.from, own.to) == (from, to)) {
                    Some(place) if place >= said => {
                        moves[place].guards.retain(|guard| read.guards.contains(guard))
                    }
                    Some(_) => {}
                    None => moves.push(PlacedMove { from, to, guards: read.guards.clone() }),
                }
            }
            named.push(read);
        }
        Ok(named)
    }

    fn counters(&self, declared: &[CounterDeclaration]) -> Result<Vec<Counter>, Wrong> {
        let mut counters: Vec<Counter> = Vec::new();
        for (place, declared) in declared.iter().enumerate() {
            let way = KeyPath::key("counters").item(place);
            let key = declared.key.0.clone();
            let remembers =
                |state: &LifecycleState| state.return_to.contains(&key) || state.sets.contains_key(&key);
            let is_used = counters.iter().any(|earlier| earlier.key == key);
            if is_used || key == "status" || self.states.iter().any(remembers) {
                return Err((way.then("key"), LifecycleProblem::KeyTwice { key }));
            }
            let named = |words: &OneOrMore<Name>, way: &KeyPath| {
                let places = self.find_all(words, way)?;
                Ok::<_, Wrong>(places.into_iter().map(|(place, _)| self.states[place].name.clone()).collect())
            };
            let some = |words: &Option<OneOrMore<Name>>, key: &str| match words {
                Some(words) => named(words, &way.clone().then(key)),
                None => Ok(Vec::new()),
            };
            counters.push(Counter {
                key,
                entering: named(&declared.entering, &way.clone().then("entering"))?,
                leaving: some(&declared.leaving, "leaving")?,
                at_most: declared.at_most.clone(),
                reset_by: some(&declared.reset_by, "reset_by")?,
                reset_leaving: some(&declared.reset_leaving, "reset_leaving")?,
            });
        }
        Ok(counters)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("in the lifecycle `{name}`: {problem}")]
pub struct LifecycleError {
    pub name: String,
    pub way: KeyPath,
    pub problem: LifecycleProblem,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LifecycleProblem {
    #[error("it has no `states`, and none of that name is built in; these are: {}", listed(built_in))]
    NoStates { built_in: Vec<String> },
    #[error("its name is that of a built-in one: choose another, or leave all but `applies_to` away")]
    BuiltInName,
    #[error("two lifecycles have this name")]
    NameTwice,
    #[error("the word `{word}` means the state `{earlier}` already")]
    WordTwice { word: String, earlier: String },
    #[error("there is no state `{word}`: the states are {}", listed(states))]
    UnknownState { word: String, states: Vec<String> },
    #[error("a move leads from `{state}` to itself")]
    Loop { state: String },
    #[error("the move from `{from}` to `{to}` stands here for the second time")]
    MoveTwice { from: String, to: String },
    #[error("no moves lead from an initial state to `{state}`")]
    Unreachable { state: String },
    #[error("nothing leads out of `{state}`: give it a move, or make it `terminal: true`")]
    DeadEnd { state: String },
    #[error(
        "it says nothing, so it would apply to everything: give a `path`, `workflow_type`, `key`, `heading` or `delegated`"
    )]
    EmptyCondition,
    #[error("the move `{name}`: {problem}")]
    Move { name: String, problem: String },
    #[error("the key `{key}` is used already")]
    KeyTwice { key: String },
}
