//! Marks the next step of an artifact as done, as an agent's program would: proven, atomic, with an event,
//! and decided anew where another writer was quicker.
//!
//! `cargo run -p stepmark-core --example complete_next_step -- PROJECT ARTIFACT`

use std::{env, error::Error};

use stepmark_core::{Actor, Attribution, Next, Workspace};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let (Some(root), Some(path)) = (arguments.next(), arguments.next()) else {
        return Err("give the folder of a project and the path of an artifact in it".into());
    };
    report(&complete_next_step(&root, &path)?);
    Ok(())
}

/// Completes the next step of the artifact at `path`, and says how far it is then.
fn complete_next_step(root: &str, path: &str) -> Result<String, Box<dyn Error>> {
    let actor: Actor = "agent:example".parse()?;
    let workspace = Workspace::open(root)?.with_attribution(Attribution::of(actor));
    let path = path.parse()?;
    let artifact = workspace.artifact(&path)?;
    let Some(Next::Step { step, .. }) = artifact.progress().map(|progress| progress.next) else {
        return Err(format!("no single step comes next in {path}").into());
    };
    // The closure is called again with what the file says then, where another writer was quicker.
    let carried = workspace.update(path.as_str(), |artifact| artifact.complete(&step.id.to_string()))?;
    let progress = carried.artifact.progress();
    let (done, total) = progress.map_or((0, 0), |progress| (progress.done_units, progress.total));
    Ok(format!("{path}: {} is done, {done} of {total} steps", step.id))
}

#[expect(clippy::print_stdout, reason = "an example shows what it did")]
fn report(line: &str) {
    println!("{line}");
}
