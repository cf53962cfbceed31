// Four tokens ask with W_q and answer with W_k, two matrices that turn and scale the plane.
import { choice, clamp, explorable, fmt, h, heatTable, matmul, plane, put, slider, snap, softmax, sub, transpose, write } from "./core.js";

const TOKENS = [[1.4, 0.6], [-0.6, 1.6], [-1.5, -0.5], [0.7, -1.5]];
const RANGE = 2.7, SIZE = 272, UNIT = 45, NODE = 15, SEEN = 0.1;
const numbered = (name) => TOKENS.map((_, i) => [sub(name, i + 1), i + 1]);
const X = numbered("x"), Q = numbered("q"), K = numbered("k");

/** The matrix that turns and scales each row: x @ W. */
function turned(degrees, scale) {
  const c = scale * Math.cos((degrees * Math.PI) / 180), s = scale * Math.sin((degrees * Math.PI) / 180);
  return [[c, s], [-s, c]];
}

export function compute({ scale_k, scale_q, turn_k, turn_q }) {
  const W_q = turned(turn_q, scale_q), W_k = turned(turn_k, scale_k), queries = matmul(TOKENS, W_q), keys = matmul(TOKENS, W_k);
  const scores = matmul(queries, transpose(keys));
  return { W_q, W_k, product: matmul(W_q, transpose(W_k)), Q: queries, K: keys, scores, weights: scores.map(softmax) };
}

/** Rounded first, so that v and −v round alike. */
const shown = (v) => fmt(Number(v.toPrecision(12)));
/** An angle between −180 (not itself) and 180 degrees. */
const wrap = (degrees) => 180 - ((((180 - degrees) % 360) + 360) % 360);
const degrees = (v) => `${fmt(v, Number.isInteger(snap(v, 0.1)) ? 0 : 1)}°`;
const strongest = (row, but = -1) => row.reduce((best, v, j) => (j !== but && (best < 0 || v > row[best]) ? j : best), -1);
const W = (letter, ...more) => h("span", {}, "W", h("sub", {}, letter), ...more);

/** Queries and keys: an arrow to each query; on the line of the chosen one, the shadow of each key. */
function drawPlane({ svg, px, line }) {
  const own = h("line", { class: "ex-own" });
  const homes = TOKENS.map((point, i) => {
    const [x, y] = px(point);
    return h("g", {}, h("circle", { class: `ex-home ex-c${i + 1}`, cx: x, cy: y, r: 11 }), h("text", { class: "ex-tick", x, y: y + 4 }, X[i][0]));
  });
  const shadows = TOKENS.map((_, i) => h("line", { class: `ex-shadow ex-c${i + 1}` }));
  const arrows = TOKENS.map((_, i) => h("line", { class: `ex-vector ex-c${i + 1}` }));
  svg.append(own, ...homes, ...shadows, ...arrows);
  return ({ query }, { Q: queries, K: keys, scores }) => {
    const i = query - 1, q = queries[i], size = q[0] ** 2 + q[1] ** 2, far = q.map((v) => (9 * v) / Math.sqrt(size));
    line(own, far.map((v) => -v), far);
    keys.forEach((k, j) => {
      line(shadows[j], k, q.map((v) => (v * scores[i][j]) / size));
      line(arrows[j], [0, 0], queries[j]);
      put(arrows[j], { class: `ex-vector ex-c${j + 1}${j === i ? "" : " ex-dim"}` });
    });
  };
}

