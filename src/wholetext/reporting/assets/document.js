// Document view: source, reference and systems side by side, segment by segment, coloured by score and marked.

const FIRST = 40,
  MORE = 120; // segments drawn at once, and each time the end comes into sight
const FEW = 4; // systems whose switches are always in sight
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
        choice("Differences", comparisons(), diffKind(), (value) => change({ diff: +value })),
        choice("Colour by", colourings(), colourKey(), (value) =>
          change({ colour: value === "none" || value.startsWith("g") ? value : +value }),
        ),
        systemChoices(),
        diffKind() ? null : markChoices(block),
      ),
      documentFlags(block),
      diffNote() || textLegend(block),
      table,
      await documentScores(),
      helpLine(),
    ),
  );
}

/** The systems to show; folded where they are many, so that the text begins in sight. */
function systemChoices() {
  const chips = el(
    "fieldset",
    { class: "chips" },
    el("legend", {}, "Systems"),
    head.systems.map((name, i) => toggle(el("bdi", {}, name), state.shown.includes(i), () => showSystem(i))),
  );
  if (head.systems.length <= FEW) return chips;
  const names = state.shown.map((i) => head.systems[i]).join(", ");
  const kept = (event) => {
    state.choosing = event.target.open;
  };
  return el(
    "details",
    { open: Boolean(state.choosing), on: { toggle: kept } },
    el("summary", {}, `Systems: ${names} (${state.shown.length} of ${head.systems.length})`),
    chips,
  );
}

/** Flags of the shown systems in this document; each leads to its segment. */
function documentFlags(block) {
  const flags = state.shown.flatMap((system) => block.flags[system].map((found) => [head.systems[system], ...found]));
  if (!flags.length) return null;
  const items = flags.map(([system, at, kind, note]) => {
    const name = FAULTS[kind] || kind;
    return el(
      "li",
      {},
      el("bdi", {}, system),
      ": ",
      at < 0 ? `${name}, ${note}` : flag(`segment ${at + 1}, ${name}`, note, at),
    );
  });
  return el(
    "details",
    { class: "care" },
    el("summary", {}, `⚠ ${plural(flags.length, "flag")} in the shown systems`),
    el("ul", {}, items),
  );
}

const categoryName = (name) => [el("span", { class: `swatch ${categoryClass(name)}` }), `${name} `];

/** The categories that are marked in the shown systems; the switches name them on screens. */
const categoriesOf = (block) =>
  [...new Set(state.shown.flatMap((system) => [...tallies(block, system)].map(([name]) => name)))].filter(
    (name) => name !== "errors",
  );

/** What colours and marks of the texts below mean; only those that occur. */
function textLegend(block) {
  const kinds = marking(block).flatMap((m) => state.shown.map((system) => marksOf(block, m, system))),
    some = (part) => kinds.some((marks) => marks[part].length > 0),
    sample = (kind, text) => el("span", { class: kind }, text);
  const shades = [-1, -0.5, 0, 0.5, 1].map((share) =>
    el("span", { class: "stop", style: { background: rgb(diverging(share * 0.8)) } }),
  );
  const items = [
    colourKey() === "none" ? null : el("span", { class: "scale" }, "worse ", shades, " better segment"),
    some("units") ? [sample("unit c6 matched", "underlined"), " in output and reference"] : null,
    some("units") ? [sample("unit c6 extra", "filled"), " only in the output"] : null,
    some("units") ? [sample("unit c6 missing", "dashed"), " only in the reference"] : null,
    some("units") ? el("span", { class: "printed" }, categoriesOf(block).map(categoryName)) : null,
    some("errors") ? [sample("error major", "shaded"), " error"] : null,
    some("cuts") ? [sample("gone", "struck"), " not read by the model"] : null,
  ].filter(Boolean);
  return items.length
    ? el(
        "p",
        { class: "legend", id: "textlegend" },
        items.map((item) => el("span", {}, item)),
      )
    : null;
}

/** What the controls say, for paper, where there are none. */
function printedNote() {
  const [, name] = colourings().find(([key]) => String(key) === String(colourKey()));
  const [, compared] = comparisons().find(([key]) => key === diffKind());
  return `Coloured by ${name}.${diffKind() ? ` Differences ${compared}.` : ""}`;
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
      open: Boolean(state.scores) || printing,
      on: {
        toggle: (event) => {
          if (!printing) state.scores = event.target.open;
        },
      },
    },
    el("summary", {}, "Scores of this document"),
    scroller(
      "Scores of this document",
      plainTable(
        { class: "cards" },
        [["Metric"], ...state.shown.map((i) => [head.systems[i], "num"])],
        head.metrics.map((metric, m) => ({
          cells: [
            `${metric.spec} ${arrow(metric)} (${unitOf(metric)})`,
            ...state.shown.map((i) => number(tables[m].doc[i][state.doc], metric.digits)),
          ],
        })),
      ),
    ),
  );
}
