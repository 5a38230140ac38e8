"""A BMAD project to begin with, and what is counted."""

import os
import shutil
import subprocess
import sys

from emulator import PACKAGES
from project import STEPMARK

OUTPUT = "_bmad-output/planning-artifacts"
PRD = f"{OUTPUT}/prd.md"
STORIES = [f"_bmad-output/implementation-artifacts/story-{number}.md" for number in range(1, 4)]
passed = failed = 0


def check(what, holds, detail=""):
    global passed, failed
    passed, failed = passed + bool(holds), failed + (not holds)
    print(f"ok   {what}" if holds else f"FAIL {what}\n     {detail}", flush=True)


def template(folder):
    """A project of the installer of BMAD 6.0.4 with a PRD, an architecture, and stories; all of them tracked."""
    project = folder / "template"
    project.mkdir()
    environment = {**os.environ, "HOME": str(folder)}
    run = lambda *words: subprocess.run([str(word) for word in words], cwd=project, check=True, capture_output=True, stdin=subprocess.DEVNULL, env=environment)
    run(PACKAGES / ".bin/bmad-method", "install", "--directory", project, "--modules", "bmm", "--tools", "none", "-y")
    (project / OUTPUT).mkdir(parents=True, exist_ok=True)
    (project / STORIES[0]).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(next((project / "_bmad").rglob("prd-template.md")), project / PRD)
    shutil.copy(next((project / "_bmad").rglob("architecture-decision-template.md")), project / f"{OUTPUT}/architecture.md")
    for number, path in enumerate(STORIES, 1):
        title = f"'Log in & out #{number}: \"remember me\" <script>'"
        (project / path).write_text(f"---\ntitle: {title}\ntype: 'feature'\nstatus: 'ready-for-dev' # draft | ready-for-dev | in-progress | in-review | done\ncontext: []\n---\n\n# Story\n")
    run(STEPMARK, "init")
    run(STEPMARK, "track", PRD, f"{OUTPUT}/architecture.md", *STORIES)
    run(STEPMARK, "complete", PRD, "step-01-init")
    return project


def markers(issues):
    """How many issues each marker has."""
    counts = {}
    for issue in issues.values():
        begins = [line for line in issue["body"].splitlines() if line.startswith("<!-- stepmark:begin")]
        assert len(begins) == 1, issue["body"]
        counts[begins[0]] = counts.get(begins[0], 0) + 1
    return counts


def finish():
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