/** Who attends to whom: an arrow from each token to another or to itself, as thick as its weight. */
function graph() {
  const at = TOKENS.map(([x, y]) => [SIZE / 2 + UNIT * x, SIZE / 2 - UNIT * y]);
  const svg = h("svg", { class: "ex-who", viewBox: "20 14 232 238", "aria-hidden": "true" });
  const edges = at.map((a, i) => at.map((b, j) => {
    const self = i === j, origin = self ? [SIZE / 2, SIZE / 2] : a, length = Math.hypot(b[0] - a[0], b[1] - a[1]);
    const angle = Math.atan2(b[1] - origin[1], b[0] - origin[0]);
    const go = ([x, y], by, r, from = angle) => [x + r * Math.cos(from + by), y + r * Math.sin(from + by)];
    const [start, c1, c2, tip] = self
      ? [go(a, -0.5, NODE), go(a, -0.8, 56), go(a, 0.8, 56), go(a, 0.5, NODE + 1)]
      : [go(a, 0.5, NODE), go(a, 0.5, length / 3), go(b, Math.PI - 0.5, length / 3), go(b, Math.PI - 0.5, NODE + 1)];
    const back = Math.atan2(c2[1] - tip[1], c2[0] - tip[0]);
    const path = h("path", { class: `ex-edge ex-c${i + 1}` }), head = h("path", { class: `ex-tip ex-c${i + 1}` });
    svg.append(path, head);
    return (w, most) => {
      const size = 7 + 9 * w, style = `stroke-width: ${1 + 7 * w}; opacity: ${w < SEEN ? 0 : most ? 1 : 0.4}`;
      put(path, { d: `M${start}C${c1} ${c2} ${go(tip, 0, size / 2, back)}`, style });
      put(head, { d: `M${tip}L${go(tip, 0.5, size, back)}L${go(tip, -0.5, size, back)}Z`, style });
    };
  }));
  at.forEach(([x, y], i) => svg.append(h("circle", { class: `ex-node ex-c${i + 1}`, cx: x, cy: y, r: NODE }), h("text", { class: "ex-name", x, y: y + 5 }, X[i][0])));
  return { svg, show: (weights) => weights.forEach((row, i) => row.forEach((w, j) => edges[i][j](w, j === strongest(row)))) };
}

