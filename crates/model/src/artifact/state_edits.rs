//! The edits that make one frontmatter another.

use serde_json::{Map, Value as Json};
use stepmark_frontmatter::{Edit, EditError, KeyPath, Region, Value, apply};

/// The edits of frontmatter that says `before` which make it say `after`: of a mapping that differs in one
/// entry that entry, of a list that only grew the new items, else the value.
pub fn state_edits(before: &Map<String, Json>, after: &Map<String, Json>) -> Vec<Edit> {
    let gone = before.keys().filter(|key| !after.contains_key(*key));
    let gone = gone.map(|key| Edit::Remove { path: KeyPath::key(key) });
    let differs = after.iter().filter(|(key, value)| before.get(*key) != Some(value));
    let set = differs.flat_map(|(key, value)| {
        let (path, old) = (KeyPath::key(key), before.get(key));
        if let Some(new) = old.and_then(|old| new_items(old, value)) {
            let append = |item| Edit::Append { path: path.clone(), item: Value::from_json(item) };
            return new.iter().map(append).collect();
        }
        vec![match old.and_then(|old| only_difference(old, value)) {
            Some((inner, value)) => Edit::Set { path: path.then(inner), value: Value::from_json(value) },
            None => Edit::Set { path, value: Value::from_json(value) },
        }]
    });
    set.chain(gone).collect()
}

pub fn state_file(frontmatter: &Map<String, Json>, body: &str) -> Result<Vec<u8>, EditError> {
    let set = |(key, value): (&String, &Json)| Edit::Set {
        path: KeyPath::key(key),
        value: Value::from_json(value),
    };
    let edits: Vec<Edit> = frontmatter.iter().map(set).collect();
    Ok(apply(format!("---\n---\n{body}").as_bytes(), &Region::Frontmatter, &edits)?.bytes)
}

/// The items behind those of `old`, where the list `new` begins with them.
fn new_items<'v>(old: &Json, new: &'v Json) -> Option<&'v [Json]> {
    let (old, new) = (old.as_array()?, new.as_array()?);
    (!old.is_empty() && new.starts_with(old)).then(|| &new[old.len()..])
}

/// The only entry in which two mappings differ, where `new` has a value for it.
fn only_difference<'v>(old: &Json, new: &'v Json) -> Option<(&'v str, &'v Json)> {
    let (old, new) = (old.as_object()?, new.as_object()?);
    let mut differing = new.iter().filter(|(key, value)| old.get(*key) != Some(value));
    let (key, value) = differing.next()?;
    let is_only = differing.next().is_none() && old.keys().all(|key| new.contains_key(key));
    (is_only && !old.is_empty()).then_some((key, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_edited() {
        for (before, after, edits) in [
            ("a: [1] # one\nb: {c: 1, d: 2}", "a: [1, 2]\nb: {c: 1, d: 3}", 2),
            ("a: [1, 2]\nb: 1", "a: [2]", 2),
            ("a: []", "a: [{b: 1}]", 1),
            ("a: 1", "a: 1", 0),
        ] {
            let read = |text: &str| serde_yaml::from_str::<Map<String, Json>>(text).unwrap();
            let (old, new) = (read(before), read(after));
            let made = state_edits(&old, &new);
            assert_eq!(made.len(), edits, "{before} → {after}");
            let file = format!("---\n{before}\n---\nBody\n");
            let edited = apply(file.as_bytes(), &Region::Frontmatter, &made).unwrap().bytes;
            let text = String::from_utf8(edited).unwrap();
            let inner = text.strip_prefix("---\n").and_then(|text| text.strip_suffix("---\nBody\n")).unwrap();
            assert_eq!(read(inner), new, "{text}");
            assert_eq!(state_edits(&read(inner), &new), [], "{text}");
        }
    }
}
