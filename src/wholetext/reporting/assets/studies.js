// Pages of studies (meta-evaluation, sweeps, contrastive sets): tables with clusters, grids, curves, dots.

const PANELS = {
  table: (panel) => scroller(panel.title, studyTable(panel)),
  grid: (panel) => [
    scroller(panel.title, heatmap(panel.title, panel.rows, panel.columns, gridCell(panel)), "wide"),
    el(
      "p",
      { class: "legend" },
      panel.axes[0] && `Down: ${panel.axes[0]}. `,
      panel.axes[1] && `Across: ${panel.axes[1]}.`,
    ),
    numbersOf(
      [panel.axes.join(" by "), ...panel.columns],
      panel.rows.map((name, r) => [name, ...gridWords(panel, r)]),
    ),
  ],
  curves: (panel) => [
    scroller(panel.title, curves(panel), "wide"),
    numbersOf(
      [panel.axes[0], ...panel.lines.map((line) => line.name)],
      panel.x.map((x, i) => [String(x), ...panel.lines.map((line) => writer(line.y)(line.y[i]))]),
    ),
  ],
  bars: (panel) => [
    scroller(panel.title, bars(panel), "wide"),
    numbersOf(
      ["Name", panel.axis, "low", "high", "items"],
      panel.bars.map((one) => [
        [one.group, one.name].filter(Boolean).join(" · "),
        ...[one.value, one.low, one.high].map(writer(panel.bars.map((bar) => bar.value))),
        known(one.count) ? count(one.count) : "–",
      ]),
    ),
  ],
};

/** How to write the numbers of one column or chart: all alike. */
function writer(values) {
  const numbers = values.filter((value) => typeof value === "number");
  const digits = numbers.every(Number.isInteger) ? 0 : numbers.some((value) => Math.abs(value) >= 2) ? 2 : 4;
  return (value) => (typeof value !== "number" ? value || "–" : digits ? number(value, digits) : count(value));
}

function studyTable(panel) {
  const writers = panel.columns.map((_, c) => writer(panel.rows.map((row) => row[1][c])));
  const cell = (value, rank, write) =>
    el(
      "td",
      { class: `num${rank === 1 ? " strong" : ""}` },
      write(value),
      known(rank) ? el("span", { class: "rank", title: "rank cluster" }, ` #${rank}`) : null,
    );
  const rows = panel.rows.map(([name, cells], r) => ({
    cells: [name, ...cells.map((value, c) => cell(value, panel.ranks.length ? panel.ranks[r][c] : null, writers[c]))],
  }));
  const table = plainTable({ class: "study" }, [[panel.of], ...panel.columns.map((name) => [name, "num"])], rows);
  const ranked = panel.ranks.length > 0;
  exports.set(table, () => [
    [panel.of, ...panel.columns.flatMap((name) => (ranked ? [name, `${name} rank`] : [name]))],
    ...panel.rows.map(([name, cells], r) => [
      name,
      ...cells.flatMap((value, c) => (ranked ? [value, panel.ranks[r][c]] : [value])),
    ]),
  ]);
  return table;
}

/** Colour and words of a grid's cell. */
function gridCell(panel) {
  const values = panel.values.flat().filter(known),
    [low, high] = panel.ends || [Math.min(...values), Math.max(...values)],
    write = writer(values);
  const reach = panel.centred ? Math.max(...values.map(Math.abs), 1e-9) : high - low || 1;
  return (r, c) => {
    const value = panel.values[r][c],
      place = `${panel.axes[0]} ${panel.rows[r]}, ${panel.axes[1]} ${panel.columns[c]}`.trim();
    if (!known(value)) return null;
    const share = panel.centred ? value / reach : (value - low) / reach;
    const extra = panel.extra.length ? panel.extra[r][c] : "";
    return { share, centred: panel.centred, text: write(value), say: [place, write(value), extra] };
  };
}

const gridWords = (panel, r) =>
  panel.values[r].map((value, c) => {
    const extra = panel.extra.length ? panel.extra[r][c] : "";
    return writer(panel.values.flat())(value) + (extra && known(value) ? ` (${extra})` : "");
  });

/** The numbers behind a chart, for those who cannot see it or want them. */
function numbersOf(columns, rows) {
  const table = plainTable(
    {},
    columns.map((name, i) => [name || "Name", i ? "num" : ""]),
    rows.map((cells) => ({ cells })),
  );
  return el("details", {}, el("summary", {}, "Numbers"), scroller("Numbers", table));
}

function drawStudy(at) {
  const study = head.studies[at];
  const facts = study.facts.map(([key, value]) => el("div", {}, el("dt", {}, key), el("dd", {}, value)));
  const cares = study.warnings.map((text) => el("li", {}, linked(text)));
  return el(
    "div",
    {},
    el(
      "section",
      {},
      el("h2", { class: study.title === head.title ? "unseen" : null }, study.title),
      facts.length ? el("dl", { class: "signature lines" }, facts) : null,
      cares.length ? el("div", { class: "care" }, el("ul", {}, cares)) : null,
    ),
    study.panels.map((panel) =>
      el(
        "section",
        { class: `study-${panel.kind}` },
        el("h3", {}, panel.title),
        panel.note ? el("p", { class: "note" }, panel.note) : null,
        PANELS[panel.kind](panel),
      ),
    ),
  );
}
