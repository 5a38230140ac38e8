#!/usr/bin/env python3
"""How large each crate is, held to the numbers of size.toml. Usage: size.py [--write]

files      in src/, without those that serve tests only (cases.rs, *_cases.rs, tests.rs, sample*, scripted*, scratch*, tests/)
lines      of these files, without items that are `#[cfg(test)]`; blank lines and comments count
tests      lines that serve tests: whole files, items that are `#[cfg(test)]`, and `tests/`
error_types and json_macros: types that derive an error, and `json!` of commands, whose answers are to be types
names      that a user of the crate can write: what lib.rs declares or re-exports as `pub`, and what its public modules do in
           turn; a re-exported module or crate is one name; methods, fields and variants do not count
direct     dependencies that Cargo.toml names, without those of tests
transitive packages that are built for the crate and its default features on Linux, without itself; `reading` without features,
           where SQLite is not among them
"""

import re
import subprocess
import sys

import limits
from rust_sources import CHECKOUT, code_of, files_under, is_test, leaves, product_of

TOTALS = ["files", "lines", "tests", "error_types", "json_macros"]
ERROR_TYPE = re.compile(r"(?s)#\[derive\([^\]]*\b(?:thiserror::)?Error\b[^\]]*\)\]")
ITEM = re.compile(r"(?m)^pub (?:const fn|async fn|struct|enum|trait|fn|type|const|static|union|mod) (?!fn )(\w+)(;)?")
USE = re.compile(r"(?m)^pub use ([^;]+);")


def names(file, is_root=True):
    """The public names of the module in `file` and of the public modules below it."""
    code = code_of(file)
    found = set(re.findall(r"(?m)^macro_rules! (\w+)", code)) if "#[macro_export]" in code else set()
    for use in USE.findall(code):
        for leaf in leaves(" ".join(use.split())):
            name = re.split(r"::| as ", leaf)[-1]
            if name == "*":
                sys.exit(f"{file}: `pub use {leaf}` hides what it shows from this count")
            found.add(re.split(r"::", leaf)[-2] if name == "self" else name)
    for name, is_file in ITEM.findall(code):
        found.add(name)
        if is_file:
            folder = file.parent if is_root or file.name == "mod.rs" else file.with_suffix("")
            module = next(path for path in [folder / f"{name}.rs", folder / name / "mod.rs"] if (CHECKOUT / path).is_file())
            found |= {f"{name}::{inner}" for inner in names(module, is_root=False)}
    return found


def tree(package, *arguments):
    """The packages that `package` is built from, besides itself."""
    command = ["cargo", "tree", "--locked", "--quiet", "--package", package, "--edges", "normal,build", "--prefix", "none",
               "--no-dedupe", "--target", "x86_64-unknown-linux-gnu", *arguments]
    listed = subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True, text=True).stdout
    packages = {tuple(line.split()[:2]) for line in listed.splitlines() if line.strip()}
    return {(name, version) for name, version in packages if name != package}


def tests(file):
    """The number of lines that serve tests."""
    text = (CHECKOUT / file).read_text()
    is_whole = is_test(file) or "tests" in file.parts
    return text.count("\n") - (0 if is_whole else product_of(file).count("\n"))


def measure(folder):
    manifest = (CHECKOUT / folder / "Cargo.toml").read_text()
    package = re.search(r'(?m)^name = "(.*)"', manifest)[1]
    sources = [file for file in files_under(folder / "src") if not is_test(file)]
    root = folder / "src" / ("lib.rs" if (CHECKOUT / folder / "src/lib.rs").exists() else "main.rs")
    numbers = {
        "files": len(sources),
        "lines": sum(product_of(file).count("\n") for file in sources),
        "tests": sum(tests(file) for file in [*files_under(folder / "src"), *files_under(folder / "tests")]),
        "error_types": sum(len(ERROR_TYPE.findall(product_of(file))) for file in sources),
        "json_macros": sum(product_of(file).count("json!") for file in sources if "commands" in file.parts),
        "names": len(names(root)),
        "direct": len(tree(package, "--depth", "1")),
        "transitive": len(tree(package)),
    }
    if re.search(r"(?m)^write = ", manifest):
        reading = tree(package, "--no-default-features")
        if any(name == "libsqlite3-sys" for name, _ in reading):
            sys.exit(f"{package} without features brings SQLite along: no crate with another one can stand beside it")
        numbers["reading"] = len(reading)
    return package, numbers


def main():
    folders = [path.parent for path in sorted((CHECKOUT / "crates").glob("*/Cargo.toml"))]
    sizes = dict(measure(folder.relative_to(CHECKOUT)) for folder in [*folders, CHECKOUT])
    published = [size for package, size in sizes.items() if package != "stepmark-oracle"]
    sizes["all but the oracle"] = {word: sum(size[word] for size in published) for word in TOTALS}
    columns = [*TOTALS, "names", "direct", "transitive", "reading"]
    print(f"{'':20}", *(f"{column:>11}" for column in columns))
    for package, size in sizes.items():
        print(f"{package:20}", *(f"{size.get(column, ''):>11}" for column in columns))
    limits.settle({f"size.{package}": size for package, size in sizes.items()}, "--write" in sys.argv)


main()
