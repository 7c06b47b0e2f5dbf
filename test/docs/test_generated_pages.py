"""The generated pages agree with the code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="the pages are generated from parameters and topics")
pytest.importorskip("unitree_go", reason="a shipped extension uses it")

ROOT = Path(__file__).resolve().parents[2]
GENERATE = ROOT / "docs" / "generate.py"


def generate(script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, script, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=250,
    )


def test_the_committed_pages_equal_the_output_of_the_generator():
    done = generate(GENERATE, "--check")
    assert done.returncode == 0, done.stderr


def test_a_page_that_is_out_of_date_is_named_and_not_changed(tmp_path):
    script = tmp_path / "generate.py"
    script.write_text(GENERATE.read_text())
    (tmp_path / "sensors_page.py").write_text((ROOT / "docs" / "sensors_page.py").read_text())
    assert generate(script).returncode == 0
    stale = tmp_path / "reference" / "parameters.md"
    stale.write_text(stale.read_text().replace("| `tf` |", "| `tef` |"))
    before = stale.read_text()

    done = generate(script, "--check")

    assert done.returncode == 1
    assert "docs/reference/parameters.md out of date" in done.stderr
    assert "topics.md" not in done.stderr
    assert stale.read_text() == before
