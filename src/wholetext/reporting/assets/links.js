// Links and popovers: every document, segment, flag and note that the page names leads to it.

/** A link to a document or one of its segments (−1: none), with the systems to show. */
function placeLink(content, doc, seg, systems, kind) {
  const shown = systems || (state.a === state.b ? [state.a] : [state.a, state.b]);
  const follow = (event) => {
    event.preventDefault();
    go("document", { doc, seg, shown });
  };
  const href = `#document?d=${doc}${seg < 0 ? "" : `&s=${seg}`}&show=${shown.join(",")}`;
  return el("a", { href, class: kind || "doc", on: { click: follow } }, content);
}

/** A system and, beside it, the first of the two that are compared. */
const besideFirst = (system) => [...new Set([state.a, system])].sort((p, q) => p - q);

/** The document whose name a text begins with; the longest of several. */
function namedDocument(text) {
  let best = -1;
  (head.docs || []).forEach(([id], doc) => {
    const longer = best < 0 || id.length > head.docs[best][0].length;
    if (id && longer && text.startsWith(id) && !/^\w/.test(text.slice(id.length))) best = doc;
  });
  return best;
}

/** A note with links to the documents and segments that it names. */
function linked(text) {
  const nodes = [],
    system = (head.systems || []).findIndex((name) => text.startsWith(`${name}: `));
  let from = 0;
  for (const found of text.matchAll(/\bdocument (?=\S)/g)) {
    const at = found.index + found[0].length,
      doc = at < from ? -1 : namedDocument(text.slice(at));
    if (doc < 0) continue;
    const end = at + head.docs[doc][0].length,
      segment = /^, segment (\d+)/.exec(text.slice(end)),
      stop = end + (segment ? segment[0].length : 0);
    const place = segment && segment[1] <= head.docs[doc][1] ? segment[1] - 1 : -1;
    nodes.push(
      text.slice(from, at),
      placeLink(text.slice(at, stop), doc, place, system < 0 ? null : besideFirst(system), "place"),
    );
    from = stop;
  }
  return [...nodes, text.slice(from)];
}

let popovers = 0; // buttons name their popover by id

/** A button and the popover that it opens beside itself; make() gives the content when it is first opened. */
function popover(given, face, title, make) {
  const id = `popover${++popovers}`,
    button = el("button", { type: "button", popovertarget: id, "aria-label": title, ...given }, face),
    box = el("div", { id, popover: "auto", class: "pop", role: "dialog", "aria-label": title });
  const place = () => {
    const at = button.getBoundingClientRect(),
      room = (size, all) => Math.max(8, all - size - 8);
    box.style.setProperty("left", `${Math.min(Math.max(8, at.left), room(box.offsetWidth, innerWidth))}px`);
    box.style.setProperty("top", `${Math.min(at.bottom + 6, room(box.offsetHeight, innerHeight))}px`);
  };
  const close = el(
    "button",
    { type: "button", class: "close", popovertarget: id, popovertargetaction: "hide", "aria-label": "Close" },
    "×",
  );
  box.addEventListener("toggle", async (event) => {
    if (event.newState !== "open") return;
    if (!box.firstChild) box.append(close, el("h3", {}, title), ...[await make()].flat(Infinity).filter(Boolean));
    place();
  });
  return [button, box];
}

/** The suspicious segments of a system, each a link to it. */
async function flagList(system) {
  const [total, places] = (await load("flags"))[system];
  const item = ([doc, seg, kind, note]) =>
    el(
      "li",
      {},
      placeLink(`${head.docs[doc][0]}${seg < 0 ? "" : `, segment ${seg + 1}`}`, doc, seg, besideFirst(system), "place"),
      `: ${FAULTS[kind] || kind}${note ? ` (${note})` : ""}`,
    );
  const rest =
    total > places.length ? el("p", { class: "note" }, `The first ${count(places.length)} of ${count(total)}.`) : null;
  return [el("ul", {}, places.map(item)), rest];
}
