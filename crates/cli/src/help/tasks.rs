//! The tasks of people, and the commands for them.

pub(super) struct Task {
    pub(super) name: &'static str,
    /// Those of the first page: ten in all.
    pub(super) first: &'static [&'static str],
    pub(super) rest: &'static [&'static str],
}

pub(super) const TASKS: &[Task] = &[
    Task {
        name: "See where the work stands",
        first: &["status", "next", "show", "log"],
        rest: &["list", "tickets", "tree", "resume", "query", "report", "serve", "board"],
    },
    Task {
        name: "Record work",
        first: &["complete", "transition", "import"],
        rest: &["reopen", "set", "unset", "scope", "delegate", "track", "memlog", "defer", "remove", "undo"],
    },
    Task { name: "Work in sessions", first: &[], rest: &["session", "checkpoint", "restore", "exec"] },
    Task {
        name: "Keep it right",
        first: &["check", "hook"],
        rest: &["gate", "explain", "lifecycle", "pack", "doctor", "project"],
    },
    Task {
        name: "Keep the state of other systems",
        first: &[],
        rest: &["asdd", "autodev", "task", "coordination", "flow", "mcp"],
    },
    Task { name: "Remember", first: &[], rest: &["memory"] },
    Task { name: "Share it", first: &["sync"], rest: &["instructions"] },
    Task { name: "Set up", first: &[], rest: &["init", "config", "completions", "man", "schema", "help"] },
];
