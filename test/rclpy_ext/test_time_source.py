"""Nodes with simulated time, and a /clock of another program."""

from builtin_interfaces.msg import Time
from rclpy.node import Node
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock

from mujoco_ros.rclpy_ext.executor import Executor

NEGATIVE = Clock(clock=Time(sec=-1, nanosec=999_999_999))
LATEST = Clock(clock=Time(sec=2**31 - 1, nanosec=2**32 - 1))


def test_a_negative_time_ends_no_node(ros_node, spin_until):
    publisher = ros_node.create_publisher(Clock, "/clock", 10)
    simulated = Parameter("use_sim_time", value=True)
    listener = Node("listener", context=ros_node.context, parameter_overrides=[simulated])
    executor = Executor(context=ros_node.context)
    executor.add_node(listener)

    def is_latest() -> bool:
        for message in (NEGATIVE, Clock(clock=Time(sec=-(2**31))), LATEST):
            publisher.publish(message)
            executor.spin_once(timeout_sec=0.05)  # raises what a callback raises
        return listener.get_clock().now().nanoseconds == (2**31 - 1) * 10**9 + 2**32 - 1

    assert spin_until(is_latest)
    executor.shutdown()
    listener.destroy_node()
