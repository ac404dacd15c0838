// Colours that keep their order for colour-blind readers, in light and dark: one ramp, one pair around a middle.

const RAMPS = {
  light: {
    low: [240, 245, 250],
    high: [10, 66, 122],
    worse: [179, 80, 11],
    middle: [247, 247, 245],
    better: [11, 92, 173],
  },
  dark: {
    low: [30, 40, 51],
    high: [158, 205, 250],
    worse: [235, 146, 74],
    middle: [36, 40, 45],
    better: [96, 168, 236],
  },
};
const CATEGORY = { tense: 0, pronoun: 1, entity: 2, marker: 3, ambiguity: 4, ellipsis: 5 };

const themeNow = () => document.documentElement.dataset.drawn || "light";
const rgb = (color) => `rgb(${color.map(Math.round).join(",")})`;
const mix = (from, to, share) => from.map((channel, i) => channel + (to[i] - channel) * share);

/** share 0…1 along the ramp. */
function ramp(share) {
  const { low, high } = RAMPS[themeNow()];
  return mix(low, high, Math.max(0, Math.min(1, share)));
}

/** share −1…1 around the middle. */
function diverging(share) {
  const { worse, middle, better } = RAMPS[themeNow()];
  const bound = Math.max(-1, Math.min(1, share));
  return mix(middle, bound < 0 ? worse : better, Math.abs(bound));
}

/** Black or white, whichever reads better on a colour. */
function inkOn(color) {
  const [r, g, b] = color.map((channel) => {
    const c = channel / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  const light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return light > 0.179 ? "#000" : "#fff";
}

/** Where a segment's score stands among all of the metric, −1 … 1, better up. */
function standingOf(metric, value) {
  const [low, middle, high] = metric.scale;
  if (!known(value) || !known(middle)) return null;
  const reach = value < middle ? middle - low : high - middle;
  const share = reach > 0 ? (value - middle) / reach : 0;
  return Math.max(-1, Math.min(1, metric.higher ? share : -share));
}
