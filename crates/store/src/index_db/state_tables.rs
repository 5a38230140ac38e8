//! The tables of the state of the run.

use crate::index_db::{Part, Table, table::integer, table::real, table::text};

pub(super) const STATE_TABLES: [Table; 15] = [
    ARTIFACTS,
    STEPS,
    DELEGATIONS,
    DEPENDENCIES,
    ATTEMPTS,
    VERIFICATIONS,
    UNREADABLE,
    EVENTS,
    FINDINGS,
    LEASES,
    TICKETS,
    HEARTBEATS,
    PROJECTIONS,
    MEMORIES,
    MEMORY_EDGES,
];

const ARTIFACTS: Table = Table {
    name: "artifacts",
    part: Part::Artifacts,
    about: "An artifact: a configured file that holds workflow state.",
    columns: &[
        text("path", "Path inside the project, with `/`"),
        text("id", "Own id: `id`, else `stepmark_id`"),
        text(
            "key",
            "What the journal, leases and tickets know it by: `id:…`, or `path:…` where it has no id",
        ),
        text("title", "Title"),
        text("workflow", "Workflow; NULL where none, or none for certain, is known"),
        text("track", "Track of the workflow: create, edit or validate"),
        text(
            "work_state",
            "State of the work on the steps: `not-started`, `interrupted`, `underway`, `finished`",
        ),
        integer("done", "Steps done"),
        integer("total", "Steps in all"),
        integer("percent", "Steps done in per cent, rounded down"),
        text("next_step", "Step that comes next; several, to choose from, with `, ` between them"),
        integer("finished", "1 where workflow or status say that the work has ended, else 0"),
        text("status", "Status as it is written"),
        text(
            "state",
            "State that the status means in its lifecycle; NULL where there is none, or it has no such state",
        ),
        text("lifecycle", "Lifecycle of the status"),
        text(
            "scope",
            "How big the work is: `micro`, `small`, `medium`, `large`, `epic`, or another word as written",
        ),
        integer("scope_rank", "1 for micro to 5 for epic; NULL for another word"),
        text("scope_source", "Who gave the scope"),
        real("scope_confidence", "How sure an AI was of the scope, 0 to 1"),
        text("agent", "Who works on it: `assignee`, `agent` or `owner`"),
        text(
            "system",
            "System whose record it is: `asdd`, `autodev`, `coordination`, `flows`; NULL for what belongs to none",
        ),
        text("kind", "What it is a record of: `stepmark_kind`"),
        text("parent", "Id of what it is a part of: `delegation.parent_id`, else `parent_id`"),
        integer("priority", "`priority`, where that is a whole number; what is low comes first"),
        text("state_digest", "SHA-256 of the frontmatter without times; NULL where it cannot be read"),
        text("file_hash", "SHA-256 of the file's bytes"),
        integer("size", "Size of the file in bytes"),
        text("modified", "When the file was last changed, UTC, to the second"),
    ],
    key: "path",
    indices: &["id", "kind", "status", "workflow"],
};

const STEPS: Table = Table {
    name: "steps",
    part: Part::Artifacts,
    about: "A step of an artifact's workflow; after them, what the artifact lists beside them.",
    columns: &[
        text("artifact", "Path of the artifact"),
        integer("position", "Place in the chain, from 1"),
        text("step", "Name of the step; for what is no step of the workflow, the words of the list"),
        text("file", "The step's file"),
        integer("done", "1 where it is done, else 0"),
        integer("next", "1 where it comes next, else 0"),
        integer("known", "0 for what the artifact lists and its workflow, if known, does not have"),
    ],
    key: "artifact, position",
    indices: &[],
};

const DELEGATIONS: Table = Table {
    name: "delegations",
    part: Part::Artifacts,
    about: "What an artifact says of its place in a chain of delegation.",
    columns: &[
        text("artifact", "Path of the artifact"),
        text("id", "Its id in the chain"),
        text("parent_id", "Id of its parent"),
        text("root_id", "Id of the first in the chain"),
        integer("depth", "How many are above it"),
        text("chain", "Ids from the first down to it, with `/` between them"),
    ],
    key: "artifact",
    indices: &["id", "parent_id"],
};

