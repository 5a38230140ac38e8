#!/usr/bin/env python3
"""Every command that writes, killed with `kill -9` at its system calls (strace): afterwards nothing is torn, what another command had
acknowledged is still there, the project can be repaired and worked on, and history explains every artifact.

Usage: run.py STEPMARK_BINARY [STRIDE]: each STRIDEth call of a kind, 1 for all of them.
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
STRIDE = int(sys.argv[2]) if len(sys.argv) > 2 else 20
PRD, STORY, SPRINT = "docs/prd.md", "docs/1-1-login.md", "docs/sprint-status.yaml"
TIME = "2026-11-22T10:00:00Z"
PROJECT = {
    PRD: "---\nid: PRD-1\nstepsCompleted: [1]   # begun\nstatus: draft\n---\n\n# PRD\n",
    STORY: "---\nid: S-1\nstatus: ready-for-dev\n---\n\n# Story\n\nStatus: ready-for-dev\n",
    SPRINT: "development_status:\n  epic-1: backlog\n  1-1-login: ready-for-dev\n",
    "docs/notes.md": "---\nstatus: draft\n---\n",
    ".stepmark/config.yaml": (
        "project_id: 0123456789abcdef\nartifacts:\n  include: ['docs/**/*.md']\ncheckpoints: {every: 1}\n"
        "trackers:\n  log: {kind: file, path: tickets.jsonl}\n"
    ),
}
# What was acknowledged before the command that is killed.
BEFORE = [["complete", PRD, "2"], ["session", "start", "--name", "Night"], ["checkpoint", PRD], ["set", PRD, "owner=Ada"]]
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


def events(project):
    return {event["id"] for event in json.loads(run(project, ["log", "--json"]).stdout)["events"]}


def contents(project):
    return {name: (project / name).read_bytes() if (project / name).exists() else None for name in [PRD, STORY, SPRINT]}


def check(what, holds, detail=""):
    global passed, failed
    passed, failed = passed + bool(holds), failed + (not holds)
    if not holds:
        print(f"FAIL {what}\n{detail}", flush=True)


def judge(what, project, acknowledged, old, new):
    found = contents(project)
    for name in found:
        allowed = {old[name], new[name]}
        # An automatic id is another one each time.
        is_same = found[name] in allowed or b"stepmark_id" in (found[name] or b"")
        check(f"{what}: {name} is old or new", is_same, found[name])
    story, sprint = found[STORY], found[SPRINT]
    both = (story == old[STORY], sprint == old[SPRINT])
    repaired = run(project, ["doctor", "--repair"])
    check(f"{what}: doctor --repair", repaired.returncode in (0, 1), repaired)
    found = contents(project)
    both = {found[STORY] == old[STORY], found[SPRINT] == old[SPRINT]} if old[SPRINT] != new[SPRINT] else {True}
    check(f"{what}: a story and its ledger agree after the repair", len(both) == 1, found)
    check(f"{what}: what was acknowledged is there", acknowledged <= events(project))
    replayed = run(project, ["replay", "--verify"])
    check(f"{what}: history explains everything", replayed.returncode == 0, replayed)
    again = run(project, ["set", PRD, "after=kill"])
    # The lease that was being taken may be held: its holder is gone, but its time is not over.
    check(f"{what}: the next command works", again.returncode in ((0, 3) if "lease" in what else (0,)), again)
    left = [path for path in project.rglob(".stepmark-*.tmp")]
    check(f"{what}: no temporary file is left", not left, left)


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
            kills = 0
            # The calls are counted by their kinds: so this ends where no kind is made so often.
            for occurrence in itertools.count(1, STRIDE):
                shutil.copytree(template, project, symlinks=True)
                inject = f"inject=all:signal=KILL:when={occurrence}"
                done = run(project, line, ["strace", "-f", "-qq", "-o", "/dev/null", "-e", inject])
                judge(f"{' '.join(line)} killed at {occurrence}", project, acknowledged, old, new)
                shutil.rmtree(project)
                if done.returncode in (0, 1):
                    break
                kills += 1
            total += kills
            print(f"{' '.join(line):50} {kills} kills", flush=True)
    print(f"{total} kills")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
