//! A server with which everything goes wrong now and then.

use std::time::{SystemTime, UNIX_EPOCH};

use super::{Fault, Reply, http::Request};

/// Faults by chance: the same ones for the same number.
pub(crate) struct Chaos {
    state: u64,
    /// Of how many requests in a hundred something goes wrong.
    percent: u64,
    /// True where limits without a time are among the faults: a minute is waited after each.
    has_long_waits: bool,
    /// The number of faults, by name.
    pub(crate) told: std::collections::BTreeMap<&'static str, usize>,
}

impl Chaos {
    pub(crate) fn new(seed: u64, percent: u64, has_long_waits: bool) -> Self {
        Self { state: seed, percent, has_long_waits, told: Default::default() }
    }

    /// Returns what goes wrong with a request; `None` where nothing does.
    pub(super) fn fault(&mut self, request: &Request) -> Option<Fault> {
        if self.draw(100) >= self.percent {
            return None;
        }
        let kinds = if self.has_long_waits { 17 } else { 16 };
        let (name, fault) = one(self.draw(kinds), request.path() == "/graphql");
        *self.told.entry(name).or_default() += 1;
        Some(fault)
    }

    /// A number below `bound` (SplitMix64, Steele, Lea and Flood 2014).
    fn draw(&mut self, bound: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % bound
    }
}

fn one(kind: u64, is_graphql: bool) -> (&'static str, Fault) {
    let error = |status, message: &str| Fault::Answer(Reply::error(status, message));
    let limit = |status, message: &str| Fault::Answer(Reply::error(status, message).with("Retry-After", 1));
    let limited =
        r#"{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded for user ID 1."}]}"#;
    match kind {
        0 => ("connection reset", Fault::Reset),
        1 | 2 => ("reply lost after the work", Fault::LoseReply),
        3 => ("500", error(500, "oops")),
        4 => ("502 with a page of HTML", html()),
        5 => ("503 with a time", limit(503, "Unavailable")),
        6 => ("secondary limit with a time", limit(403, "You have exceeded a secondary rate limit.")),
        7 => ("429", limit(429, "Slow down")),
        8 => ("hourly limit used up", used_up()),
        9 => ("401", error(401, "Bad credentials")),
        10 => ("403", error(403, "Resource not accessible by integration")),
        11 => ("404", error(404, "Not Found")),
        12 => ("410", error(410, "Issues are disabled for this repo")),
        13 => ("422", error(422, "Validation Failed")),
        14 if is_graphql => (
            "limit in an answer with 200",
            Fault::Answer(Reply { status: 200, headers: Vec::new(), body: limited.to_owned() }),
        ),
        14 => ("409", error(409, "Conflict")),
        15 => ("unreadable answer after the work", Fault::Scramble("<html>".to_owned())),
        _ => ("secondary limit without a time", error(403, "You have exceeded a secondary rate limit.")),
    }
}

fn html() -> Fault {
    Fault::Answer(Reply { status: 502, headers: Vec::new(), body: "<html>Bad gateway</html>".to_owned() })
}

#[expect(clippy::disallowed_methods, reason = "the server has a clock of its own")]
fn used_up() -> Fault {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let reply = Reply::error(403, "API rate limit exceeded for user ID 1.");
    Fault::Answer(reply.with("X-RateLimit-Remaining", 0).with("X-RateLimit-Reset", now + 1))
}
