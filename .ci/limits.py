"""The numbers of size.toml: none may be exceeded. A commit that raises one says why."""

import pathlib
import sys
import tomllib

FILE = pathlib.Path(__file__).with_name("size.toml")
HEAD = """\
# What .ci/size.py and .ci/order.py hold the sources to. `--write` behind either writes today's numbers.
# Numbers may fall at any time; a commit that raises one, or adds a line to [order…] or [folders…], says why.
"""


def settle(sections, writes):
    """Holds `sections` (`part.name`, its numbers) to those of the file, or writes them there; ends the process."""
    parts = {section.split(".")[0] for section in sections}
    allowed = {
        f"{part}.{name}": numbers
        for part, inner in (tomllib.loads(FILE.read_text()) if FILE.exists() else {}).items()
        for name, numbers in inner.items()
    }
    if writes:
        write({section: numbers for section, numbers in allowed.items() if section.split(".")[0] not in parts} | sections)
        return
    complaints = []
    for section in [*sections, *(name for name in allowed if name.split(".")[0] in parts and name not in sections)]:
        found, limit = sections.get(section, {}), allowed.get(section, {})
        for name, number in found.items():
            if number > limit.get(name, 0):
                complaints.append(f"[{section}] {name}: {number}, and .ci/size.toml allows {limit.get(name, 0)}")
        for name in limit.keys() - found.keys():
            complaints.append(f"[{section}] {name}: it is gone, so its line in .ci/size.toml goes too")
    print("\n".join(complaints), end="\n" if complaints else "")
    sys.exit(1 if complaints else 0)


def write(sections):
    text = HEAD
    for section, numbers in sorted(sections.items()):
        part, name = section.split(".")
        text += f"\n[{part}.{quoted(name)}]\n" + "".join(f"{quoted(word)} = {number}\n" for word, number in numbers.items())
    FILE.write_text(text)


def quoted(name):
    return name if name.replace("-", "").isalnum() else f'"{name}"'
