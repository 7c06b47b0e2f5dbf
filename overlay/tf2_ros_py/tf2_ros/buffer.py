"""The buffer of tf2_ros: transforms between frames over time."""

import threading
import time as wall
from collections.abc import Iterator
from typing import Any

import numpy as np
from geometry_msgs.msg import TransformStamped
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.time import Time

from tf2_ros.exceptions import (
    ConnectivityException,
    ExtrapolationException,
    InvalidArgumentException,
    LookupException,
    TransformException,
)
from tf2_ros.transform_history import IDENTITY, Rigid, TransformHistory

_CACHE = Duration(seconds=10)
_POLL_S = 0.02
_QUATERNION_TOLERANCE = 1e-2
_LONGEST_CHAIN = 1000


class Buffer:
    """Transforms that a listener or `set_transform` adds; thread-safe.

    Args:
        cache_time: How long transforms are kept; 10 s if not given.
        node: Unused: this buffer does not serve ``tf2_frames``.
    """

    def __init__(self, cache_time: Duration | None = None, node: Node | None = None) -> None:
        self._cache_ns = (cache_time or _CACHE).nanoseconds
        self._histories: dict[str, TransformHistory] = {}
        self._changed = threading.Condition()

    def clear(self) -> None:
        """Forget all transforms that are not static."""
        with self._changed:
            kept = {name: it for name, it in self._histories.items() if it.is_static}
            self._histories = kept

    def set_transform(self, transform: TransformStamped, authority: str) -> None:
        """Add a transform.

        Raises:
            InvalidArgumentException: A frame has no name, or it is its own parent, or a number is
                not finite, or the quaternion is no rotation.
        """
        self._add(transform, is_static=False)

    def set_transform_static(self, transform: TransformStamped, authority: str) -> None:
        """Add a transform that holds at all times; see `set_transform`."""
        self._add(transform, is_static=True)

    def lookup_transform(
        self,
        target_frame: str,
        source_frame: str,
        time: Time,
        timeout: Duration = Duration(),  # noqa: B008 (the genuine default; never changed)
    ) -> TransformStamped:
        """Return the transform that takes points of the source frame to the target frame.

        Args:
            target_frame: Name of the target frame.
            source_frame: Name of the source frame.
            time: Time of the transform; 0 is the newest that all frames between have in common.
            timeout: How long to wait for it. Something else must spin the listener meanwhile.

        Raises:
            LookupException: A frame does not exist.
            ConnectivityException: The frames are not connected.
            ExtrapolationException: The time is outside of the known transforms.
        """
        return self.lookup_transform_full(
            target_frame, time, source_frame, time, target_frame, timeout
        )

    def lookup_transform_full(
        self,
        target_frame: str,
        target_time: Time,
        source_frame: str,
        source_time: Time,
        fixed_frame: str,
        timeout: Duration = Duration(),  # noqa: B008 (the genuine default; never changed)
    ) -> TransformStamped:
        """Return the transform between frames at two times, by a frame that does not move."""
        end = wall.monotonic() + 1e-9 * timeout.nanoseconds
        with self._changed:
            while True:
                try:
                    return self._lookup(
                        target_frame, target_time, source_frame, source_time, fixed_frame
                    )
                except TransformException:
                    left = end - wall.monotonic()
                    if left <= 0.0:
                        raise
                    self._changed.wait(min(left, _POLL_S))

    def can_transform(
        self,
        target_frame: str,
        source_frame: str,
        time: Time,
        timeout: Duration = Duration(),  # noqa: B008 (the genuine default; never changed)
        return_debug_tuple: bool = False,
    ) -> bool | tuple[bool, str]:
        """Return whether `lookup_transform` would succeed; on request with the reason."""
        return self.can_transform_full(
            *(target_frame, time, source_frame, time, target_frame, timeout),
            return_debug_tuple=return_debug_tuple,
        )

    def can_transform_full(
        self,
        target_frame: str,
        target_time: Time,
        source_frame: str,
        source_time: Time,
        fixed_frame: str,
        timeout: Duration = Duration(),  # noqa: B008 (the genuine default; never changed)
        return_debug_tuple: bool = False,
    ) -> bool | tuple[bool, str]:
        """Return whether `lookup_transform_full` would succeed; on request with the reason."""
        reason = ""
        try:
            self.lookup_transform_full(
                target_frame, target_time, source_frame, source_time, fixed_frame, timeout
            )
        except TransformException as error:
            reason = str(error)
        return (not reason, reason) if return_debug_tuple else not reason

    def all_frames_as_string(self) -> str:
        """Return a line for each frame with its parent."""
        with self._changed:
            lines = (
                f"Frame {name} exists with parent {it.parent}."
                for name, it in sorted(self._histories.items())
            )
            return "\n".join(lines)

    def _add(self, message: TransformStamped, *, is_static: bool) -> None:
        child, parent = (
            name.removeprefix("/") for name in (message.child_frame_id, message.header.frame_id)
        )
        position, quaternion = message.transform.translation, message.transform.rotation
        translation = np.array([position.x, position.y, position.z])
        rotation = np.array([quaternion.x, quaternion.y, quaternion.z, quaternion.w])
        length = float(np.linalg.norm(rotation))
        if not child or not parent:
            raise InvalidArgumentException("a transform needs header.frame_id and child_frame_id")
        if child == parent:
            raise InvalidArgumentException(f"frame '{child}' is its own parent")
        if not np.isfinite(translation).all() or not abs(length - 1.0) < _QUATERNION_TOLERANCE:
            raise InvalidArgumentException(
                f"the transform of frame '{child}' has a number that is not finite, or a "
                "quaternion that is not of length 1"
            )
        stamp = Time.from_msg(message.header.stamp).nanoseconds
        with self._changed:
            history = self._histories.get(child)
            if history is None or history.is_static != is_static:
                history = TransformHistory(self._cache_ns, is_static=is_static)
                self._histories[child] = history
            history.add(stamp, parent, Rigid(translation=translation, rotation=rotation / length))
            self._changed.notify_all()

    def _lookup(
        self, target: str, target_time: Time, source: str, source_time: Time, fixed: str
    ) -> TransformStamped:
        target, source, fixed = (it.removeprefix("/") for it in (target, source, fixed))
        known = {name for child, it in self._histories.items() for name in (child, it.parent)}
        for name in (target, source, fixed):
            if not name:
                raise InvalidArgumentException("a frame has no name")
            if name not in known:
                raise LookupException(f'"{name}" passed to lookupTransform does not exist.')
        if fixed == target:
            transform, stamp = self._between(target, source, source_time.nanoseconds)
        else:
            first, _ = self._between(fixed, source, source_time.nanoseconds)
            second, stamp = self._between(target, fixed, target_time.nanoseconds)
            transform = second @ first
        return _message(target, source, stamp, transform)

    def _between(self, target: str, source: str, time: int) -> tuple[Rigid, int]:
        """Return the transform from source to target, and its time [ns]."""
        if time == 0:
            time = self._latest_common_time(target, source)
        up: dict[str, Rigid] = {}
        failure: TransformException = ConnectivityException(
            f"Could not find a connection between '{target}' and '{source}' because they are not "
            "part of the same tree. Tf has two or more unconnected trees."
        )
        try:
            for name, transform in self._chain(source, time):
                up[name] = transform
        except ExtrapolationException as error:  # perhaps above the frame at which they meet
            failure = error
        for name, transform in self._chain(target, time):
            if name in up:
                return transform.inverse() @ up[name], time
        raise failure

    def _chain(self, frame: str, time: int) -> Iterator[tuple[str, Rigid]]:
        """Yield a frame and its ancestors, each with the transform from the frame to it."""
        transform = IDENTITY
        for _ in range(_LONGEST_CHAIN):
            yield frame, transform
            history = self._histories.get(frame)
            if history is None:
                return
            frame, step = history.at(time)
            transform = step @ transform
        raise ConnectivityException("the tree of frames contains a loop")

    def _latest_common_time(self, target: str, source: str) -> int:
        """Return the newest time of all moving frames between two; 0 if there is none."""
        ancestors = [self._ancestors(it) for it in (target, source)]
        common = set(ancestors[0]) & set(ancestors[1])
        moving = (
            self._histories[name].newest
            for names in ancestors
            for name in names
            if name not in common and name in self._histories
            if not self._histories[name].is_static
        )
        return min(moving, default=0)

    def _ancestors(self, frame: str) -> list[str]:
        names = [frame]
        while (history := self._histories.get(names[-1])) and len(names) < _LONGEST_CHAIN:
            names.append(history.parent)
        return names


def _message(target: str, source: str, stamp: int, transform: Rigid) -> TransformStamped:
    message: Any = TransformStamped(child_frame_id=source)
    message.header.frame_id = target
    message.header.stamp = Time(nanoseconds=stamp).to_msg()
    translation, rotation = message.transform.translation, message.transform.rotation
    translation.x, translation.y, translation.z = map(float, transform.translation)
    rotation.x, rotation.y, rotation.z, rotation.w = map(float, transform.rotation)
    result: TransformStamped = message
    return result
