"""Process that publishes joint states on many topics until SIGINT."""

import signal
import time

import rclpy
from rclpy.serialization import serialize_message
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

TOPICS, RATE_HZ = 12, 500
_JOINTS = 30


def main() -> None:
    """Publish on all topics at RATE_HZ."""
    signals: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _frame: signals.append(number))
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node("benchmark_publisher")
    publishers = [
        node.create_publisher(JointState, f"/benchmark/joints{i}", 10) for i in range(TOPICS)
    ]
    numbers = [0.0] * _JOINTS
    data = serialize_message(JointState(position=numbers, velocity=numbers, effort=numbers))
    begun, count = time.monotonic(), 0
    while not signals:
        for publisher in publishers:
            publisher.publish(data)
        count += 1
        time.sleep(max(0.0, begun + count / RATE_HZ - time.monotonic()))
    node.destroy_node()
    rclpy.shutdown()


if __name__ == "__main__":
    main()
