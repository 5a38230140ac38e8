//! `stepmark init`

use insta::assert_snapshot;

use crate::harness::{Sandbox, TEST_ID, demo::PRD};

#[test]
fn makes_the_configuration_once() {
    let demo = Sandbox::demo();
    let artifact = demo.read(PRD);
    assert_snapshot!(demo.stepmark(&["init"]), @r"
    exit 0
    ── stdout
    created .stepmark/config.yaml in [ROOT]
    ");
    assert_snapshot!(String::from_utf8(demo.read(".stepmark/config.yaml")).unwrap(), @r"
    # Configuration of stepmark. It is static: state lives in the frontmatter of the artifacts, never here.

    # Names this project in tickets, memory and history. Keep it: a new id makes every artifact a new one there.
    project_id: '00000000-0000-4000-8000-000000000001'

    # Which files are artifacts. Patterns are seen from the project root: `*` stays within a folder, `**` crosses
    # folders. A list given here replaces the built-in one, which is the list shown.
    artifacts:
      include:
        - '**/*.md'
      # Installed tools, hidden files and folders, and what other tools download or build.
      exclude:
        - '**/_bmad/**'
        - 'bmad/**'
        - '**/.*'
        - '**/.*/**'
        - '**/node_modules/**'
        - '**/site-packages/**'
        - '**/target/**'
        - '**/vendor/**'

    # Workflows without files of their own, and artifacts bound to a workflow. Give `steps` (ids in order), or `folder`
    # (where the step files are), or neither (the workflow of that name found in the project).
    # workflows:
    #   - name: prd
    #     artifacts: ['docs/prd*.md']
    #   - name: release-notes
    #     artifacts: ['docs/releases/**/*.md']
    #     steps: [step-01-collect, step-02-write, step-03-review]

    # What statuses mean. A lifecycle of your own, or one that is built in (`stepmark lifecycle list`) for more artifacts.
    # lifecycles:
    #   - name: release
    #     states:
    #       - {name: draft, initial: true, rank: 0}
    #       - {name: approved, synonyms: [accepted], rank: 1}
    #       - {name: shipped, rank: 2, terminal: true}
    #       - {name: blocked, return_to: blocked_at}
    #     moves:
    #       - {from: draft, to: approved}
    #       - {from: approved, to: shipped, guards: [steps-finished, children-finished]}
    #       - {from: '*', to: blocked}
    #     applies_to:
    #       - {path: 'docs/releases/**/*.md'}
    #   - name: task
    #     applies_to:
    #       - {key: {kind: [chore, errand]}}

    # Who has a role that lifecycles ask for (`writers`, `approvers`); `*` stands for any name.
    # roles:
    #   tech_lead: ['human:Ada', 'human:Lin']

    # Values of the variables that step files use in paths, as folders seen from the project root.
    # variables:
    #   planning_artifacts: _bmad-output/planning-artifacts

    # What is worked on, and the configuration file of the workflows; the frontmatter of an artifact or a workflow may say
    # otherwise (`stepmark show context` tells which counts).
    # active: docs/prd.md
    # main_config: _bmad/bmm/config.yaml

    # Checkpoints made by themselves: after these steps, when the workflow is finished, and after every so many steps.
    # milestones: [step-04-journeys, finished]
    # checkpoints: {every: 5}

    # How bad the findings of a rule are (off, note, warning, error), and findings that are accepted with a reason.
    # check:
    #   rules: {SM205: off, status-disagrees: error}
    #   allow:
    #     - {rules: [SM204], paths: ['docs/legacy/**'], reason: imported as they were}

    # Where delegated artifacts are made, how long a lease lasts, and how long `resume` may ask git.
    # delegation: {folder: docs/delegated}
    # lease: {seconds: 600}
    # git_history: {limit_ms: 300}
    # A file for each completed step, `.stepmark/gates/ARTIFACT/STEP.gate`, for scripts that only know `test -f`.
    # gates: true

    # Let the hook bring the frontmatter of a story to what its line `Status:` and `sprint-status.yaml` agree on, where the
    # lifecycle leads there: workflows of BMAD write those two.
    # stories: {take_in_agreed: true}

    # The instruction file of an agent, and what it is assembled from; `settings` stand in it.
    # instructions:
    #   output: .claude-mpm/PM_INSTRUCTIONS.md
    #   components: [docs/agent.md]
    # settings:
    #   user_name: Ada
    #   communication_language: English
    #   skill_level: expert
    ");
    assert_eq!(demo.read(".stepmark/.gitignore"), b"local/\ncache/\ngates/\n*.tmp\n");
    assert_eq!(demo.read(PRD), artifact);
    assert_snapshot!(demo.reads_only(&["init"]), @r"
    exit 0
    ── stdout
    .stepmark/config.yaml is there already in [ROOT]
    ");
    assert_eq!(demo.reads_only(&["init", "-q"]).to_string(), "exit 0\n");
}

#[test]
fn answers_in_json() {
    let empty = Sandbox::empty();
    let answer = empty.stepmark(&["init", "--json", "--root", "."]).json("stepmark.init/1");
    assert_eq!((&answer["root"], &answer["created"]), (&"[ROOT]".into(), &true.into()));
    let again = empty.reads_only(&["init", "--json", "--root", "."]).json("stepmark.init/1");
    assert_eq!(again["created"], false);
}

#[test]
fn keeps_what_is_there() {
    let empty = Sandbox::empty();
    empty.write(".stepmark/.gitignore", "mine\n");
    assert_eq!(empty.stepmark(&["init"]).code, 0);
    assert_eq!(empty.read(".stepmark/.gitignore"), b"mine\n");
    let text = String::from_utf8(empty.read(".stepmark/config.yaml")).unwrap();
    assert!(text.contains(&format!("project_id: '{TEST_ID}'")), "{text}");
}

#[test]
fn the_project_works_the_same_afterwards() {
    let demo = Sandbox::demo();
    let before = demo.stepmark(&["status"]);
    demo.stepmark(&["init"]);
    assert_eq!(demo.reads_only(&["status"]), before);
}

#[test]
fn a_configuration_declares_workflows_and_artifacts() {
    let empty = Sandbox::empty();
    empty.write(
        ".stepmark/config.yaml",
        "artifacts: {include: ['notes/*.md'], exclude: ['notes/old*']}\nworkflows:\n  - name: release\n    artifacts: ['notes/*']\n    steps: [collect, write, review]\n",
    );
    for (name, steps) in [("a", "[collect]"), ("old", "[]"), ("b", "[collect, write, review]")] {
        empty.write(&format!("notes/{name}.md"), format!("---\nstepsCompleted: {steps}\n---\n"));
    }
    empty.write("elsewhere.md", "---\nstepsCompleted: []\n---\n");
    assert_snapshot!(empty.reads_only(&["status"]), @r"
    exit 0
    ── stdout
    ARTIFACT  DONE  NEXT
    release (1 of 2 done)
      a       1/3   write
      b       3/3   finished
    ");
}
