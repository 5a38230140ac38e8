#!/usr/bin/env python3
"""Commands of a flow, killed (`kill -9`) at each of their system calls, one after the other, git's calls among them. The command that comes
next goes on: the log derives every record, a checkpoint is on its branch and in its record, a merge is done once.

Usage: flow_calls.py STEPMARK_BINARY
"""

import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import every_call

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
    shown = json.loads(every_call.run(project, "flow", "show", "r", "--json").stdout)
    return (shown["flow"]["status"], shown["tasks"][0]["status"]), shown


def killed(project, line, occurrence):
    """Runs a command, and tells whether it, or a git that it started, was killed at that call."""
    every_call.killed(project, line, occurrence)
    return "killed by SIGKILL" in (project.parent / f"{project.name}.log").read_text()


def problems(project, line, expected):
    """What is wrong after a kill: the command is made again, and the others after it."""
    found = []
    status, shown = statuses(project)
    if status not in expected:
        found.append(("a status that the command does not lead to", status))
    for step in STEPS[STEPS.index(line):]:
        done = every_call.run(project, *step)
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
    replayed = every_call.run(project, "flow", "replay", "r")
    if replayed.returncode != 0:
        found.append(("the log does not derive the records", replayed))
    return found


def one(template, folder, name, occurrence):
    line, expected = KILLED[name]
    project = folder / f"project-{name.replace(' ', '-')}-{occurrence}"
    shutil.copytree(template, project, symlinks=True)
    try:
        return problems(project, line, expected) if killed(project, line, occurrence) else None
    finally:
        shutil.rmtree(project)


def template_for(folder, name):
    template = folder / f"template-{name.replace(' ', '-')}"
    (template / ".stepmark").mkdir(parents=True)
    (template / ".stepmark/config.yaml").write_text("flows: {}\n")
    (template / "graph.json").write_text(json.dumps(GRAPH))
    git(template, "init", "--quiet", "--initial-branch=main")
    for key, value in {"user.name": "Ada", "user.email": "ada@example.com"}.items():
        git(template, "config", key, value)
    git(template, "add", ".")
    git(template, "commit", "--quiet", "-m", "one")
    # Its work tree would stay behind otherwise.
    git(template, "switch", "--quiet", "--detach")
    (template / "src").mkdir()
    (template / "src/new").write_text("new")
    line, _ = KILLED[name]
    for before in [*BEFORE, *STEPS[: STEPS.index(line)]]:
        done = every_call.run(template, *before)
        assert done.returncode == 0, (before, done)
    return template


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = pathlib.Path(name).resolve()
        (folder / "home").mkdir()
        for command in KILLED:
            template = template_for(folder, command)
            count, first = 0, 1
            while first:
                occurrences = range(first, first + 16)
                results = list(pool.map(lambda occurrence: one(template, folder, command, occurrence), occurrences))
                first += 16
                for occurrence, found in zip(occurrences, results):
                    if found is None:
                        first = 0
                        continue
                    count, passed, failed = count + 1, passed + (not found), failed + bool(found)
                    for problem in found[:1]:
                        print(f"FAILED: {command}, killed at call {occurrence}: {problem[0]}: {problem[1]}")
            print(f"flow {command}: killed {count} times")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
