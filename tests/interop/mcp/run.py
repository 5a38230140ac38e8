#!/usr/bin/env python3
"""`stepmark mcp` under programs of others: the inspector of the protocol, its Python client, and its conformance suite.

Usage: run.py STEPMARK_BINARY HTTP_DOOR. Wants `npm install` in this folder. The Python client is `mcp` (PyPI), from the folder that
STEPMARK_TOOLS names, else from a virtual environment that is made. HTTP_DOOR is the example of crates/mcp, since the suite speaks
HTTP only; of its scenarios those run that are about what the server offers: tools, and no prompts, resources or questions.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import venv

STEPMARK, DOOR = (str(pathlib.Path(program).resolve()) for program in sys.argv[1:3])
HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = HERE / "node_modules"
# The suite wants Node 22, whatever runs the other programs.
NODE = str(PACKAGES / "node/bin/node")
ERAS = ["legacy", "auto", "modern"]
SCENARIOS = ["server-initialize", "ping", "tools-list", "tools-call-simple-text", "tools-call-error", "dns-rebinding-protection"]
TOOLS = [
    "init_coordination", "create_task", "create_tasks_batch", "get_status", "get_all_tasks", "get_results", "register_agent",
    "claim_task", "start_task", "complete_task", "fail_task", "heartbeat", "add_discovery", "get_discoveries", "get_master_plan",
]
passed = failed = 0


def check(what, holds, detail=""):
    global passed, failed
    passed, failed = passed + bool(holds), failed + (not holds)
    print(f"ok   {what}" if holds else f"FAIL {what}\n     {detail}")


def project(folder, name):
    """A folder that is a project, in which coordination has not begun."""
    place = folder / name
    (place / ".stepmark").mkdir(parents=True)
    (place / ".stepmark/config.yaml").write_text("")
    return place


def inspect(place, era, *arguments):
    server = [STEPMARK, "--root", str(place), "mcp", "--tools", "coordination"]
    inspector = [NODE, str(PACKAGES / ".bin/mcp-inspector"), "--cli", *server, "--protocol-era", era, "--format", "json", *arguments]
    return subprocess.run(inspector, cwd=place, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)


def call(place, era, tool, **arguments):
    return inspect(place, era, "--method", "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments))


def inspector(folder):
    for era in ERAS:
        place = project(folder, f"inspected-{era}")
        listed = inspect(place, era, "--method", "tools/list", "--strict")
        names = [tool["name"] for tool in json.loads(listed.stdout)["result"]["tools"]] if listed.stdout else []
        check(f"inspector, {era}: lists the tools, whose schemas every model reads", listed.returncode == 0 and names == TOOLS, listed)
        check(f"inspector, {era}: complains of nothing", listed.stderr.strip() == "", listed.stderr)
        begun = call(place, era, "init_coordination", goal="Build a shed")
        check(f"inspector, {era}: calls a tool", begun.returncode == 0 and "Build a shed" in begun.stdout, begun)
        refused = call(place, era, "start_task", agent_id="ada", task_id="none")
        check(f"inspector, {era}: is told of a refusal", refused.returncode == 5 and "none" in refused.stdout + refused.stderr, refused)
        unknown = call(place, era, "no_tool")
        check(f"inspector, {era}: an unknown tool is an error", unknown.returncode == 5 and "not_found" in unknown.stderr, unknown)


def python_client(folder):
    tools = pathlib.Path(os.environ["STEPMARK_TOOLS"]).resolve() if "STEPMARK_TOOLS" in os.environ else folder / "python/bin"
    if "STEPMARK_TOOLS" not in os.environ:
        venv.create(folder / "python", with_pip=True)
        subprocess.run([tools / "pip", "install", "--quiet", "mcp==2.3.0"], check=True)
    for mode, version in [("auto", "2026-07-28"), ("legacy", "2025-11-25")]:
        place = project(folder, f"python-{mode}")
        command = [tools / "python", HERE / "every_tool.py", STEPMARK, place, mode, version]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        called = set(done.stdout.split())
        check(f"Python client, {mode}: calls every tool", done.returncode == 0 and called == set(TOOLS), done.stdout + done.stderr)


def conformance():
    door = subprocess.Popen([DOOR], stdout=subprocess.PIPE, text=True)
    try:
        url = door.stdout.readline().strip()
        for scenario in SCENARIOS:
            suite = [NODE, str(PACKAGES / ".bin/conformance"), "server", "--url", url, "--scenario", scenario]
            done = subprocess.run(suite, capture_output=True, text=True, timeout=120)
            check(f"conformance: {scenario}", done.returncode == 0 and "SUCCESS" in done.stdout, done.stdout + done.stderr)
    finally:
        door.kill()


with tempfile.TemporaryDirectory() as name:
    inspector(pathlib.Path(name))
    python_client(pathlib.Path(name))
conformance()
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
