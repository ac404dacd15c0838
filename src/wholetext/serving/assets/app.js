// The page of the server: a form for a new job, and the list of jobs as they go on.
"use strict";

const byId = (id) => document.getElementById(id);
const dark = matchMedia("(prefers-color-scheme: dark)");
const USUAL = ["d-blonde", "doc-bertscore@minilm", "chrf", "bleu", "ter", "d-chrf"]; // shown first
const WORDS = { waiting: "waiting", running: "running", done: "done", failed: "failed", cancelled: "cancelled" };
const NEEDS = [
  ["hyp,ref", "Need outputs and references"],
  ["hyp,ref,src", "Need outputs, references and the source"],
  ["hyp,src", "Need outputs and the source, no reference"],
  ["hyp", "Need outputs alone"],
]; // what a metric reads, and the heading of its group
const ROLES = { hyp: "output", ref: "reference", src: "source", docs: "document ids", corpus: "corpus file" };
const MARKS = { better: "▲", worse: "▼", baseline: "=" };
const FIRST = 6; // texts of which the first segment is shown
const RECENT = 3; // jobs that are not folded away
const SENT = 900_000; // bytes of all files that are looked at before scoring
let limit = Infinity, // bytes of an upload
  states = new Map();

/** An element made from text, never from markup. */
function el(tag, given, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(given || {})) {
    if (name === "on") for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
    else if (value !== false && value !== null && value !== undefined)
      node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

function paint() {
  document.documentElement.dataset.drawn = dark.matches ? "dark" : "light";
}

/** The JSON of an answer; an error says what the server said. */
async function ask(address, options) {
  const answer = await fetch(address, options);
  if (answer.status === 401) location.assign("/login");
  if (answer.status === 204) return null;
  const found = await answer.json();
  if (!answer.ok) throw new Error(said(found));
  return found;
}

const said = ({ error, next }) => (next ? `${error}\n→ ${next}` : error);

// ---------------------------------------------------------------- form

function chooseKind() {
  const kind = new FormData(byId("form")).get("kind");
  for (const part of document.querySelectorAll("[data-kind]")) {
    part.hidden = part.dataset.kind !== kind;
    for (const field of part.querySelectorAll("input, select")) field.disabled = part.hidden;
  }
}

function metricBox(name, summary, missing) {
  const id = `metric-${name}`,
    said = missing ? `${summary} (its model ${missing} is not on this server)` : summary;
  return el(
    "div",
    { class: "metric", title: said },
    el("input", { type: "checkbox", id, name: "metric", value: name, disabled: Boolean(missing) }),
    el("label", { for: id }, el("b", {}, name), ` ${said}`),
  );
}

/** Metrics in groups by the texts they need, a line each; those that cannot run here are folded away. */
function metricGroups({ offered, aliases, missing }) {
  const aliased = (name) => (aliases[name] && aliases[name] !== name ? `; ${aliases[name]}` : "");
  const box = (name) => metricBox(name, offered[name].summary + aliased(name), missing[name]);
  const names = Object.keys(offered),
    here = [...USUAL.filter((name) => names.includes(name)), ...names.filter((name) => !USUAL.includes(name))],
    absent = here.filter((name) => missing[name]);
  const group = ([texts, heading]) => {
    const own = here.filter((name) => !missing[name] && offered[name].needs.join() === texts);
    return own.length ? el("div", { class: "group" }, el("h3", {}, heading), own.map(box)) : null;
  };
  const folded = el(
    "details",
    {},
    el("summary", {}, `${absent.length} metrics whose models are not on this server`),
    absent.map(box),
  );
  return [...NEEDS.map(group), absent.length ? folded : null].filter(Boolean);
}

async function offer() {
  const offered = await ask("/v1/metrics"),
    { files, upload } = offered;
  limit = upload;
  byId("metrics").replaceChildren(...metricGroups(offered));
  if (files.length)
    for (const part of document.querySelectorAll("[data-role]")) {
      const id = `${part.dataset.role}-file`,
        many = ["hyp", "ref"].includes(part.dataset.role);
      const options = files.map((name) => el("option", { value: name }, name));
      if (!many) options.unshift(el("option", { value: "" }, "none"));
      part.append(
        el("label", { for: id }, "or from this server"),
        el("select", { id, name: id, multiple: many }, options),
      );
    }
  chooseKind();
}

// ---------------------------------------------------------------- files

let chosen = []; // files that were dropped, each with its role: [file, role]

/** What a file is, by its name; people correct it below. */
function roleOf(name, alone) {
  if (/\.(jsonl?|tsv|csv|xml|sgml?|xlsx)$/i.test(name) && alone) return "corpus";
  if (/(^|[^a-z])(docs?|doc_?ids?|documents?)([^a-z]|$)/i.test(name)) return "docs";
  if (/(^|[^a-z])(src|source)([^a-z]|$)/i.test(name)) return "src";
  return /(^|[^a-z])(ref|reference|human|gold)(?![a-z]{3})/i.test(name) ? "ref" : "hyp";
}

function take(files) {
  chosen = [...files].map((file) => [file, roleOf(file.name, files.length === 1)]);
  hand();
}

/** Put the files into the fields of their roles, and list them. */
function hand() {
  for (const role of Object.keys(ROLES)) {
    const holder = new DataTransfer();
    for (const [file, own] of chosen) if (own === role) holder.items.add(file);
    byId(role).files = holder.files;
  }
  const corpus = chosen.some(([, role]) => role === "corpus");
  document.querySelector(`input[name=kind][value=${corpus ? "corpus" : "lines"}]`).checked = true;
  byId("dropped").replaceChildren(
    ...chosen.map((entry, i) => {
      const options = Object.entries(ROLES).map(([role, name]) =>
        el("option", { value: role, selected: role === entry[1] }, name),
      );
      const changed = (event) => {
        event.stopPropagation();
        entry[1] = event.target.value;
        hand();
      };
      const select = el("select", { id: `role${i}`, on: { change: changed } }, options);
      return el("li", {}, el("label", { for: `role${i}` }, entry[0].name), " ", select);
    }),
  );
  chooseKind();
  look();
}

/** The files of the form without what is too much to look at: their first lines, as many of each. */
async function beginnings(form) {
  const files = [...form.entries()].filter(([, value]) => value instanceof File && value.size),
    room = Math.floor(SENT / files.length),
    cut = files.some(([, file]) => file.size > room),
    lines = new Map();
  if (!cut) return [files, false];
  for (const [, file] of files) lines.set(file, (await file.slice(0, room).text()).split("\n"));
  const many = Math.min(...[...lines.values()].map((all) => Math.max(1, all.length - 1)));
  const short = ([role, file]) => {
    const text = lines.get(file).slice(0, role === "corpus" ? -1 : many);
    return [role, new File([text.join("\n"), "\n"], file.name)];
  };
  return [files.map(short), true];
}

let looks = 0; // answers that were overtaken by later ones are thrown away

/** What the reader makes of the chosen files, before anything is scored. */
async function look() {
  const mine = ++looks,
    form = new FormData(byId("form")),
    [files, cut] = await beginnings(form),
    stored = [...form.entries()].filter(([role, name]) => role.endsWith("-file") && name),
    body = new FormData();
  const roles = [...files, ...stored].map(([role]) => role.replace("-file", ""));
  if (!(roles.includes("corpus") || roles.includes("hyp")) || (cut && stored.length)) return show([]);
  if (cut && files.some(([role, file]) => role === "corpus" && !/\.(jsonl|tsv|csv)$/i.test(file.name)))
    return show([el("p", { class: "note" }, "This file is too large to be looked at before it is scored.")]);
  for (const [role, file] of files) body.append(role, file, file.name);
  for (const [role, name] of stored) body.append(role, name);
  body.append("langs", form.get("langs"));
  try {
    const answer = await ask("/v1/preview", { method: "POST", body });
    if (mine === looks) show(previewOf(answer, cut));
  } catch (fault) {
    if (mine === looks) show([el("p", { class: "error" }, fault.message)]);
  }
}

function show(nodes) {
  byId("preview").hidden = !nodes.length;
  byId("preview").replaceChildren(...nodes);
}

function previewOf(answer, cut) {
  const row = ([name, text]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", { dir: "auto" }, text));
  const table = (caption, rows) =>
    rows.length ? el("table", {}, el("caption", {}, caption), el("tbody", {}, rows.map(row))) : null;
  const many = (n, word) => `${n.toLocaleString("en-US")} ${word}${n === 1 ? "" : "s"}`;
  const counts = answer.error
    ? el("p", { class: "error" }, `This cannot be scored yet: ${said(answer)}`)
    : el(
        "p",
        {},
        `${cut ? "In the first lines: " : ""}${many(answer.documents, "document")}, ${many(answer.segments, "segment")}, `,
        `${many(answer.systems.length, "system")}, ${many(answer.references.length, "reference")}`,
        answer.langs.every(Boolean)
          ? `, ${answer.langs.join(" → ")}.`
          : "; name the languages if they are not in the files.",
      );
  const notes = (answer.notes || []).map((note) => el("li", {}, note));
  return [
    el("h3", {}, "What will be scored"),
    counts,
    table("Columns, as they are taken", answer.columns),
    table("The first segment", (answer.first || []).slice(0, FIRST)),
    answer.first?.length > FIRST ? el("p", { class: "note" }, `and ${answer.first.length - FIRST} more`) : null,
    notes.length ? el("ul", { class: "note" }, notes) : null,
  ].filter(Boolean);
}

/** Files may be dropped anywhere: a browser would leave the page for them. A field of its own keeps what falls on it. */
function dragging(event) {
  if (event.target.matches?.("[type=file]")) return;
  event.preventDefault();
  byId("drop").classList.toggle("over", event.type === "dragover");
  if (event.type === "drop" && event.dataTransfer.files.length) take(event.dataTransfer.files);
}

// ---------------------------------------------------------------- sending

function send(event) {
  event.preventDefault();
  const form = new FormData(byId("form")),
    size = [...form.values()].reduce((sum, value) => sum + (value instanceof File ? value.size : 0), 0);
  form.delete("kind");
  byId("error").textContent = "";
  if (size > limit) {
    byId("error").textContent = `These files have ${megabytes(size)}; the limit of this server is ${megabytes(limit)}.`;
    return;
  }
  const bar = byId("upload"),
    request = new XMLHttpRequest();
  const ended = (message) => {
    bar.hidden = true;
    byId("send").disabled = false;
    byId("error").textContent = message;
  };
  request.upload.addEventListener("progress", (at) => {
    bar.value = at.total ? at.loaded / at.total : 0;
  });
  request.addEventListener("load", () => {
    let found = {};
    try {
      found = JSON.parse(request.responseText);
    } catch {
      found = { error: "The server gave no answer that can be read." };
    }
    if (request.status === 401) location.assign("/login");
    ended(request.status === 202 ? "" : said(found));
    if (request.status === 202) refresh().then(showJobs); // the newest job is the first
  });
  request.addEventListener("error", () => ended("The server ended the connection; perhaps the files are too large."));
  request.open("POST", "/v1/jobs");
  bar.hidden = false;
  bar.value = 0;
  byId("send").disabled = true;
  request.send(form);
}

function showJobs() {
  byId("jobs").focus({ preventScroll: true });
  byId("jobs").scrollIntoView();
}

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

// ---------------------------------------------------------------- jobs

function progressOf(job) {
  if (job.state !== "running") return null;
  const { stage, done, of } = job.progress || { stage: "starting", done: 0, of: 0 };
  const words = of ? `${stage}: ${done.toLocaleString("en-US")} of ${of.toLocaleString("en-US")}` : stage;
  const bar = of ? { max: of, value: done } : {};
  return el(
    "p",
    { class: "progress" },
    el("progress", { ...bar, "aria-label": `Progress of ${job.title}` }),
    ` ${words}`,
  );
}

/** The leaderboard of a finished job, from its results. */
async function board(job) {
  const { metrics, finding } = await ask(`/v1/jobs/${job.id}/results`),
    tested = metrics.some(({ systems }) => systems.some(({ p }) => p !== null));
  if (!metrics.length) return [];
  const write = (value, digits) => (value === null ? "–" : value.toFixed(digits).replace("-", "−"));
  const cell = (metric, system) => {
    const own = metric.systems.find((one) => one.system === system);
    if (!own) return el("td", {}, "–");
    const [low, high] = own.delta_interval || [null, null],
      base = system === metric.baseline,
      plus = (value) => (value > 0 ? "+" : "") + write(value, metric.decimals);
    return el(
      "td",
      { class: own.verdict },
      write(own.score, metric.decimals),
      el("span", { class: "mark" }, ` ${(tested && MARKS[own.verdict]) || ""}`),
      base || low === null ? null : el("small", {}, `${plus(own.delta)} (${plus(low)} … ${plus(high)})`),
    );
  };
  const heads = metrics.map((metric) =>
    el("th", { scope: "col" }, `${metric.label || metric.name} ${metric.higher_is_better ? "↑" : "↓"}`),
  );
  const rows = metrics[0].systems.map(({ system }) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, system),
      metrics.map((metric) => cell(metric, system)),
    ),
  );
  const table = el(
    "table",
    {},
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "System"), heads)),
    el("tbody", {}, rows),
  );
  const bases = [...new Set(metrics.map((metric) => metric.baseline))].join(", ");
  const legend = tested
    ? `▲ ▼ better or worse than ${bases} (=) at p ≤ ${metrics[0].test.alpha}; no mark: no significant difference. Below a score: the difference to it and its 95 % interval.`
    : "Differences were not tested.";
  return [
    finding ? el("p", {}, finding) : null,
    el("div", { class: "scroller", role: "region", "aria-label": `Leaderboard of ${job.title}`, tabindex: "0" }, table),
    el("p", { class: "note" }, legend),
  ].filter(Boolean);
}

