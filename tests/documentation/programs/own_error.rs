use std::{fmt, num::NonZeroU32, time::Duration};

use stepmark_core::{Clock, CommitOptions, TransitionRefusal, UpdateError, Workspace};

#[derive(Debug)]
enum NotNow {
    Frozen,
    Refused(TransitionRefusal),
}

impl From<TransitionRefusal> for NotNow {
    fn from(refusal: TransitionRefusal) -> Self {
        Self::Refused(refusal)
    }
}

impl fmt::Display for NotNow {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Frozen => out.write_str("the plan is frozen"),
            Self::Refused(refusal) => refusal.fmt(out),
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = CommitOptions {
        lock_timeout: Duration::from_secs(2),
        attempts: NonZeroU32::MIN,
        ..CommitOptions::default()
    };
    let noon = "2026-11-22T12:00:00Z".parse()?;
    let workspace = Workspace::open(".")?.with_commit_options(options).with_clock(Clock::of(move || noon));
    let changed = workspace.update("_bmad-output/planning-artifacts/prd.md", |prd| {
        if prd.steps().completed().len() > 3 {
            return Err(NotNow::Frozen);
        }
        Ok(prd.complete("step-04-journeys")?)
    });
    match changed {
        Ok(_) => println!("done"),
        Err(UpdateError::Refused { source, .. }) => println!("not now: {source}"),
        Err(error) if error.is_conflict() => println!("another program was writing: try again"),
        Err(error) => println!("{error}"),
    }
    Ok(())
}
