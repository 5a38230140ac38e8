//! Problems of a declared lifecycle.

use crate::spelling::listed;
use stepmark_frontmatter::KeyPath;

/// A lifecycle that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("in the lifecycle `{name}`: {problem}")]
pub struct LifecycleError {
    /// Its name.
    pub name: String,
    /// The way from its declaration to what is wrong.
    pub way: KeyPath,
    /// The kind of problem.
    pub problem: LifecycleProblem,
}

/// A problem of a lifecycle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LifecycleProblem {
    /// It has no states, and its name is not that of a built-in one.
    #[error("it has no `states`, and none of that name is built in; these are: {}", listed(built_in))]
    NoStates {
        /// The names that are built in.
        built_in: Vec<String>,
    },
    /// It declares states under the name of a built-in one.
    #[error("its name is that of a built-in one: choose another, or leave all but `applies_to` away")]
    BuiltInName,
    /// A name is used twice.
    #[error("two lifecycles have this name")]
    NameTwice,
    /// One word means two states.
    #[error("the word `{word}` means the state `{earlier}` already")]
    WordTwice {
        /// The word.
        word: String,
        /// The state that has it.
        earlier: String,
    },
    /// A state that is spoken of does not exist.
    #[error("there is no state `{word}`: the states are {}", listed(states))]
    UnknownState {
        /// The word.
        word: String,
        /// The states.
        states: Vec<String>,
    },
    /// A move leads from a state to itself.
    #[error("a move leads from `{state}` to itself")]
    Loop {
        /// The state.
        state: String,
    },
    /// A move is declared twice, with other guards.
    #[error("the move from `{from}` to `{to}` stands here for the second time")]
    MoveTwice {
        /// The state that is left.
        from: String,
        /// The state that is entered.
        to: String,
    },
    /// No way leads to a state.
    #[error("no moves lead from an initial state to `{state}`")]
    Unreachable {
        /// The state.
        state: String,
    },
    /// Nothing leads out of a state that is not terminal.
    #[error("nothing leads out of `{state}`: give it a move, or make it `terminal: true`")]
    DeadEnd {
        /// The state.
        state: String,
    },
    /// A condition that all artifacts fulfil.
    #[error(
        "it says nothing, so it would apply to everything: give a `path`, `workflow_type`, `key`, `heading` or `delegated`"
    )]
    EmptyCondition,
    /// Two counters share a key, or one has that of the status.
    #[error("the key `{key}` is used already")]
    KeyTwice {
        /// The key.
        key: String,
    },
}
