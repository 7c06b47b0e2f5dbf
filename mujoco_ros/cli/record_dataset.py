"""Datasets of the library LeRobot from topics: ``record --lerobot``."""

import argparse
import logging
import shlex
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from itertools import chain, islice
from pathlib import Path

from rclpy.node import Node
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import Image, JointState
from std_srvs.srv import Trigger

from mujoco_ros.cli import terminal
from mujoco_ros.cli.command_line import fail
from mujoco_ros.cli.dataset_options import FPS, cameras_text
from mujoco_ros.cli.node_process import ros
from mujoco_ros.cli.terminal import TerminalKeys, show
from mujoco_ros.model.errors import UserInputError, counted
from mujoco_ros.process.end_limit import handle_signals, withdraw_request
from mujoco_ros.process.memory import restrict_shared_memory
from mujoco_ros.rclpy_ext.executor import Executor
from mujoco_ros.rclpy_ext.service import Responder, Service, flush_responses
from mujoco_ros.recording.demonstrations import lerobot_dataset
from mujoco_ros.recording.demonstrations.demonstration_file import EpisodeFolder
from mujoco_ros.recording.metadata import RecordedTopic
from mujoco_ros.recording.ros.bag_reader import BagReader
from mujoco_ros.recording.ros.dataset_panel import DatasetPanel
from mujoco_ros.recording.ros.demonstration_topics import is_description, is_valid, selection
from mujoco_ros.recording.ros.recorder import Recorder, Selection
from mujoco_ros.recording.ros.topic_demonstrations import TopicDemonstrations
from mujoco_ros.wire.conversions import nanoseconds
from mujoco_ros.wire.qos import message_class

_TAKE_S = 0.05
_LOG = logging.getLogger("mujoco_ros.record")


def record_dataset(options: argparse.Namespace, ros_arguments: Sequence[str]) -> int:
    """Record until a signal, or from bags, and write the dataset; return the exit code."""
    signals: list[int] = []
    fps, task, cameras = options.fps or FPS, options.task, options.cameras
    place = options.lerobot
    try:
        lerobot_dataset.check_new(options.lerobot)
        with closing(EpisodeFolder(options.lerobot.absolute(), resume=options.resume)) as folder:
            with closing(
                TopicDemonstrations(folder, fps=fps, task=task, cameras=cameras)
            ) as demonstrations:
                if options.bag:
                    place = folder.path
                    handle_signals(signals.append, signal.SIGHUP)
                    _read_bags(options, folder, demonstrations, signals)
                else:
                    with ros(ros_arguments):
                        _Session(demonstrations, options.cameras).run(signals)
            place = options.lerobot
            _write(options, folder, signals)
    except OSError as error:
        return fail(f"'{place}' cannot be written: {error.strerror or error}")
    if options.bag and (count := demonstrations.failures):
        return fail(
            f"an error ended or discarded {counted(count, 'episode')} of the bags, see above"
        )
    return 0


def _command(options: argparse.Namespace) -> str:
    cameras, start = options.cameras, options.start
    values = {
        "lerobot": [options.lerobot],
        "task": [options.task],
        "fps": [options.fps or FPS],
        "cameras": [] if cameras is None else [cameras_text(cameras)],
        "codec": [options.codec or lerobot_dataset.DEFAULT_CODEC],
        "start": [] if start is None else [start],
        "bag": options.bag or [],
    }
    arguments = ([f"--{name}", *map(str, given)] for name, given in values.items() if given)
    return shlex.join(("record", *chain.from_iterable(arguments)))


