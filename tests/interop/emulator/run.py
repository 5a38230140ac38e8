#!/usr/bin/env python3
"""`stepmark sync` on a real BMAD project against a GitHub that others wrote (npm `emulate` 0.12.2).

Usage: run.py STEPMARK_BINARY; the packages of package.json must be installed beside this file. A project that the installer of
`bmad-method` 6.0.4 made is projected, edited, completed and deleted; the worker is killed (SIGKILL) before and after every request;
the ledger is lost; the server is down. All requests pass a proxy (proxy.py), which counts them and does the killing.
"""

import pathlib
import shutil
import signal
import socket
import tempfile
import time

from emulator import Emulator
from project import Project, names
from proxy import TOKEN, Proxy
from template import OUTPUT, PRD, STORIES, check, finish, markers, template


def first_sync(project, emulator, proxy):
    plan = project.json("sync", "plan")
    kinds = [action["kind"] for action in plan["actions"]]
    check("the plan creates a ticket an artifact", kinds == ["create"] * 5, kinds)
    check("a plan asks nothing", proxy.take() == [])
    said = project.sync("apply")
    asked = proxy.take()
    own = f"/repos/{project.repository}"
    wanted = [f"GET {own}", *[f"GET {own}/issues"] * 4, *[f"POST {own}/issues"] * 5]
    check("the first sync asks where it is, looks by label and without, after one ticket and after all, and creates", sorted(asked) == wanted, asked)
    issues = emulator.issues(project.repository)
    titles = [issue["title"] for issue in issues.values()]
    stories = [f'Log in & out #{number}: "remember me" <script>' for number in (1, 2, 3)]
    check("tickets are in the order of files and have the names of artifacts", titles == [*stories, "Architecture Decision Document", "Product Requirements Document"], titles)
    prd = next(issue for issue in issues.values() if issue["title"].startswith("Product"))
    lines = prd["body"].splitlines()
    check("the body says how far it is", any("1 of 14 steps done (7 %)" in line for line in lines) and "- **Next:** 2 · Discovery" in lines, prd["body"])
    tasks = [line for line in lines if line.startswith("- [")]
    check("the steps are tasks", tasks[0] == "- [x] 1 · Init" and tasks[3] == "- [ ] 2c · Executive summary" and len([task for task in tasks if task.startswith("- [ ]")]) == 13, tasks)
    check("the file is linked on the branch", any(f"/{project.repository}/blob/HEAD/{PRD}" in line for line in lines), prd["body"])
    check("labels say what it is", names(prd) == ["stepmark", "workflow:create-prd"], names(prd))
    story = issues[1]
    check("a story has its status as a label", names(story) == ["status:ready-for-dev", "stepmark"], names(story))
    check("all are open", all(issue["state"] == "open" for issue in issues.values()))
    check("nothing that was said tells the credential", TOKEN not in said.stdout + said.stderr)
    # What a person sees, for whoever reads this log.
    print("\n".join(f"     | {line}" for line in [f"# {prd['title']}   [{', '.join(names(prd))}]", *lines]))


def no_op(project, proxy):
    proxy.take()
    said = project.sync("apply")
    check("a sync of nothing asks nothing", proxy.take() == [] and said.stdout == "0 actions, 0 requests\n", said.stdout)
    project.sync("plan")
    project.sync("status")
    check("plan and status ask nothing", proxy.take() == [])


def edits(project, emulator, proxy):
    repository = project.repository
    number = next(number for number, issue in emulator.issues(repository).items() if issue["title"].startswith("Product"))
    issue = emulator.issues(repository)[number]
    emulator.ask("PATCH", f"/repos/{repository}/issues/{number}", {"body": f"Please read this first.\n\n{issue['body']}\n\nSigned: Ada", "labels": [*(label["name"] for label in issue["labels"]), "urgent"]})
    project.run("complete", PRD, "step-02-discovery")
    project.run("complete", PRD, "step-02b-vision")
    proxy.take()
    said = project.sync("apply")
    asked = proxy.take()
    check("many edits are one update", asked.count(f"PATCH /repos/{repository}/issues/{number}") == 1 and not any("POST" in line and "graphql" not in line for line in asked), asked)
    check("the update is told with path and number", f"{PRD} #{number}" in said.stdout, said.stdout)
    issue = emulator.issues(repository)[number]
    body = issue["body"]
    check("done steps are ticked", "- [x] 2b · Vision" in body and "3 of 14 steps done" in body, body)
    check("text of people is kept", body.startswith("Please read this first.\n") and body.endswith("Signed: Ada"), body)
    check("labels of people are kept", "urgent" in names(issue), names(issue))
    project.replace(STORIES[0], "status: 'ready-for-dev'", "status: 'in-progress'")
    project.sync("apply")
    check("a new status takes the place of the old label", names(emulator.issues(repository)[1]) == ["status:in-progress", "stepmark"], names(emulator.issues(repository)[1]))


