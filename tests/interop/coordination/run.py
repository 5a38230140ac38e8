#!/usr/bin/env python3
"""The files of coordination, judged by programs of each option that know docs/formats.md and nothing of stepmark: one in Python with
a JSON schema (A), one in TypeScript, compiled strictly, with a check at run time (B), one with typed models in Python (C).

Usage: run.py STEPMARK_BINARY. Wants `npm install` in this folder. `jsonschema` (PyPI) is from the folder that STEPMARK_TOOLS names, else
from a virtual environment that is made.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import venv

STEPMARK = str(pathlib.Path(sys.argv[1]).resolve())
HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = HERE / "node_modules"
COMPILED = PACKAGES / "option_b"
STRICT = ["--strict", "--noUncheckedIndexedAccess", "--target", "es2022", "--module", "nodenext", "--types", "node"]
FILES = {"A": ".coordination", "B": ".coordination/mcp-state.json", "C": "orchestrator-state.json"}
UNKNOWN = {"owner": {"name": "Zoë", "since": [1, 2.5, None]}, "estimate": 1e300, "status_note": "x: y\n- z"}
passed = failed = 0


def check(what, holds, detail=""):
    global passed, failed
    passed, failed = passed + bool(holds), failed + (not holds)
    print(f"ok   {what}" if holds else f"FAIL {what}\n     {detail}", flush=True)


class Project:
    """A folder that is a project, with the programs that work on it."""

    def __init__(self, folder, name, tools):
        self.place, self.tools = folder / name, tools
        (self.place / ".stepmark").mkdir(parents=True)
        (self.place / ".stepmark/config.yaml").write_text("")
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "NO_COLOR": "1"}

    def run(self, program, *arguments, **more):
        command = [str(word) for word in [*program, *arguments]]
        environment = self.environment | more
        return subprocess.run(command, cwd=self.place, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)

    def stepmark(self, *arguments):
        return self.run([STEPMARK], *arguments)

    def does(self, *arguments):
        done = self.stepmark(*arguments)
        assert done.returncode == 0, done
        return done

    def program(self, option):
        """The command of the program of an option, on its file here."""
        python = self.tools / "python"
        return {
            "A": [python, HERE / "option_a.py", self.place / FILES["A"]],
            "B": ["node", COMPILED / "option_b.js", self.place / FILES["B"]],
            "C": [python, HERE / "option_c.py", self.place / FILES["C"]],
        }[option]

    def judge(self, option, *arguments, **more):
        return self.run(self.program(option), *arguments, **more)

    def theirs(self, option, *arguments, **more):
        """The program does it, and what it prints."""
        done = self.judge(option, *arguments, **more)
        assert done.returncode == 0, done
        return done.stdout.strip()

    def accepted(self, what, option, *arguments):
        done = self.judge(option, "check", *arguments)
        check(f"{option}: {what}", done.returncode == 0, done.stdout + done.stderr)

    def quiet(self, what):
        """Nothing is told of the files: neither by `check` nor by the command that makes them follow."""
        told = [finding for finding in json.loads(self.stepmark("check", "--json").stdout)["findings"] if finding["id"].startswith("SMP")]
        followed = json.loads(self.stepmark("coordination", "project", "--json").stdout)
        check(what, told == [] and followed["drift"] == [], (told, followed))


def work(project, option):
    """The life of tasks, whose files the program of the option accepts after each command."""
    steps = [
        ["coordination", "init", "--goal", "Build a shed", "--plan", "# Plan\n\nWalls, then a roof.\n", "--option", option],
        ["task", "add", "Walls\nof \"wood\" & <nails>", "--id", "walls", "--priority", "1"],
        ["task", "add", "Roof", "--id", "roof", "--after", "walls"],
        ["task", "add", "Dör 日本 \\u0041", "--id", "door", "--priority", "10"],
        ["task", "add", "Paint", "--id", "paint"],
        ["coordination", "register", "lead", "--role", "leader", "--capability", "plans", "--capability", "rust"],
        ["coordination", "heartbeat", "--agent", "lead"],
        ["task", "claim", "--agent", "ada"],
        ["task", "start", "walls", "--agent", "ada"],
        ["task", "done", "walls", "--agent", "ada", "--output", "Four walls\n\nand a gap", "--modified", "plan.md", "--created", "gap.md"],
        ["task", "claim", "--agent", "ada"],
        ["task", "fail", "roof", "--agent", "ada", "--error", "No nails"],
        ["task", "retry", "roof"],
        ["task", "claim", "roof", "--agent", "eve"],
        ["task", "release", "roof", "--agent", "eve"],
        ["task", "claim", "door", "--agent", "eve"],
        ["task", "fail", "door", "--agent", "eve", "--error", "Too small"],
        ["coordination", "discover", "The ground is **wet**\n", "--agent", "ada", "--tag", "ground"],
        ["task", "cancel", "paint"],
    ]
    for step in steps:
        done = project.stepmark(*step)
        assert done.returncode == 0, done
        if option == "C":
            project.does("coordination", "save")
        project.accepted(f"accepts what is there after `{' '.join(step[:3])}`".replace("\n", " "), option)
    project.quiet(f"{option}: nothing is told of the files")


def work_of_theirs(project, option):
    """What the program makes in an empty project is taken in, then changed by both."""
    if option == "A":
        project.theirs("A", "init", "# Plan\n")
        project.theirs("A", "register", "ada", "rust, yaml")
        for id, values in [("one", {"priority": 2}), ("two", {"dependencies": ["one"]}), ("rust", {"required_capabilities": ["rust"], **UNKNOWN})]:
            project.theirs("A", "add", id, f"Do {id}", json.dumps(values))
        claimed = project.theirs("A", "claim", "ada")
        project.theirs("A", "done", "ada", claimed, "It is done")
    elif option == "B":
        project.theirs("B", "init", "Build", "# Plan\n")
        project.theirs("B", "register", "ada", "worker")
        for id, values in [("one", {"priority": 2}), ("two", {"dependencies": ["one"]}), ("three", {**UNKNOWN})]:
            project.theirs("B", "create", id, json.dumps(values))
        project.theirs("B", "claim", "ada")
        project.theirs("B", "discover", "d1", "ada", "It is **wet**")
    else:
        project.theirs("C", "init", "Build")
        for id, values in [("one", {"priority": 2}), ("two", {"dependencies": ["one"], "context": {"hints": "slowly"}})]:
            project.theirs("C", "create", id, json.dumps(values))
    before = project.theirs(option, "canonical")
    taken = project.stepmark("import", "coordination", "." if option == "C" else ".coordination")
    check(f"{option}: what it wrote is taken in", taken.returncode == 0, taken)
    if option == "C":
        project.does("coordination", "convert", "--to", "C")
    project.quiet(f"{option}: what it wrote says what the records say")
    check(f"{option}: it says afterwards what it said", project.theirs(option, "canonical") == before, (before, project.theirs(option, "canonical")))
    project.accepted("accepts what became of it", option, *UNKNOWN) if option != "C" else project.accepted("accepts what became of it", option)


def change_of_theirs(project, option):
    """A change of the program is told, stays, and is taken in."""
    project.does("task", "add", "Mine", "--id", "mine")
    project.does("task", "add", "Yours", "--id", "yours")
    if option == "C":
        project.does("coordination", "save")
        project.theirs("C", "priority", "yours", "1")
    elif option == "B":
        project.theirs("B", "create", "new", '{"description": "New"}')
    else:
        project.theirs("A", "note", "yours", "theirs")
    found = json.loads(project.stepmark("coordination", "project", "--json").stdout)["drift"]
    changed = {"A": ("yours", "changed"), "B": ("new", "added"), "C": ("yours", "changed")}[option]
    check(f"{option}: a change of the program is told", [(own["id"], own["change"]) for own in found] == [changed], found)
    project.does("task", "cancel", "mine")
    if option == "C":
        project.stepmark("coordination", "save")
    there = project.theirs(option, "canonical")
    check(f"{option}: it stays, and the others go on", {"A": '"theirs"', "B": '"New"', "C": '"priority":1'}[option] in there and '"cancelled"' in there, there)
    project.does("import", "coordination", "--take", "file")
    project.quiet(f"{option}: what was taken in is told no more")


def said(value):
    """What a task says: without nulls, empty values, and what typed models write of every task."""
    if not isinstance(value, dict):
        return value
    usual = {"attempts": 0, "max_attempts": 3, "priority": 5, "status": "available"}
    entries = {key: said(own) for key, own in value.items() if key not in usual or usual[key] != own}
    return {key: own for key, own in entries.items() if own not in (None, "", [], {})}


def round_trip(folder, tools):
    """A → B → C → A: by `convert` in one project, each program saving what it read, and by files alone through empty projects."""
    project = Project(folder, "round", tools)
    project.theirs("A", "init", "# Plan\n")
    project.theirs("A", "register", "ada", "rust, yaml")
    for id, values in {
        "a": {"priority": 1, "context": {"files": ["a.rs"], "hints": "h"}, **UNKNOWN}, "b/c d": {"tags": ["x"], "retry_count": 1},
        "cancelled": {"status": "cancelled"}, "null": {"context": None, "claimed_by": None}, "odd": {"status": "failed", "result": {"error": "No"}},
        "done": {"status": "done", "claimed_by": "ada", "completed_at": "2026-01-01T10:00:00", "result": {"output": "o", "files_modified": ["m"]}},
    }.items():
        project.theirs("A", "add", id, f"Do {id}", json.dumps(values))
    before = project.theirs("A", "canonical")
    project.does("import", "coordination", ".coordination")
    project.does("coordination", "convert", "--to", "B")
    project.accepted("accepts what was of A", "B", *UNKNOWN)
    project.theirs("B", "save")
    project.quiet("B: what it saves unchanged says the same")
    project.does("coordination", "convert", "--to", "C")
    project.accepted("accepts what was of A and B", "C")
    project.theirs("C", "save")
    project.quiet("C: what it saves unchanged says the same")
    project.does("coordination", "convert", "--to", "A")
    after = project.theirs("A", "canonical")
    check("A → B → C → A in one project: equal as canonical JSON, unknown keys too", after == before, (before, after))

    option, place = "A", project.place
    for number, target in enumerate(["B", "C", "A"]):
        following = Project(folder, f"round-{number}", tools)
        following.does("import", "coordination", place / FILES[option])
        following.does("coordination", "convert", "--to", target)
        if target == "C":
            following.theirs("C", "save")
        option, place = target, following.place
    after = following.theirs("A", "canonical")
    before, after = ({task["id"]: said(task) for task in json.loads(text)["tasks"]} for text in (before, after))
    different = {id: (before.get(id), after.get(id)) for id in {*before, *after} if before.get(id) != after.get(id)}
    check("A → B → C → A by files alone, through empty projects: equal in tasks", different == {}, different)


def two_writers(project):
    """The program of option A writes notes into its task while stepmark works on others: both under the program's lock."""
    project.does("coordination", "init", "--goal", "G")
    for number in range(6):
        project.does("task", "add", f"Do {number}", "--id", f"t{number}")
    command = [str(word) for word in [*project.program("A"), "notes", "t0"]]
    writer = subprocess.Popen(command, cwd=project.place, env=project.environment | {"STEPMARK_SLOW": "0.01"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while '"note"' not in project.theirs("A", "canonical"):
        assert writer.poll() is None, writer.communicate()
    told = []
    for number in range(1, 6):
        for step in [["task", "claim", f"t{number}"], ["task", "start", f"t{number}"], ["task", "done", f"t{number}", "--output", "x"]]:
            told.append(project.does(*step, "--agent", f"w{number}").stderr)
    (project.place / ".coordination/stop").touch()
    said, _ = writer.communicate(timeout=120)
    check("two writers: the program sees whole files", writer.returncode == 0, said)
    check("two writers: no file was torn, and none held back", not any("could not be read" in line or "follows it is not" in line for line in told), told)
    followed = json.loads(project.stepmark("coordination", "project", "--json").stdout)
    check("two writers: the program's change is told, and no other", {own["id"] for own in followed["drift"]} == {"t0"}, followed)
    tasks = {task["id"]: task for task in json.loads(project.theirs("A", "canonical"))["tasks"]}
    check("two writers: no change is lost", tasks["t0"].get("note") == said.strip() and all(tasks[f"t{number}"]["status"] == "done" for number in range(1, 6)), tasks)
    project.does("import", "coordination", "--take", "file")
    project.quiet("two writers: what was taken in is told no more")
    project.accepted("accepts what both wrote", "A", "note")


def claims_of_both(project):
    """The program of option A and stepmark claim in turn: no task has two holders, and what the program claimed is taken in."""
    project.does("coordination", "init", "--goal", "G")
    for number in range(6):
        project.does("task", "add", f"Do {number}", "--id", f"t{number}")
    ours, theirs = [], []
    for number in range(3):
        theirs.append(project.theirs("A", "claim", f"theirs{number}"))
        claimed = project.does("task", "claim", "--agent", f"ours{number}", "--json")
        ours.append(json.loads(claimed.stdout)["task"]["id"])
    check("claims of both: each task is claimed once", len({*ours, *theirs}) == 6, (ours, theirs))
    project.does("import", "coordination", "--take", "file")
    project.accepted("accepts what both claimed", "A")
    held = {task["id"]: task["claimed_by"] for task in json.loads(project.theirs("A", "canonical"))["tasks"]}
    wanted = {id: f"{whose}{number}" for whose, ids in [("ours", ours), ("theirs", theirs)] for number, id in enumerate(ids)}
    check("claims of both: each holder keeps its task", held == wanted, (held, wanted))
    project.quiet("claims of both: nothing is told afterwards")


def tools_in(folder):
    if "STEPMARK_TOOLS" in os.environ:
        return pathlib.Path(os.environ["STEPMARK_TOOLS"]).resolve()
    venv.create(folder / "python", with_pip=True)
    subprocess.run([folder / "python/bin/pip", "install", "--quiet", "jsonschema==4.26.0"], check=True)
    return folder / "python/bin"


def main():
    shutil.rmtree(COMPILED, ignore_errors=True)
    compiled = subprocess.run([PACKAGES / ".bin/tsc", *STRICT, "--outDir", COMPILED, HERE / "option_b.ts"], cwd=HERE, capture_output=True, text=True)
    check("B: the program is compiled strictly", compiled.returncode == 0, compiled.stdout + compiled.stderr)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        tools = tools_in(folder)
        for option in "ABC":
            work(Project(folder, f"work-{option}", tools), option)
            theirs = Project(folder, f"theirs-{option}", tools)
            work_of_theirs(theirs, option)
            change_of_theirs(theirs, option)
        round_trip(folder, tools)
        two_writers(Project(folder, "two", tools))
        claims_of_both(Project(folder, "claims", tools))
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
