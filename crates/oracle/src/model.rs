//! The meaning of an edit for a plain value: the rules of `Edit` once more, without any text.

use stepmark_frontmatter::{Edit, Segment, Value};

/// The value after `edit`, or `None` where the rules forbid it: a key that stands twice, an index past the
/// end, a list wanted where something else stands.
pub fn expected(before: Option<&Value>, edit: &Edit) -> Option<Value> {
    let mut root = before.cloned().unwrap_or(Value::Mapping(Vec::new()));
    let path = &edit.path().0[..];
    match edit {
        Edit::Set { value, .. } => *reach(&mut root, path)? = value.clone(),
        Edit::Append { item, .. } => list(reach(&mut root, path)?)?.push(item.clone()),
        Edit::Insert { index, item, .. } => {
            let items = list(reach(&mut root, path)?)?;
            if *index > items.len() {
                return None;
            }
            items.insert(*index, item.clone());
        }
        Edit::InsertEntry { after, key, value, .. } => {
            let Value::Mapping(entries) = reach(&mut root, path)? else { return None };
            let place = position(entries, after)??;
            if position(entries, key)?.is_some() {
                return None;
            }
            entries.insert(place + 1, (Value::String(key.clone()), value.clone()));
        }
        Edit::Remove { .. } => remove(&mut root, path)?,
        // They say bytes, not values.
        Edit::Rewrite { .. } | Edit::PutBack { .. } => return None,
    }
    Some(root)
}

/// The list that `value` is, made of it where it is null.
fn list(value: &mut Value) -> Option<&mut Vec<Value>> {
    if *value == Value::Null {
        *value = Value::Sequence(Vec::new());
    }
    match value {
        Value::Sequence(items) => Some(items),
        _ => None,
    }
}

/// The place that `path` names; missing keys are made, with null as value.
fn reach<'v>(value: &'v mut Value, path: &[Segment]) -> Option<&'v mut Value> {
    let Some((segment, deeper)) = path.split_first() else { return Some(value) };
    if matches!(segment, Segment::Key(_)) && *value == Value::Null {
        *value = Value::Mapping(Vec::new());
    }
    match (segment, value) {
        (Segment::Key(key), Value::Mapping(entries)) => {
            let place = match position(entries, key)? {
                Some(place) => place,
                None => {
                    entries.push((Value::String(key.clone()), Value::Null));
                    entries.len() - 1
                }
            };
            reach(&mut entries[place].1, deeper)
        }
        (Segment::Index(index), Value::Sequence(items)) => reach(items.get_mut(*index)?, deeper),
        _ => None,
    }
}

/// Takes away what stands at `path`; a missing key is fine.
fn remove(value: &mut Value, path: &[Segment]) -> Option<()> {
    let (segment, deeper) = path.split_first()?;
    match (segment, value) {
        (Segment::Key(_), Value::Null) => keys_only(path),
        (Segment::Key(key), Value::Mapping(entries)) => match position(entries, key)? {
            None => keys_only(deeper),
            Some(place) if deeper.is_empty() => {
                entries.remove(place);
                Some(())
            }
            Some(place) => remove(&mut entries[place].1, deeper),
        },
        (Segment::Index(index), Value::Sequence(items)) if *index < items.len() => {
            if deeper.is_empty() {
                items.remove(*index);
                Some(())
            } else {
                remove(&mut items[*index], deeper)
            }
        }
        _ => None,
    }
}

fn keys_only(path: &[Segment]) -> Option<()> {
    path.iter().all(|segment| matches!(segment, Segment::Key(_))).then_some(())
}

/// The place of `key`; `None` outside when it stands twice. Keys that are no text are out of the model's
/// reach: a value does not know how they are written.
fn position(entries: &[(Value, Value)], key: &str) -> Option<Option<usize>> {
    let is_key = |(own, _): &(Value, Value)| matches!(own, Value::String(text) if text == key);
    let mut places = entries.iter().enumerate().filter(|(_, entry)| is_key(entry)).map(|(place, _)| place);
    let first = places.next();
    places.next().is_none().then_some(first)
}

/// The value at `path`, if there is one.
pub fn at<'v>(value: &'v Value, path: &[Segment]) -> Option<&'v Value> {
    let Some((segment, deeper)) = path.split_first() else { return Some(value) };
    match (segment, value) {
        (Segment::Key(key), Value::Mapping(entries)) => at(&entries[position(entries, key)??].1, deeper),
        (Segment::Index(index), Value::Sequence(items)) => at(items.get(*index)?, deeper),
        _ => None,
    }
}
