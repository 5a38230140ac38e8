//! The handle through which history is asked.

use std::cell::{Cell, RefCell};

use crate::disk::{SqliteError, cache_database, root::Root};
use crate::history::{
    HistoryError, VerifiedSegments, index::Fault, index::Index, index::LAYOUT, index::catch_up, index::check,
    segments::files,
};

/// The number of times that a question is asked, when files or the database give way under it.
const ATTEMPTS: u32 = 6;

/// The journal of a project, as it is when it is asked: every question first takes in what was appended
/// meanwhile.
///
/// Nothing is written but the index in `.stepmark/local/cache/`, and not even that where there is no journal.
/// A handle serves one thread; opening another costs little.
#[derive(Debug)]
pub struct History {
    root: Root,
    index: RefCell<Option<Index>>,
    /// Set where the index on disk failed: then this run works in memory.
    is_in_memory: Cell<bool>,
}

impl History {
    /// Opens the journal of the project at `root`, and brings its index up to date.
    pub fn open(root: &Root) -> Result<Self, HistoryError> {
        let history = Self { root: root.clone(), index: RefCell::new(None), is_in_memory: Cell::new(false) };
        history.ask(|_| Ok(()))?;
        Ok(history)
    }

    pub const fn root(&self) -> &Root {
        &self.root
    }

    /// Asks the index, after it was brought up to date. Where it, or a segment, gives way under the question,
    /// it is asked again: first of the same index, then of a new one, then of one in memory.
    pub(in crate::history) fn ask<T>(
        &self,
        question: impl Fn(&Index) -> Result<T, Fault>,
    ) -> Result<T, HistoryError> {
        self.ask_watched(question, || {})
    }

    /// The same, which calls `reached` where another process may still empty the index before it is asked.
    /// Tests do so there.
    pub(in crate::history) fn ask_watched<T>(
        &self,
        question: impl Fn(&Index) -> Result<T, Fault>,
        reached: impl Fn(),
    ) -> Result<T, HistoryError> {
        let mut stale = 0;
        for _ in 0..ATTEMPTS {
            self.ensure_index()?;
            let answer = {
                let index = self.index.borrow();
                // `ensure_index` has just made it.
                let Some(index) = index.as_ref() else { continue };
                catch_up::run(index, &self.root).and_then(|()| {
                    reached();
                    // One state of the index for all that the question reads.
                    let _snapshot = index.connection().unchecked_transaction()?;
                    if catch_up::is_emptied(index, &self.root)? {
                        return Ok(None);
                    }
                    question(index).map(Some)
                })
            };
            match answer {
                Ok(Some(answer)) => return Ok(answer),
                // It is filled again.
                Ok(None) => {}
                Err(Fault::Failed(error)) => return Err(error),
                Err(Fault::Database(error)) => self.give_up_index(error)?,
                Err(Fault::Stale) => {
                    stale += 1;
                    // Files may have got other numbers.
                    if let Some(index) = self.index.borrow().as_ref() {
                        index.reader.borrow_mut().forget();
                    }
                    // Once may be a file that was sealed meanwhile; twice is an index that does not fit.
                    if stale > 1 {
                        self.discard_index();
                    }
                }
            }
        }
        Err(HistoryError::Restless)
    }

    fn ensure_index(&self) -> Result<(), HistoryError> {
        let mut index = self.index.borrow_mut();
        // The empty index of a project without a journal gives way to one on disk when there is something to
        // keep.
        let wants_disk = !self.is_in_memory.get() && files::has_folder(&self.root);
        if index.as_ref().is_some_and(|index| index.database.is_on_disk() || !wants_disk) {
            return Ok(());
        }
        *index = None;
        if wants_disk {
            match LAYOUT.open(&self.root) {
                Ok(opened) => {
                    *index = Some(Index::new(opened, &self.root));
                    return Ok(());
                }
                Err(_) => self.is_in_memory.set(true),
            }
        }
        let opened =
            LAYOUT.in_memory().map_err(|source| HistoryError::Index { source: SqliteError(source) })?;
        *index = Some(Index::new(opened, &self.root));
        Ok(())
    }

    /// Makes the index anew if it does not say what the segments were found to hold, and returns whether it
    /// did.
    pub fn renew_if_wrong(&self, verified: &VerifiedSegments) -> Result<bool, HistoryError> {
        let is_wrong = !self.ask(|index| check::is_right(index, verified))?;
        if is_wrong {
            self.discard_index();
        }
        Ok(is_wrong)
    }

    /// Handles a failure of the database: one that is damaged is made anew, else this run works in memory.
    fn give_up_index(&self, error: rusqlite::Error) -> Result<(), HistoryError> {
        let was_in_memory = self.is_in_memory.get();
        if cache_database::is_corrupt(&error) && !was_in_memory {
            self.discard_index();
            return Ok(());
        }
        if was_in_memory {
            return Err(HistoryError::Index { source: SqliteError(error) });
        }
        *self.index.borrow_mut() = None;
        self.is_in_memory.set(true);
        Ok(())
    }

    /// Empties the index; where that fails, this run works in memory.
    fn discard_index(&self) {
        let index = self.index.borrow_mut().take().filter(|index| index.database.is_on_disk());
        match index.map(|index| index.database.renew()) {
            Some(Ok(renewed)) => *self.index.borrow_mut() = Some(Index::new(renewed, &self.root)),
            Some(Err(_)) => self.is_in_memory.set(true),
            None => {}
        }
    }
}
