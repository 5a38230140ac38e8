//! Workflows of whole installations: those of `fixtures/repos`, and a real one where an environment variable
//! names it.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge: fixtures and one variable of the environment are read here"
)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    transition::StepLists,
    workflow::{Binding, BindingReason, ChainDiagnosis, Next, Track, Unit, WorkState},
};
use stepmark_store::configuration::Configuration;
use stepmark_store::disk::Root;
use stepmark_store::workspace::Workflows;

fn fixture(name: &str) -> Root {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/repos").join(name);
    Root::open(folder).unwrap()
}

fn workflows(root: &Root) -> Workflows {
    let found = Workflows::find(root, &Configuration::default());
    assert!(found.problems().is_empty());
    found
}

/// `create-prd create 14`, each workflow and track with the number of its units.
fn counts(found: &Workflows) -> Vec<String> {
    let mut counts = Vec::new();
    for index in 0..found.len() {
        for chain in &found.outline(index).unwrap().chains {
            let definition = found.definition(index, chain.track).unwrap().unwrap();
            counts.push(format!("{} {} {}", definition.name, chain.track, definition.chain.units().len()));
        }
    }
    counts.sort_unstable();
    counts
}

fn units(found: &Workflows, name: &str, track: Track) -> Vec<String> {
    let index = (0..found.len()).find(|index| found.name(*index).as_deref() == Some(name)).unwrap();
    let definition = found.definition(index, track).unwrap().unwrap();
    let names = |unit: Unit<'_>| match unit {
        Unit::Step(step) => step.name().to_owned(),
        Unit::Choice(steps) => steps.iter().map(|step| step.name()).collect::<Vec<_>>().join(" | "),
    };
    definition.chain.units().map(names).collect()
}

const PRD: [&str; 14] = [
    "step-01-init",
    "step-02-discovery",
    "step-02b-vision",
    "step-02c-executive-summary",
    "step-03-success",
    "step-04-journeys",
    "step-05-domain",
    "step-06-innovation",
    "step-07-project-type",
    "step-08-scoping",
    "step-09-functional",
    "step-10-nonfunctional",
    "step-11-polish",
    "step-12-complete",
];

#[test]
fn an_installation_like_6_0_4_has_the_known_chains() {
    let root = fixture("bmad-6.0.4-like");
    let found = workflows(&root);
    assert_eq!(
        counts(&found),
        [
            "brainstorming create 4",
            "create-architecture create 8",
            "create-epics-and-stories create 4",
            "create-prd create 14",
            "create-prd edit 4",
            "create-prd validate 5",
            "create-product-brief create 6",
            "create-ux-design create 14",
            "domain-research create 6",
            "market-research create 6",
            "quick-dev create 6",
            "quick-spec create 4",
            "technical-research create 6",
        ]
    );
    assert_eq!(units(&found, "create-prd", Track::Create), PRD);
    let brainstorming = units(&found, "brainstorming", Track::Create);
    assert_eq!(
        brainstorming[1],
        "step-02a-chosen | step-02b-recommended | step-02c-random | step-02d-progressive"
    );
    let validation = units(&found, "create-prd", Track::Validate);
    assert_eq!(
        validation[1..3],
        ["step-v-02-format", "step-v-03-density"],
        "the parity check is an alternative"
    );
}

#[test]
fn skills_like_those_of_6_12_have_the_known_chains() {
    let root = fixture("bmad-6.12-like");
    let found = workflows(&root);
    assert_eq!(
        counts(&found),
        ["bmad-build create 5", "bmad-create-epics-and-stories create 4", "bmad-walkthrough create 5"]
    );
}

/// Binds the artifact and tells `workflow track done/total next`.
fn told(root: &Root, found: &Workflows, path: &str) -> String {
    let path = ProjectPath::new(path).unwrap();
    let artifact = Artifact::read(path.clone(), std::fs::read(root.path().join(path.as_str())).unwrap());
    let Binding::Bound { workflow, track, .. } = found.bind(&artifact) else { return "unbound".to_owned() };
    let definition = found.definition(workflow, track).unwrap().unwrap();
    let lists = StepLists::read(&artifact, track);
    let progress = definition.progress(&lists.record());
    let next = match progress.next {
        Next::Step { step, .. } => step.name().to_owned(),
        Next::Choice(steps) => format!("one of {}", steps.len()),
        Next::Finished => "finished".to_owned(),
        Next::Unknown(_) => "unknown".to_owned(),
    };
    let interrupted = if progress.state == WorkState::Interrupted { " interrupted" } else { "" };
    format!("{} {track} {}/{} {next}{interrupted}", definition.name, progress.done_units, progress.total)
}

