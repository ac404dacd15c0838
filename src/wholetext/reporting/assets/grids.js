// Heat-maps as one path per colour, so that forty thousand cells stay quick and sharp; curves and dots of studies.

const SHADES = 24,
  NAMED = 250, // columns with labels: more are an overview
  NARROWEST = 13; // a column with a label

/** Measures of a heat-map: names at the left, columns as wide as their labels ask for and the page has room. */
function heatLayout(rows, columns) {
  const left = 16 + 7.6 * Math.min(innerWidth < 740 ? 13 : 18, Math.max(3, ...rows.map((row) => row.length)));
  const room = 1090 - left,
    letter = Math.min(16, Math.max(1, ...columns.map((name) => name.length))), // of the longest label above
    level = columns.length * (letter * 7 + 10) < room, // labels that fit need not be turned
    named = columns.length <= NAMED;
  const across = Math.min(Math.max(room / Math.max(1, columns.length), named ? NARROWEST : 0), 110);
  return {
    left,
    across,
    letter,
    level,
    named,
    top: !named ? 14 : level ? 26 : 16 + letter * 7.2,
    tall: rows.length > 12 ? 22 : 30,
    width: Math.max(1, across * columns.length),
  };
}

/** A heat-map: cell(row, column) → {share, text, say} or null; open(row, column). The names of its rows stay in
 *  sight where it scrolls; labels above are shortened in the middle, and whole under the pointer. */
function heatmap(label, rows, columns, cell, open) {
  const place = heatLayout(rows, columns),
    { left, across, top, tall, width } = place,
    height = top + rows.length * tall + 6;
  const names = svg("svg", { class: "names", viewBox: `0 0 ${left} ${height}`, "aria-hidden": "true" });
  const chart = frame(width, height, label, Boolean(open));
  for (const [node, wide] of [
    [names, left],
    [chart, width],
  ]) {
    node.style.setProperty("max-width", "none");
    node.style.setProperty("--wide", String(wide));
  }
  rows.forEach((name, r) =>
    names.append(
      svg(
        "text",
        { class: "label system", x: left - 8, y: top + r * tall + tall / 2 + 4, "text-anchor": "end" },
        svg("title", {}, name),
        clip(name, Math.round((left - 16) / 7.6)),
      ),
    ),
  );
  const places = heatCells(chart, place, rows, columns, cell);
  if (place.named) columns.forEach((name, c) => chart.append(columnLabel(name, c, place)));
  const spots = cells(chart, places, { left: 0, top, across, tall, rows: rows.length, columns: columns.length }, open);
  return el("div", { class: "heat" }, names, spots);
}

function columnLabel(name, c, { across, top, letter, level }) {
  const x = (c + 0.5) * across,
    y = top - 8;
  const turned = level
    ? { x, y, "text-anchor": "middle" }
    : { x: x + 4, y, transform: `rotate(-90 ${x + 4} ${y})`, style: { "font-size": `${Math.min(12, across - 1)}px` } };
  return svg("text", { class: "label column", ...turned }, svg("title", {}, name), shorten(name, letter));
}

/** The cells, one path per colour; returns where each is and what it says. */
function heatCells(chart, { across, top, tall }, rows, columns, cell) {
  const paths = new Map(),
    letters = [],
    places = [],
    gap = across > 6 ? 1 : 0;
  rows.forEach((_, r) =>
    columns.forEach((_, c) => {
      const found = cell(r, c),
        x = c * across,
        y = top + r * tall;
      if (!found) return;
      const share = Math.round(found.share * SHADES) / SHADES,
        color = found.centred ? diverging(share) : ramp(share),
        key = rgb(color);
      paths.set(
        key,
        `${paths.get(key) || ""}M${(x + gap / 2).toFixed(2)} ${y + 0.5}h${(across - gap).toFixed(2)}v${tall - 1}h${(gap - across).toFixed(2)}z`,
      );
      const written = { class: "cell", x: x + across / 2, y: y + tall / 2 + 4, "text-anchor": "middle" };
      if (across >= 38) letters.push(svg("text", { ...written, style: { fill: inkOn(color) } }, found.text));
      places.push({ x: x + across / 2, y: y + tall / 2, r, c, say: found.say });
    }),
  );
  for (const [color, d] of paths) chart.append(svg("path", { d, fill: color }));
  chart.append(...letters);
  return places;
}

/** Pointer and arrow keys over the cells of a heat-map. */
function cells(chart, places, place, open) {
  const byCell = new Map(places.map((spot) => [`${spot.r},${spot.c}`, spot]));
  const ring = svg("rect", { class: "ring", width: place.across, height: place.tall, visibility: "hidden" });
  chart.append(ring);
  let at = null;
  const show = (spot) => {
    at = spot;
    ring.setAttribute("visibility", "visible");
    ring.setAttribute("x", place.left + spot.c * place.across);
    ring.setAttribute("y", place.top + spot.r * place.tall);
    const box = chart.getBoundingClientRect(),
      scale = box.width / chart.viewBox.baseVal.width;
    tip.show(spot.say, box.left + spot.x * scale, box.top + spot.y * scale);
  };
  const leave = () => {
    ring.setAttribute("visibility", "hidden");
    tip.hide();
  };
  const under = (event) => {
    const box = chart.getBoundingClientRect(),
      scale = chart.viewBox.baseVal.width / box.width;
    const c = Math.floor(((event.clientX - box.left) * scale - place.left) / place.across);
    const r = Math.floor(((event.clientY - box.top) * scale - place.top) / place.tall);
    return byCell.get(`${r},${c}`);
  };
  chart.addEventListener("pointermove", (event) => {
    const spot = under(event);
    if (spot) show(spot);
    else leave();
  });
  chart.addEventListener("pointerleave", leave);
  chart.addEventListener("blur", leave);
  if (!open) return chart;
  chart.addEventListener("click", (event) => {
    const spot = under(event);
    if (spot) open(spot.r, spot.c);
  });
  chart.addEventListener("keydown", (event) => {
    const move = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    if (move) {
      event.preventDefault();
      const r = at ? (at.r + move[0] + place.rows) % place.rows : 0,
        c = at ? (at.c + move[1] + place.columns) % place.columns : 0;
      const spot = byCell.get(`${r},${c}`);
      if (spot) {
        show(spot);
        tip.say(spot.say.join(", "));
      }
    } else if (event.key === "Enter" && at) {
      event.preventDefault();
      open(at.r, at.c);
    }
  });
  return chart;
}

