//! `Command::Set`: decides if a typed number is a number.

use super::{
    ItemChange, Plan, ScopeSource, TransitionRefusal,
    complete::like_read,
    delegate::{completed_ids, step_list_key},
    step_choice::{self, unknown},
};
use crate::{
    artifact::{Artifact, Scope, StepItem},
    spelling::is_same_name,
    workflow::{StepId, StepMatch, Track, WorkflowDefinition},
};
use stepmark_frontmatter::{
    Edit, KeyIndex, KeyPath, Node, NodeKind, Scalar, ScalarStyle, Segment, Value, Yaml,
};

/// Ambiguous numbers (`1.10`, `010`) become numbers if the old value, or other items of the list, are
/// numbers; else text.
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

/// The file may have the literal key: with dots, or in another Unicode form.
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

/// Only single steps may be added.
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

/// Refuses unknown steps, and a mix of numbers and names, which no reader accepts; existing items may stay.
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
            // `0`: no step is done.
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

const SOURCE: &str = "scope_source";

const CONFIDENCE: &str = "scope_confidence";

/// The edits that give `artifact` this scope. What is there already is not written again.
pub(super) fn plan(
    artifact: &Artifact,
    scope: &Scope,
    source: ScopeSource,
) -> Result<Plan, TransitionRefusal> {
    let state = artifact
        .state_value()
        .map_err(|error| TransitionRefusal::Unreadable { reason: error.to_string() })?;
    let own = artifact.state().scope();
    if let Some(Scope::Unknown(text)) = &own {
        return Err(TransitionRefusal::ScopeIsText { text: text.clone() });
    }
    let is_by_human = state.get(SOURCE).and_then(|source| source.as_str()) == Some("human");
    let is_same = own.as_ref() == Some(scope);
    if is_by_human && source != ScopeSource::Human {
        return if is_same {
            Ok(Plan::default())
        } else {
            let stands = own.map_or_else(String::new, |own| own.to_string());
            Err(TransitionRefusal::ScopeOfHuman { stands })
        };
    }
    let set = |key: &str, value: Value| Edit::Set { path: KeyPath::key(key), value };
    let mut edits = vec![set("scope", Value::from(scope.to_string())), set(SOURCE, source.as_str().into())];
    match source {
        ScopeSource::Ai { confidence: Some(confidence) } => {
            edits.push(set(CONFIDENCE, Value::Number(confidence.to_string())));
        }
        // An old confidence does not apply to another scope or source.
        _ if state.get(CONFIDENCE).is_some() => edits.push(Edit::Remove { path: KeyPath::key(CONFIDENCE) }),
        _ => {}
    }
    Ok(Plan { edits, remarks: Vec::new() })
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

#[cfg(test)]
mod scoping_tests {
    use super::*;
    use crate::{artifact::ProjectPath, transition::Confidence};
    use stepmark_frontmatter::{Region, apply};

    const AI: ScopeSource = ScopeSource::Ai { confidence: None };

    /// The frontmatter after `scope` was given by `source`, or why not.
    fn given(frontmatter: &str, scope: Scope, source: ScopeSource) -> Result<String, TransitionRefusal> {
        let file = format!("---\n{frontmatter}\n---\n");
        let path = ProjectPath::new("docs/prd.md").unwrap();
        let artifact = Artifact::read(path, file.clone().into_bytes());
        let edits = plan(&artifact, &scope, source)?.edits;
        let after = apply(file.as_bytes(), &Region::Frontmatter, &edits).unwrap().bytes;
        let after = String::from_utf8(after).unwrap();
        Ok(after.trim_start_matches("---\n").trim_end_matches("\n---\n").to_owned())
    }

    #[test]
    fn says_who_gave_it_and_how_sure_an_ai_is() {
        for (text, written) in
            [("0.85", "0.85"), ("0.80", "0.80"), ("1", "1"), ("1.00", "1.00"), ("5e-1", "0.5"), (".5", "0.5")]
        {
            let sure = ScopeSource::Ai { confidence: Some(text.parse().unwrap()) };
            assert_eq!(
                given("status: draft", Scope::Large, sure).unwrap(),
                format!("status: draft\nscope: large\nscope_source: ai\nscope_confidence: {written}")
            );
        }
        let derived = "scope: large # guessed\nscope_source: ai\nscope_confidence: 0.85";
        assert_eq!(given(derived, Scope::Small, AI).unwrap(), "scope: small # guessed\nscope_source: ai");
        assert_eq!(
            given(derived, Scope::Large, ScopeSource::Human).unwrap(),
            "scope: large # guessed\nscope_source: human"
        );
    }

    #[test]
    fn the_word_of_a_person_stands() {
        let decided = "scope: epic\nscope_source: human";
        assert_eq!(given(decided, Scope::Epic, AI).unwrap(), decided);
        assert_eq!(
            given(decided, Scope::Small, AI),
            Err(TransitionRefusal::ScopeOfHuman { stands: "epic".to_owned() })
        );
        assert_eq!(
            given(decided, Scope::Small, ScopeSource::Human).unwrap(),
            "scope: small\nscope_source: human"
        );
    }

    #[test]
    fn a_sentence_of_another_program_is_not_overwritten() {
        let text = "all of the payment flows";
        assert_eq!(
            given(&format!("scope: {text}"), Scope::Small, AI),
            Err(TransitionRefusal::ScopeIsText { text: text.to_owned() })
        );
    }

    #[test]
    fn a_confidence_lies_between_0_and_1() {
        for text in ["0", "1", "0.5", "1e-3"] {
            assert!(text.parse::<Confidence>().is_ok(), "{text}");
        }
        for text in ["", "-0.1", "1.01", "85%", "NaN", "inf"] {
            assert!(text.parse::<Confidence>().is_err(), "{text}");
        }
    }
}
