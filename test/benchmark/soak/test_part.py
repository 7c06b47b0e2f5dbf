"""A short part of a long run, with the real simulator."""

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
