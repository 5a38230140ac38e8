#!/usr/bin/env python3
"""Tickets of ASDD, flows and coordination on a GitHub that others wrote (npm `emulate` 0.12.2).

Usage: systems.py STEPMARK_BINARY. A project has two slices, a flow of three tasks, and three tasks of
coordination, two of them below the first. The reply to each creation is lost once; then the work moves on.
The emulator has no sub-issues: what is checked is what is to hang where, and that stepmark goes on without.
"""

import pathlib
import shlex
import tempfile

from emulator import Emulator
from project import Project, names
from proxy import Proxy
from template import check, finish, markers

GRAPH = """{id: lamp, tasks: [{id: cut, title: Cut the wire},
  {id: solder, title: Solder it, depends_on: [cut]}, {id: hang, title: Hang it up, depends_on: [solder]}]}"""
BEGIN = """asdd init; asdd add "Sign in"; asdd quick "Mend a typo"; coordination init --goal Light;
  flow graph create graph.yaml; flow create lamp --id hall; flow start hall;
  task add "Light the stairs" --id stairs; task add "Buy bulbs" --id bulbs; set bulbs parent_id=stairs;
  task add "Find a ladder" --id ladder; set ladder parent_id=stairs"""
# By id: title, status, and what it hangs below. A graph and the project of ASDD are no work.
FIRST = {
    "SLICE-001": ("Sign in", "DISCOVERY", None), "SLICE-002": ("Mend a typo", "QUICK_FIX", None),
    "hall": ("hall", "RUNNING", None), "hall.cut": ("Cut the wire", "PENDING", "hall"),
    "hall.solder": ("Solder it", "PENDING", "hall"), "hall.hang": ("Hang it up", "PENDING", "hall"),
    "stairs": ("Light the stairs", "available", None), "bulbs": ("Buy bulbs", "available", "stairs"),
    "ladder": ("Find a ladder", "available", "stairs"),
}
MOVE = """asdd begin SLICE-001 --agent discovery; asdd propose SLICE-001 --agent discovery --to SPEC
    --file intent=graph.yaml --score 0.96 --trace t-discovery.md; asdd approve SLICE-001 SPEC;
  asdd begin SLICE-002 --agent dev; asdd propose SLICE-002 --agent dev --to DONE; asdd approve SLICE-002 DONE;
  flow next hall cut --claim --agent w; flow attempt end hall cut --agent w;
  task claim bulbs --agent w; task start bulbs --agent w; task done bulbs --agent w; task cancel ladder;
  flow verify hall cut --decision pass; flow next hall solder --claim --agent w"""
MOVED = {
    "SLICE-001": ("SPEC", "open", None), "SLICE-002": ("DONE", "closed", "completed"),
    "hall.cut": ("SUCCESS", "closed", "completed"), "hall.solder": ("RUNNING", "open", None),
    "bulbs": ("done", "closed", "completed"), "ladder": ("cancelled", "closed", "not_planned"),
}


def by_id(project, emulator):
    """The ticket of each artifact, by the id in its marker, in the order of numbers."""
    issues = emulator.issues(project.repository)
    check("no artifact has two tickets", set(markers(issues).values()) == {1}, markers(issues))
    return {issue["body"].split("/id:")[1].split()[0]: issue for issue in issues.values()}


def check_ticket(own, issue, status, state="open", reason=None):
    seen = (issue["title"], issue["state"], issue["state_reason"], names(issue))
    wanted = (FIRST[own][0], state, reason, [f"status:{status}", "stepmark"])
    check(f"{own} is {status}", seen == wanted and f"**Status:** `{status}`" in issue["body"], issue)


def ada(project, commands):
    for command in commands.split(";"):
        project.run("--actor", "human:Ada", *shlex.split(command))


def first_sync(project, emulator, proxy):
    artifact = lambda marker: marker and marker.split("/id:")[1]
    tickets = [action["ticket"] for action in project.json("sync", "plan")["actions"]]
    parents = {artifact(ticket["marker"]): artifact(ticket["parent"]) for ticket in tickets}
    is_wanted = parents == {own: parent for own, (*_, parent) in FIRST.items()}
    check("executions are to hang below their flow, tasks below their parent", is_wanted, parents)
    project.sync("apply")
    moves, issues = [line for line in proxy.take() if "sub_issue" in line], by_id(project, emulator)
    check("each slice, flow, execution and task has a ticket", set(issues) == set(FIRST), list(issues))
    for own, (_, status, _) in FIRST.items():
        check_ticket(own, issues[own], status)
    number = lambda own: issues[own]["number"]
    late = [own for own, parent in parents.items() if parent and number(own) < number(parent)]
    check("parents are made first", late == [], late)
    lists = [f"/repos/{project.repository}/issues/{number(own)}/sub_issues" for own in ("hall", "stairs")]
    check("the emulator has no sub-issues", {emulator.ask("GET", path)[0] for path in lists} == {404}, lists)
    check("stepmark tries that once and goes on", moves in [[f"POST {path}"] for path in lists], moves)
    check("then nothing is left to do", project.sync("apply").stdout == "0 actions, 0 requests\n")
    return issues


def moves_on(project, emulator, before):
    ada(project, MOVE)
    for own in project.json("asdd", "proposals")["proposals"]:
        project.run("--actor", "agent:knowledge", "asdd", "commit", own["proposal_id"])
    project.sync("apply")
    after = by_id(project, emulator)
    check("the same tickets are there, and none is made", list(before) == list(after), list(after))
    for own, wanted in MOVED.items():
        check_ticket(own, after[own], *wanted)
    changed = [own for own in FIRST if before[own] != after[own]]
    check("no other is changed", changed == list(MOVED), changed)


def loses_reply(project, emulator, proxy, at):
    """The emulator makes the ticket, and stepmark never hears of it."""
    create = f"POST /repos/{project.repository}/issues"
    proxy.after = lambda to: proxy.asked[to - 1] == create and proxy.asked[:to].count(create) == at
    said = project.sync("apply", expect=None).stdout
    proxy.after = None
    project.sync("apply")
    creations, issues = proxy.take().count(create), by_id(project, emulator)
    whole = set(issues) == set(FIRST) and creations == len(FIRST) and "found" in said
    check(f"the reply to creation {at} is lost, and the ticket found", whole, said)


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    config = folder / "template/.stepmark/config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("project_id: lamps\nasdd: {}\nflows: {}\ncoordination: {}\n")
    emulator = Emulator(folder)
    try:
        proxy = Proxy(emulator.port)
        project = Project(folder / "template", folder / "project", proxy.port, emulator.repository())
        project.write("graph.yaml", GRAPH)
        project.write("t-discovery.md", "# Why\n")
        ada(project, BEGIN)
        for at in range(1, len(FIRST) + 1):
            copy = Project(project.folder, folder / f"lost-{at}", proxy.port, emulator.repository())
            loses_reply(copy, emulator, proxy, at)
        moves_on(project, emulator, first_sync(project, emulator, proxy))
    finally:
        emulator.process.terminate()
        emulator.process.wait()

finish()