/** A fold with the leaderboard, which is fetched when it is first opened. */
function boardOf(job, open) {
  const fold = el("details", { class: "board" }, el("summary", {}, "Leaderboard"));
  fold.addEventListener("toggle", async () => {
    if (!fold.open || fold.dataset.filled) return;
    fold.dataset.filled = "yes";
    try {
      fold.append(...(await board(job)));
    } catch (fault) {
      fold.append(el("p", { class: "error" }, fault.message));
    }
  });
  fold.open = open;
  return fold;
}

function jobItem(job, newest) {
  const place = `/v1/jobs/${job.id}`,
    link = (name, to, given) => el("a", { href: `${place}/${to}`, ...given }, name);
  const act = async () => {
    try {
      await ask(place, { method: "DELETE" });
    } catch (fault) {
      byId("error").textContent = fault.message;
    }
    refresh();
  };
  const active = job.state === "waiting" || job.state === "running",
    name = active ? "Cancel" : "Delete";
  return el(
    "li",
    { "data-id": job.id, "data-state": job.state },
    el("h3", {}, job.title, " ", el("span", { class: `state ${job.state}` }, WORDS[job.state] || job.state)),
    el(
      "p",
      { class: "note" },
      new Date(job.created * 1000).toLocaleString(),
      job.metrics.length ? ` · ${job.metrics.join(", ")}` : "",
    ),
    progressOf(job),
    job.error ? el("pre", { class: "error" }, job.error) : null,
    job.state === "done" ? boardOf(job, newest) : null,
    el(
      "p",
      { class: "links" },
      job.state === "done"
        ? [
            link("Report", "report"),
            link("Run folder (zip)", "run.zip", { download: true }),
            link("JSON", "results", { target: "_blank", rel: "noopener" }),
          ]
        : null,
      el("button", { type: "button", class: "quiet", "aria-label": `${name} ${job.title}`, on: { click: act } }, name),
    ),
  );
}

