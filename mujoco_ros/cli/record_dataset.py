"""Datasets of the library LeRobot from topics: ``record --lerobot``."""

import argparse
import logging
import math
import shlex
import signal
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from rclpy.node import Node
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import Image, JointState
from std_srvs.srv import Trigger

from mujoco_ros.bridge.publishing.template_publisher import nanoseconds
from mujoco_ros.bridge.rclpy_ext.executor import Executor
from mujoco_ros.bridge.rclpy_ext.graph_topics import message_class
from mujoco_ros.bridge.rclpy_ext.service import Responder, Service, flush_responses
from mujoco_ros.cli.command_line import fail, integer_from
from mujoco_ros.cli.node_process import handle_signals, ros
from mujoco_ros.cli.terminal_keys import TerminalKeys
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.process.middleware_ports import restrict_shared_memory
from mujoco_ros.recording.definitions import Definition
from mujoco_ros.recording.demonstrations.episode_folder import EpisodeFolder
from mujoco_ros.recording.demonstrations.lerobot_dataset import CODECS, DatasetWriter, check_new
from mujoco_ros.recording.metadata import RecordedTopic
from mujoco_ros.recording.ros.bag_reader import bag_topics, read_bag
from mujoco_ros.recording.ros.demonstration_topics import is_valid, selection
from mujoco_ros.recording.ros.recorder import Recorder
from mujoco_ros.recording.ros.topic_demonstrations import (
    DemonstrationOptions,
    TopicDemonstrations,
)
from mujoco_ros.recording.selection import Selection

_FPS = 30
_TAKE_S = 0.05
_DISCOVERY_S = 0.2
_DEPENDENT = ("fps", "cameras", "task", "codec", "bag", "start", "resume")
_OTHERS = (
    *("output", "topics", "regex", "exclude_regex", "include_hidden_topics", "use_sim_time"),
    *("max_bag_size", "max_bag_duration", "repair"),
)
_LOG = logging.getLogger("mujoco_ros.record")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of datasets."""
    group = parser.add_argument_group(
        "datasets for learning",
        "Episodes start and end by the services ~/start_episode, ~/end_episode and "
        "~/discard_episode (std_srvs/Trigger) or by the keys s, e and d; a reset of the simulation "
        "ends one. Ctrl-C ends the recording and writes the dataset.",
    )
    group.add_argument(
        "--lerobot",
        type=Path,
        metavar="DIR",
        help="record joint states, position commands and images into a new LeRobot dataset",
    )
    group.add_argument(
        "--task", metavar="TEXT", help="what is done, in words; needed for --lerobot"
    )
    group.add_argument(
        "--fps",
        type=integer_from(1),
        metavar="N",
        help=f"frames a second of simulated time, not more than the cameras have; default: {_FPS}",
    )
    group.add_argument(
        "--cameras", metavar="NAME,NAME", help="cameras of the dataset, or none; default: all"
    )
    group.add_argument("--codec", choices=list(CODECS), help="of the videos; default: av1")
    group.add_argument(
        "--bag",
        type=Path,
        nargs="+",
        metavar="BAG",
        help="read bags instead of topics; resets of the simulation separate episodes",
    )
    group.add_argument(
        "--start",
        type=_seconds,
        metavar="SECONDS",
        help="skip what is before this simulated time of each bag, such as the first images",
    )
    group.add_argument(
        "--resume", action="store_true", help="continue after an end without a dataset"
    )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0.0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is not a time in seconds")
    return seconds


def check_options(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with an error if the options of datasets do not fit the others."""
    if options.lerobot is None:
        for name in _DEPENDENT:
            if getattr(options, name):
                parser.error(f"--{name} is for --lerobot")
        return
    if options.start is not None and not options.bag:
        parser.error("--start is for --bag")
    if not options.task:
        parser.error("--lerobot needs --task, what is done in words")
    for name in _OTHERS:
        if getattr(options, name):
            parser.error(f"--{name.replace('_', '-')} is not for --lerobot")
    if options.compression != "none":
        parser.error("--compression is not for --lerobot")


def record_dataset(options: argparse.Namespace, ros_arguments: Sequence[str]) -> int:
    """Record until a signal, or from bags, and write the dataset; return the exit code.

    Raises:
        UserInputError: The dataset exists, LeRobot is not installed or fails, a bag is invalid, or
            there is no episode.
    """
    cameras = options.cameras
    names = None if cameras is None else () if cameras == "none" else tuple(cameras.split(","))
    what = DemonstrationOptions(fps=options.fps or _FPS, task=options.task, cameras=names)
    signals: list[int] = []
    try:
        check_new(options.lerobot)
        folder = EpisodeFolder(options.lerobot.absolute(), resume=options.resume)
        demonstrations = TopicDemonstrations(folder, what)
        try:
            if options.bag:
                handle_signals(signals.append)
                _read_bags(options.bag, demonstrations, names, options.start or 0.0, signals)
            else:
                with ros(ros_arguments):
                    _Session(demonstrations, names).run(signals)
        finally:
            demonstrations.close()
            folder.delete_if_empty()
        command = ["record", "--lerobot", str(options.lerobot), "--task", options.task]
        command += ["--fps", str(what.fps)] + (["--cameras", cameras] if cameras else [])
        return _write(options, folder, shlex.join(command), signals)
    except OSError as error:
        return fail(f"'{options.lerobot}' cannot be written: {error.strerror or error}")


