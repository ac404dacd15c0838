// Small charts in SVG: dots with intervals, scatter, distributions, curves. Text beside them says the same.

/** A chart that the keyboard can walk through: arrow keys move over `points` [{x, y, say}], Enter opens. */
function walkable(node, points, open) {
  let at = -1;
  const cursor = svg("circle", { class: "cursor", r: 7, visibility: "hidden" });
  node.append(cursor);
  const show = (next) => {
    at = next;
    const { x, y, say } = points[at];
    cursor.setAttribute("visibility", "visible");
    cursor.setAttribute("cx", x);
    cursor.setAttribute("cy", y);
    const box = node.getBoundingClientRect(),
      scale = box.width / node.viewBox.baseVal.width;
    tip.show(say, box.left + x * scale, box.top + y * scale);
  };
  const nearest = (event) => {
    const box = node.getBoundingClientRect(),
      scale = node.viewBox.baseVal.width / box.width;
    const x = (event.clientX - box.left) * scale,
      y = (event.clientY - box.top) * scale;
    let best = -1,
      least = 24 ** 2;
    points.forEach((point, i) => {
      const far = (point.x - x) ** 2 + (point.y - y) ** 2;
      if (far < least) [best, least] = [i, far];
    });
    return best;
  };
  const leave = () => {
    at = -1;
    cursor.setAttribute("visibility", "hidden");
    tip.hide();
  };
  node.addEventListener("pointermove", (event) => {
    const i = nearest(event);
    if (i < 0) leave();
    else if (i !== at) show(i);
  });
  node.addEventListener("pointerleave", leave);
  node.addEventListener("blur", leave);
  node.addEventListener("click", (event) => {
    const i = nearest(event);
    if (i >= 0 && open) open(points[i]);
  });
  node.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step && points.length) {
      event.preventDefault();
      show((Math.max(at, step < 0 ? 0 : -1) + step + points.length) % points.length);
      tip.say(points[at].say.filter(Boolean).join(", "));
    } else if (event.key === "Enter" && at >= 0 && open) {
      event.preventDefault();
      open(points[at]);
    }
  });
  return node;
}

/** Many dots as one path: round ends of lines without length. */
function spots(kind, points, size) {
  const d = points.map((point) => `M${point.x.toFixed(1)} ${point.y.toFixed(1)}h0`).join("");
  return svg("path", { class: kind, d, "stroke-width": size });
}

function frame(width, height, label, interactive) {
  return svg("svg", {
    class: "chart",
    style: { "max-width": `${width}px` },
    viewBox: `0 0 ${width} ${height}`,
    role: interactive ? "group" : "img",
    "aria-roledescription": interactive ? "chart" : null,
    "aria-label": label,
    tabindex: interactive ? "0" : null,
  });
}

/** Value → place; it knows its ends. */
const scaler = (low, high, from, to) =>
  Object.assign((value) => from + (to - from) * (high > low ? (value - low) / (high - low) : 0.5), {
    ends: [low, high],
  });

/** Bounds with a little room; a single value gets some width. */
function bounds(values) {
  let low = Infinity,
    high = -Infinity;
  for (const value of values) if (known(value)) [low, high] = [Math.min(low, value), Math.max(high, value)];
  if (low > high) return [0, 1];
  const room = (high - low) * 0.05 || Math.abs(high) * 0.05 || 0.5;
  return [low - room, high + room];
}

/** The axis below, at height y; `whole` where only whole numbers mean something. */
function axisX(chart, x, y, title, whole) {
  const few = whole && x.ends[1] - x.ends[0] < 21; // each whole number has its tick
  const marks = ticks(...x.ends, few ? x.ends[1] - x.ends[0] : 5).filter(
    ([value]) => !whole || Math.abs(value - Math.round(value)) < 1e-6,
  );
  for (const [value, text] of marks) {
    chart.append(
      svg("line", { class: "tick", x1: x(value), x2: x(value), y1: y, y2: y + 4 }),
      svg(
        "text",
        { class: "label", x: x(value), y: y + 17, "text-anchor": "middle" },
        whole ? count(Math.round(value)) : text,
      ),
    );
  }
  const [first, last] = x.ends.map(x),
    middle = (first + last) / 2;
  chart.append(
    svg("line", { class: "axis", x1: first, x2: last, y1: y, y2: y }),
    svg("text", { class: "label name", x: middle, y: y + 35, "text-anchor": "middle" }, title),
  );
}

/** The axis at the left, with lines from one side of the plot to the other. */
function axisY(chart, [left, right], y, title) {
  for (const [value, text] of ticks(...y.ends, 5)) {
    chart.append(
      svg("line", { class: "grid", x1: left, x2: right, y1: y(value), y2: y(value) }),
      svg("text", { class: "label", x: left - 7, y: y(value) + 4, "text-anchor": "end" }, text),
    );
  }
  const middle = (y(y.ends[0]) + y(y.ends[1])) / 2;
  chart.append(
    svg(
      "text",
      { class: "label name", x: 13, y: middle, "text-anchor": "middle", transform: `rotate(-90 13 ${middle})` },
      title,
    ),
  );
}

