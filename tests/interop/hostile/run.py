#!/usr/bin/env python3
"""Clones of hostile repositories: whatever a stranger puts into one, no command changes, copies or prints anything outside of the
clone, touches what git keeps in its own folder, starts a program but git, panics, hangs, or takes much memory.

Usage: run.py STEPMARK_BINARY [--all]. Every repository is met by a part of the commands in turn; with --all by all of them.
"""

import hashlib
import itertools
import json
import os
import pathlib
import shutil
import sqlite3
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time

STEPMARK = pathlib.Path(sys.argv[1]).resolve()
EVERY = "--all" in sys.argv
AT_ONCE = 8
SECRET = "CANARY-5f2d-of-another-folder"
PRD = "docs/prd.md"
SECONDS, MEGABYTES = 20, 256

PROJECT = {
    PRD: "---\nid: PRD-1\nstepsCompleted: [1]\nstatus: draft\n---\n\n# PRD\n",
    "docs/1-1-login.md": "---\nid: S-1\nstatus: ready-for-dev\n---\n\n# Story\n\nStatus: ready-for-dev\n",
    "docs/sprint-status.yaml": "development_status:\n  epic-1: backlog\n  1-1-login: ready-for-dev\n",
    "_bmad/bmm/workflows/prd/workflow.md": "---\nname: prd\n---\n",
    "_bmad/bmm/workflows/prd/steps/step-01-init.md": "# one\n",
    "_bmad/bmm/workflows/prd/steps/step-02-next.md": "# two\n",
    ".stepmark/config.yaml": (
        "project_id: 0123456789abcdef\nartifacts:\n  include: ['docs/**/*.md']\ncheckpoints: {every: 1}\n"
        "trackers:\n  log: {kind: file, path: tickets.jsonl}\n"
    ),
}

# What stepmark reads or writes by name, and what else a command touches.
PLACES = """
.stepmark .stepmark/config.yaml .stepmark/.gitignore .stepmark/baseline.json
.stepmark/local .stepmark/local/.gitignore .stepmark/local/clone-key .stepmark/local/moved-from-work-tree
.stepmark/local/redo .stepmark/local/redo/0 .stepmark/local/redo/1 .stepmark/local/redo-aside .stepmark/local/redo-aside/x
.stepmark/local/locks .stepmark/local/locks/68115fa20d8415209363d627b392ef08.lock
.stepmark/local/journal .stepmark/local/journal.lock .stepmark/local/journal/main-0123456789ab.jsonl
.stepmark/local/sealed .stepmark/local/sealed/main-0123456789ab.jsonl
.stepmark/local/leases .stepmark/local/leases/x.json .stepmark/local/leases.lock
.stepmark/local/sync.db .stepmark/local/sync.db-wal .stepmark/local/sync.db-shm
.stepmark/local/cache .stepmark/local/cache/journal.db .stepmark/local/cache/index.db .stepmark/local/cache/files.stat
.stepmark/cache .stepmark/cache/journal.db .stepmark/cache/index.db .stepmark/cache/files.stat .stepmark/cache/checked.facts
.stepmark/journal .stepmark/journal/main-0123456789ab.jsonl .stepmark/journal/.2026-01.joined.jsonl.tmp
.stepmark/journal/2026-01-0123456789ab.joined.jsonl .stepmark/journal/.main-0123456789ab.jsonl.tmp
.stepmark/gates .stepmark/gates/.gitignore .stepmark/gates/docs .stepmark/gates/docs/prd.md .stepmark/gates/docs/prd.md/1.gate
.stepmark/checkpoints .stepmark/checkpoints/docs-prd.md .stepmark/manifests .stepmark/manifests/files-manifest.csv
.stepmark/manifests/agent-manifest.csv .stepmark/signals
docs docs/prd.md docs/sprint-status.yaml docs/prd.delegations tickets.jsonl page.html
_bmad _bmad/bmm/workflows/prd/workflow.md _bmad/bmm/workflows/prd/steps/step-01-init.md _bmad/_config/files-manifest.csv
""".split()

