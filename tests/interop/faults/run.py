#!/usr/bin/env python3
"""Every command that writes, with a fault at its system calls (strace): killed with `kill -9`, or told that the call failed. Afterwards
nothing is torn, what was acknowledged is there, an error says truly whether the change was made, the project can be repaired and worked
on, and history explains every artifact.

Usage: run.py STEPMARK_BINARY kills|errors [STRIDE]: each STRIDEth call of a kind, 1 for all of them.
"""

import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

STEPMARK = str(pathlib.Path(sys.argv[1]).resolve())
STRIDE = int(sys.argv[3]) if len(sys.argv) > 3 else 20
# What is injected: calls and what becomes of them. Each kind of call is counted for itself.
FAULTS = {
    "kills": [("all", "signal=KILL")],
    "errors": [
        ("write,pwrite64", "error=ENOSPC"),
        ("write,pwrite64,ftruncate", "error=EIO"),
        ("fsync,fdatasync", "error=EIO"),
        ("rename,renameat,renameat2,link,linkat,mkdir,mkdirat", "error=EACCES"),
        ("unlink,unlinkat,rmdir", "error=EACCES"),
        ("open,openat,openat2", "error=EACCES"),
        ("open,openat,openat2", "error=EMFILE"),
        ("read,pread64,getdents64", "error=EIO"),
        ("flock,fcntl", "error=ENOLCK"),
        ("open,openat,openat2,read,write,flock,fsync,fdatasync", "error=EINTR"),
    ],
}[sys.argv[2]]
# Commands that make several changes, each whole by itself: an error tells of one of them.
SEVERAL = [
    "track", "project", "sync", "doctor", "journal", "manifest", "report", "hook", "session", "lease", "task", "import", "coordination",
]
PRD, STORY, SPRINT = "docs/prd.md", "docs/1-1-login.md", "docs/sprint-status.yaml"
TIME = "2026-11-22T10:00:00Z"
PROJECT = {
    PRD: "---\nid: PRD-1\nstepsCompleted: [1]   # begun\nstatus: draft\n---\n\n# PRD\n",
    STORY: "---\nid: S-1\nstatus: ready-for-dev\n---\n\n# Story\n\nStatus: ready-for-dev\n",
    SPRINT: "development_status:\n  epic-1: backlog\n  1-1-login: ready-for-dev\n",
    "other.json": '{"tasks": [{"id": "t3", "description": "Three", "status": "available"}]}',
    "docs/notes.md": "---\nstatus: draft\n---\n",
    ".stepmark/config.yaml": (
        "project_id: 0123456789abcdef\nartifacts:\n  include: ['docs/**/*.md']\ncheckpoints: {every: 1}\n"
        "trackers:\n  log: {kind: file, path: tickets.jsonl}\ncoordination: {option: A}\n"
    ),
}
# What was acknowledged before the command that is killed.
BEFORE = [
    ["complete", PRD, "2"], ["session", "start", "--name", "Night"], ["checkpoint", PRD], ["set", PRD, "owner=Ada"],
    ["coordination", "init", "--goal", "G"], ["task", "add", "One", "--id", "t1"],
]
COMMANDS = [
    line.split()
    for line in """
complete docs/prd.md 3
reopen docs/prd.md 2
set docs/prd.md owner=Eve title=Login
transition docs/1-1-login.md in-progress
scope docs/prd.md large
track --all
delegate docs/prd.md --to agent:dev
checkpoint docs/prd.md
session end --session SESSION
lease take docs/prd.md
project
journal compact
manifest write
sync apply
report page.html
hook install
doctor --repair
task claim --agent w1
task add Two --id t2 --after t1
import coordination other.json
coordination convert --to B
""".strip().splitlines()
]

passed = failed = 0


def environment(folder):
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder / "home"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "NO_COLOR": "1",
        "STEPMARK_SESSION": "",
        **{f"GIT_{role}_{key}": "ada@localhost" for role in ["AUTHOR", "COMMITTER"] for key in ["NAME", "EMAIL"]},
    }


def run(project, arguments, prefix=()):
    return subprocess.run(
        [*prefix, STEPMARK, *arguments], cwd=project, env=environment(project.parent), capture_output=True, text=True,
        stdin=subprocess.DEVNULL,
    )


def with_fault(project, line, inject):
    """Runs a command, and tells whether the fault came to pass."""
    log = project.parent / "strace.log"
    done = run(project, ["--json", *line], ["strace", "-f", "-qq", "-o", str(log), "-e", f"inject={inject}"])
    return done, "INJECTED" in log.read_text() or done.returncode in (-9, 137)


def events(project):
    return {event["id"] for event in json.loads(run(project, ["log", "--json"]).stdout)["events"]}


def contents(project):
    return {name: (project / name).read_bytes() if (project / name).exists() else None for name in [PRD, STORY, SPRINT]}


def check(what, holds, detail=""):
    global passed, failed
    passed, failed = passed + bool(holds), failed + (not holds)
    if not holds:
        print(f"FAIL {what}\n{detail}", flush=True)


def is_behind(done):
    """A ledger that cannot be changed with its story is left as it is, and said (docs/reliability.md)."""
    return "a ledger stays behind" in done.stdout


