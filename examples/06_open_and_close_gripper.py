"""Open and close the gripper, and print whether it reaches its goal or stalls.

Run it in a second terminal while `make sim SCENE=arm` runs. Ctrl-C cancels: the fingers stop.
For a robot in a namespace, add --ros-args -r __ns:=/left_arm
"""

import argparse
import signal
import sys
from collections.abc import Callable
from time import monotonic

import rclpy
from control_msgs.action import ParallelGripperCommand
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args

ACTION = "gripper_controller/gripper_cmd"
NOT_FOUND = (
    "no gripper_controller found: a robot has one if the key gripper of its scene names a joint, "
    "a tendon or an actuator; start `make sim SCENE=arm`, with the same ROS_DOMAIN_ID as here"
)
INTERRUPTED = 130  # exit code of a program ended by Ctrl-C
interrupts: list[bool] = []  # Ctrl-C was pressed


def options() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--only", choices=("close", "open"), help="default: close, then open")
    add("--opened", type=float, default=0.03, help="joint position [m], default: %(default)s")
    add("--closed", type=float, default=0.0, help="joint position [m], default: %(default)s")
    add("--effort", type=float, help="limit when closing [N]; default: the controller's")
    return parser.parse_args(remove_ros_args(sys.argv)[1:])


def spin_until(node: Node, condition: Callable[[], object], seconds: float = 10.0) -> bool:
    """Spin until a condition is met; return whether it was within `seconds` of wall time."""
    deadline = monotonic() + seconds
    while not condition() and monotonic() < deadline:
        rclpy.spin_once(node, timeout_sec=0.1)
        if interrupts and interrupts.pop():
            raise KeyboardInterrupt
    return bool(condition())


def move(
    node: Node, client: ActionClient, position: float, effort: float | None
) -> ParallelGripperCommand.Result | None:
    """Move the gripper to a position and return the result; None if it was rejected."""
    goal = ParallelGripperCommand.Goal()
    goal.command.position = [position]
    goal.command.effort = [] if effort is None else [effort]
    accepted = client.send_goal_async(goal)
    if not spin_until(node, accepted.done) or not accepted.result().accepted:
        return None
    handle = accepted.result()
    result = handle.get_result_async()
    try:
        spin_until(node, lambda: result.done() or not client.server_is_ready(), float("inf"))
    except KeyboardInterrupt:
        handle.cancel_goal_async()
        spin_until(node, result.done)
        raise
    if not spin_until(node, result.done):
        sys.exit("the gripper controller has ended")
    return result.result().result


def summary(result: ParallelGripperCommand.Result) -> str:
    """Return the outcome of a motion as text."""
    position, effort = result.state.position[0], result.state.effort[0]
    where = f"at {position:.4f} m with an effort of {effort:.1f} N"
    if result.stalled:
        return f"stalled {where}: on an obstacle or a gripped object"
    return f"{'reached its goal' if result.reached_goal else 'was aborted'} {where}"


def operate(node: Node, args: argparse.Namespace) -> int | str:
    """Execute the motions; return the exit code, or an error."""
    client = ActionClient(node, ParallelGripperCommand, ACTION)
    if not spin_until(node, client.server_is_ready):
        return NOT_FOUND
    for motion in [args.only] if args.only else ["close", "open"]:
        position = args.opened if motion == "open" else args.closed
        result = move(node, client, position, args.effort if motion == "close" else None)
        if result is None:
            return f"{motion}: rejected; see the log of the simulator"
        print(f"{motion}: {summary(result)}")
        if not (result.reached_goal or result.stalled):
            return 1
    return 0


if __name__ == "__main__":
    args = options()
    # Replaces rclpy's handler: after Ctrl-C, the middleware must be alive to cancel the goal.
    # The handler sets a flag only: exceptions inside rclpy's code would be converted to others.
    signal.signal(signal.SIGINT, lambda *_: interrupts.append(True))
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        sys.exit(operate(rclpy.create_node("open_and_close_gripper"), args))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
