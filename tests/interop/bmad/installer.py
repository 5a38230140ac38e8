"""The installers of BMAD that `npm install --prefix tests/interop/bmad` has put beside this file."""

import json
import pathlib

PACKAGES = pathlib.Path(__file__).resolve().parent / "node_modules"


def installer_of(release):
    """The program `bmad-method` of a release."""
    package = PACKAGES / f"bmad-{release}"
    return package / json.loads((package / "package.json").read_text())["bin"]["bmad-method"]
