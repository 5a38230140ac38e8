//! What the configuration accepts.

use crate::check::Rule;

/// Findings that a project accepts in some of its artifacts; which ones, the configuration says beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The rules that may be broken.
    pub rules: Vec<&'static Rule>,
    /// Why.
    pub reason: String,
}
