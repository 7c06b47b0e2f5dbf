// The search: a field, and below it the entries with its words. The focus stays in the field, so
// that keys that are pressed quickly never get lost; arrow keys select an entry, Enter takes it.

import { make } from "./elements.js";

const MOST = 12; // entries that are shown

export default function search(root, { name, placeholder }, emit) {
  const popup = root.closest("[popover]");
  const list = make("div", { role: "listbox", name: "Results", id: `${root.id}-found`, className: "list" });
  const none = make("p", { role: "status" });
  const field = make("input", { role: "combobox", name, placeholder, type: "text", autocomplete: "off",
    spellcheck: false, ariaAutoComplete: "list", ariaExpanded: "true" });
  field.setAttribute("aria-controls", list.id);
  root.append(field, list, none);
  field.autofocus = true; // when the popup opens
  let [entries, found, selected] = [[], [], 0];

  function select(number) {
    selected = number;
    [...list.children].forEach((option, at) => (option.ariaSelected = at === number));
    field.setAttribute("aria-activedescendant", list.children[number]?.id ?? "");
    list.children[number]?.scrollIntoView({ block: "nearest" });
  }

  function take(entry) {
    if (!entry) return;
    popup.hidePopover();
    emit(entry);
  }

  function show(kept) {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const begins = ([, title]) => title.toLowerCase().startsWith(words.join(" "));
    const has = (entry) => words.every((word) => entry.join(" ").toLowerCase().includes(word));
    found = entries.filter(has).sort((a, b) => begins(b) - begins(a)).slice(0, MOST);
    list.replaceChildren(...found.map((entry, number) => make("div", { role: "option",
      id: `${list.id}-${number}`, textContent: entry.join(": "), onclick: () => take(entry) })));
    none.textContent = found.length ? "" : "Nothing is called that.";
    select(Math.max(0, found.findIndex((entry) => entry.join() === kept?.join())));
  }

  field.addEventListener("focus", () => field.select());
  field.addEventListener("input", () => show());
  field.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if ((!step && event.key !== "Enter") || event.isComposing) return;
    event.preventDefault();
    if (step) select((selected + step + found.length) % Math.max(found.length, 1));
    else take(found[selected]);
  });
  return (changed) => {
    if ("entries" in changed) entries = changed.entries;
    show(found[selected]);
  };
}
