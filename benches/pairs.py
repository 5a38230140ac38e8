#!/usr/bin/env python3
"""Times two programs in turn, each in its own copy of a project. Usage: pairs.py OLD NEW BENCH [ARTIFACTS] [ROUNDS]

OLD and NEW are two builds of `stepmark`, BENCH is `stepmark-bench`, which makes the project; a second one has 500 tasks. Prints a
row a command: the medians of both, and the median of the ratio of each pair.
"""

import itertools
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

old, new, bench = (str(pathlib.Path(program).resolve()) for program in sys.argv[1:4])
artifacts, rounds = (int(text) for text in (sys.argv[4:] + ["10000", "25"][len(sys.argv) - 4 :])[:2])
environment = {**os.environ, "STEPMARK_ACTOR": "human:Ada", "NO_COLOR": "1"}
# Git packs nothing beside what is timed.
environment |= {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "gc.auto", "GIT_CONFIG_VALUE_0": "0"}
counter = itertools.count()


def timed(program, folder, arguments):
    arguments = [part.format(n=next(counter)) for part in arguments]
    start = time.perf_counter()
    subprocess.run([program, *arguments], cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def rows(folder, commands, first=""):
    """Prints the rows of `commands` in the project at FOLDER and in a copy of it."""
    copy = f"{folder}-copy"
    shutil.copytree(folder, copy, symlinks=True)
    for command in commands:
        sides = [(old, copy), (new, folder)]
        for side in sides * 3:
            timed(*side, command)
        times = {side: [] for side in sides}
        for number in range(rounds):
            for side in sides if number % 2 else reversed(sides):
                times[side].append(timed(*side, command))
        before, now = (times[side] for side in sides)
        ratio = statistics.median(one / other for one, other in zip(now, before))
        shown = " ".join(command).replace(first or "\0", "ARTIFACT").replace("{n}", "")
        print(f"| `{shown}` | {statistics.median(before) * 1000:.1f} ms | {statistics.median(now) * 1000:.1f} ms | {ratio:.2f} |")


with tempfile.TemporaryDirectory() as folder:
    documents, tasks = f"{folder}/documents", f"{folder}/tasks"
    subprocess.run([bench, "project", documents, str(artifacts)], env=environment, check=True, stdout=subprocess.DEVNULL)
    first = min(str(path.relative_to(documents)) for path in pathlib.Path(documents, "docs").rglob("prd-*.md"))
    print("| command | before | now | ratio |\n|---|---|---|---|")
    rows(documents, [["--version"], ["next", first], ["status"], ["list", "--where", "progress>50"], ["check"], ["check", "--staged"],
                     ["manifest", "verify"], ["query", "SELECT COUNT(*) FROM artifacts"], ["log", "--limit", "20"],
                     ["set", first, "owner=n{n}"]], first)
    pathlib.Path(tasks).mkdir()
    listed = [{"id": f"t{number:03}", "title": f"Task {number}", "status": "available", "dependencies": []} for number in range(500)]
    pathlib.Path(folder, "tasks.json").write_text(json.dumps({"tasks": listed}))
    for arguments in (["init"], ["import", "coordination", f"{folder}/tasks.json"]):
        subprocess.run([old, *arguments], cwd=tasks, env=environment, check=True, stdout=subprocess.DEVNULL)
    rows(tasks, [["task", "list"], ["check"], ["task", "claim", "--agent", "a{n}"]])
