// Leaderboard: systems by metrics with intervals, clusters and marks against a baseline that a click chooses.

const MARKS = { better: "▲", worse: "▼", baseline: "=", open: "", untested: "" };
const VERDICTS = {
  better: "better than the baseline",
  worse: "worse than the baseline",
  open: "no significant difference to the baseline",
  untested: "not tested",
  baseline: "the baseline",
};

function drawLeaderboard() {
  const sorted = head.metrics[state.sort],
    rows = sorted.order; // best first, undefined last
  const table = el(
    "table",
    { class: "leaderboard", id: "leaderboard" },
    el("caption", { class: "unseen" }, "Systems by metrics; choose a system to compare the others with it"),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "System"), head.metrics.map(metricHeader))),
    el(
      "tbody",
      {},
      rows.map((system, place) => {
        const opens = place > 0 && sorted.rank[system] !== sorted.rank[rows[place - 1]];
        return el(
          "tr",
          { class: opens ? "opens" : null, "data-system": system },
          systemHeader(system),
          head.metrics.map((metric) => scoreCell(metric, system)),
        );
      }),
    ),
  );
  exports.set(table, () => leaderboardRows(rows));
  const cares = cautions();
  return el(
    "div",
    {},
    section(
      "Leaderboard",
      head.finding,
      cares.length
        ? el(
            "p",
            { class: "note" },
            el(
              "a",
              { href: "#care", on: { click: toCare } },
              `⚠ ${plural(cares.length, "note")} to read with these numbers`,
            ),
          )
        : null,
      scroller("Leaderboard", table),
      legend(),
      el("div", { id: "signature", "aria-live": "polite" }, signaturePanel()),
    ),
    cares.length
      ? el(
          "section",
          { class: "care", id: "care", tabindex: "-1" },
          el("h2", {}, "Read with care"),
          el(
            "ul",
            {},
            cares.map((text) => el("li", {}, text)),
          ),
        )
      : null,
  );
}

/** The leaderboard as a file: a column per number. */
function leaderboardRows(systems) {
  const columns = ["score", "95 % low", "95 % high", "rank", "difference", "corrected p", "verdict"];
  const cells = (metric, system) => {
    const { delta, p, verdict } = tested(metric, system);
    return [
      metric.score[system],
      metric.low[system],
      metric.high[system],
      metric.rank[system],
      delta,
      p,
      VERDICTS[verdict],
    ];
  };
  return [
    ["System", ...head.metrics.flatMap((metric) => columns.map((name) => `${metric.spec} ${name}`))],
    ...systems.map((system) => [head.systems[system], ...head.metrics.flatMap((metric) => cells(metric, system))]),
  ];
}

function toCare(event) {
  event.preventDefault();
  byId("care").scrollIntoView({ block: "start" });
  byId("care").focus({ preventScroll: true });
}

function metricHeader(metric, i) {
  const on = state.sort === i;
  return el(
    "th",
    { scope: "col", "aria-sort": on ? (metric.higher ? "descending" : "ascending") : null },
    el(
      "button",
      { type: "button", class: "sort", title: `Sort by ${metric.spec}`, on: { click: () => change({ sort: i }) } },
      el(
        "span",
        { class: "metric" },
        metric.label,
        el(
          "span",
          { class: "arrow", title: metric.higher ? "higher is better" : "lower is better" },
          ` ${arrow(metric)}`,
        ),
      ),
      el("span", { class: "under" }, metric.under),
    ),
    el(
      "button",
      {
        type: "button",
        class: "about",
        "aria-expanded": String(state.signature === i),
        "aria-controls": "signature",
        "aria-label": `Signature of ${metric.spec}`,
        title: "Signature",
        on: { click: () => change({ signature: state.signature === i ? null : i }) },
      },
      "i",
    ),
  );
}

function systemHeader(system) {
  const chosen = state.base === system,
    faults = Object.entries(head.faults[system]);
  return el(
    "th",
    { scope: "row", class: chosen ? "baseline" : null },
    el(
      "button",
      {
        type: "button",
        class: "system",
        "aria-pressed": String(chosen),
        title: chosen ? "Compare with the best again" : "Compare all with this system",
        on: { click: () => change({ base: chosen ? null : system }) },
      },
      nameOf(head.systems[system]),
    ),
    chosen ? el("span", { class: "tag" }, "baseline") : null,
    faults.length
      ? el(
          "span",
          { class: "fault", title: faults.map(([kind, n]) => `${n} ${FAULTS[kind] || kind}`).join(", ") },
          `⚠ ${faults.reduce((sum, pair) => sum + pair[1], 0)} suspicious`,
        )
      : null,
  );
}

