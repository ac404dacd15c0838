// Compare: two systems under every metric, and the categories and documents that make the difference.

const DRIVERS = 12; // documents listed

async function drawCompare() {
  const { a, b } = state,
    names = [head.systems[a], head.systems[b]];
  const pair = el("div", { class: "controls" }, pairChoices());
  if (a === b) return el("div", {}, pair, el("p", { class: "note" }, "Choose two different systems."));
  const table = await load(`metric${state.metric}`),
    metric = head.metrics[state.metric];
  const note = `${names[0]} − ${names[1]}. Each line has its own scale; right of the middle favours ${names[0]}.`;
  return el(
    "div",
    {},
    pair,
    section("Difference by metric", note, scroller("Difference by metric", differences(a, b)), comparedBy()),
    section(
      "What drives it",
      null,
      el("div", { class: "controls" }, metricChoice()),
      table.categories.length ? categories(metric, table, a, b) : null,
      drivers(metric, table, a, b),
    ),
  );
}

const between = (low, high, digits) => (known(low) ? `${signed(low, digits)} … ${signed(high, digits)}` : "–");
const strong = (text) => el("td", { class: "num strong" }, text);

function differences(a, b) {
  const columns = [
    ["Metric"],
    [head.systems[a], "num"],
    [head.systems[b], "num"],
    ["Difference", "num"],
    [INTERVAL, "num"],
    ["Chart", "unseen"],
    ["p", "num"],
    ["p (Holm)", "num"],
    ["Verdict"],
  ];
  const rows = head.metrics.map((metric) => {
    const found = tested(metric, a, b);
    return {
      cells: [
        `${metric.spec} ${arrow(metric)}`,
        number(metric.score[a], metric.digits),
        number(metric.score[b], metric.digits),
        strong(signed(found.delta, metric.digits)),
        between(...found.interval, metric.digits),
        difference(...flipped(metric, found.delta, found.interval), found.verdict),
        pValue(found.raw),
        pValue(found.p),
        verdictOf(metric, found, a, b),
      ],
    };
  });
  return plainTable({ class: "compare cards", id: "compare" }, columns, rows);
}

function verdictOf(metric, found, a, b) {
  const said = { better: `${head.systems[a]} is better`, worse: `${head.systems[b]} is better`, open: "no significant difference", untested: "not tested" };
  const needed = found.verdict === "open" ? metric.needed[a][b] : null; // by this pair alone, uncorrected
  return el(
    "span",
    {},
    el("span", { class: `verdict ${found.verdict}` }, el("bdi", {}, said[found.verdict])),
    known(needed) && needed > head.docs.length
      ? el("small", {}, ` needs about ${plural(needed, "document")}`)
      : null,
  );
}

/** Difference and interval in the direction where right is better. */
function flipped(metric, delta, [low, high]) {
  return metric.higher || !known(delta) ? [delta, low, high] : [-delta, known(high) ? -high : null, -low];
}

function comparedBy() {
  const { test, unit, draws } = head.metrics[0].test;
  return el(
    "p",
    { class: "legend" },
    `Paired ${test} over ${unit === "doc" ? "documents" : "segments"}, ${count(+draws)} draws; p (Holm) is corrected `,
    `over the ${plural(head.systems.length - 1, "comparison")} with the second system. `,
    "The estimate of documents needed assumes that the observed difference is the true one.",
  );
}

/** A bar from zero with its interval, on a scale that all lines share. */
function bar(value, [low, high], reach, kind) {
  const x = (at) => Math.max(0, Math.min(200, 100 + (98 * at) / reach));
  const chart = svg("svg", { class: `difference ${kind}`, viewBox: "0 0 200 14", "aria-hidden": "true" });
  chart.append(svg("line", { class: "zero", x1: 100, x2: 100, y1: 0, y2: 14 }));
  if (!known(value)) return chart;
  chart.append(svg("rect", { x: Math.min(100, x(value)), y: 4, width: Math.abs(x(value) - 100), height: 6 }));
  if (known(low)) chart.append(svg("line", { class: "reach", x1: x(low), x2: x(high), y1: 7, y2: 7 }));
  return chart;
}

