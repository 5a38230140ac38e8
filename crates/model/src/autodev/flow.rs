//! Flows: the steps of autodev in their order.

use std::sync::LazyLock;

use super::{AWAITING, Condition, Position, PositionError, StepPlace, SubStep};
use crate::{artifact::Artifact, workflow::WorkflowDefinition};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;
use stepmark_frontmatter::{Edit, KeyPath, Value};

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Its name: `greenfield`.
    pub flow: String,
    /// The conditions on the project's files of which one says that this is the flow; none in a flow that is
    /// taken where no other is.
    #[serde(default)]
    pub when: Vec<Condition>,
    /// Its steps. Their numbers are 1, 2, 3 and so on.
    pub steps: Vec<FlowStep>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowStep {
    /// Its number.
    pub step: u16,
    /// Its name: `UI Design`.
    pub name: String,
    /// The skill that does it.
    pub skill: Option<String>,
    /// True if it may be skipped.
    #[serde(default)]
    pub optional: bool,
    /// True if the next step begins in a new session.
    #[serde(default)]
    pub ends_session: bool,
    /// The step that follows the last one, where the flow goes round again: each round is a cycle.
    pub returns_to: Option<u16>,
    /// The conditions on the project's files of which one says that the step is still to be done; none where
    /// only the state file tells.
    #[serde(default)]
    pub due: Vec<Condition>,
    /// The block that the flow file of the skill shows at its end, in the place of the usual one.
    #[serde(skip)]
    pub choose_block: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Flows(Vec<Flow>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlowError {
    #[error("the flow `{flow}` has no steps")]
    NoSteps { flow: String },
    #[error(
        "step {found} of the flow `{flow}` stands in place {place}: steps are numbered 1, 2, 3 and so on"
    )]
    Misnumbered {
        flow: String,
        /// From 1.
        place: usize,
        found: u16,
    },
    #[error("the flow `{flow}` returns to step {to}, which it does not have")]
    ReturnsNowhere { flow: String, to: u16 },
}

static BUILT_IN: LazyLock<Vec<Flow>> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the file is part of the program, and a test reads it")]
    serde_yaml::from_str(include_str!("flows.yaml")).expect("the flows that are built in are YAML")
});

impl Default for Flows {
    fn default() -> Self {
        Self(BUILT_IN.clone())
    }
}

impl Flows {
    /// Flows of `own` replace built-in ones of the same name; the rest are appended.
    pub fn with(own: Vec<Flow>) -> Result<Self, FlowError> {
        let mut flows = Self::default();
        for flow in own {
            flow.check()?;
            match flows.0.iter_mut().find(|known| known.flow == flow.flow) {
                Some(known) => *known = flow.with_conditions_of(known),
                None => flows.0.push(flow),
            }
        }
        Ok(flows)
    }

    pub fn named(&self, name: &str) -> Option<&Flow> {
        self.0.iter().find(|flow| flow.flow == name)
    }

    pub fn find(&self, name: &str) -> Result<&Flow, PositionError> {
        self.named(name).ok_or_else(|| PositionError::UnknownFlow {
            flow: name.to_owned(),
            known: self.0.iter().map(|flow| flow.flow.clone()).collect(),
        })
    }

    pub fn iter(&self) -> impl Iterator<Item = &Flow> {
        self.0.iter()
    }
}

impl Flow {
    pub fn step(&self, number: u16) -> Option<&FlowStep> {
        self.steps.get(usize::from(number).checked_sub(1)?)
    }

    pub fn step_at(&self, position: &Position) -> Option<&FlowStep> {
        match position.step {
            StepPlace::Number(number) => self.step(number),
            StepPlace::Fraction(_) | StepPlace::Done => None,
        }
    }

    /// `None` after the last step, unless the flow is cyclic.
    pub fn after(&self, number: u16) -> Option<&FlowStep> {
        let next = self.step(number)?.returns_to.unwrap_or(number.checked_add(1)?);
        self.step(next)
    }

