"""A program of option C, written from docs/formats.md alone: an orchestrator with typed models. A value of another type is refused, keys
that a model does not have are dropped, and saving writes every key that it has.

Usage: option_c.py FILE check|canonical|save|reset ID|priority ID NUMBER|init GOAL|create ID JSON.
"""

import dataclasses
import datetime
import enum
import json
import pathlib
import sys
import types
import typing

FILE = pathlib.Path(sys.argv[1])
Time = datetime.datetime


class Status(enum.Enum):
    PENDING, AVAILABLE, CLAIMED, IN_PROGRESS = "pending", "available", "claimed", "in_progress"
    DONE, FAILED, BLOCKED = "done", "failed", "blocked"


class Role(enum.Enum):
    LEADER, WORKER, SPECIALIST = "leader", "worker", "specialist"


def empty(kind):
    return dataclasses.field(default_factory=kind)


@dataclasses.dataclass
class Context:
    files: list[str] = empty(list)
    hints: str = ""
    parent_task: str | None = None
    tags: list[str] = empty(list)
    metadata: dict[str, object] = empty(dict)


@dataclasses.dataclass
class Result:
    output: str
    files_modified: list[str] = empty(list)
    files_created: list[str] = empty(list)
    files_deleted: list[str] = empty(list)
    error: str | None = None
    subtasks_created: list[str] = empty(list)
    discoveries: list[str] = empty(list)


@dataclasses.dataclass
class Task:
    id: str
    description: str
    status: Status = Status.AVAILABLE
    priority: int = 5
    claimed_by: str | None = None
    dependencies: list[str] = empty(list)
    blocks: list[str] = empty(list)
    context: Context = empty(Context)
    result: Result | None = None
    created_at: Time = empty(Time.now)
    claimed_at: Time | None = None
    started_at: Time | None = None
    completed_at: Time | None = None
    attempts: int = 0
    max_attempts: int = 3


@dataclasses.dataclass
class Agent:
    id: str
    role: Role
    is_active: bool = False
    current_task: str | None = None
    pid: int | None = None
    last_heartbeat: Time = empty(Time.now)
    metrics: dict[str, object] = empty(dict)
    working_directory: str = "."
    model: str = "usual"
    max_concurrent_tasks: int = 1


@dataclasses.dataclass
class Discovery:
    id: str
    agent_id: str
    content: str
    tags: list[str] = empty(list)
    related_task: str | None = None
    created_at: Time = empty(Time.now)


@dataclasses.dataclass
class State:
    goal: str = ""
    master_plan: str = ""
    working_directory: str = "."
    tasks: list[Task] = empty(list)
    agents: dict[str, Agent] = empty(dict)
    discoveries: list[Discovery] = empty(list)
    created_at: Time = empty(Time.now)
    last_activity: Time = empty(Time.now)
    max_parallel_workers: int = 3
    task_timeout_seconds: int = 600


def typed(kind, value, place):
    """`value` as `kind`, or the end of the program."""
    refused = TypeError(f"{place}: {value!r} is no {kind}")
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is types.UnionType:
        return None if value is None else typed(inner[0], value, place)
    if origin is list:
        if not isinstance(value, list):
            raise refused
        return [typed(inner[0], own, f"{place}[{number}]") for number, own in enumerate(value)]
    if origin is dict:
        if not isinstance(value, dict):
            raise refused
        return {key: typed(inner[1], own, f"{place}.{key}") for key, own in value.items()}
    if dataclasses.is_dataclass(kind):
        if not isinstance(value, dict):
            raise refused
        fields = {field.name: field for field in dataclasses.fields(kind)}
        hints = typing.get_type_hints(kind)
        try:
            return kind(**{key: typed(hints[key], own, f"{place}.{key}") for key, own in value.items() if key in fields})
        except TypeError as error:
            raise TypeError(f"{place}: {error}") from error
    if kind is Time and isinstance(value, str):
        return Time.fromisoformat(value)
    if isinstance(kind, enum.EnumMeta):
        return kind(value)
    if kind is object or isinstance(value, kind) and isinstance(value, bool) == (kind is bool):
        return value
    raise refused


def load():
    state = typed(State, json.loads(FILE.read_text()), "state")
    for task in state.tasks:
        if not 1 <= task.priority <= 10:
            raise ValueError(f"the priority {task.priority} of {task.id}")
    return state


def plain(value):
    if isinstance(value, dict):
        return {key: plain(own) for key, own in value.items()}
    if isinstance(value, list):
        return [plain(own) for own in value]
    if isinstance(value, Time):
        return value.isoformat()
    return value.value if isinstance(value, enum.Enum) else value


def save(state):
    state.last_activity = Time.now()
    FILE.write_text(json.dumps(plain(dataclasses.asdict(state)), indent=2))


def check():
    state = load()
    ids = {task.id for task in state.tasks}
    assert len(ids) == len(state.tasks), "an id stands twice"
    for task in state.tasks:
        assert set(task.dependencies) <= ids, task
        assert task.claimed_by or task.status not in (Status.CLAIMED, Status.IN_PROGRESS), task
    assert all(id == agent.id for id, agent in state.agents.items()), state.agents
    # What is there and not in the models would be lost when it is saved.
    data = json.loads(FILE.read_text())
    for kind, records in [(Task, data["tasks"]), (Agent, data["agents"].values()), (Discovery, data["discoveries"])]:
        known = {field.name for field in dataclasses.fields(kind)}
        for record in records:
            assert set(record) <= known, set(record) - known
    print(len(state.tasks))


def canonical():
    print(json.dumps(plain(dataclasses.asdict(load()))["tasks"], sort_keys=True, separators=(",", ":")))


def task_of(state, id):
    return next(task for task in state.tasks if task.id == id)


def reset(id):
    state = load()
    task_of(state, id).status = Status.AVAILABLE
    save(state)


def priority(id, number):
    state = load()
    task_of(state, id).priority = int(number)
    save(state)


def init(goal):
    save(State(goal=goal))


def create(id, values):
    state = load()
    state.tasks.append(typed(Task, {"id": id, "description": id, **json.loads(values)}, id))
    save(state)


if sys.argv[2] == "save":
    save(load())
else:
    commands = [check, canonical, reset, priority, init, create]
    next(command for command in commands if command.__name__ == sys.argv[2])(*sys.argv[3:])
