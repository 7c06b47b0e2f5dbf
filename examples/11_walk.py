"""Walk with a commanded velocity, and compare the estimated base with the true one.

Run it in a second terminal while `make sim SCENE=humanoid ARGS="-p controller:=walk"` runs.
Ctrl-C stops the robot.
"""

import argparse
import signal
import sys
from collections.abc import Callable
from time import monotonic

import numpy as np
import rclpy
from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args

RATE_HZ = 10.0
NOT_FOUND = (
    'no walking robot found: start `make sim SCENE=humanoid ARGS="-p controller:=walk"`, '
    "with the same ROS_DOMAIN_ID as here"
)
interrupts: list[bool] = []  # Ctrl-C was pressed


def options() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--forwards", type=float, default=0.2, help="m/s, default: %(default)s")
    add("--left", type=float, default=0.0, help="m/s, default: %(default)s")
    add("--turn", type=float, default=0.0, help="rad/s to the left, default: %(default)s")
    add("--seconds", type=float, default=6.0, help="default: %(default)s")
    return parser.parse_args(remove_ros_args(sys.argv)[1:])


def spin_until(node: Node, condition: Callable[[], object], seconds: float = 30.0) -> bool:
    """Spin until a condition is met; return whether it was within `seconds` of wall time."""
    deadline = monotonic() + seconds
    while not condition() and monotonic() < deadline:
        rclpy.spin_once(node, timeout_sec=0.1)
        if interrupts and interrupts.pop():
            raise KeyboardInterrupt
    return bool(condition())


def place(odometry: Odometry) -> np.ndarray:
    """Return x and y of a base [m].  # (2,)"""
    at = odometry.pose.pose.position
    return np.array([at.x, at.y])


def walk(node: Node, args: argparse.Namespace) -> str:
    """Walk; return an error, empty without one."""
    clock, true, estimated = node.get_clock(), [], []
    node.create_subscription(Odometry, "odom", true.append, 10)
    node.create_subscription(Odometry, "odom_estimated", estimated.append, 10)
    commands = node.create_publisher(TwistStamped, "cmd_vel", 10)
    print("waiting for a walking robot", file=sys.stderr)
    if not spin_until(
        node,
        lambda: (
            true and estimated and commands.get_subscription_count() and clock.now().nanoseconds
        ),
    ):
        return NOT_FOUND
    starts, begin = (place(true[-1]), place(estimated[-1])), clock.now()

    def elapsed() -> float:
        return (clock.now() - begin).nanoseconds * 1e-9

    def command(forwards: float, left: float, turn: float) -> None:
        message = TwistStamped()
        message.header.stamp = clock.now().to_msg()
        message.twist.linear.x, message.twist.linear.y = forwards, left
        message.twist.angular.z = turn
        commands.publish(message)

    def moved() -> tuple[np.ndarray, np.ndarray]:
        return place(true[-1]) - starts[0], place(estimated[-1]) - starts[1]

    def send() -> None:
        command(args.forwards, args.left, args.turn)
        if len(sent) % RATE_HZ == 0:
            (x, y), (x_estimated, y_estimated) = moved()
            print(
                f"{elapsed():6.2f} s  true {x:6.3f} {y:6.3f} m  "
                f"estimated {x_estimated:6.3f} {y_estimated:6.3f} m"
            )
        sent.append(elapsed())
        del true[:-1], estimated[:-1]

    sent: list[float] = []
    timer = node.create_timer(1.0 / RATE_HZ, send)
    try:
        over = spin_until(node, lambda: elapsed() > args.seconds, 30.0 + 10.0 * args.seconds)
    finally:  # also after Ctrl-C; without commands, the robot would stop after half a second
        node.destroy_timer(timer)
        command(0.0, 0.0, 0.0)
        commands.wait_for_all_acked(Duration(seconds=1.0))
    if not over:
        return "the simulated time does not advance"
    truth, estimate = moved()
    apart = 1e3 * float(np.hypot(*(truth - estimate)))
    print(f"moved by {np.hypot(*truth):.3f} m; the estimate is {apart:.0f} mm beside the truth")
    return ""


if __name__ == "__main__":
    args = options()
    # The handler sets a flag only: exceptions inside rclpy's code would be converted to others.
    signal.signal(signal.SIGINT, lambda *_: interrupts.append(True))
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    simulated = Parameter("use_sim_time", value=True)
    walker = rclpy.create_node("walk_example", parameter_overrides=[simulated])
    try:
        sys.exit(walk(walker, args) or 0)
    except KeyboardInterrupt:
        sys.exit(130)
