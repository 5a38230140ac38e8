#![allow(warnings, clippy::all)]
use stepmark_core::{workflow::*, workspace::*};
fn main() {
    let root = Root::open(std::env::args().nth(1).unwrap()).unwrap();
    let t = std::time::Instant::now();
    let ws = Workflows::find(&root, &Configuration::default());
    eprintln!("find {:?}", t.elapsed());
    let t = std::time::Instant::now();
    let mut total_diag = 0;
    for i in 0..ws.len() {
        let o = ws.outline(i).unwrap();
        println!("## {} {} copies {}", ws.name(i).unwrap(), o.folder, o.copies.len());
        for c in &o.chains {
            let d = ws.definition(i, c.track).unwrap().unwrap();
            let units: Vec<String> = d
                .chain
                .units()
                .map(|u| match u {
                    Unit::Step(s) => s.name().to_string(),
                    Unit::Choice(s) => {
                        format!("({})", s.iter().map(|s| s.name()).collect::<Vec<_>>().join("|"))
                    }
                })
                .collect();
            println!("  {} {}: {}", c.track, units.len(), units.join(" "));
            let silent: Vec<_> = d
                .chain
                .steps()
                .iter()
                .filter(|s| s.recording == Recording::Silent)
                .map(|s| s.name())
                .collect();
            if !silent.is_empty() {
                println!("     silent {}", silent.join(" "));
            }
            for x in d.chain.diagnoses() {
                println!("     ! {x}");
                total_diag += 1;
            }
        }
    }
    eprintln!("all {:?} diag {total_diag}", t.elapsed());
}
