// Examples of changes: the text before and after, with what differs marked.

PANELS.examples = (panel) => {
  const text = (parts) =>
    el(
      "td",
      { dir: "auto", lang: panel.lang || null },
      parts.map(([words, marked]) => (marked ? el("mark", {}, words || "∅") : words)),
    );
  const linkTo = (place) => {
    const doc = namedDocument(place),
      segment = doc < 0 ? null : /^, (\d+)$/.exec(place.slice(head.docs[doc][0].length));
    return segment ? placeLink(place, doc, segment[1] - 1, null, "place") : place;
  };
  const rows = panel.rows.map(([name, place, before, after]) => ({
    cells: [name, linkTo(place), text(before), text(after)],
  }));
  const columns = [[panel.of], ["document, segment"], ["original"], ["changed"]];
  return scroller(panel.title, plainTable({ class: "study examples" }, columns, rows));
};
