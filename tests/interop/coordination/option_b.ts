// A program of option B, written from docs/formats.md alone: the state of a server in `mcp-state.json`. Compiled with `tsc --strict`; what
// it reads is held against its types by zod as well.
//
// Usage: option_b.js FILE check [KEY…] | canonical | save | init GOAL PLAN | create ID JSON | register ID ROLE | claim AGENT |
// discover ID AGENT CONTENT. KEY…: keys of others that may stand in tasks and in the file.

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import process from "node:process";
import { z } from "zod";

type Status = "available" | "claimed" | "in_progress" | "done" | "failed" | "pending" | "blocked" | "cancelled";

interface Task {
  id: string;
  description: string;
  status: Status;
  priority: number;
  claimed_by: string | null;
  dependencies: string[];
  context: { files?: string[]; hints?: string; parent_task?: string; tags?: string[] } | null;
  result: { output?: string; files_modified?: string[]; files_created?: string[]; error?: string } | null;
  created_at: string | null;
  claimed_at: string | null;
  started_at?: string | null;
  completed_at: string | null;
  tags?: string[];
  retry_count?: number;
}

interface Agent {
  id: string;
  role: "leader" | "worker";
  last_heartbeat: string;
  current_task: string | null;
  tasks_completed: number;
  capabilities?: string | string[];
  registered_at?: string;
}

interface Discovery {
  id: string;
  agent_id: string;
  content: string;
  tags: string[];
  created_at: string;
}

interface State {
  master_plan: string;
  goal: string;
  tasks: Task[];
  agents: Record<string, Agent>;
  discoveries: Discovery[];
  created_at: string | null;
  last_activity: string;
}

const time = z.string().refine((text) => !Number.isNaN(Date.parse(text)), "no time");
const task: z.ZodType<Task> = z.strictObject({
  id: z.string().min(1),
  description: z.string(),
  status: z.enum(["available", "claimed", "in_progress", "done", "failed", "pending", "blocked", "cancelled"]),
  priority: z.int().min(1).max(10),
  claimed_by: z.string().nullable(),
  dependencies: z.array(z.string()),
  context: z
    .strictObject({ files: z.array(z.string()).optional(), hints: z.string().optional(), parent_task: z.string().optional(), tags: z.array(z.string()).optional() })
    .nullable(),
  result: z
    .strictObject({
      output: z.string().optional(),
      files_modified: z.array(z.string()).optional(),
      files_created: z.array(z.string()).optional(),
      error: z.string().optional(),
    })
    .nullable(),
  created_at: time.nullable(),
  claimed_at: time.nullable(),
  started_at: time.nullable().optional(),
  completed_at: time.nullable(),
  tags: z.array(z.string()).optional(),
  retry_count: z.int().min(0).optional(),
});
const agent: z.ZodType<Agent> = z.strictObject({
  id: z.string().min(1),
  role: z.enum(["leader", "worker"]),
  last_heartbeat: time,
  current_task: z.string().nullable(),
  tasks_completed: z.int().min(0),
  capabilities: z.union([z.string(), z.array(z.string())]).optional(),
  registered_at: time.optional(),
});
const discovery: z.ZodType<Discovery> = z.strictObject({
  id: z.string().min(1),
  agent_id: z.string(),
  content: z.string(),
  tags: z.array(z.string()),
  created_at: time,
});
const state: z.ZodType<State> = z.strictObject({
  master_plan: z.string(),
  goal: z.string(),
  tasks: z.array(task),
  agents: z.record(z.string(), agent),
  discoveries: z.array(discovery),
  created_at: time.nullable(),
  last_activity: time,
});

const [file, command, ...rest] = process.argv.slice(2) as [string, string, ...string[]];

/** The argument at `place`, which must be there. */
function given(place: number): string {
  const argument = rest[place];
  if (argument === undefined) throw new Error(`argument ${place} is missing`);
  return argument;
}

function load(): State {
  return JSON.parse(readFileSync(file, "utf8")) as State;
}

/** Writes all of it at once, as after every operation. */
function save(written: State): void {
  written.last_activity = new Date().toISOString();
  writeFileSync(`${file}.new`, JSON.stringify(written, null, 2));
  renameSync(`${file}.new`, file);
}

/** The values without the keys of others. */
function without<T extends object>(value: T, foreign: string[]): T {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !foreign.includes(key))) as T;
}

/** A value whose keys are sorted; nulls stand, times of writing do not. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).filter(([key]) => !["last_activity", "last_heartbeat"].includes(key));
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)).map(([key, own]) => [key, canonical(own)]));
}

const commands: Record<string, () => void> = {
  check() {
    const found = without(load(), rest);
    const read = state.parse({ ...found, tasks: found.tasks.map((own) => without(own, rest)) });
    const ids = new Set(read.tasks.map((own) => own.id));
    if (ids.size !== read.tasks.length) throw new Error("an id stands twice");
    for (const own of read.tasks) {
      const unknown = own.dependencies.filter((id) => !ids.has(id));
      if (unknown.length > 0) throw new Error(`${own.id} waits for ${unknown}, which is unknown`);
      if (own.claimed_by === null && ["claimed", "in_progress"].includes(own.status)) throw new Error(`${own.id} is held by nobody`);
    }
    for (const [id, own] of Object.entries(read.agents)) {
      if (own.id !== id) throw new Error(`${id} is called ${own.id}`);
      if (own.current_task !== null && !ids.has(own.current_task)) throw new Error(`${id} has ${own.current_task}, which is unknown`);
    }
  },
  canonical() {
    console.log(JSON.stringify(canonical(load())));
  },
  save() {
    save(load());
  },
  init() {
    if (existsSync(file)) throw new Error(`${file} is there`);
    mkdirSync(dirname(file), { recursive: true });
    const now = new Date().toISOString();
    save({ master_plan: given(1), goal: given(0), tasks: [], agents: {}, discoveries: [], created_at: now, last_activity: now });
  },
  create() {
    const made: Task = {
      id: given(0), description: "", status: "available", priority: 5, claimed_by: null, dependencies: [], context: null, result: null,
      created_at: new Date().toISOString(), claimed_at: null, completed_at: null,
    };
    const found = load();
    found.tasks.push({ ...made, ...(JSON.parse(given(1)) as Partial<Task>) });
    save(found);
  },
  register() {
    const found = load();
    const role = given(1) as Agent["role"];
    found.agents[given(0)] = { id: given(0), role, last_heartbeat: new Date().toISOString(), current_task: null, tasks_completed: 0 };
    save(found);
  },
  /** Takes the best task, and prints its id; nothing where there is none. */
  claim() {
    const found = load();
    const done = new Set(found.tasks.filter((own) => own.status === "done").map((own) => own.id));
    const may = found.tasks.filter((own) => own.status === "available" && own.dependencies.every((id) => done.has(id)));
    const [best] = may.sort((one, other) => one.priority - other.priority);
    if (best === undefined) return;
    Object.assign(best, { status: "claimed", claimed_by: given(0), claimed_at: new Date().toISOString() });
    const holder = found.agents[given(0)];
    if (holder !== undefined) holder.current_task = best.id;
    save(found);
    console.log(best.id);
  },
  discover() {
    const found = load();
    found.discoveries.push({ id: given(0), agent_id: given(1), content: given(2), tags: ["found"], created_at: new Date().toISOString() });
    save(found);
  },
};

try {
  const run = commands[command];
  if (run === undefined) throw new Error(`no command ${command}`);
  run();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
