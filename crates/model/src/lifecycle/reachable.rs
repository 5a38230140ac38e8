//! Whether every state of a table can be reached and left.

use super::{Lifecycle, LifecycleProblem, LifecycleState};

/// What is wrong with the ways of `lifecycle`, with the place of the state.
pub(super) fn check(lifecycle: &Lifecycle) -> Result<(), (usize, LifecycleProblem)> {
    let reached = reached(lifecycle);
    for (place, state) in lifecycle.states.iter().enumerate() {
        let name = || state.name.clone();
        if !reached.contains(&state) {
            return Err((place, LifecycleProblem::Unreachable { state: name() }));
        }
        if !state.is_terminal && lifecycle.moves_from(state, None).is_empty() {
            return Err((place, LifecycleProblem::DeadEnd { state: name() }));
        }
    }
    Ok(())
}

/// The states to which moves lead from an initial one.
fn reached(lifecycle: &Lifecycle) -> Vec<&LifecycleState> {
    let mut reached: Vec<&LifecycleState> = Vec::new();
    let mut waiting: Vec<&LifecycleState> =
        lifecycle.states.iter().filter(|state| state.is_initial).collect();
    while let Some(state) = waiting.pop() {
        if reached.contains(&state) {
            continue;
        }
        reached.push(state);
        // A way back leads only to where the work has been already.
        let ahead = lifecycle.moves_from(state, None).into_iter().filter(|legal| !legal.is_return);
        waiting.extend(ahead.map(|legal| legal.to));
    }
    reached
}
