//! `Command::Set`: whether a number that was typed is meant as one.

use super::{
    ItemChange, TransitionRefusal,
    complete::like_read,
    record::{completed_ids, step_list_key},
    step_choice,
    step_choice::unknown,
};
use crate::artifact::{Artifact, StepItem};
use crate::spelling::is_same_name;
use crate::workflow::{StepId, StepMatch, Track, WorkflowDefinition};
use stepmark_frontmatter::{
    Edit, KeyIndex, KeyPath, Node, NodeKind, Scalar, ScalarStyle, Segment, Value, Yaml,
};

/// `assignments`, with numbers that no reader gives back as they are typed (`1.10`, `010`) as numbers where
/// the value in place, or the other items of its list, are numbers, and as text else.
pub(super) fn settled(artifact: &Artifact, assignments: &[(KeyPath, Value)]) -> Vec<(KeyPath, Value)> {
    let is_ascii = |path: &KeyPath| matches!(&path.0[..], [Segment::Key(key)] if key.is_ascii());
    if !assignments.iter().any(|(path, value)| is_spelled(value) || !is_ascii(path)) {
        return assignments.to_vec();
    }
    let yaml = artifact.state_yaml();
    let (root, keys) = (yaml.as_ref().and_then(Yaml::root), KeyIndex::default());
    let settle = |(path, value): &(KeyPath, Value)| {
        let path = root.map_or_else(|| path.clone(), |root| literal(&keys, root, path));
        let says_number = is_spelled(value) && root.is_some_and(|root| says_number(&keys, root, &path.0));
        (path, value.clone().settled(says_number))
    };
    assignments.iter().map(settle).collect()
}

pub(super) fn item_edits(
    artifact: &Artifact,
    changes: &[ItemChange],
) -> Result<Vec<Edit>, TransitionRefusal> {
    let yaml = artifact.state_yaml();
    let (root, keys) = (yaml.as_ref().and_then(Yaml::root), KeyIndex::default());
    let edit = |change: &ItemChange| {
        let (ItemChange::Add(path, _) | ItemChange::TakeOut(path, _) | ItemChange::Unset(path)) = change;
        let path = root.map_or_else(|| path.clone(), |root| literal(&keys, root, path));
        if let Some(Segment::Key(key)) = path.0.first()
            && artifact.state().steps.iter().any(|steps| steps.key == *key)
        {
            return Err(TransitionRefusal::ListReplaced { key: key.clone() });
        }
        let node = root.and_then(|root| keys.node_at(root, &path.0));
        match change {
            ItemChange::Add(_, item) => Ok(Edit::Append { path, item: item.clone().settled(false) }),
            ItemChange::TakeOut(_, item) => {
                let text = item.clone().settled(false).to_json();
                let typed = match item {
                    Value::Number(typed) => Some(typed.as_str()),
                    _ => None,
                };
                let is_it = |node: &Node<'_>| {
                    let is_same = node.scalar().is_some_and(|it| Value::from(it).to_json() == text);
                    is_same || typed.is_some() && node.text() == typed
                };
                let place = node.and_then(|list| list.items().iter().position(is_it));
                place.map(|place| Edit::Remove { path: path.clone().item(place) }).ok_or_else(|| {
                    TransitionRefusal::NotThere { what: format!("an item `{text}` of `{path}`") }
                })
            }
            ItemChange::Unset(_) if node.is_none() => {
                Err(TransitionRefusal::NotThere { what: format!("a key `{path}`") })
            }
            ItemChange::Unset(_) => Ok(Edit::Remove { path }),
        }
    };
    changes.iter().map(edit).collect()
}

/// The path as it is meant: where the file has a key with dots in its name, or the same name in another
/// spelling of Unicode, that key.
fn literal<'t>(keys: &KeyIndex<'t>, root: &'t Node<'_>, path: &KeyPath) -> KeyPath {
    if keys.node_at(root, &path.0).is_some() {
        return path.clone();
    }
    let (mut node, mut meant, mut rest) = (Some(root), Vec::new(), &path.0[..]);
    while !rest.is_empty() {
        let found = node.and_then(|node| {
            (1..=rest.len()).rev().find_map(|count| {
                let named = rest[..count].iter().map(|segment| match segment {
                    Segment::Key(key) => Some(key.as_str()),
                    Segment::Index(_) => None,
                });
                let name = named.collect::<Option<Vec<_>>>()?.join(".");
                let same = node.entries().iter().find_map(|entry| {
                    entry.key.as_key().filter(|key| is_same_name(key, &name)).map(str::to_owned)
                })?;
                Some((count, Segment::Key(same)))
            })
        });
        let (count, segment) = found.unwrap_or_else(|| (1, rest[0].clone()));
        node = node.and_then(|node| keys.node_at(node, std::slice::from_ref(&segment)));
        meant.push(segment);
        rest = &rest[count..];
    }
    KeyPath(meant)
}

/// Refuses to put one value in the place of a list of steps: what is meant is one step more.
pub(super) fn keeps_step_lists(
    artifact: &Artifact,
    assignments: &[(KeyPath, Value)],
) -> Result<(), TransitionRefusal> {
    let replaces = |(path, value): &&(KeyPath, Value)| {
        let [Segment::Key(key)] = path.0.as_slice() else { return None };
        let is_list = artifact.state().steps.iter().any(|steps| steps.key == *key && !steps.items.is_empty());
        let stays = matches!(value, Value::Sequence(_) | Value::Null);
        (is_list && !stays).then(|| key.clone())
    };
    match assignments.iter().find_map(|assignment| replaces(&assignment)) {
        Some(key) => Err(TransitionRefusal::ListReplaced { key }),
        None => Ok(()),
    }
}