function scoreCell(metric, system) {
  const result = tested(metric, system),
    rank = metric.rank[system];
  const p =
    result.verdict === "baseline"
      ? ""
      : `; difference ${signed(result.delta, metric.digits)}, corrected p ${pValue(result.p)}`;
  const cut = metric.lostScored[system] + metric.lostContext[system];
  return el(
    "td",
    {
      class: `score ${result.verdict}${rank === 1 ? " first" : ""}`,
      "data-label": `${metric.spec} ${arrow(metric)}`,
      title: `95 % interval ${number(metric.low[system], metric.digits)} to ${number(metric.high[system], metric.digits)}${p}`,
    },
    el(
      "span",
      { class: "line" },
      el("span", { class: "value" }, number(metric.score[system], metric.digits)),
      el("span", { class: "half" }, `±${number(metric.half[system], metric.digits)}`),
      el("span", { class: "mark", role: "img", "aria-label": VERDICTS[result.verdict] }, MARKS[result.verdict]),
      el("span", { class: "rank", title: "rank cluster" }, known(rank) ? `#${rank}` : ""),
    ),
    whisker(metric.score[system], metric.low[system], metric.high[system], metric.spread, result.verdict),
    cut
      ? el(
          "span",
          {
            class: "fault",
            title: `${metric.lostScored[system]} rows lost scored text, ${metric.lostContext[system]} lost context`,
          },
          `⚠ ${cut} cut`,
        )
      : null,
  );
}

function legend() {
  const test = head.metrics[0].test,
    chosen = state.base !== null;
  const against = chosen ? head.systems[state.base] : "the best system of each metric (=)";
  const over = chosen
    ? `the ${plural(head.systems.length - 1, "comparison")} with it`
    : `all ${plural((head.systems.length * (head.systems.length - 1)) / 2, "pair")}`;
  return el(
    "p",
    { class: "legend" },
    `± is half of the 95 % interval (${count(+test.resamples)} resamples of ${test.unit === "doc" ? "documents" : "segments"}); the line below a score shows it. `,
    el("span", { class: "better" }, "▲"),
    " ",
    el("span", { class: "worse" }, "▼"),
    ` better or worse than `,
    el("bdi", {}, against),
    ` at p ≤ ${head.alpha} `,
    `(${test.test}, ${count(+test.draws)} draws, Holm-corrected over ${over}). #n is the rank cluster: systems of one cluster do not differ significantly. `,
    "Choose a system to make it the baseline, a metric to sort by it, i for its signature.",
  );
}

function signaturePanel() {
  const metric = head.metrics[state.signature];
  if (!metric) return null;
  const own = metric.own.flatMap((items, system) =>
    Object.entries(items).map(([key, value]) => [`${key} (${head.systems[system]})`, value]),
  );
  const items = [...Object.entries(metric.signature), ...own];
  const text = Object.entries(metric.signature)
    .map((pair) => pair.join(":"))
    .join("|");
  return el(
    "div",
    { class: "panel" },
    el("h3", {}, `Signature of ${metric.spec}`),
    metric.summary ? el("p", { class: "note" }, metric.summary) : null,
    el(
      "dl",
      { class: "signature" },
      items.map(([key, value]) => el("div", {}, el("dt", {}, key), el("dd", {}, value || "–"))),
    ),
    el(
      "p",
      { class: "note" },
      "Test: ",
      Object.entries(metric.test)
        .map((pair) => pair.join(":"))
        .join("|"),
    ),
    el("code", { class: "copy", tabindex: "0" }, metric.short),
    el("code", { class: "copy", tabindex: "0" }, text),
  );
}

/** Everything that should temper the reading: cut text, broken output, few documents, what metrics warned of. */
function cautions() {
  const found = [...head.warnings];
  for (const text of new Set(head.metrics.flatMap((metric) => metric.warnings))) {
    const of = head.metrics.filter((metric) => metric.warnings.includes(text));
    const named = of.length === head.metrics.length || of.some((metric) => text.startsWith(`${metric.spec}: `));
    found.push(named ? text : `${of.map((metric) => metric.spec).join(", ")}: ${text}`);
  }
  if (head.notice) found.push(head.notice);
  return found;
}
