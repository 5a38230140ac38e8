// How long a browser takes from asking for the live page of a project to its first contentful paint.
//
// Usage: first_paint.mjs STEPMARK_BINARY PROJECT_FOLDER [ROUNDS]. Prints milliseconds: the least, the median and the most of all rounds,
// each in a context of its own, so that nothing is cached; and the very first beside them. A figure, not a test: docs/benchmarks.md.

import { spawn } from "node:child_process";
import path from "node:path";
import { chromium } from "playwright-core";
import { browserPath } from "./browser.mjs";

const [binary, folder] = process.argv.slice(2, 4).map((one) => path.resolve(one));
const rounds = process.argv[4] ?? "10";
const server = spawn(binary, ["serve", "--port", "0"], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
try {
  const url = await new Promise((found, failed) => {
    let said = "";
    server.on("exit", () => failed(new Error(`serve ended:\n${said}`)));
    server.stdout.on("data", (bytes) => {
      said += bytes;
      const address = said.match(/http:\/\/127\.0\.0\.1:\d+\//);
      if (address) found(address[0]);
    });
  });
  const browser = await chromium.launch({ executablePath: browserPath(), args: ["--no-sandbox"] });
  const times = [];
  for (let round = 0; round < Number(rounds); round += 1) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    await page.goto(url, { waitUntil: "load" });
    times.push(await page.evaluate(() => new Promise((seen) => {
      new PerformanceObserver((list) => {
        for (const entry of list.getEntriesByName("first-contentful-paint")) seen(entry.startTime);
      }).observe({ type: "paint", buffered: true });
    })));
    await context.close();
  }
  await browser.close();
  const [first, sorted] = [times[0], [...times].sort((one, other) => one - other)];
  const [least, median, most] = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)].map(Math.round);
  console.log(`first contentful paint of ${url}: ${least} / ${median} / ${most} ms in ${rounds} rounds, the first ${Math.round(first)} ms`);
} finally {
  server.kill();
}
