// Where the browser is: CHROMIUM names it; without it the usual names are tried.

import { execFileSync } from "node:child_process";

export const browserPath = () => {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
    try { return execFileSync("which", [name], { encoding: "utf8" }).trim(); } catch { /* the next one */ }
  }
  throw new Error("no Chromium: apt-get install chromium, or name one in CHROMIUM");
};
