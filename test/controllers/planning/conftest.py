"""Chains to move: the shipped arm before its table, and one with seven joints and a wall."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.controllers.planning.kinematics.limits import MotionLimits
from mujoco_ros.model.pose import Pose
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene

_JOINTS = (
    "shoulder_pan_joint",
    "shoulder_lift_joint",
    "elbow_joint",
    "wrist_1_joint",
    "wrist_2_joint",
    "wrist_3_joint",
)
_LINK = """
<body pos="0 0 {up}"><joint name="j{i}" axis="{axis}" range="-2.8 2.8" damping="1" armature="0.1"/>
<geom name="link{i}" type="capsule" size="0.03" fromto="0 0 0.02 0 0 {length}" mass="1"/>
"""


def _seven() -> str:
    axes = ("0 0 1", "0 1 0", "0 0 1", "0 1 0", "0 0 1", "0 1 0", "0 0 1")
    ups = (0.1, 0.1, 0.2, 0.2, 0.2, 0.2, 0.1)
    links = "".join(
        _LINK.format(i=i + 1, axis=axis, up=up, length=length)
        for i, (axis, up, length) in enumerate(zip(axes, ups, (*ups[1:], 0.05), strict=True))
    )
    return f"""
    <mujoco model="seven">
      <compiler angle="radian"/>
      <worldbody>
        <body name="base">{links}<site name="tool" pos="0 0 0.1"/>{"</body>" * 8}
        <geom name="wall" type="box" size="0.02 0.3 0.25" pos="0.45 0 0.25"/>
        <body name="brick" pos="0.3 -0.5 0.3"><freejoint/>
          <geom name="brick" type="box" size="0.02 0.02 0.15" mass="0.3"/></body>
      </worldbody>
    </mujoco>"""


@pytest.fixture(scope="session")
def arm() -> Chain:
    model = assemble(load_scene("arm")).model
    return Chain.of(model, joints=[f"arm/{name}" for name in _JOINTS], tool="arm/grasp")


@pytest.fixture(scope="session")
def home() -> np.ndarray:
    """The arm's keyframe: tool down."""
    return np.array([0.0, -1.75, 1.35, -np.pi / 2 + 0.4, -np.pi / 2, -np.pi / 2])


@pytest.fixture(scope="session")
def seven() -> Chain:
    model = mujoco.MjModel.from_xml_string(_seven())
    return Chain.of(model, joints=[f"j{i}" for i in range(1, 8)], tool="tool")


@pytest.fixture(scope="session")
def limits() -> MotionLimits:
    """The grasping lab's, and what the arm's motors can do."""
    return MotionLimits(
        velocity=np.array([3.14] * 3 + [6.28] * 3),
        acceleration=np.array([8.0] * 3 + [16.0] * 3),
        torque=np.array([150.0] * 3 + [28.0] * 3),
    )


def _down(x: float, y: float, z: float) -> Pose:
    return Pose(position=np.array([x, y, z]), quat_wxyz=np.array([0.0, 1.0, 0.0, 0.0]))


@pytest.fixture(scope="session")
def down():
    """Where something is whose z axis points down, as a tool that grips from above."""
    return _down
