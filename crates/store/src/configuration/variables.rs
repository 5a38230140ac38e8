//! The table of variables: static ones are configuration, dynamic ones never are.

use std::{fmt, sync::LazyLock};

use Side::{Frontmatter, RunTime};

use crate::configuration::keys::{Key, Keys};
use stepmark_model::artifact::TIME_KEYS;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// A `.` in a static name leads into a mapping (`lease.seconds`). A dynamic name without `.` applies at
    /// any depth, ignoring case, `_` and `-`.
    pub name: String,
    pub side: Side,
    /// Only for static scalars of a single key.
    pub environment: Option<String>,
    pub meaning: &'static str,
    /// True for a mapping with free names, each a value of its own.
    pub is_map: bool,
}

/// Static variables are configuration; dynamic ones never are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Static: a person's or a machine's.
    System,
    /// Static: a project's.
    Project,
    /// Dynamic: kept in the frontmatter of an artifact.
    Frontmatter,
    /// Dynamic, and computed when needed.
    RunTime,
}

impl fmt::Display for Side {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::System => "static, system",
            Self::Project => "static, project",
            Self::Frontmatter => "dynamic, frontmatter",
            Self::RunTime => "dynamic, run time",
        })
    }
}

/// All variables, without the [`TIME_KEYS`], which are frontmatter too.
pub static VARIABLES: LazyLock<Vec<Variable>> = LazyLock::new(|| {
    let fixed = Keys::KEYS.iter().flat_map(|key| match key.below {
        [] => vec![fixed(key.is_of_system, key.name.to_owned(), key)],
        leaves => {
            let name = |leaf: &Key| format!("{}.{}", key.name, leaf.name);
            leaves.iter().map(|leaf| fixed(key.is_of_system, name(leaf), leaf)).collect()
        }
    });
    let dynamic = DYNAMIC
        .iter()
        .flat_map(|(side, names, meaning)| names.iter().map(|name| Variable::dynamic(*side, name, meaning)));
    fixed.chain(dynamic).collect()
});

fn fixed(is_of_system: bool, name: String, key: &Key) -> Variable {
    let side = if is_of_system { Side::System } else { Side::Project };
    let environment = format!("STEPMARK_{}", name.to_uppercase().replace('.', "_"));
    let environment = Some(environment).filter(|_| key.kind == "env");
    Variable { name, side, environment, meaning: key.meaning, is_map: key.kind == "map" }
}

const DYNAMIC: [(Side, &[&str], &str); 22] = [
    (Frontmatter, &["stepsCompleted", "completedSteps"], "the steps that are done"),
    (Frontmatter, &["validationStepsCompleted"], "the steps of a validation that are done"),
    (Frontmatter, &["lastStep", "lastStepCompleted"], "the last step that was done"),
    (Frontmatter, &["currentStep", "activeStep"], "the step that is being done"),
    (Frontmatter, &["nextStep"], "what comes next, which follows from the steps that are done"),
    (Frontmatter, &["status", "workflowStatus"], "how the artifact stands"),
    (Frontmatter, &["validationStatus"], "how its validation stands"),
    (Frontmatter, &["developmentStatus"], "how stories stand"),
    (Frontmatter, &["progress", "percentComplete"], "how far the work is"),
    (Frontmatter, &["scope"], "the scope of the artifact"),
    (Frontmatter, &["parentId"], "the parent in the chain of delegation"),
    (Frontmatter, &["rootId"], "the root of the chain of delegation"),
    (Frontmatter, &["chainPath"], "the chain of delegation"),
    (Frontmatter, &["delegation.id"], "the place in the chain of delegation"),
    (Frontmatter, &["delegation.depth"], "the depth in the chain of delegation"),
    (Frontmatter, &["retryCount"], "how often the work was tried"),
    (Frontmatter, &["blockedBy"], "what the work waits for"),
    (RunTime, &["session", "sessionId"], "the session (`STEPMARK_SESSION`)"),
    (RunTime, &["systemDate"], "the date"),
    (RunTime, &["projectRoot"], "the folder of the project"),
    (RunTime, &["workflowPath", "installedPath", "skillRoot"], "the folder of the workflow"),
    (RunTime, &["leaseHolder"], "who holds an artifact"),
];

impl Variable {
    pub fn all_static() -> impl Iterator<Item = &'static Self> + Clone {
        VARIABLES.iter().filter(|variable| variable.is_static())
    }

    const fn is_static(&self) -> bool {
        matches!(self.side, Side::System | Side::Project)
    }

    fn dynamic(side: Side, name: &str, meaning: &'static str) -> Self {
        Self { name: name.to_owned(), side, environment: None, meaning, is_map: false }
    }

    pub(super) fn has_below(&self, key: &str) -> bool {
        let rest = key.strip_prefix(self.name.as_str()).and_then(|rest| rest.strip_prefix('.'));
        self.is_map && rest.is_some_and(|rest| !rest.is_empty())
    }

    /// The dynamic variable that `key` at `way` (dotted, including `key`) would be; `None` if `way` is
    /// static.
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
            false => self::bare(&variable.name) == bare,
        };
        let mut listed = VARIABLES.iter().filter(|variable| !variable.is_static());
        let time = || TIME_KEYS.iter().find(|time| self::bare(time) == bare);
        listed.find(is_meant).cloned().or_else(|| {
            time().map(|name| Self::dynamic(Frontmatter, name, "when something happened to the artifact"))
        })
    }
}

/// Without case, `_` and `-`: people write `current_step` for `currentStep`.
fn bare(key: &str) -> String {
    key.chars().filter(|letter| !matches!(letter, '_' | '-')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_on_one_side_only() {
        let mut names: Vec<_> = VARIABLES.iter().map(|variable| bare(&variable.name)).collect();
        names.sort();
        let before = names.len();
        names.dedup();
        assert_eq!(names.len(), before, "{names:?}");
        for variable in Variable::all_static() {
            let key = variable.name.rsplit('.').next().unwrap();
            assert_eq!(Variable::dynamic_at(&variable.name, key), None, "{}", variable.name);
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
