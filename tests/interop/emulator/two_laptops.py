#!/usr/bin/env python3
"""Two laptops and a CI work on one BMAD project for a day, with tickets on a GitHub that others wrote (npm `emulate` 0.12.2).

Usage: two_laptops.py STEPMARK_BINARY. Each laptop is a clone with the hooks of `stepmark hook install` and a ledger of its own. They reopen,
force, delete, rename, delegate, merge, rebase and squash; both apply tickets, also at once, and the repository gets another name on the way. CI
checks each push in a fresh clone. In the end there is one ticket an artifact, no stranger's was touched, and both laptops tell one history.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from emulator import Emulator
from project import STEPMARK, Project
from proxy import TOKEN, Proxy
from template import OUTPUT, PRD, STORIES, check, finish, markers, template


class Laptop(Project):
    """A clone of one person."""

    def __init__(self, folder, person, origin, port, repository):
        self.person, self.folder, self.repository, self.port = person, folder / person / "project", repository, port
        home = folder / person
        home.mkdir()
        keep = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        # The hooks look for `stepmark` on the search path.
        programs = home / "bin"
        programs.mkdir()
        (programs / "stepmark").symlink_to(STEPMARK)
        keep["PATH"] = f"{programs}:{keep['PATH']}"
        self.environment = {**keep, "HOME": str(home), "USER": person, "GITHUB_TOKEN": TOKEN, "GIT_CONFIG_NOSYSTEM": "1"}
        (home / ".gitconfig").write_text(f"[user]\n\tname = {person}\n\temail = {person}@example.org\n[init]\n\tdefaultBranch = main\n[pull]\n\trebase = false\n")
        self.trust(repository)
        subprocess.run(["git", "clone", "--quiet", origin, self.folder], check=True, env=self.environment)
        self.run("hook", "install")

    def trust(self, *repositories):
        user = pathlib.Path(self.environment["HOME"]) / ".config/stepmark/config.yaml"
        user.parent.mkdir(parents=True, exist_ok=True)
        user.write_text(f"credentials: {{http://127.0.0.1:{self.port}: {{variable: GITHUB_TOKEN, targets: [{', '.join(repositories)}]}}}}\n")

    def git(self, *words, expect=0):
        done = subprocess.run(["git", *words], cwd=self.folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=self.environment)
        if expect is not None and done.returncode != expect:
            sys.exit(f"{self.person}: git {' '.join(words)} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def commit(self, message):
        """A commit of all that was changed, which the hook must let pass and leave nothing behind."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", message)
        rest = self.git("status", "--porcelain")
        check(f"{self.person}: the hook lets `{message}` pass and leaves nothing", rest == "", rest)

    def pull(self):
        self.git("pull", "--quiet", "--no-edit")


class Ci:
    """A runner: a fresh clone for each push."""

    def __init__(self, folder, origin):
        self.folder, self.origin, self.runs = folder / "ci", origin, 0
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "GITHUB_ACTIONS": "true", "CI": "true"}
        self.folder.mkdir()

    def check(self, what, branch, base, gaps=False):
        self.runs += 1
        clone = self.folder / str(self.runs)
        subprocess.run(["git", "clone", "--quiet", "--branch", branch, self.origin, clone], check=True, env=self.environment)
        done = subprocess.run([STEPMARK, "check", "--from", base], cwd=clone, capture_output=True, text=True, env=self.environment)
        check(f"CI agrees: {what}", done.returncode == 0, f"{done.returncode}\n{done.stdout}{done.stderr}")
        verified = subprocess.run([STEPMARK, "log", "replay", "--verify"], cwd=clone, capture_output=True, text=True, env=self.environment)
        told = verified.returncode == 1 and "the segment is missing" in verified.stderr if gaps else verified.returncode == 0
        check(f"CI replays the history{', and says what is missing' if gaps else ''}: {what}", told, verified.stdout + verified.stderr)


