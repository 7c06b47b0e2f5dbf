"""Process that subscribes to every topic of a scene: ``python -m benchmark.processes.subscriber``.

It takes serialized messages, as a recorder does, directly from a wait set: rclpy's executor would
collect all entities for each of ten thousand messages per second. Until SIGINT or SIGTERM it
records the reception time (CLOCK_MONOTONIC, common to all processes) and the stamp of each message;
it prints the reception time of the first message of each topic.
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

from benchmark.processes.scene_topics import topics_of

_STAMP = struct.Struct("<iI")
# CDR: 4 bytes of encapsulation, then the header's stamp; a TFMessage has its list's length first.
_STAMP_AT, _TF_STAMP_AT = 4, 8
POLL_NS = 50_000_000  # period of the check for signals


class TopicRecord:
    """A subscription with the reception times and stamps of its messages, alternating [ns]."""

    def __init__(self, node: Node, name: str, message_type: type, qos: object) -> None:
        self.subscription = node.create_subscription(
            message_type, name, lambda _message: None, qos, raw=True
        )
        self.count = 0
        self.rows = array("q")
        self._name = name
        self._type = message_type
        self._stamp_at = _TF_STAMP_AT if message_type is TFMessage else _STAMP_AT

    def take(self, *, record: bool) -> None:
        """Take one message and record it."""
        taken = self.subscription.handle.take_message(self._type, True)
        if taken is None:
            return
        now = monotonic_ns()
        if not self.count:
            _print(f"{self._name} {now}")
        self.count += 1
        if record:
            sec, nanosec = _STAMP.unpack_from(taken[0], self._stamp_at)
            self.rows.append(now)
            self.rows.append(sec * 1_000_000_000 + nanosec)


class StopSignal:
    """Whether SIGINT or SIGTERM was received, as `received`."""

    def __init__(self) -> None:
        self.received = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._receive)

    def _receive(self, *_: object) -> None:
        self.received = True


def main() -> int:
    """Record messages until a signal, then save the records."""
    parser = argparse.ArgumentParser(prog="benchmark.processes.subscriber", description=__doc__)
    parser.add_argument("scene")
    parser.add_argument("file", type=Path, help="file of the records (.npz)")
    parser.add_argument(
        "--record", action="store_true", help="record every message, not only the first"
    )
    options = parser.parse_args()
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    stop = StopSignal()
    node = rclpy.create_node("benchmark_subscriber", start_parameter_services=False)
    records = {
        topic.name: TopicRecord(node, topic.name, type(topic.message), topic.qos)
        for topic in topics_of(options.scene)
    }
    gc.freeze()
    gc.disable()  # its pauses would appear as latency
    _print("ready")
    record_messages(node, list(records.values()), stop, record=options.record)
    node.destroy_node()
    rclpy.shutdown()
    save(options.file, records)
    return 0


def record_messages(
    node: Node, records: list[TopicRecord], stop: StopSignal, *, record: bool
) -> None:
    """Take messages until the stop signal."""
    handles = [topic.subscription.handle for topic in records]
    by_pointer = {topic.subscription.handle.pointer: topic for topic in records}
    wait_set = rclpy_implementation.WaitSet(len(handles), 0, 0, 0, 0, 0, node.context.handle)
    while not stop.received:
        wait_set.clear_entities()
        for handle in handles:
            wait_set.add_subscription(handle)
        wait_set.wait(POLL_NS)
        for pointer in wait_set.get_ready_entities("subscription"):
            by_pointer[pointer].take(record=record)


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def save(file: Path, records: dict[str, TopicRecord]) -> None:
    """Save (reception, stamp) of every message by topic, with colons for slashes.  # (n, 2)."""
    arrays: dict[str, Any] = {
        name.replace("/", ":"): np.array(topic.rows, dtype=np.int64).reshape(-1, 2)
        for name, topic in records.items()
    }
    np.savez(file, **arrays)


def load(file: Path) -> dict[str, np.ndarray]:
    """Return the contents of a file of `save`."""
    with np.load(file) as data:
        return {name.replace(":", "/"): data[name] for name in data.files}


if __name__ == "__main__":
    sys.exit(main())
