//! Remedies of refusals: a command that works.

use stepmark_model::{artifact::Kind, flows::FlowRefusal, spelling::argument};
use stepmark_store::flows::{FlowError, FlowRecordsError};
use stepmark_store::git::GitVersionError;

/// The remedy of `error`, where there is one that the error does not say itself.
pub(super) fn remedy(error: &FlowError) -> Option<String> {
    let flow_of = |id: &str| argument(id.split('.').next().unwrap_or(id));
    Some(match error {
        FlowError::Records(FlowRecordsError::Unknown { what: "flow", .. }) => "`stepmark flow show` lists the flows".to_owned(),
        FlowError::Records(FlowRecordsError::Unknown { what: "graph", .. }) => {
            "`stepmark flow graph create FILE` makes a graph of a file".to_owned()
        }
        FlowError::Taken { what: "graph", .. } => {
            "`stepmark flow graph revise FILE` makes its next version".to_owned()
        }
        FlowError::Taken { .. } => "give another one with --id".to_owned(),
        FlowError::Edited { flow, .. } => format!(
            "a person decides: `stepmark flow accept {0}` takes the edits, `stepmark flow restore {0}` takes them back",
            argument(flow)
        ),
        FlowError::Gone { flow, .. } => {
            format!("`stepmark flow restore {}` brings it and all others back", argument(flow))
        }
        FlowError::NoCheckpoint { task } => {
            format!("`stepmark flow checkpoint {}` makes one before the attempt is verified", argument(task))
        }
        FlowError::OddBranch { .. } => "`git branch` lists the branches: name one with --into".to_owned(),
        FlowError::NoBranch => "name one with --into BRANCH".to_owned(),
        FlowError::BranchMoved { .. } => {
            "`stepmark flow merge reject FLOW`, then `stepmark flow merge prepare FLOW`".to_owned()
        }
        FlowError::BranchCheckedOut { .. } => {
            "check out something else (`git switch --detach`), or prepare the merge with --into another branch"
                .to_owned()
        }
        FlowError::Busy { .. } => "try it again".to_owned(),
        FlowError::Git(GitVersionError::NoCommit { .. }) => {
            "make a first commit that the task can begin from: `git commit --allow-empty --message start`".to_owned()
        }
        FlowError::Refused(refusal) => match refusal.first() {
            FlowRefusal::Status { kind, id, status, .. } => {
                let kind = Kind::named(kind.name())?;
                let goes_on = kind.command(status, id)?;
                format!("`stepmark {goes_on}` goes on, `stepmark flow why {}` says why", argument(id))
            }
            FlowRefusal::Waits { task: _, open } => {
                let first = open.first()?;
                format!("`stepmark flow why {}` says what is in the way", argument(first))
            }
            FlowRefusal::ScopeTaken { .. } => "it can be claimed when that attempt has ended".to_owned(),
            FlowRefusal::Exhausted { .. } => {
                "a person may allow more: `stepmark flow retry FLOW TASK --max-attempts N`".to_owned()
            }
            FlowRefusal::NoTask { flow, .. } => {
                format!("`stepmark flow show {}` lists its tasks", argument(flow))
            }
            FlowRefusal::NoResult { check, .. } => {
                format!("give --check {}=pass or --check {0}=fail, or --run", argument(check))
            }
            FlowRefusal::NoJudgement { .. } => {
                "give --decision pass, soft-fail or hard-fail".to_owned()
            }
            FlowRefusal::GraphChanged { .. } => {
                "`stepmark flow restore FLOW` brings the graph back; `stepmark flow graph revise FILE` makes another"
                    .to_owned()
            }
            FlowRefusal::NothingReady { flow, .. } => {
                format!("`stepmark flow show {}` shows the tasks", flow_of(flow))
            }
            FlowRefusal::CheckpointMeanwhile { .. } => "verify it again".to_owned(),
            FlowRefusal::NoCheckpoint { flow, .. } => format!(
                "merge it by hand, or say so: `stepmark flow merge prepare {} --without-checkpoint`",
                argument(flow)
            ),
            FlowRefusal::NotApproved { flow } | FlowRefusal::OtherPlan { flow } => {
                format!("a person approves it: `stepmark flow merge approve {}`", argument(flow))
            }
            FlowRefusal::Conflicts { flow, .. } => format!(
                "`stepmark flow merge reject {}`, merge the branches `exec/…` by hand, and prepare it again",
                argument(flow)
            ),
            _ => return None,
        },
        _ => return None,
    })
}
