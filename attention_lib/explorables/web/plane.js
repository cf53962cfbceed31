// Three tokens on a plane: how they score one another, and what each takes from the others.
import { choice, explorable, fmt, h, heatTable, matmul, named, numberBox, plane, put, slider, softmax, sub, transpose, write } from "./core.js";

const RANGE = 4.5, FAR = 4 * RANGE, TOKENS = [1, 2, 3];
const X = TOKENS.map((i) => [sub("x", i), i]), O = TOKENS.map((i) => [sub("o", i), i]);

export function compute({ points, temperature }) {
  const scores = matmul(points, transpose(points));
  const weights = scores.map((row) => softmax(row.map((s) => s / temperature)));
  const lengths = points.map(([x, y]) => Math.hypot(x, y));
  const pairs = (f) => points.map((p, i) => points.map((q, j) => (lengths[i] * lengths[j] > 0 ? f(p, q, i, j) : NaN)));
  return {
    scores,
    lengths,
    angles: pairs(([a, b], [c, d], i, j) => (Math.atan2(Math.abs(a * d - b * c), scores[i][j]) * 180) / Math.PI),
    cosines: pairs((p, q, i, j) => scores[i][j] / (lengths[i] * lengths[j])),
    weights,
    outputs: matmul(weights, points),
  };
}

/** How far one can go from `p` towards `u` before the edge of the plane. */
const room = (p, u) => Math.min(...p.map((v, k) => (u[k] ? (Math.sign(u[k]) * RANGE - v) / u[k] : FAR)));
const degrees = (v) => (Number.isNaN(v) ? fmt(v) : `${fmt(v, 1)}°`);
const along = (p, u, t) => [p[0] + t * u[0], p[1] + t * u[1]];

/** The plane of scores: each token an arrow; across the query, the lines of score 0 and of its score with itself. */
function drawScores({ svg, px, line }) {
  const beyond = h("polygon", { class: "ex-beyond" });
  const own = h("line", { class: "ex-own" }), zero = h("line", { class: "ex-zero" });
  const words = [h("text", { class: "ex-text" }), h("text", { class: "ex-text" }, "score 0")];
  const shadows = TOKENS.map((i) => h("line", { class: `ex-shadow ex-c${i}` }));
  const arrows = TOKENS.map((i) => h("line", { class: `ex-vector ex-c${i}` }));
  svg.append(beyond, zero, own, ...shadows, ...arrows, ...words);
  return ({ points, query }, { scores, lengths }) => {
    const i = query - 1, tip = points[i], length = lengths[i], some = length > 0;
    const u = some ? tip.map((v) => v / length) : [1, 0], across = [-u[1], u[0]];
    points.forEach((p, j) => {
      line(arrows[j], [0, 0], p);
      line(shadows[j], p, j === i ? p : along([0, 0], u, scores[i][j] / (length || 1)));
    });
    for (const [el, p] of [[own, tip], [zero, [0, 0]]]) line(el, along(p, across, -FAR), along(p, across, FAR));
    const corners = [along(tip, across, -FAR), along(tip, across, FAR)];
    put(beyond, { points: [...corners, ...corners.reverse().map((p) => along(p, u, FAR))].map(px).join(" ") });
    [tip, [0, 0]].forEach((p, k) => {
      const way = room(p, across) > room(p, across.map((v) => -v)) ? across : across.map((v) => -v);
      const [x, y] = px(along(p, way, room(p, way) - 0.45));
      put(words[k], { x: Math.min(306, Math.max(46, x)), y: y + 5 });
    });
    write(words[0], `score ${fmt(scores[i][i])}`);
    for (const el of [beyond, own, zero, ...words]) el.style.display = some ? "" : "none";
  };
}

/** The plane of outputs: the triangle of the tokens, a cross for each output, and what the chosen one takes from where. */
function drawOutputs({ svg, over, px, line }) {
  const hull = h("polygon", { class: "ex-hull" });
  const pulls = TOKENS.map((i) => h("line", { class: `ex-pull ex-c${i}` }));
  const arms = { d: "M-8-8 8 8M-8 8 8-8" }, marks = TOKENS.map((i) => h("path", { class: `ex-cross ex-c${i}`, ...arms }));
  const crosses = marks.map((mark) => h("g", {}, h("path", { class: "ex-halo", ...arms }), mark));
  const word = h("text", { class: "ex-text" });
  svg.append(hull, ...pulls);
  over.append(...crosses, word);
  return ({ points, query }, { weights, outputs }) => {
    const i = query - 1, [x, y] = px(outputs[i]);
    put(hull, { points: points.map(px).join(" ") });
    points.forEach((p, j) => {
      line(pulls[j], p, outputs[i]);
      pulls[j].style.strokeWidth = 14 * weights[i][j];
      put(crosses[j], { transform: `translate(${px(outputs[j])})` });
      marks[j].classList.toggle("ex-on", j === i);
    });
    if (word.previousSibling !== crosses[i]) over.append(...crosses.filter((_, j) => j !== i), crosses[i], word);
    put(word, { x: x + (x > 300 ? -22 : 22), y: y + (y < 40 ? 24 : -12), class: `ex-text ex-c${query}` });
    write(word, O[i][0]);
  };
}

