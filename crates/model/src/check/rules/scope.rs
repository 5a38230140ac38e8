//! The scope of the work.

use crate::artifact::{Field, FrontmatterState, Scope};
use crate::check::{Finding, Fix, Safety, Subject, rule::Decision};

const SOURCES: [&str; 2] = ["human", "ai"];

fn is_by_ai(state: &FrontmatterState) -> bool {
    let source = state.scope_source.as_ref().and_then(|source| source.filled());
    source.is_some_and(|source| source.trim().eq_ignore_ascii_case("ai"))
}

fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let word = word.to_lowercase();
    let likeness = |known: &&'k str| (strsim::jaro_winkler(&word, known), *known);
    let best = known.iter().map(likeness).max_by(|one, other| one.0.total_cmp(&other.0));
    best.filter(|(likeness, _)| *likeness > 0.8).map(|(_, known)| known)
}

rules! { Scope;
    pub(crate) SCOPE_UNKNOWN "SM701" "scope-unknown" Warning Decision::OfArtifact(check_scope_unknown);
    pub(crate) SOURCE_UNKNOWN "SM702" "scope-source-unknown" Warning Decision::OfArtifact(check_source_unknown);
    pub(crate) CONFIDENCE_WRONG "SM703" "scope-confidence-wrong" Warning Decision::OfArtifact(check_confidence_wrong);
    pub(crate) SCOPE_MISSING "SM704" "scope-missing" Warning Decision::OfArtifact(check_scope_missing);
    pub(crate) CONFIDENCE_MISSING "SM705" "scope-confidence-missing" Note Decision::OfArtifact(check_confidence_missing);
}

const WORDS: [&str; 5] = ["micro", "small", "medium", "large", "epic"];

fn check_scope_unknown(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let state = subject.artifact.state();
    let (Some(field), Some(Scope::Unknown(text))) = (&state.scope, state.scope()) else { return };
    let is_ours = state.scope_source.is_some() || state.scope_confidence.is_some();
    let near = nearest(text.trim(), &WORDS);
    if text.contains(['{', '}']) || !is_ours && near.is_none() {
        return;
    }
    let message = format!("`{text}` is no scope");
    let fix = near.map(|word| Fix::splice(Safety::Unsafe, format!("write `{word}`"), field.span, word));
    let finding = subject.finding(&SCOPE_UNKNOWN, field.span, message);
    found.push(finding.with_help("write micro, small, medium, large or epic").with_fix(fix));
}

fn check_source_unknown(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(field) = &subject.artifact.state().scope_source else { return };
    let Some(text) = field.filled().filter(|text| !text.contains(['{', '}'])) else { return };
    if !SOURCES.iter().any(|source| text.trim().eq_ignore_ascii_case(source)) {
        let finding =
            subject.finding(&SOURCE_UNKNOWN, field.span, format!("`{text}` is no source of a scope"));
        found.push(finding.with_help("write `human` or `ai`"));
    }
}

fn check_confidence_wrong(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(field) = &subject.artifact.state().scope_confidence else { return };
    let Some(text) = field.filled().map(str::trim).filter(|text| !text.contains(['{', '}'])) else { return };
    if text.parse::<f64>().is_ok_and(|number| (0.0..=1.0).contains(&number)) {
        return;
    }
    let finding =
        subject.finding(&CONFIDENCE_WRONG, field.span, format!("`{text}` is no number from 0 to 1"));
    let fix = of_hundred(text)
        .map(|number| Fix::splice(Safety::Unsafe, format!("write `{number}`"), field.span, number.as_str()));
    found.push(finding.with_help("write a number from 0 to 1").with_fix(fix));
}

/// `85` and `85%` as the number: above 1, up to 100, whole.
fn of_hundred(text: &str) -> Option<String> {
    let percent = text.strip_suffix('%').unwrap_or(text).trim_end().parse::<u8>().ok()?;
    (2..=100).contains(&percent).then(|| (f64::from(percent) / 100.0).to_string())
}

fn check_scope_missing(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let state = subject.artifact.state();
    // A list or map under `scope` is something else.
    let is_there = state.scope().is_some() || state.other_keys.iter().any(|key| key == "scope");
    let said = [&state.scope_source, &state.scope_confidence];
    let Some(field) = said.into_iter().flatten().find(|field| Field::filled(field).is_some()) else { return };
    if !is_there {
        let message = format!("`{}` says something about a scope, and there is none", field.key);
        found.push(
            subject
                .finding(&SCOPE_MISSING, field.span, message)
                .with_help("write the scope, or take this out"),
        );
    }
}

