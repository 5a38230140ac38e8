//! Packs that are made up at random, and a model of them that knows nothing of the engine.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use stepmark_frontmatter::{Region, from_region};

pub(crate) const KEYS: [&str; 4] = ["owner", "count", "notes", "result"];

/// Numbers that follow from a seed (SplitMix64).
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % limit as u64).unwrap()
    }

    pub(crate) fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Want {
    AtLeast(usize),
    Below(usize),
}

/// A move as the model has it.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) from: Vec<usize>,
    to: usize,
    wants: Vec<Want>,
    needs_reason: bool,
    pub(crate) has_argument: bool,
    writes: Vec<(&'static str, usize)>,
}

/// What an artifact says, as the model has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Work {
    pub(crate) state: usize,
    owner: Option<String>,
    count: i64,
    notes: Vec<String>,
    result: Option<String>,
}

pub(crate) struct Model {
    states: usize,
    pub(crate) moves: Vec<Made>,
}

impl Model {
    /// States in a row with a move from each to the next, so that all are reached, and some others.
    pub(crate) fn of(numbers: &mut Numbers) -> Self {
        let states = 2 + numbers.below(7);
        let mut ways: Vec<(Vec<usize>, usize)> = (1..states).map(|to| (vec![to - 1], to)).collect();
        for _ in 0..numbers.below(6) {
            let to = numbers.below(states);
            let from: Vec<usize> = (0..states).filter(|from| *from != to && numbers.below(3) == 0).collect();
            if !from.is_empty() {
                ways.push((from, to));
            }
        }
        let made = |(from, to): (Vec<usize>, usize)| {
            let mut wants = Vec::new();
            if numbers.below(4) == 0 {
                wants.push(Want::AtLeast(1 + numbers.below(2)));
            }
            if numbers.below(4) == 0 {
                wants.push(Want::Below(1 + numbers.below(4)));
            }
            let writes = KEYS.iter().filter(|_| numbers.below(2) == 0).copied().collect::<Vec<_>>();
            let writes = writes.into_iter().map(|key| (key, numbers.below(3))).collect();
            let (needs_reason, has_argument) = (numbers.below(4) == 0, numbers.below(3) == 0);
            Made { from, to, wants, needs_reason, has_argument, writes }
        };
        let moves = ways.into_iter().map(made).collect();
        Self { states, moves }
    }

    pub(crate) fn pack(&self) -> Value {
        let state = |at: usize| json!({"name": format!("s{at}"), "initial": at == 0, "terminal": at + 1 == self.states});
        let moves: serde_json::Map<String, Value> =
            self.moves.iter().enumerate().map(|(at, made)| (format!("m{at}"), made.declared())).collect();
        let states: Vec<Value> = (0..self.states).map(state).collect();
        let kind = json!({"applies_to": [{"path": "w/*.md"}], "states": states, "moves": moves});
        json!({"pack": "made-up", "kinds": {"work": kind}})
    }

    /// What `work` is after the move, or nothing where that is refused.
    pub(crate) fn after(
        &self,
        work: &Work,
        at: usize,
        (reason, argument): (Option<&str>, Option<&str>),
    ) -> Option<Work> {
        let made = &self.moves[at];
        let is_given = (reason.is_some() || !made.needs_reason) && (argument.is_some() == made.has_argument);
        if !made.from.contains(&work.state) || !is_given {
            return None;
        }
        let mut after = Work { state: made.to, ..work.clone() };
        for (key, how) in &made.writes {
            match (*key, how) {
                ("owner", 0) => after.owner = Some("agent:w".to_owned()),
                ("owner", _) => after.owner = None,
                ("count", 0) => after.count = 0,
                ("count", _) => after.count += 1,
                ("notes", 0) => after.notes.clear(),
                ("notes", _) => after.notes.extend(reason.map(str::to_owned)),
                _ => after.result = argument.map_or(after.result, |text| Some(text.to_owned())),
            }
        }
        let holds = |want: &Want| match want {
            Want::AtLeast(least) => after.count >= i64::try_from(*least).unwrap(),
            Want::Below(most) => after.count < i64::try_from(*most).unwrap(),
        };
        made.wants.iter().all(holds).then_some(after)
    }
}

impl Made {
    fn declared(&self) -> Value {
        let from: Vec<String> = self.from.iter().map(|state| format!("s{state}")).collect();
        let mut parts: BTreeMap<&str, serde_json::Map<String, Value>> = BTreeMap::new();
        let mut clear: Vec<&str> = Vec::new();
        for (key, how) in &self.writes {
            let (part, value) = match (*key, how) {
                ("owner", 0) => ("set", json!("$actor")),
                ("owner", _) | ("notes", 0) => {
                    clear.push(key);
                    continue;
                }
                ("count", 0) => ("set", json!(0)),
                ("count", _) => ("add", json!(1)),
                ("notes", _) => ("push", json!("$reason")),
                _ if self.has_argument => ("set", json!("$given")),
                _ => continue,
            };
            parts.entry(part).or_default().insert((*key).to_owned(), value);
        }
        let guards = self.wants.iter().map(|want| match want {
            Want::AtLeast(least) => format!("at-least(count, {least})"),
            Want::Below(most) => format!("below(count, {most})"),
        });
        let mut declared =
            json!({"from": from, "to": format!("s{}", self.to), "guards": guards.collect::<Vec<_>>()});
        for (part, keys) in parts {
            declared[part] = keys.into();
        }
        if !clear.is_empty() {
            declared["clear"] = json!(clear);
        }
        if self.needs_reason {
            declared["needs"] = json!("reason");
        }
        if self.has_argument {
            declared["args"] = json!({"given": "text"});
        }
        declared
    }
}

pub(crate) fn work_of(bytes: &[u8]) -> Work {
    let state: Value = from_region(bytes, &Region::Frontmatter).unwrap();
    let text = |key: &str| state[key].as_str().map(str::to_owned);
    let notes = state["notes"].as_array().into_iter().flatten().map(|note| note.as_str().unwrap().to_owned());
    Work {
        state: state["status"].as_str().unwrap()[1..].parse().unwrap(),
        owner: text("owner"),
        count: state["count"].as_i64().unwrap_or_default(),
        notes: notes.collect(),
        result: text("result"),
    }
}
