// A table whose rows change, in the order of a column that the user chooses.

const number = (text) => Number.parseFloat(String(text).replace("−", "-"));

export default function sortedTable(root, options) {
  let [by, isDown] = options.sort;
  let rows = [];
  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
  root.setAttribute("aria-label", options.name);
  const line = make("tr"), head = make("thead"), body = make("tbody");
  const heads = options.columns.map(([label, unit, isNumber], at) => {
    const cell = make("th", { scope: "col", className: isNumber ? "" : "words" });
    const button = make("button", { type: "button", className: "sort", textContent: label });
    if (unit) button.append(make("span", { className: "unit", textContent: unit }));
    button.addEventListener("click", () => {
      [by, isDown] = [at, by === at ? !isDown : isNumber];
      show();
    });
    cell.append(button);
    line.append(cell);
    return cell;
  });
  head.append(line);
  root.append(head, body);

  function order(one, other) {
    if (!options.columns[by][2]) return String(one[by]).localeCompare(String(other[by]));
    const [a, b] = [number(one[by]), number(other[by])];
    return (Number.isNaN(a) ? -Infinity : a) - (Number.isNaN(b) ? -Infinity : b);
  }
  function show() {
    heads.forEach((cell, at) => {
      if (at === by) cell.setAttribute("aria-sort", isDown ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
    const sorted = [...rows].sort((one, other) => (isDown ? order(other, one) : order(one, other)));
    while (body.childElementCount > sorted.length) body.lastChild.remove();
    sorted.forEach((texts, index) => {
      let shown = body.children[index];
      if (!shown) {
        shown = make("tr");
        shown.append(...options.columns.map(([, , isNumber]) => make("td", { className: isNumber ? "" : "words" })));
        body.append(shown);
      }
      texts.slice(0, options.columns.length).forEach((text, at) => {
        if (shown.children[at].textContent !== text) shown.children[at].textContent = text;
      });
      shown.dataset.tone = texts[options.columns.length] ?? "";
    });
  }
  return (changed) => {
    if (!("rows" in changed)) return;
    rows = changed.rows;
    show();
  };
}