/// Refuses steps that the workflow does not have, and a list of numbers and names, which no reader takes for
/// one. What stands in the list already may stay.
pub(super) fn knows_steps(
    artifact: &Artifact,
    workflow: Option<&WorkflowDefinition>,
    assignments: &[(KeyPath, Value)],
) -> Result<(), TransitionRefusal> {
    let key = step_list_key(artifact, workflow.map_or(Track::Create, |workflow| workflow.chain.track()));
    let before = completed_ids(artifact, key);
    let is_known = |id: &StepId| {
        let found = workflow.is_none_or(|workflow| workflow.chain.find(id) != StepMatch::None);
        found || before.iter().any(|old| old.spelling() == id.spelling())
    };
    for (path, value) in assignments {
        let names_step = match path.0.as_slice() {
            [Segment::Key(name), Segment::Index(_)] => name == key,
            [Segment::Key(name)] => name == key || STEP_KEYS.contains(&name.as_str()),
            _ => false,
        };
        let given = match value {
            Value::Sequence(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        let mut items: Vec<StepItem> = Vec::new();
        for item in given.iter().filter(|_| names_step).map(like_read) {
            let step = item.spelling.clone();
            let id = StepId::parse(&step);
            // `0` says that no step is done yet.
            if let Some(workflow) = workflow
                && !matches!(step.as_str(), "" | "0")
                && !is_known(&id)
            {
                return Err(TransitionRefusal::Unknown(unknown(workflow, &step)));
            }
            if !step_choice::is_alike(&item, &items) {
                return Err(TransitionRefusal::OtherSpelling { step, key: key.to_owned() });
            }
            items.push(item);
        }
    }
    Ok(())
}

const STEP_KEYS: [&str; 3] = ["lastStep", "currentStep", "current_step"];

fn is_spelled(value: &Value) -> bool {
    match value {
        Value::Number(_) => true,
        Value::Sequence(items) => items.iter().any(is_spelled),
        _ => false,
    }
}

fn says_number<'t>(keys: &KeyIndex<'t>, root: &'t Node<'_>, path: &[Segment]) -> bool {
    let at = |path: &[Segment]| keys.node_at(root, path);
    let in_place = at(path).is_some_and(|node| is_number(node) || are_numbers(node.items()));
    let around = path.split_last().filter(|(last, _)| matches!(last, Segment::Index(_)));
    in_place || around.and_then(|(_, list)| at(list)).is_some_and(|list| are_numbers(list.items()))
}

fn are_numbers(items: &[Node<'_>]) -> bool {
    !items.is_empty() && items.iter().all(is_number)
}

fn is_number(node: &Node<'_>) -> bool {
    let is_plain = matches!(node.kind, NodeKind::Scalar { style: ScalarStyle::Plain, .. });
    let number = |scalar| matches!(scalar, Scalar::Integer(_) | Scalar::Float(_) | Scalar::Number(_));
    is_plain && node.scalar().is_some_and(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::ProjectPath;
    use stepmark_frontmatter::{Region, apply};

    #[test]
    fn what_stands_in_place_says_whether_a_number_is_meant() {
        let text = "---\nversion: 1.9\nname: v1\nlist: [1.1, 1.2]\nnames: [a, '1.9']\nnone:\n---\n";
        let artifact = Artifact::read(ProjectPath::new("prd.md").unwrap(), text.as_bytes().to_vec());
        for (path, typed, line) in [
            ("version", "1.10", "version: 1.10\n"),
            ("version", "0x1F", "version: 0x1F\n"),
            ("version", "1_0", "version: '1_0'\n"),
            ("version", "12e5", "version: '12e5'\n"),
            ("version", "1.5e-4", "version: 1.5e-4\n"),
            ("name", "1.10", "name: '1.10'\n"),
            ("new", "1.10", "new: '1.10'\n"),
            ("new", "010", "new: '010'\n"),
            ("new", "0123456", "new: '0123456'\n"),
            ("new", "1e3", "new: '1e3'\n"),
            ("new", "75e9782", "new: '75e9782'\n"),
            ("new", "-", "new: '-'\n"),
            ("new", "3", "new: 3\n"),
            ("new", "1.5", "new: 1.5\n"),
            ("none", "0x1F", "none: '0x1F'\n"),
            ("list[1]", "1.20", "list: [1.1, 1.20]\n"),
            ("list", "[1.10]", "list: [1.10]\n"),
            ("names[0]", "1.10", "names: ['1.10', '1.9']\n"),
            ("names", "[1.10, 010]", "names: ['1.10', '010']\n"),
        ] {
            let assignment = (path.parse().unwrap(), Value::from_argument(typed).unwrap());
            let (path, value) = settled(&artifact, &[assignment]).remove(0);
            let edited = apply(text.as_bytes(), &Region::Frontmatter, &[Edit::Set { path, value }]).unwrap();
            let after = String::from_utf8(edited.bytes).unwrap();
            assert!(after.contains(line), "{typed}: {after}");
        }
    }
}
