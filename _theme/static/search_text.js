// What the search shows of a page: its text, without formulas' second copy, figures and controls.
const htmlToText = Search.htmlToText;
Search.htmlToText = (html, anchor) => {
  const page = new DOMParser().parseFromString(html, "text/html");
  page.querySelectorAll(".katex-html, svg, nav, .actions").forEach(element => element.remove());
  return htmlToText(page.documentElement.outerHTML, anchor);
};
