// The balance of a robot from above, see page/panels/overlays.py: x of the world to the right.

const NAMESPACE = "http://www.w3.org/2000/svg";
const LEAST_M = 0.3; // width of the view [m]

export default function balanceView(root, options) {
  const svg = document.createElementNS(NAMESPACE, "svg");
  const words = document.createElement("div");
  svg.setAttribute("viewBox", "-1 -1 2 2");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", options.name);
  words.className = "legend-words";
  root.append(svg, words);
  const add = (tag, attributes, className) => {
    const element = document.createElementNS(NAMESPACE, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.setAttribute("class", className);
    svg.append(element);
  };
  return (changed, { shown }) => {
    if (!shown) return;
    svg.replaceChildren();
    const all = [...shown.support, ...shown.points.map(([, x, y]) => [x, y])];
    const [xs, ys] = [all.map(([x]) => x), all.map(([, y]) => y)];
    const middle = [(Math.min(...xs) + Math.max(...xs)) / 2, (Math.min(...ys) + Math.max(...ys)) / 2];
    const width = Math.max(LEAST_M, 1.25 * Math.max(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys)));
    const place = ([x, y]) => [(2 * (x - middle[0])) / width, (-2 * (y - middle[1])) / width];
    if (shown.support.length > 1)
      add("polygon", { points: shown.support.map((each) => place(each).join(",")).join(" ") }, shown.stable ? "stable" : "unstable");
    words.replaceChildren();
    for (const [name, x, y] of shown.points) {
      const [cx, cy] = place([x, y]);
      add("circle", { cx, cy, r: 0.05 }, `point ${name}`);
      const label = document.createElement("span");
      label.className = `label ${name}`;
      label.textContent = `${name.toUpperCase()} ${x.toFixed(3)}, ${y.toFixed(3)} m`.replaceAll("-", "−");
      words.append(label);
    }
    const scale = 10 ** Math.floor(Math.log10(width / 2));
    add("line", { x1: -0.95, y1: 0.93, x2: -0.95 + (2 * scale) / width, y2: 0.93 }, "scale");
    const length = document.createElement("span");
    length.textContent = `line: ${scale.toFixed(2)} m`;
    words.append(length);
  };
}
