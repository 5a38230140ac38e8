//! Changes of a slice by people and by the custodian.

use serde_json::{Map, Value as Json, json};

use super::{AsddRefusal, Record, committing::unlock, phase_of};

/// A change of a slice by people or by the custodian.
#[derive(Clone, Debug, PartialEq)]
pub enum SliceChange {
    /// A tech lead lets it go into a state.
    Approve {
        to: String,
        by: String,
    },
    Block {
        reason: String,
        /// The kind of the blocker, and whom it waits for.
        kind: Option<(String, String)>,
    },
    /// A tech lead lets it go on where it was good.
    Unblock,
    Lock {
        /// The actor that wants the lock.
        requester: String,
    },
    Unlock,
    /// A tech lead accepts a file as it is.
    Accept {
        path: String,
        hash: String,
    },
    /// A tech lead says what could not be made sure.
    Review {
        set: Map<String, Json>,
    },
    /// The requirements of what a program does were counted.
    Count {
        validated: i64,
        corrected: i64,
        missing: i64,
    },
}

/// `slice` as it is after `made` at `now` (RFC 3339).
pub fn change(slice: &Record, made: &SliceChange, now: &str) -> Result<Record, AsddRefusal> {
    let status = slice.status();
    let wrong = |wanted| AsddRefusal::Status { slice: slice.id.clone(), status: status.to_owned(), wanted };
    let mut after = slice.clone();
    match made {
        SliceChange::Approve { to, by } => {
            let from = slice.status_below_lock();
            let legal = super::consistency::next_phases(from);
            if !legal.contains(to) {
                let (slice, from, to) = (slice.id.clone(), from.to_owned(), to.clone());
                return Err(AsddRefusal::Move { slice, from, to, legal });
            }
            after.set("approval", json!({"to": to, "by": by, "decided_at": now}));
        }
        SliceChange::Block { reason, kind } => {
            if ["DONE", "BLOCKED"].contains(&status) {
                return Err(wrong("an open phase"));
            }
            after.set("blocked_at_phase", slice.status_below_lock());
            unlock_if_locked(&mut after);
            after.set("status", "BLOCKED");
            after.set("block_reason", reason.as_str());
            if let Some((kind, to)) = kind {
                after.block(kind, to, reason, now);
            }
        }
        SliceChange::Unblock => {
            if status != "BLOCKED" {
                return Err(wrong("BLOCKED"));
            }
            let known = |key: &str| {
                slice.text(key).filter(|status| {
                    phase_of(status).is_some() || *status == "QUICK_FIX" || *status == "BEHAVIOR_CAPTURE"
                })
            };
            let back =
                known("lkg_phase").or_else(|| known("blocked_at_phase")).unwrap_or("DISCOVERY").to_owned();
            after.set("status", back);
            // What was not sure is told to the next attempt, whose files may be there already.
            for key in ["blocked_at_phase", "lkg_phase", "block_reason"] {
                after.values.shift_remove(key);
            }
            after.set("blockers", Vec::<Json>::new());
        }
        SliceChange::Lock { requester } => {
            if ["DONE", "BLOCKED", "LOCK"].contains(&status) {
                return Err(wrong("an open phase"));
            }
            after.set("status_before", status);
            after.set("status", "LOCK");
            after.set("lock", json!({"requester": requester, "timestamp": now}));
        }
        SliceChange::Unlock => {
            if status != "LOCK" {
                return Err(wrong("LOCK"));
            }
            unlock(&mut after);
        }
        SliceChange::Accept { path, hash } => after.set_in("accepted", path, hash.as_str().into()),
        SliceChange::Review { set } => review(&mut after, set),
        SliceChange::Count { validated, corrected, missing } => {
            after.set("requirements_validated", *validated);
            after.set("requirements_corrected", *corrected);
            after.set("requirements_missing", *missing);
            after.set("validation_status", if *missing == 0 { "COMPLETE" } else { "PARTIAL" });
        }
    }
    Ok(after)
}

fn unlock_if_locked(slice: &mut Record) {
    if slice.status() == "LOCK" {
        unlock(slice);
    }
}

/// Writes what a tech lead says, and takes the keys from the list of those that wait.
fn review(slice: &mut Record, set: &Map<String, Json>) {
    let open: Vec<String> = slice
        .texts("needs_human_review")
        .into_iter()
        .filter(|key| !set.contains_key(*key))
        .map(str::to_owned)
        .collect();
    for (key, value) in set {
        slice.set(key, value.clone());
    }
    slice.follow_chain();
    match open.is_empty() {
        true => drop(slice.values.shift_remove("needs_human_review")),
        false => slice.set("needs_human_review", open),
    }
}