fn check_confidence_missing(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let state = subject.artifact.state();
    let (Some(source), Some(_)) = (&state.scope_source, state.scope()) else { return };
    let is_sure = state.scope_confidence.as_ref().is_some_and(|confidence| confidence.filled().is_some());
    if is_by_ai(state) && !is_sure {
        let message = "an AI gave this scope, and does not say how sure it is";
        found.push(
            subject
                .finding(&CONFIDENCE_MISSING, source.span, message)
                .with_help("add `scope_confidence`, from 0 to 1"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::rules::sample::{fixed, found};

    #[test]
    fn a_scope_is_one_of_five_words() {
        let file = "---\nstatus: draft\nscope: huge\nscope_source: human\n---\n";
        assert_eq!(found(&SCOPE_UNKNOWN, file), ["3:8 SM701 `huge` is no scope"]);
        assert_eq!(fixed(&SCOPE_UNKNOWN, file), None);
        let typo = "---\nscope: Meduim\nstatus: draft\n---\n";
        assert_eq!(found(&SCOPE_UNKNOWN, typo), ["2:8 SM701 `Meduim` is no scope"]);
        assert_eq!(fixed(&SCOPE_UNKNOWN, typo), Some(typo.replace("Meduim", "medium")));
        for scope in ["epic", "Large", "backend", "all of the payment flows", "'{{scope}}'", "", "[a]"] {
            assert!(
                found(&SCOPE_UNKNOWN, &format!("---\nscope: {scope}\nstatus: draft\n---\n")).is_empty(),
                "{scope}"
            );
        }
    }

    #[test]
    fn a_person_or_an_ai() {
        let by = |source: &str| {
            found(&SOURCE_UNKNOWN, &format!("---\nscope: small\nscope_source: {source}\n---\n"))
        };
        assert_eq!(by("Ada"), ["3:15 SM702 `Ada` is no source of a scope"]);
        for source in ["human", "ai", "AI", "", "'{{source}}'"] {
            assert!(by(source).is_empty(), "{source}");
        }
    }

    #[test]
    fn a_confidence_lies_between_0_and_1() {
        let file = |text: &str| format!("---\nscope: small\nscope_confidence: {text}\nstatus: a\n---\n");
        for text in ["85", "-0.1", "1.01", "high", "85%", "NaN"] {
            let found = found(&CONFIDENCE_WRONG, &file(text));
            assert_eq!(found, [format!("3:19 SM703 `{text}` is no number from 0 to 1")]);
        }
        for text in ["0", "1", "0.5", "'0.85'", "1e-3", "", "'{{confidence}}'"] {
            assert!(found(&CONFIDENCE_WRONG, &file(text)).is_empty(), "{text}");
        }
        assert_eq!(fixed(&CONFIDENCE_WRONG, &file("85")), Some(file("0.85")));
        assert_eq!(fixed(&CONFIDENCE_WRONG, &file("70%")), Some(file("0.7")));
        assert_eq!(fixed(&CONFIDENCE_WRONG, &file("850")), None);
    }

    #[test]
    fn nothing_is_said_about_no_scope() {
        assert_eq!(
            found(&SCOPE_MISSING, "---\nscope_source: ai\nscope_confidence: 0.85\nstatus: a\n---\n"),
            ["2:15 SM704 `scope_source` says something about a scope, and there is none"]
        );
        assert_eq!(found(&SCOPE_MISSING, "---\nscope:\nscope_confidence: 0.85\nstatus: a\n---\n").len(), 1);
        for keys in
            ["scope: small\nscope_source: ai", "scope_source:", "status: b", "scope: [a]\nscope_source: ai"]
        {
            assert!(found(&SCOPE_MISSING, &format!("---\n{keys}\nlastStep: 1\n---\n")).is_empty(), "{keys}");
        }
    }

    #[test]
    fn an_ai_says_how_sure_it_is() {
        assert_eq!(
            found(&CONFIDENCE_MISSING, "---\nscope: small\nscope_source: AI\nstatus: a\n---\n"),
            ["3:15 SM705 an AI gave this scope, and does not say how sure it is"]
        );
        for keys in [
            "scope: small\nscope_source: human",
            "scope: small\nscope_source: ai\nscope_confidence: 0",
            "scope_source: ai",
        ] {
            assert!(
                found(&CONFIDENCE_MISSING, &format!("---\n{keys}\nstatus: a\n---\n")).is_empty(),
                "{keys}"
            );
        }
    }
}
