// Elements whose text, value and state arrive in messages of their own, see page/live.py.
// Vue renders only the root of such an element; what is inside is changed here.

import { built, format, make, throttled } from "/page/elements.js";

const states = new Map(); // state of each element by its id
const updates = new Map(); // function that applies changes to a mounted element, by its id
let transit = 0;
let receivedAt = performance.now();

function apply(changes) {
  for (const [key, changed] of changes) {
    const state = { ...states.get(String(key)), ...changed };
    if (changed.append && state.lines) {
      const last = state.lines?.at(-1)?.[0] ?? 0;
      changed.append = changed.append.filter((line) => line[0] > last);
      state.lines = [...(state.lines ?? []), ...changed.append].slice(-1000);
    }
    delete state.append;
    states.set(String(key), state);
    updates.get(String(key))?.(changed, state);
  }
}

function attach() {
  if (!window.socket) return setTimeout(attach, 5);
  window.socket.on("live", (message, answer) => {
    apply(message.changes);
    transit = message.transit;
    receivedAt = performance.now();
    answer?.();
  });
}
attach();

setInterval(() => {
  const age = (performance.now() - receivedAt) / 1000 + transit;
  document.documentElement.dataset.panelsLagS = age.toFixed(2); // scene.js has the age of the scene
  document.documentElement.toggleAttribute("data-stale", age > 2);
}, 250);

const plain = (text) => Number(String(text).trim().replace(",", ".").replace("−", "-"));

function numberField(options, commit) {
  const field = make("input", { type: "text", inputMode: "decimal", autocomplete: "off",
    role: "spinbutton", name: options.name });
  if (options.low != null) field.setAttribute("aria-valuemin", options.low);
  if (options.high != null) field.setAttribute("aria-valuemax", options.high);
  let text = "";
  const bounded = (value) =>
    Math.min(options.high ?? Infinity, Math.max(options.low ?? -Infinity, value));
  const finish = () => {
    const value = plain(field.value);
    if (field.value !== text && field.value.trim() !== "" && Number.isFinite(value)) {
      field.value = text = String(bounded(value)); // what is sent
      commit(bounded(value));
    } else field.value = text;
  };
  field.addEventListener("blur", () => (field.value = text)); // also if the value was refused
  field.addEventListener("change", finish);
  field.addEventListener("focus", () => field.select());
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      field.value = text;
      field.blur();
      event.stopPropagation();
    }
    const sign = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!sign || !options.step || Number.isNaN(plain(field.value))) return;
    event.preventDefault();
    const raw = plain(field.value) + sign * options.step * (event.shiftKey ? 10 : 1);
    const digits = Math.max(0, 3 - Math.floor(Math.log10(options.step)));
    const value = bounded(+raw.toFixed(digits)); // without the rounding errors of the sum
    commit(value);
    field.value = text = String(value);
  });
  return {
    field,
    show(value) {
      text = value;
      field.setAttribute("aria-valuenow", plain(value));
      if (document.activeElement !== field) field.value = value;
    },
  };
}

// Scroll to an element as soon as the page shows it.
function reveal(element) {
  if (element.offsetParent) element.scrollIntoView({ block: "center" });
  else if (element.isConnected) requestAnimationFrame(() => reveal(element));
}

// A text, image, button or tab.
function simple(root, { alt }, emit) {
  if (root.localName === "img") root.alt = alt;
  if (root.localName === "button") {
    root.type = "button";
    root.addEventListener("click", () => emit(null));
  }
  return (changed) => {
    if ("text" in changed) root.textContent = changed.text;
    if (changed.src) root.src = changed.src;
    if (changed.found) requestAnimationFrame(() => reveal(root));
    if ("pressed" in changed) root.setAttribute("aria-pressed", changed.pressed);
    if ("selected" in changed) {
      root.setAttribute("aria-selected", changed.selected);
      root.tabIndex = changed.selected ? 0 : -1;
      if (changed.selected) requestAnimationFrame(() => root.scrollIntoView({ block: "nearest" }));
    }
  };
}

