"""The markers of one server, as its response and its updates describe them."""

import logging
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from math import inf

from rclpy.serialization import deserialize_message
from visualization_msgs.msg import InteractiveMarker, InteractiveMarkerPose, InteractiveMarkerUpdate
from visualization_msgs.srv import GetInteractiveMarkers

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.marker_descriptions import InteractiveMarkerInfo, MarkerServerInfo
from mujoco_ros.viewer.ros.interactive_markers.marker_reader import (
    checked_pose,
    marker_info,
    shown_text,
)

_LOG = logging.getLogger(__name__)
_MOST_MARKERS, _MOST_PROBLEMS, _MOST_LOGGED = 200, 5, 20
"""Markers and present problems that are shown, and problems that are logged."""


class MarkerSet:
    """Markers of a server."""

    def __init__(self, server: str) -> None:
        self.markers: dict[str, InteractiveMarkerInfo] = {}  # the markers by name
        # Number of the last update that they contain; None until the response
        self.sequence: int | None = None
        # Name of the marker that the user moves; new poses of it apply after the motion
        self.held = ""
        self._server = server
        self._responded = 0
        self._later: Pose | None = None
        self._has_more = False  # markers that are not shown
        self._logged: set[str] = set()
        self._problems: dict[str, str] = {}  # by what they are about

    @property
    def info(self) -> MarkerServerInfo:
        """The markers and the problems."""
        problems = tuple(self._problems.values())
        return MarkerServerInfo(markers=dict(self.markers), problems=problems)

    def note(self, about: str, problem: str) -> None:
        """Show a problem, and log the first one of its kind; an empty one is solved."""
        if not problem:
            self._problems.pop(about, None)
        elif about in self._problems or len(self._problems) < _MOST_PROBLEMS:
            self._problems[about] = problem
            if about not in self._logged and len(self._logged) < _MOST_LOGGED:
                self._logged.add(about)
                _LOG.warning("interactive markers of '%s': %s", self._server, problem)

    def reset(self, response: GetInteractiveMarkers.Response) -> None:
        """Take the markers of a response instead of the present ones."""
        held, self._has_more = self.markers.get(self.held), False
        self.markers = {} if held is None else {held.name: held}
        self._problems.clear()
        self.sequence = self._responded = int(response.sequence_number)
        self._add(response.markers)
        if self.held not in {marker.name for marker in response.markers}:
            self._remove(self.held)

    def update(self, message: InteractiveMarkerUpdate, *, may_be_late: bool = False) -> bool:
        """Apply an update; return False if all must be requested: one is missing, or has room now.

        With `may_be_late` the response may contain it, though it was received afterwards.
        """
        number, present = int(message.seq_num), self.sequence
        if present is None:
            return False
        is_late = may_be_late and number <= present == self._responded
        if message.type == InteractiveMarkerUpdate.KEEP_ALIVE:  # with the number of the last update
            is_next = is_late or number == present or number == 0
        elif is_late:
            return True
        else:
            is_next = number == present + 1
        if not is_next:
            self.note("sequence", f"update {number} follows {present}; all are requested again")
            return False
        if message.type != InteractiveMarkerUpdate.KEEP_ALIVE:
            self._apply(message)
        return not (self._has_more and message.erases and len(self.markers) < _MOST_MARKERS)

    def _apply(self, message: InteractiveMarkerUpdate) -> None:
        self.sequence = int(message.seq_num)
        self._add(message.markers)
        self.note("unknown", "")
        for pose in message.poses:
            self._move(pose)
        for name in message.erases:
            self._remove(name)
            self.note(_about(name), "")

    def release(self) -> None:
        """End the motion of the user; the newest pose of the server applies."""
        name, self.held = self.held, ""
        if self._later is not None and name in self.markers:
            self.move(name, self._later)
        self._later = None

    def move(self, name: str, pose: Pose) -> None:
        """Set the pose of a marker in its frame."""
        self.markers[name] = replace(self.markers[name], pose=pose)

    def _add(self, messages: Sequence[InteractiveMarker]) -> None:
        count = 0
        for message in messages:
            is_new = message.name not in self.markers
            if count == _MOST_MARKERS or (is_new and len(self.markers) >= _MOST_MARKERS):
                self._has_more = True
                continue
            count += 1
            try:
                info = marker_info(message)
            except UserInputError as error:
                self._remove(message.name)
                self.note(_about(message.name), f"{error}; it is not shown")
                continue
            self.note(_about(message.name), "")
            self._set(info)
        if self._has_more:
            self.note("number", f"more than {_MOST_MARKERS} markers; the rest is not shown")

    def _set(self, marker: InteractiveMarkerInfo) -> None:
        """Take what the server describes; the pose of the held marker applies later."""
        present = self.markers.get(marker.name)
        if marker.name == self.held and present is not None:
            is_same = present.frame == marker.frame
            self._later = marker.pose if is_same else None
            marker = replace(marker, pose=present.pose) if is_same else marker
        self.markers[marker.name] = marker

    def _remove(self, name: str) -> None:
        self.markers.pop(name, None)
        if name == self.held:
            self.held, self._later = "", None

    def _move(self, message: InteractiveMarkerPose) -> None:
        name = message.name
        marker = self.markers.get(name)
        if marker is None:
            if not self._has_more and _about(name) not in self._problems:
                text = f"a pose of the unknown marker '{shown_text(name)}' is ignored"
                self.note("unknown", text)
            return
        try:
            pose = checked_pose(message, f"marker '{shown_text(name)}'")
        except UserInputError as error:
            self.note(_about(name), f"{error}; the pose is ignored")
            return
        self._set(replace(marker, frame=message.header.frame_id, pose=pose))


