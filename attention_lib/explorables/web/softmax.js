// Four scores become weights: which change moves them, and where the formula as it stands runs out of numbers.
import { axes, choice, clamp, explorable, fmt, h, heatTable, named, numberBox, put, slider, snap, softmax, sub, write } from "./core.js";

const KEYS = [1, 2, 3, 4], FAR = 5, TYPES = ["float64", "float32", "float16"];
const S = KEYS.map((i) => sub("s", i)), P = KEYS.map((i) => sub("p", i));
const LARGEST = { float64: ["1.8·10³⁰⁸", "709.78"], float32: ["3.4·10³⁸", "88.72"], float16: ["65,504", "11.09"] };

/** The nearest number that float16 has: 11 binary digits, the last at least 2⁻²⁴; of two as near, the even one. */
function half(v) {
  const size = Math.abs(v);
  if (!(size < 65520)) return v && v * Infinity;
  const unit = 2 ** Math.max(-24, Math.floor(Math.log2(size)) - 10), n = size / unit, low = Math.floor(n);
  const up = n - low > 0.5 || (n - low === 0.5 && low % 2 === 1);
  return Math.sign(v) * (low + (up ? 1 : 0)) * unit;
}
const KEEP = { float64: (v) => v, float32: Math.fround, float16: half };

export function compute({ scores, shift, temperature, kept }) {
  const keep = KEEP[kept], total = (row) => row.reduce((sum, v) => keep(sum + v));
  const form = (exponents) => {
    const e = exponents.map((x) => keep(Math.exp(x))), p = e.map((v) => keep(v / total(e)));
    return [[...e, total(e)], [...p, total(p)]];
  };
  const exponents = scores.map((s) => (s + shift) / temperature), [first, second] = [...exponents].sort((a, b) => b - a);
  return {
    exponents,
    weights: softmax(exponents),
    ratio: Math.exp(first - second),
    plain: form(exponents),
    stable: form(exponents.map((x) => x - first)),
  };
}

/** A number with three decimals, a larger one with none, else a power of ten; what is no number is NaN, as in Python. */
function short(v) {
  if (Number.isNaN(v)) return "NaN";
  if (!Number.isFinite(v) || !v || (v >= 0.0005 && v < 9999.5)) return fmt(v, v < 99.9995 ? 3 : 0);
  const [digits, power] = v.toExponential(1).split("e");
  return `${digits}·10${[...power.replace("+", "")].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻").join("")}`;
}

/** Numbers to add: close together near 0, round ones far from it. */
const MORE = [...Array.from({ length: 29 }, (_, i) => i + 1), ...Array.from({ length: 14 }, (_, i) => 30 + 5 * i), ...Array.from({ length: 91 }, (_, i) => 100 + 10 * i)];
const ADDED = [...MORE.map((v) => -v).reverse(), 0, ...MORE];

/** A dot that moves up and down in its column of a chart. */
function knob({ i, set }, { svg, px }) {
  const unit = px([1, 0])[1] - px([1, 1])[1], [wide, tall] = [svg.viewBox.baseVal.width, svg.viewBox.baseVal.height];
  let at = 0, grip = null;
  const move = (v) => set(snap(clamp(v, -FAR, FAR), 0.01));
  const release = () => { grip = null; };
  const el = h("div", {
    class: `ex-handle ex-c${i}`, role: "slider", tabindex: 0, "aria-orientation": "vertical",
    "aria-label": `Score s${i}: arrow keys move it, with Shift by less`, "aria-valuemin": -FAR, "aria-valuemax": FAR,
    onpointerdown(e) {
      if (e.button) return;
      grip = [at, e.clientY, svg.getBoundingClientRect().height / tall];
      el.setPointerCapture(e.pointerId);
      el.focus({ preventScroll: true });
      e.preventDefault();
    },
    onpointermove(e) { if (grip) move(snap(grip[0] - (e.clientY - grip[1]) / grip[2] / unit, 0.05)); },
    onpointerup: release,
    onpointercancel: release,
    onkeydown(e) {
      const way = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity }[e.key];
      if (!way || e.altKey || e.ctrlKey || e.metaKey) return;
      move(at + way * (e.shiftKey ? 0.01 : 0.1));
      e.preventDefault();
    },
  }, S[i - 1]);
  el.addEventListener("touchstart", (e) => e.preventDefault(), { passive: false }); // a finger on a dot scrolls nothing
  return {
    el,
    show(v) {
      at = v;
      const [x, y] = px([i, v]);
      el.style.left = `${(100 * x) / wide}%`;
      el.style.top = `${(100 * y) / tall}%`;
      put(el, { "aria-valuenow": v, "aria-valuetext": fmt(v) });
    },
  };
}

