//! The position in the state file of autodev.

use std::{collections::BTreeMap, fmt};

use super::{Flow, FlowStep, Flows, flow::kebab};
use crate::{
    artifact::{Artifact, PathGlob, ProjectPath, StateUnreadable, state_region},
    workflow::{Chain, StepId},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;
use stepmark_frontmatter::Region;

/// Values below `## Current Step`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    pub flow: String,
    pub step: StepPlace,
    pub name: String,
    pub status: String,
    pub sub_step: SubStep,
    /// Consecutive failures.
    pub retry_count: u64,
    pub cycle: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepPlace {
    Number(u16),
    /// Written by later releases of autodev; read, never written.
    Fraction(String),
    Done,
}

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct SubStep {
    pub phase: u64,
    pub name: String,
    pub detail: String,
}

/// Phase 0: the skill has not begun.
pub const AWAITING: &str = "awaiting-invocation";

/// As in the lifecycle `autodev-step`.
pub const STATUSES: [&str; 5] = ["not_started", "in_progress", "completed", "skipped", "failed"];

/// Then the step has failed.
pub const MOST_RETRIES: u64 = 3;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PositionError {
    #[error(transparent)]
    Unreadable(#[from] StateUnreadable),
    #[error("`{key}` should be {wanted}")]
    Key {
        /// `sub_step.phase`
        key: &'static str,
        wanted: &'static str,
    },
    #[error("the flow `{flow}` is none of {}", known.join(", "))]
    UnknownFlow { flow: String, known: Vec<String> },
}

impl Position {
    pub fn of(artifact: &Artifact) -> Result<Self, PositionError> {
        let state = artifact.state_value()?;
        let text = |key: &'static str| {
            state[key].as_str().map(str::to_owned).ok_or(PositionError::Key { key, wanted: "a text" })
        };
        let whole = |key: &'static str, default: u64| match &state[key] {
            Json::Null => Ok(default),
            value => value.as_u64().ok_or(PositionError::Key { key, wanted: "a whole number" }),
        };
        Ok(Self {
            flow: text("flow")?,
            step: StepPlace::read(&state["step"])
                .ok_or(PositionError::Key { key: "step", wanted: "a number of a step, or `done`" })?,
            name: text("name")?,
            status: text("status")?,
            sub_step: SubStep::read(&state["sub_step"])?,
            retry_count: whole("retry_count", 0)?,
            cycle: whole("cycle", 1)?,
        })
    }

    pub fn flow<'f>(&self, flows: &'f Flows) -> Result<&'f Flow, PositionError> {
        flows.find(&self.flow)
    }

    pub fn has_known_status(&self) -> bool {
        STATUSES.contains(&self.status.as_str())
    }

    pub fn is_open(&self) -> bool {
        matches!(self.status.as_str(), "not_started" | "in_progress" | "failed")
    }

    pub fn steps_done(&self, all: usize) -> usize {
        match self.step {
            StepPlace::Number(number) => {
                usize::from(number).saturating_sub(usize::from(self.is_open())).min(all)
            }
            StepPlace::Fraction(ref text) => {
                text.split('.').next().and_then(|whole| whole.parse().ok()).unwrap_or(0).min(all)
            }
            StepPlace::Done => all,
        }
    }
}

impl StepPlace {
    pub(crate) fn read(value: &Json) -> Option<Self> {
        match value {
            Json::Number(number) => match number.as_u64() {
                Some(whole) => u16::try_from(whole).ok().map(Self::Number),
                None => number
                    .as_f64()
                    .filter(|fraction| *fraction > 0.0)
                    .map(|_| Self::Fraction(number.to_string())),
            },
            Json::String(text) if text == "done" => Some(Self::Done),
            _ => None,
        }
    }
}

impl fmt::Display for StepPlace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(out),
            Self::Fraction(text) => out.write_str(text),
            Self::Done => out.write_str("done"),
        }
    }
}

impl SubStep {
    pub fn awaiting() -> Self {
        Self { phase: 0, name: AWAITING.to_owned(), detail: String::new() }
    }

    fn read(value: &Json) -> Result<Self, PositionError> {
        let error = |key, wanted| PositionError::Key { key, wanted };
        if !value.is_object() {
            return Err(error("sub_step", "a mapping with `phase` and `name`"));
        }
        Ok(Self {
            phase: value["phase"].as_u64().ok_or(error("sub_step.phase", "a whole number"))?,
            name: value["name"].as_str().ok_or(error("sub_step.name", "a text"))?.to_owned(),
            detail: match &value["detail"] {
                Json::Null => String::new(),
                detail => detail.as_str().ok_or(error("sub_step.detail", "a text"))?.to_owned(),
            },
        })
    }
}

