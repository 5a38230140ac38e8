//! What comes back.

use std::collections::BTreeMap;

use crate::breaker::Failure;

/// An answer, read to its end.
#[derive(Clone, Debug)]
pub(in crate::tracker) struct HttpReply {
    /// The status.
    pub(in crate::tracker) status: u16,
    /// The headers that are text, by their lower-case names; of several with one name the last.
    pub(in crate::tracker) headers: BTreeMap<String, String>,
    /// The body, without the credential, should the server repeat it.
    pub(in crate::tracker) body: String,
}

/// No answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tracker) enum HttpFailure {
    /// The request never left: nothing was done.
    NotSent(Failure),
    /// It may have arrived.
    Lost(Failure),
}

impl HttpReply {
    /// A header by its lower-case name.
    pub(in crate::tracker) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}
