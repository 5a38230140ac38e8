//! Changes of a slice by people and by the custodian.

use serde_json::{Map, Value as Json, json};

use super::{AsddRefusal, Record};
use crate::lifecycle::{MoveRefusal, built_in};
use crate::packs::{MoveCall, Refused};

pub fn slice_move(name: &str) -> MoveCall {
    MoveCall::new("asdd", name)
}

/// `slice` as it is after `made` at `now` (RFC 3339): a move of its pack, `accept` with `path` and `hash`, or
/// `review` with what a tech lead says under `set`.
pub fn change(slice: &Record, made: &MoveCall, now: &str) -> Result<Record, AsddRefusal> {
    let mut after = slice.clone();
    let mut call = made.clone().with("now", now).with("phase", slice.status_below_lock());
    match &*made.name {
        "accept" => {
            let text = |name| made.text(name).unwrap_or_default();
            after.set_in("accepted", text("path"), text("hash").into());
            return Ok(after);
        }
        "review" => {
            review(&mut after, made.given.get("set").and_then(Json::as_object).unwrap_or(&Map::new()));
            return Ok(after);
        }
        "approve" => {
            let (from, to) = (slice.status_below_lock(), made.text("to").unwrap_or_default());
            let legal = super::consistency::next_phases(from);
            if !legal.iter().any(|state| state == to) {
                let (slice, from, to) = (slice.id.clone(), from.to_owned(), to.to_owned());
                return Err(AsddRefusal::Move { slice, from, to, legal });
            }
        }
        "raise" | "dissent" => {
            let by = made.text("actor").unwrap_or_default();
            let mut entry = json!({"by": by, "text": made.text("text"), "timestamp": now});
            if made.name == "raise" {
                entry["to"] = "tech_lead".into();
            }
            call = call.with("entry", entry);
        }
        "count" => {
            let is_complete = made.given.get("missing").is_some_and(|missing| *missing == 0);
            call = call.with("status", if is_complete { "COMPLETE" } else { "PARTIAL" });
        }
        _ => {}
    }
    let Some(table) = built_in("asdd-slice") else { return Ok(after) };
    let writes = table.make((slice.status(), &slice.values), &call, |guard| {
        Some(AsddRefusal::Wrong(Box::new(guard.unknown_in(&made.name))))
    });
    for write in writes.map_err(|refused| of_status(slice, refused))? {
        write.apply(&mut after.values);
    }
    Ok(after)
}

/// The refusal of a move that the status does not allow.
fn of_status(slice: &Record, refused: Refused<AsddRefusal>) -> AsddRefusal {
    match refused {
        Refused::Guard(refusal, _) => refusal,
        Refused::Move(refusal) => match *refusal {
            MoveRefusal::NotFrom { wanted, .. } => AsddRefusal::Status {
                slice: slice.id.clone(),
                status: slice.status().to_owned(),
                wanted: match &*wanted {
                    [one] => one.clone(),
                    _ => "an open phase".to_owned(),
                },
            },
            other => AsddRefusal::Wrong(Box::new(other)),
        },
    }
}

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
