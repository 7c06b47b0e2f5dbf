"""The PD gains of a robot, through the parameters of the node that has them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from rclpy.parameter import Parameter, parameter_value_to_python

from mujoco_ros.control.gains import LARGEST_GAIN, Gains
from mujoco_ros.model.layout import Robot
from mujoco_ros.ros.viewer.asking import Asker

_ROWS = ("kp", "kd")


class RemoteGains:
    """Knows the gains that another node has as parameters, and has it change them.

    Attributes:
        settled: Whether it is known if there are any.
    """

    def __init__(
        self,
        asker: Asker,
        node: str,
        robot: Robot,
        driven: Sequence[int],
        *,
        failed: Callable[[str], object],
    ) -> None:
        """Ask for them.

        Args:
            asker: Calls services.
            node: Full name of the node; empty if there is none.
            robot: The robot.
            driven: Which of its joints have gains.
            failed: Told why a change was not made.
        """
        self._asker, self._node, self._failed = asker, node, failed
        joints = robot.joints.names
        self._count = len(joints)
        prefix = robot.namespace.replace("/", ".") + "." if robot.namespace else ""
        self._places = {
            f"{prefix}gains.{joints[joint]}.{what}": (row, joint)
            for joint in driven
            for row, what in enumerate(_ROWS)
        }
        self._values: np.ndarray | None = None
        self.settled = not (node and driven)
        if not self.settled:
            self._ask()

    def get(self) -> Gains:
        """Return the gains.

        Raises:
            LookupError: Nobody has any.
        """
        kp, kd = self._known().copy()
        return Gains(kp=kp, kd=kd)

    def set(self, gains: Gains) -> None:
        """Have them changed, soon.

        Raises:
            ValueError: One is negative, or no number, or they are not as many as joints.
            LookupError: Nobody has any.
        """
        known = self._known()
        wanted = np.stack([gains.kp, gains.kd])
        if wanted.shape != known.shape:
            raise ValueError(f"gains of {wanted.shape[1]} joints, not of {self._count}")
        changes = {}
        for name, place in self._places.items():
            value = float(wanted[place])
            if not 0.0 <= value <= LARGEST_GAIN:
                raise ValueError(f"{name} cannot be {value:g}: it is from 0 to {LARGEST_GAIN:g}")
            if value != known[place]:
                changes[name] = value
        if changes:
            self._values = wanted.copy()
            self._send(changes)

    def _known(self) -> np.ndarray:
        if self._values is None:
            raise LookupError(f"no gains: node '{self._node}' does not tell those of this robot")
        return self._values

    def _ask(self) -> None:
        self._asker.ask(
            GetParameters,
            f"{self._node}/get_parameters",
            GetParameters.Request(names=list(self._places)),
            self._told,
            self._silent,
        )

    def _silent(self, _reason: str) -> None:
        self.settled = True

    def _told(self, response: Any) -> None:
        self.settled = True
        values = [parameter_value_to_python(value) for value in response.values]
        if len(values) != len(self._places) or any(type(value) is not float for value in values):
            return
        self._values = np.zeros((len(_ROWS), self._count))
        for place, value in zip(self._places.values(), values, strict=True):
            self._values[place] = value

    def _send(self, changes: Mapping[str, float]) -> None:
        request = SetParametersAtomically.Request(
            parameters=[Parameter(n, value=v).to_parameter_msg() for n, v in changes.items()]
        )
        self._asker.ask(
            SetParametersAtomically,
            f"{self._node}/set_parameters_atomically",
            request,
            self._changed,
            self._refused,
        )

    def _changed(self, response: Any) -> None:
        if not response.result.successful:
            self._refused(response.result.reason)

    def _refused(self, reason: str) -> None:
        """Tell why a change was not made, and ask what there is, as that is not known now."""
        self._ask()
        self._failed(f"gains were not changed: {reason}")
