//! The step that the files of a project tell: autodev trusts them more than its state file.

use super::{Flow, FlowStep, Flows, Position, StepPlace, flow::kebab};
use crate::artifact::{PathGlob, ProjectPath};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

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

/// Questions about the files of a project. Paths are seen from its root.
pub trait ProjectFiles {
    fn exists(&self, path: &str) -> bool;
    /// Returns whether nothing is in the file or folder at `path`, or it is not there.
    fn is_empty(&self, path: &str) -> bool;
    fn count(&self, glob: &PathGlob) -> usize;
    /// The text under `key` of the file at `path`; empty where there is none.
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
    /// Says what the files are asked for this step, and what is found; nothing where they are not asked.
    pub fn evidence(&self, files: &dyn ProjectFiles) -> Vec<String> {
        self.due.iter().flat_map(|condition| condition.found(files)).collect()
    }

    /// Returns whether the files of the project say that the step is still to be done; `None` where they do
    /// not tell.
    pub fn is_due(&self, files: &dyn ProjectFiles) -> Option<bool> {
        (!self.due.is_empty()).then(|| self.due.iter().any(|condition| condition.holds(files)))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detection {
    Agrees,
    /// The files say that the project is in this step; all steps are done where it has none.
    Elsewhere(Option<u16>),
}

pub fn detect_flow<'f>(flows: &'f Flows, has_code: bool, files: &dyn ProjectFiles) -> Option<&'f Flow> {
    let holds = |flow: &&Flow| flow.when.iter().any(|condition| condition.holds(files));
    let existing = || flows.named("existing-code").filter(|_| has_code);
    let first = || flows.iter().find(|flow| flow.when.is_empty());
    flows.iter().find(holds).or_else(existing).or_else(first)
}

/// Compares the position that is noted with the files; without one, the files alone tell. A step that they do
/// not tell of is believed where it is noted, and is the next one where none is.
///
/// The position agrees where no earlier step is due, and its own one is due exactly where it is open.
pub fn detect(flow: &Flow, noted: Option<&Position>, files: &dyn ProjectFiles) -> Detection {
    let first_from = |number: u16| {
        let rest = flow.steps.iter().filter(move |step| step.step >= number);
        rest.clone().find(|step| step.is_due(files) != Some(false)).map(|step| step.step)
    };
    let Some(noted) = noted else { return Detection::Elsewhere(first_from(1)) };
    let (own, behind) = match &noted.step {
        // A step that the flow does not have is none.
        StepPlace::Number(number) if flow.step(*number).is_none() => {
            return Detection::Elsewhere(first_from(1));
        }
        StepPlace::Number(number) => (flow.step(*number), *number),
        StepPlace::Fraction(_) => {
            (None, u16::try_from(noted.steps_done(flow.steps.len())).unwrap_or(u16::MAX).saturating_add(1))
        }
        StepPlace::Done => (None, u16::MAX),
    };
    // What went round has been there before: its files are those of an earlier cycle.
    let mut earlier = flow.steps.iter().filter(|step| step.step < behind);
    if let Some(step) = earlier.find(|step| step.is_due(files) == Some(true)) {
        return Detection::Elsewhere(Some(step.step));
    }
    match own.and_then(|own| Some((own, own.is_due(files)?))) {
        Some((own, false)) if noted.is_open() => Detection::Elsewhere(first_from(own.step + 1)),
        // What nobody knows is neither open nor done: the files alone tell.
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
    /// The comparison of the position that is noted with the files of the project; `None` where the position
    /// cannot be read, its flow is unknown, or nobody looked at the files.
    pub detection: Option<Detection>,
    /// The state that the skill of the step keeps itself; `None` where it keeps none.
    pub skill_state: Option<SkillState>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillState {
    pub file: ProjectPath,
    pub phase: String,
}

const PHASE_KEY: &str = "current_step";

impl AutodevFacts {
    /// Compares the position `noted` with `files`. `states` are the files in which skills keep a state of
    /// their own, by the names of the steps that they do.
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

    /// Returns whether the position says the same. Where the step is not being done, the skill is not asked.
    pub fn agrees_with(&self, noted: &Position) -> bool {
        noted.status != "in_progress" || noted.sub_step.name == self.phase
    }
}

#[cfg(test)]
mod tests {
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