def completes(project, emulator):
    repository = project.repository
    while (answer := project.json("next", PRD))["next"]:
        project.run("complete", PRD, answer["next"][0]["id"])
    project.replace(STORIES[0], "status: 'in-progress'", "status: 'done'")
    plan = project.json("sync", "plan")
    check("what is finished is to be closed", [action["kind"] for action in plan["actions"]] == ["close", "close"], plan["actions"])
    project.sync("apply")
    issues = emulator.issues(repository)
    prd = next(issue for issue in issues.values() if issue["title"].startswith("Product"))
    check("a finished PRD is closed as completed", (prd["state"], prd["state_reason"]) == ("closed", "completed"), prd)
    check("all of its steps are ticked", "- [ ]" not in prd["body"] and "14 of 14 steps done (100 %)" in prd["body"], prd["body"])
    check("a story that is done is closed", issues[1]["state"] == "closed" and issues[2]["state"] == "open")
    project.run("reopen", PRD, "step-12-complete")
    project.sync("apply")
    prd = emulator.issues(repository)[prd["number"]]
    check("what is taken up again is opened", prd["state"] == "open" and "13 of 14" in prd["body"], (prd["state"], prd["body"]))


def drift(project, emulator):
    repository = project.repository
    emulator.ask("PATCH", f"/repos/{repository}/issues/2", {"title": "Mine", "state": "closed"})
    plan = project.json("sync", "plan", "--survey")
    fields = [difference["field"] for action in plan["actions"] for difference in action["differences"]]
    check("what a person changed is seen", sorted(fields) == ["state", "title"], plan["actions"])
    project.sync("apply", "--survey")
    issue = emulator.issues(repository)[2]
    check("and written again", issue["state"] == "open" and issue["title"].startswith("Log in"), issue["title"])


def deletes(project, emulator, proxy):
    repository = project.repository
    (project.folder / STORIES[1]).unlink()
    said = project.sync("apply")
    check("a ticket without its artifact is told of and kept", "prune: close" in said.stderr + project.sync("plan").stderr and emulator.issues(repository)[2]["state"] == "open", said)
    project.configure(proxy.port, "    prune: close\n")
    project.sync("apply")
    issue = emulator.issues(repository)[2]
    check("with `prune: close` it is closed as not planned", (issue["state"], issue["state_reason"]) == ("closed", "not_planned"), issue)


def loses_ledger(project, emulator, proxy):
    repository = project.repository
    before = emulator.issues(repository)
    for adopts in (True, False):
        project.lose_ledger()
        proxy.take()
        if adopts:
            project.sync("adopt")
            asked = proxy.take()
            check("adopting only looks", asked and all(line in (f"GET /repos/{repository}", f"GET /repos/{repository}/issues") for line in asked), asked)
        project.sync("apply")
        after = emulator.issues(repository)
        shown = lambda issue: issue and (issue["title"], issue["body"], issue["state"], issue["state_reason"], names(issue))
        differ = [(shown(before.get(number)), shown(issue)) for number, issue in after.items() if shown(before.get(number)) != shown(issue)]
        check(f"a lost ledger makes and changes nothing ({'adopt, then apply' if adopts else 'apply'})", differ == [] and len(after) == len(before), differ)
    proxy.take()
    project.sync("apply")
    check("and then nothing is to be done", proxy.take() == [])


