import json
from pathlib import Path

from benchmark.figures import ROOT, last_values, pages, with_figures

RESULTS = ROOT / "benchmark" / "results"


def saved(folder: Path, name: str, *, is_calm: bool = True, **values: float) -> None:
    rows = [{"key": "b", "quantity": key, "value": value} for key, value in values.items()]
    (folder / f"{name}.json").write_text(json.dumps({"rows": rows, "is_calm": is_calm}))


def test_the_pages_have_the_figures_of_the_last_saved_results() -> None:
    values, wrong = last_values(RESULTS), {}
    shown = 0
    for page in pages():
        text = page.read_text(encoding="utf-8")
        after, missing = with_figures(text, values)
        shown += after.count("<!---->")
        if after != text or missing:
            wrong[str(page.relative_to(ROOT))] = missing or "make bench ARGS=--figures writes it"
    assert not wrong
    assert shown >= 15


def test_a_figure_is_of_the_last_result_that_has_it_and_is_neither_quick_nor_of_a_busy_machine(
    tmp_path: Path,
) -> None:
    saved(tmp_path, "2026-01-01-jazzy", step=1.0, other=7.0)
    saved(tmp_path, "2026-01-02-jazzy", step=1234.56)
    saved(tmp_path, "2026-01-03-jazzy-quick", step=3.0)
    saved(tmp_path, "2026-01-04-jazzy", is_calm=False, step=4.0)
    text = "<!--b: step; 1-->0<!---->, <!--b: other; 0-->0<!---->, <!--b: absent; 0-->5<!---->"
    after, missing = with_figures(text, last_values(tmp_path))
    absent = "<!--b: absent; 0-->5<!---->"
    assert after == f"<!--b: step; 1-->1,234.6<!---->, <!--b: other; 0-->7<!---->, {absent}"
    assert missing == ["b: absent"]
