//! Chains for tests, written down as the lines of their step files.

use std::borrow::Cow;

use crate::artifact::ProjectPath;
use crate::{
    bmad::steps::WorkflowFile,
    workflow::{Chain, Next, StepId, Track, Unit},
};

/// One step file: its stem, its keys (`key: value`, separated by `;`), and its prose.
pub(crate) type SampleStep<'text> = (&'text str, &'text str, &'text str);

pub(crate) fn files<'text>(steps: &[SampleStep<'text>]) -> Vec<WorkflowFile<'text>> {
    let file = |(stem, keys, prose): &SampleStep<'text>| WorkflowFile {
        path: ProjectPath::new(format!("_bmad/flow/steps/{stem}.md")).unwrap(),
        keys: keys
            .split(';')
            .filter_map(|key| key.split_once(": "))
            .map(|(key, value)| (key.trim().to_owned(), value.to_owned()))
            .collect(),
        body: Cow::Borrowed(prose),
        unreadable: None,
    };
    steps.iter().map(file).collect()
}

pub(crate) fn chain(steps: &[SampleStep<'_>]) -> Chain {
    Chain::from_files(Track::Create, &ProjectPath::new("_bmad/flow").unwrap(), &files(steps))
}

/// The chain of steps that say nothing but their names.
pub(crate) fn numbered(stems: &[&str]) -> Chain {
    chain(&stems.iter().map(|stem| (*stem, "", "")).collect::<Vec<_>>())
}

/// The PRD of 6.0.4 in shape.
pub(crate) fn prd() -> Chain {
    let stems = [
        "step-01-init",
        "step-02-discovery",
        "step-02b-vision",
        "step-02c-executive-summary",
        "step-03-success",
        "step-04-journeys",
        "step-05-domain",
        "step-06-innovation",
        "step-07-project-type",
        "step-08-scoping",
        "step-09-functional",
        "step-10-nonfunctional",
        "step-11-polish",
        "step-12-complete",
    ];
    let keys: Vec<String> = stems
        .iter()
        .skip(1)
        .map(|next| format!("nextStepFile: {{project-root}}/_bmad/flow/steps/{next}.md"))
        .collect();
    let mut steps: Vec<SampleStep<'_>> = stems
        .iter()
        .enumerate()
        .map(|(at, stem)| (*stem, keys.get(at).map_or("", String::as_str), ""))
        .collect();
    steps
        .insert(1, ("step-01b-continue", "", "Load `./step-02-discovery.md`, else {x}/step-04-journeys.md."));
    chain(&steps)
}

/// The units of a chain: `01-init 02a|02b 03-end`.
pub(crate) fn units(chain: &Chain) -> String {
    let name = |name: &str| name.strip_prefix("step-").unwrap_or(name).to_owned();
    let unit = |unit: Unit<'_>| match unit {
        Unit::Step(step) => name(step.name()),
        Unit::Choice(steps) => steps.iter().map(|step| name(step.name())).collect::<Vec<_>>().join("|"),
    };
    chain.units().map(unit).collect::<Vec<_>>().join(" ")
}

/// Shows the next step: `02-x`, `02a|02b`, `02-x or 03-y`, `finished`, `unknown`.
pub(crate) fn next(next: &Next<'_>) -> String {
    let name = |step: &&crate::workflow::Step| step.name().trim_start_matches("step-").to_owned();
    match next {
        Next::Step { step, alternatives } => {
            std::iter::once(step).chain(alternatives).map(name).collect::<Vec<_>>().join(" or ")
        }
        Next::Choice(steps) => steps.iter().map(name).collect::<Vec<_>>().join("|"),
        Next::Finished => "finished".to_owned(),
        Next::Unknown(_) => "unknown".to_owned(),
    }
}

pub(crate) fn ids(spellings: &str) -> Vec<StepId> {
    spellings.split(',').map(str::trim).filter(|spelling| !spelling.is_empty()).map(StepId::parse).collect()
}
