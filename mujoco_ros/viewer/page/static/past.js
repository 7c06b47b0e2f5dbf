// The slider of past states, see page/time_bar.py.

export default function past(root, options, emit) {
  const range = document.createElement("input");
  const label = document.createElement("output");
  Object.assign(range, { type: "range", step: "any", min: 0, max: 1, value: 1 });
  range.setAttribute("aria-label", options.name);
  root.append(range, label);
  let state = {}, wanted, timer = 0;

  function send() { // at most 25 times a second
    clearTimeout(timer);
    timer = 0;
    if (wanted === undefined) return;
    emit({ show: wanted });
    wanted = undefined;
    timer = setTimeout(send, 40);
  }
  range.addEventListener("input", () => {
    wanted = range.valueAsNumber < state.now ? range.valueAsNumber : null;
    if (!timer) send();
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
  document.addEventListener("keydown", listen);

  return (_changed, now) => {
    state = now;
    Object.assign(range, { min: state.first, max: state.now });
    if (wanted === undefined) range.value = state.shown ?? state.now;
    range.setAttribute("aria-valuetext", state.text);
    if (label.value !== state.text) label.value = state.text;
    if (!root.isConnected) document.removeEventListener("keydown", listen);
  };
}
