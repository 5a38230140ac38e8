#!/usr/bin/env python3
"""The comments of the Rust sources, and the words of the book. Usage: texts.py

Documents  that are not in the repository are not named.
First lines of docs in crates/*/src and benches/src say what an item is or does; none begins with one of QUESTIONS. Texts of help and of schemas are free.
Columns    at most WIDEST, but for code, pictures and tables between fences, other tables, and the addresses of links.
Words      README.md and docs/*.md use each of WORST, outside of code, at most as often as it says: a number may only fall.
"""

import re
import sys

from rust_sources import CHECKOUT, files_under

WIDEST = 110
OUTSIDE = re.compile(r"\b(BMAD|CRATES|FORMATS|STYLE|SYSTEMS|WORDS)\.md|\bD\d+-Q\d+")
QUESTIONS = re.compile(r"\s*//[/!] (What|Whether|Who|Where|How|Which|When|Why)\b")
DOC = re.compile(r"\s*//[/!]")
PROSE = re.compile(r"\s*//(?![/!]? *(\||\[[^\]]+\]: ))")
CODE = re.compile(r"(?ms)^ *(`{3,}).*?^ *\1 *$|`[^`]+`")
# Patterns of words that readers stumble over, with how often the book has them today: lower a number where you rewrite.
WORST = {
    "stands?": 1, "tells?": 1, "told": 5, "mend(?:s|ed|ing)?": 0, "ledgers?": 4, "nobody": 0, "somebody": 3, "whoever": 1, "of which": 2,
    "is none": 2, "the way back": 0, "(?:bring|brings|brought) in": 0, "(?:take|takes|taken|took) in": 0, "beside": 7, "behind": 6, "goes? on": 0,
    "places?": 10, "held": 1, "of its own": 2, "where there (?:is|are)": 8,
}
# An item with one of these derives gives its docs to those who use the program.
IS_HELP = re.compile(r"(?m)^(?:[ ]*///.*\n|#\[(?:[^\]]|\](?!\n))*\]\n)*#\[derive\([^)]*\b(?:Args|Parser|Subcommand|ValueEnum|JsonSchema)\b[^)]*\)\]\n"
                     r"(?:.*\n)*?(?:\}|.*;)$")


def complaints(file):
    """The lines of `file` that are not as they should be, each with what is wrong."""
    text = (CHECKOUT / file).read_text()
    lines = text.splitlines()
    is_source = file.parts[:2] == ("benches", "src") or file.parts[0] == "crates" and file.parts[2] == "src"
    help_lines = set()
    for item in IS_HELP.finditer(text):
        help_lines.update(range(text.count("\n", 0, item.start()), text.count("\n", 0, item.end()) + 1))
    is_fenced = False
    for number, line in enumerate(lines):
        is_fenced = bool(DOC.match(line)) and is_fenced != ("```" in line)
        if OUTSIDE.search(line):
            yield number, "names a document that is not here"
        if is_source and QUESTIONS.match(line) and number not in help_lines and not (number and DOC.match(lines[number - 1])):
            yield number, "begins with a question: say what the item is or does"
        if len(line) > WIDEST and PROSE.match(line) and not is_fenced:
            yield number, f"is wider than {WIDEST} columns"


def worst_words():
    """The entries of WORST whose words are in the book more often than they may be."""
    pages = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").glob("*.md"))]
    book = [CODE.sub("", page.read_text()) for page in pages]
    for words, most in WORST.items():
        counts = [len(re.findall(rf"(?i)\b(?:{words})\b", re.sub(r"\s+", " ", text))) for text in book]
        if sum(counts) > most:
            pages_with = ", ".join(f"{page.name} {count}" for page, count in zip(pages, counts) if count)
            yield f"docs: `{words}` {sum(counts)} times, at most {most} ({pages_with}): say it plainly"


found = [f"{file}:{number + 1} {wrong}" for file in files_under(".") for number, wrong in complaints(file)]
found += worst_words()
print("\n".join(found) or "every comment and every page is as it should be")
sys.exit(1 if found else 0)
