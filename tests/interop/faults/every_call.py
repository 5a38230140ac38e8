#!/usr/bin/env python3
"""Commands of coordination, killed (`kill -9`) at each of their system calls, one after the other. The command that comes next repairs:
a task has one holder or none, the file that follows says what the records say, no change of another program is lost.

Usage: every_call.py STEPMARK_BINARY. Between two of the calls of CHANGES nothing on the disk is changed: a kill at any other call leaves
what a kill at the next of these leaves.
"""

import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

STEPMARK = str(pathlib.Path(sys.argv[1]).resolve())
CHANGES = (
    "write,pwrite64,writev,pwritev,pwritev2,copy_file_range,sendfile,ftruncate,truncate,fallocate,openat,openat2,open,creat,"
    "rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,mkdir,mkdirat,rmdir,chmod,fchmod,fchmodat,utimensat,"
    "fsync,fdatasync,sync_file_range,flock,fcntl,exit_group"
)
FILE, OTHER = ".coordination/tasks.json", "other/tasks.json"
CONFIG = "coordination: {option: A}\n"
BEFORE = [["coordination", "init", "--goal", "G"], ["task", "add", "One", "--id", "t1"], ["task", "add", "Two", "--id", "t2"]]


def claimed(tasks):
    return tasks["t1"]["status"] == "claimed" and tasks["t1"]["claimed_by"] == "w1" or tasks["t1"]["status"] == "available" and not tasks["t1"]["claimed_by"]


def imported(tasks):
    return tasks["t1"].get("note") in (None, "theirs") and {*tasks} - {"t1", "t2", "t3"} == set()


def overwritten(tasks):
    return "note" not in tasks["t1"]


# Commands, each with what holds of the tasks of the records after it was killed anywhere, and the command that is made next.
COMMANDS = [
    (["task", "claim", "--agent", "w1"], claimed, ["task", "claim", "t2", "--agent", "w2"]),
    (["import", "coordination", "other", "--take", "file"], imported, ["import", "coordination", "other", "--take", "file"]),
    (["coordination", "project", "--overwrite"], overwritten, ["coordination", "project", "--overwrite"]),
]
passed = failed = 0


def run(project, *arguments, prefix=()):
    environment = {"PATH": os.environ["PATH"], "HOME": str(project.parent / "home"), "NO_COLOR": "1", "RAYON_NUM_THREADS": "1"}
    return subprocess.run([*prefix, STEPMARK, *arguments], cwd=project, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def killed(project, line, occurrence):
    """Runs a command, and tells whether it was killed at that call."""
    log = project.parent / f"{project.name}.log"
    inject = ["strace", "-f", "-qq", "-o", str(log), "-e", f"trace={CHANGES}", "-e", f"inject={CHANGES}:signal=KILL:when={occurrence}"]
    done = run(project, *line, prefix=inject)
    return done.returncode in (-9, 137), done


def in_records(project):
    answer = run(project, "task", "list", "--json")
    assert answer.returncode == 0, answer
    return {task["id"]: task for task in json.loads(answer.stdout)["tasks"]}


def in_file(project):
    return {task["id"]: task for task in json.loads((project / FILE).read_text())["tasks"]}


def problems(project, line, holds, following):
    """What is wrong after a kill."""
    found = []
    before = in_records(project)
    if not holds(before) or not {"t1", "t2"} <= {*before}:
        found.append(("the records are neither old nor new", before))
    if not {"t1", "t2"} <= {*in_file(project)}:
        found.append(("the file is torn", (project / FILE).read_text()))
    next_one = run(project, *following)
    if next_one.returncode != 0:
        found.append(("the next command does not work", next_one))
    records = in_records(project)
    if in_file(project) != records:
        found.append(("the file does not say what the records say", (in_file(project), records)))
    if line[0] == "import" and (records["t1"].get("note"), records.get("t3", {}).get("status")) != ("theirs", "available"):
        found.append(("what was imported is lost", records))
    followed = json.loads(run(project, "coordination", "project", "--json").stdout)
    if followed["drift"]:
        found.append(("something is told as changed by others", followed))
    # What was left beside a record of another agent goes with its next change, or with this.
    run(project, "doctor", "--repair")
    run(project, "task", "add", "After")
    replayed = run(project, "replay", "--verify")
    if replayed.returncode != 0:
        found.append(("history does not explain it", replayed))
    left = [str(path) for path in project.rglob(".stepmark-*.tmp")]
    if left:
        found.append(("temporary files are left", left))
    return found


def one(template, folder, number, command, occurrence):
    line, holds, following = command
    project = folder / f"project-{number}-{occurrence}"
    shutil.copytree(template, project, symlinks=True)
    try:
        was_killed, done = killed(project, line, occurrence)
        if not was_killed:
            return None
        return problems(project, line, holds, following)
    finally:
        shutil.rmtree(project)


def template_for(folder, number, line):
    template = folder / f"template-{number}"
    (template / ".stepmark").mkdir(parents=True)
    (template / ".stepmark/config.yaml").write_text(CONFIG)
    for before in BEFORE:
        done = run(template, *before)
        assert done.returncode == 0, done
    file = json.loads((template / FILE).read_text())
    file["tasks"][0]["note"] = "theirs"
    if line[0] == "import":
        file["tasks"].append({"id": "t3", "description": "Three", "status": "available"})
        (template / OTHER).parent.mkdir()
        (template / OTHER).write_text(json.dumps(file))
    if line[:2] == ["coordination", "project"]:
        (template / FILE).write_text(json.dumps(file))
    return template


def main():
    global passed, failed
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = pathlib.Path(name).resolve()
        (folder / "home").mkdir()
        for number, command in enumerate(COMMANDS):
            line = command[0]
            template = template_for(folder, number, line)
            count, first = 0, 1
            while first:
                occurrences = range(first, first + 16)
                results = pool.map(lambda occurrence: one(template, folder, number, command, occurrence), occurrences)
                for occurrence, found in zip(occurrences, list(results)):
                    if found is None:
                        first = 0
                        continue
                    count, passed, failed = count + 1, passed + (not found), failed + bool(found)
                    for problem, detail in found:
                        print(f"FAIL {' '.join(line)} killed at call {occurrence}: {problem}\n     {detail}", flush=True)
                first = first and first + 16
            print(f"{' '.join(line):50} {count} kills", flush=True)
            assert count > 20, "the command was killed"
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
