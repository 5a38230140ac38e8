"""The Rust sources of this checkout, and which of them are tests: for size.py, order.py and texts.py."""

import pathlib
import re
import subprocess

CHECKOUT = pathlib.Path(__file__).resolve().parents[1]
TEST_FILE = re.compile(r"(cases|.*_cases|tests|sample.*|scripted.*|scratch.*)(\.rs)?")
PATH_GOES_ON = re.compile(r"[\w:{*]|\s+as\s+\w")
COMMENT = re.compile(r"(?m)^\s*//.*$|\s//\s.*$")


def files_under(folder):
    """The Rust files under `folder` that git has, or would take, in order."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", folder],
        cwd=CHECKOUT, check=True, capture_output=True, text=True,
    ).stdout
    paths = (pathlib.Path(name) for name in sorted(set(listed.split("\0"))) if name.endswith(".rs"))
    return [path for path in paths if (CHECKOUT / path).is_file()]


def is_test(path):
    """Whether a whole file serves tests: by its own name, or a folder's."""
    return any(TEST_FILE.fullmatch(part) for part in path.parts)


def product_of(path):
    """The text of a file without its items that are `#[cfg(test)]`, wherever they are."""
    lines, kept, at = (CHECKOUT / path).read_text().splitlines(keepends=True), [], 0
    while at < len(lines):
        if lines[at].lstrip().startswith(("#[cfg(test)]", "#[cfg(all(test,")):
            indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
            while lines[at].lstrip().startswith("#["):
                at += 1
            while not lines[at].startswith(indent + "}") and not lines[at].rstrip().endswith((";", "},", "}")):
                at += 1
                if lines[at - 1].rstrip().endswith("{"):
                    at = next(end for end in range(at, len(lines)) if lines[end].startswith(indent + "}"))
        else:
            kept.append(lines[at])
        at += 1
    return "".join(kept)


def code_of(path):
    """The code of a file without comments and tests."""
    return COMMENT.sub("", product_of(path))


def used_paths(text, prefix):
    """The paths that stand behind `prefix` in `text`, with the names in braces one by one: `a::{b, c::d}` is a::b and a::c::d."""
    for start in re.finditer(rf"(?<![\w:]){prefix}", text):
        end, depth = start.end(), 0
        while end < len(text) and (depth or PATH_GOES_ON.match(text, end)):
            depth += (text[end] == "{") - (text[end] == "}")
            end += 1
        yield from leaves(text[start.end():end])


def leaves(tree):
    """The paths of one tree of `use`, `as` told by the last word."""
    tree = tree.strip()
    if "{" not in tree:
        yield tree
        return
    stem, inner = tree.split("{", 1)
    parts, depth = [""], 0
    for letter in inner.rstrip().removesuffix("}"):
        depth += (letter == "{") - (letter == "}")
        parts.append("") if letter == "," and not depth else parts.append(parts.pop() + letter)
    for part in parts:
        if part.strip():
            yield from (stem + leaf for leaf in leaves(part))
