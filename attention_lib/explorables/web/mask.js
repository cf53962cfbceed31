// Which query may see which key: a mask to paint, what its hidden scores become, and who reads them all the same.
import { choice, explorable, fmt, h, heatTable, put, softmax, sub, write } from "./core.js";

const SCORES = [
  [1, 2.5, 0.5, -1, 0.2],
  [-0.5, 1.5, 2, 0.3, -1.2],
  [2.2, -1, 0.8, 1.6, 0.4],
  [0.6, 1.2, -0.7, 1.9, 2.4],
  [-1.5, 0.9, 1.7, 0.1, 1.3],
];
const TOKENS = [0, 1, 2, 3, 4], ROWS = { all: [0, 5], last: [2, 5], first: [0, 3] };
const Q = TOKENS.map((i) => sub("q", i + 1)), K = TOKENS.map((j) => sub("k", j + 1));
const FILLS = [["-inf", "score −∞", "−∞"], ["-1e9", "score −1e9", "−1e9"], ["0", "score 0", "0.00"], ["after", "weight 0"]];

/** The masks to choose from, for n queries: may query i see key j? */
const masks = (n) => [
  (i, j) => j <= i + 5 - n,
  (i, j) => j <= i,
  () => true,
  (i, j) => j <= i + 5 - n && j >= i + 4 - n,
  (i, j) => j < 3,
  (i, j) => j <= i + 5 - n && j >= 2,
].map((sees) => TOKENS.slice(0, n).map((i) => TOKENS.map((j) => sees(i, j))));

export function compute({ allowed, fill, queries }) {
  const [from, to] = ROWS[queries], scores = SCORES.slice(from, to), mask = allowed.slice(from, to);
  const where = (seen, hidden) => mask.map((row, i) => row.map((on, j) => (on ? seen : hidden)(i, j)));
  const score = (i, j) => scores[i][j], value = fill === "-inf" ? -Infinity : Number(fill);
  const filled = fill === "after" ? scores : where(score, () => value);
  const shares = filled.map((row) => (Math.max(...row) === -Infinity ? row.map(() => 0) : softmax(row)));
  const weight = (i, j) => shares[i][j], none = () => 0;
  const weights = fill === "after" ? where(weight, none) : shares;
  return {
    scores,
    mask,
    filled,
    weights,
    sums: weights.map((row) => row.reduce((a, b) => a + b)),
    leaks: where(none, (i, j) => weights[i][j]),
    later: where((i, j) => j > i + from, () => false),
    presets: masks(to - from),
  };
}

const CAUSAL = [0, 1, 5], TOP_LEFT = 1;
const EVEN = "attends evenly to hidden keys", NOTHING = { "-inf": "gets zeros, where a plain softmax has 0/0, NaN", "-1e9": EVEN, 0: EVEN, after: "gets zeros" };
const list = (names) => (names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names[0]);
const same = (A, B) => A.every((row, i) => row.every((v, j) => v === B[i][j]));

