//! Moves of autodev, as edits of the state file.

use serde_json::Value as Json;
use stepmark_frontmatter::{Edit, KeyPath, Segment, Value};

use super::{
    Flow, FlowStep, Position, StepPlace, SubStep,
    position::{AWAITING, MOST_RETRIES, is_kebab_case},
};
use crate::artifact::ProjectPath;
use crate::lifecycle::{Guard, built_in};
use crate::packs::{MoveCall, Refused, Write};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AutodevRefusal {
    #[error("step {step} `{name}` is `{status}`: {legal}")]
    Status { step: String, name: String, status: String, legal: &'static str },
    #[error(
        "a step is never `{status}`: `stepmark set {file} status={likely} --force --reason TEXT` corrects it (SMD05)"
    )]
    UnknownStatus { file: ProjectPath, status: String, likely: &'static str },
    #[error(
        "step {step} is `{name}`, not `{noted}`: `stepmark autodev detect --write` corrects the name; where the number is wrong, correct that (SMD04)"
    )]
    WrongName { step: u16, name: String, noted: String },
    #[error("the flow `{flow}` is done: `stepmark autodev start --flow NAME` begins another one")]
    Done { flow: String },
    #[error(
        "step {step} `{name}` failed {retries} times: look at it; a person goes on with `stepmark autodev retry --reset`"
    )]
    Failed { step: String, name: String, retries: u64 },
    #[error("the flow `{flow}` has no step {step}: `stepmark autodev detect` says where the project is")]
    UnknownStep { flow: String, step: String },
    #[error("step {step} `{name}` is not optional: complete it, or `--force` with the reason")]
    NotOptional { step: u16, name: String },
    #[error("phase {phase} does not follow phase {now}: the next is {}", now + 1)]
    Phase { phase: u64, now: u64 },
    #[error("a phase of this step is called `{name}` already: give the next one a name of its own")]
    NameAgain { name: String },
    #[error("`{name}` is no name of a phase: write it in kebab-case, as `batch-loop`")]
    Name { name: String },
    #[error("`{AWAITING}` is the name of phase 0 alone")]
    Reserved,
    #[error("only a person begins a failed step again: run it without `STEPMARK_ACTOR`, or as `human:NAME`")]
    NotHuman,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AutodevMove {
    Start,
    SubStep(SubStep),
    Complete,
    Skip,
    Fail,
    Reset,
    /// Completes the step; the next one begins in a new session.
    Boundary,
    /// Overrides the noted step; `None`: all are done.
    Correct(Option<u16>),
    Rename,
}

impl AutodevMove {
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::SubStep(_) => "sub-step",
            Self::Complete => "complete",
            Self::Skip => "skip",
            Self::Fail => "fail",
            Self::Reset => "retry --reset",
            Self::Boundary => "boundary",
            Self::Correct(_) | Self::Rename => "detect --write",
        }
    }
}

pub fn fault(flow: &Flow, noted: &Position, file: &ProjectPath) -> Option<AutodevRefusal> {
    if noted.step == StepPlace::Done {
        return None;
    }
    if !noted.has_known_status() {
        let (file, status) = (file.clone(), noted.status.clone());
        return Some(AutodevRefusal::UnknownStatus { file, status, likely: likely_status(noted) });
    }
    let step = flow.step_at(noted).filter(|step| !step.name.eq_ignore_ascii_case(noted.name.trim()))?;
    let (name, noted) = (step.name.clone(), noted.name.clone());
    Some(AutodevRefusal::WrongName { step: step.step, name, noted })
}

/// For an open step with an unknown status: in progress if a phase has begun.
fn likely_status(noted: &Position) -> &'static str {
    let is_begun = noted.sub_step.phase > 0 || noted.sub_step.name != AWAITING;
    if is_begun { "in_progress" } else { "not_started" }
}

