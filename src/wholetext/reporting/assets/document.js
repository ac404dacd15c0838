// Document view: source, reference and systems side by side, segment by segment, coloured by score and marked.

const FIRST = 40,
  MORE = 120; // segments drawn at once, and each time the end comes into sight
let current = null; // {block, rows, body, drawn, total, columns, leaders}

/** Scores by segment: the mean over the rows that cover it; "g3" is metric 3 (with context) minus the same without. */
function segmentScores(block, key, system) {
  if (String(key).startsWith("g")) {
    const index = +String(key).slice(1),
      withContext = segmentScores(block, index, system),
      without = segmentScores(block, head.metrics[index].without, system);
    return withContext.map((value, i) => (known(value) && known(without[i]) ? value - without[i] : null));
  }
  const rows = block.rows[key],
    values = rows.v[system],
    at = rows.each ? rows.each[system] : rows.at;
  if (!at) return values;
  const sums = [],
    counts = [];
  at.forEach(([start, stop], row) => {
    if (!known(values[row])) return;
    for (let i = start; i < stop; i++) {
      sums[i] = (sums[i] || 0) + values[row];
      counts[i] = (counts[i] || 0) + 1;
    }
  });
  return Array.from({ length: segmentsOf(block) }, (_, i) => (counts[i] ? sums[i] / counts[i] : null));
}

const segmentsOf = (block) =>
  Math.max(
    block.src ? block.src.length : 0,
    ...block.refs.map((text) => text.length),
    ...block.out.map((text) => text.length),
  );
const isWhole = (index) => head.metrics[index].view === "whole";

/** What segments can be coloured by: metrics with rows smaller than documents, and gains by context. */
function colourings() {
  const found = head.metrics.flatMap((metric, i) => (isWhole(i) ? [] : [[i, metric.spec]]));
  head.metrics.forEach((metric, i) => {
    if (known(metric.without)) found.push([`g${i}`, `gain by context: ${metric.label}`]);
  });
  return [...found, ["none", "nothing"]];
}

function colourKey() {
  const keys = colourings().map((pair) => String(pair[0]));
  if (state.colour !== undefined && keys.includes(String(state.colour))) return state.colour;
  return keys.includes(String(state.metric)) ? state.metric : keys[0];
}

async function drawDocument() {
  const block = await documentBlock(state.doc);
  if (!state.shown.length) state.shown = state.a === state.b ? [state.a] : [state.a, state.b];
  const [id, segments] = head.docs[state.doc];
  const title = el(
    "h2",
    { class: "doctitle" },
    el("bdi", {}, id),
    el("small", {}, ` ${plural(segments, "segment")}, document ${state.doc + 1} of ${count(head.docs.length)}`),
  );
  if (!block)
    return el(
      "div",
      {},
      el(
        "section",
        {},
        title,
        steps(),
        el("p", { class: "care" }, `The text of this document is not in the file. ${head.notice}`),
        await documentScores(),
      ),
    );
  const table = textTable(block);
  prepare(state.doc);
  const cut =
    segmentsOf(block) < segments
      ? el("p", { class: "care" }, `Only the first ${count(segmentsOf(block))} segments are in the file.`)
      : null;
  return el(
    "div",
    {},
    el(
      "section",
      {},
      title,
      steps(),
      cut,
      el("p", { class: "note printed" }, printedNote()),
      el(
        "div",
        { class: "controls" },
        choice("Colour by", colourings(), colourKey(), (value) =>
          change({ colour: value === "none" || value.startsWith("g") ? value : +value }),
        ),
        el(
          "fieldset",
          { class: "chips" },
          el("legend", {}, "Systems"),
          head.systems.map((name, i) => toggle(el("bdi", {}, name), state.shown.includes(i), () => showSystem(i))),
        ),
        markChoices(block),
      ),
      await documentScores(),
      table,
      helpLine(),
    ),
  );
}

/** What the controls say, for paper, where there are none. */
function printedNote() {
  const [, name] = colourings().find(([key]) => String(key) === String(colourKey()));
  return `Coloured by ${name}.`;
}

function showSystem(system) {
  const next = state.shown.includes(system) ? state.shown.filter((one) => one !== system) : [...state.shown, system];
  if (next.length) change({ shown: next.sort((p, q) => p - q) });
}

function steps() {
  const to = (step) => () => stepDocument(step);
  return el(
    "div",
    { class: "controls steps" },
    el(
      "button",
      {
        type: "button",
        class: "quiet",
        disabled: state.doc === 0,
        "aria-label": "Previous document",
        title: "Previous document (p)",
        on: { click: to(-1) },
      },
      "←",
    ),
    choice(
      "Document",
      head.docs.map((doc, i) => [i, doc[0]]),
      state.doc,
      (value) => change({ doc: +value, seg: -1 }),
    ),
    el(
      "button",
      {
        type: "button",
        class: "quiet",
        disabled: state.doc === head.docs.length - 1,
        "aria-label": "Next document",
        title: "Next document (n)",
        on: { click: to(1) },
      },
      "→",
    ),
    el(
      "button",
      {
        type: "button",
        class: "quiet",
        title: "Jump to the largest difference between the shown systems (d)",
        on: { click: jump },
      },
      "Largest difference",
    ),
  );
}

function stepDocument(step) {
  const next = state.doc + step;
  if (next >= 0 && next < head.docs.length) change({ doc: next, seg: -1 });
}

