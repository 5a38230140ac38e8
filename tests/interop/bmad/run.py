#!/usr/bin/env python3
"""stepmark beside the official BMAD installers (npm `bmad-method` 6.12.0, 6.11.0, 6.10.0, 6.5.0 and 6.0.4).

Usage: run.py STEPMARK_BINARY; the packages of package.json must be installed beside this file, and `ruamel.yaml` for the Python that runs it. Makes
real projects with these releases in a temporary folder, and checks that stepmark reads them without a false alarm, writes manifests that they accept,
walks their workflows, and that BMAD's own scripts accept what it writes. 6.5.0 stands for 6.6.0, which npm does not offer everywhere: of 214 files
of skills in a public project of 6.6.0 it has 211 to the byte, 6.8.0 has 111.
"""

import csv
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from installer import installer_of
from judge import STEPMARK, check, results, run, stepmark, stepmark_json
from sprints import keeps_spines, keeps_sprints


def install(release, folder):
    """The installer of `release`, and a project made by it."""
    project = folder / f"project-{release}"
    project.mkdir()
    installer = installer_of(release)
    run(installer, "install", "--directory", project, "--modules", "bmm", "--tools", "claude-code", "-y", cwd=project)
    return installer, project


def rows(manifest):
    with open(manifest, newline="") as file:
        return list(csv.DictReader(file))


def manifests(release, installer, project):
    official = project / "_bmad/_config/files-manifest.csv"
    verified = stepmark_json("manifest", "verify", "--root", "_bmad", "--file", "_bmad/_config/files-manifest.csv", cwd=project)
    counts = verified["counts"]
    alarms = {kind: counts[kind] for kind in ("modified", "missing", "unreadable")}
    check(f"{release}: no false alarm on a fresh install", not any(alarms.values()), counts)

    ours = project / "ours.csv"
    stepmark("manifest", "write", "--root", "_bmad", "--file", "ours.csv", cwd=project)
    lines = official.read_bytes().split(b"\n")
    on_disk = lambda row: (project / "_bmad" / row["path"]).is_file()
    wanted = [row for row in rows(official) if on_disk(row)]
    written = {row["path"]: row for row in rows(ours)}
    shared = [row for row in wanted if row["path"] in written]
    same = lambda row: written[row["path"]] == {**row, "hash": hashlib.sha256((project / "_bmad" / row["path"]).read_bytes()).hexdigest()}
    check(f"{release}: our rows equal the installer's for the same files", all(map(same, shared)), [row for row in shared if not same(row)][:3])
    missing = [row["path"] for row in wanted if row["path"] not in written]
    check(f"{release}: every file of the installer's that is there has a row", not missing, missing)
    paths = {row["path"] for row in shared}
    ours_order = [row["path"] for row in rows(ours) if row["path"] in paths]
    check(f"{release}: our order is the installer's", ours_order == [row["path"] for row in shared],
          [pair for pair in zip(ours_order, (row["path"] for row in shared)) if pair[0] != pair[1]][:5])
    unchanged = [row for row in shared if row["hash"] == written[row["path"]]["hash"]]
    text = ours.read_bytes().split(b"\n")
    theirs = {line for line in lines if line}
    check(f"{release}: rows of unchanged files are the same bytes",
          all(any(row["path"].encode() in line for line in theirs & set(text)) for row in unchanged))

    # The update compares our manifest with the files: an untouched install makes no backup, an edited file gets one.
    stepmark("manifest", "write", "--root", "_bmad", "--file", "_bmad/_config/files-manifest.csv", cwd=project)
    run(installer, "install", "--directory", project, "--action", "update", "-y", cwd=project)
    backups = lambda: sorted(str(path.relative_to(project)) for path in project.rglob("*.bak"))
    check(f"{release}: the installer's update accepts our manifest", backups() == [], backups())
    listed = {row["path"] for row in rows(official)}
    edited = next(path for path in sorted(listed) if path.startswith("bmm/") and (project / "_bmad" / path).is_file() and "config" not in path)
    stepmark("manifest", "write", "--root", "_bmad", "--file", "_bmad/_config/files-manifest.csv", cwd=project)
    target = project / "_bmad" / edited
    target.write_bytes(target.read_bytes() + b"\n")
    found = stepmark_json("manifest", "verify", "--root", "_bmad", "--file", "_bmad/_config/files-manifest.csv", cwd=project, expect=1)
    check(f"{release}: an edited file is found", found["counts"]["modified"] == 1, found["counts"])
    run(installer, "install", "--directory", project, "--action", "update", "-y", cwd=project)
    check(f"{release}: the installer's update finds the same edited file in our manifest", backups() == [f"_bmad/{edited}.bak"], backups())


