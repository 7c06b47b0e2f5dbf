"""The PD gains of a robot, through the parameters of the node that has them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from rclpy.parameter import Parameter, parameter_value_to_python

from mujoco_ros.bridge.service_caller import ServiceCaller
from mujoco_ros.control.gains import LARGEST_GAIN, Gains
from mujoco_ros.model.robot.layout import RobotLayout

_ROWS = ("kp", "kd")


class RemoteGains:
    """Knows the gains that another node has as parameters, and has it change them.

    One change is under way at a time, and the last that was wanted meanwhile follows: a request may
    be sent twice, and must not undo a later one.

    Attributes:
        settled: Whether it is known if there are any.
    """

    def __init__(
        self,
        asker: ServiceCaller,
        node: str,
        robot: RobotLayout,
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
        self._setter = f"{node}/set_parameters_atomically"
        joints = robot.joints.names
        self._count = len(joints)
        prefix = robot.namespace.replace("/", ".") + "." if robot.namespace else ""
        self._places = {
            f"{prefix}gains.{joints[joint]}.{what}": (row, joint)
            for joint in driven
            for row, what in enumerate(_ROWS)
        }
        self._there: np.ndarray | None = None  # as far as is known
        self._wanted: np.ndarray | None = None  # and not there yet
        self._is_waiting = self._is_stale = False
        self.settled = not (node and driven)
        if not self.settled:
            self._ask()
            asker.is_served(SetParametersAtomically, self._setter)  # so that it is known in time

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
        for name, place in self._places.items():
            value = float(wanted[place])
            if not 0.0 <= value <= LARGEST_GAIN:
                raise ValueError(f"{name} cannot be {value:g}: it is from 0 to {LARGEST_GAIN:g}")
        self._wanted = wanted
        self._go_on()

    def refresh(self) -> None:
        """Ask for them anew: a reset may have restored others."""
        if self._there is not None:
            self._is_stale = True
            self._go_on()

    def _known(self) -> np.ndarray:
        known = self._there if self._wanted is None else self._wanted
        if known is None:
            raise LookupError(f"no gains: node '{self._node}' does not tell those of this robot")
        return known

    def _go_on(self) -> None:
        """Do what is to be done next, unless an answer is waited for."""
        if self._is_waiting or self._there is None:
            return
        if self._is_stale:
            self._ask()
        elif self._wanted is not None:
            self._send(self._wanted, self._there)

    def _ask(self) -> None:
        self._is_waiting, self._is_stale = True, False
        self._asker.ask(
            GetParameters,
            f"{self._node}/get_parameters",
            GetParameters.Request(names=list(self._places)),
            self._told,
            self._silent,
            twice=True,
        )

    def _silent(self, _reason: str) -> None:
        self.settled, self._is_waiting = True, False
        self._go_on()

    def _told(self, response: Any) -> None:
        self.settled, self._is_waiting = True, False
        values = [parameter_value_to_python(value) for value in response.values]
        if len(values) == len(self._places) and all(type(value) is float for value in values):
            self._there = np.zeros((len(_ROWS), self._count))
            for place, value in zip(self._places.values(), values, strict=True):
                self._there[place] = value
        self._go_on()

    def _send(self, wanted: np.ndarray, there: np.ndarray) -> None:
        changes = [
            Parameter(name, value=float(wanted[place])).to_parameter_msg()
            for name, place in self._places.items()
            if wanted[place] != there[place]
        ]
        if not changes:
            self._there, self._wanted = wanted, None
            return
        self._is_waiting = True
        self._asker.ask(
            SetParametersAtomically,
            self._setter,
            SetParametersAtomically.Request(parameters=changes),
            partial(self._changed, wanted),
            self._refused,
            twice=True,
        )

    def _changed(self, sent: np.ndarray, response: Any) -> None:
        if not response.result.successful:
            self._refused(response.result.reason)
            return
        self._there, self._is_waiting = sent, False
        self._go_on()

    def _refused(self, reason: str) -> None:
        """Tell why a change was not made, and ask what there is, as that is not known now."""
        self._wanted = None
        self._ask()
        self._failed(f"gains were not changed: {reason}")
