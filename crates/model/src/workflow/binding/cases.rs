//! Artifacts of the wild, bound to the workflows of several releases.

use crate::artifact::ProjectPath;
use crate::{
    bmad::steps::discover,
    workflow::{
        ArtifactFacts, Binder, Binding, BindingReason, Candidate, ConfiguredWorkflow, NameAgreement,
        OutputPattern, StepId, StepList, Track, WorkflowDetail, WorkflowOutline, sample::ids,
    },
};

fn outlines() -> Vec<WorkflowOutline> {
    let paths = [
        "_bmad/create-product-brief/product-brief.template.md",
        "_bmad/create-product-brief/steps/step-01-init.md",
        "_bmad/create-product-brief/steps/step-02-vision.md",
        "_bmad/create-prd/steps-c/step-01-init.md",
        "_bmad/create-prd/steps-c/step-02-discovery.md",
        "_bmad/create-prd/steps-c/step-03-success.md",
        "_bmad/create-prd/steps-e/step-e-01-discovery.md",
        "_bmad/create-prd/steps-v/step-v-01-discovery.md",
        "_bmad/create-prd/workflow-create-prd.md",
        "_bmad/research/domain-steps/step-01-init.md",
        "_bmad/research/domain-steps/step-02-domain-analysis.md",
        "_bmad/research/market-steps/step-01-init.md",
        "_bmad/research/market-steps/step-02-customer-behavior.md",
        "_bmad/create-ux-design/steps/step-01-init.md",
        "_bmad/create-architecture/architecture-decision-template.md",
        "_bmad/create-architecture/steps/step-01-init.md",
        "_bmad/game-architecture/steps/step-01-init.md",
        "_bmad/quick-spec/tech-spec-template.md",
        "_bmad/quick-spec/steps/step-01-understand.md",
        "_bmad/bmad-testarch-nfr/steps-c/step-01-load.md",
        "_bmad/ideas/steps/step-01-collect.md",
    ];
    let listing: Vec<_> = paths.iter().map(|path| ProjectPath::new(path).unwrap()).collect();
    discover(&listing, &[])
}

fn candidates() -> Vec<Candidate> {
    outlines().iter().map(Candidate::from_outline).collect()
}

/// The candidates after reading: only `ideas` says more than its file names.
fn read_candidates() -> Vec<Candidate> {
    let read = |outline: WorkflowOutline| {
        let mut detail = WorkflowDetail::default();
        if outline.name() == "ideas" {
            detail.names.push("think-tank".to_owned());
            detail.outputs.extend(OutputPattern::parse("{planning_artifacts}/sparks-{{date}}.md"));
        }
        Candidate::from_outline(&outline).with_detail(&detail)
    };
    outlines().into_iter().map(read).collect()
}

struct Sample<'text> {
    path: &'text str,
    workflow_type: Option<&'text str>,
    research_type: Option<&'text str>,
    completed: &'text str,
}

const PLAIN: Sample<'_> =
    Sample { path: "docs/x.md", workflow_type: None, research_type: None, completed: "" };

fn bind(
    candidates: Vec<Candidate>,
    sample: &Sample<'_>,
    list: StepList,
    configured: Option<&str>,
) -> Binding {
    let path = ProjectPath::new(sample.path).unwrap();
    let completed: Vec<StepId> = ids(sample.completed);
    Binder::new(candidates).bind(&ArtifactFacts {
        path: &path,
        workflow_type: sample.workflow_type,
        research_type: sample.research_type,
        completed: &completed,
        list,
        configured: configured.map(|name| ConfiguredWorkflow { name, track: None }),
    })
}

fn told(binding: &Binding) -> String {
    let names: Vec<String> = outlines().iter().map(WorkflowOutline::name).collect();
    match binding {
        Binding::Bound { workflow, track, evidence } => {
            assert!(!evidence.is_empty());
            format!("{} {track}", names[*workflow])
        }
        Binding::Ambiguous { workflows, .. } => {
            workflows.iter().map(|at| names[*at].as_str()).collect::<Vec<_>>().join(" | ")
        }
        Binding::Unbound | Binding::NoSuchWorkflow { .. } => "-".to_owned(),
    }
}

