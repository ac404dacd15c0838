// Examples of changes: the text before and after, with what differs marked.

PANELS.examples = (panel) => {
  const text = (parts) =>
    el(
      "td",
      { dir: "auto", lang: panel.lang || null },
      parts.map(([words, marked]) => (marked ? el("mark", {}, words || "∅") : words)),
    );
  const rows = panel.rows.map(([name, place, before, after]) => ({ cells: [name, place, text(before), text(after)] }));
  const columns = [[panel.of], ["document, segment"], ["original"], ["changed"]];
  return scroller(panel.title, plainTable({ class: "study examples" }, columns, rows));
};
