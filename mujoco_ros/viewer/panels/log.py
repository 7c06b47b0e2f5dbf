"""The panel "Log": what all nodes have to say."""

from collections import deque

from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.docks import DockPlace
from mujoco_ros.viewer.link import LogLine, SimulatorLink
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.panels.stamps import stamp
from mujoco_ros.viewer.panels.widgets import (
    BAD,
    FILL,
    WARNING,
    Column,
    button,
    choose,
    coloured,
    rows,
    table,
)

LEVELS = {"debug": 10, "info": 20, "warn": 30, "error": 40, "fatal": 50}
_NAMES = {level: name for name, level in LEVELS.items()}
_COLOURS = {30: WARNING, 40: BAD, 50: BAD}
_COLUMNS = (Column("Time"), Column("Level"), Column("Node"), Column("Text", 1.0))
_KEPT = 1000
_CHOICE_WIDTH = 90.0
_FILTER_WIDTH = 220.0


class LogPanel(Panel):
    """The last lines of /rosout from a level on, with a word in them.

    Attributes:
        level: The least that is shown.
        word: What a line or the name of its node must contain, in any case.
        lines: All that are kept, oldest first.
    """

    title = "Log"
    place = DockPlace.BELOW

    def __init__(self, state: SharedState, link: SimulatorLink) -> None:
        """Show what `link` hears."""
        super().__init__(state, link)
        self.level = LEVELS["info"]
        self.word = ""
        self.lines: deque[LogLine] = deque(maxlen=_KEPT)
        self._last = 0

    @property
    def shown(self) -> list[LogLine]:
        """The lines that pass level and word."""
        word = self.word.casefold()
        return [
            line
            for line in self.lines
            if line.level >= self.level and word in f"{line.node} {line.text}".casefold()
        ]

    def build(self) -> None:
        """Build the choices, and the lines below them, newest last."""
        self.lines.extend(self.link.log(after=self._last))
        self._last = self.lines[-1].number if self.lines else self._last
        imgui.SetNextItemWidth(_CHOICE_WIDTH)
        chosen = choose("##level", _NAMES[self.level], list(LEVELS))
        self.level = LEVELS[chosen] if chosen else self.level
        imgui.SameLine()
        imgui.SetNextItemWidth(_FILTER_WIDTH)
        _, self.word = imgui.InputTextWithHint("##word", "node or text", self.word)
        imgui.SameLine()
        if button("Clear"):
            self.lines.clear()
        with table("lines", _COLUMNS, height=FILL) as is_open:
            if is_open:
                self._build_lines(self.shown)

    def _build_lines(self, lines: list[LogLine]) -> None:
        at_end = imgui.GetScrollY() >= imgui.GetScrollMaxY()
        for index in rows(len(lines)):
            _build_line(lines[index])
        if at_end:
            imgui.SetScrollHereY(1.0)


def _build_line(line: LogLine) -> None:
    imgui.TableNextRow()
    imgui.TableNextColumn()
    imgui.TextUnformatted(stamp(line.time))
    imgui.TableNextColumn()
    name = _NAMES.get(line.level, str(line.level))
    if (colour := _COLOURS.get(line.level)) is None:
        imgui.TextUnformatted(name)
    else:
        with coloured(colour):
            imgui.TextUnformatted(name)
    imgui.TableNextColumn()
    imgui.TextUnformatted(line.node)
    imgui.TableNextColumn()
    imgui.TextUnformatted(line.text)
