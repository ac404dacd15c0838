// The data of the page: blocks of gzipped JSON, unpacked when they are first looked at; numbers as people read them.

const KEEP = 24; // unpacked blocks held at a time
const unpacked = new Map();

/** The value of a block, unpacked once and kept while it is in use. */
function load(name) {
  if (!unpacked.has(name)) {
    unpacked.set(name, unpack(name));
    for (const old of unpacked.keys()) {
      if (unpacked.size <= KEEP) break;
      if (old !== "head" && old !== name) unpacked.delete(old);
    }
  }
  return unpacked.get(name);
}

/** When the whole file has been read: blocks come after the script. */
const whole = new Promise((done) => addEventListener("DOMContentLoaded", done));

async function unpack(name) {
  if (name !== "head") await whole;
  const holder = byId(`data-${name}`);
  if (!holder) throw new Error(`block ${name} is missing from the file`);
  const letters = atob(holder.textContent),
    packed = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) packed[i] = letters.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/** What is drawn; pages read and change it through go() and change() in main.js. */
const state = {
  page: "leaderboard",
  metric: 0,
  a: 0,
  b: 1,
  base: null,
  sort: 0,
  doc: 0,
  seg: -1,
  shown: [],
  off: [],
  raw: 0,
  diff: 0,
};
let head = {};

/** What may be wrong with an output, as `wholetext score` found it. */
const FAULTS = {
  empty: "empty",
  copied: "copied source",
  loop: "loop",
  repeat: "same text again",
  script: "wrong script",
  language: "wrong language",
  length: "length out of proportion",
  prompt: "prompt leakage",
  fence: "Markdown fence",
  json: "broken JSON or changed keys",
  placeholder: "changed placeholder",
  tag: "changed tag",
  url: "changed URL",
  email: "changed e-mail address",
  number: "changed number",
  untranslated: "untranslated paragraph",
};

async function documentBlock(at) {
  const block = head.docs[at][2];
  return block < 0 ? null : (await load(`text${block}`))[at];
}

/** Unpack the neighbours of a document while nothing else happens, so that turning to them is quick. */
function prepare(at) {
  const near = [at + 1, at - 1].filter((doc) => head.docs[doc] && head.docs[doc][2] >= 0);
  setTimeout(() => near.forEach((doc) => load(`text${head.docs[doc][2]}`)), 50);
}

// ---------------------------------------------------------------- numbers

const known = (value) => value !== null && value !== undefined && !Number.isNaN(value);
const number = (value, digits) => (known(value) ? value.toFixed(digits).replace("-", "−") : "–");
/** A difference: always with its sign, but where it is 0 at these digits. */
const signed = (value, digits) => {
  if (!known(value) || Number(value.toFixed(digits)) === 0) return number(known(value) ? 0 : value, digits);
  return (value > 0 ? "+" : "") + number(value, digits);
};
const count = (value) => value.toLocaleString("en-US");
const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;
const percent = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(part / whole < 0.1 ? 1 : 0)} %` : "–");
const arrow = (metric) => (metric.higher ? "↑" : "↓");
/** The unit of a score: what it is out of where the metric has an upper end, points where it has none. */
const unitOf = (metric) => (metric.range && metric.range[1] > 0 ? `of ${metric.range[1]}` : "points");
/** The mean of the numbers among values, or null. */
function meanOf(values) {
  const numbers = values.filter(known);
  return numbers.length ? numbers.reduce((sum, value) => sum + value, 0) / numbers.length : null;
}
const pValue = (p) => (!known(p) ? "–" : p < 0.001 ? "< 0.001" : p.toFixed(3));

function quantile(sorted, q) {
  if (!sorted.length) return null;
  const at = (sorted.length - 1) * q,
    low = Math.floor(at);
  return sorted[low] + (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]) * (at - low);
}

/** Round values for an axis: about `many` of them between low and high. */
function ticks(low, high, many) {
  const raw = (high - low) / Math.max(1, many),
    power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((n) => n * power).find((size) => size >= raw * 0.999);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++)
    found.push([i * step, number(i * step || 0, digits)]);
  return found;
}

// ---------------------------------------------------------------- significance, as computed by `wholetext compare`

/** The system that marks of a metric refer to. */
const baseOf = (metric) => (state.base === null ? metric.best : state.base);

/** Against a chosen baseline p is corrected over the comparisons with it; against each metric's best, over all pairs. */
function tested(metric, system, base) {
  const table = state.base === null && base === undefined ? metric.holmAll : metric.holmBase;
  const from = base === undefined ? baseOf(metric) : base;
  const delta = metric.delta[from][system],
    ahead = metric.order.indexOf(system) < metric.order.indexOf(from); // by scores that were not rounded
  const p = table[from][system];
  const real = system !== from && known(p) && p <= head.alpha && known(delta);
  const alone = !metric.p[from].some(known); // nothing was tested against this system
  const verdict =
    alone || (system !== from && !known(p)) ? "untested" : system === from ? "baseline" : !real ? "open" : ahead ? "better" : "worse";
  return { delta, p, raw: metric.p[from][system], interval: metric.deltas[from][system], verdict };
}