# What each release writes, and whether our columns of it come from frontmatter or plain markup: all of these must be equal.
CATALOGUES = {"6.12.0": ["skill"], "6.0.4": ["agent", "workflow", "task", "tool"]}


def catalogues(release, project):
    stepmark("project", "--catalogues", cwd=project)
    for kind in CATALOGUES.get(release, CATALOGUES["6.12.0"]):
        official = (project / f"_bmad/_config/{kind}-manifest.csv").read_bytes()
        ours = (project / f".stepmark/manifests/{kind}-manifest.csv").read_bytes()
        theirs, own = official.splitlines(), ours.splitlines()
        check(f"{release}: all {len(theirs) - 1} rows of the {kind} catalogue are the installer's, to the byte", ours == official,
              [pair for pair in zip(own, theirs) if pair[0] != pair[1]][:3] or (len(own), len(theirs)))
    counts = {"6.12.0": {"skill": 20}, "6.0.4": {"agent": 8, "workflow": 20, "task": 5}}
    for kind, least in counts.get(release, counts["6.12.0"]).items():
        found = len(rows(project / f".stepmark/manifests/{kind}-manifest.csv"))
        check(f"{release}: the {kind} catalogue has rows to compare", found >= least, found)
    again = stepmark_json("project", "--catalogues", cwd=project)["projections"][0]
    check(f"{release}: catalogues that are right are not written again", again["written"] == 0, again)
    if release == "6.12.0":
        agents = {row["canonicalId"] for row in rows(project / ".stepmark/manifests/agent-manifest.csv")}
        skills = {row["canonicalId"] for row in rows(project / ".stepmark/manifests/skill-manifest.csv")}
        check("6.12.0: agents are the skills that were installed from an `agents` folder", agents and agents < skills, agents)


# Steps of each workflow of 6.0.4. Those of 6.5.0 are skills, whose names begin with `bmad-`.
CHAINS = {
    "prd.md": ("workflowType: 'prd'", "create-prd", 14),
    "architecture.md": ("workflowType: 'architecture'", "create-architecture", 8),
    "ux-design-specification.md": ("", "create-ux-design", 14),
    "product-brief-demo-2026-01-02.md": ("", "create-product-brief", 6),
    "market-research.md": ("workflowType: 'research'\nresearch_type: 'market'", "market-research", 6),
    "domain-research.md": ("workflowType: 'research'\nresearch_type: 'domain'", "domain-research", 6),
    "technical-research.md": ("workflowType: 'research'\nresearch_type: 'technical'", "technical-research", 6),
    "brainstorming-session-2026-01-02.md": ("session_topic: ''", "brainstorming", 4),
    "epics.md": ("", "create-epics-and-stories", 4),
    "tech-spec-demo.md": ("", "quick-spec", 4),
}
ONLY_6_0 = {"create-product-brief", "quick-spec"}


