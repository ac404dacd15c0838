// The page as a whole: which part is shown, the address that says so, the keyboard, light and dark.

const PAGES = {
  leaderboard: ["Leaderboard", drawLeaderboard],
  documents: ["Documents", drawDocuments],
  document: ["Document view", drawDocument],
  compare: ["Compare", drawCompare],
};
const NUMBERS = {
  m: "metric",
  a: "a",
  b: "b",
  base: "base",
  sort: "sort",
  d: "doc",
  s: "seg",
  raw: "raw",
  diff: "diff",
};
const OFF = ["raw", "diff"]; // 0 is how the page begins
let turn = 0; // drawings that were overtaken by a later one are thrown away

/** The address of what is drawn. */
function address() {
  const items = Object.entries(NUMBERS)
    .filter(
      ([, name]) => known(state[name]) && !(name === "seg" && state.seg < 0) && !(OFF.includes(name) && !state[name]),
    )
    .map(([key, name]) => `${key}=${state[name]}`);
  if (state.shown.length) items.push(`show=${state.shown.join(",")}`);
  return `#${state.page}?${items.join("&")}`;
}

function readAddress() {
  const [page, query] = location.hash.slice(1).split("?");
  if (!Object.hasOwn(PAGES, page)) return false; // "constructor" is not a page
  state.page = page;
  const given = new URLSearchParams(query || "");
  const limits = {
    metric: head.metrics,
    a: head.systems,
    b: head.systems,
    base: head.systems,
    sort: head.metrics,
    doc: head.docs,
    raw: [0, 1],
    diff: [0, ...(head.references || []), "pair"],
  };
  for (const [key, name] of Object.entries(NUMBERS)) {
    const value = Number.parseInt(given.get(key), 10);
    if (Number.isInteger(value) && value >= 0 && (!limits[name] || value < limits[name].length)) state[name] = value;
    else if (name === "base" && given.size) state.base = null;
    else if (name === "seg") state.seg = -1;
    else if (OFF.includes(name)) state[name] = 0;
  }
  const systems = (given.get("show") || "")
    .split(",")
    .filter(Boolean)
    .map(Number)
    .filter((i) => Number.isInteger(i) && i >= 0 && i < (head.systems || []).length);
  if (systems.length) state.shown = [...new Set(systems)];
  return true;
}

/** Another page. */
function go(page, changes) {
  Object.assign(state, changes, { page });
  history.pushState(null, "", address());
  draw().then(() => {
    if (state.page !== "document" || state.seg < 0) scrollTo(0, 0);
    byId("main").focus({ preventScroll: true });
  });
}

/** The same page with something else chosen; the focus stays on what was used. */
function change(changes) {
  Object.assign(state, changes);
  if ("a" in changes || "b" in changes) state.shown = [];
  const place = focusPlace();
  remember();
  return draw().then(() => restoreFocus(place));
}

const remember = () => history.replaceState(null, "", address());

const FOCUSABLE = "button, select, input, summary, a[href], [tabindex]";
function focusPlace() {
  const all = [...byId("page").querySelectorAll(FOCUSABLE)],
    at = all.indexOf(document.activeElement);
  return at < 0
    ? null
    : { at, label: document.activeElement.getAttribute("aria-label") || document.activeElement.textContent };
}

function restoreFocus(place) {
  if (!place) return;
  const all = [...byId("page").querySelectorAll(FOCUSABLE)];
  const same =
    all[place.at] && (all[place.at].getAttribute("aria-label") || all[place.at].textContent) === place.label
      ? all[place.at]
      : all.find((node) => (node.getAttribute("aria-label") || node.textContent) === place.label) || all[place.at];
  if (same && !same.disabled) same.focus({ preventScroll: true });
}

/** Tables that would be wider than a sheet (A4, upright) are printed smaller. */
function fitPaper() {
  const type = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 14; // 10.5pt on paper
  const sheet = 670 * type; // pixels between its margins, and some to spare
  for (const table of byId("page").querySelectorAll(".scroller > table")) {
    const had = table.getAttribute("style");
    Object.assign(table.style, { minWidth: 0, width: "min-content" });
    const least = table.offsetWidth;
    had === null ? table.removeAttribute("style") : table.setAttribute("style", had);
    if (least > sheet) table.style.setProperty("--fit", (sheet / least).toFixed(3));
  }
}

async function draw() {
  const mine = ++turn,
    began = performance.now();
  current = null;
  tip.hide();
  const drawn = await PAGES[state.page][1]();
  if (mine !== turn) return;
  drawn.append(...drawn.querySelectorAll(".pop")); // out of the tables that their buttons are in
  byId("page").replaceChildren(drawn);
  exportable(drawn);
  navigation();
  fitTexts();
  if (printing) fitPaper();
  if (current && state.seg >= 0) select(state.seg);
  document.title = visible(`${PAGES[state.page][0]} · ${head.title}`);
  Object.assign(document.documentElement.dataset, {
    page: state.page,
    doc: state.doc,
    ms: (performance.now() - began).toFixed(1),
  });
}

