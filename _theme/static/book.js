// What the pages do beyond reading: theme, search, copy, and a few helps. Without it every page still reads.
const root = document.documentElement;
const $ = selector => document.querySelector(selector);
const $$ = selector => [...document.querySelectorAll(selector)];

// Theme: automatic, light, dark, in turn.
const themes = { auto: "Theme: as your device", light: "Theme: light", dark: "Theme: dark" };
const themeButton = $(".tool.theme");
function showTheme(theme) {
  root.dataset.theme = theme;
  themeButton.title = themes[theme];
  themeButton.setAttribute("aria-label", themes[theme]);
}
showTheme(root.dataset.theme in themes ? root.dataset.theme : "auto");
themeButton.addEventListener("click", () => {
  const names = Object.keys(themes);
  const next = names[(names.indexOf(root.dataset.theme) + 1) % names.length];
  showTheme(next);
  try { localStorage.setItem("theme", next); } catch { /* the reader stores nothing: it lasts for this page */ }
});

// Search: the link leads to the search page; here it opens a field.
const dialog = $("#search");
function openSearch(event) {
  event.preventDefault();
  if (!dialog.open) dialog.showModal();
  dialog.querySelector("input").select();
}
$(".tool.search").addEventListener("click", event => event.ctrlKey || event.metaKey || openSearch(event));
addEventListener("keydown", event => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") openSearch(event);
});
dialog.addEventListener("click", event => event.target === dialog && dialog.close());

// Copy: a button beside all code, but not beside what it printed.
for (const cell of $$("div.highlight")) {
  if (cell.closest(".cell_output")) continue;
  const button = document.createElement("button");
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(cell.querySelector("pre").textContent.trimEnd());
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  cell.append(button);
}

// What scrolls sideways gets a tab stop, so that the arrow keys can scroll it, and loses it when it fits again.
const scrolling = new ResizeObserver(entries => {
  for (const { target } of entries) {
    const box = target.closest(".scrolls, pre, .table") || target;
    if (box.scrollWidth > box.clientWidth) {
      box.tabIndex = 0;
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", box.dataset.scrolls || (box.matches("pre") ? "Code" : "Table"));
    } else {
      for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
    }
  }
});
$$("article .scrolls, article pre").forEach(box => scrolling.observe(box));

// Back to top: shown when the reader scrolls up, far down a page.
const top_ = $(".top");
let last = 0;
addEventListener("scroll", () => {
  if (Math.abs(scrollY - last) < 8) return;
  top_.hidden = scrollY > last || scrollY < 2 * innerHeight;
  last = scrollY;
}, { passive: true });

// The part of the page that is being read, marked in its contents.
const links = new Map($$("#page a[href^='#']").map(a => [a.hash.slice(1), a]));
const reading = new IntersectionObserver(entries => {
  const seen = entries.find(entry => entry.isIntersecting);
  if (!seen) return;
  links.forEach(a => a.removeAttribute("aria-current"));
  links.get(seen.target.id)?.setAttribute("aria-current", "location");
}, { rootMargin: "-10% 0px -80%" });
links.forEach((_, id) => id && reading.observe(document.getElementById(id)));

// A link inside an open menu closes it, also where the page stays.
for (const menu of $$("[popover]")) {
  menu.addEventListener("click", event => event.target.closest("a") && menu.matches(":popover-open") && menu.hidePopover());
}