    /// Lets progress, gates, tickets and pages treat it as any other workflow.
    pub fn to_workflow(&self) -> WorkflowDefinition {
        WorkflowDefinition::declared(format!("autodev-{}", self.flow), &self.step_ids())
    }

    /// `step-04-ui-design`
    pub fn step_ids(&self) -> Vec<String> {
        let id = |step: &FlowStep| format!("step-{:02}-{}", step.step, kebab(&step.name));
        self.steps.iter().map(id).collect()
    }

    fn check(&self) -> Result<(), FlowError> {
        let flow = || self.flow.clone();
        if self.steps.is_empty() {
            return Err(FlowError::NoSteps { flow: flow() });
        }
        for (place, step) in (1..).zip(&self.steps) {
            if usize::from(step.step) != place {
                return Err(FlowError::Misnumbered { flow: flow(), place, found: step.step });
            }
            if let Some(to) = step.returns_to.filter(|to| self.step(*to).is_none()) {
                return Err(FlowError::ReturnsNowhere { flow: flow(), to });
            }
        }
        Ok(())
    }

    /// Flow files lack conditions and cycles: takes those of `known` for steps with equal number and name.
    fn with_conditions_of(mut self, known: &Self) -> Self {
        if self.when.is_empty() {
            self.when.clone_from(&known.when);
        }
        for step in &mut self.steps {
            let same = known.step(step.step).filter(|same| same.name.eq_ignore_ascii_case(&step.name));
            let Some(same) = same else { continue };
            step.returns_to =
                step.returns_to.or(same.returns_to.filter(|to| usize::from(*to) <= known.steps.len()));
            if step.due.is_empty() {
                step.due.clone_from(&same.due);
            }
        }
        self
    }
}