/** The list again; only jobs that changed are drawn again, so that the focus stays where it is. */
async function refresh() {
  const { jobs } = await ask("/v1/jobs"),
    lists = [byId("list"), byId("older")],
    shown = lists.flatMap((list) => [...list.children]),
    old = new Map(shown.map((item) => [item.dataset.id, item]));
  const items = jobs.map((job) => {
    const text = JSON.stringify(job),
      known = old.get(job.id);
    if (known && known.dataset.text === text) return known;
    const item = jobItem(job, job === jobs[0]);
    item.dataset.text = text;
    return item;
  });
  const focused = document.activeElement?.getAttribute("aria-label");
  if (items.length !== shown.length || items.some((item, i) => item !== shown[i])) {
    lists[0].replaceChildren(...items.slice(0, RECENT));
    lists[1].replaceChildren(...items.slice(RECENT));
    if (focused)
      [...byId("results").querySelectorAll("button")]
        .find((one) => one.getAttribute("aria-label") === focused)
        ?.focus();
  }
  byId("earlier").hidden = items.length <= RECENT;
  byId("earlier").firstChild.textContent = `${items.length - RECENT} earlier jobs`;
  byId("results").hidden = !jobs.length;
  for (const job of jobs) {
    if (states.has(job.id) && states.get(job.id) !== job.state) byId("said").textContent = `${job.title}: ${job.state}`;
  }
  states = new Map(jobs.map((job) => [job.id, job.state]));
  return jobs.some((job) => job.state === "waiting" || job.state === "running");
}

async function follow() {
  let busy = true;
  try {
    busy = await refresh();
  } catch {
    byId("said").textContent = "The server does not answer.";
  }
  setTimeout(follow, busy ? 700 : 4000);
}

paint();
dark.addEventListener("change", paint);
byId("form").addEventListener("change", (event) => {
  if (event.target === byId("any")) return take(event.target.files);
  chooseKind();
  if (event.target.matches("[type=file], [name=kind], [name=langs], [name$='-file']")) look();
});
for (const type of ["dragover", "dragleave", "drop"]) document.addEventListener(type, dragging);
byId("form").addEventListener("submit", send);
chooseKind();
offer()
  .catch((fault) => {
    byId("error").textContent = fault.message;
  })
  .then(() => {
    document.documentElement.dataset.ready = "yes";
  });
follow();
