// Differences word by word: between outputs and a reference, and between two systems.

// letters and digits are words, other signs stand alone, and so does every character of scripts without blanks
const ALONE = ["Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"]
  .map((name) => `\\p{Script=${name}}`)
  .join("");
const WORDS = new RegExp(`[${ALONE}]\\p{M}*|(?:(?![${ALONE}])[\\p{L}\\p{M}\\p{N}])+|\\S`, "gu");
const LARGEST = 4e6; // pairs of words that are compared: a segment of 2,000 words

const wordsOf = (text) =>
  [...text.matchAll(WORDS)].map((found) => ({
    text: found[0],
    start: found.index,
    end: found.index + found[0].length,
  }));

/** Which words of two texts belong to a longest common subsequence: two lists of true and false; null if too long. */
function common(first, second) {
  const inFirst = first.map(() => false),
    inSecond = second.map(() => false);
  let from = 0,
    less = 0;
  const short = Math.min(first.length, second.length);
  while (from < short && first[from] === second[from]) inFirst[from] = inSecond[from++] = true;
  while (less < short - from && first.at(-1 - less) === second.at(-1 - less)) {
    inFirst[first.length - 1 - less] = inSecond[second.length - 1 - less] = true;
    less++;
  }
  const a = first.slice(from, first.length - less),
    b = second.slice(from, second.length - less),
    wide = b.length + 1;
  if (a.length * b.length > LARGEST) return null;
  const best = new Uint16Array((a.length + 1) * wide); // [i, j]: words in common of a from i and b from j
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      best[i * wide + j] =
        a[i] === b[j] ? best[(i + 1) * wide + j + 1] + 1 : Math.max(best[(i + 1) * wide + j], best[i * wide + j + 1]);
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) inFirst[from + i++] = inSecond[from + j++] = true;
    else if (best[(i + 1) * wide + j] >= best[i * wide + j + 1]) i++;
    else j++;
  }
  return [inFirst, inSecond];
}

/** The words of each text that are not in the other, as {start, end}: [only in the first, only in the second]. */
function apart(first, second) {
  const sides = [wordsOf(first), wordsOf(second)];
  const found = common(...sides.map((words) => words.map((word) => word.text)));
  return found && sides.map((words, side) => words.filter((_, i) => !found[side][i]));
}

/** What texts can be compared with word by word: each reference, and the first two systems with each other. */
function comparisons() {
  const pair = state.shown.slice(0, 2).map((system) => head.systems[system]);
  return [
    [0, "none"],
    ...head.references.map((name, i) => [
      i + 1,
      head.references.length > 1 ? `from reference ${name}` : "from the reference",
    ]),
    ...(pair.length > 1 ? [[head.references.length + 1, `between ${pair.join(" and ")}`]] : []),
  ];
}

/** The comparison that is chosen, where it is possible here: 0 none, then references, then the pair. */
const diffKind = () => (comparisons().some(([key]) => key === state.diff) ? state.diff : 0);

/** The marks of one cell: words that are not in the text it is compared with; null where they are too long to compare. */
function diffMarks(block, column, at) {
  const kind = diffKind(),
    reference = kind - 1;
  if (reference < head.references.length) {
    if (column.kind === "hyp")
      return differing(column.text[at], block.refs[reference][at], "only", `not in the reference`);
    return column.kind === "ref" && column.at === reference ? missed(block, column, at) : [];
  }
  const place = state.shown.indexOf(column.system);
  if (column.kind !== "hyp" || place > 1) return [];
  const other = state.shown[1 - place];
  return differing(column.text[at], block.out[other][at], place ? "second" : "only", `not in ${head.systems[other]}`);
}

function differing(text, other, kind, title) {
  const found = apart(text, other || "");
  return found && found[0].map(({ start, end }) => ({ start, end, kind: `diff ${kind}`, title }));
}

/** Words of the reference that are missing in shown systems, with their names. */
function missed(block, column, at) {
  const words = new Map();
  for (const system of state.shown) {
    const found = apart(block.out[system][at] || "", column.text[at]);
    for (const { start, end } of found ? found[1] : []) {
      const word = words.get(start) || { start, end, systems: [] };
      word.systems.push(head.systems[system]);
      words.set(start, word);
    }
  }
  const all = state.shown.length;
  return [...words.values()].map(({ start, end, systems }) => ({
    start,
    end,
    kind: `diff ${systems.length === all ? "missed" : "partly"}`,
    title: `not in ${systems.join(", ")}`,
  }));
}

/** What the marks mean, or null where nothing is compared. */
function diffNote() {
  const kind = diffKind();
  if (!kind) return null;
  const said =
    kind <= head.references.length
      ? "Filled: words of an output that are not in the reference. Dashed: words of the reference that are missing in a shown system, thick where in all of them."
      : "Filled: words that are in one of the two systems only.";
  return el(
    "p",
    { class: "legend", id: "diffnote" },
    `${said} Order counts: a word that moved is marked. Other marks are hidden.`,
  );
}
