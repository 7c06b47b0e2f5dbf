"""Figures in README and docs, written from the last saved results.

A page has ``<!--b: step beyond mj_step, p50; 0-->65<!---->``: the key and the quantity of a row,
and the number of digits; `python -m benchmark --figures` writes the value between the comments.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from mujoco_ros.model.output_files import write_whole

ROOT = Path(__file__).resolve().parents[1]
_FIGURE = re.compile(r"<!--(\w+): ([^;>]+); (\d)-->([^<]*)<!---->")


def write_figures(results: Path) -> int:
    """Write the figures of all pages; return 1 if no saved result has one of them."""
    values, missing = last_values(results), []
    for page in pages():
        before = page.read_text(encoding="utf-8")
        after, unknown = with_figures(before, values)
        missing += [f"{page.relative_to(ROOT)}: {name}" for name in unknown]
        if after != before:
            write_whole(page, after)
            print(f"wrote {page.relative_to(ROOT)}")
    print(*(f"not in the results: {name}" for name in missing), sep="\n")
    return 1 if missing else 0


def pages() -> Iterator[Path]:
    """Yield README and the pages of docs."""
    yield ROOT / "README.md"
    yield from sorted((ROOT / "docs").rglob("*.md"))


def last_values(results: Path) -> dict[tuple[str, str], float]:
    """Return the values of the last results, by key and quantity.

    Quick results, and results of a machine on which much else ran, do not count. A result without
    a row leaves the row of an earlier one.
    """
    values = {}
    for file in sorted(results.glob("*.json")):
        content = json.loads(file.read_text(encoding="utf-8"))
        if "-quick" not in file.stem and content.get("is_calm", True):
            for row in content["rows"]:
                values[row["key"], row["quantity"]] = float(row["value"])
    return values


def with_figures(text: str, values: dict[tuple[str, str], float]) -> tuple[str, list[str]]:
    """Return a page with its figures, and the names of the figures that have no value."""
    missing: list[str] = []

    def written(found: re.Match[str]) -> str:
        key, quantity, digits, _ = found.groups()
        if (key, quantity) not in values:
            missing.append(f"{key}: {quantity}")
            return found[0]
        figure = f"{values[key, quantity]:,.{digits}f}"
        return f"<!--{key}: {quantity}; {digits}-->{figure}<!---->"

    return _FIGURE.sub(written, text), missing
