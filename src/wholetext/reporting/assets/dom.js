// Elements are made here and nowhere else, always from text, never from markup: nothing in the data can become a tag.
"use strict";

const SVG = "http://www.w3.org/2000/svg";

// Names may hold control characters and marks that override the direction of writing; in attributes too these are named.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]/g;
const visible = (text) =>
  text.replace(HIDDEN, (sign) => `U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`);

function fill(node, given, children) {
  for (const [name, value] of Object.entries(given || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
    else if (name === "style") for (const [key, css] of Object.entries(value)) node.style.setProperty(key, css);
    else node.setAttribute(name, value === true ? "" : typeof value === "string" ? visible(value) : value);
  }
  for (const child of children.flat(Infinity)) {
    if (typeof child === "string") node.append(visible(child));
    else if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

const el = (tag, given, ...children) => fill(document.createElement(tag), given, children);
const svg = (tag, given, ...children) => fill(document.createElementNS(SVG, tag), given, children);
const byId = (id) => document.getElementById(id);

let choices = 0; // labels name their select by id

/** A select with a label: options are [value, text]; act gets the value. */
function choice(label, options, value, act) {
  const chosen = String(value),
    id = `choice${++choices}`;
  const items = options.map(([key, text]) => el("option", { value: key, selected: String(key) === chosen }, text));
  const select = el("select", { id, on: { change: (event) => act(event.target.value) } }, items);
  return el("span", { class: "choice" }, el("label", { for: id }, label), select);
}

/** A button that is pressed or not. */
function toggle(text, pressed, act, more) {
  return el(
    "button",
    { type: "button", class: "chip", "aria-pressed": String(pressed), on: { click: act }, ...more },
    text,
  );
}

function section(title, note, ...children) {
  return el("section", {}, el("h2", {}, title), note && el("p", { class: "note" }, note), children);
}

/** A table that may be wider than the page scrolls by itself, by keyboard too; it says so where it does. */
function scroller(label, content, kind) {
  const given = { class: `scroller ${kind || ""}`.trim(), role: "region", "aria-label": label, tabindex: "0" };
  const node = el("div", given, content);
  const look = () => {
    node.toggleAttribute("data-scrolls", node.scrollWidth > node.clientWidth + 1);
    node.toggleAttribute("data-more", node.scrollLeft + node.clientWidth < node.scrollWidth - 1);
  };
  const watch = new ResizeObserver(() => requestAnimationFrame(look));
  for (const part of [node, content]) watch.observe(part);
  node.addEventListener("scroll", look, { passive: true });
  return node;
}

/** A name that is broken only where it is wider than a column may be, and after a mark if it has one. */
const nameOf = (text) =>
  el(
    "bdi",
    { class: "name" },
    ...text.split(/(?<=[._:/-])(?=.)/).flatMap((part, i) => (i ? [el("wbr", {}), part] : part)),
  );

/** A plain table. Columns are [name, class]; a name of class "unseen" is for screen readers only. Rows are
 *  {kind, cells}: the first cell heads its row, a cell that is a td already stays as it is. */
function plainTable(given, columns, rows, caption) {
  const name = (text) => (text instanceof Node ? text : el("bdi", {}, text));
  const kindOf = (i) => (columns[i][1] === "num" ? "num" : null);
  const heads = columns.map(([text, kind], i) =>
    el(
      "th",
      { scope: "col", class: kindOf(i) },
      kind === "unseen" ? el("span", { class: "unseen" }, text) : name(text),
    ),
  );
  const labelled = (content, i) => {
    const cell = content instanceof HTMLTableCellElement ? content : el("td", { class: kindOf(i) }, content);
    if (columns[i][1] === "unseen") cell.dataset.drawn = "";
    else cell.dataset.label = visible(columns[i][0]); // shown beside it where the table is one column
    return cell;
  };
  const line = ({ kind, cells: [first, ...rest] }) =>
    el(
      "tr",
      { class: kind },
      el("th", { scope: "row" }, typeof first === "string" ? nameOf(first) : first),
      rest.map((cell, i) => labelled(cell, i + 1)),
    );
  return el(
    "table",
    { ...given, class: `plain ${given.class || ""}`.trim() },
    caption ? el("caption", {}, caption) : null,
    el("thead", {}, el("tr", {}, heads)),
    el("tbody", {}, rows.map(line)),
  );
}

/** What the pointer or the keyboard is on, beside it and for screen readers. */
const tip = {
  show(lines, x, y) {
    const box = byId("tip");
    box.replaceChildren(...lines.filter(Boolean).map((line) => el("div", {}, line)));
    box.hidden = false;
    const width = box.offsetWidth,
      height = box.offsetHeight;
    const left = Math.max(4, Math.min(x + 14, innerWidth - width - 8));
    const top = y + height + 24 > innerHeight ? y - height - 10 : y + 16;
    box.style.setProperty("left", `${left}px`);
    box.style.setProperty("top", `${Math.max(4, top)}px`);
  },
  hide() {
    byId("tip").hidden = true;
  },
  say(text) {
    byId("said").textContent = visible(text);
  },
};
