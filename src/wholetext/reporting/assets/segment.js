// One segment: the line below its text, and everything that is known of it when it is chosen.

/** Score, faults, losses and missing words below an output's segment. */
function underline(column, at) {
  const { block, key, scores, reach } = current,
    system = column.system,
    gain = String(key).startsWith("g");
  const metric = key === "none" ? null : head.metrics[gain ? +String(key).slice(1) : key],
    value = metric ? scores.get(system)[at] : null;
  const share = !known(value) ? null : gain ? ((metric.higher ? 1 : -1) * value) / reach : standingOf(metric, value);
  const faults = block.flags[system].filter(([segment]) => segment === at);
  const missing = diffKind() ? [] : missingIn(block, system, at), // differences are shown in their place
    lost = lostTokens(block, system, at);
  if (share === null && !faults.length && !missing.length && !lost) return null;
  return el(
    "div",
    { class: "below" },
    share === null
      ? null
      : chipOf(share, gain ? signed(value, metric.digits) : number(value, metric.digits), metric, gain),
    faults.map(([, kind, note]) => flag(`⚠ ${FAULTS[kind] || kind}`, note, at)),
    lost ? flag("✂ cut", lost, at) : null,
    missing.length
      ? el(
          "span",
          { class: "misses" },
          el("span", { class: "unseen" }, "missing: "),
          missing.map((unit) =>
            el(
              "span",
              {
                class: `${categoryClass(unit.category)} missing`,
                title: `missing: ${unit.category} (${unit.feature})`,
              },
              el("bdi", {}, unit.text),
            ),
          ),
        )
      : null,
  );
}

/** A flag: choosing it opens the segment, whose notes say more. */
const flag = (face, note, at) =>
  el("button", { type: "button", class: "fault", title: note, on: { click: () => select(at) } }, face);

/** A score with its metric and its unit. */
function chipOf(share, text, metric, gain) {
  const color = diverging(share * 0.8),
    title = `${gain ? "gain by context, " : ""}${metric.spec}, ${metric.higher ? "higher" : "lower"} is better`;
  return el(
    "span",
    { class: "chipscore", title, style: { background: rgb(color), color: inkOn(color) } },
    el(
      "span",
      { class: "of" },
      gain ? `gain, ${metric.label}` : metric.view === "sentence" ? metric.label : metric.spec,
    ),
    ` ${arrow(metric)} `,
    el("span", { class: "value" }, text),
    ` ${gain ? "points" : unitOf(metric)}`,
  );
}

/** The rows of a metric that cover a segment: [row, start, stop]. */
function rowsOver(block, m, system, at) {
  const rows = block.rows[m],
    places = rows.each ? rows.each[system] : rows.at;
  if (!places) return [[at, at, at + 1]];
  return places.flatMap(([start, stop], row) => (at >= start && at < stop ? [[row, start, stop]] : []));
}

/** What a metric says about the rows over a segment: said(m) is a list of [row, …facts] for a system. */
function saidOver(block, system, at, said) {
  return head.metrics.flatMap((metric, m) => {
    const over = new Set(rowsOver(block, m, system, at).map(([row]) => row));
    return said(m)
      .filter(([row]) => over.has(row))
      .map((facts) => [metric, ...facts]);
  });
}

/** What did not fit a model around a segment, as words, or null. */
function lostTokens(block, system, at) {
  const found = saidOver(block, system, at, (m) => block.lost[m][system]).map(([metric, , context, scored]) => {
    const parts = [scored && plural(scored, "scored token"), context && plural(context, "context token")];
    return `${metric.spec}: ${parts.filter(Boolean).join(" and ")} did not fit`;
  });
  return found.length ? found.join("; ") : null;
}

/** Choose a segment (−1: none): it opens its scores and comes into sight. */
function select(at) {
  if (!current) return;
  drawSegments(at + 20);
  for (const open of current.body.querySelectorAll("tr.detail")) open.remove();
  for (const row of current.body.querySelectorAll("tr.chosen")) {
    row.classList.remove("chosen");
    row.querySelector("button").setAttribute("aria-expanded", "false");
  }
  state.seg = at;
  remember();
  if (at < 0 || at >= current.total) return;
  const row = byId(`segment${at + 1}`);
  row.classList.add("chosen");
  row.querySelector("button").setAttribute("aria-expanded", "true");
  row.after(detailRow(at));
  row.scrollIntoView({ block: "nearest" });
  tip.say(`Segment ${at + 1}`);
}

const stepSegment = (step) => current && select(Math.max(0, Math.min(current.total - 1, state.seg + step)));

/** The segment on which the shown systems differ most; again: the next one. */
function jump() {
  if (!current) return;
  const { block, total } = current,
    key = current.key === "none" ? 0 : current.key;
  const columns = state.shown.map((system) => segmentScores(block, key, system));
  const gaps = Array.from({ length: total }, (_, i) => {
    const values = columns.map((scores) => scores[i]).filter(known);
    return [values.length > 1 ? Math.max(...values) - Math.min(...values) : -1, i];
  }).sort((p, q) => q[0] - p[0] || p[1] - q[1]);
  const place = gaps.findIndex(([, i]) => i === state.seg);
  const next = gaps[place >= 0 && current.jumped === state.seg ? (place + 1) % gaps.length : 0];
  if (!next) return;
  select(next[1]);
  current.jumped = next[1];
}

