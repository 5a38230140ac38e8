#!/usr/bin/env python3
"""Cuts the power of a file system again and again while two processes commit, take back and seal: what the block device was given until then is
kept, what the kernel still held is lost. After each cut every acknowledged command is there, nothing is torn, nothing comes back that was taken
back, and history explains every artifact.

Usage: power_cut.py STEPMARK_BINARY [CUTS]. Wants root, loop devices and the programs that make the file systems; without them it says so and ends.
"""

import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

STEPMARK = str(pathlib.Path(sys.argv[1]).resolve())
CUTS = int(sys.argv[2]) if len(sys.argv) > 2 else 48
FILE_SYSTEMS = [
    ("ext4", "mkfs.ext4 -q -F", "loop"),
    ("ext4, data=writeback", "mkfs.ext4 -q -F", "loop,data=writeback"),
    ("btrfs", "mkfs.btrfs -q -f", "loop"),
    ("btrfs, flushoncommit", "mkfs.btrfs -q -f", "loop,flushoncommit"),
    ("xfs", "mkfs.xfs -q -f", "loop"),
]
FILES = ["docs/a.md", "docs/b.md"]


def call(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)


def must(*words):
    done = call(*words)
    if done.returncode != 0:
        raise OSError(f"{' '.join(words)}: {done.stderr.strip()}")


def stepmark(project, *arguments):
    environment = {"PATH": os.environ["PATH"], "HOME": str(project), "NO_COLOR": "1", "GIT_CONFIG_NOSYSTEM": "1"}
    return call(STEPMARK, *arguments, cwd=project, env=environment)


class Worker(threading.Thread):
    """One process after the other on one file, and what each of them must leave."""

    def __init__(self, project, path, number, kept):
        super().__init__()
        self.project, self.path, self.number, self.kept = project, path, number, kept
        # The two values after each command: `acknowledged` tells the last of them that is, the one behind is under way.
        self.states, self.acknowledged, self.is_over, self.wrong = [kept], 0, False, None

    def do(self, state, *arguments):
        self.states.append(state)
        done = stepmark(self.project, *arguments)
        if done.returncode != 0 and not self.is_over:
            self.wrong = done
        if done.returncode == 0:
            self.acknowledged = len(self.states) - 1

    def run(self):
        _, kept = self.kept
        while not self.is_over and not self.wrong:
            self.number += 1
            self.do((self.number, kept), "set", self.path, f"count={self.number}")
            self.do((self.number, self.number), "set", self.path, f"mark={self.number}")
            told = stepmark(self.project, "log", self.path).stdout.split()
            if self.is_over or self.wrong:
                break
            if self.number % 3 == 0:
                self.do((self.number, kept), "undo", told[0])
            else:
                kept = self.number
            if self.number % 5 == 0:
                self.do(self.states[-1], "checkpoint", self.path)


def state_of(project, path):
    text = (project / path).read_text()
    value = lambda key: int(next(iter(re.findall(rf"^{key}: (\d+)$", text, re.M)), 0))
    return value("count"), value("mark")


def judge(project, workers):
    """What is wrong after the cut."""
    for worker in workers:
        if worker.wrong:
            yield f"a command failed before the cut: {worker.wrong}"
        found = state_of(project, worker.path)
        if found not in worker.possible:
            yield f"{worker.path} is {found} and not one of {worker.possible}"
    repaired = stepmark(project, "doctor", "--repair")
    for worker in workers:
        if (found := state_of(project, worker.path)) not in worker.possible:
            yield f"{worker.path} is {found} after the repair and not one of {worker.possible}"
    for look in [stepmark(project, "doctor"), stepmark(project, "replay", "--verify")]:
        if look.returncode != 0:
            yield f"{repaired} {look}"


def cut_again_and_again(folder, make, options):
    image, clone, mount = folder / "image", folder / "clone", folder / "mount"
    must("truncate", "-s", "400M", str(image))
    must(*make.split(), str(image))
    mount.mkdir()
    must("mount", "-o", options, str(image), str(mount))
    failures = 0
    try:
        project = mount / "project"
        for path in FILES:
            (project / path).parent.mkdir(parents=True, exist_ok=True)
            (project / path).write_text("---\nstatus: draft\n---\n")
        must("git", "init", "-q", str(project))
        os.sync()
        states, number = {path: (0, 0) for path in FILES}, 0
        for cut in range(CUTS):
            workers = [Worker(project, path, number, states[path]) for path in FILES]
            [worker.start() for worker in workers]
            time.sleep(random.uniform(0.05, 1.0))
            for worker in workers:
                worker.cut = worker.acknowledged
            must("cp", "--reflink=always", str(image), str(clone))
            for worker in workers:
                worker.possible = worker.states[worker.cut :]
                worker.is_over = True
            [worker.join() for worker in workers]
            must("umount", str(mount))
            clone.rename(image)
            must("mount", "-o", options, str(image), str(mount))
            for wrong in judge(project, workers):
                failures += 1
                print(f"FAIL cut {cut}: {wrong}", flush=True)
            states = {path: state_of(project, path) for path in FILES}
            number = max(worker.number for worker in workers)
    finally:
        call("umount", str(mount))
        shutil.rmtree(folder)
    return failures


def main():
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        disk, mount = pathlib.Path(folder) / "disk", pathlib.Path(folder) / "mount"
        mount.mkdir()
        try:
            # A file system that copies a file at one moment, for the images of the others.
            must("truncate", "-s", "6G", str(disk))
            must("mkfs.xfs", "-q", "-f", "-m", "reflink=1", str(disk))
            must("mount", "-o", "loop", str(disk), str(mount))
        except OSError as error:
            print(f"SKIPPED: no power can be cut here: {error}")
            return 0
        try:
            for name, make, options in FILE_SYSTEMS:
                (mount / "one").mkdir()
                found = cut_again_and_again(mount / "one", make, options)
                print(f"{name:24} {CUTS} cuts, {found} failures", flush=True)
                failures += found
        finally:
            call("umount", str(mount))
    print(f"{len(FILE_SYSTEMS) * CUTS - failures} passed, {failures} failed")
    return failures > 0


sys.exit(main())
