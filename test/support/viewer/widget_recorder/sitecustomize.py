"""Records the widgets of the viewer's page for tests; Python imports this file at its start.

Only the process that builds a widget has its rectangle. The viewer's process writes the rectangles
of its windows by title and of its visible widgets by window and label in the last whole frame, its
visible texts, and the number of its frames to the file that MUJOCO_ROS_WIDGETS names.
Files beside it are requests: it brings the window to the front whose title is in the one that ends
in ``.front``, and scrolls to the widget whose window and label are in the one that ends in
``.reveal``.
"""

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

MODULE = "mujoco.studio.dear_imgui.dear_imgui"
WIDGETS = (
    "BeginTabItem",
    "Button",
    "Checkbox",
    "Combo",
    "ImageButton",
    "InputDouble",
    "InputFloat",
    "InputInt",
    "InputText",
    "InputTextWithHint",
    "InvisibleButton",
    "MenuItem",
    "Selectable",
    "SliderFloat",
    "SliderInt",
    "SmallButton",
    "TreeNode",
)
EVERY_FRAME = "Simulation"  # a window of every frame
PERIOD_S = 0.05
SLOW_S = 20.0


class Recorder:
    def __init__(self, imgui: Any, path: Path) -> None:
        self._imgui, self._path = imgui, path
        self._windows: list[str] = []
        self._front = self._revealed = ""
        self._frames = 0
        self._found: dict[str, list[float]] = {}  # in this frame so far
        self._complete: dict[str, list[float]] = {}  # in the last whole frame, until written
        self._texts: list[str] = []  # in this frame so far
        self._complete_texts: list[str] = []
        for name in WIDGETS:
            if hasattr(imgui, name):
                setattr(imgui, name, self._recorded(getattr(imgui, name)))
        imgui.TextUnformatted = self._recorded_text(imgui.TextUnformatted)
        self._clicks: dict[int, float] = {}
        imgui.IsMouseDoubleClicked = self._double_clicked
        begin, end = imgui.Begin, imgui.End

        def recorded_begin(title: str, *args: Any) -> Any:
            if title == self._front:
                imgui.SetNextWindowFocus()
                self._front = ""
            if title == EVERY_FRAME:
                self._frames += 1
                self._complete_texts, self._texts = self._texts, []
                self._complete, self._found = self._found, {}
            self._windows.append(title)
            result = begin(title, *args)
            corner, size = imgui.GetWindowPos(), imgui.GetWindowSize()
            self._found[title] = [corner.x, corner.y, corner.x + size.x, corner.y + size.y]
            return result

        def recorded_end() -> None:
            self._windows.pop()
            end()

        imgui.Begin, imgui.End = recorded_begin, recorded_end

    def _double_clicked(self, button: Any) -> bool:
        """Return whether this is a second click, for browsers with a few frames per second."""
        if not self._imgui.IsMouseClicked(button):
            return False
        now = time.monotonic()
        last = self._clicks.pop(int(button), -SLOW_S)
        if now - last < SLOW_S:
            return True
        self._clicks[int(button)] = now
        return False

    def _recorded(self, widget: Any) -> Any:
        def build(label: str, *args: Any, **named: Any) -> Any:
            result = widget(label, *args, **named)
            imgui = self._imgui
            low, high = imgui.GetItemRectMin(), imgui.GetItemRectMax()
            name = self._name(label)
            x, y = (low.x + high.x) / 2.0, (low.y + high.y) / 2.0
            middle = imgui.Vec2(x - 1.0, y - 1.0), imgui.Vec2(x + 1.0, y + 1.0)
            if imgui.IsItemVisible() and imgui.IsRectVisible(*middle):
                self._found[name] = [low.x, low.y, high.x, high.y]
                if name == self._revealed:
                    self._revealed = ""
            elif name == self._revealed:
                imgui.SetScrollHereY(0.5)
            return result

        return build

    def _name(self, label: str) -> str:
        return f"{self._windows[-1] if self._windows else ''}/{label}"

    def _recorded_text(self, write: Any) -> Any:
        def build(words: str) -> None:
            write(words)
            if self._imgui.IsItemVisible():
                self._texts.append(self._name(words))

        return build

    def run(self) -> None:
        while True:
            time.sleep(PERIOD_S)
            self._front = self._requested(".front") or self._front
            self._revealed = self._requested(".reveal") or self._revealed
            found, self._complete = self._complete, {}
            if found:
                content = {
                    "frames": self._frames,
                    "widgets": found,
                    "texts": self._complete_texts,
                }
                draft = self._path.with_suffix(".draft")
                draft.write_text(json.dumps(content))
                draft.replace(self._path)

    def _requested(self, suffix: str) -> str:
        """Return the content of a request, which it removes; empty without one."""
        request = self._path.with_suffix(suffix)
        if not request.exists():
            return ""
        content = request.read_text()
        request.unlink()
        return content


def record(path: Path) -> None:
    while MODULE not in sys.modules:
        time.sleep(PERIOD_S)
    time.sleep(PERIOD_S)  # until the import is complete
    Recorder(sys.modules[MODULE], path).run()


if "MUJOCO_ROS_WIDGETS" in os.environ and "mujoco_ros.cli.viewer" in sys.orig_argv:
    path = Path(os.environ["MUJOCO_ROS_WIDGETS"])
    threading.Thread(target=record, args=(path,), daemon=True).start()
