// A table whose rows change; one with `sort` is in the order of a column that the user chooses.

import { make, setText } from "./elements.js";

function number(text) {
  const value = Number.parseFloat(text.replace("−", "-"));
  return Number.isNaN(value) ? -Infinity : value;
}

export default function table(root, { columns, sort }) {
  let [by, isDown] = sort ?? [];
  let rows = [];
  const body = make("tbody");
  const heads = columns.map(([label, unit, className], at) => {
    const words = [label, make("span", { className: "unit", textContent: unit })];
    if (!sort) return make("th", { scope: "col", className }, ...words);
    const onclick = () => {
      [by, isDown] = [at, by === at ? !isDown : className !== "words"];
      show();
    };
    const button = make("button", { type: "button", className: "sort", onclick }, ...words);
    return make("th", { scope: "col", className }, button);
  });
  root.append(make("thead", {}, make("tr", {}, ...heads)), body);

  function order([, ...one], [, ...other]) {
    const way = isDown ? -1 : 1;
    if (columns[by][2] === "words") return way * one[by].localeCompare(other[by]);
    return way * (number(one[by]) - number(other[by]));
  }
  function show() {
    heads.forEach((cell, at) => {
      if (at === by) cell.setAttribute("aria-sort", isDown ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
    const sorted = sort ? [...rows].sort(order) : rows;
    while (body.childElementCount > sorted.length) body.lastChild.remove();
    sorted.forEach(([tone, ...texts], index) => {
      if (!body.children[index])
        body.append(make("tr", {}, ...columns.map(([, , className]) => make("td", { className }))));
      const line = body.children[index];
      [...line.children].forEach((cell, at) => {
        const text = texts[at] ?? "";
        setText(cell, text);
        // A share has a bar behind its number.
        if (columns[at][1] !== "%") return;
        cell.classList.toggle("share", text !== "");
        cell.style.setProperty("--share", `${Math.min(100, Math.max(0, number(text)))}%`);
      });
      line.dataset.tone = tone;
    });
  }
  return (changed) => {
    if (!("rows" in changed)) return;
    rows = changed.rows;
    show();
  };
}
