"""Print the active state of a controller, request transitions, and monitor the progress.

Run it in a second terminal while `make demo` runs, or
`make sim SCENE=humanoid ARGS="-p controller:=stand"`. Ctrl-C ends it.
It finds controllers in every namespace, so --ros-args -r __ns:=… has no effect.
"""

import argparse
import signal
import sys
from collections.abc import Callable
from time import monotonic

import rclpy
from lifecycle_msgs.msg import TransitionEvent
from lifecycle_msgs.srv import ChangeState, GetAvailableTransitions
from rclpy.client import Client
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args
from std_msgs.msg import String

NOT_FOUND = "no controller found: start `make demo`, with the same ROS_DOMAIN_ID as here"
SERVICE = "/change_state"
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
interrupts: list[bool] = []  # by Ctrl-C


def options() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("transitions", nargs="*", help="transitions to request, each as soon as it is available")
    add("--controller", help="name of the controller; default: the only one")
    add("--patience", type=float, default=30.0, help="timeout of each in s, default: %(default)s")
    add("--follow", type=float, default=0.0, help="time to monitor in s, default: %(default)s")
    return parser.parse_args(remove_ros_args(sys.argv)[1:])


def spin_until(node: Node, condition: Callable[[], object], seconds: float = 10.0) -> bool:
    """Spin until a condition holds, or for `seconds` of wall time; return whether it holds."""
    deadline = monotonic() + seconds
    while not condition() and monotonic() < deadline:
        rclpy.spin_once(node, timeout_sec=0.1)
        if interrupts and interrupts.pop():
            raise KeyboardInterrupt
    return bool(condition())


def controllers(node: Node) -> list[str]:
    """Return the names of all nodes with the service of a controller."""
    kind = "lifecycle_msgs/srv/ChangeState"
    services = node.get_service_names_and_types()
    return sorted(name.removesuffix(SERVICE) for name, kinds in services if kind in kinds)


class Controller:
    """Client of a controller: its state and its transitions."""

    def __init__(self, node: Node, name: str) -> None:
        """Subscribe to the controller with that full node name."""
        self.node, self.state, self.made = node, "", 0
        node.create_subscription(String, f"{name}/state", self._set_state, LATCHED)
        node.create_subscription(TransitionEvent, f"{name}/transition_event", self._print, 100)
        node.create_subscription(String, f"{name}/reason", self._print_reason, LATCHED)
        kind = GetAvailableTransitions
        self._list = node.create_client(kind, f"{name}/get_available_transitions")
        self._graph = node.create_client(kind, f"{name}/get_transition_graph")
        self._change = node.create_client(ChangeState, f"{name}{SERVICE}")

    def _set_state(self, state: String) -> None:
        self.state = state.data

    def _print_reason(self, reason: String) -> None:
        if self.made and reason.data not in ("", "requested"):  # not what was latched before
            print(f"{'':11}  because: {reason.data}")

    def _print(self, event: TransitionEvent) -> None:
        self.made += 1
        start, goal = event.start_state.label, event.goal_state.label
        print(f"{event.timestamp * 1e-9:9.3f} s  {start} -> {goal}: {event.transition.label}")

    def has_state(self) -> bool:
        """Return whether the state was received."""
        return spin_until(self.node, lambda: self.state)

    def available(self) -> list[str]:
        """Return the labels of the transitions that can be requested now."""
        return self._labels(self._list)

    def all(self) -> list[str]:
        """Return the labels of all transitions."""
        return sorted({*self._labels(self._graph), "activate", "deactivate"})

    def request(self, transition: str) -> bool:
        """Request a transition and wait for it; return False if it was rejected."""
        request, before = ChangeState.Request(), self.made
        request.transition.label = transition
        accepted = bool(self._call(self._change, request).success)
        return accepted and spin_until(self.node, lambda: self.made > before)

    def _labels(self, client: Client) -> list[str]:
        response = self._call(client, GetAvailableTransitions.Request())
        return [found.transition.label for found in response.available_transitions]

    def _call(self, client: Client, request: object) -> object:
        spin_until(self.node, client.service_is_ready)
        response = client.call_async(request)
        if not spin_until(self.node, response.done):
            sys.exit("the controller does not respond")
        return response.result()


def request_when_available(controller: Controller, transition: str, timeout: float) -> str:
    """Request a transition as soon as it is available; return an error message, if any."""
    labels = controller.all()
    if transition not in labels:
        return f"there is no transition '{transition}'; there are: {', '.join(labels)}"

    def is_available() -> bool:
        labels[:] = controller.available()
        return transition in labels

    if spin_until(controller.node, is_available, timeout) and controller.request(transition):
        return ""
    choices = ", ".join(labels) or "nothing"
    return f"'{transition}' is not available in {controller.state}; available: {choices}"


def drive(node: Node, args: argparse.Namespace) -> str:
    """Request all transitions; return an error message, if any."""
    if not spin_until(node, lambda: controllers(node)):
        return NOT_FOUND
    names = [name.strip("/") for name in controllers(node)]
    chosen = args.controller or names[0]
    if chosen not in names or (len(names) > 1 and not args.controller):
        return f"--controller is one of: {', '.join(names)}"
    controller = Controller(node, f"/{chosen}")
    if not controller.has_state():
        return f"{chosen} does not publish its state"
    choices = ", ".join(controller.available()) or "nothing"
    print(f"{chosen} is in {controller.state}; available: {choices}")
    for transition in args.transitions:
        if problem := request_when_available(controller, transition, args.patience):
            return problem
    spin_until(node, lambda: False, args.follow)
    return ""


if __name__ == "__main__":
    args = options()
    # rclpy would convert an exception in its code to another one, so the handler raises none.
    signal.signal(signal.SIGINT, lambda *_: interrupts.append(True))
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        sys.exit(drive(rclpy.create_node("drive_controller"), args) or 0)
    except KeyboardInterrupt:
        sys.exit(130)
