"""What nodes have to say: the last lines of /rosout."""

from collections import deque
from itertools import count

from rcl_interfaces.msg import Log
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.viewer.link import LogLine

_KEPT = 1000
_QOS = QoSProfile(
    depth=200,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
"""As nodes write it, so that what they said a moment ago comes as well."""


class LogLines:
    """Keeps the last lines; written in the executor's thread, read in any."""

    def __init__(self, endpoints: Endpoints) -> None:
        """Listen."""
        self._lines: deque[LogLine] = deque(maxlen=_KEPT)
        self._numbers = count(1)
        endpoints.subscription(Log, "/rosout", self._take, _QOS)

    def after(self, number: int) -> tuple[LogLine, ...]:
        """Return the lines that are kept with numbers beyond `number`, oldest first."""
        while True:
            try:
                if not self._lines or self._lines[-1].number <= number:
                    return ()
                return tuple(line for line in self._lines if line.number > number)
            except (RuntimeError, IndexError):  # a line came in the middle of it
                continue

    def _take(self, message: Log) -> None:
        self._lines.append(
            LogLine(
                number=next(self._numbers),
                time=message.stamp.sec + message.stamp.nanosec * 1e-9,
                level=message.level,
                node=message.name,
                text=message.msg,
            )
        )
