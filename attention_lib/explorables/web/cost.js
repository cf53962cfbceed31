// What an attention layer takes: operations and bytes against the number of tokens, and where pairs outweigh the rest.
import { axes, choice, clamp, draggable, explorable, fmt, h, heatTable, put, slider, toggle, write } from "./core.js";

export function compute({ tokens, features, heads, itemsize, causal }) {
  // Whole numbers beyond 2⁵³: exact until the end.
  const [n, d, times, size] = [tokens, features, heads, itemsize].map(BigInt);
  const pairs = causal ? (n * (n + 1n)) / 2n : n * n;
  const projection = 2n * n * d * d, product = 2n * pairs * d, flat = size * n * d, square = size * times * n * n;
  return {
    flops: [projection, projection, projection, product, product, projection].map(Number),
    exponentials: Number(times * pairs),
    sizes: [flat, flat, flat, square, square, flat, flat].map(Number),
    all_flops: Number(4n * projection + 2n * product),
    pair_flops: Number(2n * product),
    all_bytes: Number(5n * flat + 2n * square),
    pair_bytes: Number(2n * square),
    crossings: [causal ? 4 * features - 1 : 2 * features, Math.ceil((5 * features) / (2 * heads))],
  };
}

const LEAST = 16, MOST = 2 ** 20, SIZE = { width: 312, height: 240 };
const range = (n) => Array.from({ length: n }, (_, i) => i);
/** Eight steps to a doubling of the tokens; for features and heads 2, 3, 4, 6, 8 and so on. */
const TOKENS = [...range(128).map((i) => 2 ** (1 + (i >> 3)) * (8 + (i % 8))), MOST];
const HEADS = [1, ...range(13).map((i) => (2 + (i % 2)) * 2 ** (i >> 1))], FEATURES = range(21).map((i) => (2 + (i % 2)) * 2 ** (3 + (i >> 1)));
const MODELS = [["GPT-2 small", 1024, 768, 12], ["T5-small", 512, 512, 8], ["GPT-3", 2048, 12288, 96], ["long context", 131072, 4096, 32]];

const whole = (v) => v.toLocaleString("en-US");
/** Three digits and a prefix. */
function prefixed(v, places) {
  const [digits, power] = v.toExponential(2).split("e"), group = Math.floor(power / 3), left = power - 3 * group;
  return `${fmt(digits * 10 ** left, places ?? 2 - left)} ${["", "k", "M", "G", "T", "P"][group]}`;
}
/** A share in percent, with no 0% or 100% for what is not quite so. */
function percent(share) {
  const v = 100 * share;
  return v > 0 && v < 1 ? "<1%" : v > 99 && v < 100 ? "over 99%" : `${fmt(v, 0)}%`;
}

