// What every explorable shares: maths, elements, controls, and the frame around them. It imports nothing.

// --- Maths and numbers

export const dot = (a, b) => a.reduce((sum, v, i) => sum + v * b[i], 0);
export const transpose = (M) => M[0].map((_, j) => M.map((row) => row[j]));
export const matmul = (A, B) => {
  const columns = transpose(B);
  return A.map((row) => columns.map((column) => dot(row, column)));
};
export function softmax(scores) {
  const top = Math.max(...scores), powers = scores.map((s) => Math.exp(s - top));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((p) => p / sum);
}
export const clamp = (v, min, max) => Math.min(max, Math.max(min, v));
/** The nearest multiple of `step`, without the -0 and 0.30000000000000004 of plain arithmetic. */
export const snap = (v, step) => Number((Math.round(v / step) * step).toFixed(6)) + 0;
/** A number in words for a reader: a real minus, no minus zero, a dash for what is no number. */
export function fmt(v, places = 2) {
  if (Number.isNaN(v)) return "–";
  if (!Number.isFinite(v)) return v < 0 ? "−∞" : "∞";
  const digits = v.toFixed(places);
  return (Number(digits) ? digits : (0).toFixed(places)).replace("-", "−");
}
/** sub("x", 1) is x₁. */
export const sub = (name, i) => name + [...String(i)].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]).join("");

// --- Elements

const SVG = new Set("svg g line path polygon polyline circle rect text tspan".split(" "));
/** h("button", { class: "x", onclick: f }, "text", child): an element, of HTML or SVG by its tag. */
export function h(tag, attributes = {}, ...children) {
  const el = SVG.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) el.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) el.setAttribute(name, value === true ? "" : value);
  }
  el.append(...children);
  return el;
}
/** Set several attributes of an element; of the same value again costs nothing. */
export function put(el, attributes) {
  for (const [name, value] of Object.entries(attributes)) if (el.getAttribute(name) !== String(value)) el.setAttribute(name, value);
}
/** Set an element's text, if it is another. */
export const write = (el, text) => { if (el.textContent !== text) el.textContent = text; };

let made = 0;
/** An id that no other element has. */
export const uid = () => `ex-${++made}-${Math.random().toString(36).slice(2, 6)}`;

/** A name in the colour of token i, from 1: named("x₁", 1). */
export const named = (text, i) => h("b", { class: `ex-c${i}` }, text);
const heading = (item) => (Array.isArray(item) ? named(...item) : item);

// --- Controls: each is { el, show(value) }, and calls `set` with what the reader chose

/**
 * A slider with its value beside it. `log`: each step the same factor; `values`: a step for each number of this list,
 * which rises. `extra`: elements at the end of the row; `name`: what is heard, where the label says too little by itself.
 */
export function slider({ label, name, min, max, step = (max - min) / 200, log = false, values, text = (v) => fmt(v), set, extra = [] }) {
  const id = uid(), span = Math.log(max / min);
  const ends = values ? { min: 0, max: values.length - 1, step: 1 } : log ? { min: 0, max: 1, step: 0.005 } : { min, max, step };
  const value = () => (values ? values[input.valueAsNumber] : log ? Number((min * Math.exp(input.valueAsNumber * span)).toPrecision(3)) : input.valueAsNumber);
  const place = (v) => (values ? values.reduce((best, each, i) => (Math.abs(each - v) < Math.abs(values[best] - v) ? i : best), 0) : log ? Math.log(v / min) / span : v);
  const input = h("input", { id, type: "range", "aria-label": name, ...ends, oninput: () => set(value()) });
  const shown = h("output", { for: id });
  const el = h("div", { class: "ex-slider" }, h("label", { for: id }, label), shown, ...extra, input);
  return {
    el,
    show(v) {
      if (value() !== v) input.value = place(v);
      put(input, { "aria-valuetext": text(v) });
      write(shown, text(v));
    },
  };
}

/** A box to type a number in, kept to three decimals. `label` is heard, not seen. */
export function numberBox({ label, min, max, step = 0.1, set }) {
  let last;
  const el = h("input", {
    type: "number", class: "ex-box", "aria-label": label, min, max, step, autocomplete: "off",
    onchange: () => (Number.isFinite(el.valueAsNumber) ? set(snap(clamp(el.valueAsNumber, min, max), 0.001)) : show(last)),
  });
  function show(v) {
    last = v;
    if (el.value !== String(v)) el.value = v;
  }
  return { el, show };
}

/** One of several: `options` as the names of a table; `set` gets the number of the one chosen, from 0. */
export function choice({ label, options, set }) {
  const name = uid();
  const radios = options.map((_, i) => h("input", { type: "radio", name, onchange: () => set(i) }));
  const el = h("fieldset", { class: "ex-choice" }, h("legend", {}, label),
    ...options.map((option, i) => h("label", {}, radios[i], h("span", {}, heading(option)))));
  return { el, show: (chosen) => radios.forEach((radio, i) => { radio.checked = i === chosen; }) };
}

