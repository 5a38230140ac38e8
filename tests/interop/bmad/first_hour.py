#!/usr/bin/env python3
"""The first hour of docs/first-hour.md, on real projects of both BMAD releases.

Usage: first_hour.py STEPMARK_BINARY [--update]; the packages of package.json must be installed beside this file. Each section of the page whose heading names a release is carried out in a project that its installer
has made: every line that begins with `$`, in one folder, one after the other. What is printed must be what the page shows, apart from ids and times;
with --update the page is written anew.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from installer import installer_of

STEPMARK = pathlib.Path(sys.argv[1]).resolve()
PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs/first-hour.md"
UPDATES = "--update" in sys.argv

# What differs from one hour to the next.
VARIES = [
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*Z"), "TIME"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "UUID"),
    (re.compile(r"\bs-\d{8}-\d{4}-[0-9a-f]{6}\b"), "s-SESSION"),
    (re.compile(r"\b[0-9a-f]{12}\b"), "EVENT"),
    (re.compile(r"\b[0-9a-f]{40}\b"), "COMMIT"),
]


def install(release, folder):
    """A project made by the installer of `release`, in a repository of its own."""
    quiet = {"check": True, "capture_output": True, "stdin": subprocess.DEVNULL}
    project = folder / release / "lamps"
    project.mkdir(parents=True)
    subprocess.run([installer_of(release), "install", "--directory", project, "--modules", "bmm", "--tools", "claude-code", "-y"], cwd=project, **quiet)
    return project


def printed(command, project, environment):
    done = subprocess.run(["sh", "-c", command], cwd=project, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    text = done.stdout.replace(str(project.parent), "/home/ada") + (f"? {done.returncode}\n" if done.returncode else "")
    for pattern, word in VARIES:
        text = pattern.sub(word, text)
    return text if not text or text.endswith("\n") else text + "\n"


def carried_out(section, project, environment):
    """The section with what its commands print now."""
    lines, inside = [], False
    for line in section.splitlines(keepends=True):
        if line.startswith("```"):
            inside = line.startswith("```shell")
        elif inside and line.startswith("$ "):
            lines.append(line)
            lines.append(printed(line[2:], project, environment))
            continue
        elif inside:
            continue
        lines.append(line)
    return "".join(lines)


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    (folder / "bin").mkdir()
    (folder / "bin/stepmark").symlink_to(STEPMARK)
    environment = {
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "HOME": str(folder), "USER": "ada", "LANG": "C.UTF-8", "COLUMNS": "80",
        "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org", "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org",
    }
    page = PAGE.read_text()
    parts = re.split(r"(?m)^(?=## )", page)
    now = [parts[0]]
    for part in parts[1:]:
        release = re.match(r"## .*?(\d+\.\d+\.\d+)", part)
        now.append(carried_out(part, install(release[1], folder), environment) if release else part)
    now = "".join(now)

if UPDATES:
    PAGE.write_text(now)
elif now != page:
    for number, (said, found) in enumerate(zip(page.splitlines(), now.splitlines()), 1):
        if said != found:
            print(f"FAIL docs/first-hour.md:{number}\n     the page says  {said}\n     it is          {found}")
            break
    else:
        print("FAIL docs/first-hour.md: one is longer than the other")
    print("     if what it prints now is right, `python3 tests/interop/bmad/first_hour.py STEPMARK --update` writes the page anew")
    sys.exit(1)
print(f"ok   the first hour is as the page says: {sum(line.startswith('$ ') for line in now.splitlines())} commands")