/** Every metric's rows over one segment, and what else is known of it. */
function detailRow(at) {
  const { block, columns } = current;
  const names = [["Metric"], ["Row"], ...state.shown.map((i) => [head.systems[i], "num"])];
  const rows = head.metrics.flatMap((metric, m) => detailLines(block, metric, m, at));
  const notes = state.shown.flatMap((system) =>
    notesOn(block, system, at).map((note) => el("li", {}, el("bdi", {}, head.systems[system]), ": ", note)),
  );
  const opened = el(
    "tr",
    { role: "row", class: "detail" },
    el(
      "td",
      { role: "cell", colspan: columns.length + 1 },
      scroller(
        `Scores of segment ${at + 1}`,
        plainTable({ class: "rows cards" }, names, rows, `Scores of segment ${at + 1}`),
      ),
      notes.length ? el("ul", { class: "found" }, notes) : null,
    ),
  );
  exportable(opened);
  return opened;
}

/** Errors, suspicions, losses and reasons about one segment of one system. */
function notesOn(block, system, at) {
  const errors = marking(block).flatMap((m) => marksOf(block, m, system).errors.filter((error) => error[0] === at));
  const lost = lostTokens(block, system, at);
  return [
    ...errors.map(([, start, end, ...error]) => [
      `${errorName(error)}: `,
      el("q", { dir: "auto" }, shown(block.out[system][at].slice(start, end))),
    ]),
    ...block.flags[system].filter((flag) => flag[0] === at).map(([, kind, note]) => `${FAULTS[kind] || kind}: ${note}`),
    ...(lost ? [lost] : []),
    ...saidOver(block, system, at, (m) => block.why[m][system]).map(
      ([metric, , reason]) => `${metric.spec}: ${reason}`,
    ),
  ];
}

function detailLines(block, metric, m, at) {
  const write = (value) => number(value, metric.digits);
  if (known(metric.without)) return contextLines(block, metric, m, at);
  if (block.rows[m].at === null) {
    return [{ cells: [metric.spec, "this segment", ...state.shown.map((i) => write(block.rows[m].v[i][at]))] }];
  }
  const all = new Map();
  for (const system of state.shown) {
    for (const [row, start, stop] of rowsOver(block, m, system, at)) {
      const found = all.get(`${start},${stop}`) || { start, stop, values: new Map() };
      found.values.set(system, block.rows[m].v[system][row]);
      all.set(`${start},${stop}`, found);
    }
  }
  if (!all.size) return [{ cells: [metric.spec, "no window covers it", ...state.shown.map(() => "–")] }];
  return [...all.values()].map((found, i) => ({
    kind: metric.view === "slide" ? "window" : null,
    cells: [
      i ? "" : metric.spec,
      windowOf(found, metric, at),
      ...state.shown.map((system) => write(found.values.get(system))),
    ],
  }));
}

/** The same metric without and with context, and what context gains. */
function contextLines(block, metric, m, at) {
  const pairs = state.shown.map((i) => [metric.without, m].map((key) => segmentScores(block, key, i)[at]));
  const write = (value) => number(value, metric.digits);
  const gain = ([alone, read]) => (known(alone) && known(read) ? signed(read - alone, metric.digits) : "–");
  return [
    { kind: "context", cells: [metric.spec, "without context", ...pairs.map(([alone]) => write(alone))] },
    { kind: "context", cells: ["", "with context", ...pairs.map(([, read]) => write(read))] },
    { kind: "context gain", cells: ["", "gain", ...pairs.map(gain)] },
  ];
}

/** Where a row lies: a strip of the document with the window and the segment in it. */
function windowOf(found, metric, at) {
  if (metric.view === "whole") return "whole document";
  const total = current.total,
    strip = svg("svg", { class: "strip", viewBox: "0 0 120 8", "aria-hidden": "true" }),
    x = (i) => (120 * i) / total;
  strip.append(
    svg("rect", { class: "rail", x: 0, y: 3, width: 120, height: 2 }),
    svg("rect", {
      class: "window",
      x: x(found.start),
      y: 1,
      width: Math.max(1, x(found.stop - found.start)),
      height: 6,
    }),
    svg("rect", { class: "here", x: x(at), y: 0, width: Math.max(1, x(1)), height: 8 }),
  );
  if (found.stop - found.start === 1) return ["this segment ", strip];
  const to = (i) =>
    el(
      "button",
      { type: "button", class: "place", "aria-label": `Segment ${i + 1}`, on: { click: () => select(i) } },
      `${i + 1}`,
    );
  return ["segments ", to(found.start), "–", to(found.stop - 1), " ", strip];
}

function helpLine() {
  const key = (text) => el("kbd", {}, text);
  return el(
    "p",
    { class: "legend keys" },
    key("n"),
    " ",
    key("p"),
    " next and previous document, ",
    key("j"),
    " ",
    key("k"),
    " next and previous segment, ",
    key("d"),
    " largest difference.",
  );
}