def says_truly(what, project, line, done, old, new):
    """Whether the change was made, as the exit code and the error say."""
    check(f"{what}: no panic", "panicked" not in done.stderr and done.returncode in range(9), done)
    if line[0] in SEVERAL:
        return
    found = contents(project)
    if done.returncode == 0:
        wanted = {**new, SPRINT: old[SPRINT]} if is_behind(done) else new
        return check(f"{what}: what is acknowledged is there", found == wanted, (found, done))
    last = (done.stderr.strip().splitlines() or [""])[-1]
    try:
        state = json.loads(last)["write_state"]
    except (ValueError, KeyError):
        return check(f"{what}: an error in JSON", False, done)
    if state == "unknown":
        check(f"{what}: the next command finishes it", run(project, ["doctor", "--repair"]).returncode in (0, 1))
        found = contents(project)
        return check(f"{what}: finished or given back whole", found in (old, new), (found, done))
    if state is None and "only the answer is lost" in last:
        state = "written"
    check(f"{what}: {state} is true", found == (new if state == "written" else old), (found, done))


def judge(what, project, acknowledged, old, new, done):
    found = contents(project)
    for name in found:
        allowed = {old[name], new[name]}
        # An automatic id is another one each time.
        is_same = found[name] in allowed or b"stepmark_id" in (found[name] or b"")
        check(f"{what}: {name} is old or new", is_same, found[name])
    repaired = run(project, ["doctor", "--repair"])
    check(f"{what}: doctor --repair", repaired.returncode in (0, 1), repaired)
    found = contents(project)
    both = {found[STORY] == old[STORY], found[SPRINT] == old[SPRINT]} if old[SPRINT] != new[SPRINT] else {True}
    check(f"{what}: a story and its ledger agree after the repair", len(both) == 1 or is_behind(done), found)
    check(f"{what}: what was acknowledged is there", acknowledged <= events(project))
    followed = run(project, ["coordination", "project", "--json"])
    check(f"{what}: the files of tasks follow, and nothing in them is told as changed by others", followed.returncode == 0, followed)
    check(f"{what}: they say what the records say", in_file(project) == in_records(project), (in_file(project), in_records(project)))
    replayed = run(project, ["replay", "--verify"])
    check(f"{what}: history explains everything", replayed.returncode == 0, replayed)
    again = run(project, ["set", PRD, "after=kill"])
    # The lease that was being taken may be held: its holder is gone, but its time is not over.
    check(f"{what}: the next command works", again.returncode in ((0, 3) if "lease" in what else (0,)), again)
    if what.split()[0] in ("task", "import", "coordination"):
        # What was left beside a file that follows, or the configuration, goes with the next command that writes that file.
        run(project, ["task", "add", "After"])
        run(project, ["coordination", "convert", "--to", "C"])
    left = [path for path in project.rglob(".stepmark-*.tmp")]
    check(f"{what}: no temporary file is left", not left, left)


def in_file(project):
    """The status and the holder of each task, in the file that follows."""
    for name in ["tasks.json", "mcp-state.json"]:
        path = project / ".coordination" / name
        if path.exists():
            return {task["id"]: (task["status"], task.get("claimed_by")) for task in json.loads(path.read_text())["tasks"]}
    return None


def in_records(project):
    tasks = json.loads(run(project, ["task", "list", "--json"]).stdout)["tasks"]
    return {task["id"]: (task["status"], task.get("claimed_by")) for task in tasks}


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder).resolve()
        (folder / "home").mkdir()
        template, project = folder / "template", folder / "project"
        for name, text in PROJECT.items():
            (template / name).parent.mkdir(parents=True, exist_ok=True)
            (template / name).write_text(text)
        for line in [["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]]:
            subprocess.run(["git", *line], cwd=template, env=environment(folder), check=True, capture_output=True)
        session = None
        for line in BEFORE:
            done = run(template, line)
            assert done.returncode == 0, done
            session = session or next(iter(re.findall(r"s-\d+-\d+-[0-9a-f]+", done.stdout)), None)
        acknowledged, old = events(template), contents(template)
        total = 0
        for line in COMMANDS:
            line = [session if word == "SESSION" else word for word in line]
            shutil.copytree(template, project, symlinks=True)
            whole = run(project, line)
            assert whole.returncode in (0, 1), whole
            new = contents(project)
            shutil.rmtree(project)
            count = 0
            for calls, outcome in FAULTS:
                for occurrence in itertools.count(1, STRIDE):
                    shutil.copytree(template, project, symlinks=True)
                    done, happened = with_fault(project, line, f"{calls}:{outcome}:when={occurrence}")
                    what = f"{' '.join(line)} with {outcome} at {occurrence} of {calls}"
                    is_loaded = not (done.returncode == 127 and "shared libraries" in done.stderr)
                    if is_loaded and happened and "error" in outcome:
                        says_truly(what, project, line, done, old, new)
                    if is_loaded and happened:
                        judge(what, project, acknowledged, old, new, done)
                    shutil.rmtree(project)
                    if not happened:
                        break
                    count += 1
            total += count
            print(f"{' '.join(line):50} {count} faults", flush=True)
    print(f"{total} faults")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
