"""Balls fall through a floor of their group."""

from dataclasses import replace

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

from extension_runs import ExtensionRun


def test_only_balls_of_the_group_fall_through_until_the_group_changes() -> None:
    run = ExtensionRun("contact_groups")
    height = {
        name: run.data.body(f"balls/{name}").xpos for name in ("one_a", "one_b", "two_a", "two_b")
    }
    run.step(1.0)
    assert [height[name][2] < 0.2 for name in height] == [True, True, False, False]
    assert height["one_a"][2] == pytest.approx(0.05, abs=0.005), "on the ground"
    (runner,) = run.set.runners
    runner.change_settings(replace(runner.settings, other=-1))
    run.step(1.0)
    assert max(it[2] for it in height.values()) < 0.2
    run.simulation.reset()
    runner.enable(enabled=False)
    run.step(1.0)
    assert min(it[2] for it in height.values()) > 0.5
    run.close()
