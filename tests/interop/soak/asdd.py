#!/usr/bin/env python3
"""Slices of ASDD, as many agents at once for a time: they lead slices through phases, get in each other's way, are unsure, and a tech lead
lets go on what was blocked. At the end every move of a phase is explained by an event, and the manifest says what the slices say.

Usage: asdd.py STEPMARK_BINARY SECONDS [SLICES], 92 slices without a number
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

STEPMARK = str(pathlib.Path(sys.argv[1]).resolve())
SECONDS, SLICES = float(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 92
TECH_LEAD = ["--actor", "human:Ada"]
# Each phase with the agent that leads out of it, the phase behind it, and the files that this wants.
PHASES = {
    "DISCOVERY": ("discovery", "SPEC", ["intent"]),
    "SPEC": ("spec", "VALIDATION", ["requirements"]),
    "VALIDATION": ("validation", "DESIGN", []),
    "DESIGN": ("design", "IMPLEMENTATION", ["design", "domain_model"]),
    "IMPLEMENTATION": ("implementation", "CI_CD", ["tasks"]),
    "CI_CD": ("qa", "OBSERVABILITY", []),
    "OBSERVABILITY": ("observability", "DONE", []),
}
# What stepmark keeps for itself in a slice.
OWN = ("accepted", "approval")
CHANGED, REFUSED, OUTDATED = 0, 1, 3
codes = collections.Counter()


def run(project, *arguments, counted=True):
    environment = {"PATH": os.environ["PATH"], "HOME": str(project), "NO_COLOR": "1", "RAYON_NUM_THREADS": "1"}
    done = subprocess.run([STEPMARK, *arguments], cwd=project, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if counted:
        codes[" ".join(arguments[:2]) if arguments[0] == "asdd" else "tech lead", done.returncode] += 1
    if done.returncode not in (CHANGED, REFUSED, OUTDATED):
        raise SystemExit(f"{arguments}: {done}")
    return done


def shown(project, name):
    return json.loads(run(project, "asdd", "show", name, "--json", counted=False).stdout)["slice"]


def one_step(project, name, draw):
    """What an agent does with the slice as it finds it."""
    slice_now = shown(project, name)
    now = slice_now["status"]
    if now == "BLOCKED":
        run(project, *TECH_LEAD, "asdd", "unblock", name)
        return
    if now not in PHASES:
        return
    agent, to, files = PHASES[now]
    run(project, "asdd", "begin", name, "--agent", agent)
    line = ["asdd", "propose", name, "--agent", agent]
    kind = draw.random()
    if kind < 0.1:
        line += ["--score", "0.3", "--uncertainty", "all of it"]
    elif kind < 0.3:
        line += ["--set", f"name=Name {draw.randrange(1000)}"]
    else:
        for key in files:
            path = f".asdd/specs/{name}/{key}.md"
            (project / path).parent.mkdir(parents=True, exist_ok=True)
            (project / path).write_text(f"# {key} of {name}\n")
            line += ["--file", f"{key}={path}"]
        trace = f".asdd/traces/{name}-{agent}.md"
        (project / trace).write_text("# Why\n")
        line += ["--to", to, "--trace", trace]
        # An agent stands in the chain once, also where the slice fell back to its phase.
        if agent not in [entry["agent"] for entry in slice_now["confidence_chain"]]:
            line += ["--score", "0.97"]
    run(project, *line)


def work(project, number, until):
    draw = random.Random(number)
    while time.monotonic() < until:
        # Now and then another agent's slice.
        other = draw.randrange(SLICES) if draw.random() < 0.2 else number
        one_step(project, f"SLICE-{other + 1:03}", draw)


def complaints(project):
    manifest = json.loads((project / ".asdd/state/manifest.json").read_text())
    by_id = {own["slice_id"]: own for own in manifest["slices"]}
    moves = 0
    for number in range(SLICES):
        name = f"SLICE-{number + 1:03}"
        now = shown(project, name)
        if {key: value for key, value in now.items() if key not in OWN} != by_id.get(name):
            yield f"{name}: the manifest says {by_id.get(name)}, the slice {now}"
        events = json.loads(run(project, "log", f".asdd/slices/{name}.md", "--json", "--limit", "100000", counted=False).stdout)["events"]
        status = None
        for event in reversed(events):
            for change in event.get("changes", []):
                if change["path"] == ["status"]:
                    moves += 1
                    status = change.get("new", status)
        if status != now["status"] and not (status is None and now["status"] == "DISCOVERY"):
            yield f"{name}: its events lead to {status}, and it is {now['status']}"
    replayed = run(project, "replay", "--verify", counted=False)
    if replayed.returncode != 0:
        yield f"history does not explain the records: {replayed.stdout}"
    proposals = json.loads(run(project, "asdd", "proposals", "--all", "--json", counted=False).stdout)["proposals"]
    verdicts = collections.Counter(own["verdict"] for own in proposals)
    made = sum(count for (command, code), count in codes.items() if command == "asdd propose" and code == CHANGED)
    if verdicts["committed"] != made:
        yield f"{made} proposals were committed, and {verdicts['committed']} say so"
    if verdicts["pending"]:
        yield f"{verdicts['pending']} proposals wait though each slice takes them at once"
    print(f"{moves} moves of phases; proposals: {dict(verdicts)}")


def main():
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(SLICES) as pool:
        project = pathlib.Path(folder).resolve()
        run(project, "asdd", "init")
        (project / ".asdd/traces").mkdir(parents=True)
        for number in range(SLICES):
            run(project, "asdd", "add", f"Slice {number}")
            run(project, "set", f".asdd/slices/SLICE-{number + 1:03}.md", "governance_mode=AUTO", "--force", "--reason", "agents run by themselves")
        codes.clear()
        until = time.monotonic() + SECONDS
        for done in [pool.submit(work, project, number, until) for number in range(SLICES)]:
            done.result()
        for (command, code), count in sorted(codes.items()):
            print(f"{command:16} ended with {code}: {count}")
        found = list(complaints(project))
        print(*found, sep="\n", end="\n" if found else "")
        print(f"{len(found)} complaints")
        sys.exit(bool(found))


main()
