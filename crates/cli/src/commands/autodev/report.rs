//! The output of `stepmark autodev`.

use serde_json::Value as Json;
use stepmark_model::{
    artifact::ProjectPath,
    autodev::{AutodevMove, Detection, FlowStep, Position, StepPlace, SubStep},
};
use stepmark_store::autodev::{AutodevStatus, Moved};

use crate::{
    exit::{Exit, Failure},
    output::Output,
};

pub(super) fn status(status: &AutodevStatus, output: &Output) -> Result<Exit, Failure> {
    output.answer(|| answer(status, None));
    let own = status.step().map(|step| step.step);
    output.line(format_args!("{}: {}, cycle {}", status.file, status.flow.flow, cycle(status)));
    for step in &status.flow.steps {
        let mark = match own {
            Some(own) if step.step == own => '>',
            Some(own) if step.step > own => ' ',
            _ => 'x',
        };
        let note = if Some(step.step) == own { note(status) } else { String::new() };
        output.line(format_args!("[{mark}] {:>2} {}{note}", step.step, step.name));
    }
    tell_disagreement(status, output);
    Ok(exit(status))
}

pub(super) fn detection(
    status: &AutodevStatus,
    evidence: Option<&[Vec<String>]>,
    output: &Output,
) -> Result<Exit, Failure> {
    output.answer(|| answer(status, None));
    if let Some(evidence) = evidence {
        output.line(format_args!("flow {}", status.flow.flow));
        for ((step, is_due), probes) in status.flow.steps.iter().zip(&status.due).zip(evidence) {
            let told = match is_due {
                Some(true) => "the files say that it is to be done",
                Some(false) => "the files say that it is done",
                None => "the files do not tell; what is noted is believed",
            };
            output.line(format_args!("{:>2} {}: {told}", step.step, step.name));
            probes.iter().for_each(|probe| output.line(format_args!("   {probe}")));
        }
    }
    output.line(in_words(status));
    tell_disagreement(status, output);
    Ok(exit(status))
}

pub(super) fn next(status: &AutodevStatus, output: &Output) -> Result<Exit, Failure> {
    let failed = status.position().filter(|noted| noted.status == "failed");
    let waits = status.position().filter(|noted| matches!(noted.status.as_str(), "completed" | "skipped"));
    let exit = if failed.is_some() { Exit::Person } else { exit(status) };
    output.answer(|| answer(status, None));
    tell_disagreement(status, output);
    match (failed, waits, status.step()) {
        (Some(noted), ..) => {
            output.line(format_args!(
                "step {} `{}` failed {} times: a person looks at it, then `stepmark autodev retry --reset`",
                noted.step, noted.name, noted.retry_count
            ));
        }
        (None, Some(_), Some(step)) => {
            show_choice(status, step, output);
            tell_boundary(output);
        }
        _ => output.line(format_args!("{}{}", in_words(status), note(status))),
    }
    Ok(exit)
}

pub(super) fn moved(
    status: &AutodevStatus,
    moved: &Moved,
    made: &AutodevMove,
    output: &Output,
) -> Result<Exit, Failure> {
    output.answer(|| answer(status, Some(moved.is_changed)));
    if !moved.is_changed {
        output.remark(format_args!("{}: nothing to write", status.file));
        return Ok(Exit::Fine);
    }
    let (step, place) = (noted_step(&moved.after), in_place(&moved.after));
    output.remark(format_args!("{}: {step}{place}", status.file));
    tell_disagreement(status, output);
    let ends = matches!(moved.after.status.as_str(), "completed" | "skipped");
    match (made, status.flow.step_at(&moved.before)) {
        (AutodevMove::Complete | AutodevMove::Skip, Some(step)) if ends => {
            show_choice(status, step, output);
            tell_boundary(output);
        }
        (AutodevMove::Boundary, Some(step)) => show_choice(status, step, output),
        _ => {}
    }
    Ok(Exit::Fine)
}

fn show_choice(status: &AutodevStatus, step: &FlowStep, output: &Output) {
    if let Some(block) = status.flow.choose_block(step) {
        output.line(block);
    }
}

fn tell_boundary(output: &Output) {
    output.line("`stepmark autodev boundary` notes the next step and ends the session");
}

