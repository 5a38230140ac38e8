//! What a server may do wrong.

use super::{Reply, http::Request};

/// What goes wrong.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// This is answered, and nothing is done.
    Answer(Reply),
    /// The connection breaks before anything is done.
    Reset,
    /// No answer comes, and nothing is done.
    Hang,
    /// The work is done, and the connection breaks.
    LoseReply,
    /// The work is done, and the answer has another body.
    Scramble(String),
}

/// Which request it happens to.
#[derive(Clone, Debug)]
pub(crate) struct When {
    /// The method; `MUTATION` is a `POST` that changes something by GraphQL.
    pub(crate) method: &'static str,
    /// How its path ends, without the query.
    pub(crate) path: &'static str,
}

impl When {
    pub(crate) const fn new(method: &'static str, path: &'static str) -> Self {
        Self { method, path }
    }

    pub(super) fn is_about(&self, request: &Request) -> bool {
        let is_mutation = || request.method == "POST" && request.body.contains("\"mutation(");
        let is_method = request.method == self.method || self.method == "MUTATION" && is_mutation();
        is_method && request.path().ends_with(self.path)
    }
}