pub(super) fn kebab(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

/// Reads the steps from the table under `Step Reference Table`, and session boundaries from the one under
/// `Auto-Chain Rules`. A fenced block with `DECISION REQUIRED` under a step's heading is shown at its end.
/// `None` without a table of numbered steps.
///
/// ```
/// use stepmark_model::autodev::read_flow_file;
///
/// let file = "## Step Reference Table\n\n| Step | Name | Sub-Skill |\n|---|---|---|\n| 1 | Plan | plan/SKILL.md |\n\
///             | 2 | UI Design | ui | \n\n## Auto-Chain Rules\n\n| Completed Step | Next Action |\n|---|---|\n\
///             | Plan (1) | **Session boundary** before UI Design |\n";
/// let flow = read_flow_file("greenfield", file).ok_or("no table")?;
/// assert_eq!(flow.steps[1].name, "UI Design");
/// assert!(flow.steps[0].ends_session && !flow.steps[1].ends_session);
/// # Ok::<(), &str>(())
/// ```
pub fn read_flow_file(name: &str, text: &str) -> Option<Flow> {
    let mut rows = rows_under(text, "Step Reference Table");
    let head = rows.next()?;
    let column =
        |wanted: &[&str]| head.iter().position(|cell| wanted.contains(&cell.to_lowercase().as_str()));
    let (number, title) = (column(&["step", "#"])?, column(&["name", "step name"])?);
    let skill = column(&["sub-skill", "skill"]);
    let mut steps = Vec::new();
    for row in rows {
        // Skips rows without an integer, such as fractions of later releases.
        let Some(Ok(step)) = row.get(number).map(|cell| cell.parse::<u16>()) else { continue };
        let Some(name) = row.get(title).filter(|name| !name.is_empty()) else { continue };
        let skill = skill
            .and_then(|column| row.get(column))
            .filter(|skill| !matches!(skill.as_str(), "" | "-" | "—"));
        let optional = name.to_lowercase().contains("(optional)");
        let name = name.replace("(optional)", "").replace("(Optional)", "").trim().to_owned();
        steps.push(FlowStep {
            step,
            name,
            skill: skill.cloned(),
            optional,
            ends_session: false,
            returns_to: None,
            due: Vec::new(),
            choose_block: None,
        });
    }
    for row in rows_under(text, "Auto-Chain Rules").skip(1) {
        if let [completed, .., action] = row.as_slice()
            && action.to_lowercase().contains("session boundary")
        {
            let is_it = |step: &&mut FlowStep| names_step(completed, step);
            steps.iter_mut().filter(is_it).for_each(|step| step.ends_session = true);
        }
    }
    for (heading, block) in choose_blocks(text) {
        let is_it = |step: &&mut FlowStep| names_step(heading, step);
        steps.iter_mut().filter(is_it).for_each(|step| step.choose_block = Some(block.join("\n")));
    }
    (!steps.is_empty()).then(|| Flow { flow: name.to_owned(), when: Vec::new(), steps })
}

/// `Plan (3)`, `Step 3`, `3`, `Plan`, `Plan (3, completed or skipped)`.
fn names_step(text: &str, step: &FlowStep) -> bool {
    let mut numbers = text.split(|letter: char| !letter.is_ascii_digit()).filter(|digits| !digits.is_empty());
    match numbers.next() {
        Some(number) => number.parse() == Ok(step.step),
        None => text.trim().eq_ignore_ascii_case(&step.name),
    }
}

fn choose_blocks(text: &str) -> Vec<(&str, Vec<&str>)> {
    let (mut heading, mut blocks) = ("", Vec::new());
    let mut open: Option<Vec<&str>> = None;
    for line in text.lines() {
        match (&mut open, line.trim_start().starts_with("```")) {
            (None, true) => open = Some(Vec::new()),
            (None, false) if line.starts_with('#') => heading = line.trim_start_matches('#').trim(),
            (None, false) => {}
            (Some(lines), false) => lines.push(line),
            (Some(_), true) => blocks.extend(open.take().map(|lines| (heading, lines))),
        }
    }
    blocks.retain(|(_, lines)| lines.iter().any(|line| line.contains("DECISION REQUIRED")));
    blocks
}

/// The first table below heading `title`, before the next heading, without the delimiter row.
fn rows_under<'t>(text: &'t str, title: &str) -> impl Iterator<Item = Vec<String>> + use<'t> {
    let is_heading = |line: &&str| line.starts_with('#');
    let title = title.to_lowercase();
    let mut lines = text.lines();
    lines.find(|line| is_heading(line) && line.to_lowercase().contains(&title));
    let section = lines.take_while(|line| !line.starts_with('#'));
    section.filter_map(|line| {
        let row = line.trim().strip_prefix('|')?;
        let row = row.strip_suffix('|').unwrap_or(row);
        let is_rule = row.chars().all(|letter| matches!(letter, '-' | ':' | '|' | ' '));
        let cell = |cell: &str| cell.trim().trim_matches(['*', '`']).trim().to_owned();
        (!is_rule).then(|| row.split('|').map(cell).collect())
    })
}

/// Converts a state file of an older generation; `None` if it is current.
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

