// Random queries and keys with more and more features: their scores spread, and the softmax over them goes stiff.
import { axes, clamp, explorable, fmt, h, put, slider, softmax, toggle, write } from "./core.js";

const QUERIES = 64, KEYS = 64, MOST = 1024, VARIANCE = 21845, BIN = 4, BARS = 65, DEAD = 0.01;
const range = (n) => Array.from({ length: n }, (_, i) => i);

/** A sum of four random bytes less its mean, by a hash of its place and the seed: the same as in Python. */
function random(seed, row, feature) {
  let x = (Math.imul(seed, 0x9e3779b1) + row * MOST + feature) | 0;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  x ^= x >>> 16;
  return (x & 255) + ((x >> 8) & 255) + ((x >> 16) & 255) + (x >>> 24) - 510;
}

// Dot products in whole numbers, kept from call to call: a feature more or less is added or taken off without rounding.
let held = { seed: -1 };
function dots(seed, d) {
  if (held.seed !== seed || d < held.d / 2) held = { seed, d: 0, sums: new Int32Array(QUERIES * KEYS) };
  const { sums } = held, keys = new Int32Array(KEYS);
  while (held.d !== d) {
    const sign = held.d < d ? 1 : -1, feature = sign > 0 ? held.d : held.d - 1;
    for (let j = 0; j < KEYS; j++) keys[j] = sign * random(seed, QUERIES + j, feature);
    for (let i = 0, k = 0; i < QUERIES; i++) {
      const q = random(seed, i, feature);
      for (let j = 0; j < KEYS; j++, k++) sums[k] += Math.imul(q, keys[j]);
    }
    held.d += sign;
  }
  return sums;
}

/** The Frobenius norm of diag(p) − p pᵀ: no term is negative, so small norms keep their digits. */
function size(p) {
  let sum = 0, squares = 0;
  for (const a of p) {
    sum += (a - a * a) ** 2 + 2 * a * a * squares;
    squares += a * a;
  }
  return Math.sqrt(sum);
}

export function compute({ d_k, scaled, seed }) {
  const root = Math.sqrt(d_k), scores = [...dots(seed, d_k)].map((v) => v / VARIANCE / (scaled ? root : 1));
  const counts = Array(BARS).fill(0), edge = (BARS - 1) / 2;
  for (const s of scores) counts[Math.min(edge, Math.max(-edge, Math.floor(s / BIN + 0.5))) + edge]++;
  const rows = range(QUERIES).map((i) => softmax(scores.slice(i * KEYS, (i + 1) * KEYS))), norms = rows.map(size);
  return {
    expected: scaled ? 1 : root,
    deviation: Math.sqrt(scores.reduce((sum, s) => sum + s * s, 0) / scores.length),
    counts,
    weights: rows[0],
    entropy: -rows[0].reduce((sum, p) => sum + (p && p * Math.log(p)), 0),
    norms,
    dead: norms.filter((norm) => norm < DEAD).length / QUERIES,
  };
}

const SIZE = { width: 320, height: 200 };
/** Each number up to 26, then 18 steps to a doubling. */
const WIDTHS = [...new Set(range(181).map((i) => Math.round(2 ** (i / 18))))];
const POWERS = { 1e-8: "≤ 10⁻⁸", 1e-6: "10⁻⁶", 1e-4: "10⁻⁴", 0.01: "0.01", 1: "1" };
const dk = () => h("span", {}, "d", h("sub", {}, "k"));