/** The mask as a grid of buttons: click, tap, drag with a mouse (a finger scrolls); arrow keys and Space. */
function grid({ get, set }) {
  let at = [0, 0], brush = null, swept = false;
  const sees = (i, j) => get().allowed[i][j];
  const paint = (i, j, on) => set({ allowed: get().allowed.map((row, a) => row.map((old, b) => (a === i && b === j ? on : old))) });
  const cells = TOKENS.map((i) => TOKENS.map((j) => h("button", {
    type: "button",
    class: "ex-cell",
    "aria-label": `query ${i + 1}, key ${j + 1}, may attend`,
    onfocus: () => move(i, j),
    onpointerdown(e) {
      swept = false;
      brush = e.pointerType === "mouse" ? [i, j, !sees(i, j)] : null;
    },
    onpointerenter(e) {
      if (!brush || !(e.buttons & 1)) return;
      if (!swept) paint(...brush);
      swept = true;
      paint(i, j, brush[2]);
    },
    // After a drag from cell to cell, the click at its end is part of it. A key's click has no detail.
    onclick(e) {
      if (!swept || !e.detail) paint(i, j, !sees(i, j));
      swept = false;
    },
  })));
  const lines = TOKENS.map((i) => h("tr", {}, h("th", { scope: "row" }, Q[i]), ...cells[i].map((cell) => h("td", {}, cell))));
  const tbody = h("tbody");
  const el = h("table", {
    class: "ex-table",
    role: "grid",
    "aria-label": "Mask: Space or Enter hides a key from a query, or shows it",
    onkeydown(e) {
      const [from, to] = ROWS[get().queries], [i, j] = at;
      const [a, b] = { ArrowLeft: [i, j - 1], ArrowRight: [i, j + 1], ArrowUp: [i - 1, j], ArrowDown: [i + 1, j], Home: [e.ctrlKey ? from : i, 0], End: [e.ctrlKey ? to - 1 : i, 4] }[e.key] ?? [];
      if (a === undefined || e.altKey || e.metaKey) return;
      e.preventDefault();
      if (a >= from && a < to && b >= 0 && b < 5) cells[a][b].focus();
    },
  }, h("caption", {}, "Scores that the softmax gets"), h("thead", {}, h("tr", {}, h("td"), ...K.map((name) => h("th", { scope: "col" }, name)))), tbody);
  function move(i, j) {
    at = [i, j];
    cells.forEach((row, a) => row.forEach((cell, b) => { cell.tabIndex = a === i && b === j ? 0 : -1; }));
  }
  function show({ allowed, fill, queries }) {
    const [from, to] = ROWS[queries], word = FILLS.find(([name]) => name === fill)[2];
    cells.forEach((row, i) => row.forEach((cell, j) => {
      const on = allowed[i][j];
      put(cell, { "aria-pressed": on });
      cell.classList.toggle("ex-hidden", !on);
      write(cell, on || !word ? fmt(SCORES[i][j]) : word);
      put(cell, { "aria-description": `score ${cell.textContent}` }); // the name is heard in its place
    }));
    if (tbody.rows.length !== to - from || tbody.rows[0] !== lines[from]) tbody.replaceChildren(...lines.slice(from, to));
    if (at[0] < from || at[0] >= to) move(from, at[1]);
  }
  move(0, 0);
  return { el, show };
}

