#!/usr/bin/env python3
"""The order of crates, of the modules of each crate, and the width of folders. Usage: order.py [--write]

Crates   each uses only those that CRATES names for it; those that cannot change a file do not have the feature `write`.
Modules  lib.rs declares them in their order: each uses only those above it. Tests may look anywhere. What is otherwise today
         stands in size.toml as "user -> used" with the number of files; such a number may only fall.
Folders  not more than 20 Rust files side by side. Wider ones stand in size.toml; such a number may only fall.
"""

import collections
import json
import re
import subprocess
import sys

import limits
from rust_sources import CHECKOUT, code_of, files_under, is_test, leaves, used_paths

WIDEST = 20
CRATES = {
    "frontmatter": [],
    "packs": ["frontmatter"],
    "model": ["frontmatter", "packs"],
    "store": ["frontmatter", "packs", "model"],
    "core": ["frontmatter", "packs", "model", "store"],
    "sync": ["frontmatter", "packs", "model", "store"],
    "memory": ["frontmatter", "packs", "model", "store", "sync"],
    "view": ["frontmatter", "packs", "model", "store", "sync", "memory"],
    "mcp": [],
    "cli": ["frontmatter", "packs", "model", "store", "sync", "memory", "view", "mcp"],
    "oracle": ["frontmatter"],
}
READERS = ["sync", "memory", "view"]
# The commands of cli have no order among each other.
ORDERED = ["frontmatter", "packs", "model", "store", "sync", "memory", "view", "mcp"]


def crates():
    """Complaints about who depends on whom, without tests."""
    listed = subprocess.run(["cargo", "metadata", "--no-deps", "--format-version", "1", "--locked"], cwd=CHECKOUT, check=True, capture_output=True)
    packages = {package["name"].removeprefix("stepmark-"): package for package in json.loads(listed.stdout)["packages"]}
    for name, allowed in CRATES.items():
        for dependency in packages[name]["dependencies"]:
            used = dependency["name"].removeprefix("stepmark-")
            if used == dependency["name"] or dependency["kind"] == "dev":
                continue
            if used not in allowed:
                yield f"crates/{name} uses {used}, which does not stand before it"
            if name in READERS and (("write" in dependency["features"]) or (dependency["uses_default_features"] and used in ("store", "core"))):
                yield f"crates/{name} can change files by {used}: it must be without the feature `write`"
    for name in packages.keys() - CRATES.keys() - {"stepmark", "benches"}:
        yield f"crates/{name} has no place in CRATES of .ci/order.py"


def modules(crate):
    """`user -> used` of modules that are declared in the other order, with the number of files."""
    source = CHECKOUT / "crates" / crate / "src"
    root = code_of(source.relative_to(CHECKOUT) / "lib.rs")
    order = re.findall(r"(?m)^(?:pub(?:\(crate\))? )?mod (\w+);", root)
    # What lib.rs shows again under a short name belongs to its module.
    module_of = {name: name for name in order} | {
        re.split(r"::| as ", leaf)[-1]: leaf.split("::")[0]
        for use in re.findall(r"(?m)^pub(?:\(crate\))? use ([^;]+);", root) for leaf in leaves(" ".join(use.split()))
    }
    found = collections.Counter()
    for file in files_under(f"crates/{crate}/src"):
        inner = file.relative_to(f"crates/{crate}/src")
        user = inner.parts[0].removesuffix(".rs")
        if is_test(inner) or user not in order:
            continue
        used = {module_of.get(re.split(r"::| ", path)[0]) for path in used_paths(code_of(file), "crate::")}
        found.update(f"{user} -> {name}" for name in used if name in order and order.index(name) > order.index(user))
    return dict(sorted(found.items()))


def folders():
    """The folders that are wider than WIDEST, with the number of their files."""
    width = collections.Counter(str(file.parent) for file in files_under("."))
    return {folder: number for folder, number in sorted(width.items()) if number > WIDEST}


complaints = list(crates())
print("\n".join(complaints), end="\n" if complaints else "")
numbers = {f"order.{crate}": modules(crate) for crate in ORDERED} | {"folders.wide": folders()}
inverted = {name: sum(edges.values()) for name, edges in numbers.items()}
print("files that use a module below theirs:", ", ".join(f"{name.removeprefix('order.')} {inverted[name]}" for name in numbers if name.startswith("order.")))
print(f"folders with more than {WIDEST} files: {len(numbers['folders.wide'])}")
limits.settle(numbers, "--write" in sys.argv)
sys.exit(1 if complaints else 0)
