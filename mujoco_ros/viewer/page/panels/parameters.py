"""The panels "Parameters" and "Physics": parameters of the simulator, and which were changed."""

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

import yaml

from mujoco_ros.viewer.clients import ParameterInfo, Request
from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.page.details import foldable
from mujoco_ros.viewer.page.formats import format_value
from mujoco_ros.viewer.page.panel import Area, Panel
from mujoco_ros.viewer.page.request_result import RequestResult
from mujoco_ros.viewer.page.session import Session
from mujoco_ros.viewer.page.setting_fields import kind_of, setting_field
from mujoco_ros.viewer.page.widgets import Column


class ParametersPanel(Panel):
    """Finds, sets and restores parameters; shows the command of each request."""

    title = "Parameters"
    area = Area.RIGHT
    is_open = False
    prefix = ""
    """What the names of its parameters begin with."""
    most_shown = 40
    """Number of rows; a search finds the others."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._words: list[str] = []
        self._is_limited = False  # whether changed parameters alone are listed
        self._request: Request | None = None
        self._listed: Hashable = None
        self._written: dict[str, ParameterInfo] = {}
        # What shows the value of each row, and its button to restore it
        self._rows: dict[str, tuple[Callable[[Any], object], widgets.Widget]] = {}

    @property
    def _known(self) -> dict[str, ParameterInfo]:
        known = self.clients.parameters.known
        return {name: info for name, info in known.items() if name.startswith(self.prefix)}

    def build(self) -> None:
        self._listed, self._written = None, {}
        with widgets.row():
            widgets.text_field(
                "Search",
                self._search,
                value=" ".join(self._words),
                placeholder="name or description",
                eager=True,
                watch=True,
            )
            set_limited = partial(setattr, self, "_is_limited")
            widgets.check("changed only", self._is_limited, set_limited, watch=True)
        with widgets.row():
            self._count = widgets.text(tone="muted")
            self._restore = widgets.button(
                "Restore all", self._restore_all, tip="Set all to the values at the start"
            )
        self._result = RequestResult()
        self._file = foldable("Changes as a parameter file")
        with self._file.content:
            self._changes = widgets.text(tag="pre")
            widgets.copy_button(self._changes, "Copy the parameter file")
        columns = [Column("Parameter", wide=True), Column("Value")]
        self._table = widgets.WidgetTable(self.title, columns)
        self._table.element.classes("parameters")

    def refresh(self) -> None:
        known = self._known
        changed = {name: info for name, info in known.items() if _is_changed(info)}
        found = self._found(changed if self._is_limited else known)
        listed = found[: self.most_shown]
        shapes = tuple((name, _shape(known[name])) for name in listed)
        if shapes != self._listed:
            self._listed = shapes
            self._build_rows(listed)
        for name, (show, restore) in self._rows.items():
            info = known[name]
            show(info.value)
            text = f"Restore {format_value(info.initial)}"
            restore.set(text=text, tip="The value at the start", hidden=not _is_changed(info))
        more = f", the first {len(listed)} are listed" if len(listed) < len(found) else ""
        simulator = self.clients.parameters.simulator
        words = f"{len(found)} of {len(known)} parameters{more}; {len(changed)} changed"
        self._count.set(text=words if known else f"{simulator} does not respond")
        self._restore.set(hidden=not changed)
        self._file.summary.set(hidden=not changed)
        if changed != self._written:
            self._written = changed
            self._changes.set(text=_parameter_file(simulator, changed))
        self._result.show(self._request)

    def _search(self, words: str) -> None:
        self._words = words.casefold().split()

    def _found(self, parameters: dict[str, ParameterInfo]) -> list[str]:
        """Return the names of parameters with all words of the search, sorted."""
        texts = {name: f"{name} {info.description}".casefold() for name, info in parameters.items()}
        return sorted(name for name, text in texts.items() if all(w in text for w in self._words))

    def _build_rows(self, names: Sequence[str]) -> None:
        self._table.clear()
        self._rows = {name: self._build_row(name) for name in names}

    def _build_row(self, name: str) -> tuple[Callable[[Any], object], widgets.Widget]:
        info = self._known[name]
        with self._table.row():
            with self._table.cell().classes("wide"):
                widgets.text(name, strong=True, tag="p").classes("name")
                widgets.text(info.description, "muted", tag="p").classes("name")
                widgets.text(_limits(info), "muted", tag="p")
                restore = widgets.button("", partial(self._restore_one, name))
            with self._table.cell():
                field = setting_field(
                    kind_of(info),
                    name,
                    info,
                    partial(self._set, name),
                    tip=_limits(info),
                    choices=info.choices,
                    with_slider=False,
                )
                if field is None:
                    figure = widgets.figure()
                    return (lambda value: figure.set(text=format_value(value))), restore
                if info.read_only:
                    field.enable(False, f"{name} cannot be set while the simulator runs")
                return field.show, restore

    def _set(self, name: str, value: Any) -> None:
        self._request = self.clients.parameters.set({name: value})

    def _restore_one(self, name: str) -> None:
        self._set(name, self._known[name].initial)

    def _restore_all(self) -> None:
        changed = {name: info.initial for name, info in self._known.items() if _is_changed(info)}
        self._request = self.clients.parameters.set(changed)


class PhysicsPanel(ParametersPanel):
    """All options and flags of the engine."""

    title = "Physics"
    prefix = "physics."
    most_shown = 100


def _is_changed(info: ParameterInfo) -> bool:
    return bool(info.value != info.initial) and not info.read_only


def _shape(info: ParameterInfo) -> Hashable:
    """Return what the row of a parameter depends on."""
    length = len(info.value) if isinstance(info.value, tuple) else 0
    return type(info.value), length, info.low, info.high, info.description, info.read_only


def _limits(info: ParameterInfo) -> str:
    if info.choices:
        return f"one of {', '.join(info.choices)}"
    if info.low is None or info.high is None:
        return ""
    return f"{format_value(float(info.low))} to {format_value(float(info.high))}"


def _parameter_file(node: str, changed: dict[str, ParameterInfo]) -> str:
    """Return the values of parameters as a parameter file of ROS."""
    values = {name: info.value for name, info in sorted(changed.items())}
    plain = {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}
    content = {node: {"ros__parameters": plain}}
    return str(yaml.safe_dump(content, sort_keys=False, allow_unicode=True))
