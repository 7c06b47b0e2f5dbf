// A button to choose a text file, and the place of files that are dropped on the page.

import { make } from "./elements.js";

const MOST_BYTES = 500_000; // a message of the page has at most 1 MiB

export default function file(root, { label }, emit, signal) {
  const take = async ([chosen]) => {
    if (!chosen || !confirm(`${chosen.name} replaces this world. Load it?`)) return;
    const isText = chosen.size <= MOST_BYTES && !chosen.name.toLowerCase().endsWith(".mjb");
    emit({ name: chosen.name, text: isText ? await chosen.text() : null });
  };
  const onchange = () => {
    take([...field.files]);
    field.value = ""; // so that the same file can be chosen again
  };
  const field = make("input", { type: "file", name: "file", onchange });
  root.classList.add("button");
  root.append(label, field);
  document.addEventListener("dragover", (event) => {
    if (event.dataTransfer.types.includes("Files")) event.preventDefault();
  }, { signal });
  document.addEventListener("drop", (event) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault(); // the browser would leave the page
    if (!field.disabled) take([...event.dataTransfer.files]);
  }, { signal });
  return () => {};
}
