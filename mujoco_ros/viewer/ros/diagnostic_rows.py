"""What the simulator reports of its steps and motors on /diagnostics."""

import re
from collections.abc import Mapping

from diagnostic_msgs.msg import DiagnosticArray

from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.wire.names import PROFILE, REALISM, TEMPERATURE
from mujoco_ros.wire.qos import RELIABLE

_UNIT = " [us]"  # of the times of the profile


class DiagnosticRows:
    """Receives the rows, which come once a second; what it has is replaced, never changed."""

    def __init__(self, endpoints: Endpoints, simulator: str) -> None:
        """Receive the rows of a simulator with the full name of its node."""
        self.profile: Mapping[str, float] = {}
        self.temperatures: Mapping[tuple[str, str], float] = {}
        self._prefix = f"{simulator.rpartition('/')[2]}: "
        endpoints.subscription(DiagnosticArray, "/diagnostics", self._receive, RELIABLE)

    def _receive(self, message: DiagnosticArray) -> None:
        rows = {
            status.name.removeprefix(self._prefix): {it.key: it.value for it in status.values}
            for status in message.status
            if status.name.startswith(self._prefix)
        }
        if PROFILE in rows:  # other nodes have no such row
            times = rows[PROFILE].items()
            self.profile = {key.removesuffix(_UNIT): 1e-6 * float(value) for key, value in times}
            self.temperatures = {
                (robot, joint): float(value)
                for row, values in rows.items()
                for robot in _named(REALISM, row)
                for key, value in values.items()
                for joint in _named(TEMPERATURE, key)
            }


def _named(pattern: str, text: str) -> tuple[str, ...]:
    """Return what a text has in place of the word in angle brackets, if it is of a pattern."""
    begin, end = re.split("<.*>", pattern)
    is_match = text.startswith(begin) and text.endswith(end)
    return (text[len(begin) : len(text) - len(end)],) if is_match else ()
