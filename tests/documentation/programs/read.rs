use stepmark_core::Workspace;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workspace = Workspace::open(".")?;
    for artifact in workspace.artifacts()?.artifacts {
        if let Some(progress) = artifact.progress() {
            println!("{}: {} of {}", artifact.path(), progress.done_units, progress.total);
        }
        for finding in workspace.checks().own_findings(&artifact) {
            println!("  {}", finding.rule.id);
        }
    }
    Ok(())
}
