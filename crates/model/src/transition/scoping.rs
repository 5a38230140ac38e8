//! `scope`: how big the work is, who says so, and how sure an AI is.

use std::{fmt, str::FromStr};

use super::{Plan, TransitionRefusal};
use crate::artifact::{Artifact, Scope};
use stepmark_frontmatter::{Edit, KeyPath, Value};

const SOURCE: &str = "scope_source";

const CONFIDENCE: &str = "scope_confidence";

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScopeSource {
    /// A person, whose word stands until a person changes it.
    Human,
    Ai {
        confidence: Option<Confidence>,
    },
}

/// The confidence of an AI: from 0, not at all, to 1, certain. As text it has the decimals that it was given
/// with.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Confidence {
    value: f64,
    decimals: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is no confidence: write a number from 0 to 1")]
pub struct ConfidenceError {
    given: String,
}

impl FromStr for Confidence {
    type Err = ConfidenceError;

    fn from_str(text: &str) -> Result<Self, ConfidenceError> {
        let number = text.parse::<f64>().ok().filter(|number| (0.0..=1.0).contains(number));
        let value = number.ok_or_else(|| ConfidenceError { given: text.to_owned() })?;
        let decimals = text.split_once('.').map(|(_, decimals)| decimals.len());
        let keeps = |decimals: &usize| format!("{value:.decimals$}") == text;
        Ok(Self { value, decimals: decimals.filter(keeps) })
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.decimals {
            Some(decimals) => write!(out, "{:.decimals$}", self.value),
            None => self.value.fmt(out),
        }
    }
}

impl ScopeSource {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Ai { .. } => "ai",
        }
    }
}

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
        // A confidence in another scope, or of another source, says nothing about this one.
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
