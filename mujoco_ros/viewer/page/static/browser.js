// Reports whether the page is hidden and narrow, and that it refuses a file; runs actions of page.js.

export default function browser(root, options, emit) {
  const page = document.documentElement;
  let last = -1;
  root.hidden = true;
  document.querySelector(".q-page")?.setAttribute("role", "none"); // the scene is the main part
  const report = () => {
    if (!window.did_handshake) setTimeout(report, 20);
    else emit({ hidden: document.hidden, narrow: page.hasAttribute("data-narrow") });
  };
  document.addEventListener("visibilitychange", report);
  document.addEventListener("narrow", report);
  document.addEventListener("refused", () => emit({ refused: true }));
  report();
  return (changed) => {
    const [name, number] = changed.run ?? [];
    if (name === undefined || number <= last) return;
    last = number;
    document.dispatchEvent(new CustomEvent("action", { detail: name }));
  };
}
