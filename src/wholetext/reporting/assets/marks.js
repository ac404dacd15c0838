// Text with marks: pieces of one segment that carry categories, errors and cuts; control characters made visible.

// what could reorder or break the page when shown raw: controls and bidirectional overrides
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
const LONG = 3000; // characters from which a cell scrolls by itself

/** A text as nodes, control characters as their names. */
function shown(text) {
  const nodes = [];
  let from = 0;
  for (const found of text.matchAll(CONTROL)) {
    if (found.index > from) nodes.push(text.slice(from, found.index));
    const code = found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    nodes.push(el("span", { class: "control", title: "control character" }, `U+${code}`));
    from = found.index + 1;
  }
  if (from < text.length) nodes.push(text.slice(from));
  return nodes;
}

/** A text cut at every border of a mark {start, end, kind, title}; a piece carries all marks over it. */
function marked(text, marks) {
  if (!marks.length) return shown(text);
  const borders = [...new Set([0, text.length, ...marks.flatMap((mark) => [mark.start, mark.end])])]
    .filter((at) => at >= 0 && at <= text.length)
    .sort((p, q) => p - q);
  const nodes = [];
  for (let i = 0; i + 1 < borders.length; i++) {
    const [start, end] = [borders[i], borders[i + 1]],
      over = marks.filter((mark) => mark.start <= start && mark.end >= end);
    const piece = shown(text.slice(start, end));
    if (!over.length) nodes.push(...piece);
    else
      nodes.push(
        el(
          over.some((mark) => mark.gone) ? "s" : "span",
          { class: over.map((mark) => mark.kind).join(" "), title: over.map((mark) => mark.title).join("; ") },
          piece,
        ),
      );
  }
  return nodes;
}

/** The marks of a metric for a system; a number says which earlier metric has the same. */
function marksOf(block, metric, system) {
  const found = block.marks[metric],
    real = typeof found === "number" ? block.marks[found] : found;
  return (real && real[system]) || { units: [], errors: [], cuts: [] };
}

/** The metrics that mark something in this document. */
const marking = (block) =>
  head.metrics.map((_, i) => i).filter((i) => block.marks[i] && typeof block.marks[i] !== "number");

const categoryClass = (category) => `unit c${CATEGORY[category] === undefined ? 6 : CATEGORY[category]}`;
const wanted = (category) => !state.off.includes(category);

/** An error in words: a judge says of which kind it is and why, a model how sure it is. */
function errorName([severity, confidence, why]) {
  return why ? `${severity}: ${why}` : `${severity} error, confidence ${number(confidence, 2)}`;
}

/** Everything to mark in one segment of an output: matched and extra units, errors, what the model did not see. */
function hypMarks(block, system, segment) {
  const found = [];
  for (const metric of marking(block)) {
    const { units, errors, cuts } = marksOf(block, metric, system);
    for (const [side, at, start, end, category, feature, matched] of units) {
      if (side === -1 && at === segment && wanted(category)) {
        found.push({
          start,
          end,
          kind: `${categoryClass(category)} ${matched ? "matched" : "extra"}`,
          title: `${category} (${feature}): ${matched ? "matched" : "extra, not in the reference"}`,
        });
      }
    }
    for (const [at, start, end, ...error] of errors) {
      if (at === segment && wanted("errors"))
        found.push({
          start,
          end,
          kind: `error ${error[0]}`,
          title: `${errorName(error)}, ${head.metrics[metric].label}`,
        });
    }
    for (const [at, start] of cuts) {
      if (at === segment)
        found.push({
          start,
          end: block.out[system][segment].length,
          kind: "gone",
          gone: true,
          title: `not seen by ${head.metrics[metric].spec}: it did not fit the model`,
        });
    }
  }
  return found;
}

/** Units of a reference's segment: which of them some shown system misses. */
function refMarks(block, reference, segment, systems) {
  const units = new Map();
  for (const metric of marking(block))
    for (const system of systems) {
      for (const [side, at, start, end, category, feature, matched] of marksOf(block, metric, system).units) {
        if (side !== reference || at !== segment || !wanted(category)) continue;
        const key = `${start},${end},${category},${feature}`,
          unit = units.get(key) || { start, end, category, feature, missing: [] };
        if (!matched && !unit.missing.includes(head.systems[system])) unit.missing.push(head.systems[system]);
        units.set(key, unit);
      }
    }
  return [...units.values()].map((unit) => ({
    start: unit.start,
    end: unit.end,
    kind: `${categoryClass(unit.category)} ${unit.missing.length ? "missing" : "matched"}`,
    title: `${unit.category} (${unit.feature}): ${unit.missing.length ? `missing in ${unit.missing.join(", ")}` : "matched"}`,
  }));
}

/** What an output misses of the first reference, as words. */
function missingIn(block, system, segment) {
  const found = [];
  for (const metric of marking(block))
    for (const [side, at, start, end, category, feature, matched] of marksOf(block, metric, system).units) {
      if (side === 0 && at === segment && !matched && wanted(category))
        found.push({ text: block.refs[0][segment].slice(start, end), category, feature });
    }
  return found;
}

/** Units of a whole document by category: [matched, missing, extra]. */
function tallies(block, system) {
  const found = new Map();
  for (const metric of marking(block)) {
    const { units, errors } = marksOf(block, metric, system);
    for (const [side, , , , category, , matched] of units) {
      const row = found.get(category) || [0, 0, 0];
      if (side === -1) row[matched ? 0 : 2] += 1;
      else if (side === 0 && !matched) row[1] += 1;
      found.set(category, row);
    }
    if (errors.length) found.set("errors", [null, null, (found.get("errors") || [0, 0, 0])[2] + errors.length]);
  }
  const place = (category) => (CATEGORY[category] === undefined ? 9 : CATEGORY[category]);
  return new Map([...found].sort((p, q) => place(p[0]) - place(q[0])));
}
