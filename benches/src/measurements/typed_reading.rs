//! Typed reading of all artifacts beside the readers of the field.

use std::{path::Path, process::Command, time::Duration};

use crate::{
    failure::Failure,
    measurements::reader::{Place, Reader},
    process,
    report::{self, Target},
    timing::{Contender, Series, alternate},
    tools::Tools,
};

/// The peers in other languages, seen from the root of the repository.
const PYTHON_PEER: &str = "benches/peers/python_frontmatter.py";
const NODE_PEER: &str = "benches/peers/gray_matter.mjs";

/// Measures and prints. The peers in other languages run where their folders are given.
pub(crate) fn measure(
    tools: &Tools,
    folder: &Path,
    rounds: usize,
    python: Option<&Path>,
    node: Option<&Path>,
) -> Result<(), Failure> {
    for (place, name) in [(Place::Memory, "memory"), (Place::Disk, "disk")] {
        report::title(&format!("typed reading of all artifacts from {name}, on all processors"));
        let mut peers = vec![
            own(tools, Reader::Stepmark, name, folder),
            own(tools, Reader::SerdeYaml, name, folder),
            own(tools, Reader::GrayMatter, name, folder),
        ];
        let mut targets = vec![Target::None, Target::AtLeast(1.0), Target::AtLeast(1.0)];
        if place == Place::Disk {
            peers.push(own(tools, Reader::Workspace, name, folder));
            targets.push(Target::None);
        }
        if let Some(python) = python {
            peers.push(Peer::new(
                "python-frontmatter",
                Command::new(python),
                &[PYTHON_PEER.as_ref(), name.as_ref(), folder],
            ));
            targets.push(Target::AtLeast(12.0));
        }
        if let Some(node) = node {
            let arguments = [NODE_PEER.as_ref(), node, name.as_ref(), folder];
            peers.push(Peer::new("gray-matter (Node)", Command::new("node"), &arguments));
            targets.push(Target::AtLeast(3.0));
        }
        compare(rounds, peers, &targets, place)?;
    }
    Ok(())
}

fn compare(rounds: usize, peers: Vec<Peer>, targets: &[Target], place: Place) -> Result<(), Failure> {
    let counts = std::cell::RefCell::new(None);
    let contenders = peers.into_iter().map(|mut peer| {
        let counts = &counts;
        Contender::new(peer.name.clone(), move || peer.run(&mut counts.borrow_mut()))
    });
    let series = alternate(rounds, contenders.collect())?;
    if let Some(Counts { files, steps, .. }) = counts.into_inner() {
        println!("  {files} files, {steps} completed steps; all readers agree");
    }
    against(&series[0], &series, targets);
    if place == Place::Disk {
        against(&series[3], &series, targets);
    }
    Ok(())
}

fn against(own: &Series, series: &[Series], targets: &[Target]) {
    for (peer, target) in series.iter().zip(targets) {
        if !matches!(target, Target::None) {
            report::faster(own, peer, *target);
        }
    }
}

/// A reader as a process that prints seconds, files and steps.
struct Peer {
    name: String,
    command: Command,
}

/// The answer of the first reader.
struct Counts {
    who: String,
    files: usize,
    steps: usize,
}

fn own(tools: &Tools, reader: Reader, place: &str, folder: &Path) -> Peer {
    let (argument, name) = match reader {
        Reader::Stepmark => ("stepmark", "Artifact::read"),
        Reader::Workspace => ("workspace", "Workspace::artifacts"),
        Reader::SerdeYaml => ("serde-yaml", "serde_yaml 0.9"),
        Reader::GrayMatter => ("gray-matter", "gray_matter (Rust)"),
    };
    Peer::new(name, tools.own("read"), &[argument.as_ref(), place.as_ref(), folder])
}

impl Peer {
    fn new(name: &str, mut command: Command, arguments: &[&Path]) -> Self {
        command.args(arguments);
        Self { name: name.to_owned(), command }
    }

    /// Runs it, and compares what it found with what the others did.
    fn run(&mut self, counts: &mut Option<Counts>) -> Result<Duration, Failure> {
        let text = process::stdout(&mut self.command)?;
        let unclear = || Failure::Usage(format!("{} printed `{}`", self.name, text.trim()));
        let mut words = text.split_whitespace();
        let mut word = || words.next().ok_or_else(unclear);
        let seconds: f64 = word()?.parse().map_err(|_| unclear())?;
        let files: usize = word()?.parse().map_err(|_| unclear())?;
        let steps: usize = word()?.parse().map_err(|_| unclear())?;
        let first = counts.get_or_insert_with(|| Counts { who: self.name.clone(), files, steps });
        if (first.files, first.steps) != (files, steps) {
            return Err(Failure::Disagreement {
                who: self.name.clone(),
                found: format!("{files} files with {steps} steps"),
                other: first.who.clone(),
                wanted: format!("{} files with {} steps", first.files, first.steps),
            });
        }
        Ok(Duration::from_secs_f64(seconds))
    }
}