/** Something that is on or off. */
export function toggle({ label, set }) {
  const input = h("input", { type: "checkbox", onchange: () => set(input.checked) });
  return { el: h("label", { class: "ex-toggle" }, input, label), show: (on) => { input.checked = on; } };
}

/**
 * A table of numbers in coloured cells: blue above zero, orange below. `rows` and `cols` are names, or [name, colour].
 * show(M, { row, peak }): the outlined row, and the size that has the full colour. text(v, j, i) writes the cell of row i, column j.
 */
export function heatTable({ caption, rows, cols, text = (v) => fmt(v) }) {
  const cells = rows.map(() => cols.map(() => h("td")));
  const lines = rows.map((name, i) => h("tr", {}, h("th", { scope: "row" }, heading(name)), ...cells[i]));
  const el = h("table", { class: "ex-table" }, h("caption", {}, ...[caption].flat()),
    h("thead", {}, h("tr", {}, h("td"), ...cols.map((name) => h("th", { scope: "col" }, heading(name))))), h("tbody", {}, ...lines));
  return {
    el,
    show(M, { row = -1, peak = Math.max(1e-9, ...M.flat().filter(Number.isFinite).map(Math.abs)) } = {}) {
      lines.forEach((line, i) => line.classList.toggle("ex-on", i === row));
      cells.forEach((line, i) => line.forEach((cell, j) => {
        const v = M[i][j];
        write(cell, text(v, j, i));
        cell.style.setProperty("--heat", `${Math.round(45 * Math.min(1, Math.abs(v) / peak) || 0)}%`);
        cell.classList.toggle("ex-minus", v < 0);
      }));
    },
  };
}

/**
 * What one drags over `svg`, which fills the box that both stand in: { el, show([x, y], attributes) }. Places are in the
 * units of the svg's viewBox; move([x, y]) is called while a pointer drags, key(e) says whether it knew the key.
 */
export function draggable({ svg, name, move, key, ...attributes }) {
  let at, grip;
  const size = () => svg.viewBox.baseVal;
  const place = (e) => {
    const box = svg.getBoundingClientRect(), unit = size().width / box.width;
    return [(e.clientX - box.left) * unit, (e.clientY - box.top) * unit];
  };
  const release = () => { grip = null; };
  const el = h("div", {
    role: "slider", tabindex: 0, ...attributes,
    onpointerdown(e) {
      if (e.button) return;
      grip = place(e).map((v, k) => at[k] - v);
      el.setPointerCapture(e.pointerId);
      el.focus({ preventScroll: true });
      e.preventDefault();
    },
    onpointermove(e) { if (grip) move(place(e).map((v, k) => v + grip[k])); },
    onpointerup: release,
    onpointercancel: release,
    onkeydown(e) { if (!e.altKey && !e.ctrlKey && !e.metaKey && key(e)) e.preventDefault(); },
  }, name);
  el.addEventListener("touchstart", (e) => e.preventDefault(), { passive: false }); // a finger on it scrolls nothing
  return {
    el,
    show(place, said) {
      at = place;
      el.style.left = `${(100 * at[0]) / size().width}%`;
      el.style.top = `${(100 * at[1]) / size().height}%`;
      put(el, said);
    },
  };
}

/**
 * A square plane with both axes from -range to range: { el, svg, over, px, line, handle }.
 * `svg` lies under the dots and `over` above them. px([x, y]) is a place in both; line(el, from, to) lays an SVG line.
 * handle({ label, name, color, set }) is a dot to drag: { el, show([x, y]) }.
 */
export function plane({ label, range, size = 352, tick = 1 }) {
  const unit = size / 2 / range, px = ([x, y]) => [size / 2 + x * unit, size / 2 - y * unit];
  const [svg, over] = [0, 1].map(() => h("svg", { viewBox: `0 0 ${size} ${size}`, "aria-hidden": "true" }));
  const el = h("div", { class: "ex-plane", role: "group", "aria-label": label }, svg, over);
  const line = (node, from, to) => {
    const [x1, y1] = px(from), [x2, y2] = px(to);
    put(node, { x1, y1, x2, y2 });
    return node;
  };
  const most = Math.floor(range / tick) * tick;
  for (let v = -most; v <= most; v += tick) {
    const kind = v === 0 ? "ex-axis" : "ex-grid", [x, y] = px([v, v]);
    svg.append(line(h("line", { class: kind }), [v, -range], [v, range]), line(h("line", { class: kind }), [-range, v], [range, v]));
    if (v) svg.append(h("text", { class: "ex-tick", x, y: size / 2 + 15 }, fmt(v, 0)), h("text", { class: "ex-tick", x: size / 2 - 12, y: y + 4 }, fmt(v, 0)));
  }
  function handle({ label, name, color, step = 0.1, fine = 0.01, limit = most, set }) {
    let at;
    const move = (...point) => {
      at = point.map((v) => snap(clamp(v, -limit, limit), fine)); // at once: the next key may come before the next picture
      set(at);
    };
    const dot = draggable({
      svg, name, class: `ex-handle ex-c${color}`, "aria-label": label, "aria-roledescription": "point to move", "aria-valuemin": -limit, "aria-valuemax": limit,
      move: ([x, y]) => move(x / unit - range, range - y / unit),
      key(e) {
        const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[e.key], by = e.shiftKey ? fine : step;
        if (way) move(at[0] + way[0] * by, at[1] + way[1] * by);
        return way;
      },
    });
    over.before(dot.el);
    return {
      el: dot.el,
      show(point) {
        at = point;
        dot.show(px(at), { "aria-valuenow": at[0], "aria-valuetext": `x ${fmt(at[0])}, y ${fmt(at[1])}` });
      },
    };
  }
  return { el, svg, over, px, line, handle };
}

