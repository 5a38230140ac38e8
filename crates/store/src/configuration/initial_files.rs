//! The files that `init` writes into `.stepmark/`.

use crate::configuration::{DEFAULT_EXCLUDE, DEFAULT_INCLUDE};

/// The content of `.stepmark/.gitignore`: what belongs to one clone, and what can be rebuilt.
pub const STEPMARK_GITIGNORE: &str = "local/\ncache/\ngates/\n*.tmp\n";

/// The text of a new `.stepmark/config.yaml`: the defaults, explained, and the identity of the project.
///
/// `project_id` is taken as it is; a UUID is what `init` gives.
pub fn initial_configuration(project_id: &str) -> String {
    let list = |globs: &[&str]| globs.iter().map(|glob| format!("    - '{glob}'\n")).collect::<String>();
    let include = list(DEFAULT_INCLUDE);
    let exclude = list(DEFAULT_EXCLUDE);
    format!(
        "\
# Configuration of stepmark. It is static: state lives in the frontmatter of the artifacts, never here.

# Names this project in tickets, memory and history. Keep it: a new id makes every artifact a new one there.
project_id: '{project_id}'

# Which files are artifacts. Patterns are seen from the project root: `*` stays within a folder, `**` crosses
# folders. A list given here replaces the built-in one, which is the list shown.
artifacts:
  include:
{include}  # Installed tools, hidden files and folders, and what other tools download or build.
  exclude:
{exclude}
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
#       - {{name: draft, initial: true, rank: 0}}
#       - {{name: approved, synonyms: [accepted], rank: 1}}
#       - {{name: shipped, rank: 2, terminal: true}}
#       - {{name: blocked, return_to: blocked_at}}
#     moves:
#       - {{from: draft, to: approved}}
#       - {{from: approved, to: shipped, guards: [steps-finished, children-finished]}}
#       - {{from: '*', to: blocked}}
#     applies_to:
#       - {{path: 'docs/releases/**/*.md'}}
#   - name: task
#     applies_to:
#       - {{key: {{kind: [chore, errand]}}}}

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
# checkpoints: {{every: 5}}

# How bad the findings of a rule are (off, note, warning, error), and findings that are accepted with a reason.
# check:
#   rules: {{SM205: off, status-disagrees: error}}
#   allow:
#     - {{rules: [SM204], paths: ['docs/legacy/**'], reason: imported as they were}}

# Where delegated artifacts are made, how long a lease lasts, and how long `resume` may ask git.
# delegation: {{folder: docs/delegated}}
# lease: {{seconds: 600}}
# git_history: {{limit_ms: 300}}
# A file for each completed step, `.stepmark/gates/ARTIFACT/STEP.gate`, for scripts that only know `test -f`.
# gates: true

# Let the hook bring the frontmatter of a story to what its line `Status:` and `sprint-status.yaml` agree on, where the
# lifecycle leads there: workflows of BMAD write those two.
# stories: {{take_in_agreed: true}}

# The instruction file of an agent, and what it is assembled from; `settings` stand in it.
# instructions:
#   output: .claude-mpm/PM_INSTRUCTIONS.md
#   components: [docs/agent.md]
# settings:
#   user_name: Ada
#   communication_language: English
#   skill_level: expert
"
    )
}
