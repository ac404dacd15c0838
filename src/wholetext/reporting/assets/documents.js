// Documents: every document under one metric as a heat-map, two systems against each other, distributions, best and worst.

const PAGE = 50; // documents in the table at a time

function metricChoice(label) {
  return choice(
    label || "Metric",
    head.metrics.map((metric, i) => [i, metric.spec]),
    state.metric,
    (value) => change({ metric: +value }),
  );
}

function pairChoices() {
  const systems = head.systems.map((name, i) => [i, name]);
  return [
    choice("First", systems, state.a, (value) => change({ a: +value })),
    choice("Second", systems, state.b, (value) => change({ b: +value })),
    el(
      "button",
      {
        type: "button",
        class: "quiet swap",
        title: "Swap the two",
        "aria-label": "Swap the two systems",
        on: { click: () => change({ a: state.b, b: state.a }) },
      },
      "⇄",
    ),
  ];
}

const openDocument = (doc) =>
  go("document", { doc, seg: -1, shown: state.a === state.b ? [state.a] : [state.a, state.b] });

const documentLink = (doc) => placeLink(nameOf(head.docs[doc][0]), doc, -1);

const sought = (doc) => head.docs[doc][0].toLowerCase().includes((state.find || "").trim().toLowerCase());

/** Heat-map and table of the documents whose name holds what is typed; only they are drawn again. */
function documentSearch(redraw) {
  const id = `choice${++choices}`;
  const typed = (event) => {
    Object.assign(state, { find: event.target.value, leaf: 0 });
    redraw();
    const many = head.docs.filter((_, doc) => sought(doc)).length;
    tip.say(`${plural(many, "document")} found`);
  };
  const box = el("input", { id, type: "search", value: state.find || "", placeholder: "name", on: { input: typed } });
  return el("span", { class: "choice" }, el("label", { for: id }, "Find document"), box);
}

async function drawDocuments() {
  const metric = head.metrics[state.metric],
    table = await load(`metric${state.metric}`),
    systems = metric.order;
  const all = head.docs.map((doc, i) => ({
    doc: i,
    id: doc[0],
    segments: doc[1],
    a: table.doc[state.a][i],
    b: table.doc[state.b][i],
  }));
  const names = [head.systems[state.a], head.systems[state.b]],
    map = el("div", {}),
    listed = el("div", {});
  const redraw = () => {
    map.replaceChildren(...heat(metric, table, systems));
    listed.replaceChildren(...documentTable(metric, table, systems));
    exportable(listed);
  };
  redraw();
  return el(
    "div",
    {},
    el(
      "div",
      { class: "controls" },
      metricChoice(),
      choice("Colour", HEATS, state.raw ? 1 : 0, (value) => change({ raw: +value })),
      documentSearch(redraw),
    ),
    section("All documents", heatNote(metric), map),
    el("div", { class: "controls" }, pairChoices()),
    el(
      "div",
      { class: "halves" },
      section(
        "Two systems",
        "One dot per document; above the line the second system has the higher score.",
        scatter(all, names, metric.digits, (point) => openDocument(point.doc)),
      ),
      section(
        "Distribution",
        "Documents of each system; the box holds the middle half, the line is the median.",
        distribution(
          systems.map((system) => ({
            name: head.systems[system],
            points: all.map((one) => ({ doc: one.doc, id: one.id, value: table.doc[system][one.doc] })),
          })),
          metric.spec,
          metric.digits,
          (point) => openDocument(point.doc),
        ),
      ),
    ),
    extremes(metric, all, names),
    section("Table", "Coloured as the heat-map.", listed),
  );
}

/** The least score of all documents and systems, and how far the others reach above it. */
function extent(table) {
  let low = Infinity,
    high = -Infinity;
  for (const value of table.doc.flat()) if (known(value)) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return low > high ? { low: 0, high: 1, reach: 1 } : { low, high, reach: high - low || 1 };
}

// ---------------------------------------------------------------- heat-map

const HEATS = [
  [0, "system minus document mean"],
  [1, "raw scores"],
];

