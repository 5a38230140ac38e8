//! The one table of variables and their sides: what is static stands in configuration, what is dynamic never
//! does.

use std::fmt;

use DynamicPlace::{Frontmatter, RunTime};
use StaticLevel::{Project, System};

use stepmark_model::artifact::TIME_KEYS;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name. In a static one `.` leads into a mapping (`lease.seconds`). A dynamic name without `.` is
    /// meant at any depth, whatever its case and its `_` and `-`.
    pub name: &'static str,
    pub side: Side,
    /// The environment variable that gives it a value, for static ones that are one scalar of a single key.
    pub environment: Option<&'static str>,
    pub meaning: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Static(StaticLevel),
    /// Kept, or computed, where the work happens.
    Dynamic(DynamicPlace),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaticLevel {
    /// That of a person or a machine.
    System,
    Project,
}

impl fmt::Display for Side {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Static(StaticLevel::System) => "static, system",
            Self::Static(StaticLevel::Project) => "static, project",
            Self::Dynamic(DynamicPlace::Frontmatter) => "dynamic, frontmatter",
            Self::Dynamic(DynamicPlace::RunTime) => "dynamic, run time",
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DynamicPlace {
    Frontmatter,
    /// Nowhere: it is found out when it is needed.
    RunTime,
}

const fn fixed(level: StaticLevel, name: &'static str, meaning: &'static str) -> Variable {
    Variable { name, side: Side::Static(level), environment: None, meaning }
}

const fn scalar(
    level: StaticLevel,
    name: &'static str,
    environment: &'static str,
    meaning: &'static str,
) -> Variable {
    Variable { name, side: Side::Static(level), environment: Some(environment), meaning }
}

const fn dynamic(place: DynamicPlace, name: &'static str, meaning: &'static str) -> Variable {
    Variable { name, side: Side::Dynamic(place), environment: None, meaning }
}

/// Every variable. Beside the dynamic ones stand the [`TIME_KEYS`], which are frontmatter too.
pub const VARIABLES: [Variable; 82] = [
    fixed(Project, "project_id", "the project's identity in tickets, memory and history"),
    fixed(Project, "project.name", "the name of the project"),
    fixed(Project, "project.repositories", "repositories that its work changes or reads"),
    fixed(Project, "project.constitution", "the document that its work has to keep to"),
    fixed(Project, "project.documents", "other documents of the project"),
    fixed(Project, "artifacts.include", "patterns of files that are artifacts"),
    fixed(Project, "artifacts.exclude", "patterns of files that are none, though they are included"),
    fixed(Project, "workflows", "declared workflows and the artifacts bound to them"),
    fixed(Project, "lifecycles", "declared lifecycles and the artifacts that they apply to"),
    fixed(
        Project,
        "roles",
        "who has a role that lifecycles ask for: `custodian`, `tech_lead`, `product_owner`, and others",
    ),
    fixed(Project, "variables", "folders that step files name by a variable"),
    scalar(Project, "active", "STEPMARK_ACTIVE", "the artifact that is worked on"),
    scalar(Project, "main_config", "STEPMARK_MAIN_CONFIG", "the configuration file of the workflows"),
    scalar(Project, "config_source", "STEPMARK_CONFIG_SOURCE", "the same, under its older name"),
    fixed(Project, "milestones", "steps after which a checkpoint is made, and `finished`"),
    scalar(
        Project,
        "checkpoints.every",
        "STEPMARK_CHECKPOINTS_EVERY",
        "after how many steps a checkpoint is made",
    ),
    scalar(Project, "delegation.folder", "STEPMARK_DELEGATION_FOLDER", "where delegated artifacts are made"),
    scalar(Project, "instructions.output", "STEPMARK_INSTRUCTIONS_OUTPUT", "the assembled instruction file"),
    fixed(Project, "instructions.components", "the Markdown files that it is assembled from"),
    scalar(System, "lease.seconds", "STEPMARK_LEASE_SECONDS", "how long a lease lasts"),
    scalar(System, "gates", "STEPMARK_GATES", "whether completed steps have files in `.stepmark/gates/`"),
    scalar(
        System,
        "git_history.limit_ms",
        "STEPMARK_GIT_HISTORY_LIMIT_MS",
        "how long `resume` asks git, in milliseconds",
    ),
    fixed(
        Project,
        "stories.take_in_agreed",
        "whether the hook takes in what line and ledger of a story agree on",
    ),
    fixed(Project, "coordination.option", "which files follow the tasks: A, B or C"),
    fixed(Project, "coordination.folder", "the folder of tasks, agents and discoveries"),
    fixed(Project, "coordination.state_file", "the state file of option C"),
    fixed(Project, "coordination.stale_seconds", "after which silence of its agent a task is free again"),
    fixed(Project, "coordination.inactive_seconds", "after which silence an agent does not count as active"),
    fixed(Project, "coordination.claims_per_agent", "how many tasks an agent may hold at once"),
    fixed(Project, "asdd.folder", "the folder of slices and of the manifest"),
    fixed(Project, "asdd.failure_log", "the document to which failures of agents are added"),
    fixed(Project, "asdd.thresholds", "the least confidence of each agent"),
    fixed(Project, "asdd.ccs_floor", "the least product of the confidences of a slice"),
    fixed(Project, "asdd.steering", "which of several proposals counts"),
    fixed(Project, "asdd.conflict_seconds", "after which a conflict that no rule decides blocks a slice"),
    fixed(Project, "asdd.monitor", "when agents are looked at, and how long they may be silent"),
    fixed(
        Project,
        "memory.track",
        "whether what is told to memory stays in this clone (`local`) or is tracked (`git`)",
    ),
    fixed(Project, "memory.stores", "stores that are given what is remembered, beside the embedded one"),
    fixed(Project, "memory.recall", "how much of memory is handed to an agent"),
    fixed(Project, "flows.folder", "the folder of graphs, flows and executions"),
    fixed(Project, "flows.stale_seconds", "after which silence of its agent an attempt counts as crashed"),
    fixed(Project, "autodev.file", "the state file of autodev"),
    fixed(Project, "autodev.docs", "the folder of the documents of autodev"),
    fixed(Project, "autodev.skill", "the folder of the skill, whose flow files are read"),
    fixed(Project, "autodev.flows", "flows of the project"),
    fixed(Project, "autodev.states", "the files in which skills keep a state of their own, by the step"),
    fixed(Project, "autodev.summary", "the file in which `project` writes a summary of autodev"),
    fixed(Project, "check.rules", "how bad the findings of a rule are: off, note, warning, error"),
    fixed(Project, "check.allow", "findings that are accepted, by path and with a reason"),
    fixed(Project, "trackers", "where tickets of artifacts are kept"),
    fixed(System, "credentials", "which host gets which credential; in the user's file alone"),
    fixed(System, "settings", "what instructions tell an agent: names, languages, skill level"),
    dynamic(Frontmatter, "stepsCompleted", "the steps that are done"),
    dynamic(Frontmatter, "completedSteps", "the steps that are done"),
    dynamic(Frontmatter, "validationStepsCompleted", "the steps of a validation that are done"),
    dynamic(Frontmatter, "lastStep", "the last step that was done"),
    dynamic(Frontmatter, "lastStepCompleted", "the last step that was done"),
    dynamic(Frontmatter, "currentStep", "the step that is being done"),
    dynamic(Frontmatter, "activeStep", "the step that is being done"),
    dynamic(Frontmatter, "nextStep", "what comes next, which follows from the steps that are done"),
    dynamic(Frontmatter, "status", "how the artifact stands"),
    dynamic(Frontmatter, "workflowStatus", "how the artifact stands"),
    dynamic(Frontmatter, "validationStatus", "how its validation stands"),
    dynamic(Frontmatter, "developmentStatus", "how stories stand"),
    dynamic(Frontmatter, "progress", "how far the work is"),
    dynamic(Frontmatter, "percentComplete", "how far the work is"),
    dynamic(Frontmatter, "scope", "the scope of the artifact"),
    dynamic(Frontmatter, "parentId", "the parent in the chain of delegation"),
    dynamic(Frontmatter, "rootId", "the root of the chain of delegation"),
    dynamic(Frontmatter, "chainPath", "the chain of delegation"),
    dynamic(Frontmatter, "delegation.id", "the place in the chain of delegation"),
    dynamic(Frontmatter, "delegation.depth", "the depth in the chain of delegation"),
    dynamic(Frontmatter, "retryCount", "how often the work was tried"),
    dynamic(Frontmatter, "blockedBy", "what the work waits for"),
    dynamic(RunTime, "session", "the session (`STEPMARK_SESSION`)"),
    dynamic(RunTime, "sessionId", "the session (`STEPMARK_SESSION`)"),
    dynamic(RunTime, "systemDate", "the date"),
    dynamic(RunTime, "projectRoot", "the folder of the project"),
    dynamic(RunTime, "workflowPath", "the folder of the workflow"),
    dynamic(RunTime, "installedPath", "the folder of the workflow"),
    dynamic(RunTime, "skillRoot", "the folder of the workflow"),
    dynamic(RunTime, "leaseHolder", "who holds an artifact"),
];

pub(super) const FREE_MAPS: [&str; 4] = ["variables", "roles", "settings", "check.rules"];

impl Variable {
    /// The static variables, in the order of [`VARIABLES`].
    pub fn all_static() -> impl Iterator<Item = &'static Self> {
        VARIABLES.iter().filter(|variable| matches!(variable.side, Side::Static(_)))
    }