pub fn keeps_state(path: &ProjectPath) -> bool {
    state_region(path) != Region::Frontmatter
}

pub fn is_done(artifact: &Artifact) -> bool {
    keeps_state(artifact.path())
        && Position::of(artifact).is_ok_and(|position| position.step == StepPlace::Done)
}

pub fn steps_passed(artifact: &Artifact, chain: &Chain) -> Vec<StepId> {
    let position = Position::of(artifact).ok();
    let count = position.map_or(0, |position| position.steps_done(chain.steps().len()));
    chain.steps().iter().take(count).map(|step| step.id.clone()).collect()
}

/// `batch-loop`
pub fn is_kebab_case(name: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    name.split('-').all(is_word)
}

/// A condition on the files of a project: all that is said here holds.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Condition {
    /// This file or folder is there.
    pub exists: Option<String>,
    /// This file or folder is not there, or nothing is in it.
    pub missing_or_empty: Option<String>,
    /// The number of files that a pattern fits.
    pub glob_count: Option<GlobCount>,
    /// The value under a key of a YAML file, or of a file with frontmatter.
    pub key_is: Option<KeyIs>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GlobCount {
    /// The pattern over paths, seen from the project root.
    pub glob: PathGlob,
    /// The smallest number; 0 where it is not given.
    #[serde(default)]
    pub at_least: usize,
    /// The largest number.
    pub at_most: Option<usize>,
}

/// A value under a key.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyIs {
    pub file: String,
    pub key: String,
    /// The texts of which the value is one; the empty text is that of no value.
    pub values: Vec<String>,
}

/// Paths are relative to the project root.
pub trait ProjectFiles {
    fn exists(&self, path: &str) -> bool;
    /// True for a missing file or folder, too.
    fn is_empty(&self, path: &str) -> bool;
    fn count(&self, glob: &PathGlob) -> usize;
    fn text(&self, path: &str, key: &str) -> String;
}

impl Condition {
    fn holds(&self, files: &dyn ProjectFiles) -> bool {
        self.exists.as_ref().is_none_or(|path| files.exists(path))
            && self.missing_or_empty.as_ref().is_none_or(|path| files.is_empty(path))
            && self.glob_count.as_ref().is_none_or(|wanted| {
                let count = files.count(&wanted.glob);
                count >= wanted.at_least && wanted.at_most.is_none_or(|most| count <= most)
            })
            && self
                .key_is
                .as_ref()
                .is_none_or(|wanted| wanted.values.contains(&files.text(&wanted.file, &wanted.key)))
    }
}

impl Condition {
    fn found(&self, files: &dyn ProjectFiles) -> Vec<String> {
        let there = |path: &String| match (files.exists(path), files.is_empty(path)) {
            (false, _) => format!("{path}: not there"),
            (true, true) => format!("{path}: nothing in it"),
            (true, false) => format!("{path}: there"),
        };
        let mut found: Vec<String> = self.exists.iter().chain(&self.missing_or_empty).map(there).collect();
        found.extend(self.glob_count.as_ref().map(|wanted| match files.count(&wanted.glob) {
            1 => format!("{}: 1 file", wanted.glob.as_str()),
            count => format!("{}: {count} files", wanted.glob.as_str()),
        }));
        found.extend(self.key_is.as_ref().map(
            |KeyIs { file, key, .. }| match files.text(file, key).as_str() {
                "" => format!("{file}: no `{key}`"),
                text => format!("{file}: `{key}` is `{text}`"),
            },
        ));
        found
    }
}

impl FlowStep {
    /// Conditions with their results, for people; empty without conditions.
    pub fn evidence(&self, files: &dyn ProjectFiles) -> Vec<String> {
        self.due.iter().flat_map(|condition| condition.found(files)).collect()
    }

    pub fn is_due(&self, files: &dyn ProjectFiles) -> Option<bool> {
        (!self.due.is_empty()).then(|| self.due.iter().any(|condition| condition.holds(files)))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detection {
    Agrees,
    /// Files show this step; `None`: all are done.
    Elsewhere(Option<u16>),
}

pub fn detect_flow<'f>(flows: &'f Flows, has_code: bool, files: &dyn ProjectFiles) -> Option<&'f Flow> {
    let holds = |flow: &&Flow| flow.when.iter().any(|condition| condition.holds(files));
    let existing = || flows.named("existing-code").filter(|_| has_code);
    let first = || flows.iter().find(|flow| flow.when.is_empty());
    flows.iter().find(holds).or_else(existing).or_else(first)
}