def chains(release, project):
    folder = project / "_bmad-output/planning-artifacts"
    folder.mkdir(parents=True, exist_ok=True)
    for name, (keys, _, _) in CHAINS.items():
        (folder / name).write_text("---\nstepsCompleted: []\n" + (keys + "\n" if keys else "") + "---\n")
    status = stepmark_json("status", cwd=project)
    found = {artifact["path"].rsplit("/", 1)[-1]: artifact for artifact in status["artifacts"]}
    is_old = release == "6.0.4"
    for name, (_, workflow, total) in CHAINS.items():
        if workflow in ONLY_6_0 and not is_old:
            continue
        workflow = workflow if is_old else f"bmad-{workflow}"
        artifact = found.get(name, {})
        check(f"{release}: {name} belongs to {workflow} with {total} steps",
              (artifact.get("workflow"), artifact.get("total")) == (workflow, total), artifact)


def reads_everything(project):
    markdown = [str(path.relative_to(project)) for path in sorted((project / "_bmad").rglob("*.md"))]
    report = stepmark_json("check", *markdown, cwd=project, expect=None)
    # What 6.0.4 really ships: a template with a key twice, a step with text behind a closing quote, and one
    # with its frontmatter below the heading.
    upstream = {
        ("key-twice", "step-01-validate-prerequisites.md"),
        ("not-yaml", "step-v-07-implementation-leakage-validation.md"),
        ("frontmatter-misplaced", "step-03-technique-execution.md"),
    }
    broken = {(finding["rule"], finding["path"].rsplit("/", 1)[-1]) for finding in report["findings"] if finding["severity"] == "error"}
    check(f"6.0.4: all {len(markdown)} Markdown files of the installation are read", broken == upstream and len(markdown) > 100, broken ^ upstream)


def workflow_tests(project):
    """The tests of the workflow stage that want a real installation: as STEPMARK_WORKFLOW_TESTS, or by cargo with the features of all."""
    checkout = pathlib.Path(__file__).resolve().parents[3]
    built = os.environ.get("STEPMARK_WORKFLOW_TESTS")
    tests = [checkout / built] if built else ["cargo", "test", "--quiet", "--test", "workflows", "--"]
    done = subprocess.run([*tests, "--include-ignored"], cwd=checkout / "crates/store" if built else checkout,
                          env={**os.environ, "STEPMARK_BMAD_6_0_4": str(project)}, capture_output=True, text=True)
    check("6.0.4: the tests of chains and bindings on a real installation", done.returncode == 0, done.stdout + done.stderr)


def walks_the_prd(release, project):
    template = next(project.rglob("prd-template.md"))
    prd = project / "_bmad-output/planning-artifacts/prd.md"
    shutil.copyfile(template, prd)
    body = prd.read_text().split("---\n", 2)[2]
    path = "_bmad-output/planning-artifacts/prd.md"
    walked = []
    while len(walked) < 30:
        answer = stepmark_json("next", path, cwd=project)
        if not answer["next"]:
            break
        step = answer["next"][0]
        check(f"{release}: the file of {step['id']} exists", (project / step["file"]).is_file(), step)
        stepmark("complete", path, step["id"], "--strict", cwd=project)
        walked.append(step["id"])
    names = ["01-init", "02-discovery", "02b-vision", "02c-executive-summary", "03-success", "04-journeys", "05-domain",
             "06-innovation", "07-project-type", "08-scoping", "09-functional", "10-nonfunctional", "11-polish", "12-complete"]
    check(f"{release}: `next` and `complete` walk a PRD from step 1 to 14", walked == [f"step-{name}" for name in names], walked)
    done = stepmark_json("next", path, cwd=project)
    check(f"{release}: then it is finished", done["work_state"] == "finished" and done["done"] == 14, done)
    check(f"{release}: the body of the PRD is as it was", prd.read_text().split("---\n", 2)[2] == body)
    listed = "stepsCompleted: [" + ", ".join(f"'step-{name}'" for name in names) + "]"
    check(f"{release}: the list is spelled as the template is", listed in prd.read_text(), prd.read_text()[:400])