def strangers(emulator, repository):
    """Issues of people, in the tracker of the project."""
    for title in ("It is dark", "A question", "The lamp hums"):
        emulator.ask("POST", f"/repos/{repository}/issues", {"title": title, "body": "Written by a person."})
    emulator.ask("PATCH", f"/repos/{repository}/issues/2", {"state": "closed"})


def foreign(issues):
    """What people see of those that are not ours."""
    seen = ("title", "body", "state", "labels", "comments", "updated_at")
    return {number: [issue[key] for key in seen] for number, issue in issues.items() if "stepmark:begin" not in issue["body"]}


def push(laptop, ci, what, gaps=False):
    """Pushes `main` after taking in what others pushed, as a person would, and lets CI look."""
    laptop.git("fetch", "--quiet")
    base = laptop.git("rev-parse", "origin/main").strip()
    laptop.pull()
    laptop.git("push", "--quiet", "origin", "HEAD:main")
    ci.check(what, "main", base, gaps)


def morning(ada, ben, ci):
    ada.run("complete", PRD, "step-02-discovery")
    ada.run("transition", STORIES[0], "in-progress")
    ada.commit("work begins")
    push(ada, ci, "work begins")
    ada.sync("apply")
    ben.pull()
    ben.run("transition", STORIES[1], "in-progress", "--actor", "agent:dev")
    ben.commit("an agent begins the second story")
    push(ben, ci, "an agent begins")
    ben.sync("apply")


def noon(ada, ben, ci):
    """On two branches: a step is reopened, a move is forced, a story is removed, another renamed, work is delegated."""
    ada.pull()
    ada.git("switch", "--quiet", "-c", "rework")
    ada.run("reopen", PRD, "step-02-discovery", "--reason", "the readers were not asked")
    ada.commit("rework")
    ada.run("remove", STORIES[2], "--reason", "nobody wants it")
    ada.commit("the third story goes")
    ben.git("switch", "--quiet", "-c", "ship")
    ben.run("transition", STORIES[1], "done", "--force", "--reason", "shipped as a hot fix")
    ben.commit("shipped")
    ben.git("mv", STORIES[0], RENAMED)
    ben.commit("the first story is called otherwise")
    ben.run("delegate", PRD, "--to", "writer", "--task", "Ask three readers", "--file", CHILD)
    ben.commit("a writer asks readers")
    base = ben.git("rev-parse", "origin/main").strip()
    for laptop, branch in ((ada, "rework"), (ben, "ship")):
        laptop.git("push", "--quiet", "origin", branch)
        ci.check(f"the branch {branch}", branch, base)
    # The first is merged, the second rebased onto that.
    ada.git("switch", "--quiet", "main")
    ada.git("merge", "--quiet", "--no-ff", "--no-edit", "rework")
    push(ada, ci, "a merge")
    ben.git("fetch", "--quiet")
    ben.git("rebase", "--quiet", "origin/main")
    ben.git("switch", "--quiet", "main")
    ben.pull()
    ben.git("merge", "--quiet", "--ff-only", "ship")
    push(ben, ci, "a rebase")


def squash(ada, ben, ci):
    """What a pull request's squash makes: one commit without the branch's own."""
    ada.pull()
    ada.git("switch", "--quiet", "-c", "small")
    ada.run("transition", RENAMED, "review", "--force", "--reason", "seen in the demo")
    ada.commit("to review")
    ada.run("transition", RENAMED, "in-progress", "--force", "--reason", "it flickers")
    ada.run("reopen", PRD, "step-01-init", "--reason", "once more from the start")
    ada.commit("and back")
    ada.git("switch", "--quiet", "main")
    ada.git("merge", "--quiet", "--squash", "small")
    ada.commit("the lamp flickers (#7)")
    push(ada, ci, "a squash")
    ben.pull()


