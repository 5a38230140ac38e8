#!/usr/bin/env python3
"""Made by `stepmark memlog shim`: `stepmark memlog` locks, BMAD's own script (memlog_bmad.py) does not.

Without stepmark on the search path that script runs. `stepmark memlog shim --remove` puts it back.
"""
import os
import runpy
import shutil
import subprocess
import sys

stepmark = shutil.which("stepmark")
if stepmark and sys.argv[1:2] and sys.argv[1] in ("init", "append", "set"):
    sys.exit(subprocess.call([stepmark, "memlog", *sys.argv[1:]]))
own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "memlog_bmad.py")
sys.argv[0] = own
runpy.run_path(own, run_name="__main__")
