#!/usr/bin/env python3
"""Every package of the build has a licence that deny.toml allows, comes from the registry or this checkout, and is not
banned there. The same lists serve `cargo deny check licenses sources bans`, which takes minutes to install."""

import json
import re
import subprocess
import sys
import tomllib

rules = tomllib.load(open("deny.toml", "rb"))
allowed = set(rules["licenses"]["allow"])
banned = {entry["crate"] for entry in rules["bans"]["deny"]}
metadata = json.loads(subprocess.run(["cargo", "metadata", "--format-version", "1", "--locked"], check=True, capture_output=True).stdout)


def is_allowed(expression):
    """SPDX with OR and AND; `/` is an old spelling of OR. AND binds tighter."""
    expression = (expression or "").replace("/", " OR ")
    while "(" in expression:
        expression = re.sub(r"\(([^()]*)\)", lambda inner: "MIT" if is_allowed(inner[1]) else "none", expression)
    return any(all(term.strip() in allowed for term in choice.split(" AND ")) for choice in expression.split(" OR "))


problems = []
for package in metadata["packages"]:
    name = f"{package['name']} {package['version']}"
    if package["name"] in banned:
        problems.append(f"{name} is banned by deny.toml")
    if not is_allowed(package["license"]):
        problems.append(f"{name} has the licence {package['license']!r}, which deny.toml does not allow")
    if package["source"] and not package["source"].startswith("registry+"):
        problems.append(f"{name} comes from {package['source']}")
print("\n".join(problems) or f"{len(metadata['packages'])} packages: licences and sources are as deny.toml wants them")
sys.exit(1 if problems else 0)