def amended_and_picked(ada, ben, ci):
    """A commit is amended with more work, and another laptop picks it from its branch, without what came before."""
    ben.git("switch", "--quiet", "-c", "architecture")
    ben.run("set", ARCHITECTURE, "reviewed=no")
    ben.commit("not for today")
    ben.run("complete", PRD, "step-01-init")
    ben.git("commit", "--quiet", "--all", "-m", "half")
    ben.run("reopen", PRD, "step-01-init", "--reason", "the wrong project")
    ben.run("complete", PRD, "step-01-init")
    ben.run("transition", RENAMED, "ready-for-dev", "--force", "--reason", "the estimate is gone")
    ben.git("commit", "--quiet", "--all", "--amend", "-m", "back to the beginning")
    check("ben: an amended commit leaves nothing", ben.git("status", "--porcelain") == "")
    base = ben.git("rev-parse", "origin/main").strip()
    ben.git("push", "--quiet", "origin", "architecture")
    ci.check("an amended commit", "architecture", base)
    ada.git("fetch", "--quiet")
    ada.git("cherry-pick", "origin/architecture")
    # The history that was picked names that of the commit before it, which was not.
    push(ada, ci, "a picked commit", gaps=True)
    ben.git("switch", "--quiet", "main")
    ben.pull()
    ben.git("merge", "--quiet", "--no-edit", "architecture")
    push(ben, ci, "the branch of what was picked")
    # What was removed comes back, and goes again.
    removed = next(event for event in ben.json("log", STORIES[2])["events"] if event["kind"] == "delete")
    refused = ben.run("undo", removed["id"], expect=1)
    check("undo leads to git, which has the file", "git checkout COMMIT --" in refused.stderr, refused.stderr)
    gone = ben.git("rev-list", "-1", "HEAD", "--", STORIES[2]).strip()
    ben.git("checkout", f"{gone}^", "--", STORIES[2])
    ben.commit("the third story is back")
    push(ben, ci, "an undone removal")
    ben.run("remove", STORIES[2], "--reason", "in vain")
    ben.commit("the third story goes again")
    push(ben, ci, "a second removal")
    ada.pull()


def both_apply(ada, ben):
    """Both see new work and apply at once."""
    ada.write(NEW, "---\ntitle: A lamp for the stairs\ntype: feature\nstatus: draft\ncontext: []\n---\n\n# Story 1.4: A lamp for the stairs\n")
    ada.run("track", NEW)
    ada.commit("a fourth story")
    ada.git("push", "--quiet", "origin", "main")
    ben.pull()
    workers = [laptop.start("sync", "apply") for laptop in (ada, ben)]
    codes = [worker.wait(timeout=120) for worker in workers]
    check("both may apply at once", codes == [0, 0], codes)


def another_name(ada, ben, emulator, repository):
    """The repository is renamed; one laptop hears of it first."""
    owner, name = repository.split("/")
    status, made = emulator.ask("PATCH", f"/repos/{repository}", {"name": f"{name}-lamps"})
    check("the repository has another name", status == 200 and made["full_name"] == f"{owner}/{name}-lamps", made)
    renamed = made["full_name"]
    ben.replace(".stepmark/config.yaml", f"repository: {repository}", f"repository: {renamed}")
    ben.commit("the repository's name")
    ben.git("push", "--quiet", "origin", "main")
    ben.trust(renamed)
    ben.run("transition", NEW, "ready-for-dev")
    ben.sync("apply")
    old = ada.sync("apply", "--survey", expect=None)
    check("with the old name nothing goes wrong on the other laptop", "duplicate" not in old.stdout and old.returncode in (0, 5), old)
    ben.commit("the fourth story is ready")
    ben.git("push", "--quiet", "origin", "main")
    ada.pull()
    ada.trust(renamed)
    ada.sync("reset", expect=None)
    ada.sync("apply")
    return renamed


