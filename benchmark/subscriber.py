"""A process that subscribes to every topic of a scene: ``python -m benchmark.subscriber``.

It takes the messages serialized, as a recorder does, so that it keeps up with some ten thousand of them
a second. Until SIGINT it notes when each one arrived (CLOCK_MONOTONIC, which all processes share)
and which stamp it carries.
"""

import argparse
import gc
import signal
import struct
import sys
import threading
from array import array
from collections.abc import Callable
from pathlib import Path
from time import monotonic_ns

import numpy as np
import rclpy
from rclpy.experimental import EventsExecutor
from rclpy.signals import SignalHandlerOptions
from tf2_msgs.msg import TFMessage

from benchmark.stations import topics_of

_STAMP = struct.Struct("<iI")
# CDR: 4 bytes of encapsulation, then the header's stamp; a TFMessage has the length of its list first.
_STAMP_AT, _TF_STAMP_AT = 4, 8


class Arrivals:
    """What arrived on one topic: nanoseconds of arrival and of the stamp, or their first and number."""

    def __init__(self, stamp_at: int, *, record: bool) -> None:
        """Prepare for messages whose stamp is at byte `stamp_at`."""
        self.first = 0
        self.count = 0
        self.rows = array("q")
        self._stamp_at = stamp_at
        self.callback: Callable[[bytes], None] = self._record if record else self._count

    def _record(self, message: bytes) -> None:
        now = monotonic_ns()
        sec, nanosec = _STAMP.unpack_from(message, self._stamp_at)
        self.rows.append(now)
        self.rows.append(sec * 1_000_000_000 + nanosec)
        self._note(now)

    def _count(self, _message: bytes) -> None:
        self._note(monotonic_ns())

    def _note(self, now: int) -> None:
        if not self.count:
            self.first = now
        self.count += 1


def main() -> int:
    """Listen until interrupted, then save what arrived."""
    parser = argparse.ArgumentParser(prog="benchmark.subscriber", description=__doc__)
    parser.add_argument("scene")
    parser.add_argument("file", type=Path, help="where to save the arrivals (.npz)")
    parser.add_argument("--record", action="store_true", help="note every message, not the first")
    options = parser.parse_args()
    # The executor waits in C++, where Python's signal handlers would not run.
    ending = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ending.set())
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node("benchmark_subscriber")
    arrivals = {}
    for topic in topics_of(options.scene):
        stamp_at = _TF_STAMP_AT if isinstance(topic.message, TFMessage) else _STAMP_AT
        arrivals[topic.name] = Arrivals(stamp_at, record=options.record)
        callback = arrivals[topic.name].callback
        node.create_subscription(type(topic.message), topic.name, callback, topic.qos, raw=True)
    gc.freeze()
    gc.disable()  # its pauses would be taken for latency
    executor = EventsExecutor()
    executor.add_node(node)
    spinning = threading.Thread(target=executor.spin)
    spinning.start()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    ending.wait()
    executor.shutdown()
    spinning.join()
    node.destroy_node()
    rclpy.shutdown()
    save(options.file, arrivals)
    return 0


def save(file: Path, arrivals: dict[str, Arrivals]) -> None:
    """Save the arrivals of every topic: ``<topic>|first``, ``|count``, ``|rows``  # (n, 2)."""
    data: dict[str, np.ndarray] = {}
    for name, topic in arrivals.items():
        data[f"{name}|first"] = np.array(topic.first)
        data[f"{name}|count"] = np.array(topic.count)
        data[f"{name}|rows"] = np.array(topic.rows, dtype=np.int64).reshape(-1, 2)
    # A topic's slashes would become folders inside the archive.
    np.savez(file, **{name.replace("/", ":"): value for name, value in data.items()})


if __name__ == "__main__":
    sys.exit(main())
