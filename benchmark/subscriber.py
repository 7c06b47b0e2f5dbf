"""A process that subscribes to every topic of a scene: ``python -m benchmark.subscriber``.

It takes the messages serialized, as a recorder does, and straight from a wait set, because rclpy's
executor collects all entities anew for each of the ten thousand messages a second. Until SIGINT or
SIGTERM it notes when each one was taken (CLOCK_MONOTONIC, which all processes share) and its stamp;
it prints when the first one of each topic was.
"""

import argparse
import gc
import signal
import struct
import sys
from array import array
from pathlib import Path
from time import monotonic_ns
from typing import Any

import numpy as np
import rclpy
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from tf2_msgs.msg import TFMessage

from benchmark.stations import topics_of

_STAMP = struct.Struct("<iI")
# CDR: 4 bytes of encapsulation, then the header's stamp; a TFMessage has its list's length first.
_STAMP_AT, _TF_STAMP_AT = 4, 8
_LOOK_NS = 50_000_000  # how often to see whether a signal came


class Inlet:
    """One subscription, and the times of arrival and the stamps of what it got, in turn [ns]."""

    def __init__(self, node: Node, name: str, message_type: type, qos: object) -> None:
        """Subscribe."""
        self.subscription = node.create_subscription(
            message_type, name, lambda _message: None, qos, raw=True
        )
        self.count = 0
        self.rows = array("q")
        self._name = name
        self._type = message_type
        self._stamp_at = _TF_STAMP_AT if message_type is TFMessage else _STAMP_AT

    def take(self, *, record: bool) -> None:
        """Take one message and note it."""
        taken = self.subscription.handle.take_message(self._type, True)
        if taken is None:
            return
        now = monotonic_ns()
        if not self.count:
            _say(f"{self._name} {now}")
        self.count += 1
        if record:
            sec, nanosec = _STAMP.unpack_from(taken[0], self._stamp_at)
            self.rows.append(now)
            self.rows.append(sec * 1_000_000_000 + nanosec)


class Ending:
    """Set by a signal."""

    def __init__(self) -> None:
        """Listen to SIGINT and SIGTERM."""
        self.asked = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._ask)

    def _ask(self, *_: object) -> None:
        self.asked = True


def main() -> int:
    """Listen until a signal comes, then save what arrived."""
    parser = argparse.ArgumentParser(prog="benchmark.subscriber", description=__doc__)
    parser.add_argument("scene")
    parser.add_argument("file", type=Path, help="where to save the arrivals (.npz)")
    parser.add_argument("--record", action="store_true", help="note every message, not the first")
    options = parser.parse_args()
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    ending = Ending()
    node = rclpy.create_node("benchmark_subscriber", start_parameter_services=False)
    inlets = {
        topic.name: Inlet(node, topic.name, type(topic.message), topic.qos)
        for topic in topics_of(options.scene)
    }
    gc.freeze()
    gc.disable()  # its pauses would be taken for latency
    _say("ready")
    listen(node, list(inlets.values()), ending, record=options.record)
    node.destroy_node()
    rclpy.shutdown()
    save(options.file, inlets)
    return 0


def listen(node: Node, inlets: list[Inlet], ending: Ending, *, record: bool) -> None:
    """Take what comes until the end is asked for."""
    handles = [inlet.subscription.handle for inlet in inlets]
    by_pointer = {inlet.subscription.handle.pointer: inlet for inlet in inlets}
    wait_set = rclpy_implementation.WaitSet(len(handles), 0, 0, 0, 0, 0, node.context.handle)
    while not ending.asked:
        wait_set.clear_entities()
        for handle in handles:
            wait_set.add_subscription(handle)
        wait_set.wait(_LOOK_NS)
        for pointer in wait_set.get_ready_entities("subscription"):
            by_pointer[pointer].take(record=record)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def save(file: Path, inlets: dict[str, Inlet]) -> None:
    """Save (arrival, stamp) of every message by topic, with colons for slashes.  # (n, 2)."""
    arrays: dict[str, Any] = {
        name.replace("/", ":"): np.array(inlet.rows, dtype=np.int64).reshape(-1, 2)
        for name, inlet in inlets.items()
    }
    np.savez(file, **arrays)


def load(file: Path) -> dict[str, np.ndarray]:
    """Return what `save` saved."""
    with np.load(file) as data:
        return {name.replace(":", "/"): data[name] for name in data.files}


if __name__ == "__main__":
    sys.exit(main())