/** Documents by the scores of two systems; the diagonal is where they are even. */
function scatter(points, names, digits, open) {
  const width = 520,
    height = 420,
    left = 62,
    bottom = 372;
  const chart = frame(width, height, `Scatter plot: ${names[0]} across, ${names[1]} up, one dot per document`, true);
  const shown = points.filter((point) => known(point.a) && known(point.b));
  const ends = bounds(shown.flatMap((point) => [point.a, point.b]));
  const x = scaler(...ends, left, width - 12),
    y = scaler(...ends, bottom, 10);
  axisY(chart, [left, width - 12], y, names[1]);
  axisX(chart, x, bottom, names[0]);
  chart.append(svg("line", { class: "even", x1: x(ends[0]), y1: y(ends[0]), x2: x(ends[1]), y2: y(ends[1]) }));
  const dots = shown.map((point) => ({
    ...point,
    x: x(point.a),
    y: y(point.b),
    say: [point.id, `${names[0]} ${number(point.a, digits)}`, `${names[1]} ${number(point.b, digits)}`],
  }));
  const size = dots.length > 300 ? 5 : 9;
  chart.append(
    spots(
      "dots above",
      dots.filter((dot) => dot.b > dot.a),
      size,
    ),
    spots(
      "dots below",
      dots.filter((dot) => dot.b <= dot.a),
      size,
    ),
  );
  return walkable(chart, dots, open);
}

/** One row per system: every document a dot, the box from quarter to three quarters, the median a line. */
function distribution(rows, axis, digits, open) {
  const width = 520,
    step = rows.length > 10 ? 30 : 46,
    left = 118,
    bottom = rows.length * step + 8;
  const chart = frame(width, bottom + 44, `Distribution of document scores by system: ${axis}`, true);
  const ends = bounds(rows.flatMap((row) => row.points.map((point) => point.value)));
  const x = scaler(...ends, left, width - 14),
    dots = [];
  rows.forEach((row, i) => {
    const y = i * step + step / 2 + 4,
      values = row.points
        .map((point) => point.value)
        .filter(known)
        .sort((p, q) => p - q);
    const [q1, q2, q3] = [0.25, 0.5, 0.75].map((q) => quantile(values, q));
    chart.append(
      svg("text", { class: "label system", x: left - 12, y: y + 4, "text-anchor": "end" }, clip(row.name, 16)),
    );
    if (!values.length) return;
    chart.append(
      svg("rect", { class: "box", x: x(q1), y: y - 11, width: Math.max(1, x(q3) - x(q1)), height: 22, rx: 2 }),
    );
    const mine = row.points
      .map((point, at) => ({
        ...point,
        x: x(point.value),
        y: y + (((at * 7) % 11) - 5) * 1.5,
        say: [point.id, `${row.name} ${number(point.value, digits)}`],
      }))
      .filter((point) => known(point.value));
    chart.append(spots("dots", mine, mine.length > 300 ? 3 : 6));
    for (const dot of mine) dots.push(dot);
    chart.append(svg("line", { class: "median", x1: x(q2), x2: x(q2), y1: y - 14, y2: y + 14 }));
  });
  axisX(chart, x, bottom, axis);
  return walkable(chart, dots, open);
}

/** A difference with its interval and zero, on a scale of its own with zero in the middle unless ends are named. */
function difference(delta, low, high, kind, ends) {
  const chart = svg("svg", { class: `difference ${kind}`, viewBox: "0 0 200 14", "aria-hidden": "true" });
  const reach = Math.max(...[delta, low, high].filter(known).map(Math.abs), 0) * 1.08 || 1,
    x = scaler(...(ends || [-reach, reach]), 4, 196);
  chart.append(svg("line", { class: "zero", x1: x(0), x2: x(0), y1: 0, y2: 14 }));
  if (!known(delta) || kind === "baseline") return chart;
  if (known(low)) chart.append(svg("line", { class: "reach", x1: x(low), x2: x(high), y1: 7, y2: 7 }));
  chart.append(svg("circle", { cx: x(delta), cy: 7, r: 3.5 }));
  return chart;
}

/** A name that fits, without its middle: documents of one source differ at the end. */
function shorten(text, many) {
  if (text.length <= many) return text;
  const end = Math.floor((many - 1) * 0.6);
  return `${text.slice(0, many - 1 - end)}…${text.slice(-end)}`;
}

/** A name that fits: the folder of a model goes first, then the end. */
function clip(text, many) {
  const brief = text.length > many ? text.replace(/@[^@]*\/(?=[^/]+$)/, "@…/") : text;
  return brief.length > many ? `${brief.slice(0, many - 1)}…` : brief;
}