// Each function fills the root of an element and returns what applies changes to it.
// A kind that is not here is the default export of a module with its name.
const kinds = {
  text: simple, button: simple, tab: simple, image: simple,

  check(root, options, emit) {
    const onchange = () => emit(box.checked);
    const box = make("input", { type: "checkbox", name: options.name, onchange });
    root.append(box, make("span", {}, options.label));
    return (changed) => {
      if ("value" in changed) box.checked = changed.value;
    };
  },

  choice(root, options, emit) {
    root.addEventListener("change", () => emit(root.value));
    return (changed, state) => {
      if ("items" in changed)
        root.replaceChildren(...changed.items.map((item) => make("option", { value: item }, item)));
      if ("items" in changed || "value" in changed) root.value = state.value;
    };
  },

  field(root, options, emit) {
    root.type = options.type ?? "text";
    root.placeholder = options.placeholder ?? "";
    root.autocomplete = "off";
    root.spellcheck = false;
    const send = throttled(emit, 150);
    root.addEventListener(options.eager ? "input" : "change", () => send(root.value));
    return (changed) => {
      if ("value" in changed && root.value !== changed.value) root.value = changed.value;
    };
  },

  number(root, options, emit) {
    const number = numberField(options, emit);
    root.append(number.field);
    return (changed) => "value" in changed && number.show(changed.value);
  },

  slider(root, options, emit) {
    const { name, low, high } = options;
    const range = make("input", { type: "range", min: low, max: high, step: "any", name });
    const mark = make("span", { className: "mark", hidden: true });
    let shown = "", timer = 0;
    const send = throttled(emit);
    const show = () => {
      timer = 0;
      range.value = plain(shown);
      range.setAttribute("aria-valuetext", `${shown} ${options.unit ?? ""}`);
      number.show(shown);
    };
    const hold = (value) => { // values that arrive meanwhile are shown afterwards
      shown = format(value, options.digits);
      clearTimeout(timer);
      timer = setTimeout(show, 600);
    };
    const number = numberField({ ...options, name: `${name}, number` }, (value) => {
      range.value = value;
      hold(value);
      send(value);
    });
    root.append(make("span", { className: "track" }, range, mark), number.field);
    if (options.shownUnit) root.append(options.shownUnit);
    range.addEventListener("input", () => {
      hold(+range.value);
      number.show(shown);
      if (!options.late) send(+range.value);
    });
    if (options.late) range.addEventListener("change", () => send(+range.value));
    range.addEventListener("keydown", (event) => {
      const sign = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      if (!sign) return;
      event.preventDefault();
      range.value = +range.value + sign * options.step * (event.shiftKey ? 10 : 1);
      range.dispatchEvent(new Event("input"));
      range.dispatchEvent(new Event("change"));
    });
    return (changed) => {
      if ("value" in changed) {
        shown = format(plain(changed.value), options.digits);
        if (!timer) show();
      }
      if ("mark" in changed) {
        mark.style.left = `${100 * changed.mark}%`;
        mark.hidden = false;
      }
    };
  },

  // Copies the text of another element, or a link relative to the page.
  copy(root, options) {
    let link = null;
    root.type = "button";
    root.addEventListener("click", async () => {
      const text = link === null ? document.getElementById(options.source).innerText
        : new URL(link, location.href).href;
      await Quasar.copyToClipboard(text);
      root.textContent = "Copied";
      setTimeout(() => (root.textContent = options.label), 1200);
    });
    root.textContent = options.label;
    return (changed) => "link" in changed && (link = changed.link);
  },

  lines(root) {
    root.tabIndex = 0;
    root.setAttribute("role", "log");
    const isShown = (line, state) =>
      line[2] >= state.level && `${line[4]} ${line[5]}`.toLowerCase().includes(state.filter);
    const element = ([, time, level, name, node, text]) => {
      const cells = [time, name, node, text].map((words) => make("span", {}, words));
      const line = make("div", { className: "log-line" }, ...cells);
      line.dataset.tone = level >= 40 ? "bad" : level >= 30 ? "warning" : "";
      return line;
    };
    // Lines get their height when they come into view, so the end moves away without a scroll:
    // only a scroll upwards by the user ends the following.
    let [follows, lowest] = [true, 0];
    const follow = () => {
      if (!follows || !root.clientHeight) return;
      root.scrollTop = root.scrollHeight;
      lowest = root.scrollTop;
    };
    root.addEventListener("scroll", () => {
      if (!root.clientHeight) return; // hidden
      if (root.scrollTop + root.clientHeight >= root.scrollHeight - 4) follows = true;
      else if (root.scrollTop < lowest - 4) follows = false;
    });
    new ResizeObserver(follow).observe(root);
    return (changed, state) => {
      root.classList.toggle("wrap", state.wrap);
      if ("lines" in changed || "level" in changed || "filter" in changed)
        root.replaceChildren(...(state.lines ?? []).filter((line) => isShown(line, state)).map(element));
      else root.append(...(changed.append ?? []).filter((line) => isShown(line, state)).map(element));
      while (root.childElementCount > 1000) root.firstChild.remove();
      follow();
      requestAnimationFrame(follow);
    };
  },

  // Elements that are created again when they change, see `built`; attributes, and style.
  content(root) {
    return (changed) => {
      if ("tree" in changed) root.replaceChildren(...changed.tree.map((each) => built(each)));
      for (const [name, value] of Object.entries(changed.attributes ?? {}))
        if (value === null) root.removeAttribute(name);
        else root.setAttribute(name, value);
      for (const [name, value] of Object.entries(changed.style ?? {})) root.style.setProperty(name, value);
    };
  },
};

export default {
  props: ["kind", "root", "options", "initial"],
  emits: ["act"],
  render() {
    return Vue.h(this.root);
  },
  async mounted() {
    const root = this.$el;
    this.end = new AbortController(); // of what the element listens to outside itself
    const key = (this.key = root.id.slice(1));
    const kind = kinds[this.kind] ?? (await import(`/page/${this.kind}.js`)).default;
    if (this.end.signal.aborted) return;
    const emit = (value) => {
      const known = states.get(key) ?? {};
      if ("value" in known) known.value = value; // what it shows, also at its next place
      this.$emit("act", value);
    };
    const update = kind(root, this.options, emit, this.end.signal);
    const controls = () => [root, ...root.querySelectorAll("*")].filter((each) => "disabled" in each);
    const applied = (changed, state) => {
      if ("off" in changed) for (const each of controls()) each.disabled = changed.off;
      if ("tone" in changed) root.dataset.tone = changed.tone;
      if ("hidden" in changed) root.hidden = changed.hidden;
      if ("tip" in changed) root.title = changed.tip;
      update(changed, state);
    };
    const state = { ...this.initial, ...states.get(key) };
    states.set(key, state);
    updates.set(key, applied);
    applied(state, state);
  },
  unmounted() {
    this.end.abort();
    // An element that moves is mounted at its new place too.
    setTimeout(() => {
      if (document.getElementById(`c${this.key}`)) return;
      updates.delete(this.key);
      states.delete(this.key);
    });
  },
};