/// Without a position, files decide alone. Steps without conditions count as noted; if nothing is noted, the
/// first of them is next.
///
/// The position agrees if no earlier step is due, and its own step is due exactly if it is open.
pub fn detect(flow: &Flow, noted: Option<&Position>, files: &dyn ProjectFiles) -> Detection {
    let first_from = |number: u16| {
        let rest = flow.steps.iter().filter(move |step| step.step >= number);
        rest.clone().find(|step| step.is_due(files) != Some(false)).map(|step| step.step)
    };
    let Some(noted) = noted else { return Detection::Elsewhere(first_from(1)) };
    let (own, behind) = match &noted.step {
        // A step outside the flow counts as none.
        StepPlace::Number(number) if flow.step(*number).is_none() => {
            return Detection::Elsewhere(first_from(1));
        }
        StepPlace::Number(number) => (flow.step(*number), *number),
        StepPlace::Fraction(_) => {
            (None, u16::try_from(noted.steps_done(flow.steps.len())).unwrap_or(u16::MAX).saturating_add(1))
        }
        StepPlace::Done => (None, u16::MAX),
    };
    // In later cycles, files of earlier ones exist already.
    let mut earlier = flow.steps.iter().filter(|step| step.step < behind);
    if let Some(step) = earlier.find(|step| step.is_due(files) == Some(true)) {
        return Detection::Elsewhere(Some(step.step));
    }
    match own.and_then(|own| Some((own, own.is_due(files)?))) {
        Some((own, false)) if noted.is_open() => Detection::Elsewhere(first_from(own.step + 1)),
        // An unknown status is neither open nor done: files decide.
        Some((own, false)) if !noted.has_known_status() => Detection::Elsewhere(first_from(own.step + 1)),
        Some((own, true)) if !noted.has_known_status() || noted.status == "completed" => {
            Detection::Elsewhere(Some(own.step))
        }
        _ => Detection::Agrees,
    }
}

#[derive(Clone, Debug)]
pub struct AutodevFacts {
    pub flows: Flows,
    /// `None`: unreadable position, unknown flow, or files not examined.
    pub detection: Option<Detection>,
    pub skill_state: Option<SkillState>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillState {
    pub file: ProjectPath,
    pub phase: String,
}

const PHASE_KEY: &str = "current_step";

impl AutodevFacts {
    pub fn gather(
        flows: Flows,
        states: &BTreeMap<String, ProjectPath>,
        noted: Option<&Position>,
        files: &dyn ProjectFiles,
    ) -> Self {
        let detection = noted.and_then(|noted| Some(detect(noted.flow(&flows).ok()?, Some(noted), files)));
        let skill_state = noted.and_then(|noted| SkillState::find(states, noted, files));
        Self { flows, detection, skill_state }
    }
}

impl SkillState {
    pub fn find(
        states: &BTreeMap<String, ProjectPath>,
        noted: &Position,
        files: &dyn ProjectFiles,
    ) -> Option<Self> {
        let (_, file) = states.iter().find(|(step, _)| step.eq_ignore_ascii_case(&noted.name))?;
        let phase = kebab(&files.text(file.as_str(), PHASE_KEY));
        (!phase.is_empty()).then(|| Self { file: file.clone(), phase })
    }

    /// Always true if the step is not in progress.
    pub fn agrees_with(&self, noted: &Position) -> bool {
        noted.status != "in_progress" || noted.sub_step.name == self.phase
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(in crate::autodev) fn read(block: &str) -> Result<Position, PositionError> {
        let text = format!("# Autodev State\n\n## Current Step\n{block}");
        Position::of(&Artifact::read(ProjectPath::new("_docs/_autodev_state.md").unwrap(), text.into_bytes()))
    }

    #[test]
    fn a_position_is_what_the_block_says() {
        let position = read(
            "flow: existing-code\nstep: 10\nname: Implement\nstatus: in_progress\nsub_step:\n  phase: 7\n  name: batch-loop\n  \
             detail: \"batch 2 of ~4\"\nretry_count: 0\ncycle: 3\n",
        )
        .unwrap();
        assert_eq!((position.step.clone(), position.cycle), (StepPlace::Number(10), 3));
        assert_eq!(position.sub_step.detail, "batch 2 of ~4");
        assert_eq!(position.steps_done(17), 9);
    }

    #[test]
    fn what_says_no_position_is_refused_with_the_key() {
        let whole =
            "flow: greenfield\nstep: 3\nname: Plan\nstatus: in_progress\nsub_step: {phase: 0, name: a}\n";
        assert!(read(whole).is_ok());
        for (from, to, wanted) in [
            ("step: 3", "step: three", "`step` should be"),
            ("step: 3", "step: -1", "`step` should be"),
            ("name: Plan\n", "", "`name` should be"),
            ("{phase: 0, name: a}", "none", "`sub_step` should be"),
            ("phase: 0", "phase: 1.5", "`sub_step.phase` should be"),
            ("flow: greenfield", "flow: [", "no YAML"),
        ] {
            let error = read(&whole.replace(from, to)).unwrap_err().to_string();
            assert!(error.contains(wanted), "{to}: {error}");
        }
        assert_eq!(
            read(&whole.replace("step: 3", "step: 2.5")).unwrap().step,
            StepPlace::Fraction("2.5".into())
        );
        assert_eq!(read(&whole.replace("step: 3", "step: done")).unwrap().step, StepPlace::Done);
    }

    #[test]
    fn kebab_case_has_small_letters_digits_and_single_hyphens() {
        for (name, expected) in [
            ("batch-loop", true),
            ("a1", true),
            ("", false),
            ("a--b", false),
            ("Batch", false),
            ("a_b", false),
        ] {
            assert_eq!(is_kebab_case(name), expected, "{name}");
        }
    }
}

#[cfg(test)]
mod detection_tests {
    use super::*;
    use crate::autodev::SubStep;

