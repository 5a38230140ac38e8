#!/usr/bin/env python3
"""The journal under the real `pre-commit` (PyPI), which sets unstaged changes aside while hooks run.

Usage: run.py STEPMARK_BINARY. Installs pre-commit into a virtual environment, where STEPMARK_TOOLS names no folder that has it, and commits in a repository whose artifacts
stepmark changes: staged and unstaged, in sessions and outside of them, with a hook that fails and one that rewrites files.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import venv

STEPMARK = pathlib.Path(sys.argv[1]).resolve()
TOOLS = pathlib.Path(__file__).resolve().parents[1] / "hook/tools.txt"
PRD = "docs/prd.md"
UX = "docs/ux.md"
CONFIGURATION = """\
repos:
  - repo: local
    hooks:
      - id: look
        name: stepmark reads only
        entry: sh -c '"$STEPMARK" status --quiet && "$STEPMARK" replay --verify --quiet || true'
        language: system
        pass_filenames: false
      - id: rewrite
        name: a formatter
        entry: sh -c 'for file in "$@"; do test -e REWRITE && printf "formatted\\n" >> "$file"; done; rm -f REWRITE' --
        language: system
        files: '\\.md$'
"""
passed = failed = 0


def check(what, holds, detail=""):
    global passed, failed
    passed, failed = passed + bool(holds), failed + (not holds)
    print(f"ok   {what}" if holds else f"FAIL {what}\n     {detail}")


class Repository:
    def __init__(self, folder, tools):
        self.folder = folder
        self.environment = {
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder.parent),
            "STEPMARK": str(STEPMARK),
            "STEPMARK_ACTOR": "agent:tester",
            "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org",
            "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org",
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def run(self, *command, expect=0, session=None):
        environment = dict(self.environment, **({"STEPMARK_SESSION": session} if session else {}))
        done = subprocess.run(
            [str(part) for part in command], cwd=self.folder, env=environment, capture_output=True, text=True,
            stdin=subprocess.DEVNULL,
        )
        if expect is not None and done.returncode != expect:
            sys.exit(f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
        return done

    def git(self, *arguments, expect=0):
        return self.run("git", *arguments, expect=expect)

    def stepmark(self, *arguments, expect=0, session=None):
        return self.run(STEPMARK, *arguments, expect=expect, session=session)

    def write(self, path, text):
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    def read(self, path):
        return (self.folder / path).read_text()

    def is_explained(self):
        """Every artifact stands in a state that history knows, and no segment is damaged."""
        done = self.stepmark("replay", "--verify", "--json", expect=None)
        return done.returncode == 0, done.stdout

    def changes(self):
        return self.git("status", "--porcelain").stdout


def live(repository):
    return {path.name: path.read_bytes() for path in (repository.folder / ".stepmark/local/journal").glob("*.jsonl")}


def session(repository, *steps):
    name = json.loads(repository.stepmark("session", "start", "--json").stdout)["session"]
    for step in steps:
        repository.stepmark("complete", PRD, step, session=name)
    repository.stepmark("session", "end", session=name)


def installed(environment):
    """The folder of pre-commit."""
    if "STEPMARK_TOOLS" in os.environ:
        return pathlib.Path(os.environ["STEPMARK_TOOLS"]).resolve()
    venv.create(environment, with_pip=True)
    subprocess.run([environment / "bin/pip", "install", "--quiet", "--requirement", TOOLS], check=True)
    return environment / "bin"


def main(folder):
    tools = installed(folder / "tools")
    project = folder / "project"
    project.mkdir()
    repository = Repository(project, tools)
    repository.git("init", "--quiet", "--initial-branch", "main")
    repository.stepmark("init", "--root", ".")
    repository.write(".pre-commit-config.yaml", CONFIGURATION)
    for artifact in [PRD, UX]:
        repository.write(artifact, "---\nstepsCompleted: []\n---\n# Text\n")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "--message", "A project")
    repository.run("pre-commit", "install")

    session(repository, "step-01-init")
    repository.git("add", "--all")
    done = repository.git("commit", "--message", "A session", expect=None)
    check("a commit with a sealed segment passes the hooks", done.returncode == 0, done.stderr)
    check("nothing is left over", repository.changes() == "", repository.changes())

    repository.stepmark("complete", PRD, "step-02-discovery")
    repository.stepmark("complete", UX, "step-01-init")
    before, journal = repository.read(PRD), live(repository)
    repository.git("add", UX)
    done = repository.git("commit", "--message", "One of two artifacts", expect=None)
    check("a commit beside unstaged changes passes the hooks", done.returncode == 0, done.stderr)
    check("pre-commit set the unstaged change aside", "Restored changes" in done.stderr, done.stderr)
    check("the unstaged artifact is back", repository.read(PRD) == before)
    check("hooks wrote no history", live(repository) == journal)
    check("history explains every state", *repository.is_explained())

    session(repository, "step-03-success")
    segments = repository.git("status", "--porcelain", ".stepmark/journal").stdout
    repository.write("REWRITE", "")
    repository.git("add", PRD)
    done = repository.git("commit", "--message", "A formatter changes it", expect=None)
    check("a hook that rewrites stops the commit", done.returncode == 1, done.stdout)
    left = repository.git("status", "--porcelain", ".stepmark/journal").stdout
    check("sealed segments are as they were", left == segments, left)
    check("what the formatter did to the body is no change of state", *repository.is_explained())
    repository.git("add", "--all")
    done = repository.git("commit", "--message", "All of it", expect=None)
    check("the next commit passes", done.returncode == 0, done.stderr)

    repository.stepmark("complete", PRD, "step-04-journeys")
    repository.git("stash")
    check("after a stash the artifact is in an earlier state", *repository.is_explained())
    repository.git("stash", "pop")
    check("after the stash came back it is current", *repository.is_explained())
    repository.stepmark("complete", PRD, "step-05-domain")
    log = json.loads(repository.stepmark("log", PRD, "--json").stdout)
    kinds = [event["kind"] for event in log["events"]]
    check("none of this counts as an edit by other means", "external-edit" not in kinds, kinds)

    print(f"pre-commit: {passed} passed, {failed} failed")
    return failed == 0


with tempfile.TemporaryDirectory() as temporary:
    sys.exit(0 if main(pathlib.Path(temporary).resolve()) else 1)
