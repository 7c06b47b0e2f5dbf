import xml.etree.ElementTree as ET
from pathlib import Path

import mujoco
import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here; `make setup` installs it")

from benchmark.durations import CHECK
from benchmark.measurements.peer import VARIABLE, peer, rows, write_peer


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "MUJOCO_ROS2_CONTROL is not set"),
        ("/no/such", "names '/no/such', no ros2_control_node"),
    ],
)
def test_without_the_peer_the_row_says_why_it_is_skipped(
    monkeypatch: pytest.MonkeyPatch, path: str, reason: str
) -> None:
    monkeypatch.setenv(VARIABLE, path)
    (row,) = peer(CHECK)
    assert row.quantity.startswith("skipped: ")
    assert reason in row.quantity


def test_the_peer_holds_the_same_scene_with_all_joints(tmp_path: Path) -> None:
    _, description = write_peer("humanoid", tmp_path, 50.0)
    robot = ET.parse(description).getroot()
    plugins = {found.text for found in robot.iterfind("ros2_control/hardware/plugin")}
    assert plugins == {"mujoco_ros2_control/MujocoSystemInterface"}
    joints = [joint.get("name") for joint in robot.iterfind("ros2_control/joint")]
    assert len(joints) == len(set(joints)) == 33
    params = {
        param.get("name"): param.text for param in robot.iterfind("ros2_control/hardware/param")
    }
    assert params["sim_speed_factor"] == "50.0"
    model = mujoco.MjModel.from_binary_path(params["mujoco_model"])
    assert {model.joint(model.actuator_trnid[i, 0]).name for i in range(model.nu)} == set(joints)
    data = mujoco.MjData(model)
    start = ET.parse(params["override_start_position_file"]).getroot()
    for name, value in start.items():
        getattr(data, name)[:] = np.fromstring(value, sep=" ")
    height = data.qpos[2]
    mujoco.mj_step(model, data, nstep=2000)
    assert data.ncon, "it stands on the ground of the scene"
    assert data.qpos[2] == pytest.approx(height, abs=0.01)


def test_rate_gaps_and_load_follow_from_the_records() -> None:
    stamps = 1_000_000 * np.array([0, 1, 2, 5, 6])
    arrivals = 2 * stamps + 7
    records = {
        "states": np.column_stack([arrivals, stamps]),
        "cpu_s": np.array(0.003),
        "pss_mb": np.array(84.0),
    }
    values = [row.value for row in rows("ours", records)]
    assert values == pytest.approx([0.5, 4 / 0.012, 400 / 6, 2.94, 3.0, 25.0, 84.0])
