//! The phases of a slice, who works in them, and the files that they make.

/// A phase of a slice.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Phase {
    /// The status of a slice in it.
    pub status: &'static str,
    /// The agent whose confidence its gate wants.
    pub agent: Option<&'static str>,
    /// The keys of `phase_data` whose files are there when it is left.
    pub files: &'static [&'static str],
}

const fn phase(status: &'static str, agent: Option<&'static str>, files: &'static [&'static str]) -> Phase {
    Phase { status, agent, files }
}

/// The phases, in order.
pub static PHASES: [Phase; 8] = [
    phase("DISCOVERY", Some("discovery"), &["intent"]),
    phase("SPEC", Some("spec"), &["requirements"]),
    phase("VALIDATION", Some("validation"), &["requirements"]),
    phase("DESIGN", Some("design"), &["design", "domain_model"]),
    phase("IMPLEMENTATION", Some("implementation"), &["tasks"]),
    phase("CI_CD", Some("qa"), &[]),
    phase("OBSERVABILITY", None, &[]),
    phase("DONE", None, &[]),
];

/// The agents that work in a phase beside the one of its name.
const OTHER_AGENTS: [(&str, &str); 3] =
    [("domain", "DESIGN"), ("task-planning", "IMPLEMENTATION"), ("refactor", "IMPLEMENTATION")];

/// The phase of a slice with this status, and its place; `None` for a status that is no phase.
pub fn phase_of(status: &str) -> Option<(usize, &'static Phase)> {
    let status = if status == "PARTIAL" { "VALIDATION" } else { status };
    PHASES.iter().enumerate().find(|(_, phase)| phase.status == status)
}

/// The place of the phase in which the file under this key of `phase_data` is made.
pub(super) fn place_of_file(key: &str) -> Option<usize> {
    PHASES.iter().position(|phase| phase.files.contains(&key))
}

/// The place of the phase in which `agent` works.
pub(super) fn place_of_agent(agent: &str) -> Option<usize> {
    let agent = plain_name(agent);
    let other = OTHER_AGENTS.iter().find(|(name, _)| *name == agent);
    let status = other.map(|(_, status)| *status);
    PHASES.iter().position(|phase| phase.agent == Some(&agent) || Some(phase.status) == status)
}

/// The name of an agent by which it is compared: `implementation_agent` is `implementation`.
pub fn plain_name(agent: &str) -> String {
    let agent = agent.strip_prefix("agent:").unwrap_or(agent);
    let agent = agent.to_ascii_lowercase().replace([' ', '_'], "-");
    agent.strip_suffix("-agent").map(str::to_owned).unwrap_or(agent)
}
