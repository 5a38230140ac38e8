//! What single operations cost in memory, with the peer that edits YAML losslessly beside them.
#![allow(missing_docs, reason = "criterion's macros make public items")]

use std::{hint::black_box, str::FromStr};

use criterion::{Criterion, criterion_group, criterion_main};
use stepmark_frontmatter::{Document, Edit, KeyPath, Region, Value, apply};
use stepmark_model::artifact::{Artifact, ProjectPath};
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

/// A frontmatter of about 2 KiB, made of one kind of entry.
fn of_kind(entry: &str, line_end: &str) -> String {
    let mut text = "---\n".to_owned();
    for at in 0.. {
        if text.len() > 2048 {
            break;
        }
        text.push_str(&entry.replace('N', &at.to_string()));
    }
    (text + "---\n# Body\n").replace('\n', line_end)
}

/// Reading into a type of the caller, with the reader that the field uses beside it.
fn typed(criterion: &mut Criterion) {
    type Frontmatter = std::collections::BTreeMap<String, serde_json::Value>;
    for (kind, entry, line_end) in [
        ("flow maps", "kN: {a: 1, b: 'x', c: [1, 2]}\nstatusN: done\n", "\n"),
        ("line ends of Windows", "kN: 'x'\nlistN:\n  - a\n  - b\n", "\r\n"),
        ("list of maps", "kN:\n  - id: a\n    status: done\n  - id: b\n    status: open\n", "\n"),
        ("quoted keys", "'kN': 1\n\"lN\": x\n", "\n"),
        ("folded and literal text", "kN: >\n  Some words that\n  go on.\nlN: |\n  Text\n  and more\n", "\n"),
    ] {
        let file = of_kind(entry, line_end);
        let yaml = file.split_once("---").and_then(|(_, rest)| rest.rsplit_once("---")).map(|(yaml, _)| yaml);
        let mut group = criterion.benchmark_group(format!("typed: {kind}"));
        group.bench_function("from_frontmatter", |bench| {
            bench.iter(|| stepmark_frontmatter::from_frontmatter::<Frontmatter>(black_box(file.as_bytes())))
        });
        group.bench_function("serde_yaml", |bench| {
            bench.iter(|| serde_yaml::from_str::<Frontmatter>(black_box(yaml.unwrap_or_default())))
        });
        group.finish();
    }
}

criterion_group!(in_memory, reading, editing, typed);
criterion_main!(in_memory);
