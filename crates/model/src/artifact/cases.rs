//! Whole files and what they are read as: the varieties and traps of docs/formats.md.

use super::{Artifact, FieldKind, Problem, ProjectPath, Scope, StepItemKind, StepsForm};
use stepmark_frontmatter::LIMITS;

fn read(text: &str) -> Artifact {
    Artifact::read(ProjectPath::new("docs/prd.md").unwrap(), text.as_bytes().to_vec())
}

fn frontmatter(keys: &str) -> Artifact {
    read(&format!("---\n{keys}---\n"))
}

fn problems(artifact: &Artifact) -> Vec<String> {
    let name = |problem: &Problem| format!("{problem:?}").split([' ', '{']).next().unwrap().to_owned();
    artifact.diagnoses().iter().map(|diagnosis| name(&diagnosis.problem)).collect()
}

#[test]
fn every_form_of_the_step_list_is_read() {
    for (keys, form, spellings) in [
        ("stepsCompleted: []\n", StepsForm::Flow, &[][..]),
        ("stepsCompleted:\n", StepsForm::Null, &[]),
        (
            "stepsCompleted: ['step-01-init', step-02b-vision]\n",
            StepsForm::Flow,
            &["step-01-init", "step-02b-vision"],
        ),
        ("stepsCompleted: [\n  'step-01-init'\n]\n", StepsForm::Flow, &["step-01-init"]),
        ("stepsCompleted: [\n'step-01-init'\n]\n", StepsForm::Flow, &["step-01-init"]),
        ("stepsCompleted:\n- 1\n- 2\n", StepsForm::Block, &["1", "2"]),
        ("stepsCompleted:\n    - step-e-01-discovery.md\n", StepsForm::Block, &["step-e-01-discovery.md"]),
        ("stepsCompleted: ['1.10', '1', 02b]\n", StepsForm::Flow, &["1.10", "1", "02b"]),
        (
            "stepsCompleted: ['Step 1: Title', edit-2026-02-24]\n",
            StepsForm::Flow,
            &["Step 1: Title", "edit-2026-02-24"],
        ),
        ("validationStepsCompleted: ['step-v-01-discovery']\n", StepsForm::Flow, &["step-v-01-discovery"]),
        ("a: &l [x]\nstepsCompleted: *l\n", StepsForm::Flow, &["x"]),
    ] {
        let artifact = frontmatter(keys);
        let steps = artifact.steps().unwrap_or_else(|| panic!("{keys}"));
        assert_eq!((steps.form, steps.spellings().collect::<Vec<_>>()), (form, spellings.to_vec()), "{keys}");
        assert_eq!(problems(&artifact), Vec::<String>::new(), "{keys}");
    }
}

#[test]
fn items_keep_what_they_are() {
    let artifact = frontmatter("stepsCompleted: [1, 'step-02', {step: step-03, status: done}, {x: 1}]\n");
    let kinds: Vec<_> =
        artifact.steps().unwrap().items.iter().map(|item| (item.kind, item.spelling.as_str())).collect();
    assert_eq!(
        kinds,
        [
            (StepItemKind::Scalar(FieldKind::Integer), "1"),
            (StepItemKind::Scalar(FieldKind::Text), "step-02"),
            (StepItemKind::Map, "step-03"),
            (StepItemKind::Other, ""),
        ]
    );
    assert_eq!(problems(&artifact), ["StepKindsMixed", "StepUnreadable"]);
}

