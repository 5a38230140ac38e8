//! The difference of two frontmatters as data: enough to go from the one to the other, and back.
//!
//! Both sides are JSON as [`Value::to_json`] gives it. The order of keys is no part of it, as it is none of
//! the state.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::{Edit, KeyPath, Segment, Value};

/// One step from an older value to a newer one. Paths are those at its turn: the changes before it are made
/// already.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The path: a key of a map, or the index of an item.
    pub path: KeyPath,
    /// The operation at the path.
    #[serde(flatten)]
    pub op: Operation,
}

/// The operation at the path of a [`Change`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum Operation {
    /// A value becomes another.
    Set {
        /// The value before.
        old: Json,
        /// The value after.
        new: Json,
    },
    /// A key or an item comes in; later items move on.
    Insert {
        /// The value after.
        new: Json,
    },
    /// A key or an item goes; later items move up.
    Remove {
        /// The value before.
        old: Json,
    },
}

/// A change does not fit the value that it is to be made in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` is not what the change expects there")]
pub struct ChangeMismatch {
    /// The place of the change.
    pub path: KeyPath,
}

/// The changes that lead from `old` to `new`.
pub fn diff(old: &Json, new: &Json) -> Vec<Change> {
    let mut changes = Vec::new();
    compare(&KeyPath::default(), old, new, &mut changes);
    changes
}

fn compare(path: &KeyPath, old: &Json, new: &Json, changes: &mut Vec<Change>) {
    match (old, new) {
        (old, new) if old == new => {}
        (Json::Object(old), Json::Object(new)) => compare_maps(path, old, new, changes),
        (Json::Array(old), Json::Array(new)) => compare_lists(path, old, new, changes),
        (old, new) => {
            let op = Operation::Set { old: old.clone(), new: new.clone() };
            changes.push(Change { path: path.clone(), op });
        }
    }
}

fn compare_maps(path: &KeyPath, old: &Map<String, Json>, new: &Map<String, Json>, changes: &mut Vec<Change>) {
    for (key, value) in old {
        let path = path.clone().then(key);
        match new.get(key) {
            Some(now) => compare(&path, value, now, changes),
            None => changes.push(Change { path, op: Operation::Remove { old: value.clone() } }),
        }
    }
    for (key, value) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
        changes.push(Change { path: path.clone().then(key), op: Operation::Insert { new: value.clone() } });
    }
}

