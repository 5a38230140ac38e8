//! Packs that are made up at random, against a model that knows nothing of the engine: no illegal move
//! passes, none that is legal is refused, and a refusal names moves that are legal.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::BTreeMap;

use serde_json::{Value, json};
use stepmark_frontmatter::{KeyPath, Region, apply, from_region};
use stepmark_packs::{MoveCall, NamedMove, PackDeclaration, lifecycle::Lifecycle};

const SEEDS: u64 = 10_000;
const KEYS: [&str; 4] = ["owner", "count", "notes", "result"];

/// Numbers that follow from a seed (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % limit as u64).unwrap()
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

#[derive(Clone, Debug)]
enum Want {
    AtLeast(usize),
    Below(usize),
}

/// A move as the model has it.
#[derive(Clone, Debug)]
struct Made {
    from: Vec<usize>,
    to: usize,
    wants: Vec<Want>,
    needs_reason: bool,
    has_argument: bool,
    writes: Vec<(&'static str, usize)>,
}

/// What an artifact says, as the model has it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Work {
    state: usize,
    owner: Option<String>,
    count: i64,
    notes: Vec<String>,
    result: Option<String>,
}

struct Model {
    states: usize,
    moves: Vec<Made>,
}

impl Model {
    /// States in a row with a move from each to the next, so that all are reached, and some others.
    fn of(numbers: &mut Numbers) -> Self {
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

    fn pack(&self) -> Value {
        let state = |at: usize| json!({"name": format!("s{at}"), "initial": at == 0, "terminal": at + 1 == self.states});
        let moves: serde_json::Map<String, Value> =
            self.moves.iter().enumerate().map(|(at, made)| (format!("m{at}"), made.declared())).collect();
        let states: Vec<Value> = (0..self.states).map(state).collect();
        let kind = json!({"applies_to": [{"path": "w/*.md"}], "states": states, "moves": moves});
        json!({"pack": "made-up", "kinds": {"work": kind}})
    }

    /// What `work` is after the move, or nothing where that is refused.
    fn after(
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

/// The artifact after the move as the engine makes it.
fn made_by(table: &Lifecycle, bytes: &[u8], call: &MoveCall) -> Result<Vec<u8>, String> {
    let state: Value = from_region(bytes, &Region::Frontmatter).unwrap();
    let made: &NamedMove =
        table.named_move(&call.name, state["status"].as_str()).map_err(|refusal| refusal.to_string())?;
    let mut edits = made.edits(&state, call).map_err(|refusal| refusal.to_string())?;
    edits.push(stepmark_frontmatter::Edit::Set {
        path: KeyPath::key("status"),
        value: made.to.as_deref().unwrap().into(),
    });
    let after = apply(bytes, &Region::Frontmatter, &edits).unwrap().bytes;
    let read: Value = from_region(&after, &Region::Frontmatter).unwrap();
    match made.guards.iter().find_map(|guard| guard.unmet_in(&read)) {
        Some(unmet) => Err(unmet),
        None => Ok(after),
    }
}

fn work_of(bytes: &[u8]) -> Work {
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

#[test]
fn the_engine_does_what_the_model_does() {
    let (mut passed, mut refused) = (0, 0);
    for seed in 0..SEEDS {
        let mut numbers = Numbers(seed);
        let model = Model::of(&mut numbers);
        let declaration = PackDeclaration::read(model.pack().to_string().as_bytes()).unwrap();
        let pack = declaration.assemble(None).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let table = pack.kinds[0].kind.lifecycle.clone().unwrap();
        let mut bytes = b"---\n# kept\nstatus: s0 # here\n---\nText\n".to_vec();
        for step in 0..5 {
            let state = work_of(&bytes).state;
            let leads_on = |at: &usize| model.moves[*at].from.contains(&state);
            let out: Vec<usize> = (0..model.moves.len()).filter(leads_on).collect();
            let at = if numbers.below(4) > 0 && !out.is_empty() {
                *numbers.one(&out)
            } else {
                numbers.below(model.moves.len())
            };
            let reason = (*numbers.one(&[true, true, false])).then(|| format!("reason {step}"));
            let argument =
                (model.moves[at].has_argument ^ (numbers.below(8) == 0)).then(|| format!("'{step}: #x"));
            let mut call = MoveCall { name: format!("m{at}"), ..MoveCall::default() };
            call.given = json!({"actor": "agent:w", "reason": reason}).as_object().unwrap().clone();
            call.args.extend(argument.clone().map(|text| ("given".to_owned(), text)));
            let expected = model.after(&work_of(&bytes), at, (reason.as_deref(), argument.as_deref()));
            match (made_by(&table, &bytes, &call), expected) {
                (Ok(after), Some(expected)) => {
                    assert_eq!(work_of(&after), expected, "seed {seed}, step {step}, {call:?}");
                    assert!(after.starts_with(b"---\n# kept\nstatus: s") && after.ends_with(b"---\nText\n"));
                    (bytes, passed) = (after, passed + 1);
                }
                (Err(told), None) => {
                    refused += 1;
                    let state = table.state_of(&format!("s{}", work_of(&bytes).state)).unwrap();
                    if told.contains(" there is ") {
                        let legal: Vec<&str> =
                            table.named_from(state).map(|made| made.name.as_str()).collect();
                        assert!(legal.iter().all(|name| told.contains(&format!("`{name}`"))), "{told}");
                    }
                }
                (got, expected) => {
                    panic!("seed {seed}, step {step}, {call:?}: {got:?} instead of {expected:?}")
                }
            }
        }
    }
    assert!(passed > 10_000 && refused > 10_000, "{passed} passed, {refused} refused");
}
