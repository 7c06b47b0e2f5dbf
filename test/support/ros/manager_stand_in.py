"""A process with the topics and the timing of a controller_manager; see `Manager`.

Run as ``python manager_stand_in.py <rate> <cycles> <begin> <file>``: it ends after a number of
cycles from the simulated time `begin` [s] on, and writes what it saw to a file.
"""

import contextlib
import json
import math
import os
import signal
import sys
import threading
import time
from pathlib import Path

import rclpy
from hardware_blocks import read_blocks
from rclpy._rclpy_pybind11 import RCLError
from rclpy.duration import Duration
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import String
from topic_hardware import TopicHardware

_SIM_TIME = [Parameter("use_sim_time", value=True)]
_LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
_AMPLITUDE = 0.005
_FEEDBACK = 0.25
_DELIVERY_S = 0.3
"""Time for messages in flight to leave this process."""


class Manager:
    """The loop of ros2_control_node in simulated time.

    - A thread sleeps until the clock reaches the time of the last cycle and a period; the time of
      a cycle is that of the newest clock message when it begins, however late.
    - Each component has a node, and so a subscription to the clock, of its own; its states are the
      newest message that an executor with several threads has delivered.
    - A cycle reads all components, computes the commands and writes all components.

    The commands of the first joint of a component follow a cosine and its measured position from
    the time `begin` on, so that another state or another time gives another command. All others
    are NaN, as without a controller.
    """

    def __init__(self, rate: int, begin: float) -> None:
        self.cycles: list[tuple[int, int, list[int]]] = []  # time, period, age of each state [ns]
        self._rate, self._begin = rate, round(begin * 1e9)
        self._executor = MultiThreadedExecutor(2)
        self.node = Node("controller_manager", parameter_overrides=_SIM_TIME)
        self._executor.add_node(self.node)
        self._described = threading.Event()
        self._hardware: list[TopicHardware] = []
        self._rest: dict[tuple[str, str], float] = {}
        self.node.create_subscription(String, "robot_description", self._describe, _LATCHED)
        threading.Thread(target=self._spin, daemon=True).start()

    def _spin(self) -> None:
        with contextlib.suppress(ExternalShutdownException, RCLError):  # at the end
            self._executor.spin()

    def _describe(self, description: String) -> None:
        if self._described.is_set():
            return
        for block in read_blocks(description.data):
            node = Node(block.name, parameter_overrides=_SIM_TIME)
            self._hardware.append(TopicHardware(node, block))
            self._executor.add_node(node)
        self._described.set()

    def run(self, cycles: int) -> None:
        """Run cycles, the last `cycles` from the time `begin` on."""
        clock, period = self.node.get_clock(), Duration(nanoseconds=1_000_000_000 // self._rate)
        self._described.wait()
        while not clock.now().nanoseconds:
            clock.sleep_for(Duration(nanoseconds=1))
        clock.sleep_for(period)
        previous = clock.now()
        while rclpy.ok() and sum(at >= self._begin for at, _, _ in self.cycles[-cycles:]) < cycles:
            now = clock.now()
            measured, previous = (now - previous).nanoseconds, now
            for component in self._hardware:
                component.read()
            ages = [now.nanoseconds - component.stamp for component in self._hardware]
            self.cycles.append((now.nanoseconds, measured, ages))
            if now.nanoseconds >= self._begin:
                self._update((now.nanoseconds - self._begin) * 1e-9)
            for component in self._hardware:
                component.write()
            clock.sleep_until(previous + period)

    def close(self) -> None:
        """Report that the topics are gone, which others notice after 20 s otherwise."""
        rclpy.shutdown()
        for component in self._hardware:
            component.close()
        time.sleep(_DELIVERY_S)

    def _update(self, elapsed: float) -> None:
        for component in self._hardware:
            key = next((key for key in component.commands if key[1] == "position"), None)
            if key is not None:
                position = component.states[key]
                rest = self._rest.setdefault(key, position)
                wanted = rest - _AMPLITUDE * (1.0 - math.cos(2.0 * math.pi * elapsed))
                component.commands[key] = wanted - _FEEDBACK * (position - wanted)


def main() -> None:
    rate, cycles, begin, file = sys.argv[1:]
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    # The executor polls while a callback waits for the lock of the interpreter, which it would get
    # every 5 ms only, several times in a tick: 4 ticks a second instead of 130 on idle processors.
    sys.setswitchinterval(1e-4)
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    manager = Manager(int(rate), float(begin))

    def run() -> None:
        manager.run(int(cycles))
        Path(file).write_text(json.dumps(manager.cycles))
        ended.set()

    threading.Thread(target=run, daemon=True).start()
    while not ended.wait(0.1):  # in slices, in which signals are handled
        pass
    manager.close()
    os._exit(0)  # the loop may sleep until a time that does not come


if __name__ == "__main__":
    main()
