// Brings the explorables of a page to life where no kernel answers. Each stands in the page as
// <div class="explorable" data-module="plane" data-state="{…}">, and runs the module that Jupyter runs.

/** As much of anywidget's model as our modules use, around a plain object. */
export function model(state) {
  const values = { ...state }, listeners = {};
  return {
    get: (name) => values[name],
    set(name, value) {
      if (Object.is(values[name], value)) return;
      values[name] = value;
      (listeners[`change:${name}`] ?? []).forEach((f) => f());
    },
    save_changes() {},
    on: (event, f) => (listeners[event] ??= new Set()).add(f),
    off: (event, f) => listeners[event]?.delete(f),
  };
}

/** Put the living thing before what Python wrote, which stays for paper; if it fails, that is what is seen. */
export async function mount(el, module) {
  const box = document.createElement("div");
  try {
    await module.default.render({ model: model(JSON.parse(el.dataset.state)), el: box });
    el.prepend(box);
    el.classList.add("ex-alive");
  } catch (error) {
    console.error(`The explorable ${el.dataset.module} stays as it is:`, error);
  }
}

for (const el of document.querySelectorAll(".explorable")) {
  import(`./${el.dataset.module}.js`).then((module) => mount(el, module));
}