def evening(ada, ben, emulator, repository, before):
    for laptop in (ada, ben, ada):
        laptop.pull()
        laptop.sync("apply", "--survey")
    issues = emulator.issues(repository)
    own = {number: issue for number, issue in issues.items() if number not in before}
    # The emulator does not know the reason `duplicate` and says `completed`. The oldest of several counts.
    live, seen = {}, {}
    for number, issue in own.items():
        (marker,) = markers({number: issue})
        if seen.setdefault(marker, number) == number or issue["state"] == "open":
            live[marker] = live.get(marker, 0) + 1
    check("each artifact has one ticket, and what both made at once is closed", len(live) == 7 and set(live.values()) == {1}, [(issue["title"], issue["state"]) for issue in own.values()])
    check("no stranger's ticket was touched", foreign(issues) == before, (foreign(issues), before))
    by_title = {issue["title"]: issue for issue in issues.values()}
    story = lambda number: by_title[f'Log in & out #{number}: "remember me" <script>']
    check("what is shipped is closed", (story(2)["state"], story(2)["state_reason"]) == ("closed", "completed"), story(2))
    check("the renamed story kept its ticket and links to its new place", f"/{RENAMED}" in story(1)["body"] and story(1)["state"] == "open", story(1)["body"])
    check("what was reopened is open again", "- [ ] 2 · Discovery" in by_title["Product Requirements Document"]["body"], by_title["Product Requirements Document"]["body"])
    check("delegated work has a ticket", any("Ask three readers" in title for title in by_title), list(by_title))
    for laptop in (ada, ben):
        rest = laptop.json("sync", "plan")["actions"]
        check(f"{laptop.person}: nothing is left to do", rest == [], rest)
    told = [laptop.json("log", "--limit", "1000")["events"] for laptop in (ada, ben)]
    brief = lambda events: sorted((event["id"], event["kind"], event["actor"]["name"], event.get("reason")) for event in events if event.get("artifact"))
    check("both laptops tell one history", brief(told[0]) == brief(told[1]), [set(brief(told[0])) ^ set(brief(told[1]))])
    reasons = {(event["actor"]["name"], event.get("reason")) for event in told[0]}
    wanted = {("ada", "the readers were not asked"), ("ben", "shipped as a hot fix"), ("ada", "nobody wants it"), ("ada", "it flickers")}
    check("with who did what and why", wanted <= reasons and any(name == "dev" for name, _ in reasons), reasons)
    for laptop in (ada, ben):
        verified = laptop.run("log", "replay", "--verify", expect=None)
        check(f"{laptop.person}: the history replays", verified.returncode == 0, verified.stdout + verified.stderr)
        found = laptop.run("doctor", expect=None)
        check(f"{laptop.person}: the doctor finds nothing", found.returncode == 0, found.stdout + found.stderr)


ARCHITECTURE = f"{OUTPUT}/architecture.md"
RENAMED = STORIES[0].replace("story-1", "story-1-log-in")
NEW = STORIES[0].replace("story-1", "story-4")
CHILD = f"{OUTPUT}/readers.md"

with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    emulator = Emulator(folder)
    try:
        proxy, repository = Proxy(emulator.port), emulator.repository()
        strangers(emulator, repository)
        before = foreign(emulator.issues(repository))
        first = Project(template(folder), folder / "first", proxy.port, repository)
        shutil.rmtree(first.folder / ".config")
        origin = folder / "origin.git"
        quiet = {"check": True, "cwd": first.folder, "env": {**first.environment, "GIT_AUTHOR_NAME": "ada", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "ada", "GIT_COMMITTER_EMAIL": "a@example.org"}}
        for words in (["init", "--quiet", "--initial-branch=main"], ["add", "--all"], ["commit", "--quiet", "-m", "begun"], ["clone", "--quiet", "--bare", ".", str(origin)]):
            subprocess.run(["git", *words], **quiet)
        ada, ben = (Laptop(folder, person, origin, proxy.port, repository) for person in ("ada", "ben"))
        ci = Ci(folder, origin)
        morning(ada, ben, ci)
        noon(ada, ben, ci)
        squash(ada, ben, ci)
        amended_and_picked(ada, ben, ci)
        both_apply(ada, ben)
        repository = another_name(ada, ben, emulator, repository)
        evening(ada, ben, emulator, repository, before)
    finally:
        emulator.process.terminate()
        emulator.process.wait()

finish()
