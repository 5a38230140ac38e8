#!/usr/bin/env python3
"""Stores of other programs, the real ones: `kuzu-memory` and `ladybug` from PyPI, found on the search path. Each is given what stepmark
remembers, once, answers as the embedded store does, and is filled again when it was deleted. The graph is asked in Cypher by Python.

Usage: stores.py STEPMARK
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
STORES = "memory:\n  stores:\n    kuzu: {kind: kuzu-memory}\n    graph: {kind: ladybug}\n"
CYPHER = """
import ladybug, sys
connection = ladybug.Connection(ladybug.Database(sys.argv[1], read_only=True))
rows = connection.execute("MATCH (m:Node {memory: 'decision'})-[e:Edge {kind: 'decided-in'}]->(a:Node) RETURN m.content, a.label").get_all()
print(rows)
"""


def run(project, *arguments):
    environment = {**os.environ, "NO_COLOR": "1", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run([PROGRAM, *arguments], cwd=project, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (arguments, done)
    return done.stdout


def say(what):
    print(f"ok   {what}", flush=True)


def synced(project):
    stores = json.loads(run(project, "memory", "sync", "--json"))["stores"]
    return {store["store"]: (store["delivered"], store["held"]) for store in stores}


def main():
    with tempfile.TemporaryDirectory() as name:
        project = pathlib.Path(name)
        subprocess.run(["git", "init", "--quiet", project], check=True)
        run(project, "init")
        with (project / ".stepmark/config.yaml").open("a") as configuration:
            configuration.write(STORES)
        (project / "prd.md").write_text("---\nid: PRD-1\nstatus: draft\n---\n# PRD\n")
        run(project, "--session", "s1", "memory", "decide", "Which store?", "--chosen", "SQLite", "--because", "nothing to install",
            "--rejected", "Postgres", "--artifact", "prd.md")
        run(project, "--session", "s1", "memory", "remember", "The clock of the CI runs in UTC", "--kind", "error")
        run(project, "session", "end", "s1")
        first = synced(project)
        assert first["kuzu"] == (3, 0) and first["graph"][0] > 3 and first["graph"][1] == 0, first
        say("each is given what is remembered")
        assert synced(project) == {store: (0, given) for store, (given, _) in first.items()}
        say("and nothing twice")
        for store in ("kuzu", "graph"):
            found = json.loads(run(project, "memory", "recall", "which store SQLite", "--store", store, "--json"))["memories"]
            assert "Which store? SQLite" in [record["content"] for record in found], (store, found)
            say(f"{store} recalls the decision")
        database = next(project.rglob("graph.lbug"))
        told = subprocess.run(["python3", "-c", CYPHER, database], capture_output=True, text=True, check=True).stdout
        assert told.strip() == "[['Which store? SQLite', 'prd.md']]", told
        say("the graph answers in Cypher on which artifact the decision hangs")
        held = "import ladybug, sys; base = ladybug.Database(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
        with subprocess.Popen(["python3", "-c", held, database], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
            assert holder.stdout.readline() == "open\n"
            run(project, "memory", "remember", "told while the store was in use")
            busy = subprocess.run([PROGRAM, "memory", "sync", "--store", "graph"], cwd=project, capture_output=True, text=True)
            assert busy.returncode == 5 and "lock" in busy.stdout, busy
            holder.stdin.close()
        run(project, "memory", "sync", "--again")
        first = {store: (held, 0) for store, (_, held) in synced(project).items()}
        found = json.loads(run(project, "memory", "recall", "while in use", "--store", "graph", "--json"))["memories"]
        assert found[0]["content"] == "told while the store was in use", found
        say("a store that is in use is told, and nothing is lost")
        shutil.rmtree(next(project.rglob("memories.db")).parent)
        database.write_bytes(b"no database")
        failed = subprocess.run([PROGRAM, "memory", "sync", "--store", "graph"], cwd=project, capture_output=True, text=True)
        assert failed.returncode == 5 and "Ladybug" in failed.stdout, failed
        say("a damaged store is told")
        for file in database.parent.glob("graph.lbug*"):
            file.unlink()
        assert synced(project)["kuzu"] == first["kuzu"]
        run(project, "memory", "sync", "--again")
        assert synced(project) == {store: (0, given) for store, (given, _) in first.items()}
        say("stores that were deleted are filled again")


main()
