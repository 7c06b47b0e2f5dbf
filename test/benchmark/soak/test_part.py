"""A short part of a long run, with the real simulator."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here; `make setup` installs it")

from benchmark.soak.part import Part, run
from benchmark.soak.samples import load


def test_a_part_as_fast_as_possible_ends_at_its_simulated_time(tmp_path):
    shown = []
    run(Part(seconds=5.0, every=0.5, fastest=True), tmp_path / "part0.csv", shown.append)
    part = load(tmp_path / "part0.csv")
    assert len(part["wall"]) == len(shown) > 1
    assert part["simulated"][-1] - part["simulated"][0] >= 5.0
    assert (np.diff(part["simulated"]) >= 0).all()
    assert (part["simulator"] > 30.0).all()
    assert (part["threads"] > 1).all()
    assert (part["cameras"] == 0.0).all()  # not running
    assert (part["commands"] >= 1.0).all()  # the report itself is one


def test_sigterm_ends_all_processes_of_a_run(tmp_path):
    command = [sys.executable, "-m", "benchmark.soak", str(tmp_path), "--parts", "1", "--fastest"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert any("simulated" in line for line in process.stdout)
        children = [
            Path("/proc", pid)
            for file in Path(f"/proc/{process.pid}/task").glob("*/children")
            for pid in file.read_text().split()
        ]
        process.terminate()
        assert process.wait(120.0) == 128 + signal.SIGTERM
    assert len(children) >= 2, "the subscriber and the simulator"
    left = [child for child in children if child.exists()]
    for child in left:
        os.kill(int(child.name), signal.SIGKILL)
    assert not left
    assert [file.name for file in tmp_path.iterdir()] == ["part0.unfinished"]