/**
 * A picture with two axes: { svg, px, path }. `x` and `y` are { min, max, ticks, label, log, text }. px([x, y]) is the
 * place of a point, path(points) the `d` of a line through them.
 */
export function axes({ x, y, width = 352, height = 220 }) {
  const [left, right, top, bottom] = [44, width - 8, 24, height - 38];
  const scale = ({ min, max, log }, from, to) => {
    const f = log ? Math.log : (v) => v;
    return (v) => from + ((f(v) - f(min)) / (f(max) - f(min))) * (to - from);
  };
  const across = scale(x, left, right), up = scale(y, bottom, top), tickText = (v) => fmt(v, 0);
  const svg = h("svg", { class: "ex-chart", viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  for (const v of x.ticks) {
    svg.append(h("line", { class: "ex-grid", x1: across(v), x2: across(v), y1: top, y2: bottom }), h("text", { class: "ex-tick", x: across(v), y: bottom + 15 }, (x.text ?? tickText)(v)));
  }
  for (const v of y.ticks) {
    svg.append(h("line", { class: "ex-grid", x1: left, x2: right, y1: up(v), y2: up(v) }), h("text", { class: "ex-tick ex-end", x: left - 6, y: up(v) + 4 }, (y.text ?? tickText)(v)));
  }
  svg.append(h("text", { class: "ex-tick", x: (left + right) / 2, y: height - 6 }, x.label), h("text", { class: "ex-tick ex-start", x: 2, y: 12 }, y.label));
  const px = ([a, b]) => [across(a), up(b)];
  return { svg, px, path: (points) => `M${points.map((p) => px(p).map((v) => v.toFixed(1))).join("L")}` };
}

// --- The frame

/** Call `f` once a frame, however often the returned function is called. */
export function perFrame(f) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; f(); });
  };
}

/** Text that a screen reader says once the reader pauses: a drag is no stream of words. */
function announcer(region, wait = 700) {
  let timer, last;
  return (text) => {
    if (last !== undefined && last !== text) {
      clearTimeout(timer);
      timer = setTimeout(() => { region.textContent = text; }, wait);
    }
    last = text;
  };
}

/**
 * Jupyter has shortcuts on arrows and letters. JupyterLab hears a key as it bubbles up; Notebook before it comes down,
 * and passes by a focus with this attribute. With Ctrl (to save, to search) a key is the page's.
 */
function keepKeys(root) {
  const theirs = (e) => Boolean(e.ctrlKey || e.metaKey);
  const mark = (e) => e.target.toggleAttribute("data-lm-suppress-shortcuts", !theirs(e));
  root.addEventListener("keydown", (e) => { mark(e); if (!theirs(e)) e.stopPropagation(); });
  for (const event of ["focusin", "keyup"]) root.addEventListener(event, mark);
}

/**
 * What a module exports by default.
 *   label    what the whole is called, for who cannot see it
 *   hint     how to use it, in one line
 *   inputs   the names of the traits, as in Python
 *   looks    those of them on which it depends what there is to build: another value builds anew
 *   compute  (state) => results, named as the properties in Python
 *   build    ({ get, set, start }) => { body, draw, say }
 * get() is the state, set({ name: value }) changes it, start is what Reset goes back to. `body` lists elements,
 * draw(state, results) fills them, say(state, results) is heard after a pause.
 */
export function explorable({ label, hint, inputs, looks = [], compute, build }) {
  function render({ model, el }) {
    const get = () => Object.fromEntries(inputs.map((name) => [name, model.get(name)]));
    const set = (changes) => {
      for (const [name, value] of Object.entries(changes)) model.set(name, value);
      model.save_changes();
    };
    const start = get();
    let update;
    function make() {
      const { body, draw, say } = build({ get, set, start }), region = h("p", { class: "ex-heard", "aria-live": "polite" });
      const head = h("div", { class: "ex-head" }, h("p", {}, hint), h("button", { type: "button", class: "ex-button", onclick: () => set(start) }, "Reset"));
      const root = h("div", { class: "ex", role: "group", "aria-label": label }, head, ...body, region);
      const speak = announcer(region);
      update = () => {
        const state = get(), results = compute(state);
        draw(state, results);
        speak(say(state, results));
      };
      keepKeys(root);
      update();
      el.replaceChildren(root);
    }
    make();
    const redraw = perFrame(() => update()), remake = perFrame(make);
    const each = (way) => inputs.forEach((name) => model[way](`change:${name}`, looks.includes(name) ? remake : redraw));
    each("on");
    return () => each("off");
  }
  return { render };
}