    /// The dynamic variable that `key`, found in configuration at `way` (`key` included, parts joined by
    /// `.`), would be. Where that is the place of a static variable there is none.
    pub fn dynamic_at(way: &str, key: &str) -> Option<Self> {
        let leads_to_static = |variable: &Self| {
            variable.name.strip_prefix(way).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        if Self::all_static().any(leads_to_static) {
            return None;
        }
        let bare = bare(key);
        let is_meant = |variable: &&Self| match variable.name.contains('.') {
            true => variable.name == way,
            false => self::bare(variable.name) == bare,
        };
        let mut listed = VARIABLES.iter().filter(|variable| matches!(variable.side, Side::Dynamic(_)));
        let time = || TIME_KEYS.iter().find(|time| self::bare(time) == bare);
        listed.find(is_meant).copied().or_else(|| {
            time().map(|name| dynamic(Frontmatter, name, "when something happened to the artifact"))
        })
    }
}

/// A key without its case, `_` and `-`: people write `current_step` for `currentStep`.
fn bare(key: &str) -> String {
    key.chars().filter(|letter| !matches!(letter, '_' | '-')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_on_one_side_only() {
        let mut names: Vec<_> = VARIABLES.iter().map(|variable| bare(variable.name)).collect();
        names.sort();
        let before = names.len();
        names.dedup();
        assert_eq!(names.len(), before, "{names:?}");
        for variable in Variable::all_static() {
            let key = variable.name.rsplit('.').next().unwrap();
            assert_eq!(Variable::dynamic_at(variable.name, key), None, "{}", variable.name);
        }
    }

    #[test]
    fn environment_variables_are_named_like_their_keys() {
        for variable in VARIABLES {
            let Some(name) = variable.environment else { continue };
            assert_eq!(name, format!("STEPMARK_{}", variable.name.to_uppercase().replace('.', "_")));
        }
    }

    #[test]
    fn state_is_known_in_every_spelling_and_place() {
        for (way, is_state) in [
            ("stepsCompleted", true),
            ("steps_completed", true),
            ("variables.current-step", true),
            ("settings.STATUS", true),
            ("workflows.status", true),
            ("state.lastStep", true),
            ("delegation", false),
            ("delegation.folder", false),
            ("delegation.depth", true),
            ("git.depth", false),
            ("settings.last_updated", true),
            ("settings.updates", false),
            ("project-root", true),
            ("active", false),
            ("lease", false),
            ("settings.communication_language", false),
        ] {
            let key = way.rsplit('.').next().unwrap();
            assert_eq!(Variable::dynamic_at(way, key).is_some(), is_state, "{way}");
        }
    }
}