/// Empty for no change; `names` are those of earlier phases of the step.
pub fn decide(
    flow: &Flow,
    noted: &Position,
    made: &AutodevMove,
    (is_human, is_forced): (bool, bool),
    names: &[String],
) -> Result<Vec<Edit>, AutodevRefusal> {
    let is = |status: &str| noted.status == status;
    if noted.step == StepPlace::Done && !matches!(made, AutodevMove::Correct(_) | AutodevMove::Rename) {
        return Err(AutodevRefusal::Done { flow: flow.flow.clone() });
    }
    let mut after = noted.clone();
    match made {
        AutodevMove::Correct(to) => {
            let to = to.and_then(|number| flow.step(number));
            let is_here = to.is_some() && flow.step_at(noted).map(|own| own.step) == to.map(|to| to.step);
            if is_here && !noted.has_known_status() {
                after.status = likely_status(noted).to_owned();
            } else {
                enter(to, &mut after);
            }
            if to.is_none() {
                after.status = "completed".to_owned();
            }
        }
        AutodevMove::Rename => after.name.clone_from(&own_step(flow, noted)?.name),
        AutodevMove::Start if is("in_progress") => {}
        AutodevMove::Reset if !is("failed") && noted.retry_count == 0 => {}
        AutodevMove::Start | AutodevMove::SubStep(_) | AutodevMove::Fail if is("failed") => {
            return Err(failed(noted));
        }
        made => {
            make(noted, made, &mut after, is_human)?;
            follow(flow, noted, (made, is_forced, names), &mut after)?;
        }
    }
    Ok(difference(noted, &after))
}

/// Status and retries follow the lifecycle of the pack.
fn make(
    noted: &Position,
    made: &AutodevMove,
    after: &mut Position,
    is_human: bool,
) -> Result<(), AutodevRefusal> {
    let Some(table) = built_in("autodev-step") else { return Ok(()) };
    let name = if *made == AutodevMove::Reset { "retry" } else { made.name() };
    let values = [("retry_count".to_owned(), noted.retry_count.into())].into_iter().collect();
    let not_human = |guard: &Guard| (*guard != Guard::Human || !is_human).then_some(AutodevRefusal::NotHuman);
    let writes = table.make((&noted.status, &values), &MoveCall::new("autodev", name), not_human);
    let writes = writes.map_err(|refused| match refused {
        Refused::Guard(refusal, _) => refusal,
        Refused::Move(_) => AutodevRefusal::Status {
            step: noted.step.to_string(),
            name: noted.name.clone(),
            status: noted.status.clone(),
            legal: match &*noted.status {
                "not_started" if *made == AutodevMove::Boundary => {
                    "a session ends behind a step that is done, and `stepmark autodev start` begins it"
                }
                "not_started" => "`stepmark autodev start` begins it",
                _ => "`stepmark autodev boundary` goes on to the next step",
            },
        },
    })?;
    for write in writes {
        match write {
            Write::Set(key, Json::String(status)) if key == "status" => after.status = status,
            Write::Set(_, count) => after.retry_count = count.as_u64().unwrap_or_default(),
            _ => {}
        }
    }
    Ok(())
}

fn follow(
    flow: &Flow,
    noted: &Position,
    (made, is_forced, names): (&AutodevMove, bool, &[String]),
    after: &mut Position,
) -> Result<(), AutodevRefusal> {
    match made {
        AutodevMove::SubStep(place) => {
            check_sub_step(&noted.sub_step, place, names)?;
            after.sub_step = place.clone();
        }
        AutodevMove::Complete | AutodevMove::Skip => {
            let step = own_step(flow, noted)?;
            if *made == AutodevMove::Skip && !step.optional && !is_forced {
                return Err(AutodevRefusal::NotOptional { step: step.step, name: step.name.clone() });
            }
            if !step.ends_session {
                go_on(flow, step, after);
            }
        }
        AutodevMove::Fail if after.retry_count >= MOST_RETRIES => after.status = "failed".to_owned(),
        AutodevMove::Boundary => {
            if noted.status == "in_progress" {
                after.status = "completed".to_owned();
                after.retry_count = 0;
            }
            go_on(flow, own_step(flow, noted)?, after);
        }
        _ => {}
    }
    Ok(())
}

fn failed(noted: &Position) -> AutodevRefusal {
    let (step, name) = (noted.step.to_string(), noted.name.clone());
    AutodevRefusal::Failed { step, name, retries: noted.retry_count }
}

fn own_step<'f>(flow: &'f Flow, noted: &Position) -> Result<&'f FlowStep, AutodevRefusal> {
    let step = if let StepPlace::Number(number) = noted.step { flow.step(number) } else { None };
    step.ok_or_else(|| AutodevRefusal::UnknownStep { flow: flow.flow.clone(), step: noted.step.to_string() })
}

