"""Recording of topics into a bag, and repair of a bag, for the executable `record`."""

import argparse
import logging
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from rclpy.node import Node

from mujoco_ros.cli import command_line, terminal
from mujoco_ros.cli.node_process import ros
from mujoco_ros.cli.terminal import show
from mujoco_ros.process.end_limit import handle_signals
from mujoco_ros.process.memory import restrict_shared_memory
from mujoco_ros.recording.ros.bag import Bag
from mujoco_ros.recording.ros.recorder import Recorder, Selection, SimClock
from mujoco_ros.recording.ros.repair import repair
from mujoco_ros.wire.names import ros_distribution

_TAKE_S = 0.05
_FLUSH_S = 0.5  # a sudden end loses at most the messages of this time and one _TAKE_S
_LAST_TAKE_S = 2.0  # longest time in which messages are taken after the request to end
_LOG = logging.getLogger("mujoco_ros.record")


def record(options: argparse.Namespace, ros_arguments: Sequence[str]) -> int:
    """Record topics until a signal; return the exit code."""
    if options.output is None:
        options.output = Path(datetime.now().strftime("rosbag2_%Y_%m_%d-%H_%M_%S"))
    signals: list[int] = []
    handle_signals(signals.append, signal.SIGHUP)
    with ros(ros_arguments):
        try:
            bag = Bag(
                options.output,
                ros_distribution(),
                compression=options.compression,
                max_bytes=options.max_bag_size,
                max_seconds=options.max_bag_duration,
            )
        except FileExistsError:
            return command_line.fail(f"'{options.output}' exists; name a new folder")
        except OSError as error:
            return command_line.fail(f"'{options.output}' cannot be written: {error.strerror}")
        node = Node(
            "record", start_parameter_services=False, enable_rosout=False, use_global_arguments=True
        )
        restrict_shared_memory()
        session = _Session(bag, node, options)
        try:
            session.run(signals)
        except OSError as error:
            failure = bag.failure(f"'{bag.folder}' cannot be written: {error.strerror}")
            with suppress(OSError):
                bag.abandon()
            return command_line.fail(failure)
        finally:
            node.destroy_node()
    return 0


class _Session:
    """A recording, with its progress in the terminal."""

    def __init__(self, bag: Bag, node: Node, options: argparse.Namespace) -> None:
        self._bag = bag
        self._clock = SimClock(node) if options.use_sim_time else None
        selection = Selection(
            topics=frozenset(options.topics),
            regex=options.regex,
            exclude=options.exclude_regex,
            hidden=options.include_hidden_topics,
        )
        self._recorder = Recorder(node, bag, selection, self._clock)
        self._began = time.monotonic()
        self._terminal = sys.stderr.isatty()

    def run(self, signals: list[int]) -> None:
        if self._clock is not None:
            _LOG.info("waiting for /clock")
            while not signals and not self._clock.started:
                time.sleep(_TAKE_S)
                self._clock.update()
        _LOG.info("recording into '%s' until Ctrl-C", self._bag.folder)
        flush_at = time.monotonic()
        while not signals:
            self._recorder.update()
            if (now := time.monotonic()) >= flush_at:
                self._bag.flush()
                flush_at = now + _FLUSH_S
                if self._terminal:
                    show(sys.stderr, f"\r{self._progress()}\x1b[K")
            time.sleep(_TAKE_S)
        # From here on, a kill loses none of the messages that were written so far.
        self._bag.flush()
        if not self._recorder.close(time.monotonic() + _LAST_TAKE_S):
            _LOG.warning("the last messages of some topics are not recorded: the machine is slow")
        for problem in self._recorder.problems:
            _LOG.warning("%s", problem)
        self._bag.flush()
        self._bag.finish()
        if self._terminal:
            show(sys.stderr, "\n")
        _LOG.info("%s in '%s'", self._progress(), self._bag.folder)

    def _progress(self) -> str:
        seconds = time.monotonic() - self._began
        return (
            f"{self._recorder.topics} topics, {self._bag.metadata.total.count} messages, "
            f"{self._bag.size / 1e6:.1f} MB, {seconds:.1f} s"
        )


def repair_bag(options: argparse.Namespace) -> int:
    """Write what is sound of a bag into another one; return the exit code."""
    bag = options.repair
    terminal.begin("record")
    terminal.report(f"reading '{bag}'")
    try:
        found, output, original = repair(bag, options.output, in_place=options.in_place)
    except OSError as error:
        return command_line.fail(
            f"'{bag}' cannot be repaired: {error.filename or bag}: {error.strerror}"
        )
    for problem in found.problems:
        _LOG.warning("%s", problem)
    for topic in sorted(found.counts | found.lost):
        text = f"'{topic}': {found.counts[topic]} messages recovered, {found.lost[topic]} lost"
        between = found.lost_between(topic) if found.lost[topic] else None
        if between is not None:
            text += f" between {between[0]:.3f} s and {between[1]:.3f} s"
        _LOG.info("%s", text)
    span = found.metadata.total
    where = f"from {span.first / 1e9:.3f} s to {span.last / 1e9:.3f} s " if span.count else ""
    _LOG.info("'%s' has %d messages %sand an index", output, span.count, where)
    _LOG.info("the original is '%s'", original)
    return command_line.fail(found.summary) if found.is_lossy else 0
