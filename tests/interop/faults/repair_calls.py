#!/usr/bin/env python3
"""Commands of systems, killed (`kill -9`) at system calls all over them. `doctor --repair` alone does what is missing: records are there
together, the file that follows says what they say, nothing temporary is left, and `check` finds nothing.

Usage: repair_calls.py STEPMARK_BINARY
"""

import json
import subprocess

from killing import leftovers, run, sweep, works

GRAPH = {"id": "g", "tasks": [{"id": "a", "required_scopes": {"write": ["src"]}}, {"id": "b", "depends_on": ["a"], "required_scopes": {"write": ["lib"]}}]}
FLOWS = ("flows: {}\n", [["flow", "graph", "create", "graph.json"]])
RUNNING = [["flow", "create", "g", "--id", "r"], ["flow", "start", "r"], ["flow", "next", "r", "--claim", "--agent", "w1"]]
SLICES = ("asdd: {}\n", [["asdd", "init"], ["asdd", "add", "One"], ["asdd", "begin", "SLICE-001", "--agent", "discovery"]])
TASKS = ("coordination: {option: A}\n", [["coordination", "init", "--goal", "G"], ["task", "add", "One", "--id", "t1"]])
# Commands that are killed, each with the configuration and the commands before it.
CASES = {
    "flow create": (["flow", "create", "g", "--id", "r"], FLOWS),
    "flow abort": (["--actor", "human:Ada", "flow", "abort", "r", "--reason", "over"], (FLOWS[0], [*FLOWS[1], *RUNNING])),
    "asdd add": (["asdd", "add", "Two"], SLICES),
    "asdd fail": (["asdd", "fail", "SLICE-001", "--agent", "discovery", "--score", "0.5", "--uncertainty", "load"], SLICES),
    "task add": (["task", "add", "Two", "--id", "t2"], TASKS),
    "coordination convert": (["coordination", "convert", "--to", "B"], TASKS),
}


def of_records(project, *arguments, of, keys):
    answer = json.loads(works(project, *arguments, "--json").stdout)[of]
    return sorted(tuple(one[key] for key in keys) for one in answer)


def of_file(path, of, keys):
    return sorted(tuple(one[key] for key in keys) for one in json.loads(path.read_text())[of])


def problems(project, name):
    """What is wrong after a kill and `doctor --repair`."""
    found = []
    for line in (["doctor", "--repair"], ["doctor"], ["check"], ["replay", "--verify"]):
        done = run(project, *line)
        if done.returncode != 0:
            found.append((" ".join(line), done))
    if name.startswith("asdd"):
        keys = ("slice_id", "status")
        said, told = of_records(project, "asdd", "status", of="slices", keys=keys), of_file(project / ".asdd/state/manifest.json", "slices", keys)
        if said != told:
            found.append(("the manifest does not say what the slices say", (told, said)))
    if name == "task add":
        keys = ("id", "status")
        said, told = of_records(project, "task", "list", of="tasks", keys=keys), of_file(project / ".coordination/tasks.json", "tasks", keys)
        if said != told:
            found.append(("the file does not say what the tasks say", (told, said)))
    if (project / "flows/r/flow.md").exists():
        shown = json.loads(works(project, "flow", "show", "r", "--json").stdout)
        is_over = shown["flow"]["status"] == "ABORTED"
        if len(shown["tasks"]) != 2 or is_over and any(task["status"] in ("PENDING", "RUNNING") for task in shown["tasks"]):
            found.append(("the flow is half made or half aborted", shown))
    return (found + leftovers(project))[:1]


def prepare(project, name):
    _, (configuration, before) = CASES[name]
    (project / ".stepmark").mkdir()
    (project / ".stepmark/config.yaml").write_text(configuration)
    (project / "graph.json").write_text(json.dumps(GRAPH))
    if name.startswith("flow"):
        # Only a person finishes an abort.
        person = [["config", "user.name", "Ada"], ["config", "user.email", "ada@example.com"], ["config", "commit.gpgSign", "false"]]
        for line in (["init", "--quiet"], *person, ["add", "."], ["commit", "--quiet", "-m", "one"]):
            subprocess.run(["git", *line], cwd=project, check=True)
    for line in before:
        works(project, *line)


sweep({name: line for name, (line, _) in CASES.items()}, prepare, problems, least=1, step=5)
