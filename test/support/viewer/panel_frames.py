"""Frames of a panel in a context of Dear ImGui without a window, and input to them."""

from collections.abc import Callable
from typing import Any

import pytest
from mujoco.studio import messages
from mujoco.studio.dear_imgui import dear_imgui as imgui
from mujoco.studio.implot import implot

from mujoco_ros.viewer.panels.panel import Panel

# Result of a widget in the frame in which it is used, from the entered value.
USED: dict[str, Callable[[Any], Any]] = {
    "Button": lambda _: True,
    "Checkbox": lambda entered: (True, entered),
    "ImageButton": lambda _: True,
    "Combo": lambda entered: (True, entered),
    "InputDouble": lambda entered: (True, entered),
    "InputInt": lambda entered: (True, entered),
    "InputText": lambda entered: (True, entered),
    "InputTextWithHint": lambda entered: (True, entered),
    "DragFloat": lambda entered: (True, entered),
    "Selectable": lambda _: True,
    "SmallButton": lambda _: True,
    "SliderFloat": lambda entered: (True, entered),
    "SliderInt": lambda entered: (True, entered),
}
OPENED = ("BeginTabItem", "TreeNode")


class Frames:
    """Builds frames of a panel, records their content, and uses their widgets.

    Attributes:
        seen: Labels of the widgets of the last frame, and whether they are enabled.
        texts: Its texts.
        curves: Its curves by name: times and values.
    """

    def __init__(self, panel: Panel, monkeypatch: pytest.MonkeyPatch) -> None:
        """Build frames of a panel in the present contexts of Dear ImGui and ImPlot."""
        self.panel = panel
        self.seen: dict[str, bool] = {}
        self.texts: list[str] = []
        self.curves: dict[str, tuple[list[float], list[float]]] = {}
        self._used_widgets: dict[str, Any] = {}
        self._disabled: list[bool] = []
        self._last = ""
        for name in USED:
            monkeypatch.setattr(imgui, name, self._widget(name, getattr(imgui, name)))
        tab, tree = imgui.BeginTabItem, imgui.TreeNode
        write, begin, end = imgui.TextUnformatted, imgui.BeginDisabled, imgui.EndDisabled
        left, line = imgui.IsItemDeactivatedAfterEdit, implot.PlotLine

        def open_tab(label: str) -> bool:
            self.seen[label] = True
            select = int(imgui.TabItemFlags.SetSelected)
            return bool(tab(label, select if label in self._used_widgets else 0))

        def open_tree(label: str) -> bool:
            self.seen[label] = True
            if label in self._used_widgets:
                imgui.SetNextItemOpen(True)
            return bool(tree(label))

        for name, replacement in {
            "BeginTabItem": open_tab,
            "TreeNode": open_tree,
            "TextUnformatted": lambda text: (self.texts.append(text), write(text)),
            "BeginDisabled": lambda grey: (self._disabled.append(grey), begin(grey)),
            "EndDisabled": lambda: (self._disabled.pop(), end()),
            "IsItemDeactivatedAfterEdit": lambda: self._last in self._used_widgets or left(),
        }.items():
            monkeypatch.setattr(imgui, name, replacement)

        def plot(name: str, times: list[float], values: list[float]) -> None:
            self.curves[name] = (times, values)
            line(name, times, values)

        monkeypatch.setattr(implot, "PlotLine", plot)

    @property
    def text(self) -> str:
        """All texts of the last frame."""
        return "\n".join(self.texts)

    def build(self, count: int = 1) -> None:
        """Build frames."""
        for _ in range(count):
            self.seen.clear()
            self.texts.clear()
            self.curves.clear()
            imgui.NewFrame()
            self.panel.on_update(messages.UpdateEvent())
            imgui.SetNextWindowSize(imgui.Vec2(900.0, 600.0))
            self.panel.on_build_gui(messages.BuildGuiEvent())
            imgui.EndFrame()

    def use(self, *labels: str, entered: Any = None) -> None:
        """Build a frame in which widgets are used, and one more; used fields lose the focus."""
        self._used_widgets = dict.fromkeys(labels, entered)
        self.build()
        used = dict(self.seen)
        self._used_widgets.clear()
        self.build()
        for label in labels:
            assert used.get(label), f"'{label}' cannot be used among {used}"

    def _widget(self, name: str, widget: Callable[..., Any]) -> Callable[..., Any]:
        def build(label: str, *args: Any) -> Any:
            shown, self._last = widget(label, *args), label
            self.seen[label] = not any(self._disabled)
            is_used = label in self._used_widgets and self.seen[label]
            return USED[name](self._used_widgets[label]) if is_used else shown

        return build