class _Messages:
    """Passes received messages to demonstrations."""

    def __init__(self, demonstrations: TopicDemonstrations) -> None:
        self._demonstrations = demonstrations
        self._classes: dict[str, type] = {}

    def add(self, topic: RecordedTopic, definition: Definition) -> None:
        kind = message_class(topic.kind)
        if kind is None or not is_valid(topic.name, topic.kind):
            _LOG.warning("'%s' is ignored: its type is %s", topic.name, topic.kind)
            return
        self._classes[topic.name] = kind
        self._demonstrations.discover(topic.name)

    def write(
        self, topic: RecordedTopic, log_time: int, publish_time: int, sequence: int, data: bytes
    ) -> None:
        if topic.name in self._classes:
            kind = self._classes[topic.name]
            self._demonstrations.add(topic.name, partial(deserialize_message, data, kind))


class _Session:
    """A recording of topics, with its progress in the terminal."""

    def __init__(self, demonstrations: TopicDemonstrations, cameras: Sequence[str] | None) -> None:
        self._demonstrations = demonstrations
        self._node = Node("record", start_parameter_services=False, enable_rosout=False)
        # Its subscriptions are not for the executor, which serves the other node.
        self._listener = Node(
            "_record_topics",
            start_parameter_services=False,
            enable_rosout=False,
            use_global_arguments=False,
        )
        restrict_shared_memory()
        chosen = Selection(regex=selection(cameras))
        self._recorder = Recorder(self._listener, _Messages(demonstrations), chosen)
        actions = (demonstrations.start, demonstrations.end, demonstrations.discard)
        self._keys = dict(zip("sed", actions, strict=True))
        self._services = [
            Service(self._node, Trigger, f"~/{name}_episode", partial(self._serve, action))
            for name, action in zip(("start", "end", "discard"), actions, strict=True)
        ]
        self._executor = Executor()  # before our signal handlers: that of rclpy 7.1.4 sets its own
        self._executor.add_node(self._node)

    def run(self, signals: list[int]) -> None:
        """Record until a signal arrives."""
        handle_signals(signals.append, signal.SIGHUP)
        terminal = sys.stderr.isatty()
        try:
            with TerminalKeys() as keys:
                if keys.available:
                    _LOG.info("keys: s starts an episode, e ends it, d discards it")
                name = self._node.get_fully_qualified_name()
                _LOG.info("ready: service %s/start_episode starts an episode", name)
                discover_at = 0.0
                while not signals:
                    now = time.monotonic()
                    if now >= discover_at:
                        self._recorder.discover()
                        discover_at = now + _DISCOVERY_S
                    self._recorder.update()
                    self._executor.spin_once(timeout_sec=_TAKE_S)
                    for key in keys.read():
                        self._press(key)
                    if terminal:
                        sys.stderr.write(f"\r{self._demonstrations.progress}\x1b[K")
            sys.stderr.write("\n" * terminal)
        finally:
            flush_responses()
            self._executor.shutdown()
            self._recorder.close()
            self._listener.destroy_node()
            self._node.destroy_node()

    def _press(self, key: str) -> None:
        if key in self._keys:
            try:
                self._report(self._keys[key])
            except UserInputError as error:
                _LOG.warning("%s", error)

    def _serve(
        self, action: Callable[[], str], _request: Trigger.Request, answer: Responder
    ) -> None:
        answer.attempt(
            lambda: answer.succeed(self._report(action)), expected=(UserInputError, OSError)
        )

    def _report(self, action: Callable[[], str]) -> str:
        message = action()
        _LOG.info("%s", message)
        return message


def _read_bags(
    bags: Sequence[Path],
    demonstrations: TopicDemonstrations,
    cameras: Sequence[str] | None,
    start: float,
    signals: Sequence[int],
) -> None:
    """Record an episode from each bag, or several that resets separate; the first from `start`."""
    wanted = selection(cameras)
    for bag in bags:
        skips = start > 0.0
        types = {
            topic: message_class(kind)
            for topic, kind in bag_topics(bag).items()
            if wanted.fullmatch(topic) and is_valid(topic, kind)
        }
        known = {topic: kind for topic, kind in types.items() if kind is not None}
        for topic in known:
            demonstrations.discover(topic, has_messages=True)
        _LOG.info("'%s': %s", bag, demonstrations.start())
        resets = demonstrations.resets
        for topic, _, message in read_bag(bag, known):
            if signals:
                return
            if skips and isinstance(message, JointState | Image):
                if nanoseconds(message.header.stamp) < 1e9 * start:
                    continue
                skips = False
            if not demonstrations.is_recording and demonstrations.resets > resets:
                _LOG.info("'%s': %s", bag, demonstrations.start())
            resets = demonstrations.resets
            demonstrations.add(topic, partial(_same, message))
        if demonstrations.is_recording:
            try:
                _LOG.info("'%s': %s", bag, demonstrations.end())
            except UserInputError as error:
                _LOG.error("'%s': %s", bag, error)


def _same(message: object) -> object:
    return message


def _write(
    options: argparse.Namespace, folder: EpisodeFolder, command: str, signals: Sequence[int]
) -> int:
    """Write the episodes into the dataset, and delete their files."""
    paths, frames = folder.finished, []
    if not paths:
        raise UserInputError("no episode was recorded, so there is no dataset")
    _LOG.info("writing the dataset; another Ctrl-C interrupts that and keeps the episodes")
    before = len(signals)
    with DatasetWriter(options.lerobot, options.codec or next(iter(CODECS))) as writer:
        for count, path in enumerate(paths, 1):
            frames.append(writer.add(path))
            _LOG.info("%d of %d episodes are written into the dataset", count, len(paths))
            if len(signals) > before:
                raise UserInputError(
                    f"interrupted; the episodes are in '{folder.path}', and --resume continues"
                )
        writer.finish({"command": command, "episodes": [{"frames": it} for it in frames]})
    folder.delete()
    sys.stdout.write(f"{len(paths)} episodes, {sum(frames)} frames in {options.lerobot}\n")
    return 0
