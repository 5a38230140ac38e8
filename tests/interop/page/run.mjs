// The live page and the report in a real browser: clicks, keys, changes while it is looked at, and whatever a file may say.
//
// Usage: run.mjs STEPMARK_BINARY [SCREENSHOT_FOLDER]; the packages of package.json must be installed beside this file, and Chromium on the machine.
// CHROMIUM names the browser; without it the usual names are tried.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";
import { browserPath } from "./browser.mjs";
import { Project } from "./project.mjs";
import { Server } from "./server.mjs";
import { systems } from "./systems.mjs";

const [binary, screenshots = "target/page"] = process.argv.slice(2).map((one) => path.resolve(one));
const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
fs.mkdirSync(screenshots, { recursive: true });

let passed = 0, failed = 0;
async function check(what, body) {
  try {
    await body();
    passed += 1;
    console.log(`ok   ${what}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL ${what}\n     ${String(error.stack ?? error).split("\n").join("\n     ")}`);
  }
}

// A page that tells of everything that must not happen: dialogs, errors, refused or foreign requests.
async function open(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const mishaps = [];
  page.on("dialog", (dialog) => { mishaps.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("pageerror", (error) => mishaps.push(`error: ${error.message}`));
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) mishaps.push(`console: ${message.text()}`); });
  page.on("request", (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (protocol.startsWith("http") && hostname !== "127.0.0.1") mishaps.push(`request: ${request.url()}`);
  });
  await context.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
  });
  return { context, page, mishaps };
}