/** A chart, a bar, a sentence: what grows with N in blue, what with N² in orange; `parts` takes both from the results. */
function panel({ label, title, y, names, parts, set }) {
  const x = { min: LEAST, max: MOST, log: true, ticks: [16, 256, 4096, 65536], text: whole, label: "" };
  const { svg, px, path } = axes({ x, y: { log: true, label: title, ...y }, ...SIZE });
  const [left, top] = px([LEAST, y.max]), [right, bottom] = px([MOST, y.min]), rail = bottom + 36;
  const both = (tag, attributes) => [1, 2].map((i) => h(tag, { ...attributes, class: `${attributes.class} ex-c${i}` }));
  const zones = both("rect", { class: "ex-cost-zone", x: left, y: top, width: right - left, height: bottom - top });
  const lines = both("path", { class: "ex-vector" }), words = both("text", { class: "ex-text" }), dots = both("circle", { class: "ex-point", r: 4 });
  const cross = h("circle", { class: "ex-cost-cross", r: 5 }), where = h("text", { class: "ex-text ex-start" });
  const here = h("line", { class: "ex-ruler", y1: top, y2: rail });
  svg.lastChild.classList.add("ex-cost-title");
  put(svg, { viewBox: `0 0 ${SIZE.width} ${rail + 16}` });
  svg.prepend(zones[1], zones[0], h("line", { class: "ex-axis", x1: left, x2: right, y1: rail, y2: rail }), here);
  svg.append(...lines, ...words, cross, ...dots, where);
  words.forEach((word, k) => write(word, names[k]));

  let at = LEAST;
  const nearest = (v) => TOKENS.reduce((best, each) => (Math.abs(Math.log(each / v)) < Math.abs(Math.log(best / v)) ? each : best));
  const knob = draggable({
    svg, name: "N", class: "ex-handle ex-cost-n", "aria-label": `Tokens N, in the chart of ${label}`, "aria-valuemin": LEAST, "aria-valuemax": MOST,
    move: ([x]) => set(nearest(LEAST * (MOST / LEAST) ** ((x - left) / (right - left)))),
    key(e) {
      const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: 1, ArrowDown: -1, PageUp: 8, PageDown: -8, Home: -200, End: 200 }[e.key];
      if (by) set(TOKENS[clamp(TOKENS.indexOf(nearest(at)) + by, 0, 128)]);
      return by;
    },
  });
  const bars = both("span", { class: "" }), sentence = h("p");
  const el = h("div", { class: "ex-cost" }, h("div", { class: "ex-plane", role: "group", "aria-label": `Chart of ${label}` }, svg, knob.el), h("div", { class: "ex-cost-bar", "aria-hidden": "true" }, ...bars), sentence);

  function show(state, results, crossing) {
    at = state.tokens;
    const [across] = px([at, 1]), now = parts(results), of = (tokens) => parts(compute({ ...state, tokens }));
    const first = of(LEAST), last = of(MOST), late = crossing > 4096, [middle, high] = px([crossing, of(crossing)[0]]);
    lines.forEach((line, k) => {
      const share = now[k] / (now[0] + now[1]);
      put(line, { d: path([[LEAST, first[k]], [MOST, last[k]]]) });
      put(dots[k], { cx: across, cy: px([at, now[k]])[1] });
      bars[k].style.flexGrow = share;
      write(bars[k], share < 0.12 ? "" : `${share < 0.5 ? "" : `${names[k]} `}${percent(share)}`);
    });
    put(zones[0], { width: Math.max(0, middle - left) });
    words.forEach((word, k) => { word.style.textAnchor = late && !k ? "start" : "end"; });
    put(words[0], late ? { x: left + 6, y: px([LEAST, first[0]])[1] - 10 } : { x: right - 4, y: px([MOST, last[0]])[1] + 26 });
    put(words[1], { x: right - 22, y: px([MOST, last[1]])[1] + 8 });
    put(cross, { cx: middle, cy: high });
    put(where, { x: Math.min(middle + 6, right - 76), y: Math.min(high + 24, bottom - 6) });
    write(where, `N = ${whole(crossing)}`);
    for (const each of [cross, where]) put(each, { visibility: crossing < LEAST ? "hidden" : "visible" });
    put(here, { x1: across, x2: across });
    knob.show([across, rail], { "aria-valuenow": at, "aria-valuetext": whole(at) });
  }
  return { el, svg, sentence, px, show };
}

