use stepmark_core::{Known, Selection, Workspace};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workspace = Workspace::open(".")?;
    let found = workspace.artifacts()?;
    let report = workspace.check(&found.artifacts, Selection::All, Known::LeftOut)?;
    for file in &report.files {
        for finding in &file.findings {
            println!("{}: {}", file.path, finding.rule.id);
        }
    }
    std::process::exit(i32::from(report.findings().next().is_some()))
}
