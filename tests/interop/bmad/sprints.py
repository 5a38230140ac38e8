"""The ledger of sprints and the spine, written in turn by stepmark and by the scripts that BMAD 6.11 and 6.12 install with their skills."""

import json
import sys
import time

from judge import check, run, stepmark, stepmark_json

EPICS = """---
stepsCompleted: []
inputDocuments: []
---

# Lamps

## Epic 1: Light

### Story 1.1: Switch it on

### Story 1.2: Dim it, and café colours

### Story 1.2a: Dim at night

## Epic 2: Heat

### Story 2.1: Cool down

### Story 2.10: Report
"""
KEYS = ["1-1-switch-it-on", "1-2-dim-it-and-café-colours", "1-2a-dim-at-night", "2-1-cool-down", "2-10-report"]

SPEC = """---
title: 'A lamp' # as the team says it
type: 'feature' # feature | bugfix | refactor | chore
created: '2026-01-02'
status: '{}' # draft | ready-for-dev | in-progress | in-review | done
route: 'dispatch'
review_loop_iteration: 0
context: []
---

<frozen-after-approval reason="human-owned intent">

## Intent

Light.

</frozen-after-approval>
"""
# What a team and a retrospective add to the file.
ADDED = """
action_items:
  - id: "epic-1-retro-item-1-say-who"
    epic: 1
    action: "Say: who reviews, and when?"
    owner: "Ada"
    status: open
team_note: kept # by Ada
"""


def keeps_sprints(project):
    """sprint_plan.py and stepmark write the same ledger in turn: neither finds fault with what the other wrote, and both read the same of it."""
    skills, stories = project / ".claude/skills", project / "_bmad-output/implementation-artifacts"
    epics, ledger = project / "_bmad-output/planning-artifacts/epics.md", stories / "sprint-status.yaml"
    for folder in (epics.parent, stories):
        folder.mkdir(parents=True, exist_ok=True)
    epics.write_text(EPICS)

    def script(skill, name, *words):
        done = run(sys.executable, skills / skill / "scripts" / name, *words, cwd=project, expect=None)
        return json.loads(done.stdout) if done.stdout else {"error": done.stderr}

    def plan(command, *words):
        return script("bmad-sprint-planning", "sprint_plan.py", command, "--status-file", ledger, *words)

    def generate(*words):
        return plan("generate", "--epic-file", epics, "--stories-dir", stories, "--project", "lamps", "--date", "01-02-2026 10:00", *words)

    def quiet():
        found = stepmark_json("check", cwd=project, expect=None)["findings"]
        return [finding["message"] for finding in found if finding["severity"] != "note"]

    def agree(what, told, epics_told):
        """All that the script says of the ledger, after stepmark wrote it."""
        valid = plan("validate")
        said = plan("status", "--date", time.strftime("%m-%d-%Y %H:%M"))
        kept = [word for word in ("STATUS DEFINITIONS", "# ask Ada first", "team_note: kept # by Ada", '    action: "Say: who reviews, and when?"') if word not in ledger.read_text()]
        stale = [risk for risk in said.get("risks", []) if "stale" in risk]
        found = (valid.get("problems"), said.get("stories"), said.get("epics"), [item["owner"] for item in said.get("open_action_items", [])], stale, kept, quiet())
        check(f"sprint_plan.py reads the same after {what}", found == ([], told, epics_told, ["Ada"], [], [], []), found)

    made = generate("--set", f"{KEYS[2]}=in-progress", "--set", "epic-1=in-progress", "--set", f"{KEYS[4]}=review")
    (stories / f"spec-{KEYS[0]}.md").write_text(SPEC.format("ready-for-dev"))
    (stories / f"spec-{KEYS[3]}.md").write_text(SPEC.format("draft"))
    (stories / f"{KEYS[2]}.md").write_text("# Story 1.2a: Dim at night\n\nStatus: in-progress\n")
    check("stepmark finds nothing wrong with a ledger of sprint_plan.py", made.get("ok") and quiet() == [], f"{made} {quiet()}")
    sides = stepmark_json("import", "stories", "--prefer", "sprint-status", "--dry-run", cwd=project)["stories"]
    check("and reads the state that it says", [story["sprint_status"] for story in sides] == ["in-progress"], sides)
    ledger.write_text(ledger.read_text().replace(f"{KEYS[1]}: backlog", f"{KEYS[1]}: backlog # ask Ada first") + ADDED)

    spec = stories / f"spec-{KEYS[0]}.md"
    for word, told in (("in-progress", {"in-progress": 2, "backlog": 2, "review": 1}), ("in-review", {"in-progress": 2, "backlog": 2, "review": 1}),
                       ("done", {"review": 2, "in-progress": 1, "backlog": 2})):
        stepmark("transition", spec, word, cwd=project)
        agree(f"a spec went to {word}", told, {"in-progress": 1, "backlog": 1})
    stepmark("import", "stories", cwd=project)
    stepmark("transition", stories / f"{KEYS[2]}.md", "review", cwd=project)
    agree("a story was imported and moved", {"review": 3, "backlog": 2}, {"in-progress": 1, "backlog": 1})
    by_hand = stories / f"spec-{KEYS[3]}.md"
    by_hand.write_text(by_hand.read_text().replace("'draft'", "'in-progress'"))
    stepmark("project", "--ledgers", cwd=project)
    stepmark("complete", epics, "step-01-validate-prerequisites", cwd=project)
    agree("`project --ledgers` and `complete`", {"review": 3, "in-progress": 1, "backlog": 1}, {"in-progress": 2})

    again = generate()
    check("sprint_plan.py plans the same from the epics and the ledger", again.get("in_sync") is True, again)
    closed = script("bmad-retrospective", "sprint_status.py", "update", "--file", ledger, "--epic", "1", "--set-retro-done")
    untouched = ledger.read_bytes()
    stepmark("project", "--ledgers", cwd=project)
    check("stepmark leaves alone what the scripts wrote then", closed.get("ok") and ledger.read_bytes() == untouched and quiet() == [], f"{closed} {quiet()}")


SPINE = """---
name: 'Lamps' # of the team
type: architecture-spine
altitude: feature # initiative, feature or epic
scope: 'the lamps'
status: draft
created: '2026-01-02'
updated: '2026-01-02'
binds: []
---

# Architecture Spine: Lamps

### AD-1: One switch

- **Binds:** all
- **Prevents:** two switches
- **Rule:** TBD
"""


def keeps_spines(project):
    """BMAD's linter of spines finds the same, in the same lines, after stepmark wrote the frontmatter."""
    folder = project / "_bmad-output/planning-artifacts/architecture/architecture-lamps-2026-01-02"
    folder.mkdir(parents=True)
    spine = folder / "ARCHITECTURE-SPINE.md"
    spine.write_text(SPINE)
    lint = lambda: json.loads(run(sys.executable, project / ".claude/skills/bmad-architecture/scripts/lint_spine.py", "--workspace", folder, cwd=project).stdout)
    before = lint()
    stepmark("transition", spine, "final", cwd=project)
    after = lint()
    check("lint_spine.py finds the same in a spine that stepmark wrote", before == after and after["total_findings"] == 1 and "status: final" in spine.read_text(), f"{before} {after}")