/// `4 — Architecture Review` → phase 4, `architecture-review`. The text is kept as the note; without a number
/// the skill has not begun.
fn read_sub_step(text: &str) -> SubStep {
    let text = text.trim();
    let mut rest = text;
    for word in ["phase", "step"] {
        let is_it = rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        rest = if is_it { rest[word.len()..].trim_start() } else { rest };
    }
    let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let name = kebab(rest[digits..].split(['(', ';', ',']).next().unwrap_or_default());
    // Fractions cannot be stored.
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

    #[test]
    fn the_flows_that_are_built_in_can_be_followed() {
        let flows = Flows::with(BUILT_IN.clone()).unwrap();
        let lengths: Vec<_> = flows.iter().map(|flow| (flow.flow.as_str(), flow.steps.len())).collect();
        assert_eq!(lengths, [("meta-repo", 6), ("greenfield", 11), ("existing-code", 17)]);
        let existing = flows.named("existing-code").unwrap();
        assert_eq!(existing.after(17).map(|step| step.name.as_str()), Some("New Task"));
        assert!(flows.named("greenfield").unwrap().after(11).is_none());
        assert_eq!(existing.step_ids()[11], "step-12-test-spec-sync");
    }

    #[test]
    fn a_flow_that_cannot_be_followed_is_refused() {
        let flow =
            |text: &str| Flows::with(vec![serde_yaml::from_str(text).unwrap()]).unwrap_err().to_string();
        assert_eq!(flow("{flow: x, steps: []}"), "the flow `x` has no steps");
        let misnumbered = flow("{flow: x, steps: [{step: 2, name: A}]}");
        assert_eq!(
            misnumbered,
            "step 2 of the flow `x` stands in place 1: steps are numbered 1, 2, 3 and so on"
        );
        let nowhere = flow("{flow: x, steps: [{step: 1, name: A, returns_to: 4}]}");
        assert_eq!(nowhere, "the flow `x` returns to step 4, which it does not have");
    }

    #[test]
    fn a_flow_of_the_project_keeps_what_it_says_nothing_of() {
        let own = "{flow: greenfield, steps: [{step: 1, name: problem, skill: p}, {step: 2, name: Other}]}";
        let flows = Flows::with(vec![serde_yaml::from_str(own).unwrap()]).unwrap();
        let flow = flows.named("greenfield").unwrap();
        assert_eq!((flow.steps[0].due.len(), flow.steps[1].due.len()), (4, 0));
        assert_eq!(flow.steps[0].skill.as_deref(), Some("p"));
    }
}

#[cfg(test)]
mod flow_file_tests {
    use super::*;
    use crate::artifact::ProjectPath;
    use stepmark_frontmatter::apply;

    #[test]
    fn a_file_without_the_table_is_no_flow() {
        for text in [
            "",
            "# Flow\n",
            "## Step Reference Table\n",
            "## Step Reference Table\n\n| A | B |\n|---|---|\n| 1 | 2 |\n",
        ] {
            assert!(read_flow_file("x", text).is_none(), "{text:?}");
        }
    }

    #[test]
    fn rows_that_number_no_step_are_passed_over() {
        let text = "## Step Reference Table\n| Step | Name |\n|:--|--:|\n| 1 | **Plan** |\n| 1.5 | Half |\n| 2 | Audit (optional) |\n\n\
                    ## Auto-Chain Rules\n| Completed | Next |\n|--|--|\n| Audit | Session boundary |\n| Plan (1) | Auto-chain → Audit (2) |\n";
        let steps = read_flow_file("x", text).unwrap().steps;
        let told: Vec<_> = steps
            .iter()
            .map(|step| (step.step, step.name.as_str(), step.optional, step.ends_session))
            .collect();
        assert_eq!(told, [(1, "Plan", false, false), (2, "Audit", true, true)]);
    }

    #[test]
    fn a_block_that_asks_for_a_decision_belongs_to_the_step_that_it_stands_below() {
        let text = "## Step Reference Table\n| Step | Name |\n|--|--|\n| 1 | Plan |\n| 2 | Review |\n\n\
                    ## Step 2 — Review\n```\n# no heading\n DECISION REQUIRED: read it\n```\n```sh\nls\n```\n\
                    ## Template\n```\n DECISION REQUIRED: start?\n```\n## Plan\n```\nopen DECISION REQUIRED\n";
        let steps = read_flow_file("x", text).unwrap().steps;
        let blocks: Vec<_> = steps.iter().map(|step| step.choose_block.as_deref()).collect();
        assert_eq!(blocks, [None, Some("# no heading\n DECISION REQUIRED: read it")]);
    }

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
