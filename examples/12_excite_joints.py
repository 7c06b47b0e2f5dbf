"""Move all joints at a time so that a recording determines their parameters, for `fit`.

Run it in a second terminal while `make sim SCENE=arm` runs, and `record` in a third. The robot must
not touch anything within the amplitude. Ctrl-C stops the joints.
For a robot in a namespace, add --ros-args -r __ns:=/left_arm
"""

import argparse
import signal
import sys
from collections.abc import Callable
from time import monotonic

import numpy as np
import rclpy
from control_msgs.msg import JointTrajectoryControllerState
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from mujoco_ros.identification.excitation import Excitation, excite

CONTROLLER = "joint_trajectory_controller"
PERIOD_S = 0.02  # of the waypoints; cubic splines connect them
SHOWN_EVERY_S = 5.0
INTERRUPTED = 130  # exit code of a program ended by Ctrl-C
NOT_FOUND = (
    "no joint_trajectory_controller found: start `make sim SCENE=arm`, with the same "
    "ROS_DOMAIN_ID as here"
)
interrupts: list[bool] = []  # Ctrl-C was pressed


def options() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--joints", nargs="+", help="default: all of the controller")
    add("--amplitude", type=float, default=0.3, help="rad or m, default: %(default)s")
    add("--fastest", type=float, default=1.5, help="Hz, default: %(default)s")
    add("--seconds", type=float, default=60.0, help="default: %(default)s")
    add("--seed", type=int, default=1, help="of the motion, default: %(default)s")
    return parser.parse_args(remove_ros_args(sys.argv)[1:])


def spin_until(node: Node, condition: Callable[[], object], seconds: float = 10.0) -> bool:
    """Spin until a condition is met; return whether it was within `seconds` of wall time."""
    deadline = monotonic() + seconds
    while not condition() and monotonic() < deadline:
        rclpy.spin_once(node, timeout_sec=0.1)
        if interrupts and interrupts.pop():
            raise KeyboardInterrupt
    return bool(condition())


def motion(args: argparse.Namespace, joints: list[str], start: list[float]) -> JointTrajectory:
    """Return the trajectory of joints that are at `start`."""
    settings = Excitation(
        amplitude=args.amplitude, duration=args.seconds, fastest=args.fastest, seed=args.seed
    )
    times = np.arange(PERIOD_S, args.seconds + 0.5 * PERIOD_S, PERIOD_S)
    offsets, velocities = excite(settings, len(joints), times)
    trajectory = JointTrajectory(joint_names=joints)
    for time, offset, velocity in zip(times, offsets, velocities, strict=True):
        point = JointTrajectoryPoint(
            positions=(np.array(start) + offset).tolist(), velocities=velocity.tolist()
        )
        point.time_from_start = Duration(seconds=float(time)).to_msg()
        trajectory.points.append(point)
    trajectory.points[-1].velocities = [0.0] * len(joints)
    return trajectory


def stamp(state: JointTrajectoryControllerState) -> float:
    """Return the stamp of a state [s]."""
    return state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec


def move(node: Node, args: argparse.Namespace) -> int | str:
    """Send the motion and wait for its end; return the exit code, or an error."""
    states: list[JointTrajectoryControllerState] = []

    def keep(state: JointTrajectoryControllerState) -> None:
        states[:] = [state]

    node.create_subscription(
        JointTrajectoryControllerState, f"{CONTROLLER}/controller_state", keep, 10
    )
    commands = node.create_publisher(JointTrajectory, f"{CONTROLLER}/joint_trajectory", 10)
    if not spin_until(node, lambda: states and commands.get_subscription_count()):
        return NOT_FOUND
    now = dict(zip(states[0].joint_names, states[0].reference.positions, strict=True))
    joints = args.joints or list(now)
    if wrong := [joint for joint in joints if joint not in now]:
        return f"the controller has no joint '{wrong[0]}'; it has: {', '.join(now)}"
    start = stamp(states[0])
    commands.publish(motion(args, joints, [now[joint] for joint in joints]))
    try:
        for end in [*np.arange(SHOWN_EVERY_S, args.seconds, SHOWN_EVERY_S), args.seconds + 0.5]:
            while not spin_until(node, lambda end=end: stamp(states[0]) >= start + end):
                pass
            print(f"{min(end, args.seconds):6.1f} of {args.seconds:.1f} s", flush=True)
    except KeyboardInterrupt:
        commands.publish(JointTrajectory(joint_names=joints))  # without waypoints: a stop
        spin_until(node, lambda: commands.wait_for_all_acked(Duration(seconds=1.0)))
        print("stopped")
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    args = options()
    # Replaces rclpy's handler: after Ctrl-C, the middleware must be alive to stop the joints.
    signal.signal(signal.SIGINT, lambda *_: interrupts.append(True))
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        sys.exit(move(rclpy.create_node("excite_joints"), args))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
