//! Looking at a project after a change: first what there is, then what is wrong with it.

use std::{sync::Arc, time::Duration};

use stepmark_store::workspace::Workspace;
use stepmark_sync::run::ChangeListener;
use stepmark_view::observation::{FindingRow, Observation, ObservationError};
use tokio::{task::spawn_blocking, time::sleep};

use super::Seen;
use crate::exit::{Exit, Failure};

/// The number of times in a row that what is wrong is not looked for to the end, because something changed
/// meanwhile.
const INTERRUPTED: usize = 3;

/// The time without a change before it is looked for what is wrong: until then, what was seen is drawn, which
/// wants the processors.
const REST: Duration = Duration::from_millis(200);

#[derive(Debug, Default)]
pub(super) struct Look {
    /// The findings of the last whole look, once there was one.
    findings: Option<Vec<FindingRow>>,
    /// The number of looks before this one that did not tell what is wrong.
    interrupted: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Looked {
    Whole,
    /// Something changed before everything was seen.
    Interrupted,
    Failed,
}

impl Look {
    /// Looks at `workspace`. What there is, is told at once where it is known what was wrong before; what is
    /// wrong now follows, unless `changed` tells of a change meanwhile: that is seen first.
    pub(super) async fn at(
        &mut self,
        workspace: &Workspace,
        changed: &mut ChangeListener,
        seen: &impl Fn(Seen),
    ) -> Looked {
        let fresh = Arc::new(workspace.afresh());
        let mut begun = None;
        if let Some(known) = self.findings.clone() {
            let looked = Arc::clone(&fresh);
            match blocking(move || Observation::begin(&looked, known)).await {
                Ok(observation) => {
                    seen(Seen::Observation(Box::new(observation.clone())));
                    begun = Some(observation);
                }
                Err(failure) => return failed(failure, seen),
            }
        }
        let whole = async {
            let Some(begun) = begun else { return blocking(move || Observation::whole(&fresh)).await };
            sleep(REST).await;
            blocking(move || begun.checked(&fresh)).await
        };
        tokio::select! {
            // First: where something has changed already, nothing more is begun. What is under way ends by
            // itself, unheard.
            biased;
            () = changed.changed(), if self.interrupted < INTERRUPTED => {
                self.interrupted += 1;
                Looked::Interrupted
            }
            whole = whole => match whole {
                Ok(whole) => {
                    (self.interrupted, self.findings) = (0, Some(whole.findings.clone()));
                    seen(Seen::Observation(Box::new(whole)));
                    Looked::Whole
                }
                Err(failure) => failed(failure, seen),
            }
        }
    }
}

fn failed(failure: Failure, seen: &impl Fn(Seen)) -> Looked {
    seen(Seen::Failure(failure));
    Looked::Failed
}

/// Looks at a project beside everything else that this thread does.
async fn blocking(
    look: impl FnOnce() -> Result<Observation, ObservationError> + Send + 'static,
) -> Result<Observation, Failure> {
    match spawn_blocking(look).await {
        Ok(looked) => Ok(looked?),
        Err(error) => Err(Failure::new(Exit::Io, format!("cannot look at the project: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use stepmark_sync::run::ChangeSignal;

    use super::*;

    #[tokio::test]
    async fn changes_come_first_but_what_is_wrong_is_told_at_last() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let (changes, seen) = (ChangeSignal::default(), RefCell::new(0));
        let (mut changed, mut look) = (changes.listen(), Look::default());
        let hear = |one: Seen| match one {
            Seen::Observation(_) => *seen.borrow_mut() += 1,
            Seen::Failure(failure) => panic!("{}", failure.message),
            Seen::Trouble(_) => panic!("nothing is watched"),
        };
        assert_eq!(look.at(&workspace, &mut changed, &hear).await, Looked::Whole);
        assert_eq!(seen.take(), 1, "what is wrong is not known before");
        for wanted in [Looked::Interrupted, Looked::Interrupted, Looked::Interrupted, Looked::Whole] {
            changes.tell();
            assert_eq!(look.at(&workspace, &mut changed, &hear).await, wanted);
            assert_eq!(seen.take(), if wanted == Looked::Whole { 2 } else { 1 });
        }
        assert_eq!(
            look.at(&workspace, &mut changed, &hear).await,
            Looked::Interrupted,
            "the last one is still there"
        );
    }
}