def keeps_memlogs(project):
    """The same calls of BMAD's own script and of stepmark give the same bytes and the same answers."""
    script = project / "_bmad" / "scripts" / "memlog.py"
    calls = [
        ["init", "--workspace", "./PLACE/", "--field", "topic=One", "--field", "goal=a: b", "--field", "topic=Two", "--field", "updated=x"],
        ["append", "--workspace", "PLACE", "--text", " x \t y\nz ", "--type", "decision", "--by", "Ada  B"],
        ["append", "--path", "PLACE/.memlog.md", "--text", "\u00fc \U0001f600", "--by", "me"],
        ["append", "--workspace", "PLACE", "--text=- (x) ---", "--type", "idea"],
        ["append", "--workspace", "PLACE", "--text", ""],
        ["set", "--workspace", "PLACE", "--key", "topic", "--value", "new\nline"],
        ["set", "--workspace", "PLACE", "--key", "status", "--value", "complete"],
        ["set", "--workspace", "PLACE", "--key", "updated", "--value", "ignored"],
        ["append", "--workspace", "PLACE", "--text", "last"],
        ["init", "--workspace", "PLACE"],
    ]
    for call in calls:
        told = []
        for place, program in (("theirs", ["python3", script]), ("ours", [STEPMARK, "memlog"])):
            done = run(*program, *(word.replace("PLACE", place) for word in call), cwd=project, expect=None)
            file = (project / place / ".memlog.md").read_bytes().decode()
            shown = "\n".join("updated" if line.startswith("updated: ") else line for line in file.split("\n"))
            told.append((done.returncode, done.stdout.replace(place, "PLACE"), shown))
        check(f"memlog.py and stepmark agree: {' '.join(call[:1] + call[3:])[:60]!r}", told[0] == told[1], f"{told[0]}\n     {told[1]}")


def shims_memlogs(project):
    """With the shim the script of the skills keeps all entries of many at once; without stepmark it still works."""
    script = project / "_bmad" / "scripts" / "memlog.py"
    own = script.read_bytes()
    run(STEPMARK, "memlog", "shim", cwd=project)
    run("python3", script, "init", "--workspace", "many", cwd=project)
    found = {**os.environ, "PATH": f"{pathlib.Path(STEPMARK).resolve().parent}:{os.environ['PATH']}"}
    append = ["python3", script, "append", "--workspace", "many", "--text"]
    writers = [subprocess.Popen([*append, str(number)], cwd=project, env=found, stdout=subprocess.DEVNULL) for number in range(50)]
    codes = {writer.wait() for writer in writers}
    entries = (project / "many" / ".memlog.md").read_text().count("\n- ")
    check("50 appends by way of the shim are 50 entries", (codes, entries) == ({0}, 50), f"{codes} {entries}")
    alone = subprocess.run([*append, "alone"], cwd=project, env={**os.environ, "PATH": "/usr/bin:/bin"}, capture_output=True, text=True)
    check("without stepmark the script of BMAD runs", '"entries": 51' in alone.stdout, alone.stdout + alone.stderr)
    run(STEPMARK, "memlog", "shim", "--remove", cwd=project)
    check("the shim goes without a trace", script.read_bytes() == own and not script.with_name("memlog_bmad.py").exists(), "")


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    for release in ("6.12.0", "6.11.0", "6.10.0", "6.5.0", "6.0.4"):
        installer, project = install(release, folder)
        if release == "6.0.4":
            workflow_tests(project)
            reads_everything(project)
        if release in ("6.5.0", "6.0.4"):
            chains(release, project)
            walks_the_prd(release, project)
        catalogues(release, project)
        manifests(release, installer, project)
        if release in ("6.12.0", "6.11.0"):
            keeps_memlogs(project)
            shims_memlogs(project)
            keeps_sprints(project)
            keeps_spines(project)

print(f"{results[True]} passed, {results[False]} failed")
sys.exit(1 if results[False] else 0)
