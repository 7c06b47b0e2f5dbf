// The slider of past states, see page/time_bar.py.

import { make, throttled } from "./elements.js";

export default function past(root, options, emit, signal) {
  const { name } = options;
  const range = make("input", { type: "range", step: "any", min: 0, max: 1, value: 1, name });
  const label = make("output");
  root.append(range, label);
  let state = {}, wanted;

  const send = throttled((time) => {
    wanted = undefined;
    emit({ show: time });
  });
  range.addEventListener("input", () => {
    wanted = range.valueAsNumber < state.now ? range.valueAsNumber : null;
    send(wanted);
  });
  function press(event) {
    const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    const jump = { PageDown: -1, PageUp: 1 }[event.key];
    if (step) emit({ step: step * (event.shiftKey ? 10 : 1) });
    else if (jump) emit({ show: Math.min(state.now, Math.max(state.first, (state.shown ?? state.now) + jump)) });
    else if (event.key === "Home") emit({ show: state.first });
    else if (event.key === "End" || (event.key === "Escape" && state.shown !== null)) emit({ show: null });
    else return;
    event.preventDefault();
  }
  range.addEventListener("keydown", press);
  const listen = (event) => { // without focus, the keys act too
    const isFree = event.target === document.body && !event.ctrlKey && !event.altKey && !range.disabled;
    const keys = state.shown === null ? ["ArrowLeft"] : ["ArrowLeft", "ArrowRight", "Escape"];
    if (isFree && range.offsetParent && keys.includes(event.key)) press(event);
  };
  document.addEventListener("keydown", listen, { signal });

  return (_changed, now) => {
    state = now;
    Object.assign(range, { min: state.first, max: state.now });
    if (wanted === undefined) range.value = state.shown ?? state.now;
    range.setAttribute("aria-valuetext", state.text);
    if (label.value !== state.text) label.value = state.text;
  };
}
