// Elements for the modules of the page.

// Create an element with properties, a role, a name for screen readers, and children.
export function make(tag, { role, name, ...properties } = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  if (role) element.setAttribute("role", role);
  if (name) element.setAttribute("aria-label", name);
  element.append(...children);
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

// Create an element from its tag, attributes, and children: texts, elements, or lists like this one.
export function built([tag, attributes, ...children], space = "http://www.w3.org/1999/xhtml") {
  const own = tag === "svg" ? SVG : space, element = document.createElementNS(own, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.map((child) => (Array.isArray(child) ? built(child, own) : child)));
  return element;
}

export const svg = (...description) => built(description, SVG);

// Return a number with a fixed number of decimals; zero has no sign.
export const format = (value, digits) => Number.isFinite(value)
  ? (Number(value.toFixed(digits)) || 0).toFixed(digits).replace("-", "−") : "–";

export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Return a function that passes the newest value on, at most once in a period [ms].
export function throttled(emit, period = 40) {
  let waiting = null;
  let timer = 0;
  function send() {
    timer = 0;
    if (!waiting) return;
    emit(waiting.value);
    waiting = null;
    timer = setTimeout(send, period);
  }
  return (value) => {
    waiting = { value };
    if (!timer) send();
  };
}
