// Search, filter, and where the page is served: following changes. Everything can be read without it.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);

  // -- search and filter -------------------------------------------------------------------------------------------
  const filter = byId("filter"), search = byId("search"), condition = byId("condition"), rows = byId("rows");
  const texts = new WeakMap();
  const textOf = (row) => {
    if (!texts.has(row)) texts.set(row, row.textContent.toLowerCase());
    return texts.get(row);
  };
  // So many rows are drawn at once: a browser takes seconds for thousands.
  const PAGE = 100;
  const pager = byId("pager");
  let first = 0;
  function apply() {
    if (!filter) return;
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean), wanted = condition.value;
    const fitting = [];
    for (const row of rows.rows) {
      const fits = (!wanted || (wanted === "problems" ? "problems" in row.dataset : row.dataset.condition === wanted))
        && words.every((word) => textOf(row).includes(word));
      if (fits) fitting.push(row); else row.hidden = true;
    }
    const all = rows.rows.length, shown = fitting.length;
    first = Math.max(0, Math.min(first, Math.floor((shown - 1) / PAGE) * PAGE));
    fitting.forEach((row, at) => {
      const isHidden = at < first || at >= first + PAGE;
      if (row.hidden !== isHidden) row.hidden = isHidden;
    });
    pager.hidden = shown <= PAGE;
    byId("previous").disabled = first === 0;
    byId("following").disabled = first + PAGE >= shown;
    byId("page-number").textContent = `${first + 1} to ${Math.min(first + PAGE, shown)} of ${shown}`;
    byId("shown").textContent = shown === all ? `${all} artifacts` : `${shown} of ${all} artifacts`;
  }
  if (filter) {
    filter.hidden = false;
    const again = () => { first = 0; apply(); };
    search.addEventListener("input", again);
    condition.addEventListener("input", again);
    byId("previous").addEventListener("click", () => { first -= PAGE; apply(); });
    byId("following").addEventListener("click", () => { first += PAGE; apply(); });
    filter.addEventListener("submit", (event) => event.preventDefault());
    apply();
  }
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, select, textarea");
    if (event.key === "/" && !typing && search && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      search.focus();
      search.select();
    } else if (event.key === "Escape" && event.target === search) {
      search.value = "";
      apply();
    }
  });
  // -- copying commands --------------------------------------------------------------------------------------------
  function offerCopies() {
    if (!navigator.clipboard) return;
    for (const button of document.querySelectorAll("button.copy[hidden]")) button.hidden = false;
  }
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button.copy");
    if (!button) return;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "Copied";
    } catch { button.textContent = "Not copied"; }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  offerCopies();
  // A link to a rule opens it, one to a row shows the page on which it stands.
  function unfold() {
    const target = location.hash.length > 1 && byId(location.hash.slice(1));
    if (!target) return;
    if (target.matches("details")) target.open = true;
    if (filter && target.parentElement === rows && target.hidden) {
      search.value = "";
      condition.value = "";
      first = Math.floor([...rows.rows].indexOf(target) / PAGE) * PAGE;
      apply();
      target.scrollIntoView();
    }
  }
  addEventListener("hashchange", unfold);
  unfold();

  // -- following changes -------------------------------------------------------------------------------------------
  const body = document.body;
  if (!("revision" in body.dataset)) return;
  let revision = Number(body.dataset.revision), wanted = revision, busy = false;

  const elementOf = (html) => {
    const template = document.createElement("template");
    template.innerHTML = html;
    return template.content.firstElementChild;
  };
  // What somebody has opened stays open, and what they are at keeps the focus.
  function keepUnfolded(before, after) {
    const name = (details) => details.id || details.querySelector("summary strong")?.textContent;
    const known = new Map([...before.querySelectorAll("details")].map((one) => [name(one), one.open]));
    for (const one of after.querySelectorAll("details")) if (known.has(name(one))) one.open = known.get(name(one));
  }
  const wayTo = (element) => element.id ? `#${CSS.escape(element.id)}`
    : element.getAttribute("href") ? `${element.tagName}[href="${CSS.escape(element.getAttribute("href"))}"]` : null;
  function replace(before, after) {
    const focused = before.contains(document.activeElement) ? wayTo(document.activeElement) : null;
    const scrolled = [...before.querySelectorAll(".scroll")].map((one) => one.scrollLeft);
    keepUnfolded(before, after);
    before.replaceWith(after);
    offerCopies();
    [...after.querySelectorAll(".scroll")].forEach((one, at) => { one.scrollLeft = scrolled[at] ?? 0; });
    if (focused) (after.matches(focused) ? after : after.querySelector(focused))?.focus({ preventScroll: true });
  }
  function take(update) {
    for (const id of update.removed) byId(id)?.remove();
    for (const piece of update.changed) {
      const after = elementOf(piece.html), before = byId(piece.id);
      if (before) { replace(before, after); continue; }
      const previous = piece.after && byId(piece.after);
      if (previous) previous.after(after); else byId(piece.place)?.prepend(after);
    }
    apply();
  }
  function takePage(text) {
    const page = new DOMParser().parseFromString(text, "text/html");
    const now = byId("main"), next = page.getElementById("main");
    if (!now || !next) { location.reload(); return; }
    const notices = page.getElementById("notices");
    if (byId("notices").innerHTML !== notices.innerHTML) byId("notices").replaceWith(document.adoptNode(notices));
    const same = now.children.length === next.children.length
      && [...now.children].every((one, at) => one.id === next.children[at].id);
    if (!same) { replace(now, document.adoptNode(next)); return; }
    [...next.children].forEach((after, at) => {
      const before = now.children[at];
      if (before.outerHTML !== after.outerHTML) replace(before, document.adoptNode(after));
    });
  }
  async function follow() {
    if (busy) return;
    busy = true;
    try {
      while (revision < wanted) {
        const pieces = "pieces" in body.dataset;
        const answer = await fetch(pieces ? `/update?from=${revision}` : location.pathname, { cache: "no-store" });
        if (!answer.ok) { if (answer.status === 404 && !pieces) location.reload(); break; }
        if (pieces) {
          const update = await answer.json();
          if (update.reload) { location.reload(); return; }
          take(update);
          revision = update.revision;
          byId("generated").firstElementChild.replaceWith(elementOf(update.at));
        } else {
          const aim = wanted;
          takePage(await answer.text());
          revision = aim;
        }
        body.dataset.revision = revision;
        byId("news").textContent = `Updated, state ${revision}`;
        sayConnection();
      }
    } catch { /* The connection broke; it is asked again. */ } finally { busy = false; }
    if (revision < wanted) setTimeout(follow, 1000);
  }
  // -- hearing of changes -----------------------------------------------------------------------------------------
  // A browser has six connections to a host, for all of its tabs. One visible page listens, and tells the others.
  const others = new BroadcastChannel("stepmark");
  let known = { connected: false, latest: 0 }, events = null, stop = null;
  function sayConnection() {
    byId("connection").textContent = !known.connected ? ", not connected" : byId("stale") ? ", stale" : ", live";
  }
  function hear(news) {
    known = news;
    sayConnection();
    if (!known.latest) return;
    // A server that began anew counts from the beginning.
    if (known.latest < revision) { location.reload(); return; }
    wanted = known.latest;
    follow();
  }
  function tell(news) {
    others.postMessage(news);
    hear(news);
  }
  function listen() {
    events = new EventSource("/events");
    events.addEventListener("open", () => tell({ ...known, connected: true }));
    events.addEventListener("revision", (event) => tell({ connected: true, latest: Number(event.data) }));
    events.addEventListener("error", () => {
      tell({ ...known, connected: false });
      // A stream that broke is begun anew by the browser; one that was refused is not.
      if (events.readyState === EventSource.CLOSED) setTimeout(() => { if (events?.readyState === EventSource.CLOSED) listen(); }, 5000);
    });
  }
  // Listens as soon as no other page does, until this one is hidden.
  function takeTurn(ended) {
    if (ended.aborted) return null;
    listen();
    return new Promise((resolve) => ended.addEventListener("abort", () => { events.close(); events = null; resolve(); }));
  }
  function appear() {
    if (document.hidden) { stop?.abort(); stop = null; return; }
    if (stop) return;
    stop = new AbortController();
    const { signal } = stop;
    others.postMessage("what is known?");
    if (!navigator.locks) { takeTurn(signal); return; }
    // Whoever is hidden before its turn comes waits no more.
    navigator.locks.request("stepmark", { signal }, () => takeTurn(signal)).catch(() => {});
  }
  others.addEventListener("message", ({ data }) => {
    if (data === "what is known?") { if (events) others.postMessage(known); } else if (stop) hear(data);
  });
  document.addEventListener("visibilitychange", appear);
  appear();
})();
