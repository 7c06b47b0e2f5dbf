// An image that changes: only the newest one is loaded, after the one before is there.

export default function picture(root, options, emit) {
  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
  const button = make("button", { type: "button" }), image = make("img", { alt: options.alt });
  const tip = make("span", { className: "picture-tip", hidden: true });
  const caption = make("figcaption"), words = make("span"), near = make("span"), far = make("span");
  const scale = make("img", { src: options.scale, alt: "", className: "depth" });
  const legend = make("span", { className: "legend", hidden: true });
  button.setAttribute("aria-label", options.name);
  legend.append(near, scale, far);
  caption.append(words, legend);
  button.append(image, tip);
  root.append(button, caption);

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

  let at = null, timer = 0;
  function send() {
    timer = 0;
    emit({ at });
  }
  button.addEventListener("pointermove", (event) => {
    const box = image.getBoundingClientRect();
    at = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    tip.style.left = `${Math.min(100 * at[0], 60)}%`;
    tip.style.top = `${100 * Math.min(at[1], 0.85)}%`;
    timer ||= setTimeout(send, 50);
  });
  button.addEventListener("pointerleave", () => {
    at = null;
    timer ||= setTimeout(send, 50);
  });
  button.addEventListener("click", () => emit({ press: true }));

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
