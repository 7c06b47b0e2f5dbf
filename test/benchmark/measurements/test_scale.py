import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here; `make setup` installs it")

from benchmark.measurements.scale import cases, chains, rows
from benchmark.processes.scene_topics import topics_of


def test_the_topics_of_each_case_exist_in_its_scene(tmp_path) -> None:
    for case in cases(tmp_path, [1, 2]):
        names = {topic.name for topic in topics_of(case.scene)}
        assert {topic.partition("=")[0] for topic in case.topics} <= names, case.title


def test_chains_have_six_joints_each(tmp_path) -> None:
    (states,) = (t for t in topics_of(chains(tmp_path, 3, 0)) if t.name == "joint_states")
    assert len(states.message.name) == 18


def test_the_factor_follows_from_stamps_and_only_the_goals_have_limits() -> None:
    arrivals = 2_000_000 * np.arange(11)
    records = np.stack([arrivals, arrivals // 2], axis=1)
    shown = {row.quantity: row for row in rows("20 arms", records, 0.4, 100.0, 1.0)}
    assert shown["20 arms: real-time factor"].value == 0.5
    assert shown["20 arms: processor, all threads"].good
    assert not rows("20 arms", records, 0.5, 100.0, 1.0)[0].good
    assert rows("5 arms", records, 0.9, 100.0, 1.0)[0].good is None