/** "better" where the interval of the difference speaks for the first system, "worse" for the second. */
function sideOf(metric, delta, [low, high]) {
  if (!known(delta) || (known(low) && low <= 0 && high >= 0)) return "open";
  return delta > 0 === metric.higher ? "better" : "worse";
}

/** The other outputs of a metric; features stand below their category, when asked for. */
function categories(metric, table, a, b) {
  const found = table.categories.filter((one) => known(one.score[a]) || known(one.score[b])),
    top = found.filter((one) => !one.name.includes("."));
  const nested = top.flatMap((one) => [one, ...found.filter((other) => other.name.startsWith(`${one.name}.`))]);
  const shownRows = state.features ? nested : top;
  const deltaOf = (one) => one.delta[b][a];
  const reach = Math.max(...shownRows.map((one) => Math.abs(deltaOf(one) || 0)), 1e-9) * 1.25;
  const rows = shownRows.map((one) => {
    const delta = deltaOf(one),
      ends = one.deltas[b][a],
      sub = one.name.includes(".");
    return {
      kind: sub ? "sub" : null,
      cells: [
        sub ? one.name.split(".").slice(1).join(".") : one.name,
        number(one.score[a], metric.digits),
        number(one.score[b], metric.digits),
        strong(signed(delta, metric.digits)),
        between(...ends, metric.digits),
        bar(delta, ends, reach, sideOf(metric, delta, ends)),
      ],
    };
  });
  const columns = [
    ["Category"],
    [head.systems[a], "num"],
    [head.systems[b], "num"],
    ["Difference", "num"],
    [INTERVAL, "num"],
    ["Chart", "unseen"],
  ];
  const more = nested.length > top.length;
  return [
    el("h3", {}, "Categories"),
    more ? toggle("Features", Boolean(state.features), () => change({ features: !state.features })) : null,
    scroller("Categories", plainTable({ id: "categories", class: "cards" }, columns, rows)),
  ];
}

/** How much each document adds to the difference of the corpus scores: to first order, they add up to it. */
function drivers(metric, table, a, b) {
  const share = (i) =>
    known(table.weight[a][i]) && known(table.weight[b][i]) ? table.weight[a][i] - table.weight[b][i] : null;
  const all = head.docs.map((_, i) => ({ doc: i, share: share(i) })).filter((one) => known(one.share));
  const forFirst = all.filter((one) => (metric.higher ? one.share > 0 : one.share < 0)).length;
  const sorted = [...all].sort((p, q) => Math.abs(q.share) - Math.abs(p.share)).slice(0, DRIVERS),
    reach = Math.max(...sorted.map((one) => Math.abs(one.share)), 1e-12);
  const rows = sorted.map(({ doc, share: adds }) => ({
    cells: [
      documentLink(doc),
      number(table.doc[a][doc], metric.digits),
      number(table.doc[b][doc], metric.digits),
      strong(signed(adds, metric.digits + 1)),
      bar(adds, [null, null], reach, adds > 0 === metric.higher ? "better" : "worse"),
    ],
  }));
  const columns = [
    ["Document"],
    [head.systems[a], "num"],
    [head.systems[b], "num"],
    ["Adds", "num"],
    ["Chart", "unseen"],
  ];
  const delta = signed(tested(metric, a, b).delta, metric.digits),
    said = `What each document adds to the difference of ${delta}, to first order; `;
  return [
    el("h3", {}, "Documents"),
    el(
      "p",
      { class: "note" },
      said,
      `${forFirst} of ${all.length} documents favour `,
      el("bdi", {}, head.systems[a]),
      ".",
    ),
    scroller("Documents that drive the difference", plainTable({ id: "drivers", class: "cards" }, columns, rows)),
  ];
}