const DEPENDENCIES: Table = Table {
    name: "dependencies",
    part: Part::Artifacts,
    about: "Something that an artifact waits for: an entry of `dependencies` or `depends_on`.",
    columns: &[
        text("artifact", "Path of the artifact that waits"),
        integer("position", "Place in the list, from 1"),
        text("id", "Id of what it waits for, as `artifacts.id`"),
    ],
    key: "artifact, position",
    indices: &["id"],
};

const ATTEMPTS: Table = Table {
    name: "attempts",
    part: Part::Artifacts,
    about: "An attempt at a task: an entry of `attempts`, or the open one under `attempt`.",
    columns: &[
        text("artifact", "Path of the execution"),
        integer("position", "Place in the list, from 1"),
        text("attempt", "Id of the attempt"),
        text("agent", "Who tried"),
        text("runtime", "Runtime of the agent"),
        text("started_at", "Start, as it is written"),
        text("ended_at", "End; NULL for the one that is open"),
        integer("exit_status", "Exit status; NULL for one that is open or was cut off"),
    ],
    key: "artifact, position",
    indices: &["attempt"],
};

const VERIFICATIONS: Table = Table {
    name: "verifications",
    part: Part::Artifacts,
    about: "A judgement on an attempt: an entry of `verifications`.",
    columns: &[
        text("artifact", "Path of the execution"),
        integer("position", "Place in the list, from 1"),
        text("attempt", "Id of the attempt, as `attempts.attempt`"),
        text("verifier", "Who decided; NULL where checks alone did"),
        text("decision", "`PASS`, `SOFT_FAIL` or `HARD_FAIL`"),
        text("reasons", "Why it failed, with `; ` between them; NULL where it passed"),
        text("confidence", "From 0 to 1, where the verifier says it"),
        text("decided_at", "When, as it is written"),
    ],
    key: "artifact, position",
    indices: &["attempt"],
};

const UNREADABLE: Table = Table {
    name: "unreadable",
    part: Part::Artifacts,
    about: "A file or folder that could not be read, and is missing from `artifacts`.",
    columns: &[integer("position", "Order"), text("path", "Path inside the project"), text("reason", "Why")],
    key: "position",
    indices: &[],
};

const EVENTS: Table = Table {
    name: "events",
    part: Part::Events,
    about: "Something that happened, from the journal.",
    columns: &[
        text("at", "When, UTC, to the millisecond"),
        text("id", "Id of the event, 32 hexadecimal digits"),
        text("kind", "What happened: `change`, `create`, `session-start`, …"),
        text("artifact", "Path of the artifact at that time; NULL for what is about none"),
        text("artifact_key", "What the journal knows the artifact by, as `artifacts.key`"),
        text("actor", "Who did it: `agent:NAME`, `human:NAME` or `tool:NAME`"),
        text("session", "Session in which it was done"),
        text("correlation", "What the caller finds it by"),
        integer("n", "Place in the history of the artifact, from 1; 0 for what is about none"),
        text("changes", "What changed in the frontmatter, in short"),
        text("command", "Command that led to it"),
        text("reason", "Why, in the words of whoever did it"),
    ],
    key: "at, id",
    indices: &["id", "session", "artifact"],
};

const FINDINGS: Table = Table {
    name: "findings",
    part: Part::Findings,
    about: "What `stepmark check` finds, without what is suppressed or in the baseline.",
    columns: &[
        integer("position", "Order of the report"),
        text("path", "File"),
        integer("line", "Line, from 1"),
        integer("column", "Character of the line, from 1"),
        text("rule", "Id of the rule, as for `stepmark explain`"),
        text("level", "`error`, `warning` or `note`"),
        text("message", "What is wrong"),
        text("help", "What to do about it"),
        text("fix", "`safe` or `unsafe` where `stepmark check --fix` can fix it"),
    ],
    key: "position",
    indices: &["path"],
};

