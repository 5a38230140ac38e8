#!/usr/bin/env python3
"""Commands of ASDD, killed (`kill -9`) at each of their system calls, one after the other. The slice is as before or as after, the command
that comes next repairs the manifest, no proposal is lost or committed twice, and a failure has one row.

Usage: asdd_calls.py STEPMARK_BINARY
"""

import json

from killing import leftovers, run, sweep, works

CUSTODIAN = ["--actor", "agent:knowledge"]
SLICE, MANIFEST, LOG = ".asdd/slices/SLICE-001.md", ".asdd/state/manifest.json", "docs/agent-failure-log.md"
BEGIN = ["asdd", "begin", "SLICE-001", "--agent", "discovery"]
PROPOSE = ["asdd", "propose", "SLICE-001", "--agent", "discovery", "--set", "name=Other"]
FAIL = ["asdd", "fail", "SLICE-001", "--agent", "discovery", "--score", "0.5", "--uncertainty", "load"]
# Commands that are killed; {id} is the proposal that waits.
KILLED = {"propose": PROPOSE, "commit": [*CUSTODIAN, "asdd", "commit", "{id}"], "fail": FAIL}


def slice_of(project):
    return json.loads(works(project, "asdd", "show", "SLICE-001", "--json").stdout)["slice"]


def proposals(project):
    return json.loads(works(project, "asdd", "proposals", "--all", "--json").stdout)["proposals"]


def again(project, name):
    """Makes the command again where it has not happened. One that was cut off behind its commit is finished first, and then refused."""
    if name == "propose" and not proposals(project):
        works(project, *PROPOSE)
    if name == "commit":
        for own in proposals(project):
            if own["verdict"] == "pending":
                run(project, *CUSTODIAN, "asdd", "commit", own["proposal_id"])
    if name == "fail" and slice_of(project)["status"] != "BLOCKED":
        run(project, *FAIL)


def problems(project, name):
    """What is wrong after a kill."""
    found = []
    told = slice_of(project)
    if (told["name"], told["status"]) not in {"propose": [("One", "DISCOVERY")], "commit": [("One", "DISCOVERY"), ("Other", "DISCOVERY")],
                                              "fail": [("One", "DISCOVERY"), ("One", "BLOCKED")]}[name]:
        found.append(("the slice is neither old nor new", told))
    again(project, name)
    works(project, "asdd", "add", "Another")
    manifest = json.loads((project / MANIFEST).read_text())
    shown = slice_of(project)
    if any(manifest["slices"][0][key] != shown[key] for key in ("name", "status", "blockers")):
        found.append(("the manifest does not say what the slice says", (manifest, shown)))
    all_proposals = proposals(project)
    if name != "fail" and len(all_proposals) != 1:
        found.append(("a proposal is lost or doubled", all_proposals))
    if name == "commit" and (shown["name"], all_proposals[0]["verdict"]) != ("Other", "committed"):
        found.append(("a proposal is not what its slice says", (shown, all_proposals)))
    if name == "fail" and shown["status"] != "BLOCKED":
        found.append(("it does not fail when it is told again", shown))
    events = run(project, "log", SLICE, "--json").stdout
    if events.count('"asdd-commit"') != (name == "commit"):
        found.append(("it is committed another number of times", events))
    if name == "fail" and (project / LOG).read_text().count("| 0.5 |") != 1:
        found.append(("the failure has no row, or two", (project / LOG).read_text()))
    replayed = run(project, "replay", "--verify")
    if replayed.returncode != 0:
        found.append(("history does not explain it", replayed))
    return found + leftovers(project)


def prepare(project, name):
    works(project, "asdd", "init")
    works(project, "asdd", "add", "One")
    works(project, *BEGIN)
    if name == "commit":
        works(project, *PROPOSE)
        LINES["commit"][-1] = proposals(project)[0]["proposal_id"]


LINES = {name: [*line] for name, line in KILLED.items()}
sweep(LINES, prepare, problems)
