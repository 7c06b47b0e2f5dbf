"""The least parameters of each type of controller suffice, and each type is on the page."""

import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from commanded_robot import CommandedRobot, some_joints

from mujoco_ros.ros2_control.controller_file import ParameterFiles
from mujoco_ros.ros2_control.hardware import HardwareInterfaces
from mujoco_ros.ros2_control.hardware_blocks import DeclaredHardware, HardwareBlock
from mujoco_ros.ros2_control.parameters import ControllerParameters
from mujoco_ros.ros2_control.types import TYPES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "run_your_controllers.md"
LAMP = HardwareBlock(name="lamp", commands=("lamp/brightness",), states=("lamp/brightness",))
_XYZ = ("x", "y", "z")
SENSORS = {
    "imu": [
        f"{group}.{axis}" for group in ("angular_velocity", "linear_acceleration") for axis in _XYZ
    ]
    + [f"orientation.{axis}" for axis in "xyzw"],
    "load": [f"{group}.{axis}" for group in ("force", "torque") for axis in _XYZ],
    "sonar": ["range"],
    "gps": ["status", "latitude", "longitude", "altitude"],
    "compass": [f"magnetic_field.{axis}" for axis in _XYZ],
    "tip": [f"position.{axis}" for axis in _XYZ] + [f"orientation.{axis}" for axis in "xyzw"],
}


class Still:
    """Kinematics of links that are all at the origin."""

    def locate(self, q: np.ndarray) -> None:
        pass

    def pose(self, _frame: str) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(3), np.eye(3)

    def jacobian(self, _frame: str) -> np.ndarray:
        return np.zeros((6, 2))


def rows() -> dict[str, str]:
    """Return the least parameters of each type of the page."""
    found, page = {}, PAGE.read_text(encoding="utf-8")
    below = re.findall(r"### (\w+)\n\n```yaml\n(.*?)```", page, re.DOTALL)
    texts = {f"[below](#{title.lower()})": text for title, text in below}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| `") and len(cells) >= 2 and "/" in cells[0]:
            given = texts.get(cells[1], cells[1].strip("`"))
            found |= dict.fromkeys(re.findall(r"`([\w/]+)`", cells[0]), given)
    return found


@pytest.fixture
def hardware() -> HardwareInterfaces:
    robot = CommandedRobot(some_joints(("j1", "j2", "w1", "w2", "w3", "w4")))
    readers = {f"{name}/{path}": float for name, paths in SENSORS.items() for path in paths}
    lamp = DeclaredHardware(blocks=(LAMP,), initial={})
    return HardwareInterfaces(robot.control, readers, lamp, kinematics=lambda *_: Still())


def test_every_type_is_on_the_page() -> None:
    assert set(TYPES) - set(rows()) == {kind for kind in TYPES if kind.startswith("mujoco_ros/")}


@pytest.mark.parametrize(("kind", "given"), rows().items())
def test_the_least_parameters_of_a_type_suffice(
    kind: str, given: str, hardware: HardwareInterfaces, tmp_path: Path
) -> None:
    file = tmp_path / "controllers.yaml"
    file.write_text(yaml.safe_dump({"c": {"ros__parameters": yaml.safe_load(given)}}))
    described = ParameterFiles([file]).controller("", "c", kind)
    assert described is not None
    parameters = ControllerParameters(described.parameters, kind)
    controller = TYPES[kind]("c", parameters, hardware)
    controller.activate()
    parameters.ignore(*controller.without_meaning)
    assert not parameters.ignored
