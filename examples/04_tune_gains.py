"""Scale the PD gains of a running robot, and print error and torque of a joint.

Run it in a second terminal while `make sim SCENE=arm` runs. Ctrl-C restores the gains.
For a robot in a namespace, add --ros-args -r __ns:=/left_arm
"""

import argparse
import signal
import sys
from collections.abc import Callable
from time import monotonic

import rclpy
from control_msgs.msg import JointTrajectoryControllerState
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.parameter_client import AsyncParameterClient
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args

SIMULATOR = "/mujoco"
STATE = "joint_trajectory_controller/controller_state"
NOT_FOUND = "no simulator found: start `make sim SCENE=arm`, with the same ROS_DOMAIN_ID as here"

Gains = dict[str, float]  # by the name of the parameter
interrupts: list[bool] = []  # Ctrl-C was pressed


def options() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--joint", default="elbow_joint", help="joint to print, default: %(default)s")
    add("--scale", type=float, nargs="+", default=[0.25, 0.5, 2.0], help="factors of kp, in turn")
    add("--settle", type=float, default=1.0, help="simulated seconds, default: %(default)s")
    add("--keep", action="store_true", help="keep the last gains instead of the original ones")
    return parser.parse_args(remove_ros_args(sys.argv)[1:])


def spin_until(node: Node, condition: Callable[[], object], seconds: float = 10.0) -> bool:
    """Spin until a condition is met; return whether it was within `seconds` of wall time."""
    deadline = monotonic() + seconds
    while not condition() and monotonic() < deadline:
        rclpy.spin_once(node, timeout_sec=0.1)
        if interrupts and interrupts.pop():
            raise KeyboardInterrupt
    return bool(condition())


class Robot:
    """A robot in the namespace of a node: its gains and the state of its controller."""

    def __init__(self, node: Node) -> None:
        """Create the clients and subscriptions."""
        self.node = node
        self.state = JointTrajectoryControllerState()
        self.client = AsyncParameterClient(node, SIMULATOR)
        namespace = node.get_namespace().strip("/").replace("/", ".")
        self.prefix = f"{namespace}.gains" if namespace else "gains"
        node.create_subscription(JointTrajectoryControllerState, STATE, self._receive, 10)

    def _receive(self, state: JointTrajectoryControllerState) -> None:
        self.state = state

    def is_ready(self) -> bool:
        """Return whether the simulator is found."""
        return spin_until(
            self.node, lambda: self.client.services_are_ready() and self.state.joint_names
        )

    def gains(self) -> Gains:
        """Return all gains of the robot, for the joints that a torque motor drives."""
        listed = self.client.list_parameters([self.prefix])
        spin_until(self.node, listed.done)
        names = list(listed.result().result.names)
        got = self.client.get_parameters(names)
        spin_until(self.node, got.done)
        return dict(zip(names, map(parameter_value_to_python, got.result().values), strict=True))

    def set_gains(self, gains: Gains) -> str:
        """Set all gains or none; return the reason of a rejection, empty without one."""
        parameters = [Parameter(name, value=value) for name, value in gains.items()]
        answer = self.client.set_parameters_atomically(parameters)
        if not spin_until(self.node, answer.done):
            return "the simulator does not respond"
        result = answer.result().result
        return "" if result.successful else result.reason

    def settle(self, seconds: float) -> None:
        """Wait for some simulated time."""
        until = stamp(self.state) + seconds
        spin_until(self.node, lambda: stamp(self.state) > until, 30.0 + 10.0 * seconds)


def stamp(state: JointTrajectoryControllerState) -> float:
    """Return the simulated time of a state [s]."""
    return state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec


def tune(robot: Robot, args: argparse.Namespace) -> str:
    """Apply each scale; return an error, empty without one."""
    if not robot.is_ready():
        return NOT_FOUND
    first = robot.gains()
    kp, kd = (f"{robot.prefix}.{args.joint}.{gain}" for gain in ("kp", "kd"))
    if kp not in first:
        joints = [name.split(".")[-2] for name in first if name.endswith(".kp")]
        if not joints:
            return "this robot has no gains: no torque motor drives a joint"
        return f"no gains of a joint '{args.joint}' here; --joint is one of: {', '.join(joints)}"
    joint = list(robot.state.joint_names).index(args.joint)
    print(f"{'kp':>10} {'kd':>8} {'error':>10} {'kp·error':>9} {'torque':>9}  of {args.joint}")
    problem = ""
    try:
        for scale in [1.0, *args.scale]:
            # kd by the root of the scale keeps the damping ratio.
            new = {
                n: v * (scale if n.endswith(".kp") else abs(scale) ** 0.5) for n, v in first.items()
            }
            problem = robot.set_gains(new)
            if problem:
                break
            robot.settle(args.settle)
            error, torque = robot.state.error.positions[joint], robot.state.feedback.effort[joint]
            print(
                f"{new[kp]:10.1f} {new[kd]:8.1f} {error:10.6f} {new[kp] * error:9.3f} {torque:9.3f}"
            )
    finally:
        if not args.keep:
            robot.set_gains(first)
    if problem:
        return f"rejected, no gains changed: {problem}"
    print(f"{len(first)} gains {'kept' if args.keep else 'restored'}")
    return ""


if __name__ == "__main__":
    args = options()
    # Replaces rclpy's handler: after Ctrl-C, the middleware must be alive to restore the gains.
    # The handler sets a flag only: exceptions inside rclpy's code would be converted to others.
    signal.signal(signal.SIGINT, lambda *_: interrupts.append(True))
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        sys.exit(tune(Robot(rclpy.create_node("tune_gains")), args) or 0)
    except KeyboardInterrupt:
        sys.exit(130)
