"""A program of option A, written from docs/formats.md alone: tasks in `tasks.json`, agents in `agents.json`, a plan and pages of results.

Usage: option_a.py FOLDER COMMAND [ARGUMENT…]. It holds a lock (flock on `FILE.lock`) while it reads and writes a file, and writes in
place, as such programs do; STEPMARK_WITHOUT_LOCKS=1 makes it one that takes none. Wants `jsonschema` (PyPI).
"""

import contextlib
import fcntl
import json
import os
import pathlib
import sys
import time

import jsonschema

FOLDER = pathlib.Path(sys.argv[1])
TASKS, AGENTS, PLAN, RESULTS = (FOLDER / name for name in ["tasks.json", "agents.json", "master-plan.md", "results"])
TEXT, COUNT, MINUTES = {"type": "string"}, {"type": "integer", "minimum": 0}, {"type": ["integer", "number"], "minimum": 0}
TEXTS = {"type": "array", "items": TEXT}
TIME = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?$"}


def or_null(schema):
    return {"anyOf": [schema, {"type": "null"}]}


def closed(required, optional=None):
    return {"type": "object", "required": list(required), "properties": required | (optional or {}), "additionalProperties": False}


COMMON = {
    "id": {"type": "string", "minLength": 1}, "description": TEXT,
    "status": {"enum": ["available", "claimed", "in_progress", "done", "failed", "cancelled"]},
    "priority": {"type": "integer", "minimum": 1, "maximum": 10},
}
TASK = closed(COMMON, {
    "claimed_by": or_null(TEXT), "dependencies": TEXTS,
    "context": or_null(closed({}, {"files": TEXTS, "hints": TEXT, "tags": TEXTS, "parent_task": or_null(TEXT)})),
    "result": or_null(closed({}, {"output": TEXT, "files_modified": TEXTS, "files_created": TEXTS, "error": TEXT})),
    "created_at": TIME, "claimed_at": or_null(TIME), "started_at": or_null(TIME), "completed_at": or_null(TIME), "next_retry_at": or_null(TIME),
    "tags": TEXTS, "parent_id": or_null(TEXT), "required_capabilities": TEXTS, "group_id": or_null(TEXT),
    "estimated_duration": MINUTES, "actual_duration": MINUTES, "timeout_minutes": MINUTES, "retry_delay": MINUTES,
    "max_retries": COUNT, "retry_count": COUNT, "priority_boost": COUNT,
})
# Programs of the other options keep more of an agent than this one asks for.
AGENT = closed(
    {"id": TEXT, "last_seen": TIME},
    {"capabilities": TEXT, "registered_at": TIME, "role": TEXT, "current_task": or_null(TEXT), "tasks_completed": COUNT},
)


def allowing(schema, keys):
    """The schema, in which values of any kind may stand under these keys of others."""
    return schema | {"properties": schema["properties"] | {key: True for key in keys}}