function pageLink(page) {
  const name = PAGES[page][0];
  const follow = (event) => {
    event.preventDefault();
    go(page, {});
  };
  const here = page === state.page ? "page" : null;
  return el("a", { href: `#${page}`, title: name, "aria-current": here, on: { click: follow } }, name);
}

/** Pages as links in one line; those that do not fit are in a menu at its end, which has the name of the page if it is one. */
function navigation() {
  const nav = byId("nav"),
    pages = Object.keys(PAGES);
  const shown = (many) => {
    const rest = pages.slice(many),
      here = rest.includes(state.page);
    const menu = el(
      "details",
      { class: "more" },
      el("summary", { class: here ? "here" : null }, here ? PAGES[state.page][0] : "More"),
      el("div", { class: "menu" }, rest.map(pageLink)),
    );
    nav.replaceChildren(...pages.slice(0, many).map(pageLink), ...(rest.length ? [menu] : []));
    return nav.scrollWidth <= nav.clientWidth;
  };
  for (let many = pages.length; many >= 0 && !shown(many); many--);
  document.documentElement.style.setProperty("--bar", `${document.querySelector(".top").offsetHeight}px`);
}

/** The menu closes when something else is chosen. */
function closeMenu(event) {
  const menu = document.querySelector("nav .more[open]");
  const meant = event.type === "keydown" ? event.key === "Escape" : !menu?.contains(event.target);
  if (!menu || !meant) return;
  menu.open = false;
  if (event.type === "keydown") menu.firstChild.focus();
}

// ---------------------------------------------------------------- keyboard

const KEYS = {
  n: () => stepDocument(1),
  p: () => stepDocument(-1),
  j: () => stepSegment(1),
  k: () => stepSegment(-1),
  d: jump,
  Escape: () => select(-1),
};

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.("select, input, textarea")) return;
  if (event.key === "Escape") tip.hide();
  if (state.page === "document" && Object.hasOwn(KEYS, event.key)) {
    event.preventDefault();
    KEYS[event.key]();
  }
}

// ---------------------------------------------------------------- light and dark

const THEMES = ["auto", "light", "dark"],
  dark = matchMedia("(prefers-color-scheme: dark)");
let theme = "auto",
  printing = false;

function paint() {
  const real = printing ? "light" : theme === "auto" ? (dark.matches ? "dark" : "light") : theme;
  Object.assign(document.documentElement.dataset, { theme: printing ? "light" : theme, drawn: real });
  byId("theme").setAttribute("aria-label", `Colours: ${theme === "auto" ? "automatic" : theme}`);
  byId("theme").title = `Colours: ${theme === "auto" ? "automatic" : theme}`;
  byId("theme").textContent = { auto: "◐", light: "☀", dark: "☾" }[theme];
}

function nextTheme() {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  paint();
  draw();
}

// ---------------------------------------------------------------- start

async function start() {
  paint();
  head = await load("head");
  if (!head.metrics) for (const page of Object.keys(PAGES)) delete PAGES[page];
  (head.studies || []).forEach((study, i) => {
    PAGES[`study${i}`] = [study.title, () => drawStudy(i)];
  });
  state.page = Object.keys(PAGES)[0];
  if (head.metrics) Object.assign(state, { base: head.baseline, b: Math.min(1, head.systems.length - 1) });
  readAddress();
  byId("theme").addEventListener("click", nextTheme);
  dark.addEventListener("change", () => {
    paint();
    draw();
  });
  addEventListener("beforeprint", () => {
    printing = true;
    paint();
    draw();
  });
  addEventListener("afterprint", () => {
    printing = false;
    paint();
    draw();
  });
  addEventListener("keydown", pressed);
  addEventListener("keydown", closeMenu);
  addEventListener("click", closeMenu);
  addEventListener("resize", () => {
    navigation();
    fitTexts();
  });
  addEventListener("popstate", () => {
    const first = !location.hash; // as the page was opened
    if (first) state.page = Object.keys(PAGES)[0];
    if (first || readAddress()) draw();
  });
  await draw();
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  performance.mark("shown"); // laid out and painted
  document.documentElement.dataset.ready = "yes";
}

start().catch((fault) => {
  byId("page").replaceChildren(
    el(
      "p",
      { class: "care" },
      typeof DecompressionStream === "undefined"
        ? "This browser is too old to unpack the report: it needs a browser of 2023 or later."
        : `The report cannot be drawn: ${fault.message}`,
    ),
  );
  throw fault;
});