#[test]
fn artifacts_find_their_workflow_and_their_next_step() {
    let root = fixture("bmad-6.0.4-like");
    let found = workflows(&root);
    for (path, expected) in [
        ("planning-artifacts/prd.md", "create-prd create 3/14 step-02c-executive-summary"),
        ("planning-artifacts/architecture.md", "create-architecture create 8/8 finished"),
        (
            "planning-artifacts/product-brief-harbour-2026-03-02.md",
            "create-product-brief create 5/6 step-06-complete",
        ),
        (
            "planning-artifacts/ux-design-specification.md",
            "create-ux-design create 0/14 step-01-init interrupted",
        ),
        ("planning-artifacts/epics.md", "create-epics-and-stories create 3/4 step-04-validation"),
        (
            "planning-artifacts/research/market-ports-research-2026-02-10.md",
            "market-research create 3/6 step-04-choices",
        ),
        ("brainstorming/brainstorming-session-2026-02-01.md", "brainstorming create 2/4 step-03-ideas"),
        ("implementation-artifacts/tech-spec-tide-table.md", "quick-spec create 4/4 finished"),
    ] {
        assert_eq!(told(&root, &found, &format!("_bmad-output/{path}")), expected, "{path}");
    }
    let root = fixture("bmad-6.12-like");
    let epics = "_bmad-output/planning-artifacts/epics.md";
    let expected = "bmad-create-epics-and-stories create 2/4 step-03-stories";
    assert_eq!(told(&root, &workflows(&root), epics), expected);
}

#[test]
fn names_alone_bind_and_files_are_read_where_they_do_not() {
    let root = fixture("bmad-6.0.4-like");
    let found = workflows(&root);
    let bind = |path: &str, text: &str| {
        found.bind(&Artifact::read(ProjectPath::new(path).unwrap(), text.as_bytes().to_vec()))
    };
    let Binding::Bound { workflow, evidence, .. } =
        bind("x/ux-design-specification.md", "---\nstepsCompleted: [1]\n---\n")
    else {
        panic!("unbound")
    };
    assert_eq!(found.name(workflow).as_deref(), Some("create-ux-design"));
    assert_eq!(evidence, [BindingReason::FileNameWords { words: 2 }]);
    assert!(matches!(bind("x/notes.md", "---\nstepsCompleted: [1]\n---\n"), Binding::Unbound));
    let text = "---\nstepsCompleted: []\nworkflowType: edit-prd\n---\n";
    assert!(matches!(bind("x/notes.md", text), Binding::Bound { track: Track::Create, .. }));
}

/// Run with `STEPMARK_BMAD_6_0_4=FOLDER cargo test -p stepmark-store --test workflows -- --ignored`, where
/// FOLDER holds the `_bmad` that `bmad-method@6.0.4` installs.
#[test]
#[ignore = "needs an installation of bmad-method@6.0.4 named by STEPMARK_BMAD_6_0_4"]
fn the_real_6_0_4_has_the_known_chains() {
    let folder = std::env::var_os("STEPMARK_BMAD_6_0_4").expect("STEPMARK_BMAD_6_0_4 names the installation");
    let found = workflows(&Root::open(folder).unwrap());
    assert_eq!(
        counts(&found),
        [
            "brainstorming create 4",
            "check-implementation-readiness create 6",
            "create-architecture create 8",
            "create-epics-and-stories create 4",
            "create-prd create 14",
            "create-prd edit 4",
            "create-prd validate 13",
            "create-product-brief create 6",
            "create-ux-design create 14",
            "domain-research create 6",
            "generate-project-context create 3",
            "market-research create 6",
            "party-mode create 3",
            "quick-dev create 6",
            "quick-spec create 4",
            "technical-research create 6",
        ]
    );
    assert_eq!(units(&found, "create-prd", Track::Create), PRD);
    let mut odd = Vec::new();
    for index in 0..found.len() {
        for chain in &found.outline(index).unwrap().chains {
            let definition = found.definition(index, chain.track).unwrap().unwrap();
            odd.extend(definition.chain.diagnoses().to_vec());
        }
    }
    assert!(matches!(odd.as_slice(), [ChainDiagnosis::Unreadable { .. }]), "{odd:?}");
}