function build({ get, set, start }) {
  const outputs = get().shows === "outputs";
  const view = plane({ label: "Plane with the three tokens", range: RANGE });
  const drawPlane = (outputs ? drawOutputs : drawScores)(view);
  let moved = -1, last = get().points;
  const move = (i, point) => set({ points: get().points.map((p, j) => (j === i ? point : p)) });
  const handles = X.map(([name, color], i) => view.handle({ label: `Token x${color}: arrow keys move it, with Shift by less`, name, color, set: (p) => move(i, p) }));
  const boxes = X.map(([, color], i) => ["feature 1", "feature 2"].map((feature, k) => numberBox({
    label: `x${color}, ${feature}`, min: -4, max: 4, set: (v) => move(i, get().points[i].map((old, f) => (f === k ? v : old))),
  })));
  const pick = choice({ label: outputs ? "Output of" : "Query", options: X, set: (i) => set({ query: i + 1 }) });
  const scores = heatTable({ caption: "Scores S = X Xᵀ", rows: X, cols: X });
  const parts = heatTable({ caption: "", rows: X, cols: ["length", "angle", "cosine", "score"], text: (v, j) => (j === 1 ? degrees(v) : fmt(v)) });
  const tau = slider({ label: "Temperature τ =", min: 0.1, max: 100, log: true, set: (temperature) => set({ temperature }) });
  const weights = heatTable({ caption: "Weights A = softmax(S / τ)", rows: X, cols: X });
  const mixed = heatTable({ caption: "Outputs O = A X: the crosses", rows: O, cols: ["feature 1", "feature 2"] });
  const words = Array.from({ length: 3 }, () => h("p"));
  const coordinates = h("div", { class: "ex-pairs" }, ...X.map((name, i) => h("div", {}, named(...name), " = (", boxes[i][0].el, ",", boxes[i][1].el, ")")));
  const right = outputs ? [pick.el, scores.el, tau.el, weights.el, mixed.el] : [pick.el, scores.el, parts.el];
  const body = [h("div", { class: "ex-columns" }, view.el, h("div", { class: "ex-stack" }, ...right, h("div", {}, ...words)), coordinates)];

  /** The sum over features, the product of lengths and cosine, and who wins. */
  function scoresInWords(i, { points }, { scores: S, lengths, angles }) {
    const row = S[i], best = row.indexOf(Math.max(...row)), others = row.map((s, j) => (j === i ? -Infinity : s));
    const j = moved < 0 || moved === i || `${points}` === `${start.points}` ? others.indexOf(Math.max(...others)) : moved;
    const [[a, b], [c, d]] = [points[i], points[j]].map((p) => p.map((v) => (v < 0 ? `(${fmt(v)})` : fmt(v))));
    return [
      `${X[i][0]}·${X[j][0]} = ${a}·${c} + ${b}·${d} = ${fmt(row[j])}`,
      `${fmt(lengths[i])} · ${fmt(lengths[j])} · cos ${degrees(angles[i][j])} = ${fmt(row[j])}`,
      row[best] > row[i] ? `${X[best][0]} beats ${X[i][0]} in its own row: ${fmt(row[best])} > ${fmt(row[i])}.` : `${X[i][0]} wins its own row.`,
    ];
  }
  const outputInWords = (i, { weights: A, outputs: mix }) => [
    `${O[i][0]} = ${A[i].map((a, j) => `${fmt(a)} ${X[j][0]}`).join(" + ")}`,
    `= (${mix[i].map((v) => fmt(v)).join(", ")})`,
  ];

  function draw(state, r) {
    const i = state.query - 1, name = X[i][0], changed = [0, 1, 2].filter((j) => `${state.points[j]}` !== `${last[j]}`);
    if (changed.length) moved = changed.length > 1 ? -1 : changed[0]; // by whichever hand: two pictures of one object say the same
    last = state.points;
    drawPlane(state, r);
    state.points.forEach((p, j) => {
      handles[j].show(p);
      boxes[j].forEach((box, k) => box.show(p[k]));
    });
    pick.show(i);
    scores.show(r.scores, { row: i });
    tau.show(state.temperature);
    if (outputs) {
      weights.show(r.weights, { row: i, peak: 1 });
      mixed.show(r.outputs, { row: i, peak: Infinity });
    } else {
      parts.show(X.map((_, j) => [r.lengths[j], r.angles[i][j], r.cosines[i][j], r.scores[i][j]]), { peak: Infinity });
      write(parts.el.caption, `The keys of ${name}, whose length is ${fmt(r.lengths[i])}`);
    }
    (outputs ? outputInWords(i, r) : scoresInWords(i, state, r)).forEach((text, k) => write(words[k], text));
  }
  return { body, draw, say: () => words.map((line) => line.textContent).join(" ") };
}

export default explorable({
  label: "Three tokens to drag",
  hint: "Drag a token, or choose it with Tab and press arrow keys (with Shift: small steps).",
  inputs: ["points", "query", "shows", "temperature"],
  looks: ["shows"],
  compute,
  build,
});
