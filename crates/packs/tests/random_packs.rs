//! Packs that are made up at random, against a model that knows nothing of the engine: no illegal move
//! passes, none that is legal is refused, and a refusal names moves that are legal.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod made_up;

use made_up::{Model, Numbers, work_of};
use serde_json::{Value, json};
use stepmark_frontmatter::{KeyPath, Region, apply, from_region};
use stepmark_packs::{MoveCall, NamedMove, PackDeclaration, lifecycle::Lifecycle};

const SEEDS: u64 = 10_000;

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
