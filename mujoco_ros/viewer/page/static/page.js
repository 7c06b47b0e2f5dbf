// What the page does without the viewer: theme, full screen, sizes of areas, menus, keys of tabs.

// Keeps values for a page whose browser forbids storage: it throws wherever a script uses it.
class Memory {
  getItem(name) { return this[name] ?? null; }
  setItem(name, value) { this[name] = String(value); }
  removeItem(name) { delete this[name]; }
}
for (const name of ["localStorage", "sessionStorage"]) {
  try {
    window[name].getItem("");
  } catch {
    Object.defineProperty(window, name, { value: new Memory() });
  }
}

const root = document.documentElement;
const kept = (name) => localStorage.getItem(`mujoco_ros.${name}`);
const keep = (name, value) => localStorage.setItem(`mujoco_ros.${name}`, value);
const SIZES = { left: "--left", right: "--right", bottom: "--bottom" };
const LEAST = 140;

const narrow = matchMedia("(max-width: 699px), (max-height: 479px)");

root.dataset.theme = kept("theme") ?? "system";
function followWidth() {
  root.toggleAttribute("data-narrow", location.pathname === "/phone" || narrow.matches);
  document.dispatchEvent(new CustomEvent("narrow"));
}
narrow.addEventListener("change", followWidth);
followWidth();
document.getElementById("popup").textContent = "reconnecting…"; // shown without a connection
for (const [area, property] of Object.entries(SIZES))
  if (+kept(area) >= LEAST) root.style.setProperty(property, `${+kept(area)}px`);

function resize(area, size) {
  const most = (area === "bottom" ? innerHeight : innerWidth) * 0.6;
  const bounded = Math.round(Math.min(most, Math.max(LEAST, size)));
  root.style.setProperty(SIZES[area], `${bounded}px`);
  document.querySelector(`[data-divides=${area}]`).setAttribute("aria-valuenow", bounded);
  keep(area, bounded);
}

const sizeOf = (area) => {
  const box = document.querySelector(`.area.${area}`).getBoundingClientRect();
  return area === "bottom" ? box.height : box.width;
};

// The input of files; none while the page has no control.
const fileInput = () => document.querySelector(".file-drop input[type=file]");
const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");
document.addEventListener("dragover", (event) => carriesFiles(event) && event.preventDefault());
document.addEventListener("drop", (event) => {
  if (!carriesFiles(event)) return;
  event.preventDefault();
  const input = fileInput();
  if (!input) return document.dispatchEvent(new CustomEvent("refused"));
  input.files = event.dataTransfer.files;
  input.dispatchEvent(new Event("change"));
});

const ACTIONS = {
  theme() {
    const order = ["system", "light", "dark"];
    root.dataset.theme = order[(order.indexOf(root.dataset.theme) + 1) % order.length];
    keep("theme", root.dataset.theme);
  },
  "full-screen"() {
    if (document.fullscreenElement) document.exitFullscreen();
    else document.querySelector(".scene").requestFullscreen();
  },
  "choose-file": () => fileInput()?.click(),
  present: () => root.toggleAttribute("data-present"),
  resetSizes() {
    for (const [area, property] of Object.entries(SIZES)) {
      root.style.removeProperty(property);
      localStorage.removeItem(`mujoco_ros.${area}`);
    }
  },
};
document.addEventListener("action", ({ detail }) => ACTIONS[detail]?.());

document.addEventListener("click", (event) => {
  ACTIONS[event.target.closest("[data-action]")?.dataset.action]?.();
  for (const menu of document.querySelectorAll("details.menu[open]"))
    if (!menu.contains(event.target) || event.target.closest(".menu-items")) menu.open = false;
});

document.addEventListener("pointerdown", (event) => {
  const area = event.target.dataset?.divides;
  if (!area) return;
  event.preventDefault();
  const [x, y, size] = [event.clientX, event.clientY, sizeOf(area)];
  const move = ({ clientX, clientY }) =>
    resize(area, size + { left: clientX - x, right: x - clientX, bottom: y - clientY }[area]);
  const end = () => {
    removeEventListener("pointermove", move);
    removeEventListener("pointerup", end);
  };
  addEventListener("pointermove", move);
  addEventListener("pointerup", end);
});

document.addEventListener("focusin", ({ target }) => {
  const area = target.dataset?.divides;
  if (area) target.setAttribute("aria-valuenow", Math.round(sizeOf(area)));
});

document.addEventListener("keydown", (event) => {
  const steps = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };
  const step = steps[event.key];
  const area = event.target.dataset?.divides;
  if (area && step) {
    event.preventDefault();
    resize(area, sizeOf(area) + (area === "left" ? step : -step) * 20);
  }
  if (event.target.role === "tab" && step) {
    const tabs = [...event.target.parentElement.querySelectorAll("[role=tab]:not([hidden])")];
    const next = tabs.at((tabs.indexOf(event.target) + step) % tabs.length);
    event.preventDefault();
    next.focus();
    next.click();
  }
  if (event.key === "Escape") {
    const menu = document.querySelector("details.menu[open]");
    const isPresented = !menu && root.hasAttribute("data-present");
    if (!menu && !isPresented) return;
    event.preventDefault();
    if (isPresented) return ACTIONS.present();
    menu.open = false;
    menu.querySelector("summary").focus();
  }
  const isText = event.target.matches?.("input:not([type=checkbox], [type=range]), textarea");
  if ((event.key === "?" && !isText) || event.key === "F1") {
    event.preventDefault();
    document.querySelector("[data-window=keys]").togglePopover();
  }
  if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    document.querySelector("[data-window=search]").togglePopover();
  }
});
