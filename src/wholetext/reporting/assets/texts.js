// The texts of a document side by side: columns, rows as one reads, and the room they take.

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
    longest: longestWord(columns),
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
  const aligned = columns.every((column) => column.text.length === total),
    table = textFrame(columns, body);
  exports.set(table, () => textRows(columns, scores, total));
  return [
    aligned
      ? null
      : el(
          "p",
          { class: "care" },
          "These texts have different numbers of segments: lines stand side by side by number only.",
        ),
    table,
    end,
  ];
}

function textFrame(columns, body) {
  return el(
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
  );
}

/** The table as a file: all segments, also those that are not drawn yet, and the score that colours them. */
function textRows(columns, scores, total) {
  const named = (column) =>
    column.kind === "hyp" && scores.size ? [column.name, `${column.name} score`] : [column.name];
  const cells = (column, at) =>
    column.kind === "hyp" && scores.size ? [column.text[at], scores.get(column.system)[at]] : [column.text[at]];
  const rows = Array.from({ length: total }, (_, at) => [at + 1, ...columns.flatMap((column) => cells(column, at))]);
  return [["Segment", ...columns.flatMap(named)], ...rows];
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

const UNBROKEN = /\S{2000}/; // Chromium breaks such a word in time that grows with the square of its length

function textCell(column, at) {
  const { block } = current,
    text = column.text[at];
  const given = { role: "cell", class: column.kind, "data-label": column.name, dir: "auto" }; // what is below follows
  if (text === undefined) return el("td", given);
  const marks = diffKind() ? diffMarks(block, column, at) : unitMarks(block, column, at);
  const long = text.length > LONG;
  const shape = ["text", long && "long", UNBROKEN.test(text) && "unbroken"].filter(Boolean).join(" ");
  const shownText = el(
    "p",
    { class: shape, lang: column.lang || null, tabindex: long ? "0" : null },
    text.trim() ? marked(text, marks || []) : el("em", { class: "empty" }, "empty"),
  );
  const skipped = marks ? null : el("p", { class: "fault" }, "too long to compare word by word");
  return el("td", given, shownText, skipped, column.kind === "hyp" ? underline(column, at) : null);
}

function unitMarks(block, column, at) {
  if (column.kind === "hyp") return hypMarks(block, column.system, at);
  return column.kind === "ref" ? refMarks(block, column.at, at, state.shown) : [];
}

// ---------------------------------------------------------------- room for texts

/** The longest word that blanks delimit, in characters: columns are not narrower while there is room. */
function longestWord(columns) {
  let most = 0;
  for (const { text } of columns)
    for (const segment of text)
      for (const word of segment.split(/[\s\u4e00-\u9fff\u3040-\u30ff]+/)) most = Math.max(most, word.length);
  return Math.min(most, 36);
}

/** Texts take the margins before a word is broken; where even these do not do, they stand below each other. */
function fitTexts() {
  const table = byId("texts");
  if (!table || !current) return;
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize),
    room = printing ? 46 * rem : innerWidth - 3 * rem,
    columns = current.columns.length,
    word = (current.longest * 0.56 + 1.8) * rem;
  const wanted = 2.9 * rem + columns * Math.max(17 * rem, word);
  table.classList.toggle("stacked", room < 2.9 * rem + columns * Math.max(8.5 * rem, Math.min(word, 13 * rem)));
  table.style.setProperty("--room", `${Math.max(0, Math.min(room, wanted))}px`);
}
