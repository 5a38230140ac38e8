"""The numbers of size.toml: none may be exceeded, and none may be above what an earlier commit had, but for the
lines of [budget], each of which an issue grants."""

import functools
import pathlib
import subprocess
import sys
import tomllib

FILE = pathlib.Path(__file__).with_name("size.toml")
HEAD = """\
# What .ci/size.py and .ci/order.py hold the sources to. `--write` behind either writes today's numbers.
# Numbers fall. One that is above an earlier commit's needs a line in [budget], `"SECTION NAME" = {limit = N, why = "…"}`.
"""


def settle(sections, writes):
    """Holds `sections` (`part.name`, its numbers) to those of the file, or writes them there; ends the process."""
    parts = {section.split(".")[0] for section in sections}
    file = tomllib.loads(FILE.read_text()) if FILE.exists() else {}
    budget, allowed = file.pop("budget", {}), flat(file)
    if writes:
        kept = {section: numbers for section, numbers in allowed.items() if section.split(".")[0] not in parts}
        write(kept | sections, budget)
        return
    complaints = []
    for section in [*sections, *(name for name in allowed if name.split(".")[0] in parts and name not in sections)]:
        found, limit = sections.get(section, {}), allowed.get(section, {})
        for name, number in found.items():
            if number > limit.get(name, 0):
                complaints.append(f"[{section}] {name}: {number}, and .ci/size.toml allows {limit.get(name, 0)}")
            granted = budget.get(f"{section} {name}", {}).get("limit", 0)
            if number > max(lowest(section, name, number), granted):
                complaints.append(f"[{section}] {name}: {number}, and an earlier commit had {lowest(section, name, number)}")
        for name in limit.keys() - found.keys():
            complaints.append(f"[{section}] {name}: it is gone, so its line in .ci/size.toml goes too")
    print("\n".join(complaints), end="\n" if complaints else "")
    sys.exit(1 if complaints else 0)


def flat(file):
    return {f"{part}.{name}": numbers for part, inner in file.items() for name, numbers in inner.items()}


@functools.cache
def earlier():
    """What the commits since there is a [budget] had; nothing in a checkout without history."""
    git = ["git", "-C", FILE.parent]
    commits = subprocess.run([*git, "log", "--format=%H", "--", FILE], capture_output=True, text=True).stdout.split()
    files = []
    for commit in commits:
        shown = subprocess.run([*git, "show", f"{commit}:./{FILE.name}"], capture_output=True, text=True)
        # Not the first without it ends the list: a branch that is merged may be older.
        if "\n[budget]\n" in shown.stdout:
            file = tomllib.loads(shown.stdout)
            del file["budget"]
            files.append(flat(file))
    return files


def lowest(section, name, number):
    """The least that an earlier commit had of a number; itself where there was none."""
    return min((file[section][name] for file in earlier() if name in file.get(section, {})), default=number)


def write(sections, budget):
    text = HEAD + "\n[budget]\n"
    for line, grant in sorted(budget.items()):
        text += f'{quoted(line)} = {{limit = {grant["limit"]}, why = "{grant["why"]}"}}\n'
    for section, numbers in sorted(sections.items()):
        part, name = section.split(".")
        text += f"\n[{part}.{quoted(name)}]\n" + "".join(f"{quoted(word)} = {number}\n" for word, number in numbers.items())
    FILE.write_text(text)


def quoted(name):
    return name if name.replace("-", "").replace("_", "").isalnum() else f'"{name}"'
