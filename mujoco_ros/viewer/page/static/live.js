// Elements whose text, value and state arrive in messages of their own, see page/live.py.
// Vue renders only the root of such an element; what is inside is changed here.

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
  document.documentElement.dataset.lagS = age.toFixed(2);
  document.documentElement.toggleAttribute("data-stale", age > 2);
}, 250);

const make = (tag, properties = {}) => Object.assign(document.createElement(tag), properties);

function throttled(emit, period = 40) {
  let waiting = null;
  let timer = 0;
  return (value) => {
    waiting = { value };
    if (timer) return;
    const send = () => {
      timer = 0;
      if (!waiting) return;
      emit(waiting.value);
      waiting = null;
      timer = setTimeout(send, period);
    };
    send();
  };
}

const plain = (text) => Number(String(text).trim().replace(",", ".").replace("−", "-"));

function numberField(options, commit) {
  const field = make("input", { type: "text", inputMode: "decimal", autocomplete: "off" });
  field.setAttribute("role", "spinbutton");
  field.setAttribute("aria-label", options.name);
  if (options.low != null) field.setAttribute("aria-valuemin", options.low);
  if (options.high != null) field.setAttribute("aria-valuemax", options.high);
  let text = "";
  const bounded = (value) =>
    Math.min(options.high ?? Infinity, Math.max(options.low ?? -Infinity, value));
  const finish = () => {
    const value = plain(field.value);
    if (field.value !== text && field.value.trim() !== "" && Number.isFinite(value)) {
      text = String(bounded(value));
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
    if (!sign || !options.step) return;
    event.preventDefault();
    const value = bounded(plain(field.value) + sign * options.step * (event.shiftKey ? 10 : 1));
    commit(value);
    field.value = text = String(+value.toPrecision(9));
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

// Each function fills the root of an element and returns what applies changes to it.
// A kind that is not here is the default export of a module with its name.
const kinds = {
  text(root) {
    return (changed) => {
      if ("text" in changed) root.textContent = changed.text;
      if ("title" in changed) root.title = changed.title;
    };
  },

  button(root, options, emit) {
    root.type = "button";
    if (options.name) root.setAttribute("aria-label", options.name);
    root.addEventListener("click", () => emit(null));
    return (changed) => {
      if ("text" in changed) root.textContent = changed.text;
      if ("pressed" in changed) root.setAttribute("aria-pressed", changed.pressed);
    };
  },

  tab(root, options, emit) {
    root.type = "button";
    root.setAttribute("role", "tab");
    root.addEventListener("click", () => emit(null));
    return (changed) => {
      if ("text" in changed) root.textContent = changed.text;
      if ("selected" in changed) {
        root.setAttribute("aria-selected", changed.selected);
        root.tabIndex = changed.selected ? 0 : -1;
      }
    };
  },

  check(root, options, emit) {
    const box = make("input", { type: "checkbox" });
    root.append(box, make("span", { textContent: options.label }));
    if (options.name) box.setAttribute("aria-label", options.name);
    box.addEventListener("change", () => emit(box.checked));
    return (changed) => {
      if ("value" in changed) box.checked = changed.value;
    };
  },

  choice(root, options, emit) {
    root.setAttribute("aria-label", options.name);
    root.addEventListener("change", () => emit(root.value));
    return (changed, state) => {
      if ("items" in changed)
        root.replaceChildren(...changed.items.map((item) => make("option", { value: item, textContent: item })));
      if ("items" in changed || "value" in changed) root.value = state.value;
    };
  },

  field(root, options, emit) {
    root.type = options.type ?? "text";
    root.setAttribute("aria-label", options.name);
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
    const range = make("input", { type: "range", min: options.low, max: options.high, step: "any" });
    range.setAttribute("aria-label", options.name);
    const mark = make("span", { className: "mark", hidden: true });
    const track = make("span", { className: "track" });
    track.append(range, mark);
    let heldUntil = 0;
    const send = throttled(emit);
    const hold = () => (heldUntil = performance.now() + 600);
    const number = numberField({ ...options, name: `${options.name}, number` }, (value) => {
      range.value = value;
      hold();
      send(value);
    });
    root.append(track, number.field);
    range.addEventListener("input", () => {
      hold();
      number.show((+range.value).toFixed(options.digits).replace("-", "−"));
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
      if ("value" in changed && performance.now() > heldUntil) {
        range.value = plain(changed.value);
        range.setAttribute("aria-valuetext", `${changed.value} ${options.unit ?? ""}`);
        number.show(changed.value);
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
    root.setAttribute("aria-label", options.name);
    root.addEventListener("click", async () => {
      const text = link === null ? document.getElementById(options.source).innerText
        : new URL(link, location.href).href;
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        const area = make("textarea", { value: text });
        document.body.append(area);
        area.select();
        document.execCommand("copy");
        area.remove();
      }
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
      const line = make("div", { className: "log-line" });
      line.dataset.tone = level >= 40 ? "bad" : level >= 30 ? "warning" : "";
      line.append(...[time, name, node, text].map((words) => make("span", { textContent: words })));
      return line;
    };
    return (changed, state) => {
      const isAtEnd = root.scrollTop + root.clientHeight >= root.scrollHeight - 4;
      root.classList.toggle("wrap", state.wrap);
      if ("lines" in changed || "level" in changed || "filter" in changed)
        root.replaceChildren(...(state.lines ?? []).filter((line) => isShown(line, state)).map(element));
      else root.append(...(changed.append ?? []).filter((line) => isShown(line, state)).map(element));
      while (root.childElementCount > 1000) root.firstChild.remove();
      if (isAtEnd) root.scrollTop = root.scrollHeight;
    };
  },

  image(root, options) {
    root.alt = options.alt;
    return (changed) => {
      if (changed.src) root.src = changed.src;
    };
  },

  rows(root, options) {
    const head = make("tr");
    for (const [label, unit, wide] of options.columns) {
      const cell = make("th", { scope: "col", className: wide ? "wide" : "" });
      cell.append(label, make("span", { className: "unit", textContent: unit }));
      head.append(cell);
    }
    const body = make("tbody");
    root.append(make("thead"), body);
    root.firstChild.append(head);
    const row = ([tone, ...texts]) => {
      const line = make("tr");
      line.dataset.tone = tone;
      const cell = (text, at) => make("td", { textContent: text, className: options.columns[at]?.[2] ? "wide" : "" });
      line.append(...texts.map(cell));
      return line;
    };
    return (changed) => "rows" in changed && body.replaceChildren(...changed.rows.map(row));
  },

  progress(root, options) {
    root.max = 100;
    root.setAttribute("aria-label", options.name);
    return (changed) => {
      if (!("value" in changed)) return;
      if (changed.value === "") root.removeAttribute("value");
      else root.value = +changed.value;
    };
  },

  bar(root, options) {
    const fill = make("span", { className: "fill" });
    const text = make("span", { className: "text" });
    root.setAttribute("role", "meter");
    root.setAttribute("aria-label", options.name);
    root.append(fill, text);
    return (changed) => {
      if ("share" in changed) {
        const share = Math.max(-1, Math.min(1, changed.share));
        fill.style.width = `${50 * Math.abs(share)}%`;
        fill.style.left = `${share < 0 ? 50 + 50 * share : 50}%`;
        root.setAttribute("aria-valuenow", Math.round(100 * share));
        root.setAttribute("aria-valuemin", -100);
        root.setAttribute("aria-valuemax", 100);
        root.dataset.tone = Math.abs(share) > 0.95 ? "bad" : Math.abs(share) > 0.8 ? "warning" : "";
      }
      if ("text" in changed) {
        text.textContent = changed.text;
        root.setAttribute("aria-valuetext", changed.text);
      }
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
    const key = (this.key = root.id.slice(1));
    const kind = kinds[this.kind] ?? (await import(`/page/${this.kind}.js`)).default;
    const update = kind(root, this.options, (value) => this.$emit("act", value));
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
    // An element that moves is mounted at its new place too.
    setTimeout(() => {
      if (document.getElementById(`c${this.key}`)) return;
      updates.delete(this.key);
      states.delete(this.key);
    });
  },
};
