"""Walk with a velocity or to a goal, and compare the estimated base with the true one.

Run it in a second terminal while `make sim SCENE=humanoid ARGS="-p controller:=walk"` runs.
Ctrl-C stops the robot. For a robot in a namespace, add --ros-args -r __ns:=/humanoid
"""

import argparse
import signal
import sys
from collections.abc import Callable
from math import cos, hypot, isfinite, sin
from time import monotonic

import numpy as np
import rclpy
from geometry_msgs.msg import PoseStamped, TwistStamped
from lifecycle_msgs.msg import TransitionEvent
from nav_msgs.msg import Odometry
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args

RATE_HZ = 10.0
SLOWEST = 0.03  # m/s of a walk to a goal, with all turns
NOT_FOUND = (
    'no walking robot found: start `make sim SCENE=humanoid ARGS="-p controller:=walk"`, '
    "with the same ROS_DOMAIN_ID as here"
)
interrupts: list[bool] = []  # Ctrl-C was pressed


def finite(text: str) -> float:
    """Return a number of the command line, which must be finite."""
    if not isfinite(number := float(text)):
        raise ValueError
    return number


def options() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--forwards", type=float, default=0.2, help="m/s, default: %(default)s")
    add("--left", type=float, default=0.0, help="m/s, default: %(default)s")
    add("--turn", type=float, default=0.0, help="rad/s to the left, default: %(default)s")
    add("--seconds", type=float, default=6.0, help="default: %(default)s")
    add(
        "--goal",
        type=finite,
        nargs=3,
        metavar=("X", "Y", "YAW"),
        help="walk to a pose instead: m ahead, m to the left, rad to the left",
    )
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


def goal_pose(base: Odometry, x: float, y: float, yaw: float) -> PoseStamped:
    """Return a pose [m, rad] relative to the present one of a robot."""
    message = PoseStamped()
    message.header.frame_id = base.child_frame_id
    message.pose.position.x, message.pose.position.y = x, y
    message.pose.orientation.z, message.pose.orientation.w = sin(0.5 * yaw), cos(0.5 * yaw)
    return message


def walk(node: Node, args: argparse.Namespace) -> str:
    """Walk; return an error, empty without one."""
    clock, true, estimated, ends = node.get_clock(), [], [], []

    def note(event: TransitionEvent) -> None:
        state, label = event.start_state.label, event.transition.label
        # A push interrupts the walk to a goal, which continues afterwards.
        if label == "fell" or (state == "GO" and label != "pushed"):
            ends.append(label)

    node.create_subscription(Odometry, "odom", true.append, 10)
    node.create_subscription(Odometry, "odom_estimated", estimated.append, 10)
    node.create_subscription(TransitionEvent, "/walk/transition_event", note, 10)
    commands = node.create_publisher(TwistStamped, "cmd_vel", 10)
    goals = node.create_publisher(PoseStamped, "goal_pose", 10)
    used = goals if args.goal else commands
    print("waiting for a walking robot", file=sys.stderr)
    if not spin_until(
        node,
        lambda: true and estimated and used.get_subscription_count() and clock.now().nanoseconds,
    ):
        return NOT_FOUND
    starts, begin = (place(true[-1]), place(estimated[-1])), clock.now()

    def elapsed() -> float:
        return (clock.now() - begin).nanoseconds * 1e-9

    def is_over() -> object:
        return ends or elapsed() > longest

    def command(forwards: float, left: float, turn: float) -> None:
        message = TwistStamped()
        message.header.stamp = clock.now().to_msg()
        message.twist.linear.x, message.twist.linear.y = forwards, left
        message.twist.angular.z = turn
        commands.publish(message)

    def moved() -> tuple[np.ndarray, np.ndarray]:
        return place(true[-1]) - starts[0], place(estimated[-1]) - starts[1]

    def send() -> None:
        if not args.goal:
            command(args.forwards, args.left, args.turn)
        if len(sent) % RATE_HZ == 0:
            (x, y), (x_estimated, y_estimated) = moved()
            print(
                f"{elapsed():6.2f} s  true {x:6.3f} {y:6.3f} m  "
                f"estimated {x_estimated:6.3f} {y_estimated:6.3f} m"
            )
        sent.append(elapsed())
        del true[:-1], estimated[:-1]

    longest = 30.0 + hypot(*args.goal[:2]) / SLOWEST if args.goal else args.seconds
    sent: list[float] = []
    timer = node.create_timer(1.0 / RATE_HZ, send)
    if args.goal:
        goals.publish(goal_pose(estimated[-1], *args.goal))
    try:
        over = spin_until(node, is_over, 30.0 + 10.0 * longest)
    finally:  # also after Ctrl-C; without commands, the robot would stop after half a second
        node.destroy_timer(timer)
        if not args.goal:
            command(0.0, 0.0, 0.0)
        elif not ends:  # the goal is where it is
            goals.publish(goal_pose(estimated[-1], 0.0, 0.0, 0.0))
        used.wait_for_all_acked(Duration(seconds=1.0))
    if not over:
        return "the simulated time does not advance"
    if args.goal and ends[:1] != ["reached"]:
        return f"the goal was not reached: {ends[0] if ends else f'{longest:.0f} s are over'}"
    if ends and not args.goal:
        return "the robot fell"
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
