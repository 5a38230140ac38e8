#!/usr/bin/env python3
"""Commands of a flow, killed (`kill -9`) at each of their system calls, one after the other, git's calls among them. The command that comes
next goes on: the log derives every record, a checkpoint is on its branch and in its record, a merge is done once.

Usage: flow_calls.py STEPMARK_BINARY
"""

import json
import subprocess

from killing import leftovers, run, sweep, works

GRAPH = {"id": "g", "tasks": [{"id": "a", "required_scopes": {"write": ["src"]}}]}
HUMAN = ["--actor", "human:Ada"]
CLAIM = ["flow", "next", "r", "--claim", "--agent", "w1"]
CHECKPOINT = ["flow", "checkpoint", "r.a"]
END = ["flow", "attempt", "end", "r.a", "--agent", "w1"]
VERIFY = ["flow", "verify", "r.a", "--decision", "pass"]
PREPARE = ["flow", "merge", "prepare", "r", "--into", "main"]
APPROVE = [*HUMAN, "flow", "merge", "approve", "r"]
APPLY = ["flow", "merge", "apply", "r"]
BEFORE = [["flow", "graph", "create", "graph.json"], ["flow", "create", "g", "--id", "r"], ["flow", "start", "r"]]
STEPS = [CLAIM, CHECKPOINT, END, VERIFY, PREPARE, APPROVE, APPLY]
# Commands that are killed, each with the statuses of the flow and of its task before and after it.
KILLED = {
    "checkpoint": (CHECKPOINT, {("RUNNING", "RUNNING")}),
    "verify": (VERIFY, {("RUNNING", "VERIFYING"), ("RUNNING", "SUCCESS"), ("COMPLETED", "SUCCESS")}),
    "merge apply": (APPLY, {("FROZEN_FOR_MERGE", "SUCCESS"), ("MERGED", "SUCCESS")}),
}


def git(project, *arguments):
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgSign=false"]
    return subprocess.run(["git", *identity, *arguments], cwd=project, capture_output=True, text=True, check=True).stdout.strip()


def statuses(project):
    shown = json.loads(run(project, "flow", "show", "r", "--json").stdout)
    return (shown["flow"]["status"], shown["tasks"][0]["status"]), shown


def problems(project, name):
    """What is wrong after a kill: the command is made again, and the others after it."""
    found = []
    line, expected = KILLED[name]
    status, shown = statuses(project)
    if status not in expected:
        found.append(("a status that the command does not lead to", status))
    for step in STEPS[STEPS.index(line):]:
        done = run(project, *step)
        # What was done before the kill is refused now.
        if step is not line and done.returncode != 0:
            found.append((" ".join(step), done))
    status, shown = statuses(project)
    checkpoints = [entry["commit"] for entry in shown["tasks"][0].get("checkpoint_commits", [])]
    if status != ("MERGED", "SUCCESS"):
        found.append(("it does not go on to its end", status))
    elif git(project, "rev-parse", "exec/r/a") != checkpoints[-1]:
        found.append(("the branch and the record name other checkpoints", checkpoints))
    elif git(project, "rev-list", "--count", "main") != "2" or git(project, "show", "main:src/new") != "new":
        found.append(("it is not merged once", git(project, "log", "--oneline", "main")))
    replayed = run(project, "flow", "replay", "r")
    if replayed.returncode != 0:
        found.append(("the log does not derive the records", replayed))
    return (found + leftovers(project))[:1]


def prepare(project, name):
    (project / ".stepmark").mkdir()
    (project / ".stepmark/config.yaml").write_text("flows: {}\n")
    (project / "graph.json").write_text(json.dumps(GRAPH))
    git(project, "init", "--quiet", "--initial-branch=main")
    for key, value in {"user.name": "Ada", "user.email": "ada@example.com"}.items():
        git(project, "config", key, value)
    git(project, "add", ".")
    git(project, "commit", "--quiet", "-m", "one")
    # Its work tree would stay behind otherwise.
    git(project, "switch", "--quiet", "--detach")
    (project / "src").mkdir()
    (project / "src/new").write_text("new")
    line, _ = KILLED[name]
    for before in [*BEFORE, *STEPS[: STEPS.index(line)]]:
        works(project, *before)


sweep({name: line for name, (line, _) in KILLED.items()}, prepare, problems)
