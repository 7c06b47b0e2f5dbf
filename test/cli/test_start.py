"""Start of executables without the fork server of other tests."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here; `make setup` installs it")

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["record", "replay"])
def test_an_executable_imports_all_its_requirements(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", f"mujoco_ros.cli.{name}", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: {name}")
