// A flow as a graph and slices by phase: with keys alone, on a telephone, light and dark, and a thousand tasks.

import assert from "node:assert/strict";
import path from "node:path";
import { Project } from "./project.mjs";
import { Server } from "./server.mjs";

const task = (id, after = [], more = "") => `  - {id: ${id}, title: "Task ${id}", depends_on: [${after}]${more}}\n`;

const FILES = {
  ".stepmark/config.yaml": "project_id: systems\nasdd: {}\nflows: {}\n",
  "docs/plan.md": "---\nid: plan\nstatus: draft\n---\n# Plan\n",
  "graph.yaml": `id: release\ntasks:\n${task("parse")}${task("store", ["parse"], ", retry: {escalate: true}")}${task("docs", ["parse"])}${task("translate", ["docs"])}${task("ship", ["store", "translate", "parse"])}`,
  "large.yaml": `id: large\ntasks:\n${Array.from({ length: 1000 }, (_, at) => task(`t${at}`, at < 40 ? [] : [`t${at - 40}`, `t${Math.floor(at / 40) * 40 - 40}`])).join("")}`,
};

const person = (...words) => ["--actor", "human:Ada", ...words];

function prepared(binary) {
  const project = new Project(binary, FILES);
  for (const words of [
    ["flow", "graph", "create", "graph.yaml"], person("flow", "create", "release", "--id", "r1"), person("flow", "start", "r1"),
    ["flow", "next", "r1", "--claim", "--agent", "w1"], ["flow", "attempt", "end", "r1", "parse", "--agent", "w1"],
    ["flow", "verify", "r1", "parse", "--decision", "pass"], ["flow", "next", "r1", "store", "--claim", "--agent", "w1"],
    ["asdd", "init"], ["asdd", "add", "Sign in"], ["asdd", "add", "Lend a tool"],
    person("asdd", "block", "SLICE-002", "--reason", "who lends?"), ["asdd", "quick", "Typo"],
    ["memory", "decide", "Which store?", "--chosen", "files", "--because", "nothing to install", "--rejected", "a server", "--artifact", "docs/plan.md"],
    ["asdd", "heartbeat", "discovery", "--slice", "SLICE-001", "--wave", "2"],
  ]) project.stepmark(...words);
  return project;
}

// The checks, with the ways of run.mjs to open a page, to check, and to judge accessibility.
export async function systems(binary, browser, { check, open, accessibility, screenshots }) {
  const project = prepared(binary);
  const server = await Server.start(project);
  const { page, mishaps, context } = await open(browser);
  await page.goto(server.url);
  await page.locator("#connection", { hasText: "live" }).waitFor();

  await check("a flow is drawn as its graph, with states in words", async () => {
    assert.equal(await page.locator("#flow-r1 svg path.line").count(), 5, "what follows from others is not drawn");
    const nodes = await page.locator("#flow-r1 svg a").evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")));
    assert.deepEqual(nodes.map((label) => label.replace(/, attempt.*/, "")),
      ["Task parse: SUCCESS", "Task store: RUNNING", "Task docs: PENDING, ready", "Task translate: PENDING", "Task ship: PENDING"]);
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const command = page.locator("#flow-r1 > ul .command", { hasText: "flow next r1.docs" });
    await command.locator("button").click();
    await command.locator("button", { hasText: "Copied" }).waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "stepmark flow next r1.docs --claim");
  });

  await check("keys lead through the graph in its order, and to a task", async () => {
    await page.locator("#flow-r1 .graph").focus();
    for (const name of ["parse", "store"]) {
      await page.keyboard.press("Tab");
      assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), new RegExp(`^Task ${name}:`));
    }
    const width = await page.evaluate(() => getComputedStyle(document.activeElement.querySelector("rect")).strokeWidth);
    assert.equal(width, "4px", "the focus is seen");
    await page.keyboard.press("Enter");
    await page.locator("h1", { hasText: "Task store" }).waitFor();
    await page.locator("#facts a", { hasText: "Graph of r1" }).click();
    await page.locator("#flow-r1").waitFor();
  });

  await check("a change shows in the graph by itself", async () => {
    await page.locator("#connection", { hasText: "live" }).waitFor();
    project.stepmark("flow", "attempt", "end", "r1", "store", "--agent", "w1");
    await page.locator("#flow-r1 svg a[aria-label^='Task store: VERIFYING']").waitFor({ timeout: 10000 });
  });

  await check("slices stand in the columns of their phases", async () => {
    const columns = await page.locator("#slices h3").allInnerTexts();
    assert.equal(columns[0], "DISCOVERY 2");
    assert.deepEqual([columns[7], columns[8]], ["DONE 0", "QUICK_FIX 1"]);
    assert.match(await page.locator("#slices li", { hasText: "Lend a tool" }).innerText(), /BLOCKED who lends\?/);
    assert.match(await page.locator("#slices li", { hasText: "Sign in" }).innerText(), /discovery is at it/);
    assert.equal(await page.locator("#slices tbody tr").count(), 1);
  });

  for (const scheme of ["light", "dark"]) {
    await check(`everybody can use graph and slices: ${scheme}`, async () => {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.screenshot({ path: path.join(screenshots, `systems-${scheme}.png`), fullPage: true });
      assert.deepEqual(await accessibility(page), []);
      await page.setViewportSize({ width: 400, height: 800 });
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing sticks out");
      await page.screenshot({ path: path.join(screenshots, `systems-narrow-${scheme}.png`), fullPage: true });
    });
  }

  await check("memory is read by everybody, with its graph", async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(server.url);
    await page.locator("nav a", { hasText: "Memory" }).click();
    await page.locator("#decisions li", { hasText: "Which store?" }).waitFor();
    for (const scheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme: scheme });
      assert.deepEqual(await accessibility(page), [], scheme);
      await page.screenshot({ path: path.join(screenshots, `memory-${scheme}.png`), fullPage: true });
    }
    await page.locator("#memory-graph .graph").first().focus();
    await page.keyboard.press("Tab");
    assert.ok(await page.evaluate(() => document.activeElement.matches("svg a")), "keys lead to a memory");
    await page.setViewportSize({ width: 400, height: 800 });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing sticks out");
    await page.goto(server.url);
  });

  await check("a flow of a thousand tasks is drawn", async () => {
    project.stepmark("flow", "graph", "create", "large.yaml");
    project.stepmark(...person("flow", "create", "large", "--id", "l1"));
    const begin = Date.now();
    project.stepmark("report", "state.html");
    console.log(`     report of 1,000 tasks in ${Date.now() - begin} ms`);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(`file://${project.root}/state.html`);
    assert.equal(await page.locator("#flow-l1 svg .node").count(), await page.locator("#flow-l1 ol.tasks > li").count());
    const graph = await page.locator("#flow-l1 .graph").boundingBox();
    assert.ok(graph.height < 900 && graph.width < 1280, "it scrolls in itself");
    await page.locator("#flow-l1 .graph").screenshot({ path: path.join(screenshots, "systems-large.png") });
  });

  await check("nothing went wrong with graph and slices", async () => assert.deepEqual(mishaps, []));
  await context.close();
  await server.stop();
  project.delete();
}
