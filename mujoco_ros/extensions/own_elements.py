"""The elements that an extension acts on: those of its robot, or of the whole scene."""

from functools import cached_property

import mujoco
import numpy as np

from mujoco_ros.model.errors import unknown
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.model.robot.scope import Scope
from mujoco_ros.sim.plant import Plant

_KINDS = {
    "body": (mujoco.mjtObj.mjOBJ_BODY, "nbody"),
    "joint": (mujoco.mjtObj.mjOBJ_JOINT, "njnt"),
    "geom": (mujoco.mjtObj.mjOBJ_GEOM, "ngeom"),
    "site": (mujoco.mjtObj.mjOBJ_SITE, "nsite"),
    "camera": (mujoco.mjtObj.mjOBJ_CAMERA, "ncam"),
    "light": (mujoco.mjtObj.mjOBJ_LIGHT, "nlight"),
    "equality": (mujoco.mjtObj.mjOBJ_EQUALITY, "neq"),
    "tendon": (mujoco.mjtObj.mjOBJ_TENDON, "ntendon"),
    "actuator": (mujoco.mjtObj.mjOBJ_ACTUATOR, "nactuator"),
    "sensor": (mujoco.mjtObj.mjOBJ_SENSOR, "nsensor"),
}
"""Type and count in MjModel by kind of element."""


class OwnElements:
    """The elements of a robot, or of the whole scene.

    Attributes:
        model: The model.
        robot: The robot; None for the scene.
        prefix: Prefix of its names in the model.
    """

    def __init__(self, plant: Plant, robot: RobotLayout | None) -> None:
        """Find the elements of a robot of a plant, or all of them."""
        self.model: mujoco.MjModel = plant.model
        self.robot = robot
        self.prefix = "" if robot is None else robot.prefix
        others = {part.prefix for part in plant.assembly.parts} - {self.prefix, ""}
        self._scope = Scope(self.model, self.prefix, () if robot is None else tuple(others))

    def id(self, kind: str, name: str) -> int:
        """Return the MuJoCo id of an element.

        Args:
            kind: ``body``, ``joint``, ``geom``, ``site``, ``actuator``, ``sensor``, …
            name: Its name, without the prefix of the robot.

        Raises:
            UserInputError: There is no such element; the message lists those that there are.
        """
        if kind not in _KINDS:
            raise unknown("kind of element", kind, _KINDS)
        found = mujoco.mj_name2id(self.model, _KINDS[kind][0], self.prefix + name)
        if found < 0 or not self._scope.includes(self.prefix + name):
            where = "the scene" if self.robot is None else f"robot '{self.robot.name}'"
            raise unknown(kind, name, self.names(kind), where=where)
        return int(found)

    def names(self, kind: str) -> list[str]:
        """Return the names of the elements of a kind, without the prefix of the robot."""
        number, count = _KINDS[kind]
        named = (
            mujoco.mj_id2name(self.model, number, it) for it in range(getattr(self.model, count))
        )
        return [self._scope.short(name) for name in named if name and self._scope.includes(name)]

    @cached_property
    def bodies(self) -> np.ndarray:
        """The ids of the bodies.  # (n,)"""
        return np.array(self._scope.bodies, dtype=np.intp)