/// Compares two lists: common items at start and end stay; between, items are set as far as both have some,
/// and the rest comes or goes.
fn compare_lists(path: &KeyPath, old: &[Json], new: &[Json], changes: &mut Vec<Change>) {
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[start..], &new[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
    let both = old.len().min(new.len());
    for (place, (old, new)) in old.iter().zip(new).enumerate() {
        compare(&path.clone().item(start + place), old, new, changes);
    }
    // From the end, so that the places of those that still go do not move.
    for (place, value) in old.iter().enumerate().skip(both).rev() {
        let op = Operation::Remove { old: value.clone() };
        changes.push(Change { path: path.clone().item(start + place), op });
    }
    for (place, value) in new[both..].iter().enumerate() {
        let op = Operation::Insert { new: value.clone() };
        changes.push(Change { path: path.clone().item(start + both + place), op });
    }
}

/// Makes `changes` in `value`, one after the other.
///
/// # Errors
/// When a place is missing or does not hold what a change expects; `value` then has the changes before it.
pub fn make_changes(value: &mut Json, changes: &[Change]) -> Result<(), ChangeMismatch> {
    changes.iter().try_for_each(|change| {
        make(value, change).ok_or_else(|| ChangeMismatch { path: change.path.clone() })
    })
}

fn make(value: &mut Json, change: &Change) -> Option<()> {
    let Some((last, way)) = change.path.0.split_last() else {
        let Operation::Set { old, new } = &change.op else { return None };
        return replace(value, old, new);
    };
    let parent = way.iter().try_fold(value, |value, segment| match (segment, value) {
        (Segment::Key(key), Json::Object(map)) => map.get_mut(key),
        (Segment::Index(index), Json::Array(items)) => items.get_mut(*index),
        _ => None,
    })?;
    match (last, parent, &change.op) {
        (Segment::Key(key), Json::Object(map), Operation::Set { old, new }) => {
            replace(map.get_mut(key)?, old, new)
        }
        (Segment::Key(key), Json::Object(map), Operation::Insert { new }) if !map.contains_key(key) => {
            map.insert(key.clone(), new.clone());
            Some(())
        }
        (Segment::Key(key), Json::Object(map), Operation::Remove { old }) if map.get(key) == Some(old) => {
            map.shift_remove(key);
            Some(())
        }
        (Segment::Index(index), Json::Array(items), Operation::Set { old, new }) => {
            replace(items.get_mut(*index)?, old, new)
        }
        (Segment::Index(index), Json::Array(items), Operation::Insert { new }) if *index <= items.len() => {
            items.insert(*index, new.clone());
            Some(())
        }
        (Segment::Index(index), Json::Array(items), Operation::Remove { old })
            if items.get(*index) == Some(old) =>
        {
            items.remove(*index);
            Some(())
        }
        _ => None,
    }
}

fn replace(place: &mut Json, old: &Json, new: &Json) -> Option<()> {
    (place == old).then(|| *place = new.clone())
}

/// The changes that undo `changes`, made in the order given here.
pub fn inverse(changes: &[Change]) -> Vec<Change> {
    let inverse = |change: &Change| {
        let op = match &change.op {
            Operation::Set { old, new } => Operation::Set { old: new.clone(), new: old.clone() },
            Operation::Insert { new } => Operation::Remove { old: new.clone() },
            Operation::Remove { old } => Operation::Insert { new: old.clone() },
        };
        Change { path: change.path.clone(), op }
    };
    changes.iter().rev().map(inverse).collect()
}

/// The edits of a document that make `changes`, of which none may be that of the whole frontmatter.
pub fn edits(changes: &[Change]) -> Vec<Edit> {
    changes.iter().map(edit).collect()
}

fn edit(change: &Change) -> Edit {
    let path = change.path.clone();
    match (&change.op, path.0.split_last()) {
        (Operation::Remove { .. }, _) => Edit::Remove { path },
        (Operation::Insert { new }, Some((Segment::Index(index), list))) => {
            Edit::Insert { path: KeyPath(list.to_vec()), index: *index, item: Value::from_json(new) }
        }
        (Operation::Insert { new } | Operation::Set { new, .. }, _) => {
            Edit::Set { path, value: Value::from_json(new) }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn lines(old: &Json, new: &Json) -> Vec<String> {
        diff(old, new).iter().map(|change| serde_json::to_string(change).unwrap()).collect()
    }

    #[test]
    fn names_what_changed_and_no_more() {
        let old = json!({"stepsCompleted": [1, 2, 3], "status": "draft", "gone": null, "same": {"a": 1}});
        let new = json!({"stepsCompleted": [1, 2, 4, 5], "status": "done", "same": {"a": 1}, "fresh": true});
        assert_eq!(
            lines(&old, &new),
            [
                r#"{"path":["stepsCompleted",2],"op":"set","old":3,"new":4}"#,
                r#"{"path":["stepsCompleted",3],"op":"insert","new":5}"#,
                r#"{"path":["status"],"op":"set","old":"draft","new":"done"}"#,
                r#"{"path":["gone"],"op":"remove","old":null}"#,
                r#"{"path":["fresh"],"op":"insert","new":true}"#,
            ]
        );
        assert_eq!(lines(&json!([1, 2, 3, 4]), &json!([1, 4])).len(), 2);
        assert_eq!(lines(&json!({}), &json!([])), [r#"{"path":[],"op":"set","old":{},"new":[]}"#]);
    }

    #[test]
    fn a_change_that_does_not_fit_is_refused() {
        let set = |old| Change { path: KeyPath::key("a"), op: Operation::Set { old, new: json!(9) } };
        let mut value = json!({"a": 1});
        assert!(make_changes(&mut value, &[set(json!(2))]).is_err());
        assert!(make_changes(&mut value, &[set(json!(1))]).is_ok());
        let twice = Change { path: KeyPath::key("a"), op: Operation::Insert { new: json!(1) } };
        assert!(make_changes(&mut value, &[twice]).is_err());
        let beyond = Change { path: KeyPath::key("a").item(1), op: Operation::Remove { old: json!(1) } };
        assert!(make_changes(&mut value, &[beyond]).is_err());
        assert_eq!(value, json!({"a": 9}));
    }

    fn any_json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            (0..5_i64).prop_map(Json::from),
            "[ab]{0,2}".prop_map(Json::from)
        ];
        leaf.prop_recursive(3, 24, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
                prop::collection::vec(("[abc]", inner), 0..4)
                    .prop_map(|entries| Json::Object(entries.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn changes_lead_there_and_back(old in any_json(), new in any_json()) {
            let changes = diff(&old, &new);
            let text = serde_json::to_string(&changes).unwrap();
            let changes: Vec<Change> = serde_json::from_str(&text).unwrap();
            let mut value = old.clone();
            make_changes(&mut value, &changes).unwrap();
            prop_assert_eq!(&value, &new);
            make_changes(&mut value, &inverse(&changes)).unwrap();
            prop_assert_eq!(&value, &old);
        }
    }
}
