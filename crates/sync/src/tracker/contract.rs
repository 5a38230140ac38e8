//! What every tracker can do.

use super::{Answer, Change, Creation, Cursor, Delivered, Page, RequestKind};
use crate::{
    BoxFuture, TrackerName,
    breaker::{Failure, Route},
    pace::Cost,
    ticket::{FieldDifference, Marker, MergeError, Observed, RemoteTicket, Ticket},
};

/// A tracker: few methods, each one request or one batch. It decides nothing: no retry, no waiting, no memory; the caller asks breakers
/// and pace before, and writes down intents. A request that fails is an outcome, and never a panic, whatever the tracker answers.
pub trait Tracker: Send + Sync {
    /// Its name.
    fn name(&self) -> &TrackerName;

    /// How many requests it has sent so far, where one call of a method may send several or none; `None` where each sends one.
    fn sent(&self) -> Option<usize> {
        None
    }

    /// A digest of the credential, where it has one: another one may be let do what this one was not.
    fn credential_digest(&self) -> Option<&str> {
        None
    }

    /// How many tickets one request of this kind may be about. At least 1.
    fn batch(&self, kind: RequestKind) -> usize;

    /// All that a request about these tickets concerns, for the breakers.
    fn route(&self, kind: RequestKind, tickets: &[Marker]) -> Route;

    /// What a request about so many tickets costs, for the pace.
    fn cost(&self, kind: RequestKind, tickets: usize) -> Cost;

    /// The managed fields in which a ticket differs from what it should say; `before` is what it was last made to say. Pure.
    ///
    /// # Errors
    /// When it cannot be made to say that.
    fn compare(
        &self,
        desired: &Ticket,
        before: Option<&Ticket>,
        observed: &Observed,
    ) -> Result<Vec<FieldDifference>, MergeError>;

    /// Which repository or project it is, by an id that stays when that is renamed or moved. The one request that is about no ticket.
    fn target(&self) -> BoxFuture<'_, Result<String, Failure>>;

    /// Whether [`Self::preflight`] tells anything.
    fn has_preflight(&self) -> bool {
        false
    }

    /// What will not work with these tickets, each of which may be new: one line for each cause, as far as the tracker can tell before
    /// anything is written. Most tell nothing.
    fn preflight<'t>(
        &'t self,
        tickets: &'t [(&'t Ticket, bool)],
    ) -> BoxFuture<'t, Result<Vec<String>, Failure>> {
        let _ = tickets;
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Makes tickets, each with its marker from the beginning.
    fn create<'t>(&'t self, creations: &'t [Creation]) -> BoxFuture<'t, Answer<Delivered>>;

    /// Changes the managed fields of tickets, and no others.
    fn update<'t>(&'t self, changes: &'t [Change]) -> BoxFuture<'t, Answer<Delivered>>;

    /// Reads tickets that are known; `None` for one that carries our marker no longer.
    fn read<'t>(&'t self, tickets: &'t [RemoteTicket]) -> BoxFuture<'t, Answer<Option<Observed>>>;

    /// Lists the tickets with the label of the project `project`, open and closed, by a way that shows what was just made, where the
    /// tracker has one; never by a search for text.
    fn list<'t>(&'t self, project: &'t str, from: Option<&'t Cursor>)
    -> BoxFuture<'t, Result<Page, Failure>>;
}