function build({ get, set }) {
  const move = (i, v) => set({ scores: get().scores.map((s, j) => (j === i - 1 ? v : s)) });
  const columns = { min: 0.5, max: 4.5, label: "" };
  const top = axes({ x: { ...columns, ticks: [] }, y: { min: -5.5, max: 5.5, ticks: [-FAR, 0, FAR], label: "scores s + c" }, width: 290, height: 250 });
  const low = axes({ x: { ...columns, ticks: KEYS, text: (i) => P[i - 1] }, y: { min: 0, max: 1, ticks: [0, 0.5, 1], label: "weights p", text: (v) => fmt(v, 1) }, width: 290, height: 180 });
  put(top.svg, { viewBox: "0 0 290 220" });
  put(low.svg, { viewBox: "0 0 290 160" });
  const ticks = top.svg.querySelectorAll(".ex-end");
  const stems = KEYS.map((i) => h("line", { class: `ex-stem ex-c${i}` })), bars = KEYS.map((i) => h("line", { class: `ex-bar ex-c${i}` }));
  const shares = KEYS.map((i) => h("text", { class: `ex-text ex-c${i}` }));
  top.svg.append(...stems);
  low.svg.append(...bars, ...shares);
  const knobs = KEYS.map((i) => knob({ i, set: (v) => move(i, v) }, top));
  const boxes = KEYS.map((i) => numberBox({ label: `Score s${i}`, min: -FAR, max: FAR, set: (v) => move(i, v) }));
  const tau = slider({ label: "Divide all by the temperature τ =", min: 0.1, max: 100, log: true, set: (temperature) => set({ temperature }) });
  const added = slider({ label: "Add to every score c =", values: ADDED, text: (v) => fmt(v, 0), set: (shift) => set({ shift }) });
  const type = choice({ label: "Numbers in", options: TYPES, set: (i) => set({ kept: TYPES[i] }) });
  const notes = [h("span"), h("sup")];
  const forms = heatTable({ caption: notes, rows: [...KEYS.map((i) => [String(i), i]), "Σ"], cols: ["plain eˣ", "plain weight", "stable eˣ⁻ᵐ", "stable weight"], text: short });
  const cells = [...forms.el.querySelectorAll("tbody td")];
  const power = h("sup"), words = [h("span"), power, h("span")], ratio = h("p", { class: "ex-ratio" }, ...words), verdict = h("p", { class: "ex-two" });
  const picture = h("div", { class: "ex-plane" }, h("div", { class: "ex-plane", role: "group", "aria-label": "Scores to drag" }, top.svg, ...knobs.map((k) => k.el)), h("div", { class: "ex-below" }, ...boxes.map((box) => box.el)), low.svg, ratio);
  const body = [h("div", { class: "ex-columns ex-softmax" }, picture, h("div", { class: "ex-stack" }, added.el, tau.el, type.el, verdict, forms.el))];

  function judge({ shift, kept }, { exponents, plain: [e, p], stable: [, q] }) {
    const sum = e[4], off = Math.max(...p.map((v, j) => Math.abs(v - q[j])));
    if (e.slice(0, 4).includes(Infinity)) return `The plain form fails: the exponent ${fmt(Math.max(...exponents))} is above ${LARGEST[kept][1]}, and ∞ / ∞ is NaN.`;
    if (sum === Infinity) return `The plain form fails: the sum is beyond ${kept}, and what is divided by ∞ is 0.`;
    if (!sum) return "The plain form fails: every exponential rounds to 0, and 0 / 0 is NaN.";
    if (off > 0.002) return `The plain form has lost digits: its weights are off by up to ${short(off)}.`;
    if (off > 0.0005) return `Rounded to ${kept}, the two forms differ by up to ${short(off)}.`;
    return shift ? `Adding ${fmt(shift, 0)} to every score has moved no weight.` : "Add a number to every score: which weights move?";
  }

  function draw(state, r) {
    const { scores, shift, temperature, kept } = state;
    scores.forEach((s, j) => {
      const [x, y] = top.px([j + 1, s]), [, zero] = top.px([1, 0]), [, floor] = low.px([1, 0]), [, peak] = low.px([1, r.weights[j]]);
      put(stems[j], { x1: x, x2: x, y1: zero, y2: y });
      put(bars[j], { x1: x, x2: x, y1: floor, y2: peak });
      put(shares[j], { x, y: peak - 6 });
      write(shares[j], fmt(r.weights[j], 3));
      knobs[j].show(s);
      boxes[j].show(s);
    });
    [-FAR, 0, FAR].forEach((v, k) => write(ticks[k], fmt(v + shift, 0)));
    tau.show(temperature);
    added.show(shift);
    type.show(TYPES.indexOf(kept));
    forms.show([0, 1, 2, 3, 4].map((j) => [...r.plain, ...r.stable].map((row) => row[j])), { peak: Infinity });
    cells.forEach((cell) => cell.classList.toggle("ex-broken", /NaN|∞/.test(cell.textContent)));
    cells[17].classList.toggle("ex-broken", !(Math.abs(r.plain[1][4] - 1) < 0.01));
    const [largest, log] = LARGEST[kept];
    write(notes[0], `x = (s + c) / τ, and m is the largest x. The largest ${kept} is ${largest} = e`);
    write(notes[1], log);
    const [a, b] = KEYS.map((i) => i - 1).sort((i, j) => r.exponents[j] - r.exponents[i]);
    write(words[0], `${P[a]} is e`);
    write(power, `(${fmt(scores[a])} − ${fmt(scores[b]).replace(/^−.*/, "($&)")}) / ${fmt(temperature)}`);
    write(words[2], ` = ${short(r.ratio)} times ${P[b]}.`);
    write(verdict, judge(state, r));
  }
  return { body, draw, say: (_, { weights }) => `Weights ${weights.map((p) => fmt(p, 3)).join(", ")}: ${words[0].textContent} to the power ${power.textContent}${words[2].textContent} ${verdict.textContent}` };
}

export default explorable({
  label: "Softmax of four scores",
  hint: "Drag a score, or choose it with Tab and press arrow keys (with Shift: small steps).",
  inputs: ["kept", "scores", "shift", "temperature"],
  compute,
  build,
});