#[test]
fn oddities_are_told_with_their_place() {
    for (keys, wanted) in [
        ("stepsCompleted: [01, 02b, 08]\n", &["NumberMisread", "StepKindsMixed", "NumberMisread"][..]),
        ("stepsCompleted: [1.10]\n", &["NumberMisread"]),
        ("stepsCompleted: [a, a]\n", &["StepTwice"]),
        ("stepsCompleted: [a, ]\nx: [a, ~]\n", &[]),
        ("stepsCompleted: [a, ~]\n", &["StepEmpty"]),
        ("stepsCompleted: step-01\n", &["StepsNotAList"]),
        ("a: 1\na: 2\n", &["KeyTwice"]),
        ("glob: *.md\n", &["AliasUnresolved"]),
        ("date: { system-date }\n", &["TemplateUnfilled"]),
        ("name: {{name}}\n", &["TemplateUnfilled"]),
        ("name: '{{name}}'\nother: '{title}'\n", &["TemplateUnfilled", "TemplateUnfilled"]),
        ("title: Fix #680\n", &["CutByComment"]),
        ("title: Fix # 680\nb: 'Fix #680'\nc: x # 1 | 2\n", &[]),
        ("status: [done]\n", &["StatusNotText"]),
        ("status:\n", &[]),
        ("inputDocuments: [/home/a/x.md, docs/y.md]\n", &["AbsolutePath"]),
        ("currentStep: 2\ncurrent_step: 3\n", &["CurrentStepDisagrees"]),
        ("a: 1\r\nb: 2\n", &["LineEndsMixed"]),
        ("- a\n", &["NotAMapping"]),
        ("a: [b\n", &["NotYaml"]),
        ("last_updated: 2026-01-01: done\n", &["NotYaml"]),
        ("a: {b: \"c\" d}\n", &["NotYaml"]),
        ("a:\n\tb: 1\n", &["NotYaml"]),
    ] {
        assert_eq!(problems(&frontmatter(keys)), wanted, "{keys}");
    }
    for (text, wanted) in [
        ("---\na: 1\n", "FenceUnclosed"),
        ("# PRD\n---\nstatus: done\n---\n", "FrontmatterMisplaced"),
        ("\u{FEFF}---\na: 1\n---\n", "ByteOrderMark"),
        ("---\nstatus: done\n---\nStatus: review\n", "StatusDisagrees"),
        ("---\na: 1\n---\n## stepsCompleted:\n", "StepsInBody"),
    ] {
        assert_eq!(problems(&read(text)), [wanted], "{text}");
    }
}

#[test]
fn the_name_of_the_project_is_a_title_only_where_there_is_no_other() {
    for (keys, body, title) in [
        ("project_name: Larder", "# Architecture\n", None),
        ("project_name: Larder", "Text, and no heading.\n", Some("Larder")),
        ("project_name: Larder", "#\n", Some("Larder")),
        ("project_name: Larder\nname: spine", "# Architecture\n", Some("spine")),
        ("name: spine\nproject_name: Larder", "", Some("spine")),
        ("project_name: Larder\ntitle: Ours", "# Architecture\n", Some("Ours")),
    ] {
        let artifact = read(&format!("---\n{keys}\n---\n{body}"));
        let found = artifact.state().title.as_ref().map(|title| title.text.as_str());
        assert_eq!(found, title, "{keys} {body}");
    }
}

#[test]
fn the_state_is_read_and_the_rest_is_kept() {
    let artifact = frontmatter(
        "stepsCompleted: [1]\nlastStep: 1\ncurrentStep: step-02\nstatus: 'in-progress' # draft | done\n\
         workflowType: research\nresearch_type: market\nscope: Large\nid: PRD-1\ntitle: Demo\ncreated: 2026-01-02\n\
         inputDocuments:\n  - path: a.md\n  - b.md\nmine: {x: 1}\n",
    );
    let state = artifact.state();
    let text = |field: &Option<super::Field>| field.as_ref().map(|field| field.text.clone()).unwrap();
    assert_eq!(text(&state.last_step), "1");
    assert_eq!(state.current_step[0].text, "step-02");
    assert_eq!(text(&state.status), "in-progress");
    assert_eq!(
        (text(&state.workflow_type), text(&state.research_type)),
        ("research".into(), "market".into())
    );
    assert_eq!((text(&state.id), text(&state.title)), ("PRD-1".into(), "Demo".into()));
    assert_eq!(state.scope(), Some(Scope::Large));
    assert_eq!(state.times[0].text, "2026-01-02");
    let inputs: Vec<_> = state.input_documents.iter().map(|input| input.path.as_str()).collect();
    assert_eq!(inputs, ["a.md", "b.md"]);
    assert_eq!(state.other_keys, ["mine"]);
    assert_eq!(problems(&artifact), Vec::<String>::new());
}

