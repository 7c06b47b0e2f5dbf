"""The plots and diagrams of the pages are those that the code draws."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = (
    *("figures.py", "camera_figure.py", "control_plots.py", "fsm_diagrams.py", "page_animation.py"),
    *("carry_animation.py", "page_figure.py", "plot.py", "soak_plot.py", "viewer_page.py"),
    *(
        "extension_figures.py",
        "fit_plot.py",
        "phone_figure.py",
        "scene_view.py",
        "training_plot.py",
    ),
    "walk_plots.py",
)


def check(docs: Path, *names: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, docs / "figures.py", "--check", *names],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=250,
    )


def test_the_committed_plots_equal_the_output_of_the_control_layer():
    done = check(ROOT / "docs")
    assert done.returncode == 0, done.stderr


def test_a_plot_that_is_out_of_date_is_named(tmp_path):
    for script in SCRIPTS:
        shutil.copy(ROOT / "docs" / script, tmp_path)
    shutil.copytree(ROOT / "docs" / "how-to", tmp_path / "how-to")
    shutil.copytree(ROOT / "docs" / "images", tmp_path / "images")
    plot = tmp_path / "images" / "splines.svg"
    moved = re.sub(r"L (\d+\.\d+) (\d+)\.", r"L \1 1\2.", plot.read_text(), count=1)
    assert moved != plot.read_text()
    plot.write_text(moved)
    (tmp_path / "images" / "stops.svg").unlink()

    done = check(tmp_path, "interpolation", "splines", "stops")

    assert done.returncode == 1
    assert done.stderr.strip() == (
        "docs/images/splines.svg, docs/images/stops.svg out of date: run python docs/figures.py"
    )