COMMANDS = [
    line.split()
    for line in """
init
status
status --json
list --where status=draft
show docs/prd.md
next docs/prd.md
complete docs/prd.md 2
reopen docs/prd.md 1
transition docs/1-1-login.md in-progress
set docs/prd.md owner=Ada
scope docs/prd.md large
track --all
undo HEAD
session start --name x
session list
resume
resume docs/prd.md
checkpoint docs/prd.md
checkpoint list docs/prd.md
restore docs/prd.md
doctor
doctor --repair
delegate docs/prd.md --to agent:dev
tree
gate check docs/prd.md 1
gate list
lease take docs/prd.md
lease show docs/prd.md
lease release docs/prd.md
project
project docs/prd.md
project --catalogues
import stories --prefer frontmatter
query SELECT+COUNT(*)+FROM+events
query SELECT+*+FROM+leases
query SELECT+*+FROM+files
hook status
hook install
check
check --fix
check --staged
log
log docs/prd.md
at 2030-01-01 docs/prd.md
replay --verify
journal status
journal compact
sync plan
sync apply
sync status
report page.html
manifest write
manifest verify
config show
context
instructions
""".strip().splitlines()
]

passed = failed = runs = 0
slowest, largest = (0.0, ""), (0, "")


def fail(what, detail=""):
    global failed
    failed += 1
    print(f"FAIL {what}\n{detail}", flush=True)


def environment(home):
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_STATE_HOME": str(home / "state"),
        # Nobody but the user says which host gets these.
        **{name: SECRET for name in ["GH_TOKEN", "GITHUB_TOKEN", "JIRA_API_TOKEN", "ATLASSIAN_API_TOKEN"]},
        "JIRA_EMAIL": "ada@localhost",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Eve",
        "GIT_AUTHOR_EMAIL": "eve@localhost",
        "GIT_COMMITTER_NAME": "Eve",
        "GIT_COMMITTER_EMAIL": "eve@localhost",
        "NO_COLOR": "1",
    }


class Listener:
    """A tracker of the stranger's, on this machine, which nobody should connect to."""

    def __init__(self):
        self.socket, self.visits = socket.create_server(("127.0.0.1", 0)), []
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            visit, _ = self.socket.accept()
            self.visits.append(visit.recv(4096))
            visit.close()


LISTENER = Listener()


class Range:
    """A folder with a canary outside of every clone, and the stranger's repository."""

    def __init__(self, folder):
        self.folder = folder
        self.outside, self.home, self.marker = folder / "outside", folder / "home", folder / "a-program-was-started"
        self.home.mkdir()
        write(self.home / ".vault-token", SECRET)
        (self.home / ".vault-token").chmod(0o600)
        (self.outside / "folder").mkdir(parents=True)
        for name in ["file", "folder/file", "journal.db", "secret.jsonl"]:
            (self.outside / name).write_text(f"{SECRET} {name}\n")
        database = sqlite3.connect(self.outside / "folder/index.db")
        database.executescript(f"CREATE TABLE events (x); INSERT INTO events VALUES ('{SECRET}')")
        database.commit()
        database.close()
        self.pwn = self.outside / "folder/pwn.sh"
        self.pwn.write_text(f"#!/bin/sh\ntouch '{self.marker}'\n")
        self.pwn.chmod(0o755)
        self.canary = self.fingerprint(self.outside)
        self.stranger = folder / "stranger"
        self.stranger.mkdir()
        self.git(self.stranger, "init", "--quiet", "--initial-branch=main")
        for name, text in PROJECT.items():
            write(self.stranger / name, text)
        self.commit()
        # Real history, so that what is spoiled looks genuine.
        for line in [["complete", PRD, "2"], ["checkpoint", PRD], ["project"]]:
            done = subprocess.run([STEPMARK, *line], cwd=self.stranger, env=environment(self.home), capture_output=True, text=True)
            assert done.returncode == 0, done
        self.commit()

    def git(self, folder, *arguments):
        subprocess.run(["git", *arguments], cwd=folder, env=environment(self.home), check=True, capture_output=True)

    def commit(self):
        self.git(self.stranger, "add", "--all", "--force")
        self.git(self.stranger, "commit", "--quiet", "--allow-empty", "--no-verify", "-m", "x")

    def fingerprint(self, folder):
        found = []
        for path in sorted(folder.rglob("*")):
            status = path.lstat()
            content = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(status.st_mode) else ""
            found.append((str(path), status.st_mode, content))
        return found

    def of_git(self, clone):
        """What a program could be started from, or git be led astray by."""
        git = clone / ".git"
        names = ["config", "commondir", "HEAD", "hooks", "info/attributes", "objects/info/alternates"]
        return [self.fingerprint(git / name) if (git / name).is_dir() else (git / name).exists() and (git / name).read_bytes() for name in names]