#[test]
fn binds_by_type_then_steps_then_file_name() {
    let kinds = Some("research");
    for (sample, expected) in [
        (Sample { workflow_type: Some("prd"), ..PLAIN }, "create-prd create"),
        (Sample { workflow_type: Some("PRD "), ..PLAIN }, "create-prd create"),
        (Sample { workflow_type: Some("create-prd"), ..PLAIN }, "create-prd create"),
        (Sample { workflow_type: Some("ux"), ..PLAIN }, "create-ux-design create"),
        (Sample { workflow_type: Some("testarch-nfr-assess"), ..PLAIN }, "bmad-testarch-nfr create"),
        (Sample { workflow_type: Some("architecture"), ..PLAIN }, "create-architecture create"),
        (Sample { workflow_type: kinds, research_type: Some("market"), ..PLAIN }, "market-research create"),
        (Sample { workflow_type: kinds, ..PLAIN }, "domain-research | market-research"),
        (
            Sample { workflow_type: kinds, completed: "step-02-customer-behavior", ..PLAIN },
            "market-research create",
        ),
        (Sample { completed: "step-01-init, step-03-success", ..PLAIN }, "create-prd create"),
        (Sample { completed: "step-e-01-discovery", ..PLAIN }, "create-prd edit"),
        (
            Sample { completed: "step-01-init, step-02-discovery, step-e-01-discovery", ..PLAIN },
            "create-prd create",
        ),
        (
            Sample { path: "docs/product-brief-shop-2026-01-02.md", completed: "1, 2", ..PLAIN },
            "create-product-brief create",
        ),
        (Sample { path: "docs/PRD.md", ..PLAIN }, "create-prd create"),
        (Sample { path: "docs/architecture.md", ..PLAIN }, "create-architecture create"),
        (Sample { path: "docs/game-architecture.md", ..PLAIN }, "game-architecture create"),
        (Sample { path: "docs/tech-spec-login.md", ..PLAIN }, "quick-spec create"),
        (Sample { path: "docs/notes.md", completed: "1, 2", ..PLAIN }, "-"),
        (Sample { path: "docs/research.md", ..PLAIN }, "-"),
    ] {
        let binding = bind(candidates(), &sample, StepList::Completed, None);
        assert_eq!(
            told(&binding),
            expected,
            "{} {:?} {}",
            sample.path,
            sample.workflow_type,
            sample.completed
        );
        // Reading the workflows' files never changes what was bound without it.
        if matches!(binding, Binding::Bound { .. }) {
            assert_eq!(bind(read_candidates(), &sample, StepList::Completed, None), binding);
        }
    }
}

#[test]
fn without_a_list_of_steps_a_file_name_says_nothing() {
    for (sample, expected) in [
        (Sample { path: "docs/prd.md", ..PLAIN }, "-"),
        (Sample { path: "docs/sparks-2026.md", ..PLAIN }, "-"),
        (Sample { path: "docs/prd.md", workflow_type: Some("prd"), ..PLAIN }, "create-prd create"),
    ] {
        assert_eq!(told(&bind(read_candidates(), &sample, StepList::Absent, None)), expected);
    }
}

#[test]
fn says_why() {
    let sample = Sample { workflow_type: Some("research"), completed: "1, step-02-domain-analysis", ..PLAIN };
    let Binding::Bound { evidence, .. } = bind(candidates(), &sample, StepList::Completed, None) else {
        panic!()
    };
    let by_type =
        BindingReason::WorkflowType { value: "research".to_owned(), agreement: NameAgreement::Exact };
    assert_eq!(evidence, [by_type, BindingReason::StepNames { matched: 1 }]);
}

#[test]
fn what_files_declare_counts_last() {
    for (sample, unread, read) in [
        (Sample { workflow_type: Some("think-tank"), path: "docs/prd.md", ..PLAIN }, "-", "ideas create"),
        (Sample { path: "docs/sparks-2026.md", ..PLAIN }, "-", "ideas create"),
        // An unknown type must share a word with the workflow that the file's name speaks for.
        (
            Sample { workflow_type: Some("brief"), path: "docs/product-brief-x.md", ..PLAIN },
            "-",
            "create-product-brief create",
        ),
        (Sample { workflow_type: Some("testplan"), path: "docs/prd-testplan.md", ..PLAIN }, "-", "-"),
    ] {
        assert_eq!(told(&bind(candidates(), &sample, StepList::Completed, None)), unread);
        let binding = bind(read_candidates(), &sample, StepList::Completed, None);
        assert_eq!(told(&binding), read);
        if let Binding::Bound { evidence, .. } = binding
            && sample.workflow_type == Some("brief")
        {
            assert_eq!(evidence[0], BindingReason::UnknownWorkflowType { value: "brief".to_owned() });
        }
    }
}

#[test]
fn a_validation_report_belongs_to_the_track_validate() {
    let sample = Sample { path: "docs/prd-validation.md", completed: "step-v-01-discovery", ..PLAIN };
    assert_eq!(told(&bind(candidates(), &sample, StepList::Validation, None)), "create-prd validate");
    let sample = Sample { path: "docs/prd-validation.md", completed: "1", ..PLAIN };
    assert_eq!(told(&bind(candidates(), &sample, StepList::Validation, None)), "create-prd validate");
}

#[test]
fn configuration_goes_before_everything() {
    let sample = Sample { workflow_type: Some("prd"), completed: "step-03-success", ..PLAIN };
    for (name, expected) in
        [("create-ux-design", "create-ux-design create"), ("ux-design", "create-ux-design create")]
    {
        let binding = bind(candidates(), &sample, StepList::Completed, Some(name));
        assert_eq!(told(&binding), expected);
    }
    let binding = bind(candidates(), &sample, StepList::Completed, Some("market"));
    assert_eq!(binding, Binding::NoSuchWorkflow { name: "market".to_owned() });
    let mut declared = candidates();
    declared.insert(0, Candidate::declared("release", &["collect", "write"]));
    let binding = bind(declared, &sample, StepList::Completed, Some("release"));
    let evidence = vec![BindingReason::Configured];
    assert_eq!(binding, Binding::Bound { workflow: 0, track: Track::Create, evidence });
}