function build({ get, set }) {
  const painted = grid({ get, set });
  const preset = choice({
    label: "Mask",
    options: ["Causal", "Causal, top-left", "All keys", "Window", "Padding", "Padding left, causal"],
    set(k) {
      const { allowed, queries } = get(), [from, to] = ROWS[queries];
      set({ allowed: [...allowed.slice(0, from), ...masks(to - from)[k], ...allowed.slice(to)] });
    },
  });
  const [bottomRight, topLeft] = preset.el.querySelectorAll("label");
  const names = Object.keys(ROWS);
  const asked = choice({ label: "Queries", options: ["all five", "last three", "first three"], set: (k) => set({ queries: names[k] }) });
  const fill = choice({ label: "What is hidden gets", options: FILLS.map(([, text]) => text), set: (k) => set({ fill: FILLS[k][0] }) });
  const weights = heatTable({ caption: "Weights, and the sum of each row", rows: Q, cols: [...K, "sum"] });
  const words = [0, 1, 2].map(() => h("p", { class: "ex-verdict" }));
  const body = [h("div", { class: "ex-stack" }, preset.el, fill.el, asked.el, h("div", { class: "ex-four ex-masks" }, painted.el, weights.el), h("div", {}, ...words))];

  /** Of the order: [mark, text]. A causal mask is judged; of another one it is only said what it does. */
  function order({ queries }, { mask, later, presets }) {
    const [from] = ROWS[queries], chosen = presets.findIndex((each) => same(each, mask));
    const keysOf = (row) => list(K.filter((_, j) => row[j]));
    const early = later.findIndex((row) => row.includes(true));
    if (early >= 0) {
      const sees = `${Q[early + from]} sees ${keysOf(later[early])}, later than itself.`;
      return CAUSAL.includes(chosen) ? ["✗", `The future leaks: ${sees}`] : ["–", `Not causal: ${sees}`];
    }
    const lost = mask.map((row, i) => row.map((on, j) => !on && j <= i + from)), late = lost.findIndex((row) => row.includes(true));
    if (chosen === TOP_LEFT && late >= 0) return ["✗", `The past is lost: ${Q[late + from]} does not see ${keysOf(lost[late])}.`];
    return ["✓", "No query sees a key that comes later."];
  }
  /** Of what is hidden: does it still get weight? */
  function hidden({ queries }, { mask, leaks }) {
    const [from] = ROWS[queries], most = Math.max(...leaks.flat()), i = leaks.findIndex((row) => row.includes(most));
    const all = mask.flat().filter((on) => !on).length, some = leaks.flat().filter((v) => v > 0).length;
    if (!all) return ["–", "Nothing is hidden."];
    if (!some) return ["✓", "No hidden key takes weight."];
    return ["✗", `Leak: ${some} of ${all} hidden places take weight. ${Q[i + from]} may not see ${K[leaks[i].indexOf(most)]}, and gives it ${fmt(most)}.`];
  }
  /** Of the sums, and of a row that may see nothing. */
  function total({ fill: how, queries }, { mask, sums }) {
    const [from] = ROWS[queries], empty = mask.findIndex((row) => !row.includes(true));
    const nothing = empty < 0 ? "" : `${Q[empty + from]} may see nothing, and ${NOTHING[how]}. `;
    const counted = sums.map((v, i) => (how === "-inf" && !mask[i].includes(true) ? 1 : v)), least = Math.min(...counted);
    if (least < 1 - 1e-9) return ["✗", `${nothing}The weights of ${Q[counted.indexOf(least) + from]} sum to ${fmt(least)}: the hidden keys took their part first.`];
    return [nothing && how !== "-inf" ? "✗" : "✓", `${nothing}${nothing && how === "-inf" ? "All other rows sum" : "Every row sums"} to 1.`];
  }

  function draw(state, r) {
    const [from, to] = ROWS[state.queries], blank = [0, 0, 0, 0, 0], all = state.queries === "all";
    const full = (M) => TOKENS.map((i) => M[i - from] ?? blank);
    painted.show(state);
    if (all) topLeft.remove();
    else if (!topLeft.isConnected) bottomRight.after(topLeft);
    write(bottomRight.lastChild, all ? "Causal" : "Causal, bottom-right");
    preset.show(r.presets.findIndex((mask) => same(mask, r.mask)));
    asked.show(names.indexOf(state.queries));
    fill.show(FILLS.findIndex(([name]) => name === state.fill));
    weights.show(full(r.weights).map((row, i) => [...row, r.sums[i - from] ?? 0]), { peak: 1 });
    [...weights.el.tBodies[0].rows].forEach((row, i) => {
      row.hidden = i < from || i >= to;
      [...row.cells].slice(1).forEach((cell, j) => {
        cell.classList.toggle("ex-hidden", j < 5 && !state.allowed[i][j]);
        cell.classList.toggle("ex-leak", j < 5 ? full(r.leaks)[i][j] > 0 : state.fill === "after" && full(r.sums)[i] < 1 - 1e-9);
        if (j === 5) cell.style.setProperty("--heat", "0%");
      });
    });
    [order, hidden, total].forEach((judge, k) => {
      const [mark, text] = judge(state, r);
      write(words[k], `${mark} ${text}`);
      words[k].classList.toggle("ex-wrong", mark === "✗");
    });
  }
  return { body, draw, say: () => words.map((line) => line.textContent.slice(2)).join(" ") };
}

export default explorable({
  label: "Mask painter: which query may see which key",
  hint: "Click a score to hide that key from that query, or drag a mouse over several. By keyboard: arrow keys and Space.",
  inputs: ["allowed", "fill", "queries"],
  compute,
  build,
});
