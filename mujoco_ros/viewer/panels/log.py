"""The panel "Log": messages of all nodes."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer import style
from mujoco_ros.viewer.clients import LogLine
from mujoco_ros.viewer.docks import DockArea
from mujoco_ros.viewer.panels import widgets
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.panels.widgets import format_stamp

LEVELS = {"debug": 10, "info": 20, "warn": 30, "error": 40, "fatal": 50}
_NAMES = {level: name for name, level in LEVELS.items()}
_COLOURS = {30: style.WARNING, 40: style.BAD, 50: style.BAD}
_COLUMNS = (("Time", 0.0), ("Level", 0.0), ("Node", 0.0), ("Text", 1.0))
_CAPACITY = 1000


class LogPanel(Panel):
    """The latest messages of /rosout, filtered by level and text."""

    title = "Log"
    area = DockArea.BELOW

    def __init__(self, state: SharedState, log: Callable[[int], Sequence[LogLine]]) -> None:
        """Show the lines that `log` returns after a sequence number."""
        super().__init__(state)
        self.level = LEVELS["info"]  # the lowest level shown
        self.filter = ""  # text that a line or the name of its node contains, in any case
        self.lines: deque[LogLine] = deque(maxlen=_CAPACITY)  # all lines, oldest first
        self._log = log
        self._last = 0

    @property
    def shown(self) -> list[LogLine]:
        wanted = self.filter.casefold()
        return [
            line
            for line in self.lines
            if line.level >= self.level and wanted in f"{line.node} {line.text}".casefold()
        ]

    def settings(self) -> dict[str, Any]:
        return {"level": self.level}

    def restore(self, settings: Mapping[str, Any]) -> None:
        level = settings.get("level")
        if isinstance(level, int) and level in _NAMES:
            self.level = level

    def build(self) -> None:
        self.lines.extend(self._log(self._last))
        self._last = self.lines[-1].number if self.lines else self._last
        imgui.SetNextItemWidth(style.LEVEL_WIDTH)
        level = widgets.combo("##level", _NAMES[self.level], list(LEVELS))
        self.level = LEVELS[level] if level else self.level
        imgui.SameLine()
        imgui.SetNextItemWidth(style.FILTER_WIDTH)
        _, self.filter = imgui.InputTextWithHint("##word", "node or text", self.filter)
        imgui.SameLine()
        if widgets.button("Clear"):
            self.lines.clear()
        with widgets.table("lines", _COLUMNS, height=style.FILL) as is_open:
            if is_open:
                self._build_lines(self.shown)

    def _build_lines(self, lines: list[LogLine]) -> None:
        at_end = imgui.GetScrollY() >= imgui.GetScrollMaxY()
        for index in widgets.visible_rows(len(lines)):
            _build_line(lines[index])
        if at_end:
            imgui.SetScrollHereY(1.0)


def _build_line(line: LogLine) -> None:
    imgui.TableNextRow()
    level, colour = _NAMES.get(line.level, str(line.level)), _COLOURS.get(line.level)
    cells = (format_stamp(line.time), None), (level, colour), (line.node, None), (line.text, None)
    for words, cell_colour in cells:
        imgui.TableNextColumn()
        with widgets.coloured(cell_colour) if cell_colour else nullcontext():
            imgui.TextUnformatted(words)
