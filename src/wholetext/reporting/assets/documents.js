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

function documentLink(doc) {
  return el(
    "a",
    {
      href: `#document?d=${doc}`,
      class: "doc",
      on: {
        click: (event) => {
          event.preventDefault();
          openDocument(doc);
        },
      },
    },
    el("bdi", {}, head.docs[doc][0]),
  );
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
  const names = [head.systems[state.a], head.systems[state.b]];
  return el(
    "div",
    {},
    el("div", { class: "controls" }, metricChoice()),
    section(
      "All documents",
      `By ${metric.spec}: the stronger the colour, the higher${metric.higher ? " and better" : " and worse"}. Choose a cell to read the document.`,
      heat(metric, table, systems),
      heatScale(metric, table),
    ),
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
    section("Table", null, documentTable(metric, table, systems)),
  );
}

/** The least score of all documents and systems, and how far the others reach above it. */
function extent(table) {
  let low = Infinity,
    high = -Infinity;
  for (const value of table.doc.flat()) if (known(value)) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return low > high ? { low: 0, high: 1, reach: 1 } : { low, high, reach: high - low || 1 };
}

function heat(metric, table, systems) {
  const { low, reach } = extent(table),
    digits = metric.digits === 4 ? 2 : 1;
  const cell = (r, c) => {
    const value = table.doc[systems[r]][c];
    if (!known(value)) return null;
    const say = [head.docs[c][0], `${head.systems[systems[r]]}: ${number(value, metric.digits)}`];
    return { share: (value - low) / reach, text: number(value, digits), say };
  };
  const open = (r, c) => {
    state.a = systems[r]; // the system that was chosen, beside the one it was compared with
    if (state.b === state.a) state.b = systems[r ? 0 : Math.min(1, systems.length - 1)];
    openDocument(c);
  };
  const rows = systems.map((i) => head.systems[i]),
    columns = head.docs.map((doc) => doc[0]);
  const chart = heatmap(`Heat-map of ${metric.spec}: systems by documents`, rows, columns, cell, open);
  chart.id = "heatmap";
  return scroller("Heat-map", chart, "wide");
}

function heatScale(metric, table) {
  const { low, high } = extent(table);
  const stops = [0, 0.25, 0.5, 0.75, 1].map((share) =>
    el("span", { class: "stop", style: { background: rgb(ramp(share)) } }),
  );
  return el("p", { class: "scale" }, number(low, metric.digits), stops, number(high, metric.digits));
}

/** The documents that speak most for either of two systems. */
function extremes(metric, all, names) {
  const sign = metric.higher ? 1 : -1,
    both = all.filter((one) => known(one.a) && known(one.b));
  const sorted = both.sort((p, q) => sign * (q.a - q.b - (p.a - p.b))),
    many = Math.min(5, Math.ceil(sorted.length / 2));
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
    el("div", {}, el("h3", {}, "Best for ", el("bdi", {}, name)), plainTable({}, columns, rows.map(line)));
  return section(
    "Best and worst",
    `Where ${names[0]} and ${names[1]} differ most by ${metric.spec}.`,
    el(
      "div",
      { class: "halves", id: "extremes" },
      list(names[0], sorted.slice(0, many)),
      list(names[1], sorted.slice(-many).reverse()),
    ),
  );
}

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
  const sorted = sortedDocuments(table),
    pages = Math.ceil(sorted.length / PAGE),
    page = Math.min(state.leaf || 0, pages - 1);
  const { low, reach } = extent(table);
  const cell = (value) => {
    if (!known(value)) return "–";
    const color = ramp((0.55 * (value - low)) / reach); // pale enough to read a column of numbers
    const style = { background: rgb(color), color: inkOn(color) };
    return el("td", { class: "num tinted", style }, number(value, metric.digits));
  };
  const rows = sorted.slice(page * PAGE, (page + 1) * PAGE).map((doc) => ({
    cells: [documentLink(doc), count(head.docs[doc][1]), ...systems.map((i) => cell(table.doc[i][doc]))],
  }));
  const columns = [["Document"], ["Segments", "num"], ...systems.map((i) => [head.systems[i], "num"])];
  return [
    el(
      "div",
      { class: "controls" },
      choice("Order", ORDERS, state.order || "corpus", (value) => change({ order: value, leaf: 0 })),
      pages > 1 ? turns(page, pages, sorted.length) : null,
    ),
    scroller("Documents", plainTable({ id: "documents" }, columns, rows)),
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
