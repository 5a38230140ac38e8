#!/usr/bin/env python3
"""Commands of coordination, killed (`kill -9`) at each of their system calls, one after the other. The command that comes next repairs:
a task has one holder or none, the file that follows says what the records say, no change of another program is lost.

Usage: coordination_calls.py STEPMARK_BINARY
"""

import json

from killing import leftovers, run, sweep, works

FILE, OTHER = ".coordination/tasks.json", "other/tasks.json"
CONFIG = "coordination: {option: A}\n"
BEFORE = [["coordination", "init", "--goal", "G"], ["task", "add", "One", "--id", "t1"], ["task", "add", "Two", "--id", "t2"]]


def claimed(tasks):
    return tasks["t1"]["status"] == "claimed" and tasks["t1"]["claimed_by"] == "w1" or tasks["t1"]["status"] == "available" and not tasks["t1"]["claimed_by"]


def imported(tasks):
    return tasks["t1"].get("note") in (None, "theirs") and {*tasks} - {"t1", "t2", "t3"} == set()


def overwritten(tasks):
    return "note" not in tasks["t1"]


# Commands, each with what holds of the tasks of the records after it was killed anywhere, and the command that is made next.
COMMANDS = {
    "claim": (["task", "claim", "--agent", "w1"], claimed, ["task", "claim", "t2", "--agent", "w2"]),
    "import": (["import", "coordination", "other", "--take", "file"], imported, ["import", "coordination", "other", "--take", "file"]),
    "project": (["coordination", "project", "--overwrite"], overwritten, ["coordination", "project", "--overwrite"]),
}


def in_records(project):
    answer = works(project, "task", "list", "--json")
    return {task["id"]: task for task in json.loads(answer.stdout)["tasks"]}


def in_file(project):
    return {task["id"]: task for task in json.loads((project / FILE).read_text())["tasks"]}


def problems(project, name):
    """What is wrong after a kill."""
    found = []
    line, holds, following = COMMANDS[name]
    before = in_records(project)
    if not holds(before) or not {"t1", "t2"} <= {*before}:
        found.append(("the records are neither old nor new", before))
    if not {"t1", "t2"} <= {*in_file(project)}:
        found.append(("the file is torn", (project / FILE).read_text()))
    next_one = run(project, *following)
    if next_one.returncode != 0:
        found.append(("the next command does not work", next_one))
    records = in_records(project)
    if in_file(project) != records:
        found.append(("the file does not say what the records say", (in_file(project), records)))
    if line[0] == "import" and (records["t1"].get("note"), records.get("t3", {}).get("status")) != ("theirs", "available"):
        found.append(("what was imported is lost", records))
    followed = json.loads(run(project, "coordination", "project", "--json").stdout)
    if followed["drift"]:
        found.append(("something is told as changed by others", followed))
    # What was left beside a record of another agent goes with its next change, or with this.
    run(project, "doctor", "--repair")
    run(project, "task", "add", "After")
    replayed = run(project, "replay", "--verify")
    if replayed.returncode != 0:
        found.append(("history does not explain it", replayed))
    return found + leftovers(project)


def prepare(project, name):
    line, _, _ = COMMANDS[name]
    (project / ".stepmark").mkdir()
    (project / ".stepmark/config.yaml").write_text(CONFIG)
    for before in BEFORE:
        works(project, *before)
    file = json.loads((project / FILE).read_text())
    file["tasks"][0]["note"] = "theirs"
    if line[0] == "import":
        file["tasks"].append({"id": "t3", "description": "Three", "status": "available"})
        (project / OTHER).parent.mkdir()
        (project / OTHER).write_text(json.dumps(file))
    if line[:2] == ["coordination", "project"]:
        (project / FILE).write_text(json.dumps(file))


sweep({name: line for name, (line, _, _) in COMMANDS.items()}, prepare, problems)
