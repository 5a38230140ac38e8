use stepmark_core::Workspace;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workspace = Workspace::open(".")?;
    let prd = "_bmad-output/planning-artifacts/prd.md";
    let change = workspace.update(prd, |prd| prd.complete("step-04-journeys"))?;
    println!("{} steps are left", change.artifact.progress().map_or(0, |progress| progress.left()));
    Ok(())
}
