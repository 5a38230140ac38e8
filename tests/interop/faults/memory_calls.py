#!/usr/bin/env python3
"""Commands of memory, killed (`kill -9`) at each of their system calls, one after the other. What was told is there once when the command
is given again, a session has one summary, a store is given each memory once, and a store that is made anew says the same.

Usage: memory_calls.py STEPMARK_BINARY
"""

import json
import os
import pathlib

from killing import leftovers, run, sweep, works

SESSION = json.dumps({"session_id": "s1"})
ANSWER = json.dumps({"session_id": "s1", "last_assistant_message": "Decision: use rust because it is fast\nLearned: the port is taken\n"})
KILLED = {
    "remember": ["memory", "remember", "handlers return problem+json", "--kind", "pattern"],
    "post-delegation": ["memory", "hook", "post-delegation"],
    "session-end": ["memory", "hook", "session-end"],
    "sync": ["memory", "sync"],
}
GIVEN = {"post-delegation": ANSWER, "session-end": SESSION}
# The program of a store: what it is given is a line of a file where it runs. Its source is the word behind `--source`.
PROGRAM = """#!/bin/sh
case "$*" in
*' store '*) echo "$*" >> given ;;
*' recent '*)
    [ -f given ] || { echo 'No memories found'; exit 0; }
    printf '{"memories": ['
    comma=
    while read -r line; do
        rest=${line#*--source }
        printf '%s{"source": "%s"}' "$comma" "${rest%% *}"
        comma=,
    done < given
    echo ']}' ;;
esac
"""


def records(project, *more):
    return json.loads(works(project, "memory", "recall", "--all", "--limit", "100", "--json", *more).stdout)["memories"]


def same(project):
    """The records with all that they say but how near the answer is to now."""
    return sorted(json.dumps({key: record[key] for key in ("id", "kind", "content", "source")}) for record in records(project))


def given_again(project, name):
    told = [record["content"] for record in records(project)]
    if name != "remember" or "handlers return problem+json" not in told:
        done = run(project, *KILLED[name], given=GIVEN.get(name, ""))
        return [] if done.returncode == 0 else [("it fails when it is given again", done)]
    return []


def problems(project, name):
    found = given_again(project, name)
    told = [record["content"] for record in records(project)]
    wanted = {"remember": ["handlers return problem+json"], "post-delegation": ["use rust", "the port is taken"]}.get(name, [])
    for content in [*wanted, "the clock is in UTC"]:
        if told.count(content) != 1:
            found.append(("told another number of times than once", (content, told)))
    if name == "session-end" and sum(text.startswith("Session s1") for text in told) != 1:
        found.append(("the session has no summary, or two", told))
    if name == "sync":
        given = next(project.rglob("given")).read_text().splitlines()
        sources = [line.split("--source ")[1].split()[0] for line in given]
        if len(sources) != 2 or len(set(sources)) != 2:
            found.append(("the store was given a memory twice, or not at all", sources))
        if run(project, "memory", "sync").stdout.strip() != "kuzu  0 units given, 2 there":
            found.append(("the store is not as it should be", run(project, "memory", "status")))
    before = same(project)
    works(project, "memory", "rebuild")
    if same(project) != before:
        found.append(("a store that is made anew says something else", (before, same(project))))
    return found + leftovers(project)


def prepare(project, name):
    works(project, "init")
    (project / "prd.md").write_text("---\nid: PRD\nstatus: draft\n---\n# PRD\n")
    if name == "sync":
        with (project / ".stepmark/config.yaml").open("a") as configuration:
            configuration.write("memory: {stores: {kuzu: {kind: kuzu-memory}}}\n")
    works(project, "--session", "s1", "memory", "remember", "the clock is in UTC", "--kind", "error")
    works(project, "--session", "s1", "memory", "decide", "Which store?", "--chosen", "SQLite", "--because", "small")
    works(project, "--session", "s1", "set", "prd.md", "status=review")


def program():
    """Puts the program of a store in front of the search path."""
    folder = pathlib.Path("target/memory-calls").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kuzu-memory").write_text(PROGRAM)
    (folder / "kuzu-memory").chmod(0o755)
    os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"


program()
sweep(KILLED, prepare, problems, GIVEN, least=10)