// Serious and critical findings of axe-core.
async function accessibility(page) {
  // Evaluated in a world of its own: the page's policy refuses scripts that are added to it.
  await page.evaluate(axe);
  const results = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return results.violations.filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(" ")).slice(0, 5).join(", ")}`);
}

const project = new Project(binary);
const server = await Server.start(project);
const browser = await chromium.launch({ executablePath: browserPath(), args: ["--no-sandbox"] });
try {
  const { page, mishaps, context } = await open(browser);
  await page.goto(server.url);
  await page.locator("#connection", { hasText: "live" }).waitFor();

  await check("the answer stands at the top", async () => {
    const blocks = await page.locator(".block").allInnerTexts();
    assert.equal(blocks.length, 3);
    assert.match(blocks[0], /^Done\s+3 of 10 artifacts/);
    assert.match(blocks[1], /^Next\s+\d+ to go on with/);
    assert.match(blocks[2], /^Wrong\s+\d+ \(\d+ errors?, \d+ warnings?\)/);
    const top = await page.locator(".glance").boundingBox();
    assert.ok(top.y + top.height < 900, `the three blocks end at ${top.y + top.height}`);
  });

  await check("search and filter", async () => {
    const shown = () => page.locator("#rows tr:visible").count();
    assert.equal(await shown(), 10);
    await page.keyboard.press("/");
    assert.equal(await page.evaluate(() => document.activeElement.id), "search");
    await page.keyboard.type("lantern");
    assert.equal(await shown(), 1);
    assert.equal(await page.locator("#shown").innerText(), "1 of 10 artifacts");
    await page.keyboard.press("Escape");
    assert.equal(await shown(), 10);
    await page.locator("#condition").selectOption("blocked");
    assert.equal(await shown(), 1);
    await page.locator("#condition").selectOption("");
  });

  await check("the board has a column for each state, and a card copies its command", async () => {
    const columns = await page.locator(".kanban h3").allInnerTexts();
    assert.deepEqual([columns[0], columns.at(-1)], ["unknown 1", "done 3"]);
    assert.ok(columns.includes("underway 3") || columns.some((name) => name.startsWith("underway")), columns.join());
    assert.match(await page.locator(".kanban li", { hasText: "Story 1.1" }).innerText(), /Epic 1: Light in the attic/);
    const card = page.locator(".kanban li", { hasText: "The lantern" });
    assert.equal(await card.locator("code").innerText(), "stepmark complete docs/lantern.md draft");
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await card.locator("button").click();
    await card.locator("button", { hasText: "Copied" }).waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "stepmark complete docs/lantern.md draft");
    assert.match(await page.locator("#progress").innerText(), /Epic 1: Light in the attic/);
  });

  await check("a broken file shows its line", async () => {
    const finding = page.locator("#findings tr", { hasText: "2-1-broken" });
    assert.match(await finding.locator("pre.line").first().innerText(), /2 \| status: 'unclosed\s+3 \| ---/);
  });

  await check("keys alone lead everywhere", async () => {
    await page.goto(server.url);
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "main");
    await page.keyboard.press("Tab");
    assert.ok(await page.evaluate(() => document.activeElement.matches("main a")), "the next stop is in the content");
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    assert.equal(outline, "solid");
  });

  await check("a change shows by itself, and nothing of the reader is lost", async () => {
    await page.locator("#connection", { hasText: "live" }).waitFor();
    // Smooth scrolling to what gets the focus would still be under way when the place is measured.
    await page.emulateMedia({ reducedMotion: "reduce" });
    await page.locator("#search").fill("docs/");
    await page.locator("#search").focus();
    await page.locator("#artifacts").evaluate((artifacts) => artifacts.scrollIntoView());
    const height = () => page.evaluate(() => document.getElementById("search").getBoundingClientRect().top);
    const before = await height();
    const row = page.locator("tr", { hasText: "docs/lantern.md" });
    assert.match(await row.innerText(), /1\/3/);
    await page.evaluate(() => {
      globalThis.seen = new Promise((resolve) => {
        new MutationObserver(() => { if (/2\/3/.test(document.getElementById("rows").textContent)) resolve(Date.now()); })
          .observe(document.body, { childList: true, subtree: true });
      });
    });
    project.stepmark("complete", "docs/lantern.md", "draft");
    const done = Date.now();
    const seen = await page.evaluate(() => globalThis.seen);
    console.log(`     shown ${seen - done} ms after the command ended`);
    assert.ok(seen - done < 2000);
    assert.equal(await page.evaluate(() => document.activeElement.id), "search");
    assert.equal(await page.locator("#search").inputValue(), "docs/");
    assert.ok(Math.abs(await height() - before) < 1, "what is read stays where it was");
    assert.match(await page.locator("#news").innerText(), /^Updated/);
    await page.locator("#timeline", { hasText: "stepsCompleted + draft" }).waitFor();
    await page.locator("#search").fill("");
  });

  await check("artifacts come and go by themselves", async () => {
    project.write("docs/zebra.md", "---\ntitle: Zebra\nstepsCompleted: []\n---\n");
    await page.locator("#rows tr", { hasText: "Zebra" }).waitFor();
    const paths = await page.locator("#rows th small").allInnerTexts();
    assert.deepEqual(paths, [...paths].sort(), "in their order");
    project.remove("docs/zebra.md");
    await page.locator("#rows tr", { hasText: "Zebra" }).waitFor({ state: "detached" });
  });

  await check("the page of an artifact, with its history", async () => {
    await page.locator("#rows a", { hasText: "The lantern" }).click();
    await page.locator("h1", { hasText: "The lantern" }).waitFor();
    assert.equal(await page.locator("#text h3").first().innerText(), "How it is lit");
    assert.deepEqual(await page.locator("ol.steps .tag").allInnerTexts(), ["done", "done", "next"]);
    assert.match(await page.locator("#history").innerText(), /stepsCompleted\[1\] \+ draft/);
    await page.locator("#connection", { hasText: "live" }).waitFor();
    project.stepmark("complete", "docs/lantern.md", "review", "--actor", "agent:painter");
    await page.locator("ol.steps .tag", { hasText: "next" }).waitFor({ state: "detached" });
    await page.goBack();
  });

  await check("the journal and the tickets", async () => {
    await page.locator("nav a", { hasText: "Journal" }).click();
    await page.locator("#journal li", { hasText: "review" }).waitFor();
    assert.match(await page.locator("#journal li").first().innerText(), /agent:painter/, "who acted");
    assert.doesNotMatch(await page.locator("#journal").innerText(), /[{}\[]"/, "no JSON");
    await page.locator("nav a", { hasText: "Sync" }).click();
    await page.locator("#tickets h3", { hasText: "board" }).waitFor();
    assert.match(await page.locator("#tickets dl").innerText(), /\d+ to create/);
    await page.goto(server.url);
  });

  await check("a finding leads to the text of its rule", async () => {
    await page.locator("#findings a.rule").first().click();
    const rule = page.locator(`#${new URL(page.url()).hash.slice(1)}`);
    assert.ok(await rule.evaluate((details) => details.open));
  });

  await check("nothing of what files say runs", async () => {
    for (const link of await page.locator("#rows a").evaluateAll((all) => all.map((one) => one.href))) {
      await page.goto(link);
      await page.locator("h1").waitFor();
      // Only our own script, and nothing that could run or ask.
      assert.equal(await page.locator("script:not([src='/page.js'])").count(), 0);
      assert.equal(await page.locator("img, iframe, object, embed, form:not(#filter), style").count(), 0);
      const handlers = await page.evaluate(() => [...document.querySelectorAll("*")]
        .flatMap((one) => one.getAttributeNames().filter((name) => name.startsWith("on") || name === "style")));
      assert.deepEqual(handlers, []);
      const schemes = await page.locator("a[href]").evaluateAll((all) => [...new Set(all.map((one) => one.protocol))]);
      assert.ok(schemes.every((scheme) => ["http:", "https:", "mailto:"].includes(scheme)), schemes.join());
    }
    await page.goto(server.url);
    assert.ok((await page.locator("#rows").innerText()).includes("<script>alert"), "it is shown as what it is");
  });

  await check("whoever was away reads on by itself", async () => {
    await page.locator("#connection", { hasText: "live" }).waitFor();
    const before = mishaps.length;
    await server.restart();
    await page.locator("#connection", { hasText: "not connected" }).waitFor();
    project.write("docs/after.md", "---\ntitle: Afterwards\nstepsCompleted: []\n---\n");
    await page.locator("#rows tr", { hasText: "Afterwards" }).waitFor({ timeout: 15000 });
    mishaps.splice(before, mishaps.length, ...mishaps.slice(before).filter((one) => !one.includes("ERR_")));
    project.remove("docs/after.md");
    await page.locator("#rows tr", { hasText: "Afterwards" }).waitFor({ state: "detached" });
  });

  await check("eight tabs are open, and all are live; one that is hidden does not listen, and catches up", async () => {
    const tabs = [page];
    while (tabs.length < 8) tabs.push(await context.newPage());
    for (const tab of tabs) {
      await tab.goto(server.url, { timeout: 10000 });
      await tab.locator("#connection", { hasText: "live" }).waitFor({ timeout: 10000 });
    }
    const held = () => page.evaluate(async () => (await navigator.locks.query()).held.map(({ clientId }) => clientId));
    const before = await held();
    assert.equal(before.length, 1, "one listens for all");
    project.write("docs/tabs.md", "---\ntitle: Seen by all\nstepsCompleted: []\n---\n");
    for (const tab of tabs) await tab.locator("#rows tr", { hasText: "Seen by all" }).waitFor({ timeout: 10000 });
    // All but the last are hidden: what a browser with windows would do, and one without them does not.
    const hide = (tab, hidden) => tab.evaluate((value) => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => value });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
    for (const tab of tabs.slice(0, 7)) await hide(tab, true);
    project.remove("docs/tabs.md");
    await tabs[7].locator("#rows tr", { hasText: "Seen by all" }).waitFor({ state: "detached", timeout: 10000 });
    assert.notDeepEqual(await held(), before, "the one that is visible listens now");
    for (const tab of tabs.slice(0, 7)) assert.equal(await tab.locator("#rows tr", { hasText: "Seen by all" }).count(), 1);
    await hide(page, false);
    await page.locator("#rows tr", { hasText: "Seen by all" }).waitFor({ state: "detached", timeout: 10000 });
    for (const tab of tabs.slice(1)) await tab.close();
    await page.goto(server.url);
    await page.locator("#connection", { hasText: "live" }).waitFor();
  });

  await check("while the project cannot be looked at, every page says so", async () => {
    const configuration = fs.readFileSync(path.join(project.root, ".stepmark/config.yaml"), "utf8");
    for (const address of ["", "artifact/docs/lantern.md", "journal", "sync"]) {
      await page.goto(server.url + address);
      await page.locator("#connection", { hasText: "live" }).waitFor();
      project.write(".stepmark/config.yaml", "workflows: 3\n");
      await page.getByRole("alert").filter({ hasText: "cannot be looked at" }).waitFor({ timeout: 10000 });
      await page.locator("#connection", { hasText: "stale" }).waitFor();
      await page.reload();
      await page.getByRole("alert").waitFor();
      assert.deepEqual(await accessibility(page), []);
      project.write(".stepmark/config.yaml", configuration);
      await page.getByRole("alert").waitFor({ state: "detached", timeout: 10000 });
      await page.locator("#connection", { hasText: "live" }).waitFor();
    }
    await page.goto(server.url);
  });

  for (const scheme of ["light", "dark"]) {
    await check(`everybody can use it: ${scheme}`, async () => {
      await page.emulateMedia({ colorScheme: scheme });
      for (const [name, address] of [["overview", ""], ["artifact", "artifact/docs/lantern.md"], ["journal", "journal"], ["sync", "sync"]]) {
        await page.goto(server.url + address);
        await page.locator("#connection", { hasText: "live" }).waitFor();
        await page.screenshot({ path: path.join(screenshots, `${name}-${scheme}.png`), fullPage: true });
        assert.deepEqual(await accessibility(page), [], name);
      }
    });
  }

  await check("it fits a telephone", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(server.url);
    await page.screenshot({ path: path.join(screenshots, "overview-narrow.png") });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing sticks out");
    const wide = await page.evaluate(() => [...document.querySelectorAll("#artifacts .scroll, #board .scroll")]
      .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.className));
    assert.deepEqual(wide, [], "cards and rows stand below each other");
    await page.screenshot({ path: path.join(screenshots, "overview-phone.png"), fullPage: true });
  });

  await check("nothing went wrong meanwhile", async () => assert.deepEqual(mishaps, []));
  await context.close();

  await check("requests of others are refused", async () => {
    const { port } = new URL(server.url);
    for (const [method, target, headers, status] of [
      ["GET", "/", { Host: `127.0.0.1:${port}` }, 200],
      ["GET", "/", { Host: `localhost:${port}` }, 200],
      ["HEAD", "/", { Host: `[::1]:${port}` }, 200],
      ["GET", "/", { Host: "evil.example" }, 421],
      ["GET", "/", { Host: `evil.example:${port}` }, 421],
      ["GET", "/", { Host: "127.0.0.1" }, 421],
      ["GET", "http://evil.example/", { Host: `127.0.0.1:${port}` }, 421],
      ["GET", "/", { Host: `127.0.0.1:${port}`, "Sec-Fetch-Site": "cross-site" }, 403],
      ["POST", "/", { Host: `127.0.0.1:${port}` }, 405],
      ["DELETE", "/artifact/docs/lantern.md", { Host: `127.0.0.1:${port}` }, 405],
      ["GET", "/artifact/../../etc/passwd", { Host: `127.0.0.1:${port}` }, 404],
      ["GET", "/artifact/..%2f..%2fetc%2fpasswd", { Host: `127.0.0.1:${port}` }, 404],
      ["GET", "/artifact/.stepmark/config.yaml", { Host: `127.0.0.1:${port}` }, 404],
      ["GET", "/update?from=nonsense", { Host: `127.0.0.1:${port}` }, 400],
    ]) {
      const answer = await server.raw(method, target, headers);
      assert.equal(answer.status, status, `${method} ${target} ${JSON.stringify(headers)}`);
      assert.match(answer.head, /content-security-policy: default-src 'none';/i);
      assert.match(answer.head, /x-content-type-options: nosniff/i);
      assert.doesNotMatch(answer.head, /set-cookie|access-control-allow/i);
    }
  });

  await check("the report is one file that works without script and asks nobody", async () => {
    const file = path.join(project.root, "state.html");
    project.stepmark("report", file);
    for (const javaScriptEnabled of [true, false]) {
      const { page, mishaps, context } = await open(browser, { javaScriptEnabled });
      await page.goto(`file://${file}`);
      assert.equal(await page.locator(".block").count(), 3);
      assert.equal(await page.locator("#rows tr:visible").count(), 10);
      assert.equal(await page.locator("#filter").isVisible(), javaScriptEnabled);
      if (javaScriptEnabled) {
        await page.locator("#search").fill("lantern");
        assert.equal(await page.locator("#rows tr:visible").count(), 1);
        await page.locator("#search").fill("");
        assert.deepEqual(await accessibility(page), []);
        await page.screenshot({ path: path.join(screenshots, "report.png"), fullPage: true });
      }
      assert.deepEqual(mishaps, []);
      await context.close();
    }
  });

  await check("a report of 2,000 artifacts is read by the page", async () => {
    for (let at = 1; at <= 2000; at += 1) project.write(`docs/many/${at}.md`, `---\nstepsCompleted: [${at}]\n---\n# Number ${at}\n`);
    const file = path.join(project.root, "state.html");
    project.stepmark("report", file);
    const { page, mishaps, context } = await open(browser);
    await page.goto(`file://${file}`);
    const shown = () => page.locator("#rows tr:visible").count();
    assert.equal(await shown(), 100);
    assert.equal(await page.locator("#page-number").innerText(), "1 to 100 of 2010");
    assert.ok(await page.locator("#previous").isDisabled());
    await page.locator("#following").click();
    assert.equal(await page.locator("#page-number").innerText(), "101 to 200 of 2010");
    await page.locator("#search").fill("Number 1234");
    assert.equal(await shown(), 1);
    assert.ok(!await page.locator("#pager").isVisible());
    await page.locator("#search").fill("");
    const hidden = await page.locator("#rows tr").nth(1500).getAttribute("id");
    await page.evaluate((id) => { location.hash = id; }, hidden);
    await page.locator(`#${hidden}`).waitFor({ state: "visible" });
    assert.ok(await page.locator(".kanban li").count() < 100, "columns are cut");
    assert.deepEqual(mishaps, []);
    await context.close();
  });

  await systems(binary, browser, { check, open, accessibility, screenshots });

  await check("told to end, it ends, though somebody listens", async () => {
    const { page, context } = await open(browser);
    await page.goto(server.url);
    await page.locator("#connection", { hasText: "live" }).waitFor();
    assert.equal(await server.stop(), 0);
    await context.close();
  });
} finally {
  await browser.close();
  await server.stop();
  project.delete();
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
