"""Swing a joint along a sine, with commands streamed over joint_commands, and see it follow.

Run it in a second terminal while `make sim SCENE=arm` runs.
For a robot in a namespace, add --ros-args -r __ns:=/left_arm
"""

import argparse
import signal
import sys
from collections.abc import Callable
from time import monotonic

import numpy as np
import rclpy
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args
from sensor_msgs.msg import JointState

RATE_HZ = 100.0
SHOWN_EVERY = 40  # commands
DELAYS_S = np.arange(0.0, 0.1, 0.001)  # among which that of the joint is looked for
NOT_FOUND = "no robot found: start `make sim SCENE=arm`, with the same ROS_DOMAIN_ID as here"
interrupts: list[bool] = []  # by Ctrl-C


def options() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--joint", default="elbow_joint", help="default: %(default)s")
    add("--amplitude", type=float, default=0.15, help="rad or m, default: %(default)s")
    add("--frequency", type=float, default=0.5, help="Hz, default: %(default)s")
    add("--periods", type=int, default=3, help="default: %(default)s")
    add("--tolerance", type=float, default=0.01, help="rad or m, default: %(default)s")
    return parser.parse_args(remove_ros_args(sys.argv)[1:])


def spin_until(node: Node, condition: Callable[[], object], seconds: float = 10.0) -> bool:
    """Spin until a condition holds; return whether it did within `seconds` of wall time."""
    deadline = monotonic() + seconds
    while not condition() and monotonic() < deadline:
        rclpy.spin_once(node, timeout_sec=0.1)
        if interrupts and interrupts.pop():
            raise KeyboardInterrupt
    return bool(condition())


def swing(node: Node, wanted: argparse.Namespace) -> str:
    """Swing the joint; return what went wrong, nothing if all went well."""
    clock = node.get_clock()
    states: list[JointState] = []
    node.create_subscription(JointState, "joint_states", states.append, 100)
    commands = node.create_publisher(JointState, "joint_commands", 10)
    if not spin_until(
        node, lambda: states and commands.get_subscription_count() and clock.now().nanoseconds
    ):
        return NOT_FOUND
    names = list(states[-1].name)
    if wanted.joint not in names:
        return f"no joint '{wanted.joint}' here; --joint is one of: {', '.join(names)}"
    joint = names.index(wanted.joint)
    origin, omega = states[-1].position[joint], 2 * np.pi * wanted.frequency
    duration, start = wanted.periods / wanted.frequency, clock.now()
    sent = 0
    states.clear()

    def elapsed() -> float:
        return (clock.now() - start).nanoseconds * 1e-9

    def position(time: float | np.ndarray) -> float | np.ndarray:
        # Begins and ends at rest, where the joint was.
        return origin + wanted.amplitude * (1.0 - np.cos(omega * np.clip(time, 0.0, duration)))

    def command(q: float, dq: float) -> None:
        # Without the velocity, the damping of the PD law would hold the joint back.
        message = JointState(name=[wanted.joint], position=[q], velocity=[dq])
        message.header.stamp = clock.now().to_msg()
        commands.publish(message)

    def send() -> None:
        nonlocal sent
        time = min(elapsed(), duration)
        command(position(time), wanted.amplitude * omega * np.sin(omega * time))
        if sent % SHOWN_EVERY == 0 and states:
            measured = states[-1].position[joint]
            print(f"{time:6.2f} s  commanded {position(time):8.4f}  measured {measured:8.4f}")
        sent += 1

    timer = node.create_timer(1.0 / RATE_HZ, send)
    try:
        over = spin_until(node, lambda: elapsed() > duration + 0.2, 30.0 + 10.0 * duration)
    finally:  # also after Ctrl-C: who stops streaming leaves the last velocity behind
        node.destroy_timer(timer)
        command(position(elapsed()), 0.0)
        commands.wait_for_all_acked(Duration(seconds=1.0))
    if not over:
        return "the simulation stands still"

    times = np.array([s.header.stamp.sec + 1e-9 * s.header.stamp.nanosec for s in states])
    times -= start.nanoseconds * 1e-9
    measured = np.array([s.position[joint] for s in states])
    errors = [float(np.abs(measured - position(times - delay)).max()) for delay in DELAYS_S]
    best = int(np.argmin(errors))
    print(
        f"{wanted.joint} got {sent} commands and followed {1e3 * DELAYS_S[best]:.0f} ms behind; "
        f"apart from that it was off by {errors[best]:.4f} at most"
    )
    if errors[best] > wanted.tolerance:
        return "that is no following; the log of the simulator and /diagnostics may say why"
    return ""


if __name__ == "__main__":
    asked = options()
    # Without rclpy's own handler, Ctrl-C leaves the middleware alive to stop the joint with.
    # An exception amid rclpy's code would come out of it as another: it is raised between.
    signal.signal(signal.SIGINT, lambda *_: interrupts.append(True))
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    # In simulated time, timers and stamps are right at any real-time factor.
    simulated = Parameter("use_sim_time", value=True)
    sine = rclpy.create_node("stream_sine", parameter_overrides=[simulated])
    try:
        sys.exit(swing(sine, asked) or 0)
    except KeyboardInterrupt:
        sys.exit(130)
