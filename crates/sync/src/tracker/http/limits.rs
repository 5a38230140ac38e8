//! How long and how much is waited for.

use std::time::Duration;

/// The limits of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpLimits {
    /// Until there is a connection.
    pub connect: Duration,
    /// From the beginning to the last byte of the answer, redirects included.
    pub answer: Duration,
    /// How many bytes an answer has at most. A page of a hundred issues whose bodies are full has 26 MB.
    pub answer_bytes: usize,
    /// How many redirects are followed.
    pub redirects: u8,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            answer: Duration::from_secs(60),
            answer_bytes: 48 * 1024 * 1024,
            redirects: 3,
        }
    }
}
