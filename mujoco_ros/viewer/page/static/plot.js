// Plots of curves with one axis of time, see page/chart.py.

import { Series, decimals, limits, ticks, trace } from "./curves.js";
import { format, make, setText } from "./elements.js";

const LEFT = 54, BOTTOM = 18, TOP = 4, RIGHT = 6; // room around a plot [px]
const SPANS = [1, 2, 5, 10, 20, 60];
const COLOURS = ["#1f5fbf #74a9ff", "#c4501b #ff9d6b", "#1a7f37 #56d178", "#9a2a9a #e18be1",
  "#8a6100 #e8bf4a", "#0a7d8c #4fd0e0", "#b3203f #ff8098", "#5b5bd6 #aaaaff", "#5f6b2e #b9c96f",
  "#59626d #b4bcc6"].map((pair) => `light-dark(${pair.replace(" ", ", ")})`);

export default function chart(root, options, emit, signal) {
  const series = new Map(); // samples by the number of the curve
  const hidden = new Set(); // names of hidden curves
  let plots = [], state = {}, detail = null;
  let span = 0, held = null, cursors = null, hover = null, colours = null, frame = 0, timer = 0;

  const button = (label, act, name = label) =>
    make("button", { type: "button", className: "control button", name, onclick: act }, label);
  const choice = make("select", { className: "control", name: "Span" },
    ...SPANS.map((seconds) => make("option", { value: seconds }, `${seconds} s`)));
  choice.onchange = () => {
    emit({ kind: "span", value: +choice.value });
    setSpan(+choice.value);
  };
  const freeze = button("Freeze", () => hold(held ? null : range()));
  const measure = button("Cursors", () => {
    const [begin, end] = range();
    cursors = cursors ? null : [begin + (end - begin) / 3, end - (end - begin) / 3];
    if (cursors) hold([begin, end]);
    else redraw();
  });
  const tools = make("div", { className: "row", role: "toolbar", name: "Time" }, freeze, choice,
    measure, button("PNG", picture, "Save the plots as PNG"),
    button("CSV", () => emit({ kind: "csv" }), "Save the samples as CSV"));
  const area = make("div", { className: "plots" });
  const readout = make("table", { className: "table", name: "Values at the cursors" });
  root.append(tools, make("div", { className: "plots-row" }, area, readout));

  const newest = () => Math.max(...[...series.values()].filter((one) => one.count)
    .map((one) => one.times[one.count - 1]), -Infinity);
  function range() {
    const end = Number.isFinite(newest()) ? newest() : 0;
    return held ?? [end - span, end];
  }
  function setSpan(seconds) {
    [span, choice.value] = [seconds, seconds];
    hold(null);
  }
  function hold(next) {
    const half = next && Math.max(next[1] - next[0], 1e-3) / 2;
    held = next && [(next[0] + next[1]) / 2 - half, (next[0] + next[1]) / 2 + half];
    clearTimeout(timer);
    if (held) timer = setTimeout(() => emit({ kind: "range", value: held }), 200);
    setText(freeze, held ? "Continue" : "Freeze");
    freeze.setAttribute("aria-label", freeze.textContent);
    redraw();
  }
  const redraw = () => (frame ||= requestAnimationFrame(draw));

  function build() {
    plots = state.plots.map(([unit, label, curves]) => {
      const legend = make("div", { className: "legend", role: "table", name: `Values of ${label}` });
      const canvas = make("canvas", { role: "img", name: `Plot of ${label} over time` });
      const body = make("div", { className: "plot-body", tabIndex: 0, role: "group", name:
        `${label}: arrow keys move and zoom, Home follows the newest values` }, canvas);
      const plot = { label, canvas, body, curves: curves.map(([number, name, short], index) => {
        const key = `${unit} ${name}`;
        const value = make("span", { className: "figure", role: "cell" });
        const toggle = button(short, () => {
          if (!hidden.delete(key)) hidden.add(key);
          toggle.setAttribute("aria-pressed", !hidden.has(key));
          redraw();
        }, name);
        toggle.title = name;
        toggle.setAttribute("aria-pressed", !hidden.has(key));
        toggle.style.setProperty("--curve", COLOURS[index % COLOURS.length]);
        legend.append(make("div", { role: "row" }, make("span", { role: "cell" }, toggle), value));
        if (!series.has(number)) series.set(number, new Series());
        return { number, name, key, value, colour: index % COLOURS.length };
      }) };
      operate(plot);
      plot.element = make("figure", { className: "plot" },
        make("figcaption", {}, make("strong", {}, label), legend), body);
      return plot;
    });
    area.replaceChildren(...plots.map((plot) => plot.element));
    const known = new Set(plots.flatMap((plot) => plot.curves.map((curve) => curve.number)));
    for (const number of series.keys()) if (!known.has(number)) series.delete(number);
    for (const plot of plots) resized.observe(plot.body);
  }

  function operate({ body, canvas }) {
    const time = (event) => {
      const box = canvas.getBoundingClientRect();
      const [begin, end] = range();
      return begin + ((end - begin) * (event.clientX - box.left - LEFT)) / (box.width - LEFT - RIGHT);
    };
    const zoom = (factor, about) => hold(range().map((edge) => about + factor * (edge - about)));
    body.addEventListener("wheel", (event) => {
      event.preventDefault();
      const [begin, end] = range();
      const turn = event.deltaY || event.deltaX;
      if (event.shiftKey) hold([begin, end].map((edge) => edge + 1e-3 * turn * (end - begin)));
      else zoom(Math.exp(2e-3 * turn), held ? time(event) : end);
    }, { passive: false });
    body.addEventListener("dblclick", () => {
      hold(null);
      emit({ kind: "show", value: null });
    });
    body.addEventListener("pointermove", (event) => ((hover = time(event)), redraw()));
    body.addEventListener("pointerleave", () => ((hover = null), redraw()));
    body.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      const [start, at, begun, px] = [range(), time(event), event.clientX, canvas.clientWidth - LEFT - RIGHT];
      const near = (mark) => Math.abs(mark - at) * px < 6 * (start[1] - start[0]);
      const cursor = cursors?.findIndex(near) ?? -1;
      let isMoved = false;
      body.setPointerCapture(event.pointerId);
      const move = (event) => {
        isMoved ||= Math.abs(event.clientX - begun) > 3;
        if (!isMoved) return;
        const shift = ((begun - event.clientX) * (start[1] - start[0])) / px;
        if (cursor >= 0) ((cursors[cursor] = time(event)), redraw());
        else if (!event.shiftKey) hold(start.map((edge) => edge + shift));
      };
      const end = (event) => {
        body.removeEventListener("pointermove", move);
        if (event.type === "pointercancel" || cursor >= 0) return;
        if (!isMoved && event.detail < 2) emit({ kind: "show", value: at });
        else if (isMoved && event.shiftKey) hold([at, time(event)].sort((a, b) => a - b));
      };
      body.addEventListener("pointermove", move);
      body.addEventListener("pointerup", end, { once: true });
      body.addEventListener("pointercancel", end, { once: true });
    });
    body.addEventListener("keydown", (event) => {
      const [begin, end] = range();
      const shift = { ArrowLeft: -0.1, ArrowRight: 0.1 }[event.key];
      const factor = { ArrowUp: 0.8, "+": 0.8, ArrowDown: 1.25, "-": 1.25 }[event.key];
      if (shift) hold([begin, end].map((edge) => edge + shift * (end - begin)));
      else if (factor) zoom(factor, held ? (begin + end) / 2 : end);
      else if (event.key === "Home") hold(null);
      else return;
      event.preventDefault();
    });
  }

  // Colours as they are in the light or dark page
  function resolve() {
    const probe = root.appendChild(make("span"));
    const of = (colour) => ((probe.style.color = colour), getComputedStyle(probe).color);
    colours = { curves: COLOURS.map(of) };
    for (const name of ["words", "muted", "line", "warning", "surface", "accent"])
      colours[name] = of(`var(--${name})`);
    probe.remove();
  }

  function paint(plot, context, width, height) {
    const view = range();
    const isDetailed = detail && detail.begin <= view[0] && view[1] <= detail.end;
    const curves = plot.curves.filter((curve) => !hidden.has(curve.key)).map((curve) =>
      ({ ...curve, series: (isDetailed && detail.series.get(curve.number)) || series.get(curve.number) }));
    const [low, high] = limits(curves, view);
    const [right, bottom] = [width - RIGHT, height - BOTTOM];
    const x = (time) => LEFT + ((time - view[0]) / (view[1] - view[0])) * (right - LEFT);
    const y = (value) => TOP + ((high - value) / (high - low)) * (bottom - TOP);
    plot.digits = decimals(high - low) + 3;
    context.font = "11px system-ui, sans-serif";
    context.lineWidth = 1;
    const vertical = (at, colour, dash = []) => {
      if (!(at >= LEFT - 0.5 && at <= right + 0.5)) return;
      Object.assign(context, { strokeStyle: colour });
      context.setLineDash(dash);
      context.beginPath();
      context.moveTo(at, TOP);
      context.lineTo(at, bottom);
      context.stroke();
      context.setLineDash([]);
    };
    const across = ticks(...view, Math.max(2, (right - LEFT) / 80));
    const up = ticks(low, high, Math.max(2, (bottom - TOP) / 28));
    context.fillStyle = colours.muted;
    context.textAlign = "center";
    for (const time of across.at) {
      vertical(x(time), colours.line);
      context.fillText(format(time, across.digits), x(time), height - 5);
    }
    context.textAlign = "right";
    for (const value of up.at) {
      context.beginPath();
      context.moveTo(LEFT, y(value));
      context.lineTo(right, y(value));
      context.stroke();
      context.fillText(format(value, up.digits), LEFT - 5, Math.max(y(value) + 4, 10), LEFT - 6);
    }
    context.save();
    context.beginPath();
    context.rect(LEFT, 0, right - LEFT, height);
    context.clip();
    Object.assign(context, { lineWidth: 1.5, lineJoin: "round", lineCap: "round" });
    for (const curve of curves) {
      context.strokeStyle = colours.curves[curve.colour];
      trace(context, curve.series, view, x, y, right - LEFT);
    }
    context.textAlign = "left";
    for (const [time, label] of state.marks ?? []) {
      vertical(x(time), colours.muted, [3, 3]);
      context.fillText(label, x(time) + 3, TOP + 9);
    }
    context.restore();
    if (hover !== null) vertical(x(hover), colours.line);
    for (const time of cursors ?? []) vertical(x(time), colours.accent);
    if (state.shown != null) vertical(x(state.shown), colours.warning);
  }

  function draw() {
    frame = 0;
    if (!area.offsetParent) return;
    if (!colours) resolve();
    const ratio = devicePixelRatio || 1;
    for (const plot of plots) {
      const { canvas, body } = plot;
      const size = [body.clientWidth, body.clientHeight];
      const [width, height] = size.map((pixels) => Math.round(pixels * ratio));
      if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
      const context = canvas.getContext("2d");
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, ...size);
      paint(plot, context, ...size);
      const time = hover ?? state.shown ?? Infinity;
      for (const curve of plot.curves)
        setText(curve.value, format(series.get(curve.number).at(time), plot.digits));
    }
    showCursors();
  }

  function showCursors() {
    readout.hidden = !cursors;
    measure.setAttribute("aria-pressed", !!cursors);
    if (!cursors || readout.contains(document.activeElement)) return;
    const [a, b] = cursors;
    const field = (index) => make("input", { type: "text", inputMode: "decimal", className: "control",
      name: `Cursor ${"AB"[index]} [s]`, value: cursors[index].toFixed(4),
      onchange: ({ target }) => {
        if (Number.isFinite(+target.value)) cursors[index] = +target.value;
        target.blur();
        redraw();
      } });
    const row = (tag, first, ...cells) =>
      make("tr", {}, make("th", {}, first), ...cells.map((cell) => make(tag, {}, cell)));
    readout.replaceChildren(
      row("th", "time [s]", field(0), field(1), `${format(b - a, 4)}`),
      row("td", "", "A", "B", a === b ? "B − A" : `B − A: ${format(1 / Math.abs(b - a), 3)} Hz`),
      ...plots.flatMap((plot) => plot.curves.map(({ name, number }) => {
        const values = cursors.map((time) => series.get(number).at(time));
        return row("td", name, ...[...values, values[1] - values[0]].map((v) => format(v, plot.digits)));
      })));
  }

  function picture() {
    const [width, heights] = [area.clientWidth, plots.map((plot) => plot.body.clientHeight + 40)];
    const canvas = make("canvas", { width: 2 * width, height: 2 * heights.reduce((a, b) => a + b, 0) });
    const context = canvas.getContext("2d");
    context.scale(2, 2);
    context.fillStyle = colours.surface;
    context.fillRect(0, 0, canvas.width, canvas.height);
    plots.forEach((plot, index) => {
      context.textAlign = "left";
      context.font = "bold 12px system-ui, sans-serif";
      context.fillStyle = colours.words;
      context.fillText(plot.label, LEFT, 14, width - LEFT);
      context.font = "11px system-ui, sans-serif";
      let at = LEFT;
      for (const curve of plot.curves) {
        context.fillStyle = colours.curves[curve.colour];
        context.fillText(curve.name, at, 30);
        at += context.measureText(curve.name).width + 14;
      }
      context.translate(0, 36);
      paint(plot, context, width, heights[index] - 40);
      context.translate(0, heights[index] - 36);
    });
    canvas.toBlob((blob) => Quasar.exportFile(`${options.file}.png`, blob));
  }

  const resized = new ResizeObserver(redraw);
  const recolour = () => ((colours = null), redraw());
  const theme = new MutationObserver(recolour);
  theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  signal.addEventListener("abort", () => theme.disconnect());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour, { signal });
  emit({ kind: "ready" });

  return (changed, now) => {
    state = now;
    if ("plots" in changed) build();
    if ("span" in changed && changed.span !== span) setSpan(changed.span);
    for (const block of changed.append ?? []) {
      for (const number of block.reset ?? []) series.set(number, new Series());
      if (block.reset) detail = null;
      if (!block.data) continue;
      const table = new Float32Array(block.data);
      const row = (index) => table.subarray(index * block.count, (index + 1) * block.count);
      if (block.range && detail?.id !== block.id)
        detail = { id: block.id, begin: block.range[0], end: block.range[1], series: new Map() };
      block.curves.forEach((number, index) => {
        const goal = block.range ? detail.series : series;
        if (!goal.has(number)) goal.set(number, new Series());
        goal.get(number).add(block.begin, row(0), row(index + 1));
      });
    }
    redraw();
  };
}
