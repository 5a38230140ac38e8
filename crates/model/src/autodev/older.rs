//! State files of older generations of autodev: the place inside the skill is free text there.

use serde_json::Value as Json;
use stepmark_frontmatter::{Edit, KeyPath, Value};

use super::{AWAITING, Position, PositionError, SubStep, flow::kebab};
use crate::artifact::Artifact;

/// The edits that make a state file of an older generation one of today; `None` where it is one already.
///
/// # Errors
/// Why it says no position, where more than the sub-step is missing.
pub fn convert_older(artifact: &Artifact) -> Result<Option<Vec<Edit>>, PositionError> {
    let error = match Position::of(artifact) {
        Ok(_) => return Ok(None),
        Err(error) => error,
    };
    let text = match &artifact.state_value()?["sub_step"] {
        Json::Null => String::new(),
        Json::Number(number) => number.to_string(),
        Json::String(text) => text.clone(),
        _ => return Err(error),
    };
    let SubStep { phase, name, detail } = read_sub_step(&text);
    let entry = |key: &str, value: Value| (Value::from(key), value);
    let value = Value::Mapping(vec![
        entry("phase", Value::Integer(i64::try_from(phase).unwrap_or_default())),
        entry("name", Value::from(name)),
        entry("detail", Value::from(detail)),
    ]);
    Ok(Some(vec![Edit::Set { path: KeyPath::key("sub_step"), value }]))
}

/// `4 — Architecture Review` → phase 4, `architecture-review`. The text stays as the note; without a number
/// the skill counts as not begun.
fn read_sub_step(text: &str) -> SubStep {
    let text = text.trim();
    let mut rest = text;
    for word in ["phase", "step"] {
        let is_it = rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        rest = if is_it { rest[word.len()..].trim_start() } else { rest };
    }
    let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let name = kebab(rest[digits..].split(['(', ';', ',']).next().unwrap_or_default());
    // A fraction is no phase that can be stored.
    let is_fraction = rest[digits..].starts_with('.');
    match rest[..digits].parse() {
        Ok(phase) if phase > 0 && !is_fraction && super::is_kebab_case(&name) => {
            SubStep { phase, name, detail: text.to_owned() }
        }
        _ => SubStep { phase: 0, name: AWAITING.to_owned(), detail: text.to_owned() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::ProjectPath;
    use stepmark_frontmatter::apply;

    const OLD: &str = "## Current Step\nflow: greenfield\nstep: 3\nname: Plan\nstatus: in_progress\nsub_step: SUB\nretry_count: 0\n";

    fn converted(sub: &str) -> Result<String, String> {
        let path = ProjectPath::new("_docs/_autodev_state.md").unwrap();
        let artifact = Artifact::read(path.clone(), OLD.replace("SUB", sub).into());
        let edits = convert_older(&artifact).map_err(|error| error.to_string())?.ok_or("nothing")?;
        let bytes = apply(artifact.bytes(), &artifact.region(), &edits).unwrap().bytes;
        let position = Position::of(&Artifact::read(path, bytes)).unwrap();
        let SubStep { phase, name, detail } = position.sub_step;
        Ok(format!("{phase} {name} [{detail}]"))
    }

    #[test]
    fn free_text_becomes_phase_and_name() {
        for (text, expected) in [
            (
                "4 — Architecture Review & Risk Assessment",
                "4 architecture-review-risk-assessment [4 — Architecture Review & Risk Assessment]",
            ),
            ("'Phase 2: Gap analysis (batch 1)'", "2 gap-analysis [Phase 2: Gap analysis (batch 1)]"),
            ("4.5 — Glossary", "0 awaiting-invocation [4.5 — Glossary]"),
            ("not started", "0 awaiting-invocation [not started]"),
            ("''", "0 awaiting-invocation []"),
            ("7", "0 awaiting-invocation [7]"),
        ] {
            assert_eq!(converted(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_of_today_or_damaged_otherwise_is_left() {
        assert_eq!(converted("{phase: 0, name: a}"), Err("nothing".to_owned()));
        assert!(converted("[a]").unwrap_err().contains("`sub_step` should be"));
    }
}
