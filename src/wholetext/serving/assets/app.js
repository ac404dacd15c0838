// The page of the server: a form for a new job, and the list of jobs as they go on.
"use strict";

const byId = (id) => document.getElementById(id);
const dark = matchMedia("(prefers-color-scheme: dark)");
const USUAL = ["d-blonde", "doc-bertscore@minilm", "chrf", "bleu", "ter", "d-chrf"]; // shown first
const WORDS = { waiting: "waiting", running: "running", done: "done", failed: "failed", cancelled: "cancelled" };
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
    without = missing ? ` (its model ${missing} is not on this server)` : "";
  return el(
    "div",
    { class: "metric" },
    el("input", { type: "checkbox", id, name: "metric", value: name, disabled: Boolean(missing) }),
    el("label", { for: id }, el("b", {}, name), ` ${summary}${without}`),
  );
}

async function offer() {
  const { metrics, aliases, missing, files, upload } = await ask("/v1/metrics");
  limit = upload;
  const described = (name) => (metrics[name] ? metrics[name].summary : "");
  const aliased = (spec) => `${described(spec.replace(/@.*/, "").replace(/^.*:|\(.*$/g, ""))}, as ${spec}`;
  const summary = (name) => described(name) || aliased(aliases[name]);
  const names = [...Object.keys(metrics), ...Object.keys(aliases)];
  const first = USUAL.filter((name) => names.includes(name)),
    others = names.filter((name) => !first.includes(name)),
    rest = [...others.filter((name) => !missing[name]), ...others.filter((name) => missing[name])];
  byId("metrics").replaceChildren(
    ...first.map((name) => metricBox(name, summary(name), missing[name])),
    el(
      "details",
      {},
      el("summary", {}, `${rest.length} more metrics`),
      rest.map((name) => metricBox(name, summary(name), missing[name])),
    ),
  );
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
    if (request.status === 202) refresh().then(showJobs);
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

function jobItem(job) {
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
    el(
      "p",
      { class: "links" },
      job.state === "done"
        ? [
            link("Report", "report", { target: "_blank", rel: "noopener" }),
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
    list = byId("list"),
    old = new Map([...list.children].map((item) => [item.dataset.id, item]));
  const items = jobs.map((job) => {
    const text = JSON.stringify(job),
      known = old.get(job.id);
    if (known && known.dataset.text === text) return known;
    const item = jobItem(job);
    item.dataset.text = text;
    return item;
  });
  const focused = document.activeElement?.getAttribute("aria-label");
  if (items.length !== list.children.length || items.some((item, i) => item !== list.children[i])) {
    list.replaceChildren(...items);
    if (focused)
      [...list.querySelectorAll("button")].find((one) => one.getAttribute("aria-label") === focused)?.focus();
  }
  byId("none").hidden = jobs.length > 0;
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
byId("form").addEventListener("change", chooseKind);
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
