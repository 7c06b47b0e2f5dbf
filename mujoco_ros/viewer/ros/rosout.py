"""The latest messages of /rosout."""

from collections import deque
from itertools import count

from rcl_interfaces.msg import Log
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.viewer.clients import LogLine

_CAPACITY = 1000
_QOS = QoSProfile(
    depth=200,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
"""As nodes offer /rosout: messages from before the subscription arrive too."""


class RosoutSubscriber:
    """Buffers the latest messages: written in the executor's thread, read in any thread."""

    def __init__(self, endpoints: Endpoints) -> None:
        self._lines: deque[LogLine] = deque(maxlen=_CAPACITY)
        self._numbers = count(1)
        endpoints.subscription(Log, "/rosout", self._append, _QOS)

    def after(self, number: int) -> tuple[LogLine, ...]:
        """Return the lines with sequence numbers above `number`, oldest first."""
        lines = tuple(self._lines)  # one atomic copy, because the executor's thread appends
        count = lines[-1].number - number if lines else 0
        return lines[-count:] if count > 0 else ()

    def _append(self, message: Log) -> None:
        self._lines.append(
            LogLine(
                number=next(self._numbers),
                time=message.stamp.sec + message.stamp.nanosec * 1e-9,
                level=message.level,
                node=message.name,
                text=message.msg,
            )
        )
