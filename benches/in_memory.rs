//! What single operations cost in memory, with the peer that edits YAML losslessly beside them.
#![allow(missing_docs, reason = "criterion's macros make public items")]

use std::{hint::black_box, str::FromStr};

use criterion::{Criterion, criterion_group, criterion_main};
use stepmark_core::{
    artifact::{Artifact, ProjectPath},
    document::{Document, Edit, KeyPath, Region, Value, apply},
};
use yaml_edit::YamlFile;

/// A frontmatter of 377 bytes, as an interrupted PRD workflow leaves it.
const FRONTMATTER: &str = "\
stepsCompleted: ['step-01-init', 'step-02-discovery', 'step-02b-vision', 'step-03-success']
inputDocuments:
  - docs/planning/product-brief.md
  - docs/research/market-research-2026-02-11.md
  - docs/project-context.md
workflowType: 'prd'
# set by the person, not by the workflow
status: in-progress # draft | in-progress | done
project_name: 'billing'
user_name: Ada
date: '2026-03-14'
documentCounts: {briefs: 1, research: 1}
";

fn file() -> Vec<u8> {
    let mut text = format!("---\n{FRONTMATTER}---\n\n# PRD\n\n");
    while text.len() < 2048 {
        text.push_str("The account must list every change that a user stores within seconds.\n");
    }
    text.into_bytes()
}

fn reading(criterion: &mut Criterion) {
    let file = file();
    let Ok(path) = ProjectPath::new("docs/prd.md") else { return };
    let mut group = criterion.benchmark_group("reading");
    group.bench_function("fences", |bench| bench.iter(|| Document::scan(black_box(&file)).frontmatter()));
    group.bench_function("artifact", |bench| {
        bench.iter(|| Artifact::read(path.clone(), black_box(&file).clone()))
    });
    group.finish();
}

fn editing(criterion: &mut Criterion) {
    let file = file();
    let append =
        [Edit::Append { path: KeyPath::key("stepsCompleted"), item: Value::from("step-04-journeys") }];
    let mut group = criterion.benchmark_group("editing");
    group.bench_function("verified append", |bench| {
        bench.iter(|| apply(black_box(&file), &Region::Frontmatter, &append));
    });
    group.bench_function("yaml-edit append, not verified", |bench| {
        bench.iter(|| yaml_edit_append(black_box(FRONTMATTER)))
    });
    group.finish();
}

/// The same change by yaml-edit, which has no idea of fences and gets the frontmatter alone.
fn yaml_edit_append(text: &str) -> Option<String> {
    let yaml = YamlFile::from_str(text).ok()?;
    let steps = yaml.document()?.as_mapping()?.get_sequence("stepsCompleted")?;
    steps.push("step-04-journeys");
    Some(yaml.to_string())
}

criterion_group!(in_memory, reading, editing);
criterion_main!(in_memory);
