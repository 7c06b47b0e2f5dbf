"""The panel "Log": messages of all nodes."""

from collections.abc import Mapping
from typing import Any

from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.page.formats import format_stamp
from mujoco_ros.viewer.page.panel import Area, Panel
from mujoco_ros.viewer.page.session import Session

LEVELS = {"debug": 10, "info": 20, "warn": 30, "error": 40, "fatal": 50}
_NAMES = {level: name for name, level in LEVELS.items()}


class LogPanel(Panel):
    """The latest messages of /rosout, filtered by level and text."""

    title = "Log"
    area = Area.BOTTOM

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._level, self._filter, self._wraps = LEVELS["info"], "", True
        self._last = 0

    def settings(self) -> dict[str, Any]:
        return {"level": self._level, "wrap": self._wraps}

    def restore(self, settings: Mapping[str, Any]) -> None:
        if settings.get("level") in _NAMES:
            self._level = settings["level"]
        self._wraps = settings.get("wrap") is not False

    def build(self) -> None:
        with widgets.row():
            level = _NAMES[self._level]
            widgets.choice("Lowest level", list(LEVELS), level, self._set_level, watch=True)
            widgets.text_field(
                "Filter",
                self._set_filter,
                value=self._filter,
                placeholder="node or text",
                eager=True,
                watch=True,
            )
            widgets.check("wrap", self._wraps, self._set_wrap, watch=True)
            tools = widgets.row()
        self._lines, self._last = widgets.lines("Messages", level=self._level), 0
        self._show()
        with tools:
            widgets.copy_button(self._lines, "Copy the messages")
            widgets.button("Clear", self._lines.clear_lines, watch=True)

    def refresh(self) -> None:
        new = self.clients.log(self._last)
        if new:
            self._last = new[-1].number
            self._lines.append(
                [
                    (
                        line.number,
                        format_stamp(line.time),
                        line.level,
                        _NAMES.get(line.level, str(line.level)),
                        line.node,
                        line.text,
                    )
                    for line in new
                ]
            )

    def _show(self) -> None:
        self._lines.set(level=self._level, filter=self._filter.lower(), wrap=self._wraps)

    def _set_level(self, name: str) -> None:
        self._level = LEVELS.get(name, self._level)
        self._show()

    def _set_filter(self, words: str) -> None:
        self._filter = words
        self._show()

    def _set_wrap(self, wraps: bool) -> None:
        self._wraps = wraps
        self._show()
