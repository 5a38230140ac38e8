#!/usr/bin/env python3
"""Breaks conditions of the rules, the transitions and the lifecycles one at a time, and tells which the tests do not notice.

    benches/mutants.py [--seed 4] [--count 150] [--only REGEX] [--iterate] [--whole] [--list]

Needs cargo-mutants (`cargo install cargo-mutants --locked`). docs/mutation-check.md says what came out. What is written stands
in target/mutants/slice or, with --whole, target/mutants/whole: `tree` is the copy that is broken, `mutants.out` the result.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "target" / "mutants"
LAST_STAGE = "transition"
STAGES = ["check", "transition", "lifecycle"]
SCOPE = ["--package", "stepmark-model", *(f"--file=crates/model/src/{stage}/**" for stage in STAGES)]
SECONDS_A_TEST = 60


def copy_tracked_files(tree, extent):
    """Brings the copy up to date. Unchanged files keep their times, so that a second run builds only what changed."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
    tracked = {name for name in listed.decode().split("\0") if name and (ROOT / name).is_file()}
    for name in sorted(tracked):
        content = (ROOT / name).read_bytes()
        if name == "crates/model/src/lib.rs" and extent == "slice":
            content = without_later_stages(content.decode()).encode()
        target = tree / name
        if not target.is_file() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    for there in sorted(tree.rglob("*")):
        if there.is_file() and str(there.relative_to(tree)) not in tracked:
            there.unlink()


def without_later_stages(facade):
    """lib.rs up to the last stage that is tested: a stage uses only stages to its left, and the rest need not be built."""
    kept, later, is_later = [], [], False
    for line in facade.splitlines():
        module = re.match(r"(?:pub )?mod (\w+);", line)
        if is_later and module:
            later.append(module[1])
            if kept[-1].startswith("#["):
                kept.pop()
        elif not any(line.startswith(f"pub use {name}::") for name in later):
            kept.append(line)
        is_later = is_later or bool(module and module[1] == LAST_STAGE)
    return "\n".join(kept) + "\n"


def mutants(tree):
    """The names of all mutants of the stages, as cargo-mutants writes them."""
    command = ["cargo", "mutants", "--list", "--json", *SCOPE]
    listed = json.loads(subprocess.run(command, cwd=tree, check=True, capture_output=True).stdout)
    return [mutant["name"] for mutant in listed]


def sample(names, seed, count):
    """`count` of the names, in an order that the seed decides. A name has its line in it, so a sample is one of a commit."""
    return sorted(names, key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())[:count]


def run(names, tree, chosen):
    """Builds and tests each mutant; gives the exit code of cargo-mutants (2: some were missed, 3: some ran out of time).
    Fields left out of a struct are beyond `--re`: cargo-mutants 27 tries all of them, of which the stages have two."""
    environment = os.environ | {
        "CARGO_TARGET_DIR": str(tree.parent / "target"),
        "CARGO_INCREMENTAL": "1",
        "CARGO_PROFILE_DEV_DEBUG": "0",
        "CARGO_PROFILE_TEST_DEBUG": "0",
        "INSTA_UPDATE": "no",
        "PROPTEST_RNG_SEED": "1",
        "RUST_BACKTRACE": "0",
    }
    command = ["cargo", "mutants", "--in-place", *SCOPE, "--output", str(tree.parent), "--caught", "--unviable"]
    command += ["--timeout", str(SECONDS_A_TEST), "--build-timeout", "600", "--cargo-arg=--lib"]
    command += [part for name in names for part in ("--re", f"^{re.escape(name)}$")]
    command += ["--iterate"] if chosen.iterate else []
    if not chosen.whole:
        command += ["--", "--", *(f"{stage}::" for stage in STAGES)]
    else:
        command += ["--cargo-arg=--test=rule_pages"]
    return subprocess.run(command, cwd=tree, env=environment).returncode


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seed", default="4", help="decides which mutants are taken")
    arguments.add_argument("--count", type=int, default=150, help="how many of them")
    arguments.add_argument("--only", help="instead of a sample, all mutants whose name has a match of this")
    arguments.add_argument("--iterate", action="store_true", help="leave out what the run before caught")
    arguments.add_argument("--whole", action="store_true", help="run the tests of later stages and of the pages, too")
    arguments.add_argument("--list", action="store_true", help="print the mutants and run nothing")
    chosen = arguments.parse_args()
    if not shutil.which("cargo-mutants"):
        sys.exit("mutants: cargo-mutants is not installed: `cargo install cargo-mutants --locked`")
    extent = "whole" if chosen.whole else "slice"
    tree = FOLDER / extent / "tree"
    copy_tracked_files(tree, extent)
    names = mutants(tree)
    if chosen.only:
        taken = [name for name in names if re.search(chosen.only, name)]
    else:
        taken = sample(names, chosen.seed, chosen.count)
    print(f"{len(taken)} of {len(names)} mutants", flush=True)
    if chosen.list:
        return print("\n".join(taken))
    sys.exit(run(taken, tree, chosen))


if __name__ == "__main__":
    main()
