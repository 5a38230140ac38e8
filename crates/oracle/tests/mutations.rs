//! Bytes near to real ones: fixtures and generated documents with a few changes. Nothing panics, nothing
//! wrong is written. A seeded stand-in for the fuzz targets in `fuzz/`, which run the same bodies.
#![expect(clippy::disallowed_methods, reason = "an edge: fixtures and the number of rounds are read here")]
#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::PathBuf;

use stepmark_oracle::{Choices, Random, Verdict, generate, mutate, target};

/// How many mutated files are tried: `STEPMARK_ROUNDS`, or what a test may take.
fn rounds() -> u64 {
    std::env::var("STEPMARK_ROUNDS").map_or(2000, |rounds| rounds.parse().unwrap())
}

fn seeds() -> Vec<Vec<u8>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut files: Vec<_> = ["valid", "invalid"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files.iter().map(|file| std::fs::read(file).unwrap()).collect()
}

#[test]
fn mutated_files_do_no_harm() {
    let seeds = seeds();
    let mut changed = 0;
    for round in 0..rounds() {
        let mut random = Random::new(round);
        let seed = match random.word() % 2 {
            0 => seeds[random.below(seeds.len())].clone(),
            _ => generate(&mut Choices::new(&random.bytes(150))).bytes,
        };
        let file = mutate(&seed, &mut random);
        let verdicts = target::parse(&file).and_then(|()| target::edit(&file));
        let verdicts = verdicts.unwrap_or_else(|wrong| {
            panic!("round {round}, {:?}: {}: {}", String::from_utf8_lossy(&file), wrong.promise, wrong.found)
        });
        changed += verdicts.iter().filter(|verdict| matches!(verdict, Verdict::Changed(_))).count();
    }
    assert!(changed as u64 > rounds() / 4, "{changed} edits were made");
}
