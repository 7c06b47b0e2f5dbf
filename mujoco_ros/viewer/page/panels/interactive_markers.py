"""The panel "Interactive markers": selects, moves and presses markers of other nodes."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from mujoco_ros.viewer.marker_descriptions import (
    InteractionMode,
    InteractiveMarkerInfo,
    MarkerKey,
    MarkerMenuEntry,
)
from mujoco_ros.viewer.marker_handles import MOST_HANDLES
from mujoco_ros.viewer.marker_motion import allowed, moving_control
from mujoco_ros.viewer.message_shapes import printable
from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.page.details import group
from mujoco_ros.viewer.page.panel import Area, Panel
from mujoco_ros.viewer.page.pose_fields import PoseFields, pose_numbers, pose_of
from mujoco_ros.viewer.page.session import Session

_NONE = "none"


class InteractiveMarkersPanel(Panel):
    """Lists the markers of all servers; the selected one has handles in the scene."""

    title = "Interactive markers"
    area = Area.RIGHT

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._handles, self._markers = session.shared.markers, self.clients.markers
        self._keys: Mapping[str, MarkerKey] = {}
        self._fields: PoseFields | None = None

    @property
    def is_needed(self) -> bool:
        return bool(self._markers.known)

    def structure(self) -> Hashable:
        marker = self._handles.marker
        if marker is None:
            return self._handles.selected
        controls = tuple((it.mode, it.name, it.description) for it in marker.controls)
        words = marker.name, marker.description, marker.frame
        return self._handles.selected, words, controls, marker.menu

    def build(self) -> None:
        self._problems = widgets.text(tone="warning", tag="p")
        with widgets.line("Marker"):
            self._choice = widgets.choice("Marker", [_NONE], _NONE, self._select)
        self._note = widgets.text(tone="muted", tag="p")
        self._fields = None
        marker, key = self._handles.marker, self._handles.selected
        if marker is not None and key is not None:
            with widgets.section(printable(marker.name)):
                self._build_marker(key, marker)

    def refresh(self) -> None:
        known, handles = self._markers.known, self._handles
        self._keys = _labels(
            [
                MarkerKey(server, name)
                for server, info in sorted(known.items())
                for name in sorted(info.markers)
            ]
        )
        problems = [
            f"{server or '/'}: {problem}"
            for server, info in sorted(known.items())
            for problem in info.problems
        ]
        if self._markers.left_out:
            problems.append(f"{self._markers.left_out} more servers are not shown.")
        self._problems.set(text="\n".join(problems), hidden=not problems)
        present = {key: label for label, key in self._keys.items()}
        shown = _NONE if handles.selected is None else present.get(handles.selected, _NONE)
        self._choice.set(items=[_NONE, *self._keys], value=shown)
        note = "" if shown != _NONE else "Select a marker to move it."
        if not self._keys:
            note = "The servers have no markers."
        self._note.set(text=note, hidden=not note)
        marker = handles.marker
        if marker is not None and self._fields is not None:
            self._refresh_marker(marker, self._fields)

    def _refresh_marker(self, marker: InteractiveMarkerInfo, pose: PoseFields) -> None:
        is_movable = moving_control(marker) is not None
        pose.show(pose_numbers(marker.pose))
        for field in pose.fields:
            field.enable(is_movable)
            field.set(tip="" if is_movable else "No control of the marker moves it")
        frame = printable(marker.frame)
        warning = f"Frame '{frame}' is not known." if self._handles.is_unplaced else ""
        if not warning and self._handles.has_more:
            warning = f"Only the first {MOST_HANDLES} handles are shown."
        self._warning.set(text=warning, hidden=not warning)

    def _build_marker(self, key: MarkerKey, marker: InteractiveMarkerInfo) -> None:
        if marker.description and marker.description != marker.name:
            widgets.text(marker.description, tag="p")
        widgets.text(f"Pose in '{printable(marker.frame)}'", "muted", tag="p")
        self._warning = widgets.text(tone="warning", tag="p")
        self._fields = PoseFields(self._place)
        with widgets.row():
            for control in marker.controls:
                if control.mode is InteractionMode.BUTTON:
                    label = printable(control.description or control.name) or "Press"
                    press = partial(self._markers.click, key, control.name)
                    widgets.button(label, press, tip=printable(control.name))
        if marker.menu:
            menus = [it.name for it in marker.controls if it.mode is InteractionMode.MENU]
            every = [it.name for it in marker.controls]
            with widgets.section("Menu"):
                self._build_menu(key, next(iter([*menus, *every]), ""), marker.menu)

    def _build_menu(self, key: MarkerKey, control: str, entries: Sequence[MarkerMenuEntry]) -> None:
        for entry in entries:
            title = printable(entry.title) or "(no title)"
            if entry.entries:
                with group(title):
                    self._build_menu(key, control, entry.entries)
                continue
            tip = "" if entry.is_selectable else "The viewer runs no commands."
            choose = partial(self._markers.select, key, control, entry.number)
            widgets.button(title, choose, tip=tip).enable(entry.is_selectable)

    def _select(self, label: str) -> None:
        self._handles.select(self._keys.get(label))

    def _place(self, index: int, value: float) -> None:
        """Set a number of the pose, as far as the controls allow it."""
        marker, key = self._handles.marker, self._handles.selected
        if marker is None or key is None:
            return
        numbers = pose_numbers(marker.pose)
        numbers[index] = value
        wanted = pose_of(numbers)
        if index < 3:
            wanted = replace(wanted, quat_wxyz=marker.pose.quat_wxyz)
        wanted.check("The marker")
        pose = allowed(marker, wanted)
        if (control := moving_control(marker, pose)) is not None:
            self._markers.place(key, control.name, pose)


def _labels(keys: Sequence[MarkerKey]) -> Mapping[str, MarkerKey]:
    """Return a different text for each marker."""
    found: dict[str, MarkerKey] = {}
    for key in keys:
        label = first = printable(f"{key.server}: {key.name}")
        number = 2
        while label in found:
            label, number = f"{first} ({number})", number + 1
        found[label] = key
    return found
