"""Demonstrations from messages of topics, live or of a bag."""

import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
from std_msgs.msg import Header

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.recording.demonstrations import frame_alignment
from mujoco_ros.recording.demonstrations.demonstration_file import (
    ACTION,
    IMAGES,
    STATE,
    TIME,
    DemonstrationFile,
    EpisodeFolder,
)
from mujoco_ros.recording.ros.demonstration_topics import (
    DemonstrationTopics,
    TopicValues,
    described_name,
    find_topics,
    is_description,
    is_reset,
)
from mujoco_ros.wire.conversions import nanoseconds

_LOG = logging.getLogger(__name__)
_HOLD_NS = 200_000_000
"""Simulated time for which frames are kept, because a reset may be received after them."""
_SHORTEST_S = 1.0  # simulated time of the shortest episode that is kept where a message is missing
_SECOND = 1e9  # in nanoseconds


class TopicDemonstrations:
    """Writes episodes from messages, each into a file of a folder.

    A missing message ends an episode at the last complete frame, or discards a short one, or before
    a frame is written, starts it again. Any other error discards it. A reset of the simulation ends
    it: on the topic ``reset_event``, or by stamps that jump back or, all, ahead.
    """

    def __init__(
        self, folder: EpisodeFolder, *, fps: int, task: str, cameras: Sequence[str] | None = None
    ) -> None:
        """Write into a folder, with some cameras or all; `task` is what is done, as text."""
        self._folder, self._fps, self._task, self._cameras = folder, fps, task, cameras
        self._layout = folder.layout()
        for name, value in (("fps", fps), ("task", task)):
            if self._layout and self._layout[name] != value:
                raise UserInputError(
                    f"'{folder.path}' has episodes with --{name} {self._layout[name]}, which "
                    f"--{name} {value} does not continue"
                )
        self._received: set[str] = set()  # topics with a message
        self._known: set[str] = set()  # topics
        self._topics = DemonstrationTopics()  # of the first episode
        self._robot = ""
        self._closing = ExitStack()
        self._pending: deque[frame_alignment.AlignedFrame] = deque()
        self._awaits_event = False  # of a reset that the stamps have shown
        self._ended = self._restarted = ""  # why the last episode did, unless it was asked to
        self.is_recording = False  # whether an episode has started and not ended
        self.resets = self.failures = 0  # number of episodes that an error has discarded or ended

    @property
    def progress(self) -> str:
        """What is recorded now, as text."""
        count = len(self._folder.finished)
        if not self.is_recording:
            return f"{count} episodes"
        return f"{count} episodes; recording: {self._duration}"

    @property
    def _duration(self) -> str:
        return f"{self._count} frames, {self._count / self._fps:.1f} s"

    def discover(self, topic: str, *, has_messages: bool = False) -> None:
        """Add a topic that exists, and may be known to have messages."""
        self._known.add(topic)
        if has_messages:
            self._received.add(topic)

    def start(self, source: str = "") -> str:
        """Start an episode, whose messages are live or from a source; return a message."""
        if self.is_recording:
            raise UserInputError("an episode is being recorded; end or discard it first")
        topics = self._topics if self._topics.all else find_topics(self._known, self._cameras)
        names = ", ".join(filter(None, topics.states))
        needed = {*topics.all, *(() if names else filter(is_description, self._known))}
        if silent := sorted(needed - self._received):
            raise UserInputError(f"no message of '{silent[0]}' has been received yet")
        self._name = names or self._robot or self._layout.get("robot", "robot")
        path = self._folder.next()
        with ExitStack() as stack:
            self._file = stack.enter_context(DemonstrationFile(path))
            self._closing = stack.pop_all()
        self._topics, self._source = topics, source
        self._ended = self._restarted = ""
        self.is_recording = True
        self._restart()
        cameras = ", ".join(topics.images) or "none"
        return f"episode {path.stem} has started; cameras: {cameras}"

    def end(self, reason: str = "") -> str:
        """End the episode and keep it; return a message."""
        self._check_recording()
        try:
            self._write(until=None)
            if not self._count:
                raise UserInputError(
                    f"the episode has no complete frame, and is discarded{self._restarted}"
                )
            self._file.finish()
            self._layout = self._file.layout
        finally:
            self._close()
        message = f"episode {self._file.path.stem} has ended{reason}: {self._duration}"
        if self._topics.images:
            offset = self._alignment.largest_offset / 1e6
            message += f"; images are at most {offset:.0f} ms from the times of the frames"
        return message

    def discard(self, reason: str = "") -> str:
        """Discard the episode; return a message."""
        self._check_recording()
        self._close()
        return f"episode {self._file.path.stem} is discarded{reason}"

    def add(self, topic: str, read: Callable[[], Any]) -> None:
        """Add a message of a discovered topic, which `read` returns if it is needed."""
        self._received.add(topic)
        if is_description(topic):
            self._robot = described_name(read().data) or self._robot
        elif is_reset(topic):
            self._follow_reset(read())
        elif self.is_recording and topic in self._values.topics:
            try:
                self._add_sample(topic, read())
            except frame_alignment.MissingSampleError as error:
                self._follow_gap(error)
            except (UserInputError, OSError) as error:
                self._stop(self.discard, f": {error}", logging.ERROR)

    def end_of_input(self) -> None:
        """End the episode that is being recorded, if any."""
        if self.is_recording:
            self._stop(self.end, "", logging.INFO)

    def close(self) -> None:
        """Discard the episode that is being recorded, if any."""
        if self.is_recording:
            _LOG.warning("%s", self.discard())

    def _restart(self) -> None:
        topics = self._topics
        self._alignment = frame_alignment.FrameAlignment(
            self._fps,
            images=topics.images.values(),
            states=topics.states.values(),
            commands=topics.commands.values(),
        )
        self._values = TopicValues(topics)
        self._pending.clear()
        self._count = 0

    def _check_recording(self) -> None:
        if not self.is_recording:
            raise UserInputError(f"no episode is being recorded{self._ended}")

    def _close(self) -> None:
        self.is_recording = False
        self._pending.clear()
        self._closing.close()

    def _follow_gap(self, error: frame_alignment.MissingSampleError) -> None:
        if self._count:
            if self._count + len(self._pending) < _SHORTEST_S * self._fps:
                reason = f" after less than {_SHORTEST_S:g} s: {error}"
                self._stop(self.discard, reason, logging.ERROR)
            else:
                self._stop(self.end, f" at its last complete frame ({error})", logging.WARNING)
            return
        if not self._restarted:  # one warning for each episode
            _LOG.warning("episode %s starts again: %s", self._file.path.stem, error)
        self._restarted = f": {error}"
        self._restart()

    def _follow_reset(self, event: Header) -> None:
        """End the episode at a reset, without what may be from after it."""
        time = nanoseconds(event.stamp)
        if self._is_followed(time, rewinds="time" in event.frame_id.split()):
            return
        if not self.is_recording:
            self.resets += 1
            return
        if "time" not in event.frame_id.split():
            self._pending = deque(frame for frame in self._pending if frame.end < time)
        self._end_by_reset()

    def _is_followed(self, time: int, *, rewinds: bool) -> bool:
        """Return whether the episode began after a reset to a time [ns], or has ended by it."""
        awaits = rewinds and self._awaits_event
        if rewinds:
            self._awaits_event = False
        if not self.is_recording:
            return awaits
        oldest, newest = self._alignment.oldest, self._alignment.newest
        if oldest is None or time > oldest:
            return False
        return awaits or not rewinds or newest - time < _HOLD_NS

    def _end_by_reset(self) -> None:
        self.resets += 1
        if not (self._count or self._pending):
            self._restart()  # samples from before the reset
            return
        self._stop(self.end, " by a reset", logging.INFO)

    def _stop(self, action: Callable[[str], str], reason: str, level: int) -> None:
        """End or discard the episode without being asked to, and report that."""
        try:
            message = action(reason)
        except (UserInputError, OSError) as error:
            level, message = logging.ERROR, str(error)
        self.failures += level > logging.INFO
        self._ended = f"; {message}"
        _LOG.log(level, "%s", message)

    def _add_sample(self, topic: str, message: Any) -> None:
        values = self._values.read(topic, message)
        if not self._alignment.add(topic, nanoseconds(message.header.stamp), values):
            self._awaits_event = True
            self._end_by_reset()
            return
        self._pending.extend(self._alignment.frames())
        self._write(until=self._alignment.newest - _HOLD_NS)

    def _write(self, until: int | None) -> None:
        """Write the pending frames that end before a time [ns]; None for all."""
        pending = self._pending
        while pending and (until is None or pending[0].end < until):
            if not self._count:
                self._describe()
            self._file.add(self._content(pending.popleft()))
            self._count += 1
            for name in self._layout if self._count == 1 else ():
                if self._file.layout[name] != self._layout[name]:
                    raise UserInputError(f"it has other {name} than the episodes before it")

    def _describe(self) -> None:
        joints = self._values.joints

        def elements(source: Mapping[str, str], quantity: str) -> tuple[str, ...]:
            names = [(robot, joint) for robot, topic in source.items() for joint in joints[topic]]
            return tuple(".".join(filter(None, (*name, quantity))) for name in names)

        states, commands = self._topics.states, self._topics.commands
        self._file.describe(
            names={
                STATE: (*elements(states, "position"), *elements(states, "velocity")),
                ACTION: elements(commands, "position"),
            },
            task=self._task,
            fps=self._fps,
            robot=self._name,
            source=self._source,
        )

    def _content(self, frame: frame_alignment.AlignedFrame) -> dict[str, np.ndarray]:
        topics, samples = self._topics, frame.samples
        state = np.concatenate([samples[topic] for topic in topics.states.values()], axis=1)
        action = np.concatenate([samples[topic] for topic in topics.commands.values()])
        images = {f"{IMAGES}{name}": samples[topic] for name, topic in topics.images.items()}
        return {
            STATE: state.reshape(-1).astype(np.float32),
            ACTION: action.astype(np.float32),
            TIME: np.array([frame.time / _SECOND]),
            **images,
        }
