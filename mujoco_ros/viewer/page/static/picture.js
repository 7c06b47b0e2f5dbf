// An image that changes: only the newest one is loaded, after the one before is there.

import { make, throttled } from "./elements.js";

export default function picture(root, options, emit) {
  const image = make("img", { alt: options.alt });
  const tip = make("span", { className: "picture-tip", hidden: true });
  const onclick = () => emit({ press: true });
  const button = make("button", { type: "button", name: options.name, onclick }, image, tip);
  const words = make("span"), near = make("span"), far = make("span");
  const scale = make("img", { src: options.scale, alt: "", className: "depth" });
  const legend = make("span", { className: "legend", hidden: true }, near, scale, far);
  root.append(button, make("figcaption", {}, words, legend));

  let wanted = null, isLoading = false;
  function load() {
    if (isLoading || wanted === null) return;
    isLoading = true;
    image.src = wanted;
    wanted = null;
  }
  for (const name of ["load", "error"])
    image.addEventListener(name, () => {
      isLoading = false;
      load();
    });

  const send = throttled((at) => emit({ at }), 50);
  button.addEventListener("pointermove", (event) => {
    const box = image.getBoundingClientRect();
    const at = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    tip.style.left = `${Math.min(100 * at[0], 60)}%`;
    tip.style.top = `${100 * Math.min(at[1], 0.85)}%`;
    send(at);
  });
  button.addEventListener("pointerleave", () => send(null));

  return (changed) => {
    if (changed.src) {
      wanted = changed.src;
      load();
    }
    if ("src" in changed) button.hidden = !changed.src;
    if ("text" in changed) words.textContent = changed.text;
    if ("under" in changed) {
      tip.textContent = changed.under;
      tip.hidden = !changed.under;
    }
    if ("limits" in changed) {
      legend.hidden = !changed.limits;
      [near.textContent, far.textContent] = changed.limits ?? ["", ""];
    }
  };
}