fn tell_disagreement(status: &AutodevStatus, output: &Output) {
    if output.json {
        return;
    }
    match (&status.noted, &status.detection) {
        (None, _) => {
            output.warning(format_args!("{}: not there; `stepmark autodev start` makes it", status.file))
        }
        (Some(Err(error)), _) => {
            output.warning(format_args!("{}: {error}; the files of the project tell", status.file))
        }
        (Some(Ok(noted)), Detection::Elsewhere(_)) => output.warning(format_args!(
            "{}: notes step {} `{}`, {}; the files of the project count: `stepmark autodev detect --write`",
            status.file, noted.step, noted.name, noted.status
        )),
        (Some(Ok(_)), Detection::Agrees) => {
            if let Some(fault) = &status.fault {
                output.warning(format_args!("{}: {fault}", status.file));
            }
        }
    }
    if let Some(state) = &status.other_phase {
        let noted = status.position().map_or("", |noted| &noted.sub_step.name);
        output
            .warning(format_args!("{}: the skill is in phase `{}`, not `{noted}`", state.file, state.phase));
    }
}

fn exit(status: &AutodevStatus) -> Exit {
    if status.is_consistent() && status.other_phase.is_none() { Exit::Fine } else { Exit::Findings }
}

fn cycle(status: &AutodevStatus) -> u64 {
    status.position().map_or(1, |noted| noted.cycle)
}

fn in_words(status: &AutodevStatus) -> String {
    match (status.position().filter(|_| status.is_consistent()), status.step()) {
        (Some(noted), _) => noted_step(noted),
        (None, Some(step)) => format!("step {} `{}`", step.step, step.name),
        (None, None) => "all steps are done".to_owned(),
    }
}

fn noted_step(noted: &Position) -> String {
    match noted.step {
        StepPlace::Done => "all steps are done".to_owned(),
        _ => format!("step {} `{}`", noted.step, noted.name),
    }
}

/// `, in_progress, phase 4 batch-loop (batch 2)`; empty if the recorded step does not count.
fn note(status: &AutodevStatus) -> String {
    status.position().filter(|_| status.is_consistent()).map_or_else(String::new, in_place)
}

fn in_place(noted: &Position) -> String {
    if noted.step == StepPlace::Done {
        return String::new();
    }
    let sub_step = &noted.sub_step;
    let detail = if sub_step.detail.is_empty() { String::new() } else { format!(" ({})", sub_step.detail) };
    let retries = match noted.retry_count {
        0 => String::new(),
        1 => ", 1 failed retry".to_owned(),
        count => format!(", {count} failed retries"),
    };
    format!(", {}, phase {} {}{detail}{retries}", noted.status, sub_step.phase, sub_step.name)
}

answers! { Answer<'a>
    /// `autodev`: the step of the flow that is being done, and what the state file notes
    "stepmark.autodev/1" Autodev {
        file: &'a ProjectPath, flow: &'a str, steps: Vec<&'a str>, step: Option<u16>, name: Option<&'a str>,
        consistent: bool, skill_phase: Option<&'a str>, noted: Option<Noted<'a>>, error: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")] changed: Option<bool>,
    }
    struct Noted<'a> {
        /// A number, or a word
        step: Json,
        name: &'a str, status: &'a str, sub_step: &'a SubStep, retry_count: u64, cycle: u64,
    }
}

fn answer(status: &AutodevStatus, changed: Option<bool>) -> Answer<'_> {
    let number = |step: &StepPlace| match step {
        StepPlace::Number(number) => Json::from(*number),
        other => Json::from(other.to_string()),
    };
    let noted =
        status.position().map(|Position { step, name, status, sub_step, retry_count, cycle, .. }| Noted {
            step: number(step),
            name,
            status,
            sub_step,
            retry_count: *retry_count,
            cycle: *cycle,
        });
    Answer::Autodev {
        file: &status.file,
        flow: &status.flow.flow,
        steps: status.flow.steps.iter().map(|step| &*step.name).collect(),
        step: status.step().map(|step| step.step),
        name: status.step().map(|step| &*step.name),
        consistent: status.is_consistent(),
        skill_phase: status.other_phase.as_ref().map(|state| &*state.phase),
        noted,
        error: match &status.noted {
            Some(Err(error)) => Some(error.to_string()),
            _ => status.fault.as_ref().map(ToString::to_string),
        },
        changed,
    }
}