class _Session:
    """A recording of topics, with its progress in the terminal; the recorder writes into it."""

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
        self._recorder = Recorder(self._listener, self, chosen)
        self._classes: dict[str, type] = {}
        actions = (demonstrations.start, demonstrations.end, demonstrations.discard)
        self._keys = dict(zip("sed", actions, strict=True))
        self._services = [
            Service(self._node, Trigger, f"~/{name}_episode", partial(self._serve, action))
            for name, action in zip(("start", "end", "discard"), actions, strict=True)
        ]
        self._panel = DatasetPanel(self._node)
        # Before our signal handlers, as rclpy 7.1.4's executor sets its own.
        self._executor = Executor()
        self._executor.add_node(self._node)

    def run(self, signals: list[int]) -> None:
        handle_signals(signals.append, signal.SIGHUP)
        terminal = sys.stderr.isatty()
        try:
            with TerminalKeys() as keys:
                if keys.available:
                    _LOG.info("keys: s starts an episode, e ends it, d discards it")
                name = self._node.get_fully_qualified_name()
                _LOG.info("ready: service %s/start_episode starts an episode", name)
                while not signals:
                    self._recorder.update()
                    self._executor.spin_once(timeout_sec=_TAKE_S)
                    for key in keys.read():
                        self._press(key)
                    progress = self._demonstrations.progress
                    self._panel.update(
                        is_recording=self._demonstrations.is_recording,
                        progress=progress,
                        now=time.monotonic(),
                    )
                    if terminal:
                        show(sys.stderr, f"\r{progress}\x1b[K")
            if terminal:
                show(sys.stderr, "\n")
        finally:
            flush_responses()
            self._executor.shutdown()
            self._recorder.close()
            self._listener.destroy_node()
            self._node.destroy_node()

    def add(self, topic: RecordedTopic) -> None:
        kind = message_class(topic.kind)
        if kind is None or not is_valid(topic.name, topic.kind):
            _LOG.warning("'%s' is ignored: its type is %s", topic.name, topic.kind)
            return
        self._classes[topic.name] = kind
        self._demonstrations.discover(topic.name)

    def write(
        self, topic: RecordedTopic, _log: int, _publish: int, _number: int, data: bytes
    ) -> None:
        if topic.name in self._classes:
            kind = self._classes[topic.name]
            self._demonstrations.add(topic.name, partial(deserialize_message, data, kind))

    def _press(self, key: str) -> None:
        if key in self._keys:
            try:
                self._report(self._keys[key])
            except (UserInputError, OSError) as error:
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
    options: argparse.Namespace,
    folder: EpisodeFolder,
    demonstrations: TopicDemonstrations,
    signals: Sequence[int],
) -> None:
    """Record an episode from each bag, or several that resets separate; leave out finished bags."""
    start = options.start or 0.0
    settings = f"--start {start:g}"
    for bag in options.bag:
        source = str(bag.resolve())
        if not folder.begin_source(source, settings):
            _LOG.info("'%s' was read before", bag)
            continue
        failures = demonstrations.failures
        _read_bag(bag, options.cameras, start, demonstrations, signals)
        if demonstrations.failures == failures:
            folder.end_source(source, settings)


def _read_bag(
    bag: Path,
    cameras: Sequence[str] | None,
    start: float,
    demonstrations: TopicDemonstrations,
    signals: Sequence[int],
) -> None:
    wanted, source, skips = selection(cameras), str(bag.resolve()), start > 0.0
    reader = BagReader(bag)
    types = {
        topic: message_class(kind)
        for topic, kind in reader.topics.items()
        if wanted.fullmatch(topic) and is_valid(topic, kind)
    }
    known = {topic: kind for topic, kind in types.items() if kind is not None}
    for topic, kind in known.items():
        demonstrations.discover(topic, has_messages=True)
        if is_description(topic):  # may be later in the bag than the first frames
            for _, _, message in islice(reader.read({topic: kind}), 1):
                demonstrations.add(topic, partial(_same, message))
    _LOG.info("'%s': %s", bag, demonstrations.start(source))
    resets = demonstrations.resets
    for topic, _, message in reader.read(known):
        if signals:
            raise UserInputError("interrupted; there is no dataset, and --resume continues")
        if skips and isinstance(message, JointState | Image):
            if nanoseconds(message.header.stamp) < 1e9 * start:
                continue
            skips = False
        if not demonstrations.is_recording and demonstrations.resets > resets:
            _LOG.info("'%s': %s", bag, demonstrations.start(source))
        resets = demonstrations.resets
        demonstrations.add(topic, partial(_same, message))
    demonstrations.end_of_input()


def _same(message: object) -> object:
    return message


def _write(options: argparse.Namespace, folder: EpisodeFolder, signals: Sequence[int]) -> None:
    paths = folder.finished
    if not paths:
        raise UserInputError("no episode was recorded, so there is no dataset")
    kept = UserInputError(f"ended; the episodes are in '{folder.path}', and --resume continues")
    if signal.SIGTERM in signals:
        raise kept
    _LOG.info("writing the dataset; another Ctrl-C interrupts that and keeps the episodes")
    terminal.begin("record")
    terminal.report("writing the dataset")
    handle_signals(_interrupt, signal.SIGHUP)
    withdraw_request()  # Ctrl-C ended the recording, not the program
    try:
        written = lerobot_dataset.write_dataset(
            options.lerobot,
            options.codec or lerobot_dataset.DEFAULT_CODEC,
            [(path, {}) for path in paths],
            {"command": _command(options)},
            lambda count: _LOG.info(
                "%d of %d episodes are written into the dataset", count, len(paths)
            ),
        )
    except KeyboardInterrupt as error:
        if not options.lerobot.exists():
            raise kept from error
        written = f"{counted(len(paths), 'episode')} in {options.lerobot}"
    folder.delete()
    show(sys.stdout, f"{written}\n")


def _interrupt(number: int) -> None:
    """Interrupt the writing of a dataset, unless it is a closed terminal, which may repeat this."""
    if number != signal.SIGHUP:
        raise KeyboardInterrupt
    withdraw_request()
