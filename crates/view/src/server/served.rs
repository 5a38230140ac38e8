//! The state that is served, and how much of it at a time.

use std::sync::Arc;

use stepmark_store::workspace::Workspace;
use tokio::sync::{Semaphore, watch};

use super::Shown;

/// The most pages of artifacts that are drawn at a time; others wait. One takes memory and a processor.
const DRAWN: usize = 2;

/// The most who listen at a time: fewer than there are connections, so that pages are answered whoever
/// listens.
const LISTENERS: usize = 128;

/// The state that is served. Clones share how much of it there is at a time.
#[derive(Clone, Debug)]
pub struct Served {
    /// The latest state. When its sender is gone, streams end.
    pub(super) shown: watch::Receiver<Arc<Shown>>,
    pub(super) workspace: Arc<Workspace>,
    pub(super) port: u16,
    /// Places for what is drawn when it is asked for.
    pub(super) drawing: Arc<Semaphore>,
    pub(super) listening: Arc<Semaphore>,
}

impl Served {
    /// The states that come through `shown`, and what `workspace` knows of single artifacts, under `port`.
    pub fn new(shown: watch::Receiver<Arc<Shown>>, workspace: Arc<Workspace>, port: u16) -> Self {
        let places = |count| Arc::new(Semaphore::new(count));
        Self { shown, workspace, port, drawing: places(DRAWN), listening: places(LISTENERS) }
    }

    pub(super) fn now(&self) -> Arc<Shown> {
        Arc::clone(&self.shown.borrow())
    }
}
