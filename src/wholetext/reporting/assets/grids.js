// Heat-maps as one path per colour, so that forty thousand cells stay quick and sharp; curves and dots of studies.

const SHADES = 24;

/** A heat-map: cell(row, column) → {share, text, say} or null; open(row, column). Labels are shortened to fit. */
function heatmap(label, rows, columns, cell, open) {
  const left = 14 + 7 * Math.min(18, Math.max(3, ...rows.map((row) => row.length)));
  const width = 1100,
    letter = Math.min(20, Math.max(1, ...columns.map((name) => name.length))); // of the longest label above
  const slanted = (width - left) / columns.length >= 13,
    level = columns.length * (letter * 7 + 10) < width - left; // labels that fit need not be slanted
  const room = slanted && !level ? letter * 4 : 4,
    top = !slanted ? 14 : level ? 26 : 20 + letter * 4.2;
  const across = Math.min((width - left - room) / Math.max(1, columns.length), 110),
    tall = rows.length > 12 ? 22 : 30;
  const chart = frame(width, top + rows.length * tall + 6, label, Boolean(open));
  const paths = new Map(),
    letters = [],
    places = [];
  rows.forEach((name, r) => {
    chart.append(
      svg(
        "text",
        { class: "label system", x: left - 8, y: top + r * tall + tall / 2 + 4, "text-anchor": "end" },
        clip(name, 18),
      ),
    );
    columns.forEach((_, c) => {
      const found = cell(r, c),
        x = left + c * across,
        y = top + r * tall;
      if (!found) return;
      const color = found.centred
        ? diverging(Math.round(found.share * SHADES) / SHADES)
        : ramp(Math.round(found.share * SHADES) / SHADES);
      const gap = across > 6 ? 1 : 0,
        key = rgb(color);
      paths.set(
        key,
        `${paths.get(key) || ""}M${(x + gap / 2).toFixed(2)} ${y + 0.5}h${(across - gap).toFixed(2)}v${tall - 1}h${(gap - across).toFixed(2)}z`,
      );
      if (across >= 38)
        letters.push(
          svg(
            "text",
            {
              class: "cell",
              x: x + across / 2,
              y: y + tall / 2 + 4,
              "text-anchor": "middle",
              style: { fill: inkOn(color) },
            },
            found.text,
          ),
        );
      places.push({ x: x + across / 2, y: y + tall / 2, r, c, say: found.say });
    });
  });
  for (const [color, d] of paths) chart.append(svg("path", { d, fill: color }));
  chart.append(...letters);
  if (slanted)
    columns.forEach((name, c) => {
      const x = left + (c + 0.5) * across,
        turned = level ? { "text-anchor": "middle" } : { transform: `rotate(-38 ${x} ${top - 8})` };
      chart.append(svg("text", { class: "label", x, y: top - 8, ...turned }, clip(name, 20)));
    });
  return cells(chart, places, { left, top, across, tall, rows: rows.length, columns: columns.length }, open);
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
  axisX(chart, x, bottom, panel.axis);
  return walkable(chart, points);
}
