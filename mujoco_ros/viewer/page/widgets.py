"""The elements of panels. All of them have a name, and are disabled without control.

Widgets with `watch` only change what this page shows, and need no control.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple, TypedDict, Unpack

from nicegui.element import Element

from mujoco_ros.viewer.page.formats import format_decimals, format_number
from mujoco_ros.viewer.page.live import MOST_LINES, LiveElement
from mujoco_ros.viewer.page.session import current_session

Act = Callable[..., object]
_HOLD_S = 1.0  # time in which the effect of what was entered may arrive


class Widget(LiveElement):
    """An element that the user operates."""

    def __init__(
        self,
        kind: str,
        act: Act,
        *,
        watch: bool = False,
        is_safe: bool = False,
        tag: str = "span",
        tip: str = "",
        options: dict[str, Any] | None = None,
        state: dict[str, Any] | None = None,
        read: Callable[[Any], Any] = lambda value: value,
    ) -> None:
        """Create it; a safe one acts on every page that is not read-only, as a pause.

        `act` gets what `read` returns for the value of the browser.
        """
        session = current_session()
        may_always = watch or (is_safe and not session.is_read_only)
        self._is_enabled, self._may_act = True, lambda: may_always or session.can_control
        merged = {"tip": tip, "off": not self._may_act(), **(state or {})}
        super().__init__(
            session.feed, kind, tag=tag, options=options, state=merged, may_act=self._may_act
        )
        self._before: Any = None  # the value before another one was entered
        self._held_until = -math.inf  # until when that value is not set again
        self._read = read
        guarded = session.guard(partial(self._hear, act))
        self.on("act", lambda event: guarded(event.args))
        self.classes(f"control {kind}")

    def set(self, **changes: Any) -> None:
        """Change the state; the value before one was entered only after the time to arrive."""
        if "value" in changes:
            if changes["value"] != self._before:
                self._held_until = -math.inf
            elif self.is_held:
                del changes["value"]
        super().set(**changes)

    @property
    def is_held(self) -> bool:
        """Whether what was entered may still arrive."""
        return time.monotonic() < self._held_until

    def _hear(self, act: Act, value: Any) -> None:
        """Act on what was entered, which the browser shows until another value is set."""
        value = self._read(value)
        if "value" not in self.state:
            act(value)
            return
        if not self.is_held:
            self._before = self.state["value"]
        self._held_until = -math.inf
        entered = self.state["value"] = self._written(value)
        act(value)
        if self.state["value"] == entered:
            self._held_until = time.monotonic() + _HOLD_S

    def _written(self, value: Any) -> Any:
        """Return a value as it is set."""
        return value

    def enable(self, condition: bool) -> None:
        """Enable it if the condition holds, and the page has control."""
        self._is_enabled = condition
        self.follow_control()

    def follow_control(self) -> None:
        """Disable it without control."""
        self.set(off=not (self._is_enabled and self._may_act()))


def text(
    words: str = "", tone: str = "", *, strong: bool = False, tag: str = "span"
) -> LiveElement:
    """Create text; `tone` is ``good``, ``warning``, ``bad`` or ``muted``. Set `text` and `tone`."""
    element = LiveElement(
        current_session().feed, "text", tag=tag, state={"text": words, "tone": tone}
    )
    return element.classes("strong" if strong else "")


def figure(words: str = "") -> LiveElement:
    """Create text with a number, in digits of equal width."""
    return text(words).classes("figure")


class How(TypedDict, total=False):
    """What widgets have in common."""

    tip: str
    watch: bool  # whether it needs no control, because it changes only what this page shows


def button(
    label: str,
    act: Act,
    *,
    name: str = "",
    look: str = "",
    is_safe: bool = False,
    tip: str = "",
    watch: bool = False,
) -> Widget:
    """Create a button; `look` is ``main``, ``danger``, ``plain``, or empty."""
    how: dict[str, Any] = {"tip": tip, "watch": watch, "is_safe": is_safe, "tag": "button"}
    options, state = {"name": name}, {"text": label}
    return Widget("button", lambda _: act(), options=options, state=state, **how).classes(look)


def check(label: str, value: bool, change: Act, *, name: str = "", **how: Unpack[How]) -> Widget:
    """Create a check box; set `value`. `name` is for screen readers, if it is not the label."""
    options = {"label": label, "name": name}
    state = {"value": value}
    return Widget("check", change, tag="label", options=options, state=state, read=bool, **how)


def choice(name: str, items: Sequence[str], value: str, change: Act, **how: Unpack[How]) -> Widget:
    """Create a list of which one item is selected; set `value`, and `items`."""
    state = {"items": list(items), "value": value}
    options = {"name": name}
    return Widget("choice", change, tag="select", options=options, state=state, read=str, **how)


def text_field(
    name: str,
    change: Act,
    *,
    value: str = "",
    placeholder: str = "",
    eager: bool = False,
    **how: Unpack[How],
) -> Widget:
    """Create a field for text; an `eager` one calls `change` while the user types."""
    options = {"name": name, "placeholder": placeholder, "eager": eager}
    state = {"value": value}
    return Widget("field", change, tag="input", options=options, state=state, read=str, **how)


class NumberField(Widget):
    """A field for a number; arrow keys change it by a step, with Shift by ten."""

    def show(self, value: float) -> None:
        """Show a value, unless the user edits the field."""
        self.set(value=format_number(value))

    def _written(self, value: Any) -> str:
        return format_number(value)


def number_field(
    name: str,
    value: float,
    change: Act,
    *,
    low: float | None = None,
    high: float | None = None,
    step: float = 0.0,
    **how: Unpack[How],
) -> NumberField:
    """Create a field for a number; `change` gets the bounded number after Enter."""
    options = {"name": name, "low": low, "high": high, "step": step}
    state = {"value": format_number(value)}
    return NumberField("number", change, options=options, state=state, read=float, **how)


class Slider(Widget):
    """A slider with the number beside it."""

    low = high = 0.0
    digits = 3

    def show(self, value: float, mark: float | None = None) -> None:
        """Show a value, unless the user moves the slider; `mark` is a second value."""
        self.set(value=format_decimals(value, self.digits))
        if mark is not None:
            share = (mark - self.low) / (self.high - self.low)
            self.set(mark=round(min(1.0, max(0.0, share)), 3))

    def _written(self, value: Any) -> str:
        return format_decimals(value, self.digits)


def slider(
    name: str,
    value: float,
    change: Act,
    *,
    low: float,
    high: float,
    unit: str = "",
    digits: int = 3,
    step: float = 0.01,
    late: bool = False,
    tip: str = "",
    shown_unit: str = "",
) -> Slider:
    """Create a slider; `change` gets numbers while the user moves it, at most 25 a second.

    With `late` it gets only the number at the end of a motion. The unit is read out; what is shown
    is `shown_unit`.
    """
    units = {"unit": unit, "shownUnit": shown_unit}
    shown = {"name": name, "low": low, "high": high, "digits": digits, **units}
    options = {**shown, "late": late, "step": step}
    state = {"value": format_decimals(value, digits)}
    created = Slider("slider", change, tip=tip, options=options, state=state, read=float)
    created.low, created.high, created.digits = low, high, digits
    return created


class Bar(LiveElement):
    """A number, and a bar from the middle to its share of a limit."""

    def __init__(self, name: str) -> None:
        super().__init__(current_session().feed, "content")
        self._props |= {"role": "meter", "aria-label": name, "aria-valuemin": -100}
        self._props["aria-valuemax"] = 100
        self.classes("bar")

    def show(self, value: float, limit: float, words: str) -> None:
        """Show a value, its share of a limit, and its text."""
        share = min(1.0, max(-1.0, value / limit)) if limit > 0.0 else 0.0
        tone = "bad" if abs(share) > 0.95 else "warning" if abs(share) > 0.8 else ""
        self.set(
            tree=[("span", {"class": "fill"}), ("span", {"class": "text"}, words)],
            attributes={"aria-valuenow": round(100 * share), "aria-valuetext": words},
            style={"--share": round(share, 3)},
            tone=tone,
        )


def copy_button(source: Element, name: str) -> LiveElement:
    """Create a button that copies the text of an element."""
    session = current_session()
    options = {"name": name, "label": "Copy", "source": f"c{source.id}"}
    return LiveElement(session.feed, "copy", tag="button", options=options).classes("control copy")


def joystick(name: str, hold: Act, *, axes: str = "both", tip: str = "") -> Widget:
    """Create a pad; `hold` gets ``x`` and ``y`` in -1..1 while it is held, and then None.

    `axes` is ``both``, ``horizontal`` or ``vertical``. A still pad sends 5 times a second.
    """
    options = {"name": name, "axes": axes}
    created = Widget("joystick", hold, tag="div", tip=tip, options=options)
    created._props |= {"role": "application", "aria-roledescription": "joystick"}
    return created


def devices(hold: Act) -> Widget:
    """Create the place of gamepads; `hold` gets ``linear`` and ``angular`` in -1..1, then None.

    Set `target`, the name of what they move; empty for nothing.
    """
    return Widget("devices", hold, tag="div", state={"target": ""})


def link_button(label: str, name: str) -> LiveElement:
    """Create a button that copies a link; set `link`, relative to the page."""
    options = {"name": name, "label": label}
    feed = current_session().feed
    return LiveElement(feed, "copy", tag="button", options=options).classes("control button")


class Lines(LiveElement):
    """Lines of a log, each a number, time, level, name of the level, node and text."""

    def append(self, lines: Sequence[Sequence[Any]]) -> None:
        """Add lines; the oldest go."""
        known = self.state["lines"]
        known.extend(lines)
        del known[:-MOST_LINES]
        self._feed.append(self, list(lines))

    def clear_lines(self) -> None:
        """Remove all lines."""
        self.state["lines"] = []
        self._props["initial"] = self.state
        self._feed.change(self, {"lines": [], "append": []})  # also those that wait


def lines(name: str, *, level: int) -> Lines:
    """Create the place for the lines of a log; set `level`, `filter` and `wrap`."""
    state = {"lines": [], "level": level, "filter": "", "wrap": True}
    created = Lines(current_session().feed, "lines", tag="div", state=state).classes("lines")
    created._props["aria-label"] = name
    return created


class Column(NamedTuple):
    """A column of a table."""

    label: str
    unit: str = ""
    wide: bool = False  # whether it takes what the others leave


class WidgetTable:
    """Rows of cells: ``with table.row(): with table.cell(): ...``."""

    def __init__(self, name: str, columns: Sequence[Column]) -> None:
        self.element = Element("table").classes("table")
        self.element._props["aria-label"] = name
        with self.element, Element("thead"), Element("tr"):
            for column in columns:
                head = Element("th").classes("wide" if column.wide else "")
                head._props["scope"] = "col"
                with head:
                    text(column.label)
                    if column.unit:
                        text(column.unit, "muted").classes("unit")
        with self.element:
            self._body = Element("tbody")

    @contextmanager
    def row(self, heading: str = "", tip: str = "") -> Iterator[LiveElement | None]:
        """Add a row, with a heading if there is one, which it gives; its cells are added inside."""
        with self._body, Element("tr"):
            words = None
            if heading:
                with Element("th") as head:
                    words = text(heading)
                head._props["scope"] = "row"
                head._props["title"] = tip
            yield words

    def cell(self) -> Element:
        """Add a cell to the row that is open; its content is added inside."""
        return Element("td")

    def clear(self) -> None:
        """Remove all rows."""
        self._body.clear()


@contextmanager
def section(title: str) -> Iterator[Element]:
    """Create a group with a heading."""
    with Element("section").classes("section") as created:
        text(title, tag="h2")
        created._props["aria-label"] = title
        yield created


class Progress(LiveElement):
    """A bar of progress."""

    def __init__(self, name: str) -> None:
        super().__init__(current_session().feed, "content", tag="progress")
        self._props |= {"aria-label": name, "max": 100}

    def show(self, percent: float | None) -> None:
        """Show a share; None if it is not known."""
        self.set(attributes={"value": percent})


def row() -> Element:
    """Create a row that breaks when it is narrow; the content is added inside."""
    return Element("div").classes("row")


@contextmanager
def line(label: str) -> Iterator[Element]:
    """Create a line with a label and what is added inside."""
    with Element("div").classes("line") as created:
        text(label, "muted")
        yield created