def killed(template_folder, folder, emulator, proxy, keeps_ledger):
    """The worker is killed before and after every request of a first sync, and started again."""
    points, wrong = 0, []
    at = 0
    while True:
        at += 1
        for side in ("before", "after"):
            repository = emulator.repository()
            project = Project(template_folder, folder / f"killed-{keeps_ledger}-{at}-{side}", proxy.port, repository)
            proxy.take()
            worker = project.start("sync", "apply")

            def kill(number):
                if number != at:
                    return False
                worker.send_signal(signal.SIGKILL)
                worker.wait()
                return True

            setattr(proxy, side, kill)
            code = worker.wait(timeout=120)
            proxy.before = proxy.after = None
            if code == 0:
                check(f"killed before and after each of {at - 1} requests, ledger {'kept' if keeps_ledger else 'lost'}: one ticket an artifact", wrong == [] and points >= 12, wrong)
                return
            points += 1
            if not keeps_ledger:
                project.lose_ledger()
            began = time.monotonic()
            again = project.sync("apply", expect=None)
            took = time.monotonic() - began
            counts = markers(emulator.issues(repository))
            rest = project.json("sync", "plan")["actions"]
            if again.returncode or len(counts) != 5 or set(counts.values()) != {1} or rest or took > 30:
                wrong.append((at, side, again.returncode, counts, rest, took, again.stdout, again.stderr))
            shutil.rmtree(project.folder)


def server_down(project, proxy):
    commands = [("status",), ("next", PRD), ("check", "--quiet")]
    proxy.close()
    project.replace(STORIES[0], "status: 'done'", "status: 'in-review'")
    project.replace(STORIES[2], "status: 'in-progress'", "status: 'in-review'")
    project.replace(PRD, "stepmark_id", "scope: large\nstepmark_id")
    first = project.sync("apply", expect=5)
    second = project.sync("apply", expect=5)
    for which, done in (("first", first), ("second", second)):
        lines = (done.stdout + done.stderr).splitlines()
        check(f"with the server down the {which} `sync apply` says one line and ends with 5", len(lines) == 1 and "it cannot be reached" in lines[0] and "tickets wait until" in lines[0], lines)
    # Whoever asks the server would wait for it: a connection stays in the queue of this one, which answers nothing.
    with socket.create_server(("127.0.0.1", proxy.port)) as listener:
        listener.setblocking(False)
        for words in commands:
            project.run(*words, expect=None)
        try:
            asked = listener.accept()[1]
        except BlockingIOError:
            asked = None
    check("local commands do not ask the server, so that its outage cannot slow them", asked is None, asked)
    silent = [words[0] for words in commands if project.run(*words, expect=None).stderr]
    check("and say nothing of it", silent == [], silent)
    status = project.sync("status")
    check("`sync status` says what waits and why", "tickets wait until" in status.stdout and "it cannot be reached" in status.stdout, status.stdout)



def credentials(project, proxy):
    project.replace(STORIES[2], "status: 'ready-for-dev'", "status: 'in-progress'")
    missing = project.sync("apply", expect=5, GITHUB_TOKEN="")
    check("without a credential it says where it looked", "GITHUB_TOKEN" in missing.stderr, missing.stderr)
    wrong = project.sync("apply", expect=5, GITHUB_TOKEN="ghp_aWrongOne")
    told = wrong.stdout + wrong.stderr
    check("a wrong credential is told of in one line, with what to do", "it does not accept the credential" in told and "sync reset" in told and len(told.splitlines()) == 1, told)
    project.sync("reset")
    project.sync("apply")
    secrets = [path for path in (project.folder / ".stepmark").rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]
    check("no file of the project holds the credential", secrets == [], secrets)
    check("with a valid one all is done", project.json("sync", "plan")["actions"] == [])


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    emulator = Emulator(folder)
    try:
        proxy = Proxy(emulator.port)
        made = template(folder)
        project = Project(made, folder / "project", proxy.port, emulator.repository())
        first_sync(project, emulator, proxy)
        no_op(project, proxy)
        edits(project, emulator, proxy)
        completes(project, emulator)
        drift(project, emulator)
        deletes(project, emulator, proxy)
        loses_ledger(project, emulator, proxy)
        credentials(project, proxy)
        for keeps_ledger in (True, False):
            killed(made, folder, emulator, proxy, keeps_ledger)
        server_down(project, proxy)
    finally:
        emulator.process.terminate()
        emulator.process.wait()

finish()
