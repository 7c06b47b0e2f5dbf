"""Send a trajectory to the joint trajectory controller, and print feedback and result.

Run it in a second terminal while `make sim SCENE=arm` runs. Ctrl-C cancels: the joints stop.
For a robot in a namespace, add --ros-args -r __ns:=/left_arm
"""

import argparse
import signal
import sys
from collections.abc import Callable
from time import monotonic

import rclpy
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance, JointTrajectoryControllerState
from rclpy.action import ActionClient
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args
from trajectory_msgs.msg import JointTrajectoryPoint

SHOWN_EVERY_S = 0.5
INTERRUPTED = 130  # exit code of a program ended by Ctrl-C
NOT_FOUND = (
    "no {} found: for one of several robots, add "
    "--ros-args -r __ns:=/<robot>; else start `make sim SCENE=arm`, with the same "
    "ROS_DOMAIN_ID as here"
)
MANY = 8  # joints of a robot that is not an arm: --joints is then required
interrupts: list[bool] = []  # Ctrl-C was pressed


def options() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--joints", nargs="+", help="default: all of the controller")
    add("--controller", default="joint_trajectory_controller", help="default: %(default)s")
    path = parser.add_mutually_exclusive_group()
    path.add_argument(
        "--by", type=float, default=-0.2, help="rad or m, there and back, default: %(default)s"
    )
    path.add_argument("--to", type=float, nargs="+", help="goal: one position for each joint")
    add("--seconds", type=float, default=2.0, help="duration of each motion, default: %(default)s")
    add("--path-tolerance", type=float, default=0.05, help="rad or m, default: %(default)s")
    add("--goal-tolerance", type=float, default=0.01, help="rad or m, default: %(default)s")
    return parser.parse_args(remove_ros_args(sys.argv)[1:])


def spin_until(node: Node, condition: Callable[[], object], seconds: float = 10.0) -> bool:
    """Spin until a condition is met; return whether it was within `seconds` of wall time."""
    deadline = monotonic() + seconds
    while not condition() and monotonic() < deadline:
        rclpy.spin_once(node, timeout_sec=0.1)
        if interrupts and interrupts.pop():
            raise KeyboardInterrupt
    return bool(condition())


def make_goal(
    args: argparse.Namespace, joints: list[str], positions: list[float]
) -> FollowJointTrajectory.Goal:
    """Return a goal for joints at `positions`."""
    path = [args.to] if args.to else [[q + args.by for q in positions], positions]
    goal = FollowJointTrajectory.Goal()
    goal.trajectory.joint_names = joints
    rest = [0.0] * len(joints)
    for number, waypoint in enumerate(path, 1):
        # With accelerations the spline is quintic; with velocities alone, cubic; else linear.
        point = JointTrajectoryPoint(positions=waypoint, velocities=rest, accelerations=rest)
        point.time_from_start = Duration(seconds=number * args.seconds).to_msg()
        goal.trajectory.points.append(point)
    for joint in joints:
        goal.path_tolerance.append(JointTolerance(name=joint, position=args.path_tolerance))
        goal.goal_tolerance.append(JointTolerance(name=joint, position=args.goal_tolerance))
    goal.goal_time_tolerance = Duration(seconds=1.0).to_msg()
    return goal


def show(feedback: FollowJointTrajectory.Feedback, joints: list[str], shown: list[float]) -> None:
    """Print the feedback, which is for all joints of the controller, every SHOWN_EVERY_S."""
    time = Duration.from_msg(feedback.desired.time_from_start).nanoseconds * 1e-9
    if not shown or time >= shown[-1] + SHOWN_EVERY_S:
        shown.append(time)
        errors = dict(zip(feedback.joint_names, feedback.error.positions, strict=True))
        worst = max(joints, key=lambda joint: abs(errors[joint]))
        print(f"{time:6.2f} s  largest error {abs(errors[worst]):.4f} rad or m, of {worst}")


def send(node: Node, args: argparse.Namespace) -> int | str:
    """Send the trajectory and wait for its result; return the exit code, or an error."""
    states: list[JointTrajectoryControllerState] = []
    topic = f"{args.controller}/controller_state"
    node.create_subscription(JointTrajectoryControllerState, topic, states.append, 10)
    client = ActionClient(node, FollowJointTrajectory, f"{args.controller}/follow_joint_trajectory")
    if not spin_until(node, lambda: states and client.server_is_ready()):
        return NOT_FOUND.format(args.controller)
    now = dict(zip(states[-1].joint_names, states[-1].reference.positions, strict=True))
    joints = args.joints or list(now)
    if not args.joints and len(now) > MANY:
        some = f"--joints is required, such as --joints {' '.join(joints[-2:])}"
        return f"{some}; there are {len(now)}: {', '.join(now)}"
    if wrong := [joint for joint in joints if joint not in now]:
        return f"the controller has no joint '{wrong[0]}'; it has: {', '.join(now)}"
    if args.to and len(args.to) != len(joints):
        return f"--to has {len(args.to)} positions; there are {len(joints)}: {', '.join(joints)}"

    shown: list[float] = []
    goal = make_goal(args, joints, [now[joint] for joint in joints])
    accepted = client.send_goal_async(goal, lambda m: show(m.feedback, joints, shown))
    if not spin_until(node, accepted.done):
        return "the controller does not respond"
    handle = accepted.result()
    if not handle.accepted:
        return "the goal was rejected; see the log of the simulator"
    result = handle.get_result_async()
    try:
        spin_until(node, lambda: result.done() or not client.server_is_ready(), float("inf"))
    except KeyboardInterrupt:
        handle.cancel_goal_async()
        spin_until(node, result.done)
    if not spin_until(node, result.done):
        return "the controller has ended"
    status, outcome = result.result().status, result.result().result
    if status == GoalStatus.STATUS_SUCCEEDED:
        print(f"succeeded: {outcome.error_string}")
        return 0
    if status == GoalStatus.STATUS_CANCELED:
        print("canceled: the joints stop")
        return INTERRUPTED
    return f"aborted with error code {outcome.error_code}: {outcome.error_string}"


if __name__ == "__main__":
    args = options()
    # Replaces rclpy's handler: after Ctrl-C, the middleware must be alive to cancel the goal.
    # The handler sets a flag only: exceptions inside rclpy's code would be converted to others.
    signal.signal(signal.SIGINT, lambda *_: interrupts.append(True))
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        sys.exit(send(rclpy.create_node("send_trajectory"), args))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