def _about(name: str) -> str:
    return f"marker '{name}'"


DEPTH = 100
"""Updates that wait."""
_LARGEST = 1 << 20  # longest update that is read [bytes]
_MOST_BYTES = 4 << 20
"""Length of the updates that wait above which the earlier ones are dropped [bytes]."""
_REQUEST_S, _REFUSED_S = 1.0, 10.0
"""Shortest time between two requests, and that after an update that cannot be read [s]."""
_LATE_S = 1.0  # time after a response in which an update that it contains may still arrive [s]


class UpdateQueue:
    """Updates of one server."""

    def __init__(self, markers: MarkerSet) -> None:
        self.markers = markers  # the markers of the server
        # When all markers must be requested [s]; None if they need not
        self.request_at: float | None = None
        self._waiting: deque[bytes] = deque(maxlen=DEPTH)  # empty instead of one that is too long
        self._is_refused = False
        self._requested_at = self._responded_at = -inf

    def receive(self, serialized: bytes) -> None:
        """Let a serialized update wait; there are no more after one that is too long."""
        if self._is_refused:
            return
        self._is_refused = len(serialized) > _LARGEST
        if sum(map(len, self._waiting)) + len(serialized) > _MOST_BYTES:
            self._waiting.clear()  # the number of this one shows that some are missing
        self._waiting.append(b"" if self._is_refused else serialized)

    def start(self) -> None:
        """Request all markers at once, of a new server or after a change of its publishers."""
        self._is_refused = False
        self._waiting.clear()
        self._forget_sequence(0.0)

    def request(self, now: float) -> None:
        """Note that all markers are requested; updates wait for the response."""
        self.request_at, self._requested_at = None, now

    def respond(self, response: GetInteractiveMarkers.Response) -> None:
        """Take the markers of a response."""
        self.markers.reset(response)
        self._responded_at = time.monotonic()

    def fail(self, reason: str) -> None:
        """Request all markers again later, since there is no response."""
        self.markers.note("service", reason)
        self.request_at = self._requested_at + _REQUEST_S

    def read(self, now: float, end: float) -> bool:
        """Apply the updates that wait, one at least, until one is missing or wrong, or until `end`.

        Return whether there was one.
        """
        is_changed = False
        while self._waiting and self.markers.sequence is not None:
            is_changed = True
            try:
                self._read_next(now)
            except Exception as error:  # a message that is not what its type promises
                self.markers.note("message", f"an update cannot be read: {error}")
                self._forget_sequence(now + _REFUSED_S)
            if time.monotonic() > end:
                break
        return is_changed

    def _read_next(self, now: float) -> None:
        serialized = self._waiting.popleft()
        if not serialized:
            self.markers.note(
                "size", f"an update is longer than {_LARGEST} bytes; no more are read"
            )
            self._forget_sequence(None)
            return
        message = deserialize_message(serialized, InteractiveMarkerUpdate)
        is_late = now - self._responded_at < _LATE_S
        if not self.markers.update(message, may_be_late=is_late):
            self._forget_sequence(self._requested_at + _REQUEST_S)

    def _forget_sequence(self, request_at: float | None) -> None:
        self.markers.sequence = None
        self.request_at = request_at
