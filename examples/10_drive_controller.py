"""Tell what state a controller is in, ask it for transitions, and follow what becomes of that.

Run it in a second terminal while `make demo` runs, or
`make sim SCENE=humanoid ARGS="-p controller:=stand"`. Ctrl-C ends it.
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
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("transitions", nargs="*", help="to ask for, each as soon as it can be asked for")
    add("--controller", help="its name; default: the only one there is")
    add("--patience", type=float, default=30.0, help="seconds for each, default: %(default)s")
    add("--follow", type=float, default=0.0, help="seconds to go on telling, default: %(default)s")
    return parser.parse_args(remove_ros_args(sys.argv)[1:])


def spin_until(node: Node, condition: Callable[[], object], seconds: float = 10.0) -> bool:
    """Spin until a condition holds; return whether it did within `seconds` of wall time."""
    deadline = monotonic() + seconds
    while not condition() and monotonic() < deadline:
        rclpy.spin_once(node, timeout_sec=0.1)
        if interrupts and interrupts.pop():
            raise KeyboardInterrupt
    return bool(condition())


def controllers(node: Node) -> list[str]:
    """Return the nodes that speak as controllers do."""
    kind = "lifecycle_msgs/srv/ChangeState"
    services = node.get_service_names_and_types()
    return sorted(name.removesuffix(SERVICE) for name, kinds in services if kind in kinds)


class Controller:
    """A controller: where it stands, and what can be asked of it."""

    def __init__(self, node: Node, name: str) -> None:
        """Follow the controller whose node has that full name."""
        self.node, self.state, self.made = node, "", 0
        node.create_subscription(String, f"{name}/state", self._stand, LATCHED)
        node.create_subscription(TransitionEvent, f"{name}/transition_event", self._tell, 100)
        self._ask = node.create_client(GetAvailableTransitions, f"{name}/get_available_transitions")
        self._change = node.create_client(ChangeState, f"{name}{SERVICE}")

    def _stand(self, state: String) -> None:
        self.state = state.data

    def _tell(self, event: TransitionEvent) -> None:
        self.made += 1
        start, goal = event.start_state.label, event.goal_state.label
        print(f"{event.timestamp * 1e-9:9.3f} s  {start} -> {goal}: {event.transition.label}")

    def is_there(self) -> bool:
        """Return whether it says where it stands."""
        return spin_until(self.node, lambda: self.state)

    def available(self) -> list[str]:
        """Return the transitions that can be asked for now."""
        answer = self._call(self._ask, GetAvailableTransitions.Request())
        return [it.transition.label for it in answer.available_transitions]

    def ask(self, transition: str) -> bool:
        """Ask for a transition and await it; return False if it was refused."""
        request, before = ChangeState.Request(), self.made
        request.transition.label = transition
        accepted = bool(self._call(self._change, request).success)
        return accepted and spin_until(self.node, lambda: self.made > before)

    def _call(self, client: Client, request: object) -> object:
        spin_until(self.node, client.service_is_ready)
        answer = client.call_async(request)
        if not spin_until(self.node, answer.done):
            sys.exit("the controller does not answer")
        return answer.result()


def ask_one(controller: Controller, transition: str, patience: float) -> str:
    """Ask for a transition as soon as it is available; return what went wrong, if anything."""
    there: list[str] = []

    def can_be_asked_for() -> bool:
        there[:] = controller.available()
        return transition in there

    if spin_until(controller.node, can_be_asked_for, patience) and controller.ask(transition):
        return ""
    state, choices = controller.state, ", ".join(there) or "nothing"
    return f"'{transition}' cannot be asked for in {state}; there are: {choices}"


def drive(node: Node, wanted: argparse.Namespace) -> str:
    """Do what is wanted; return what went wrong, nothing if all went well."""
    if not spin_until(node, lambda: controllers(node)):
        return NOT_FOUND
    names = [name.strip("/") for name in controllers(node)]
    chosen = wanted.controller or names[0]
    if chosen not in names or (len(names) > 1 and not wanted.controller):
        return f"--controller is one of: {', '.join(names)}"
    controller = Controller(node, f"/{chosen}")
    if not controller.is_there():
        return f"{chosen} does not say where it stands"
    choices = ", ".join(controller.available()) or "nothing"
    print(f"{chosen} is in {controller.state}; to be asked for: {choices}")
    for transition in wanted.transitions:
        if problem := ask_one(controller, transition, wanted.patience):
            return problem
    spin_until(node, lambda: False, wanted.follow)
    return ""


if __name__ == "__main__":
    asked = options()
    # An exception amid rclpy's code would come out of it as another: it is raised between.
    signal.signal(signal.SIGINT, lambda *_: interrupts.append(True))
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        sys.exit(drive(rclpy.create_node("drive_controller"), asked) or 0)
    except KeyboardInterrupt:
        sys.exit(130)
