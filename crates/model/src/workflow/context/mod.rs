//! The active artifact and the configuration file that applies.

mod source;
mod answer;

pub use answer::{ContextAnswer, ContextCandidate, ContextOutcome, ContextQuery, answer_context};
pub use source::{
    ContextSource, ContextSourceError, ContextSourceKind, ContextStatement, context_statements,
};
