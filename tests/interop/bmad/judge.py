"""Judgements that are counted, and the program that is judged: the first argument."""

import json
import pathlib
import subprocess
import sys

STEPMARK = pathlib.Path(sys.argv[1]).resolve()
results = {True: 0, False: 0}


def check(what, holds, detail=""):
    results[bool(holds)] += 1
    print(f"ok   {what}" if holds else f"FAIL {what}\n     {detail}")


def run(*command, cwd, expect=0):
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if expect is not None and done.returncode != expect:
        sys.exit(f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done


def stepmark(*arguments, cwd, expect=0):
    return run(STEPMARK, *arguments, cwd=cwd, expect=expect)


def stepmark_json(*arguments, cwd, expect=0):
    return json.loads(stepmark(*arguments, "--json", cwd=cwd, expect=expect).stdout)