const LEASES: Table = Table {
    name: "leases",
    part: Part::Leases,
    about: "The last lease of an artifact; it may have run out or been given back.",
    columns: &[
        text("artifact", "Path of the artifact when the lease was taken"),
        text("artifact_key", "As `artifacts.key`"),
        integer("fence", "Fencing number"),
        text("holder", "Who has it, `KIND:NAME`; NULL where it was given back"),
        text("session", "Session of the holder"),
        text("taken_at", "Since when, UTC"),
        text("expires_at", "Until when, UTC"),
        text(
            "problem",
            "Why the lease cannot be read; then `artifact` is its file, and nothing else is known",
        ),
    ],
    key: "artifact, artifact_key",
    indices: &[],
};

const TICKETS: Table = Table {
    name: "tickets",
    part: Part::Tickets,
    about: "A ticket of an artifact, or one that is to be made; from the ledger of this clone, no tracker is asked.",
    columns: &[
        text("tracker", "Name of the tracker"),
        text("marker", "What the ticket carries to be recognised"),
        text("artifact", "Path of the artifact; NULL where it is gone"),
        text("ticket", "Key of the ticket in the tracker; NULL where it is to be made"),
        text("url", "Where people look at it"),
        text(
            "action",
            "What is to be done: `create`, `update`, …; NULL where the ticket says what it should",
        ),
        text("differs", "Fields in which the ticket differs, with `, ` between them"),
        text("delivery", "`waiting`, `parked` or `in-doubt` after a failure, else NULL"),
        text("reason", "Why the last delivery failed"),
        text("linked_at", "Since when the ticket is known, UTC"),
    ],
    key: "tracker, marker",
    indices: &["artifact"],
};

const HEARTBEATS: Table = Table {
    name: "heartbeats",
    part: Part::Systems,
    about: "The last sign of life of an agent that this clone has seen.",
    columns: &[
        text("system", "System that the agent works in: `asdd`, `coordination`, `flows`"),
        text("agent", "Name of the agent"),
        text("at", "When, UTC"),
        text("status", "What the agent said of itself, in its own word"),
        text("current", "What it works on, by id"),
        text("numbers", "JSON object of the numbers that it told; NULL where there are none"),
    ],
    key: "system, agent",
    indices: &[],
};

const MEMORIES: Table = Table {
    name: "memories",
    part: Part::Memory,
    about: "Something that was decided or learned, from an event of the journal.",
    columns: &[
        text("id", "Its id: that of the event"),
        text("kind", "`decision`, `error`, `learning`, …"),
        text("content", "What is remembered"),
        text("rationale", "Why"),
        text("artifact", "Path of the artifact that it is about, at that time"),
        text("session", "Session in which it was told"),
        text("agent", "Who told it"),
        text("created_at", "When, UTC"),
        text("valid_to", "Until when it holds, UTC; NULL where it has no end"),
        text("superseded_by", "Ids of those that took its place, with `, ` between them"),
    ],
    key: "id",
    indices: &["artifact"],
};

const MEMORY_EDGES: Table = Table {
    name: "memory_edges",
    part: Part::Memory,
    about: "How memories, artifacts, agents, sessions and steps hang together.",
    columns: &[
        text("source_kind", "`memory`, `artifact`, `file`, `workflow`, `step`, `agent`, `session`"),
        text("source", "Name of the node that the edge leaves"),
        text("kind", "`decided-in`, `MENTIONS`, `worked-on`, …"),
        text("target_kind", "As `source_kind`"),
        text("target", "Name of the node that it leads to"),
    ],
    key: "source_kind, source, kind, target_kind, target",
    indices: &["target"],
};

const PROJECTIONS: Table = Table {
    name: "projections",
    part: Part::Systems,
    about: "A file in which the records of a system are kept for its other programs.",
    columns: &[
        text("system", "System of the records: `asdd`, `coordination`"),
        text("path", "The file"),
        text(
            "state",
            "`current`; `behind` where it is as it was written for earlier records; `drift` where another program \
             changed it; `damaged` where it cannot be read; `gone`",
        ),
        text("records", "Ids of the records that another program changed, with `, ` between them"),
    ],
    key: "system, path",
    indices: &[],
};