@contextlib.contextmanager
def locked(path, shared=False):
    if os.environ.get("STEPMARK_WITHOUT_LOCKS"):
        yield
        return
    with open(path.with_name(path.name + ".lock"), "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield


def once(pairs):
    """An object none of whose keys stands twice."""
    assert len({key for key, _ in pairs}) == len(pairs), f"a key stands twice: {pairs}"
    return dict(pairs)


def parse(path):
    text = path.read_bytes().decode()
    return json.loads(text, object_pairs_hook=once, parse_constant=lambda word: sys.exit(f"{path}: {word} is no JSON"))


def read(path):
    with locked(path, shared=True):
        return parse(path)


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%S")


def save(path, data):
    path.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n")


@contextlib.contextmanager
def changed(path, stamp=True):
    with locked(path):
        data = parse(path)
        yield data
        if stamp:
            data["last_updated"] = now()
        # A slow program: whoever takes no lock reads what is half written.
        time.sleep(float(os.environ.get("STEPMARK_SLOW", "0")))
        save(path, data)


def task_of(data, id):
    return next(task for task in data["tasks"] if task["id"] == id)


def check(*foreign):
    """Holds every file against its schema; keys of others may stand where they are named."""
    data = read(TASKS)
    root = closed({"tasks": {"type": "array", "items": allowing(TASK, foreign)}, "last_updated": TIME}, {"version": {"const": "1.0"}, "created_at": TIME})
    jsonschema.validate(data, allowing(root, foreign), jsonschema.Draft202012Validator)
    ids = [task["id"] for task in data["tasks"]]
    assert len(set(ids)) == len(ids), f"an id stands twice: {ids}"
    for task in data["tasks"]:
        assert set(task.get("dependencies", [])) <= set(ids), f"a dependency is unknown: {task}"
        assert bool(task.get("claimed_by")) or task["status"] not in ("claimed", "in_progress"), f"held by nobody: {task}"
    if AGENTS.exists():
        agents = read(AGENTS)
        jsonschema.validate(agents, closed({"agents": {"type": "array", "items": AGENT}}), jsonschema.Draft202012Validator)
    for path in [TASKS, *([AGENTS] if AGENTS.exists() else [])]:
        assert path.read_bytes() == (json.dumps(parse(path), indent=2, ensure_ascii=False) + "\n").encode(), f"{path} is written in another way"
    for task in data["tasks"]:
        page = RESULTS / f"{task['id']}.md"
        if task["status"] in ("done", "failed"):
            assert page.exists(), f"{page} is missing"
            read_page(task, page.read_text())
        else:
            assert not page.exists(), f"{page} is of a task that has not ended"
    if PLAN.exists():
        PLAN.read_bytes().decode()


def read_page(task, text):
    """Holds a page of a result against the task."""
    result = task.get("result") or {}
    listed = lambda key: "\n".join(f"- {file}" for file in result.get(key, [])) or "None"
    who, when, description = task.get("claimed_by") or "None", task.get("completed_at") or "None", task["description"]
    if task["status"] == "done":
        sections = [
            ("Description", description), ("Completed By", who), ("Completed At", when), ("Output", result.get("output", "")),
            ("Files Modified", listed("files_modified")), ("Files Created", listed("files_created")), ("Status", "SUCCESS"),
        ]
    else:
        sections = [("Description", description), ("Attempted By", who), ("Failed At", when), ("Failure Reason", result.get("error", "")), ("Status", "FAILED")]
    wanted = f"# Task: {task['id']}\n\n" + "\n\n".join(f"## {title}\n{body}" for title, body in sections) + "\n"
    assert text == wanted, f"the page says\n{text}\nand should say\n{wanted}"


def canonical():
    """Prints tasks and unknown keys of the file as canonical JSON; times of writing do not count."""
    data = read(TASKS)
    data.pop("last_updated", None)
    print(json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False))


def init(plan):
    FOLDER.mkdir(parents=True, exist_ok=True)
    RESULTS.mkdir(exist_ok=True)
    save(TASKS, {"version": "1.0", "created_at": now(), "last_updated": now(), "tasks": []})
    save(AGENTS, {"agents": []})
    PLAN.write_text(plan)


def register(agent, capabilities):
    with changed(AGENTS, stamp=False) as data:
        data["agents"].append({"id": agent, "capabilities": capabilities, "registered_at": now(), "last_seen": now()})


def add(id, description, values="{}"):
    with changed(TASKS) as data:
        task = {"id": id, "description": description, "status": "available", "priority": 5, "dependencies": [], "created_at": now()}
        data["tasks"].append(task | json.loads(values))


def capabilities_of(agent):
    agents = read(AGENTS)["agents"] if AGENTS.exists() else []
    return {word.strip() for own in agents if own["id"] == agent for word in own.get("capabilities", "").split(",")}


def claim(agent):
    """Takes the best task, and prints its id; nothing where there is none."""
    capabilities = capabilities_of(agent)
    with changed(TASKS) as data:
        done = {task["id"] for task in data["tasks"] if task["status"] == "done"}
        may = [
            task for task in data["tasks"]
            if task["status"] == "available" and set(task.get("dependencies", [])) <= done
            and set(task.get("required_capabilities", [])) <= capabilities
        ]
        if may:
            task = min(may, key=lambda task: max(1, task.get("priority", 5) - task.get("priority_boost", 0)))
            task.update(status="claimed", claimed_by=agent, claimed_at=now())
            print(task["id"])


def done(agent, id, output):
    with changed(TASKS) as data:
        task = task_of(data, id)
        assert task["claimed_by"] == agent, task
        task.update(status="done", completed_at=now(), result={"output": output, "files_modified": ["a.rs"], "files_created": []})
    RESULTS.mkdir(exist_ok=True)
    page = f"# Task: {id}\n\n## Description\n{task['description']}\n"
    (RESULTS / f"{id}.md").write_text(page)


def note(id, text):
    """Writes a key of its own into one task."""
    with changed(TASKS) as data:
        task_of(data, id)["note"] = text


def notes(id):
    """The same, again and again until a file `stop` is there; prints the last note."""
    number = 0
    while not (FOLDER / "stop").exists():
        number += 1
        note(id, str(number))
        time.sleep(0.005)
    print(number)


COMMANDS = [check, canonical, init, register, add, claim, done, note, notes]
command = next(command for command in COMMANDS if command.__name__ == sys.argv[2])
command(*sys.argv[3:])