fn check_sub_step(now: &SubStep, next: &SubStep, names: &[String]) -> Result<(), AutodevRefusal> {
    if !is_kebab_case(&next.name) {
        return Err(AutodevRefusal::Name { name: next.name.clone() });
    }
    if next.name == AWAITING && next.phase != 0 {
        return Err(AutodevRefusal::Reserved);
    }
    // Same phase with another note, or another mode of the skill with phases of its own.
    if next.phase == now.phase {
        return Ok(());
    }
    if next.phase != now.phase.saturating_add(1) {
        return Err(AutodevRefusal::Phase { phase: next.phase, now: now.phase });
    }
    match names.contains(&next.name) {
        true => Err(AutodevRefusal::NameAgain { name: next.name.clone() }),
        false => Ok(()),
    }
}

fn go_on(flow: &Flow, step: &FlowStep, after: &mut Position) {
    let next = flow.after(step.step);
    if next.is_some_and(|next| next.step <= step.step) {
        after.cycle = after.cycle.saturating_add(1);
    }
    if next.is_some() {
        enter(next, after);
    } else {
        after.step = StepPlace::Done;
        after.sub_step = SubStep::awaiting();
    }
}

fn enter(step: Option<&FlowStep>, after: &mut Position) {
    after.step = step.map_or(StepPlace::Done, |step| StepPlace::Number(step.step));
    after.name = step.map_or_else(|| after.name.clone(), |step| step.name.clone());
    after.status = "not_started".to_owned();
    after.sub_step = SubStep::awaiting();
    after.retry_count = 0;
}

fn difference(before: &Position, after: &Position) -> Vec<Edit> {
    let set = |keys: &[&str], value: Value| Edit::Set {
        path: KeyPath(keys.iter().map(|key| Segment::Key((*key).to_owned())).collect()),
        value,
    };
    let mut edits = Vec::new();
    let mut text = |keys: &[&str], before: &str, after: &str| {
        if before != after {
            edits.push(set(keys, Value::from(after)));
        }
    };
    text(&["name"], &before.name, &after.name);
    text(&["status"], &before.status, &after.status);
    text(&["sub_step", "name"], &before.sub_step.name, &after.sub_step.name);
    text(&["sub_step", "detail"], &before.sub_step.detail, &after.sub_step.detail);
    let mut number = |keys: &[&str], before: u64, after: u64| {
        if before != after {
            edits.push(set(keys, Value::Integer(i64::try_from(after).unwrap_or(i64::MAX))));
        }
    };
    number(&["sub_step", "phase"], before.sub_step.phase, after.sub_step.phase);
    number(&["retry_count"], before.retry_count, after.retry_count);
    number(&["cycle"], before.cycle, after.cycle);
    if before.step != after.step {
        let value = match &after.step {
            StepPlace::Number(number) => Value::Integer(i64::from(*number)),
            StepPlace::Fraction(text) => Value::from(text.as_str()),
            StepPlace::Done => Value::from("done"),
        };
        edits.push(set(&["step"], value));
    }
    edits
}

/// `None`: after all steps.
pub fn first_file(flow: &Flow, step: Option<&FlowStep>) -> String {
    format!("# Autodev State\n\n## Current Step\n{}", first_block(flow, step, 1))
}

pub fn first_block(flow: &Flow, step: Option<&FlowStep>, cycle: u64) -> String {
    let (number, status) = match step {
        Some(step) => (step.step.to_string(), "not_started"),
        None => ("done".to_owned(), "completed"),
    };
    let name = step.or(flow.steps.last()).map_or("", |step| &step.name);
    let (flow, name) = (scalar(&flow.flow), scalar(name));
    format!(
        "flow: {flow}\nstep: {number}\nname: {name}\nstatus: {status}\nsub_step:\n  phase: 0\n  name: {AWAITING}\n  \
         detail: \"\"\nretry_count: 0\ncycle: {cycle}\n"
    )
}

fn scalar(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_' | '/');
    let begins = text.starts_with(char::is_alphabetic) && !text.ends_with(' ');
    if begins && text.chars().all(is_plain) { text.to_owned() } else { Json::from(text).to_string() }
}