/** Curves over a shared x, intervals as bands, controls dashed; each named at its end. */
function curves(panel) {
  const width = 920,
    height = 380,
    left = 62,
    right = width - 290,
    bottom = height - 46;
  const chart = frame(width, height, `${panel.title}: ${panel.lines.map((line) => line.name).join(", ")}`, true);
  const heights = panel.lines.flatMap((line) => [...line.y, ...line.low, ...line.high]);
  const x = scaler(...bounds(panel.x), left, right),
    y = scaler(...bounds(heights), bottom, 12),
    points = [];
  axisY(chart, [left, right], y, panel.axes[1]);
  axisX(chart, x, bottom, panel.axes[0], panel.x.every(Number.isInteger));
  const ends = [];
  panel.lines.forEach((line, i) => {
    const kind = `series s${(known(line.hue) ? line.hue : i) % 8}${line.control ? " dashed" : ""}`;
    const at = panel.x
      .map((value, j) => [value, line.y[j], line.low[j], line.high[j]])
      .filter((point) => known(point[1]));
    if (!at.length) return;
    if (known(at[0][2])) {
      const up = at.map((point) => `${x(point[0])},${y(point[3])}`),
        down = at.map((point) => `${x(point[0])},${y(point[2])}`).reverse();
      chart.append(svg("polygon", { class: `band ${kind}`, points: [...up, ...down].join(" ") }));
    }
    chart.append(
      svg("polyline", { class: `line ${kind}`, points: at.map((point) => `${x(point[0])},${y(point[1])}`).join(" ") }),
    );
    for (const point of at) {
      chart.append(svg("circle", { class: kind, cx: x(point[0]), cy: y(point[1]), r: 3 }));
      points.push({
        x: x(point[0]),
        y: y(point[1]),
        say: [line.name, `${panel.axes[0]} ${point[0]}: ${number(point[1], 4)}`],
      });
    }
    ends.push({ name: line.name, kind, y: y(at[at.length - 1][1]), x: x(at[at.length - 1][0]) });
  });
  ends
    .sort((p, q) => p.y - q.y)
    .forEach((end, i) => {
      // labels keep their distance
      end.label = Math.max(end.y + 4, i ? ends[i - 1].label + 14 : 0);
      chart.append(svg("text", { class: `label ${end.kind}`, x: right + 12, y: end.label }, clip(end.name, 44)));
    });
  return walkable(chart, points);
}

/** Dots with intervals in groups; the dashed line is chance. */
function bars(panel) {
  const width = 760,
    step = 26,
    left = 230,
    groups = [...new Set(panel.bars.map((bar) => bar.group))];
  const shown = groups
    .flatMap((group) => [{ group, heading: true }, ...panel.bars.filter((bar) => bar.group === group)])
    .filter((bar) => !bar.heading || bar.group);
  const bottom = shown.length * step + 10,
    chart = frame(width, bottom + 44, `${panel.title}: one dot with its interval per line`, true);
  const ends = bounds([...panel.bars.flatMap((bar) => [bar.value, bar.low, bar.high]), panel.chance]);
  const x = scaler(...ends, left, width - 14),
    digits = panel.bars.every((bar) => Number.isInteger(bar.value)) ? 0 : 3, // ranks are whole numbers
    points = [];
  if (known(panel.chance))
    chart.append(svg("line", { class: "even", x1: x(panel.chance), x2: x(panel.chance), y1: 4, y2: bottom }));
  shown.forEach((bar, i) => {
    const y = i * step + step / 2 + 4;
    chart.append(
      svg(
        "text",
        {
          class: bar.heading ? "label heading" : "label",
          x: bar.heading ? 4 : left - 12,
          y: y + 4,
          "text-anchor": bar.heading ? "start" : "end",
        },
        clip(bar.heading ? bar.group : bar.name + (known(bar.count) ? ` (${count(bar.count)})` : ""), 36),
      ),
    );
    if (bar.heading || !known(bar.value)) return;
    if (known(bar.low)) chart.append(svg("line", { class: "reach", x1: x(bar.low), x2: x(bar.high), y1: y, y2: y }));
    chart.append(svg("circle", { class: "dot", cx: x(bar.value), cy: y, r: 4 }));
    const range = known(bar.low) ? `95 % interval ${number(bar.low, digits)} to ${number(bar.high, digits)}` : null;
    points.push({
      x: x(bar.value),
      y,
      say: [[bar.group, bar.name].filter(Boolean).join(" · "), number(bar.value, digits), range],
    });
  });
  axisX(chart, x, bottom, panel.axis, !digits);
  return walkable(chart, points);
}
