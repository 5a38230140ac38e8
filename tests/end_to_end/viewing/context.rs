//! `stepmark show context`

use insta::assert_snapshot;

use crate::harness::Sandbox;

const WORKFLOW: &str = "_bmad/bmm/workflows/create-prd/workflow.md";
const PRD: &str = "docs/prd.md";

/// A workflow that names its configuration file as BMAD 6.0 does, and an artifact of it.
fn project() -> Sandbox {
    let sandbox = Sandbox::empty();
    let config = "\"{project-root}/_bmad/bmm/config.yaml\"";
    sandbox.write(WORKFLOW, format!("---\nname: create-prd\nmain_config: {config}\n---\n# PRD\n"));
    sandbox.write("_bmad/bmm/workflows/create-prd/steps/step-01-init.md", "# Init\n");
    sandbox.write(
        "_bmad/bmm/workflows/dev-story/workflow.yaml",
        format!("name: dev-story\nconfig_source: {config}\n"),
    );
    sandbox.write("_bmad/bmm/config.yaml", "user_name: Ada\n");
    sandbox.write(PRD, "---\nworkflowType: prd\nstepsCompleted: []\n---\n# PRD\n");
    sandbox
}

#[test]
fn the_nearest_to_the_artifact_wins() {
    let project = project();
    assert_snapshot!(project.reads_only(&["context", PRD]), @r"
    exit 0
    ── stdout
    artifact      docs/prd.md (named)
    workflow      create-prd, create (`workflowType` says `prd`)
    active        none is named
                  artifact docs/prd.md: says nothing
                  workflow _bmad/bmm/workflows/create-prd/workflow.md: says nothing
                  configuration all layers: says nothing
    configuration _bmad/bmm/config.yaml
                  artifact docs/prd.md: says nothing
                  workflow _bmad/bmm/workflows/create-prd/workflow.md: line 3, `main_config: {project-root}/_bmad/bmm/config.yaml` counts
                  configuration all layers: says nothing
    ");
    project.write("docs/own.yaml", "a: 1\n");
    project.write(PRD, "---\nworkflowType: prd\nstepsCompleted: []\nconfig_source: ./own.yaml\n---\n");
    project.write(".stepmark/config.yaml", format!("main_config: far.yaml\nactive: {PRD}\n"));
    assert_snapshot!(project.reads_only(&["context"]), @r"
    exit 0
    ── stdout
    artifact      docs/prd.md (active)
    workflow      create-prd, create (`workflowType` says `prd`)
    active        docs/prd.md
                  artifact docs/prd.md: says nothing
                  workflow _bmad/bmm/workflows/create-prd/workflow.md: says nothing
                  configuration [ROOT]/.stepmark/config.yaml: line 2, `active: docs/prd.md` counts
    configuration docs/own.yaml
                  artifact docs/prd.md: line 4, `config_source: ./own.yaml` counts
                  workflow _bmad/bmm/workflows/create-prd/workflow.md: line 3, `main_config: {project-root}/_bmad/bmm/config.yaml` is farther away
                  configuration [ROOT]/.stepmark/config.yaml: line 1, `main_config: far.yaml` is farther away
    ");
    assert_snapshot!(project.reads_only(&["context", "-q"]), @r"
    exit 0
    ── stdout
    artifact      docs/prd.md (active)
    workflow      create-prd, create (`workflowType` says `prd`)
    active        docs/prd.md
    configuration docs/own.yaml
    ");
}

#[test]
fn a_workflow_without_steps_speaks_through_its_declaration_or_for_itself() {
    let project = project();
    project.write("docs/story.md", "---\nstatus: draft\n---\n");
    project.write(
        ".stepmark/config.yaml",
        "workflows:\n- {name: dev-story, folder: _bmad/bmm/workflows/dev-story, artifacts: [docs/story.md]}\n",
    );
    for artifact in ["docs/story.md", "_bmad/bmm/workflows/dev-story/workflow.yaml"] {
        let answer = project.reads_only(&["context", artifact, "--json"]).json("stepmark.context/2");
        let found = &answer["configuration_file"];
        assert_eq!(found["path"], "_bmad/bmm/config.yaml", "{answer}");
        let winner =
            found["candidates"].as_array().unwrap().iter().find(|candidate| candidate["verdict"] == "wins");
        assert_eq!(winner.unwrap()["source"], "_bmad/bmm/workflows/dev-story/workflow.yaml");
    }
}

#[test]
fn what_wins_and_cannot_be_used_is_not_passed_over() {
    let project = project();
    project.write(PRD, "---\nworkflowType: prd\nmain_config: '{elsewhere}/c.yaml'\nactive: gone.md\n---\n");
    assert_snapshot!(project.reads_only(&["context", PRD]), @r"
    exit 1
    ── stdout
    artifact      docs/prd.md (named)
    workflow      create-prd, create (`workflowType` says `prd`)
    active        gone.md
                  artifact docs/prd.md: line 4, `active: gone.md` counts
                  workflow _bmad/bmm/workflows/create-prd/workflow.md: says nothing
                  configuration all layers: says nothing
    configuration cannot be used: `{elsewhere}/c.yaml` has a variable that stands for no known folder
                  artifact docs/prd.md: line 3, `main_config: {elsewhere}/c.yaml` counts, and cannot be used
                  workflow _bmad/bmm/workflows/create-prd/workflow.md: line 3, `main_config: {project-root}/_bmad/bmm/config.yaml` is farther away
                  configuration all layers: says nothing
    ── stderr
    warning: `gone.md` counts and cannot be used: there is no file `gone.md` in the project
    ");
    project.write(".stepmark/config.yaml", "active: docs/gone.md\n");
    assert_snapshot!(project.reads_only(&["context"]), @r"
    exit 1
    ── stdout
    artifact      none
    workflow      none
    active        docs/gone.md
                  configuration [ROOT]/.stepmark/config.yaml: line 1, `active: docs/gone.md` counts
    configuration none is named
                  configuration all layers: says nothing
    ── stderr
    warning: `docs/gone.md` counts and cannot be used: there is no file `docs/gone.md` in the project
    ");
    assert_snapshot!(project.reads_only(&["context", "docs/absent.md"]), @r"
    exit 2
    ── stderr
    error: there is no file `docs/absent.md` in the project
      help: `stepmark status` lists the artifacts
    ");
}
