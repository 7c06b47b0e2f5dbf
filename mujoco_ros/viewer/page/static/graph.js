// The graph of a state machine: boxes and arrows as SVG elements, see page/graph.py.
// It scrolls to the active state whenever that changes.

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 26; // of a box
const LEAST = 0.3;
const MOST = 2;

function draw(tag, attributes, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

function button(label, name, act) {
  const element = Object.assign(document.createElement("button"), { type: "button", textContent: label });
  element.className = "button";
  element.setAttribute("aria-label", name);
  element.addEventListener("click", act);
  return element;
}

export default function graph(root, options) {
  const view = document.createElement("div");
  view.className = "graph-view";
  view.tabIndex = 0;
  view.setAttribute("role", "group");
  view.setAttribute("aria-label", `${options.name}, scrollable`);
  const picture = draw("svg", { role: "img", viewBox: `0 0 ${options.width} ${options.height}` });
  const boxes = new Map();
  const links = new Map();
  for (const [start, goal, path, head, labels] of options.links) {
    const link = draw("g", { class: "graph-link" });
    link.append(draw("title", {}, labels), draw("path", { d: path }), draw("polygon", { points: head }));
    links.set(`${start}\n${goal}`, link);
    picture.append(link);
  }
  for (const [name, label, x, y, width] of options.boxes) {
    const height = HEIGHT;
    const box = draw("g", { class: "graph-state" });
    box.append(
      draw("title", {}, name),
      draw("rect", { x, y, width, height, rx: 5 }),
      draw("text", { x: x + width / 2, y: y + height / 2 }, label),
    );
    box.area = { x: x + width / 2, y: y + height / 2 };
    boxes.set(name, box);
    picture.append(box);
  }
  view.append(picture);

  let scale = 0; // 0 follows the width of the panel
  let active = "";
  const fitting = () => Math.min(1.15, Math.max(0.7, view.clientWidth / options.width));
  function whole() {
    const room = parseFloat(getComputedStyle(view).maxHeight) - 2;
    return Math.min(fitting(), view.clientWidth / options.width, room / options.height);
  }
  function show() {
    const used = scale || fitting();
    picture.style.width = `${options.width * used}px`;
    picture.style.height = `${options.height * used}px`;
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
  const tools = Object.assign(document.createElement("div"), { className: "graph-tools" });
  tools.append(
    button("−", "Smaller graph", () => zoomBy(0.8)),
    button("+", "Larger graph", () => zoomBy(1.25)),
    button("All", "Whole graph", () => zoom(whole())),
    button("Follow", "Follow the active state", () => zoom(0)),
  );
  root.append(view, tools);
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