    struct Files<'a>(&'a [&'a str]);

    impl ProjectFiles for Files<'_> {
        fn exists(&self, path: &str) -> bool {
            self.0.iter().any(|file| file.starts_with(path))
        }
        fn is_empty(&self, path: &str) -> bool {
            !self.exists(path)
        }
        fn count(&self, glob: &PathGlob) -> usize {
            let path = |file: &&&str| crate::artifact::ProjectPath::new(**file).unwrap();
            self.0.iter().filter(|file| glob.matches(&path(file))).count()
        }
        fn text(&self, _path: &str, _key: &str) -> String {
            let confirmed = self.0.contains(&"confirmed");
            if confirmed { "true".to_owned() } else { String::new() }
        }
    }

    const PROBLEM: [&str; 4] = [
        "_docs/00_problem/problem.md",
        "_docs/00_problem/restrictions.md",
        "_docs/00_problem/acceptance_criteria.md",
        "_docs/00_problem/input_data/a.csv",
    ];

    fn at(step: u16, status: &str) -> Position {
        Position {
            flow: "greenfield".to_owned(),
            step: StepPlace::Number(step),
            name: String::new(),
            status: status.to_owned(),
            sub_step: SubStep::awaiting(),
            retry_count: 0,
            cycle: 1,
        }
    }

    #[test]
    fn files_win_where_they_tell() {
        let flows = Flows::default();
        let flow = flows.named("greenfield").unwrap();
        let solved = [&PROBLEM[..], &["_docs/01_solution/solution_draft01.md"]].concat();
        let to = |step| Detection::Elsewhere(Some(step));
        for (noted, files, expected) in [
            (None, &[][..], to(1)),
            (None, &PROBLEM[1..], to(1)),
            (None, &PROBLEM[..], to(2)),
            (None, &solved[..], to(3)),
            (Some(at(1, "in_progress")), &[], Detection::Agrees),
            (Some(at(1, "in_progress")), &PROBLEM, to(2)),
            (Some(at(1, "completed")), &PROBLEM, Detection::Agrees),
            (Some(at(1, "completed")), &[], to(1)),
            (Some(at(1, "skipped")), &[], Detection::Agrees),
            (Some(at(7, "in_progress")), &PROBLEM, to(2)),
            (Some(at(7, "in_progress")), &solved, Detection::Agrees),
            (Some(at(2, "not_started")), &solved, to(3)),
            (Some(at(12, "in_progress")), &solved, to(3)),
            (Some(at(0, "in_progress")), &PROBLEM, to(2)),
        ] {
            assert_eq!(detect(flow, noted.as_ref(), &Files(files)), expected, "{noted:?} {files:?}");
        }
        let done = Position { step: StepPlace::Done, ..at(0, "completed") };
        assert_eq!(detect(flow, Some(&done), &Files(&solved)), Detection::Agrees);
        assert_eq!(detect(flow, Some(&done), &Files(&PROBLEM)), to(2));
    }

    #[test]
    fn a_meta_repo_comes_before_the_others() {
        let flows = Flows::default();
        let found = |files: &[&str], has_code| {
            detect_flow(&flows, has_code, &Files(files)).map(|flow| flow.flow.clone()).unwrap()
        };
        assert_eq!(found(&["_docs/_repo-config.yaml"], true), "meta-repo");
        assert_eq!(
            (found(&[], true), found(&[], false)),
            ("existing-code".to_owned(), "greenfield".to_owned())
        );
        let flow = flows.named("meta-repo").unwrap();
        let files = ["_docs/_repo-config.yaml"];
        assert_eq!(detect(flow, None, &Files(&files)), Detection::Elsewhere(Some(2)));
        let confirmed = ["_docs/_repo-config.yaml", "confirmed"];
        assert_eq!(detect(flow, None, &Files(&confirmed)), Detection::Elsewhere(Some(3)));
    }
}