function build({ get, set, start }) {
  let wish = start.heads, given = wish; // what the reader asked for comes back with features that it divides
  const move = (tokens) => set({ tokens });
  const model = choice({
    label: "A layer of", options: MODELS.map(([name]) => name),
    set(i) {
      const [, tokens, features, heads] = MODELS[i];
      set({ tokens, features, heads });
    },
  });
  const tokens = slider({ label: "Tokens N =", values: TOKENS, text: whole, set: move });
  const features = slider({
    label: "Features d =", values: FEATURES, text: whole,
    set(v) {
      given = HEADS.findLast((each) => each <= wish && v % each === 0);
      set({ features: v, heads: given });
    },
  });
  const heads = slider({
    label: "Heads h =", values: HEADS, text: whole,
    set(v) {
      const now = get().heads, fit = HEADS.filter((each) => get().features % each === 0);
      set({ heads: v > now ? fit.find((each) => each >= v) ?? now : fit.findLast((each) => each <= v) });
      heads.show(get().heads);
    },
  });
  const type = choice({ label: "Bytes of a number", options: ["2", "4", "8"], set: (i) => set({ itemsize: 2 << i }) });
  const causal = toggle({ label: "count causal pairs only", set: (on) => set({ causal: on }) });
  const work = panel({
    label: "operations", title: "Operations, in FLOPs", y: { min: 1e4, max: 1e17, ticks: [1e6, 1e9, 1e12, 1e15], text: (v) => prefixed(v, 0) },
    names: ["projections", "scores, mixing"], parts: (r) => [r.all_flops - r.pair_flops, r.pair_flops], set: move,
  });
  const room = panel({
    label: "memory", title: "Memory, in bytes", y: { min: 1e3, max: 1e16, ticks: [1e3, 1e6, 1e9, 1e12, 1e15], text: (v) => `${prefixed(v, 0)}B` },
    names: ["N×d arrays", "N×N arrays"], parts: (r) => [r.all_bytes - r.pair_bytes, r.pair_bytes], set: move,
  });
  const [x1, y1] = room.px([LEAST, 8e10]), [x2] = room.px([MOST, 1]);
  room.svg.append(h("line", { class: "ex-own", x1, x2, y1, y2: y1 }), h("text", { class: "ex-tick ex-start", x: x1 + 4, y: y1 - 5 }, "80 GB: an H100 GPU"));
  let cells;
  const table = heatTable({
    caption: "Each step (M, G, T, P: 10⁶, 10⁹, 10¹², 10¹⁵; eˣ: exponentials)", rows: ["Q, K, V", "scores", "weights", "mixture", "output"],
    cols: ["FLOPs", "share", "memory", "share"], text: (v, j, i) => cells[i][j],
  });
  const body = [h("div", { class: "ex-stack" }, model.el,
    h("div", { class: "ex-four" }, h("div", { class: "ex-stack ex-cost-rows" }, tokens.el, features.el, heads.el), h("div", { class: "ex-stack" }, type.el, causal.el), work.el, room.el), table.el)];

  function draw(state, r) {
    const { tokens: n, features: d, heads: count, itemsize } = state, [line, early] = r.crossings, { flops: f, sizes: b } = r;
    if (count !== given) wish = given = count;
    model.show(MODELS.findIndex(([, ...layer]) => `${layer}` === `${[n, d, count]}`));
    tokens.show(n);
    features.show(d);
    heads.show(count);
    type.show(itemsize >> 2);
    causal.show(state.causal);
    work.show(state, r, line);
    room.show(state, r, early);
    const shares = [[3 * f[0], 3 * b[0]], [-f[3], -b[3]], [0, -b[4]], [-f[4], b[5]], [f[5], b[6]]].map(([flops, size]) => [flops / r.all_flops, size / r.all_bytes]);
    cells = shares.map((both) => both.map(Math.abs)).map(([work, room]) => [
      work ? prefixed(work * r.all_flops) : `${prefixed(r.exponentials)} eˣ`, work ? percent(work) : "–", `${prefixed(room * r.all_bytes)}B`, percent(room),
    ]);
    table.show(shares.map(([work, room]) => [work, work, room, room]), { peak: 1 });
    const pairs = r.pair_flops / r.all_flops, most = pairs > 0.5;
    write(work.sentence, `${most ? "Scores and mixing" : "The projections"} take ${percent(most ? pairs : 1 - pairs)} of ${prefixed(r.all_flops)}FLOP. The lines cross at N = ${state.causal ? "4d − 1" : "2d"} = ${whole(line)}, with any number of heads.`);
    write(room.sentence, `The N×N arrays take ${percent(r.pair_bytes / r.all_bytes)} of ${prefixed(r.all_bytes)}B: 2 × ${count} head${count > 1 ? "s" : ""} × N² × ${itemsize} bytes = ${prefixed(r.pair_bytes)}B. The lines cross at N = 2.5d/h ${early * count === 2.5 * d ? "=" : "≈"} ${whole(early)}.`);
  }
  return { body, draw, say: () => `${work.sentence.textContent} ${room.sentence.textContent}` };
}

export default explorable({
  label: "What an attention layer costs",
  hint: "Drag N, or choose it with Tab and press arrow keys (Page Up doubles it).",
  inputs: ["causal", "features", "heads", "itemsize", "tokens"],
  compute,
  build,
});