def write(place, content):
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content if isinstance(content, bytes) else content.encode())


def clear(place):
    if place.is_symlink() or place.is_file():
        place.unlink()
    elif place.is_dir():
        shutil.rmtree(place)


def put(folder, name, make):
    """Puts something in the place of `name`, where that does not lead through what stands above it."""
    place = folder / name
    clear(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    make(place)


def redo(version, files, bytes_=b"[core]\n\tfsmonitor = PWN\n"):
    record = {
        "files": [
            {"path": path, "before": None, "after": hashlib.sha256(bytes_).hexdigest(), "length": len(bytes_)}
            for path in files
        ],
        "events": [],
    }
    content = json.dumps(record).encode() + b"\n" + bytes_ * len(files)
    words = [f"stepmark-redo/{version}", hashlib.sha256(content).hexdigest()] + (["0" * 64] if version == 2 else [])
    return " ".join(words).encode() + b"\n" + content


def event(path, session=None):
    return json.dumps({
        "prev": "0" * 64,
        "id": "0" * 32,
        "kind": "change",
        "at": "9999-12-31T23:59:59Z",
        "actor": {"kind": "human", "name": "\u202eeve\u200b\x1b[31m"},
        "session": session,
        "artifact": {"key": f"path:{path}", "path": path},
        "n": 2**63 - 1,
    })


def poisoned_database(place):
    database = sqlite3.connect(place)
    database.executescript(
        "CREATE TABLE events (x); CREATE VIEW artifacts AS SELECT load_extension('pwn');"
        "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM events; END; PRAGMA user_version = 7;"
    )
    database.commit()
    database.close()


def sparse(place):
    with open(place, "wb") as file:
        file.truncate(2 << 30)


def many_segments(place):
    """One behind the other, none of which has an event."""
    header = lambda number: json.dumps({"stepmark": "journal/1", "segment": f"main-{number:012x}"}, separators=(",", ":"))
    place.write_text("".join(header(number) + "\n" for number in range(300_000)))


CONFIGURATIONS = [
    "instructions: {output: .git/hooks/pre-commit}",
    "instructions: {output: ../outside/file}",
    "instructions: {output: docs/prd.md}",
    "delegation: {folder: .git/hooks}",
    "delegation: {folder: ../outside/folder}",
    "trackers: {log: {kind: file, path: ../outside/file}}",
    "trackers: {log: {kind: file, path: .git/config}}",
    "trackers: {log: {kind: file, path: docs/prd.md}}",
    "trackers: {log: {kind: file, path: .GIT/hooks/post-commit}}",
    "trackers: {gh: {kind: github, base_url: 'http://127.0.0.1:1', repository: a/b, token_file: ../outside/file}}",
    f"trackers: {{gh: {{kind: github, base_url: '{LISTENER.url}', repository: a/b, token_file: ~/.vault-token}}}}",
    f"trackers: {{gh: {{kind: github, base_url: '{LISTENER.url}', repository: a/b}}}}",
    f"trackers: {{j: {{kind: jira, base_url: '{LISTENER.url}', project: ABC}}}}",
    f"credentials: {{{LISTENER.url}: {{variable: GH_TOKEN, targets: [a/b]}}}}\ntrackers: {{gh: {{kind: github, base_url: '{LISTENER.url}', repository: a/b}}}}",
    "trackers: {gh: {kind: github, repository: a/b}}",
    "trackers: {j: {kind: jira, base_url: 'https://evil.atlassian.net', project: ABC}}",
    "artifacts: {include: ['../**/*.md', '**/*', '.git/**']}",
    "checkpoints: {every: 1}\nproject_id: ../../x",
    "&a [*a]",
    "a: " + "[" * 10000,
]


def repositories(field):
    """What the stranger commits: a name, and what is done to the repository."""
    link = os.symlink
    targets = [
        str(field.outside / "file"),
        str(field.outside / "folder"),
        str(field.outside / "absent"),
        "../../../outside/folder/index.db",
        "../.git/config",
    ]
    for place, target in itertools.product(PLACES, targets):
        yield f"{place} -> {target}", lambda at, place=place, target=target: put(at, place, lambda p: link(target, p))
    hostile = [".git/commondir", ".git/config", ".git/hooks/pre-commit", ".GIT/config", "docs/new.md", "../outside/file"]
    for version, path, slot in itertools.product([1, 2, 3], hostile, ["local/redo/0", "local/redo-aside/0"]):
        content = redo(version, [path]).replace(b"PWN", str(field.pwn).encode())
        yield f"redo/{version} of {path} in {slot}", lambda at, slot=slot, content=content: put(
            at, f".stepmark/{slot}", lambda p: p.write_bytes(content)
        )
    for path, session in itertools.product(["../../outside/file", ".git/config", "docs/prd.md", "/etc/x"], [None, "a/b", "../x"]):
        lines = '{"stepmark":"journal/1","segment":"main-0123456789ab"}\n' + event(path, session) + "\n"
        for folder in ["journal", "local/journal"]:
            yield f"an event of {path} {session} in {folder}", lambda at, folder=folder, lines=lines: put(
                at, f".stepmark/{folder}/main-0123456789ab.jsonl", lambda p: p.write_text(lines)
            )
    for name in ["local/cache/journal.db", "local/cache/index.db", "cache/journal.db", "cache/index.db", "local/sync.db"]:
        yield f"a poisoned {name}", lambda at, name=name: put(at, f".stepmark/{name}", poisoned_database)
    for text in CONFIGURATIONS:
        yield f"config {text[:60]}", lambda at, text=text: put(
            at, ".stepmark/config.yaml", lambda p: p.write_text(text + "\nproject_id: 0123456789abcdef\n")
        )
    attributes = "* filter=x diff=x\n"
    yield "attributes", lambda at: put(at, ".gitattributes", lambda p: p.write_text(attributes))
    yield "joined segments without end", lambda at: put(at, ".stepmark/journal/2026-01-0123456789ab.joined.jsonl", many_segments)
    yield "a line without end", lambda at: put(at, ".stepmark/journal/main-0123456789ab.jsonl", sparse)
    for name in ["--upload-pack=x.md", "-c.md", "new\nline.md", "\x1b[2Jescape.md", "\u202egpj.md", "x" * 200 + ".md"]:
        yield f"the name {name[:20]!r}", lambda at, name=name: put(at, f"docs/{name}", lambda p: p.write_text(PROJECT[PRD]))


def after_the_clone(field):
    """What git does not carry, but an archive, a mount or an editor may bring."""
    for place in PLACES:
        yield f"a pipe at {place}", lambda at, place=place: put(at, place, os.mkfifo)
        if os.geteuid() == 0:
            device = lambda p: os.mknod(p, stat.S_IFCHR | 0o666, os.makedev(1, 5))
            yield f"/dev/zero at {place}", lambda at, place=place, device=device: put(at, place, device)
        if not place.endswith((".stepmark", "docs", "_bmad")):
            yield f"2 GiB at {place}", lambda at, place=place: put(at, place, sparse)


def run(field, clone, line, what):
    global passed, runs, slowest, largest
    runs += 1
    started = time.monotonic()
    arguments = [part.replace("+", " ") for part in line]
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(
            [STEPMARK, *arguments], cwd=clone, env=environment(field.home), stdin=subprocess.DEVNULL, stdout=out, stderr=out
        )
        while True:
            pid, code, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - started > SECONDS:
                process.kill()
                os.wait4(process.pid, 0)
                process.returncode = 0
                return fail(f"{what}: {' '.join(line)}: takes more than {SECONDS} s")
            time.sleep(0.002)
        process.returncode = 0
        out.seek(0)
        text = out.read().decode(errors="replace")
    took, code = time.monotonic() - started, os.waitstatus_to_exitcode(code)
    name = f"{what}: {' '.join(line)}"
    slowest, largest = max(slowest, (took, name)), max(largest, (usage.ru_maxrss // 1024, name))
    if field.fingerprint(field.outside) != field.canary:
        sys.exit(f"FAIL {name}: changed something outside\n{text}")
    if field.marker.exists():
        sys.exit(f"FAIL {name}: started a program\n{text}")
    if code not in range(9):
        return fail(f"{name}: exit {code}", text[-2000:])
    if LISTENER.visits:
        sys.exit(f"FAIL {name}: asked a tracker of the stranger's: {LISTENER.visits}\n{text}")
    if SECRET in text:
        return fail(f"{name}: prints what stands outside", text[-2000:])
    if usage.ru_maxrss // 1024 > MEGABYTES:
        return fail(f"{name}: takes {usage.ru_maxrss // 1024} MB")
    passed += 1


def holds_the_secret(clone):
    for folder, names, files in os.walk(clone):
        for name in files:
            place = pathlib.Path(folder, name)
            if stat.S_ISREG(place.lstat().st_mode) and place.stat().st_size < 1 << 26 and SECRET.encode() in place.read_bytes():
                return place
    return None


def meet(field, what, clone, lines):
    before = field.of_git(clone)
    for line in lines:
        run(field, clone, line, what)
        if line != ["hook", "install"] and field.of_git(clone) != before:
            fail(f"{what}: {' '.join(line)}: changed what git keeps in its folder")
        before = field.of_git(clone)
    if place := holds_the_secret(clone):
        fail(f"{what}: a command of {lines} copied what stands outside to {place.relative_to(clone)}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        field = Range(pathlib.Path(folder).resolve())
        turn = itertools.cycle(range(0, len(COMMANDS), AT_ONCE))

        def lines():
            start = next(turn)
            return COMMANDS if EVERY else COMMANDS[start : start + AT_ONCE]

        clone = field.folder / "clone"
        for what, spoil in repositories(field):
            spoiled = field.folder / "spoiled"
            shutil.copytree(field.stranger, spoiled, symlinks=True)
            shutil.rmtree(spoiled / ".git/stepmark", ignore_errors=True)
            spoil(spoiled)
            field.git(spoiled, "add", "--all", "--force")
            field.git(spoiled, "commit", "--quiet", "--no-verify", "--allow-empty", "-m", "x")
            field.git(field.folder, "clone", "--quiet", str(spoiled), str(clone))
            meet(field, what, clone, lines())
            for gone in [clone, spoiled]:
                shutil.rmtree(gone)
        for what, spoil in after_the_clone(field):
            field.git(field.folder, "clone", "--quiet", str(field.stranger), str(clone))
            spoil(clone)
            meet(field, what, clone, lines())
            shutil.rmtree(clone)
    print(f"{runs} runs; the slowest took {slowest[0]:.2f} s ({slowest[1]}), the largest {largest[0]} MB ({largest[1]})")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
