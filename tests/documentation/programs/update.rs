use stepmark_core::{Actor, Attribution, Workspace};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let actor: Actor = "agent:writer".parse()?;
    let workspace = Workspace::open(".")?.with_attribution(Attribution::of(actor));
    let prd = "_bmad-output/planning-artifacts/prd.md";
    for step in ["step-04-journeys", "step-05-domain"] {
        let carried = workspace.update(prd, |prd| prd.complete(step))?;
        let left = carried.artifact.progress().map_or(0, |progress| progress.left());
        println!("{step} is done, {left} steps are left");
    }
    Ok(())
}
