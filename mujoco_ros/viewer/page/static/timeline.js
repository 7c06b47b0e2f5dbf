// States over time, a row for each state machine, see page/timeline.py.

const make = (tag, className) => Object.assign(document.createElement(tag), { className });

export default function timeline(root) {
  let rows = [];
  root.setAttribute("role", "group");
  function place({ low, high }) {
    const share = (time) => `${(100 * (Math.min(high, Math.max(low, time)) - low)) / (high - low)}%`;
    for (const { bars } of rows)
      for (const [bar, begin, end] of bars) {
        const isShown = (end ?? high) >= low && (begin ?? low) <= high;
        bar.hidden = !isShown;
        if (!isShown) continue;
        const left = share(begin ?? low);
        bar.style.left = left;
        bar.style.width = `calc(${share(end ?? high)} - ${left})`;
      }
  }
  return (changed, state) => {
    if ("lanes" in changed) {
      rows = state.lanes.map(([name, periods]) => {
        const row = make("div", "lane");
        row.setAttribute("role", "list");
        row.setAttribute("aria-label", `States of ${name}`);
        const bars = periods.map(([begin, end, text, hue, tip]) => {
          const bar = make("span", "lane-bar");
          bar.setAttribute("role", "listitem");
          bar.textContent = text;
          bar.title = tip;
          if (hue < 0) bar.dataset.look = "bad";
          else bar.style.setProperty("--hue", hue);
          row.append(bar);
          return [bar, begin, end];
        });
        return { row, bars };
      });
      root.replaceChildren(...rows.map(({ row }) => row));
    }
    if (state.high > state.low) place(state);
  };
}
