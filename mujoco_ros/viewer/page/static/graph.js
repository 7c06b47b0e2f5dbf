// The graph of a state machine: boxes and arrows as SVG elements, see page/graph.py.
// It scrolls to the active state whenever that changes.

import { make, svg } from "./elements.js";

const HEIGHT = 26; // of a box
const LEAST = 0.3;
const MOST = 2;

const button = (label, name, onclick) =>
  make("button", { type: "button", className: "button", name, onclick }, label);

export default function graph(root, options) {
  const { width, height } = options;
  const picture = svg("svg", { role: "img", viewBox: `0 0 ${width} ${height}` });
  const view = make("div", { className: "graph-view", tabIndex: 0, role: "group",
    name: `${options.name}, scrollable` }, picture);
  const boxes = new Map();
  const links = new Map();
  for (const [start, goal, path, head, labels] of options.links) {
    const link = svg("g", { class: "graph-link" }, svg("title", {}, labels),
      svg("path", { d: path }), svg("polygon", { points: head }));
    links.set(`${start}\n${goal}`, link);
    picture.append(link);
  }
  for (const [name, label, x, y, width] of options.boxes) {
    const middle = { x: x + width / 2, y: y + HEIGHT / 2 };
    const box = svg("g", { class: "graph-state" }, svg("title", {}, name),
      svg("rect", { x, y, width, height: HEIGHT, rx: 5 }), svg("text", middle, label));
    box.area = middle;
    boxes.set(name, box);
    picture.append(box);
  }

  let scale = 0; // 0 follows the width of the panel
  let active = "";
  const fitting = () => Math.min(1.15, Math.max(0.7, view.clientWidth / width));
  function whole() {
    const room = parseFloat(getComputedStyle(view).maxHeight) - 2;
    return Math.min(fitting(), view.clientWidth / width, room / height);
  }
  function show() {
    const used = scale || fitting();
    picture.style.width = `${width * used}px`;
    picture.style.height = `${height * used}px`;
    const box = boxes.get(active);
    if (!box) return;
    view.scrollTo({
      left: box.area.x * used - view.clientWidth / 2,
      top: box.area.y * used - view.clientHeight / 2,
    });
  }
  function zoom(next) {
    scale = next;
    show();
  }
  const zoomBy = (factor) => zoom(Math.min(MOST, Math.max(Math.min(LEAST, whole()), (scale || fitting()) * factor)));
  view.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoomBy(Math.exp(-event.deltaY / 300));
    },
    { passive: false },
  );
  root.append(view, make("div", { className: "graph-tools" },
    button("−", "Smaller graph", () => zoomBy(0.8)),
    button("+", "Larger graph", () => zoomBy(1.25)),
    button("All", "Whole graph", () => zoom(whole())),
    button("Follow", "Follow the active state", () => zoom(0))));
  new ResizeObserver(() => show()).observe(view);

  return (changed, state) => {
    if ("active" in changed || "look" in changed || "visited" in changed) {
      for (const [name, box] of boxes) {
        const look = name === state.active ? state.look : state.visited.includes(name) ? "visited" : "";
        box.dataset.look = look;
      }
      picture.setAttribute("aria-label", `${options.name}: ${state.active || "unknown"} is active`);
    }
    if ("available" in changed) {
      for (const link of links.values()) link.removeAttribute("data-look");
      for (const [start, goal] of state.available) {
        const link = links.get(`${start}\n${goal}`);
        if (!link) continue;
        link.dataset.look = "available";
        picture.insertBefore(link, boxes.values().next().value); // over the other arrows
      }
    }
    if ("active" in changed && state.active !== active) {
      active = state.active;
      show();
    }
  };
}
