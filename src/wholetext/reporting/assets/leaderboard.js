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
    rows = sorted.order, // best first, undefined last
    ends = head.metrics.map(differenceEnds);
  const table = el(
    "table",
    { class: "leaderboard", id: "leaderboard" },
    el("caption", { class: "unseen" }, "Systems by metrics; choose a system to compare the others with it"),
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        el(
          "th",
          { scope: "col" },
          "System",
          known(rankOf(sorted, rows[0])) ? el("small", {}, ` # by ${sorted.spec}`) : null,
        ),
        head.metrics.map(metricHeader),
      ),
    ),
    el(
      "tbody",
      {},
      rows.map((system, place) => {
        const opens = place > 0 && rankOf(sorted, system) !== rankOf(sorted, rows[place - 1]);
        return el(
          "tr",
          { class: opens ? "opens" : null, "data-system": system },
          systemHeader(system, rankOf(sorted, system)),
          head.metrics.map((metric, i) => scoreCell(metric, system, ends[i])),
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
      legend(sorted),
    ),
    cares.length
      ? el(
          "section",
          { class: "care", id: "care", tabindex: "-1" },
          el("h2", {}, "Read with care"),
          el(
            "ul",
            {},
            cares.map((text) => el("li", {}, linked(text))),
          ),
        )
      : null,
    el("section", { class: "printed", id: "signatures" }, el("h2", {}, "Signatures"), head.metrics.map(signature)),
  );
}

/** The leaderboard as a file: a column per number. */
function leaderboardRows(systems) {
  const columns = [
    "score",
    "95 % low",
    "95 % high",
    "rank",
    "difference",
    "difference 95 % low",
    "difference 95 % high",
    "corrected p",
    "verdict",
  ];
  const cells = (metric, system) => {
    const { delta, interval, p, verdict } = tested(metric, system);
    return [
      metric.score[system],
      metric.low[system],
      metric.high[system],
      rankOf(metric, system),
      delta,
      ...interval,
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
    popover({ class: "about" }, "i", `About ${metric.spec}`, () => aboutMetric(metric)),
  );
}

function systemHeader(system, rank) {
  const chosen = state.base === system,
    faults = Object.entries(head.faults[system]),
    suspicious = `⚠ ${faults.reduce((sum, pair) => sum + pair[1], 0)} suspicious`;
  return el(
    "th",
    { scope: "row", class: chosen ? "baseline" : null },
    known(rank) ? el("span", { class: "rank", title: "rank cluster" }, `#${rank}`) : null,
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
      ? popover(
          {
            class: "fault",
            title: faults.map(([kind, n]) => `${n} ${FAULTS[kind] || kind}`).join(", "),
            "aria-label": `${suspicious} in ${head.systems[system]}`,
          },
          suspicious,
          `Suspicious output of ${head.systems[system]}`,
          () => flagList(system),
        )
      : null,
  );
}

/** The ends of a metric's differences to the baseline, in the direction where right is better: one axis for all rows. */
function differenceEnds(metric) {
  const all = metric.order.flatMap((system) => {
    const { delta, interval } = tested(metric, system);
    return flipped(metric, delta, interval);
  });
  const [low, high] = [Math.min(0, ...all.filter(known)), Math.max(0, ...all.filter(known))];
  return low < high ? [low, high] : [-1, 1];
}

/** At most three things in a cell: the score, the verdict, and the interval of the difference to the baseline. */
function scoreCell(metric, system, ends) {
  const { delta, interval, p, verdict } = tested(metric, system),
    cut = metric.lostScored[system] + metric.lostContext[system],
    own = `95 % interval of the score ${number(metric.low[system], metric.digits)} to ${number(metric.high[system], metric.digits)}`,
    apart = verdict === "baseline" || !known(delta) ? null : differenceText(metric, delta, interval);
  return el(
    "td",
    {
      class: `score ${verdict}`,
      "data-label": `${metric.spec} ${arrow(metric)}`,
      title: apart ? `difference ${apart}, corrected p ${pValue(p)}; ${own}` : own,
    },
    el(
      "span",
      { class: "line" },
      el("span", { class: "value" }, number(metric.score[system], metric.digits)),
      el("span", { class: "mark", role: "img", "aria-label": VERDICTS[verdict] }, MARKS[verdict]),
    ),
    known(delta) && known(ends) ? difference(...flipped(metric, delta, interval), verdict, ends) : null,
    apart ? el("span", { class: "ends" }, apart) : null,
    cut ? placeLink(`⚠ ${cut} cut`, ...metric.lostAt[system], besideFirst(system), "fault") : null,
  );
}

const differenceText = (metric, delta, [low, high]) =>
  signed(delta, metric.digits) + (known(low) ? ` (${between(low, high, metric.digits)})` : "");

/** What was compared with what, and how often: one comparison needs no correction. */
function correction() {
  const others = head.systems.length - 1,
    chosen = state.base !== null,
    many = chosen ? others : (others * (others + 1)) / 2;
  if (many < 2) return "";
  return `, Holm-corrected over ${chosen ? `the ${count(many)} comparisons with it` : `all ${count(many)} pairs`}`;
}

function legend(sorted) {
  const test = head.metrics[0].test,
    against = state.base !== null ? head.systems[state.base] : "the best system of each metric (=)",
    all = head.metrics.some(isTested);
  const choose = "Choose a system to make it the baseline, a metric to sort by it, i for its numbers and signature.";
  if (!all) return el("p", { class: "legend" }, `Differences were not tested: no marks and no ranks. ${choose}`);
  return el(
    "p",
    { class: "legend" },
    el("span", { class: "better" }, "▲"),
    " ",
    el("span", { class: "worse" }, "▼"),
    ` better or worse than `,
    el("bdi", {}, against),
    ` at p ≤ ${head.alpha} (${test.test}, ${count(+test.draws)} draws${correction()}); no mark: no significant difference. `,
    "The line below a score is the 95 % interval of the difference to ",
    el("bdi", {}, state.base !== null ? head.systems[state.base] : "the best"),
    `: the upright is zero, right of it is better (${count(+test.resamples)} resamples of ${test.unit === "doc" ? "documents" : "segments"}`,
    correction() ? "; not corrected for the number of comparisons, and too narrow with few documents, so it can exclude zero where there is no mark). " : "). ",
    known(rankOf(sorted, sorted.order[0]))
      ? `#n is the rank cluster by ${sorted.spec}: no two systems of a cluster differ significantly. The first that is worse than any member opens the next, which may also hold systems without a mark. `
      : "",
    el("span", { class: "keys" }, choose),
  );
}

/** Name, parameters and versions of a metric as a line to copy, and what systems have of their own. */
function signature(metric) {
  const line = (items) =>
    Object.entries(items)
      .map((pair) => pair.join(":"))
      .join("|");
  const own = metric.own.flatMap((items, system) => (line(items) ? [`${head.systems[system]}: ${line(items)}`] : []));
  return el(
    "div",
    { class: "signature" },
    el("h3", {}, `Signature of ${metric.spec}`),
    [metric.short, line(metric.signature), ...own].map((text) => el("code", { class: "copy", tabindex: "0" }, text)),
    el("p", { class: "note" }, `Test: ${line(metric.test)}`),
  );
}

/** What a metric is, its numbers against the baseline, its notes, its signature. */
function aboutMetric(metric) {
  const columns = ["System", "Score", INTERVAL, "Difference", INTERVAL, "p (Holm)", "Rank"];
  const rows = metric.order.map((system) => {
    const { delta, interval, p, verdict } = tested(metric, system),
      self = verdict === "baseline",
      write = (value) => number(value, metric.digits);
    const own = known(metric.low[system]) ? `${write(metric.low[system])} … ${write(metric.high[system])}` : "–";
    return {
      cells: [
        head.systems[system],
        write(metric.score[system]),
        own,
        self ? "baseline" : signed(delta, metric.digits),
        self ? "" : between(...interval, metric.digits),
        self ? "" : pValue(p),
        known(rankOf(metric, system)) ? `#${rankOf(metric, system)}` : "–",
      ],
    };
  });
  const notes = cautions().filter((text) => text.split(": ")[0].split(", ").includes(metric.spec));
  return [
    metric.summary ? el("p", { class: "note" }, metric.summary) : null,
    notes.length
      ? el(
          "ul",
          { class: "care" },
          notes.map((text) => el("li", {}, linked(text))),
        )
      : null,
    scroller(
      `Numbers of ${metric.spec}`,
      plainTable(
        { class: "cards" },
        columns.map((name, i) => [name, i ? "num" : ""]),
        rows,
      ),
    ),
    signature(metric),
  ];
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