function heatNote(metric) {
  const said = state.raw
    ? `the stronger the colour, the higher${metric.higher ? " and better" : " and worse"}`
    : "each document's mean over the systems is subtracted, so that hard documents do not hide who is better on them; blue is better than the mean, orange worse";
  return `By ${metric.spec}: ${said}. Choose a cell to read the document.`;
}

/** Each document's mean over systems, and the reach of colours: 98 % of the differences from it lie within. */
function centring(table) {
  const means = head.docs.map((_, doc) => meanOf(table.doc.map((row) => row[doc])));
  const far = table.doc
    .flatMap((row) => row.map((value, doc) => (known(value) ? Math.abs(value - means[doc]) : null)))
    .filter(known)
    .sort((p, q) => p - q);
  return { means, reach: quantile(far, 0.98) || far[far.length - 1] || 1 };
}

/** The scale of colours that was chosen: its ends, and the share of it, 0…1 or −1…1, of a score of a document. */
function scaleOf(metric, table) {
  const { low, high, reach } = extent(table),
    centre = centring(table),
    sign = metric.higher ? 1 : -1;
  const raw = (value) => (value - low) / reach,
    centred = (value, doc) => Math.max(-1, Math.min(1, (sign * (value - centre.means[doc])) / centre.reach));
  const ends = state.raw ? [low, high].map((end) => number(end, metric.digits)) : centredEnds(metric, centre.reach);
  return { means: centre.means, ends, share: state.raw ? raw : centred };
}

/** The heat-map of the documents that are sought, and its scale. */
function heat(metric, table, systems) {
  const docs = head.docs.map((_, doc) => doc).filter(sought);
  if (!docs.length) return [el("p", { class: "note" }, "No document has this in its name.")];
  const { means, ends, share } = scaleOf(metric, table),
    digits = metric.digits === 4 ? 2 : 1;
  const cell = (r, c) => {
    const value = table.doc[systems[r]][docs[c]];
    if (!known(value)) return null;
    const delta = value - means[docs[c]],
      name = `${head.systems[systems[r]]}: ${number(value, metric.digits)}`,
      say = [head.docs[docs[c]][0], `${name} (${signed(delta, metric.digits)} from the document's mean)`];
    const text = state.raw ? number(value, digits) : signed(delta, digits);
    return { share: share(value, docs[c]), centred: !state.raw, text, say };
  };
  const open = (r, c) => {
    state.a = systems[r]; // the system that was chosen, beside the one it was compared with
    if (state.b === state.a) state.b = systems[r ? 0 : Math.min(1, systems.length - 1)];
    openDocument(docs[c]);
  };
  const rows = systems.map((i) => head.systems[i]),
    columns = docs.map((doc) => head.docs[doc][0]);
  const chart = heatmap(`Heat-map of ${metric.spec}: systems by documents`, rows, columns, cell, open);
  chart.lastChild.id = "heatmap";
  return [scroller("Heat-map", chart, "wide"), heatScale(ends)];
}

/** Worse at the left, whichever direction that is. */
function centredEnds(metric, reach) {
  const ends = [signed(-reach, metric.digits), signed(reach, metric.digits)];
  return metric.higher ? [`≤ ${ends[0]}`, `≥ ${ends[1]}`] : [`≥ ${ends[1]}`, `≤ ${ends[0]}`];
}

function heatScale([from, to]) {
  const stops = [0, 0.25, 0.5, 0.75, 1].map((share) =>
    el("span", { class: "stop", style: { background: rgb(state.raw ? ramp(share) : diverging(2 * share - 1)) } }),
  );
  return el("p", { class: "scale" }, from, stops, to);
}

