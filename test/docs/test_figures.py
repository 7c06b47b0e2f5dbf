"""The plots in the pages show what the control layer does now."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = (
    *("pictures.py", "camera_picture.py", "control_plots.py", "fsm_diagrams.py"),
    *("page_picture.py", "plot.py"),
)


def check(docs: Path, *names: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, docs / "pictures.py", "--check", *names],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=110,
    )


def test_the_committed_plots_are_what_the_control_layer_makes():
    done = check(ROOT / "docs")
    assert done.returncode == 0, done.stderr


def test_a_plot_that_shows_something_else_is_named(tmp_path):
    for script in SCRIPTS:
        shutil.copy(ROOT / "docs" / script, tmp_path)
    shutil.copytree(ROOT / "docs" / "reference", tmp_path / "reference")
    shutil.copytree(ROOT / "docs" / "images", tmp_path / "images")
    plot = tmp_path / "images" / "splines.svg"
    moved = re.sub(r"L (\d+\.\d+) (\d+)\.", r"L \1 1\2.", plot.read_text(), count=1)
    assert moved != plot.read_text()
    plot.write_text(moved)
    (tmp_path / "images" / "stops.svg").unlink()

    done = check(tmp_path, "interpolation", "splines", "stops")

    assert done.returncode == 1
    assert done.stderr.strip() == (
        "docs/images/splines.svg, docs/images/stops.svg out of date: run python docs/pictures.py"
    )