/** One switch per category: how many units matched, are missing, are extra in the shown systems. */
function markChoices(block) {
  const sums = new Map();
  for (const system of state.shown)
    for (const [category, row] of tallies(block, system)) {
      const sum = sums.get(category) || [0, 0, 0];
      sums.set(
        category,
        row.map((n, i) => (n === null ? null : sum[i] + n)),
      );
    }
  if (!sums.size) return null;
  return el(
    "fieldset",
    { class: "chips" },
    el("legend", {}, "Marks"),
    [...sums].map(([category, [matched, missing, extra]]) =>
      toggle(
        [
          el("span", { class: category === "errors" ? "swatch error" : `swatch ${categoryClass(category)}` }),
          category,
          el("small", {}, matched === null ? ` ${extra}` : ` ${matched} matched · ${missing} missing · ${extra} extra`),
        ],
        wanted(category),
        () =>
          change({ off: wanted(category) ? [...state.off, category] : state.off.filter((one) => one !== category) }),
      ),
    ),
  );
}

/** Scores of this document under every metric. */
async function documentScores() {
  const tables = await Promise.all(head.metrics.map((_, i) => load(`metric${i}`)));
  return el(
    "details",
    {
      class: "docscores",
      open: Boolean(state.scores),
      on: {
        toggle: (event) => {
          state.scores = event.target.open;
        },
      },
    },
    el("summary", {}, "Scores of this document"),
    scroller(
      "Scores of this document",
      el(
        "table",
        { class: "plain" },
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            el("th", { scope: "col" }, "Metric"),
            state.shown.map((i) => el("th", { scope: "col", class: "num" }, el("bdi", {}, head.systems[i]))),
          ),
        ),
        el(
          "tbody",
          {},
          head.metrics.map((metric, m) =>
            el(
              "tr",
              {},
              el("th", { scope: "row" }, `${metric.spec} ${arrow(metric)}`),
              state.shown.map((i) => el("td", { class: "num" }, number(tables[m].doc[i][state.doc], metric.digits))),
            ),
          ),
        ),
      ),
    ),
  );
}

function textTable(block) {
  const columns = [];
  if (block.src) columns.push({ kind: "src", name: "Source", lang: head.langs[0], text: block.src });
  block.refs.forEach((text, i) =>
    columns.push({
      kind: "ref",
      name: block.refs.length > 1 ? `Reference ${head.references[i]}` : "Reference",
      lang: head.langs[1],
      text,
      at: i,
    }),
  );
  for (const system of state.shown)
    columns.push({ kind: "hyp", name: head.systems[system], lang: head.langs[1], text: block.out[system], system });
  const key = colourKey(),
    scores = new Map();
  if (key !== "none") for (const system of state.shown) scores.set(system, segmentScores(block, key, system));
  const body = el("tbody", {}),
    total = segmentsOf(block),
    end = el("div", { class: "sentinel" });
  current = {
    block,
    body,
    total,
    drawn: 0,
    columns,
    scores,
    key,
    reach: Math.max(...[...scores.values()].flat().filter(known).map(Math.abs), 1e-9),
  };
  drawSegments(printing ? total : Math.max(FIRST, state.seg + 20));
  const watch = new IntersectionObserver(
    (seen) => {
      if (seen.some((one) => one.isIntersecting)) {
        drawSegments(current.drawn + MORE);
        if (current.drawn >= total) watch.disconnect();
      }
    },
    { rootMargin: "800px" },
  );
  if (current.drawn < total) watch.observe(end);
  const aligned = columns.every((column) => column.text.length === total);
  return [
    aligned
      ? null
      : el(
          "p",
          { class: "care" },
          "These texts have different numbers of segments: lines stand side by side by number only.",
        ),
    el(
      "table",
      { class: "texts", id: "texts", role: "table", style: { "--columns": String(columns.length) } },
      el("caption", { class: "unseen" }, "The document segment by segment"),
      el(
        "thead",
        { role: "rowgroup" },
        el(
          "tr",
          { role: "row" },
          el("th", { scope: "col", role: "columnheader", class: "n" }, el("span", { class: "unseen" }, "Segment"), "#"),
          columns.map((column) =>
            el("th", { scope: "col", role: "columnheader", class: column.kind }, el("bdi", {}, column.name)),
          ),
        ),
      ),
      body,
    ),
    end,
  ];
}

function drawSegments(upTo) {
  while (current.drawn < Math.min(upTo, current.total)) {
    current.body.append(segmentRow(current.drawn));
    current.drawn += 1;
  }
}

function segmentRow(at) {
  const number = el(
    "button",
    {
      type: "button",
      class: "quiet",
      "aria-expanded": "false",
      "aria-label": `Segment ${at + 1}: scores`,
      on: { click: () => select(state.seg === at ? -1 : at) },
    },
    String(at + 1),
  );
  return el(
    "tr",
    { role: "row", class: "segment", id: `segment${at + 1}`, "data-segment": at },
    el("th", { scope: "row", role: "rowheader", class: "n" }, number),
    current.columns.map((column) => textCell(column, at)),
  );
}

function textCell(column, at) {
  const { block } = current,
    text = column.text[at];
  const given = { role: "cell", class: column.kind, "data-label": column.name, dir: "auto" }; // what is below follows
  if (text === undefined) return el("td", given);
  const marks =
    column.kind === "hyp"
      ? hypMarks(block, column.system, at)
      : column.kind === "ref"
        ? refMarks(block, column.at, at, state.shown)
        : [];
  const long = text.length > LONG;
  const shownText = el(
    "p",
    { class: long ? "text long" : "text", lang: column.lang || null, tabindex: long ? "0" : null },
    text.trim() ? marked(text, marks) : el("em", { class: "empty" }, "empty"),
  );
  return el("td", given, shownText, column.kind === "hyp" ? underline(column, at) : null);
}