#[test]
fn input_documents_in_every_shape() {
    for (keys, wanted) in [
        ("inputDocuments: [a.md, b.md]\n", &["a.md", "b.md"][..]),
        ("input_documents:\n  prd: a.md\n  research: [b.md]\n", &["a.md", "b.md"]),
        ("sources:\n  - {file: a.md, kind: x}\n", &["a.md"]),
        ("inputDocuments: a.md\n", &["a.md"]),
        ("inputDocuments:\n", &[]),
    ] {
        let artifact = frontmatter(keys);
        let inputs: Vec<_> =
            artifact.state().input_documents.iter().map(|input| input.path.as_str()).collect();
        assert_eq!(inputs, wanted, "{keys}");
    }
}

#[test]
fn of_a_key_that_stands_twice_the_first_is_read() {
    let artifact = frontmatter("status: draft\nstatus: done\n");
    assert_eq!(artifact.state().status.as_ref().unwrap().text, "draft");
}

#[test]
fn files_without_state_are_none_of_our_business() {
    for text in [
        "",
        "# README\n",
        "---\ntitle: Page\nlayout: post\n---\nText\n",
        "---\n---\n",
        "---\na: [\n---\n",
        "---\ntitle: '{x}'\n---\n",
    ] {
        assert!(!read(text).is_tracked(), "{text}");
    }
    for text in [
        "---\nstepsCompleted: []\n---\n",
        "---\nstatus: x\n---\n",
        "---\nstatus: [\n---\n",
        "---\nlastStep: 1\n",
    ] {
        assert!(read(text).is_tracked(), "{text}");
    }
}

#[test]
fn a_story_needs_no_frontmatter_to_be_an_artifact() {
    let read =
        |path: &str, text: &str| Artifact::read(ProjectPath::new(path).unwrap(), text.as_bytes().to_vec());
    let story = "# Story 1.2: Dim\n\nStatus: review\n";
    assert!(read("docs/stories/1-2-dim.md", story).is_tracked());
    assert_eq!(read("docs/1-2-dim.md", story).first_heading().as_deref(), Some("Story 1.2: Dim"));
    for (path, text) in [
        ("docs/dim.md", story),
        ("docs/2026-05-02-dim.md", story),
        ("docs/1-2-dim.md", "# Stories\n\nStatus: review\n"),
        ("docs/1-2-dim.md", "# Story 1.2: Dim\n\nNo status yet.\n"),
        ("docs/1-2-dim.md", "Status: review\n"),
    ] {
        assert!(!read(path, text).is_tracked(), "{path} {text}");
    }
}

/// Files near the limits that took minutes where each of many values was sought in all of them.
#[test]
fn large_files_are_read_in_proportion() {
    let many = |line: &dyn Fn(usize) -> String| (0..60_000).map(line).collect::<String>();
    let aliases = many(&|at| format!("k{at}: *b\n"));
    let artifact = read(&format!("---\nstatus: draft\nbase: &b x\n{aliases}---\n"));
    assert_eq!(artifact.state().other_keys.len(), 60_001);
    assert!(artifact.state_value().is_ok());
    let steps = many(&|at| format!("- step-{at}\n"));
    let artifact = read(&format!("---\nstepsCompleted:\n{steps}---\n"));
    assert_eq!(artifact.steps().map(|steps| steps.items.len()), Some(60_000));
    let flow = many(&|at| format!("a{at}: 1, "));
    assert!(read(&format!("---\n{{{flow}}}\n---\n")).diagnoses().is_empty());
    let (list, aliases) = (many(&|_| "x, ".to_owned()), many(&|_| "*l, ".to_owned()));
    let artifact = read(&format!("---\nlist: &l [{list}]\ninputDocuments: [{aliases}]\n---\n"));
    assert!(
        artifact.state().input_documents.len() <= LIMITS.nodes,
        "a list is not read once for each alias of it"
    );
}
