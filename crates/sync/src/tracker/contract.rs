//! What every tracker can do.

use std::future::Future;

use super::{Answer, Change, Creation, Cursor, Delivered, Page, RequestKind};
use crate::{
    TrackerName,
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
    fn target(&self) -> impl Future<Output = Result<String, Failure>> + Send;

    /// Whether [`Self::preflight`] tells anything.
    fn has_preflight(&self) -> bool {
        false
    }

    /// What will not work with these tickets, each of which may be new: one line for each cause, as far as the tracker can tell before
    /// anything is written. Most tell nothing.
    fn preflight(
        &self,
        tickets: &[(&Ticket, bool)],
    ) -> impl Future<Output = Result<Vec<String>, Failure>> + Send {
        let _ = tickets;
        async { Ok(Vec::new()) }
    }

    /// Makes tickets, each with its marker from the beginning.
    fn create(&self, creations: &[Creation]) -> impl Future<Output = Answer<Delivered>> + Send;

    /// Changes the managed fields of tickets, and no others.
    fn update(&self, changes: &[Change]) -> impl Future<Output = Answer<Delivered>> + Send;

    /// Reads tickets that are known; `None` for one that carries our marker no longer.
    fn read(&self, tickets: &[RemoteTicket]) -> impl Future<Output = Answer<Option<Observed>>> + Send;

    /// Lists the tickets with the label of the project `project`, open and closed, by a way that shows what was just made, where the
    /// tracker has one; never by a search for text.
    fn list(
        &self,
        project: &str,
        from: Option<&Cursor>,
    ) -> impl Future<Output = Result<Page, Failure>> + Send;
}