function build({ get, set }) {
  const spread = axes({ x: { min: -130, max: 130, ticks: [-128, -64, 0, 64, 128], label: "score" }, y: { min: 0, max: 1.2, ticks: [], label: "4,096 scores" }, ...SIZE });
  const share = axes({ x: { min: 0, max: KEYS, ticks: [], label: "64 keys" }, y: { min: 0, max: 1, ticks: [0, 0.5, 1], label: "weights of query 1", text: (v) => fmt(v, 1) }, ...SIZE });
  const alive = axes({ x: { min: 1e-8, max: 1, log: true, ticks: Object.keys(POWERS).map(Number), text: (v) => POWERS[v], label: h("tspan", {}, "‖J‖", h("tspan", { dy: 3, "font-size": 8 }, "F")) }, y: { min: 0, max: QUERIES, ticks: [], label: "how far weights move with scores: a dot a query" }, ...SIZE });
  const heap = h("path", { class: "ex-heap" }), ruler = h("path", { class: "ex-ruler" }), deviation = h("text", { class: "ex-text", style: "text-anchor: start" });
  const bars = range(KEYS).map(() => h("line", { class: "ex-thin" })), largest = h("text", { class: "ex-text ex-c2" });
  const [left, top] = alive.px([1e-8, QUERIES]), [right, bottom] = alive.px([DEAD, 0]);
  const count = h("text", { class: "ex-text", x: (left + right) / 2, y: top + 16 }), first = h("text", { class: "ex-text ex-c2" }, "1");
  const points = range(QUERIES).map((i) => h("circle", { class: i ? "ex-point" : "ex-point ex-c2", r: i ? 3 : 6 }));
  spread.svg.append(heap, ruler, deviation);
  share.svg.append(...bars, largest);
  alive.svg.append(h("rect", { class: "ex-beyond", x: left, y: top, width: right - left, height: bottom - top }), ...points, points[0], first, count);
  const width = slider({ label: h("span", {}, "Features: ", dk(), " ="), values: WIDTHS, text: (v) => fmt(v, 0), set: (v) => set({ d_k: v }) });
  const scale = toggle({ label: h("span", {}, "Divide the scores by √", dk()), set: (scaled) => set({ scaled }) });
  const again = h("button", { type: "button", class: "ex-button", onclick: () => set({ seed: (get().seed + 1) % 1000 }) }, "Draw again");
  const drawn = h("span"), words = range(2).map(() => h("p", { class: "ex-two" }));
  const said = h("span"), why = h("span", { class: "ex-whole" }, "(‖J‖", h("sub", {}, "F"), ` < ${DEAD})`), lead = h("p", { class: "ex-two ex-lead" }, said, " ", why);
  const body = [h("div", { class: "ex-four" },
    h("div", { class: "ex-stack" }, width.el, scale.el, h("div", { class: "ex-row" }, again, drawn), lead),
    h("div", {}, spread.svg, words[0]), h("div", {}, share.svg, words[1]), alive.svg)];

  function draw({ d_k, scaled, seed }, { counts, expected, deviation: found, weights, entropy, norms, dead }) {
    const most = Math.max(...counts), peak = Math.max(...weights), few = Math.round(dead * QUERIES);
    const floor = spread.px([0, 0])[1], bar = spread.px([BIN, 0])[0] - spread.px([0, 0])[0];
    put(heap, { d: counts.map((n, k) => {
      const [x, y] = spread.px([BIN * (k - BARS / 2), n / most]);
      return n ? `M${x.toFixed(1)} ${floor}V${y.toFixed(1)}h${bar.toFixed(2)}V${floor}` : "";
    }).join("") });
    const [[from, y], [to]] = [-1, 1].map((sign) => spread.px([sign * expected, 1.1]));
    put(ruler, { d: `M${from} ${y}H${to}M${from} ${y - 5}v10M${to} ${y - 5}v10` });
    put(deviation, { x: to + 6, y: y + 5 });
    write(deviation, `±${fmt(expected, 1)}`);
    bars.forEach((each, j) => {
      const [x, y2] = share.px([j + 0.5, weights[j]]);
      put(each, { x1: x, x2: x, y1: share.px([0, 0])[1], y2 });
      if (weights[j] === peak) put(largest, { x: clamp(x, 64, 296), y: y2 - 5 });
    });
    write(largest, fmt(peak, 3));
    points.forEach((point, i) => {
      const [cx, cy] = alive.px([Math.max(1e-8, norms[i]), 6 + ((i * 37) % QUERIES) * 0.75]);
      put(point, { cx: cx.toFixed(1), cy: cy.toFixed(1) });
      if (!i) put(first, { x: cx - 14, y: cy + 5 });
    });
    write(count, few ? `${few} dead` : "");
    width.show(d_k);
    scale.show(scaled);
    write(drawn, `seed ${seed}`);
    write(words[0], `Standard deviation: ${fmt(found)} measured, ${scaled ? `√${d_k} / √${d_k} = 1` : `√${d_k} = ${fmt(expected)}`} in theory.`);
    write(words[1], `Query 1 gives one key ${fmt(peak, 3)}. Its entropy, ${fmt(entropy)} nats, is that of ${fmt(Math.exp(entropy), 1)} equal keys.`);
    const dying = few > 1 ? "are dead: no score moves their" : "is dead: no score moves its";
    write(said, few ? `${few} of ${QUERIES} queries ${dying} weights by much` : `None of ${QUERIES} queries is dead: scores move the weights of each.`);
    why.hidden = !few;
  }
  return { body, draw, say: () => [said, ...words].map((part) => part.textContent).join(" ") };
}

export default explorable({
  label: "Random scores and what the softmax makes of them",
  hint: "Slide the number of features up and down, with and without the division.",
  inputs: ["d_k", "scaled", "seed"],
  compute,
  build,
});
