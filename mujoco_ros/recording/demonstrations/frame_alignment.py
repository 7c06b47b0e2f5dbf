"""Frames at a constant rate from samples of topics, aligned by their stamps."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import ceil

import numpy as np

_SECOND = 1_000_000_000  # in nanoseconds
_LONGEST_SILENCE_NS = 2 * _SECOND
"""Simulated time after which a sample is missing, which bounds the memory."""
_SHORTEST_JUMP_NS = _SECOND // 2
"""Least time by which all topics jump ahead; a shorter one is a gap."""
_ROUNDING = 1e-6  # tolerance, in frames


class MissingSampleError(Exception):
    """A topic has no sample near a frame."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AlignedFrame:
    """Samples of one frame by topic: images and states of its time, commands of its end."""

    time: int
    """Stamp of its newest image, or without images, when it is due [ns]."""
    end: int
    """Time of the next frame [ns]."""
    samples: Mapping[str, np.ndarray]


class FrameAlignment:
    """Aligns samples to frames.

    Frame k is due at k / fps. It has each camera's nearest image, by less than a frame, and the
    time of the newest of these images; the states nearest to its time, by at most half a frame; and
    the last commands before the next frame, none from before its own time. No sample is used twice.
    """

    def __init__(
        self, fps: int, *, images: Iterable[str], states: Iterable[str], commands: Iterable[str]
    ) -> None:
        """Align samples of topics, at `fps` frames a second of simulated time."""
        # Largest time from when a frame was due to one of its images [ns]
        self.newest = self.largest_offset = 0  # newest stamp of all samples [ns]
        self.oldest: int | None = None  # first stamp of all samples [ns]; None without one
        self._fps, self._period = fps, _SECOND / fps
        self._jump = max(_SHORTEST_JUMP_NS, 2.0 * self._period)
        self._images, self._states, self._commands = tuple(images), tuple(states), tuple(commands)
        topics = (*self._images, *self._states, *self._commands)
        self._topics = {topic: _Samples() for topic in topics}
        self._ahead = set[str]()  # topics whose time has jumped ahead of all others
        self._frame: int | None = None  # number of the frame whose images are chosen next
        self._instant: tuple[int, dict[str, np.ndarray]] | None = None  # time and images
        self._begun: tuple[int, dict[str, np.ndarray]] | None = None  # with states

    def add(self, topic: str, time: int, values: np.ndarray) -> bool:
        """Add a sample; False if the time [ns] jumps back, or all topics continue much later."""
        samples = self._topics[topic]
        if time < samples.newest:
            return False
        if 0 <= samples.newest < time - self._jump and self.newest < samples.newest + self._jump:
            self._ahead.add(topic)
            return len(self._ahead) < len(self._topics)
        if time > samples.newest:
            samples.append((time, values))
            samples.newest = time
            self.newest = max(self.newest, time)
            self.oldest = time if self.oldest is None else min(self.oldest, time)
        return True

    def frames(self) -> Iterator[AlignedFrame]:
        """Yield the complete frames; MissingSampleError if a topic has no sample near a frame."""
        while True:
            if self._instant is None and (chosen := self._choose_images()) is not None:
                self._instant = chosen
            if self._instant is None:
                return
            time, values = self._instant
            if self._begun is not None:
                if not self._has(self._commands, time):
                    return
                begin, begun = self._begun
                for topic in self._commands:
                    begun[topic] = self._command(topic, begin, time)
                self._begun = None
                yield AlignedFrame(time=begin, end=time, samples=begun)
            if not self._has(self._states, time):
                return
            for topic in self._states:
                values[topic] = self._nearest(topic, time, 0.5 * self._period)[1]
            self._begun, self._instant = self._instant, None

    def _choose_images(self) -> tuple[int, dict[str, np.ndarray]] | None:
        """Return time and images of the next frame; None until all have arrived."""
        if self._frame is None:
            oldest = [samples[0][0] for samples in self._topics.values() if samples]
            if not oldest or not self._has(self._topics, min(oldest)):
                return None
            self._frame = ceil(max(oldest) / self._period - _ROUNDING)
        due = round(self._frame * self._period)
        if not self._has(self._images, due):
            return None
        time, images = 0, {}
        for topic in self._images:
            stamp, images[topic] = self._nearest(topic, due, self._period)
            time = max(time, stamp)
            self.largest_offset = max(self.largest_offset, abs(stamp - due))
        self._frame += 1
        return time if self._images else due, images

    def _has(self, topics: Iterable[str], time: int) -> bool:
        """Return whether all topics have an unused sample at or after a time [ns]."""
        late = [topic for topic in topics if not self._topics[topic].reaches(time)]
        if late and self.newest - time > _LONGEST_SILENCE_NS:
            raise MissingSampleError(
                f"'{late[0]}' has no message for {_LONGEST_SILENCE_NS / _SECOND:g} s of simulated "
                f"time from {time / _SECOND:.3f} s on"
            )
        return not late

    def _nearest(self, topic: str, time: int, most: float) -> tuple[int, np.ndarray]:
        """Take the sample nearest to a time, by less than `most` [ns]; there are later ones."""
        stamp, values = self._topics[topic].take(
            lambda later, first: abs(later - time) <= abs(first - time)
        )
        if abs(stamp - time) >= most:
            raise MissingSampleError(
                f"'{topic}' has no message within {most / 1e6:.0f} ms of {time / _SECOND:.3f} s, "
                f"but one at {stamp / _SECOND:.3f} s; a slower simulation (real_time_factor), "
                "fewer frames (--fps) or a publish_rate of joint states of 100 Hz help"
            )
        return stamp, values

    def _command(self, topic: str, begin: int, end: int) -> np.ndarray:
        stamp, values = self._topics[topic].take(lambda later, _first: later < end)
        if not begin <= stamp < end:
            raise MissingSampleError(
                f"'{topic}' has no message from {begin / _SECOND:.3f} to {end / _SECOND:.3f} s"
            )
        return values


class _Samples(deque[tuple[int, np.ndarray]]):
    """Times and values of a topic that are not used yet."""

    newest = -1

    def reaches(self, time: int) -> bool:
        return bool(self) and self[-1][0] >= time

    def take(self, is_better: Callable[[int, int], bool]) -> tuple[int, np.ndarray]:
        """Take the first sample that is not worse than the next one, by their times."""
        while len(self) > 1 and is_better(self[1][0], self[0][0]):
            self.popleft()
        return self.popleft()
