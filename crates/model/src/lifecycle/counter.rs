//! How often a state was entered.

/// A number in the frontmatter that says how often a state was entered: attempts, retries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The frontmatter key of the number. Without it the number is 0.
    pub key: String,
    /// The states whose entering counts.
    pub entering: Vec<String>,
    /// How high it may get: a move that would go beyond is refused.
    pub at_most: Option<u64>,
    /// The states whose entering sets it to 0.
    pub reset_by: Vec<String>,
}
