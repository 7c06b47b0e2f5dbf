"""The plots and diagrams of the pages are those that the code draws."""

import re
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest
from docs_scripts import load_cached_script


@pytest.fixture(scope="module")
def figures() -> ModuleType:
    return load_cached_script("figures", "DRAWN")


def test_the_committed_plots_equal_the_output_of_the_control_layer(
    figures: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["figures.py", "--check"])
    with pytest.raises(SystemExit) as ended:
        figures.main()
    assert ended.value.code == 0


def test_a_plot_that_is_out_of_date_is_named(
    figures: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    images = tmp_path / "images"
    shutil.copytree(figures.IMAGES, images)
    monkeypatch.setattr(figures, "IMAGES", images)
    plot = images / "splines.svg"
    moved = re.sub(r"L (\d+\.\d+) (\d+)\.", r"L \1 1\2.", plot.read_text(), count=1)
    assert moved != plot.read_text()
    plot.write_text(moved)
    (images / "stops.svg").unlink()
    monkeypatch.setattr(sys, "argv", ["figures.py", "--check", "interpolation", "splines", "stops"])

    with pytest.raises(SystemExit) as ended:
        figures.main()

    assert str(ended.value) == (
        "docs/images/splines.svg, docs/images/stops.svg out of date: run python docs/figures.py"
    )
