// Tables as TSV: every table on the page can be downloaded and opened in a spreadsheet.

const exports = new WeakMap(); // table → its rows, where the page shows them otherwise (in pages, with marks)

const INTERVAL = "95 % interval";

/** A cell of a file for spreadsheets: no text of it can be read as a formula. */
function tsvCell(value) {
  if (!known(value)) return "";
  if (typeof value === "number") return String(value);
  const text = visible(value.replace(/[\s\u00a0]+/g, " ").trim());
  return /^[=+\-@＝＋－＠]/.test(text) ? `'${text}` : text;
}

/** A number as the page writes it, as a number; other text stays. */
function asNumber(text) {
  const plain = text
    .trim()
    .replace("−", "-")
    .replace(/^\+/, "")
    .replace(/(?<=\d),(?=\d{3})/g, "");
  return plain === "–" ? null : /^-?\d+(\.\d+)?$/.test(plain) ? Number(plain) : text;
}

/** The cells of a table as they are read: charts are left out, an interval is two columns. */
function readTable(table) {
  const charts = new Set([...table.querySelectorAll("[data-drawn]")].map((cell) => cell.cellIndex)),
    heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  const cells = (row, head) =>
    [...row.cells].flatMap((cell, i) => {
      if (charts.has(i)) return [];
      if (heads[i] === INTERVAL) return head ? ["95 % low", "95 % high"] : ends(cell.textContent);
      return [cell.matches("td.num") ? asNumber(cell.textContent) : cell.textContent];
    });
  const ends = (text) => (text.includes("…") ? text.split("…").map(asNumber) : [null, null]);
  return [...table.rows].map((row) => cells(row, row.parentNode === table.tHead));
}

const tsvOf = (table) =>
  (exports.get(table) || (() => readTable(table)))()
    .map((row) => row.map(tsvCell).join("\t"))
    .join("\r\n") + "\r\n";

function download(name, text) {
  const address = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/tab-separated-values" }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** A button below each table in a node; the file is named after the page and the heading above the table. */
function exportable(node) {
  for (const table of node.querySelectorAll("table")) {
    const holder = table.closest(".scroller") || table,
      label = holder.getAttribute("aria-label") || table.id || "table";
    if (holder.nextElementSibling?.matches(".export")) continue;
    const name = `${head.title}-${label}`.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 80);
    const save = () => download(`${name}.tsv`, tsvOf(table));
    const given = { type: "button", class: "quiet", "aria-label": `Download ${label} as TSV`, on: { click: save } };
    holder.after(el("p", { class: "export" }, el("button", given, "↓ TSV")));
  }
}
