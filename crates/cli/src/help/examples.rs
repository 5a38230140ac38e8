//! Two examples for each command.

pub(super) fn examples_of(name: &str) -> Option<&'static [&'static str; 2]> {
    EXAMPLES.iter().find(|(command, _)| *command == name).map(|(_, examples)| examples)
}

pub(super) const EXAMPLES: &[(&str, [&str; 2])] = &[
    ("status", ["stepmark status", "stepmark status --all"]),
    ("next", ["stepmark next docs/prd.md", "stepmark next docs/prd.md --json"]),
    ("show", ["stepmark show docs/prd.md", "stepmark show context docs/prd.md"]),
    ("log", ["stepmark log docs/prd.md", "stepmark log at 2026-01-31 docs/prd.md"]),
    (
        "list",
        ["stepmark list --where 'status=blocked'", "stepmark list --sort -scope,path --columns path,scope"],
    ),
    ("tree", ["stepmark tree", "stepmark tree docs/prd.md --up"]),
    ("resume", ["stepmark resume", "stepmark resume docs/prd.md"]),
    ("query", ["stepmark query 'SELECT path, status FROM artifacts'", "stepmark query --named next --csv"]),
    ("report", ["stepmark report state.html", "stepmark report /tmp/state.html --root ../shed"]),
    ("serve", ["stepmark serve", "stepmark serve --port 8080"]),
    ("board", ["stepmark board", "stepmark board --root ../shed"]),
    ("complete", ["stepmark complete docs/prd.md 4", "stepmark complete docs/prd.md step-05-domain --json"]),
    ("transition", ["stepmark transition 1-2-lend.md", "stepmark transition 1-2-lend.md review"]),
    ("import", ["stepmark import stories", "stepmark import stories --prefer sprint-status"]),
    ("reopen", ["stepmark reopen docs/prd.md 4", "stepmark reopen docs/prd.md 4 5"]),
    ("set", ["stepmark set docs/prd.md title='Tool shed'", "stepmark set docs/prd.md status=done --json"]),
    ("unset", ["stepmark unset docs/prd.md owner", "stepmark unset docs/prd.md owner --json"]),
    ("scope", ["stepmark scope docs/prd.md large", "stepmark scope docs/prd.md small --json"]),
    (
        "delegate",
        ["stepmark delegate docs/prd.md --to writer", "stepmark delegate docs/prd.md --to writer --json"],
    ),
    (
        "defer",
        [
            "stepmark defer spec-3-2 --summary 'Slow' --evidence '900 ms'",
            "stepmark defer spec-3-2 --summary 'No test' --evidence src",
        ],
    ),
    ("tickets", ["stepmark tickets", "stepmark tickets epic-cart --json"]),
    (
        "memlog",
        [
            "stepmark memlog init --workspace docs --field topic=Lending",
            "stepmark memlog append --workspace docs --text 'A week'",
        ],
    ),
    ("track", ["stepmark track docs/prd.md", "stepmark track --all"]),
    ("remove", ["stepmark remove docs/old.md --reason 'split in two'", "stepmark remove docs/old.md --json"]),
    ("undo", ["stepmark undo 0198c2f4", "stepmark undo 0198c2f4 --json"]),
    ("task", ["stepmark task add 'Write the parser'", "stepmark task claim --agent worker-1"]),
    (
        "memory",
        ["stepmark memory remember 'CI runs in UTC' --kind learning", "stepmark memory recall which store"],
    ),
    ("asdd", ["stepmark asdd init --sprint 2026-Q4-S2", "stepmark asdd add 'User sign-in'"]),
    ("coordination", ["stepmark coordination init --goal 'Ship 1.0'", "stepmark coordination status"]),
    ("flow", ["stepmark flow create release", "stepmark flow next release --claim --agent worker-1"]),
    ("autodev", ["stepmark autodev status", "stepmark autodev sub-step 5 batch-loop"]),
    ("mcp", ["stepmark mcp --tools coordination", "stepmark mcp --tools coordination --root ../shed"]),
    ("session", ["stepmark session start --actor agent:writer", "stepmark session list"]),
    (
        "checkpoint",
        ["stepmark checkpoint docs/prd.md -m 'before the review'", "stepmark checkpoint list docs/prd.md"],
    ),
    (
        "restore",
        [
            "stepmark restore docs/prd.md --from checkpoint.json",
            "stepmark restore docs/prd.md --from old.json --json",
        ],
    ),
    ("exec", ["stepmark exec -- claude", "stepmark exec -- npm test"]),
    ("check", ["stepmark check", "stepmark check docs --fix"]),
    ("hook", ["stepmark hook install", "stepmark hook status"]),
    ("gate", ["stepmark gate check docs/prd.md 4", "stepmark gate lease take docs/prd.md"]),
    ("explain", ["stepmark explain", "stepmark explain SM106"]),
    ("lifecycle", ["stepmark lifecycle list", "stepmark lifecycle graph bmad-story"]),
    ("pack", ["stepmark pack new review", "stepmark pack check"]),
    ("doctor", ["stepmark doctor", "stepmark doctor --repair"]),
    ("project", ["stepmark project", "stepmark project manifest verify"]),
    ("sync", ["stepmark sync plan", "stepmark sync apply"]),
    ("instructions", ["stepmark instructions build", "stepmark instructions verify"]),
    ("init", ["stepmark init", "stepmark init --root ../shed"]),
    ("config", ["stepmark config show --origin", "stepmark config variables"]),
    ("completions", ["stepmark completions bash", "stepmark completions zsh"]),
    ("man", ["stepmark man", "stepmark man complete"]),
    ("schema", ["stepmark schema", "stepmark schema stepmark.next/3"]),
    ("help", ["stepmark help --all", "stepmark help complete"]),
];
