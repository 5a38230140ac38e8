//! Which artifact is active and which configuration file applies.

mod source;
mod answer;

pub use answer::{ContextAnswer, ContextCandidate, ContextOutcome, ContextQuery, answer_context};
pub use source::{
    ContextSource, ContextSourceError, ContextSourceKind, ContextStatement, context_statements,
};
