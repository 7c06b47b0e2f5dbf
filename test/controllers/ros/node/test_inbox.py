"""The newest message of a topic."""

import pytest
from geometry_msgs.msg import WrenchStamped
from rclpy.qos import ReliabilityPolicy
from rclpy.serialization import serialize_message

from mujoco_ros.bridge.publishing.template_publisher import stamp
from mujoco_ros.bridge.publishing.topics import SENSOR
from mujoco_ros.controllers.ros.node.inbox import Inbox
from mujoco_ros.controllers.ros.node.readings import SensorReadings


class Wires:
    """A topic that is listened to."""

    def subscription(self, _kind, _topic, callback, qos, *, raw):
        assert raw
        self.say, self.qos = callback, qos

    def weigh(self, force: float, time: float) -> None:
        message = WrenchStamped()
        message.header.stamp, message.wrench.force.z = stamp(time), force
        self.say(serialize_message(message))


def test_only_the_newest_is_kept_and_what_was_read_of_others_stays_as_it_was():
    wires, heard, decoded = Wires(), [], []
    inbox = Inbox(wires, WrenchStamped, "wrench/x", SENSOR, lambda: heard.append(inbox.stamp))
    assert (wires.qos.depth, wires.qos.reliability) == (1, ReliabilityPolicy.BEST_EFFORT)
    assert inbox.stamp is None
    with pytest.raises(LookupError, match="no message on 'wrench/x' yet"):
        _ = inbox.message

    def read(message: WrenchStamped) -> float:
        decoded.append(message)
        return float(message.wrench.force.z)

    wires.weigh(1.0, 0.5)
    first = SensorReadings({"x": inbox.newest}, read)
    wires.weigh(2.0, 0.75)
    assert heard == [500_000_000, 750_000_000]
    assert inbox.message.wrench.force.z == 2.0
    assert decoded == [], "nobody has looked"
    assert [first["x"], *first.values(), len(first)] == [1.0, 1.0, 1]
    assert len(decoded) == 1