/** The documents that speak most for either of two systems: each list has only documents that its system wins. */
function extremes(metric, all, names) {
  const sign = metric.higher ? 1 : -1,
    lead = (one) => sign * (one.a - one.b),
    both = all.filter((one) => known(one.a) && known(one.b));
  const won = (side) => both.filter((one) => side * lead(one) > 0).sort((p, q) => side * (lead(q) - lead(p)));
  const columns = [["Document"], [names[0], "num"], [names[1], "num"], ["Difference", "num"]];
  const line = (one) => ({
    cells: [
      documentLink(one.doc),
      number(one.a, metric.digits),
      number(one.b, metric.digits),
      el("td", { class: "num strong" }, signed(one.a - one.b, metric.digits)),
    ],
  });
  const list = (name, rows) =>
    el(
      "div",
      {},
      el("h3", {}, "Best for ", el("bdi", {}, name)),
      rows.length
        ? scroller(`Best for ${name}`, plainTable({ class: "cards" }, columns, rows.slice(0, 5).map(line)))
        : el("p", { class: "note" }, el("bdi", {}, name), " wins no document."),
      rows.length > 5
        ? el("p", { class: "legend" }, `The first 5 of ${plural(rows.length, "document")} it wins.`)
        : null,
    );
  return section(
    "Best and worst",
    `Where ${names[0]} and ${names[1]} differ most by ${metric.spec}.`,
    el("div", { class: "halves", id: "extremes" }, list(names[0], won(1)), list(names[1], won(-1))),
  );
}

// ---------------------------------------------------------------- table

const ORDERS = [
  ["corpus", "corpus order"],
  ["difference", "difference of the two"],
  ["spread", "spread over systems"],
  ["length", "length"],
];

/** Documents in the order that was chosen. */
function sortedDocuments(table) {
  const spread = (doc) => {
    const values = table.doc.map((row) => row[doc]).filter(known);
    return values.length ? Math.max(...values) - Math.min(...values) : -1;
  };
  const keys = {
    corpus: (doc) => doc,
    length: (doc) => -head.docs[doc][1],
    spread: (doc) => -spread(doc),
    difference: (doc) => -Math.abs(table.doc[state.a][doc] - table.doc[state.b][doc]),
  };
  const key = head.docs.map((_, doc) => keys[state.order || "corpus"](doc));
  return key.map((_, doc) => doc).sort((p, q) => key[p] - key[q] || p - q);
}

function documentTable(metric, table, systems) {
  const sorted = sortedDocuments(table).filter(sought),
    pages = Math.max(1, Math.ceil(sorted.length / PAGE)),
    page = Math.min(state.leaf || 0, pages - 1);
  const { share } = scaleOf(metric, table);
  const cell = (value, doc) => {
    if (!known(value)) return "–";
    const color = (state.raw ? ramp : diverging)(0.55 * share(value, doc)); // pale enough to read a column of numbers
    const style = { background: rgb(color), color: inkOn(color) };
    return el("td", { class: "num tinted", style }, number(value, metric.digits));
  };
  const rows = sorted.slice(page * PAGE, (page + 1) * PAGE).map((doc) => ({
    cells: [documentLink(doc), count(head.docs[doc][1]), ...systems.map((i) => cell(table.doc[i][doc], doc))],
  }));
  const columns = [["Document"], ["Segments", "num"], ...systems.map((i) => [head.systems[i], "num"])];
  const drawn = plainTable({ id: "documents" }, columns, rows);
  exports.set(drawn, () => [
    columns.map(([name]) => name), // every document, not only those of this page
    ...sorted.map((doc) => [head.docs[doc][0], head.docs[doc][1], ...systems.map((i) => table.doc[i][doc])]),
  ]);
  return [
    el(
      "div",
      { class: "controls" },
      choice("Order", ORDERS, state.order || "corpus", (value) => change({ order: value, leaf: 0 })),
      pages > 1 ? turns(page, pages, sorted.length) : "",
    ),
    scroller("Documents", drawn, "pinned"),
  ];
}

function turns(page, pages, total) {
  const button = (text, to, label) =>
    el(
      "button",
      {
        type: "button",
        class: "quiet",
        disabled: to < 0 || to >= pages,
        "aria-label": label,
        on: { click: () => change({ leaf: to }) },
      },
      text,
    );
  return el(
    "span",
    { class: "turns" },
    button("←", page - 1, "Earlier documents"),
    ` ${page * PAGE + 1}–${Math.min(total, (page + 1) * PAGE)} of ${count(total)} `,
    button("→", page + 1, "Later documents"),
  );
}
