// A project with artifacts of every kind, some of which would like to run scripts.

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

const PAYLOAD = "<script>alert(1)</script>\"><img src=x onerror=alert(2)>";

const MARKDOWN = `
# <img src=x onerror=alert(3)>

<script>alert(4)</script> <iframe src="https://example.org"></iframe> <a href="javascript:alert(5)">a</a>
[b](javascript:alert(6)) [c](data:text/html,<script>alert(7)</script>) ![d](https://example.org/d.png)
<svg onload=alert(8)> <style>* { display: none }</style> <form action="https://example.org"><button>e</button></form>
<details open ontoggle=alert(9)> <b id="search" style="position: fixed">f</b>
`;

const FILES = {
  ".stepmark/config.yaml": `project_id: page
workflows:
- name: paper
  artifacts: ["docs/*.md"]
  steps: [outline, draft, review]
trackers:
  board: {kind: file, path: out/tickets.jsonl}
`,
  "docs/lantern.md": "---\nid: LAMP\ntitle: The lantern\nstepsCompleted: [outline]\n---\n\n# How it is lit\n\n- [x] wick\n- [ ] oil\n\n| part | of |\n|---|---|\n| glass | sand |\n",
  "docs/finished.md": "---\ntitle: Finished long ago\nstepsCompleted: [outline, draft, review]\n---\n# Done\n",
  "docs/gap.md": "---\nid: GAP\ntitle: With a gap\nstepsCompleted: [outline, review, nonsense]\n---\n# Gap\n",
  "docs/hostile.md": `---\ntitle: '${PAYLOAD}'\nstatus: '${PAYLOAD}'\nstepsCompleted: ['${PAYLOAD}']\n---\n${MARKDOWN}`,
  "docs/<img src=x onerror=alert(10)>&'.md": `---\ntitle: named to run\nstepsCompleted: []\n---\n${MARKDOWN}`,
  "docs/part.md": "---\nid: PART\ntitle: A part\nstatus: draft\nagent: coder\nstepsCompleted: []\ndelegation: {id: PART, parent_id: GAP, root_id: GAP, depth: 1}\n---\n",
  "epics.md": "---\nstepsCompleted: [1]\n---\n## Epic 1: Light in the attic\n",
  "stories/1-1-switch.md": "---\ntitle: Story 1.1\nstatus: done\n---\n# Story 1.1\n",
  "stories/1-2-dim.md": "---\ntitle: Story 1.2\nstatus: blocked\n---\n# Story 1.2\n",
  "stories/2-1-broken.md": "---\nstatus: 'unclosed\n---\n# Story 2.1\n",
};

export class Project {
  constructor(binary, files = FILES) {
    this.binary = binary;
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), "stepmark-page-"));
    this.root = path.join(this.folder, "a <b>project");
    for (const [name, text] of Object.entries(files)) this.write(name, text);
  }

  get environment() {
    return { HOME: this.folder, PATH: process.env.PATH };
  }

  stepmark(...words) {
    return execFileSync(this.binary, words, { cwd: this.root, env: this.environment, encoding: "utf8" });
  }

  write(name, text) {
    const place = path.join(this.root, name);
    fs.mkdirSync(path.dirname(place), { recursive: true });
    fs.writeFileSync(place, text);
  }

  remove(name) {
    fs.rmSync(path.join(this.root, name));
  }

  delete() {
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}
