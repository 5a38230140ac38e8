"""Killing a command (`kill -9`) at each of its system calls that may change the disk, one after the other."""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

# Between two of these nothing on the disk is changed: a kill at any other call leaves what a kill at the next of these leaves.
CHANGES = (
    "write,pwrite64,writev,pwritev,pwritev2,copy_file_range,sendfile,ftruncate,truncate,fallocate,openat,openat2,open,creat,"
    "rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,mkdir,mkdirat,rmdir,chmod,fchmod,fchmodat,utimensat,"
    "fsync,fdatasync,sync_file_range,flock,fcntl,exit_group"
)
AT_ONCE = 16


def run(project, *arguments, prefix=(), given=""):
    program = str(pathlib.Path(sys.argv[1]).resolve())
    environment = {"PATH": os.environ["PATH"], "HOME": str(project.parent / "home"), "NO_COLOR": "1", "RAYON_NUM_THREADS": "1"}
    return subprocess.run([*prefix, program, *arguments], cwd=project, env=environment, capture_output=True, text=True, input=given)


def works(project, *arguments):
    done = run(project, *arguments)
    assert done.returncode == 0, (arguments, done)
    return done


def is_killed(project, line, occurrence, given=""):
    """Runs a command, and tells whether it, or a program that it started, was killed at that call."""
    log = project.parent / f"{project.name}.log"
    inject = ["strace", "-f", "-qq", "-o", str(log), "-e", f"trace={CHANGES}", "-e", f"inject={CHANGES}:signal=KILL:when={occurrence}"]
    run(project, *line, prefix=inject, given=given)
    return "killed by SIGKILL" in log.read_text()


def leftovers(project):
    return [("temporary files are left", str(path)) for path in project.rglob(".stepmark-*.tmp")]


def sweep(cases, prepare, problems, given=None, least=20, step=1):
    """Kills the command of each case (`{name: line}`) at each call, or each `step`th. `prepare(folder, name)` makes the project before it, and
    `problems(project, name)` says what is wrong after a kill. `given` holds what a command reads. Ends the process."""
    passed = failed = 0
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = pathlib.Path(name).resolve()
        (folder / "home").mkdir()
        for number, (name, line) in enumerate(cases.items()):
            template = folder / f"template-{number}"
            template.mkdir()
            prepare(template, name)

            def one(occurrence):
                project = folder / f"project-{number}-{occurrence}"
                shutil.copytree(template, project, symlinks=True)
                try:
                    return problems(project, name) if is_killed(project, line, occurrence, (given or {}).get(name, "")) else None
                finally:
                    shutil.rmtree(project)

            count, first = 0, 1
            while first:
                occurrences = range(first, first + AT_ONCE * step, step)
                first += AT_ONCE * step
                for occurrence, found in zip(occurrences, list(pool.map(one, occurrences))):
                    if found is None:
                        first = 0
                        continue
                    count, passed, failed = count + 1, passed + (not found), failed + bool(found)
                    for problem, detail in found:
                        print(f"FAIL {name} killed at call {occurrence}: {problem}\n     {detail}", flush=True)
            print(f"{name:50} {count} kills", flush=True)
            assert count > least, "the command was killed"
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)