function build({ get, set }) {
  const view = plane({ label: "Plane with the queries and the keys", range: RANGE });
  const draw1 = drawPlane(view), who = graph();
  const pull = (letter) => (i) => ([c, d]) => {
    const [a, b] = TOKENS[i], n = a * a + b * b, re = (c * a + d * b) / n, im = (d * a - c * b) / n;
    set({
      query: i + 1,
      [`turn_${letter}`]: clamp(snap((Math.atan2(im, re) * 180) / Math.PI, 0.1), -180, 180),
      [`scale_${letter}`]: clamp(snap(Math.hypot(re, im), 0.001), 0.1, 1.5),
    });
  };
  const dots = (letter, names, kind, others) => names.map(([name, color], i) => {
    const handle = view.handle({ label: `${kind} ${letter}${color}: arrow keys move it, and all ${others} with it`, name, color, limit: RANGE, set: pull(letter)(i) });
    handle.el.classList.add(`ex-${kind}`);
    return handle;
  });
  const keys = dots("k", K, "Key", "keys"), queries = dots("q", Q, "Query", "queries");
  const pick = choice({ label: "Token", options: X, set: (i) => set({ query: i + 1 }) });
  const sliders = ["q", "k"].map((letter) => ({
    turn: slider({ label: W(letter, " turns by"), min: -180, max: 180, step: 1, text: degrees, set: (v) => set({ [`turn_${letter}`]: v }) }),
    scale: slider({ label: "scales by", name: `W_${letter} scales by`, min: 0.1, max: 1.5, step: 0.05, set: (v) => set({ [`scale_${letter}`]: v }) }),
  }));
  const button = (text, change) => h("button", { type: "button", class: "ex-button", onclick: () => set(change(get())) }, text);
  const ahead = [0, 90, 180, -90].map((by) => button(degrees(by), ({ turn_k }) => ({ turn_q: wrap(turn_k + by) })));
  const both = button("Turn both by 30°", ({ turn_k, turn_q }) => ({ turn_k: wrap(turn_k + 30), turn_q: wrap(turn_q + 30) }));
  const scores = heatTable({ caption: ["Scores S = X ", W("q"), W("k"), "ᵀ Xᵀ"], rows: X, cols: X, text: shown });
  const weights = heatTable({ caption: "Weights A = softmax(S)", rows: X, cols: X });
  const numbers = [[W("q")], [W("k")], [W("q"), W("k"), "ᵀ"]].map((name) => {
    const cells = [0, 1].map(() => [h("td"), h("td")]);
    const el = h("table", { class: "ex-table" }, h("caption", {}, ...name), h("tbody", {}, ...cells.map((row) => h("tr", {}, ...row))));
    return { el, show: (M) => cells.forEach((row, i) => row.forEach((cell, j) => write(cell, shown(M[i][j])))) };
  });
  const words = [h("p"), h("p"), h("p", { class: "ex-two" })], facts = h("p"), presets = h("div", { class: "ex-presets", role: "group", "aria-label": "W_q ahead of W_k by" }, ...ahead);
  const turns = h("div", { class: "ex-turns" }, ...sliders.flatMap(({ turn, scale }) => [turn.el, scale.el]));
  const right = h("div", { class: "ex-stack" }, h("div", {}, W("q", " ahead of ", W("k"), " by"), presets), h("div", {}, "Who attends to whom", who.svg), pick.el, h("div", {}, ...words));
  const body = [h("div", { class: "ex-stack" },
    h("div", { class: "ex-columns" }, view.el, right, h("div", {}, turns, both)),
    h("div", { class: "ex-thirds" }, ...numbers.map((each) => each.el)),
    facts,
    h("div", { class: "ex-four" }, scores.el, weights.el))];

  function verdict({ scores: S }) {
    const size = Math.max(...S.flat().map(Math.abs)) * 1e-9;
    const all = (sign) => S.every((row, i) => row.every((v, j) => Math.abs(v - sign * S[j][i]) <= size));
    if (all(1)) return "S is its own mirror image: two tokens score each other alike.";
    return all(-1) ? "S mirrored is −S: what one gives, it gets back with a minus. Nobody scores itself." : "S is not its own mirror image.";
  }

  function draw(state, r) {
    const i = state.query - 1, other = strongest(r.scores[i], i);
    draw1(state, r);
    for (const [handles, points] of [[queries, r.Q], [keys, r.K]]) {
      handles.forEach((handle, j) => {
        handle.show(points[j]);
        handle.el.tabIndex = j === i ? 0 : -1;
      });
    }
    [["q", 0], ["k", 1]].forEach(([letter, n]) => {
      sliders[n].turn.show(state[`turn_${letter}`]);
      sliders[n].scale.show(state[`scale_${letter}`]);
    });
    pick.show(i);
    who.show(r.weights);
    scores.show(r.scores);
    weights.show(r.weights, { peak: 1 });
    const mark = (table, on) => [...table.el.tBodies[0].rows].forEach((row, a) => [...row.cells].slice(1).forEach((cell, b) => {
      put(cell, { class: `${cell.matches(".ex-minus") ? "ex-minus" : ""}${on(a, b) ? " ex-at" : ""}` });
    }));
    mark(scores, (a, b) => (a === i && b === other) || (a === other && b === i));
    mark(weights, (a, b) => b === strongest(r.weights[a]));
    [r.W_q, r.W_k, r.product].forEach((M, n) => numbers[n].show(M));
    const asks = (a, b) => `${X[a][0]} asks ${X[b][0]}: ${Q[a][0]}·${K[b][0]} = ${shown(r.scores[a][b])}.`;
    [asks(i, other), asks(other, i), verdict(r)].forEach((text, k) => write(words[k], text));
    write(facts, `All that S knows of the two is their product: it turns by ${degrees(wrap(state.turn_q - state.turn_k))} and scales by ${fmt(state.scale_q * state.scale_k)}.`);
  }
  const most = ({ weights: A }) => `Attends most: ${A.map((row, i) => `${X[i][0]} to ${X[strongest(row)][0]}`).join(", ")}.`;
  return { body, draw, say: (_, r) => [...words.map((line) => line.textContent), most(r), facts.textContent].join(" ") };
}

export default explorable({
  label: "Two questions: queries and keys that turn",
  hint: "Drag a query (round) or a key (square): the others go with it, as one matrix moves them all.",
  inputs: ["query", "scale_k", "scale_q", "turn_k", "turn_q"],
  compute,
  build,
});
