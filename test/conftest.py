"""What all tests share: a private ROS domain, and a node to test with."""

import os
import time
from collections.abc import Callable, Iterator

import pytest

# Set before anything imports rclpy.  Up to 101 no DDS port lies in Linux' ephemeral range.
os.environ["ROS_DOMAIN_ID"] = str(1 + os.getpid() % 101)
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
for _variable in ("ROS_LOCALHOST_ONLY", "ROS_STATIC_PEERS", "RMW_IMPLEMENTATION"):
    os.environ.pop(_variable, None)

try:
    import rclpy
    from rclpy.context import Context
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.node import Node
except ModuleNotFoundError as error:
    MISSING = f"ROS 2 is not installed here ({error}); `make setup` installs it"
else:
    MISSING = ""

SpinUntil = Callable[..., bool]


@pytest.fixture
def ros_node() -> "Iterator[Node]":
    """A node in a context of its own."""
    if MISSING:
        pytest.skip(MISSING)
    context = Context()
    rclpy.init(context=context)
    node = rclpy.create_node("test_node", context=context)
    yield node
    node.destroy_node()
    rclpy.shutdown(context=context)


@pytest.fixture
def spin_until(ros_node: "Node") -> "Iterator[SpinUntil]":
    """A function that spins the node until a condition holds and returns whether it did in time."""
    executor = SingleThreadedExecutor(context=ros_node.context)
    executor.add_node(ros_node)

    def spin(condition: Callable[[], bool], timeout_s: float = 20.0) -> bool:
        deadline = time.monotonic() + timeout_s
        while not condition():
            if time.monotonic() > deadline:
                return False
            executor.spin_once(timeout_sec=0.05)
        return True

    yield spin
    executor.shutdown()
