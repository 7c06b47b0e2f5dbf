"""The elements of panels. All of them have a name, and are disabled without control.

Widgets with `watch` only change what this page shows, and need no control.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from nicegui.element import Element

from mujoco_ros.viewer.clients import Request
from mujoco_ros.viewer.page.formats import format_decimals, format_number
from mujoco_ros.viewer.page.live import LiveElement
from mujoco_ros.viewer.page.session import current_session

Act = Callable[..., object]
_MOST_LINES = 1000


class Widget(LiveElement):
    """An element that the user operates."""

    def __init__(
        self,
        kind: str,
        act: Act,
        *,
        watch: bool,
        is_safe: bool = False,
        tag: str = "span",
        tip: str = "",
        options: dict[str, Any] | None = None,
        state: dict[str, Any] | None = None,
    ) -> None:
        """Create it; a safe one acts on every page that is not read-only, as a pause."""
        session = current_session()
        may_always = watch or (is_safe and not session.is_read_only)
        self._is_enabled, self._may_act = True, lambda: may_always or session.can_control
        merged = {"tip": tip, "off": not self._may_act(), **(state or {})}
        super().__init__(
            session.feed,
            kind,
            tag=tag,
            options=options,
            state=merged,
            may_act=self._may_act,
        )
        guarded = session.guard(act)
        self.on("act", lambda event: guarded(event.args))
        self.classes(f"control {kind}")

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


def button(
    label: str,
    act: Act,
    *,
    tip: str = "",
    name: str = "",
    look: str = "",
    watch: bool = False,
    is_safe: bool = False,
) -> Widget:
    """Create a button; `look` is ``main``, ``danger``, ``plain``, or empty."""
    control = Widget(
        "button",
        lambda _value: act(),
        watch=watch,
        is_safe=is_safe,
        tag="button",
        tip=tip,
        options={"name": name},
        state={"text": label},
    )
    return control.classes(look)


def check(
    label: str, value: bool, change: Act, *, tip: str = "", name: str = "", watch: bool = False
) -> Widget:
    """Create a check box; set `value`. `name` is for screen readers, if it is not the label."""
    return Widget(
        "check",
        change,
        watch=watch,
        tag="label",
        tip=tip,
        options={"label": label, "name": name},
        state={"value": value},
    )


def choice(
    name: str, items: Sequence[str], value: str, change: Act, *, tip: str = "", watch: bool = False
) -> Widget:
    """Create a list of which one item is selected; set `value`, and `items`."""
    return Widget(
        "choice",
        change,
        watch=watch,
        tag="select",
        tip=tip,
        options={"name": name},
        state={"items": list(items), "value": value},
    )


def text_field(
    name: str,
    change: Act,
    *,
    value: str = "",
    placeholder: str = "",
    tip: str = "",
    eager: bool = False,
    watch: bool = False,
) -> Widget:
    """Create a field for text; an `eager` one calls `change` while the user types."""
    return Widget(
        "field",
        change,
        watch=watch,
        tag="input",
        tip=tip,
        options={"name": name, "placeholder": placeholder, "eager": eager},
        state={"value": value},
    )


class NumberField(Widget):
    """A field for a number; arrow keys change it by a step, with Shift by ten."""

    def show(self, value: float) -> None:
        """Show a value, unless the user edits the field."""
        self.set(value=format_number(value))


def number_field(
    name: str,
    value: float,
    change: Act,
    *,
    low: float | None = None,
    high: float | None = None,
    step: float = 0.0,
    tip: str = "",
    watch: bool = False,
) -> NumberField:
    """Create a field for a number; `change` gets the bounded number after Enter."""
    return NumberField(
        "number",
        change,
        watch=watch,
        tip=tip,
        options={"name": name, "low": low, "high": high, "step": step},
        state={"value": format_number(value)},
    )


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
    watch: bool = False,
) -> Slider:
    """Create a slider; `change` gets numbers while the user moves it, at most 25 a second.

    With `late` it gets only the number at the end of a motion.
    """
    options = {"name": name, "low": low, "high": high, "unit": unit, "digits": digits, "late": late}
    state = {"value": format_decimals(value, digits)}
    created = Slider(
        "slider", change, watch=watch, tip=tip, options={**options, "step": step}, state=state
    )
    created.low, created.high, created.digits = low, high, digits
    return created


class Bar(LiveElement):
    """A number, and a bar from the middle to its share of a limit."""

    def show(self, value: float, limit: float, words: str) -> None:
        """Show a value, its share of a limit, and its text."""
        share = value / limit if limit > 0.0 else 0.0
        self.set(share=round(share, 3), text=words)


def bar(name: str) -> Bar:
    """Create a bar."""
    return Bar(current_session().feed, "bar", options={"name": name}).classes("bar")


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
    return Widget("joystick", hold, watch=False, tag="div", tip=tip, options=options)


def devices(hold: Act) -> Widget:
    """Create the place of gamepads; `hold` gets ``linear`` and ``angular`` in -1..1, then None.

    Set `target`, the name of what they move; empty for nothing.
    """
    return Widget("devices", hold, watch=False, tag="div", state={"target": ""})


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
        del known[:-_MOST_LINES]
        self._feed.append(self, list(lines))

    def clear_lines(self) -> None:
        """Remove all lines."""
        self.state["lines"] = []
        self._props["initial"] = self.state
        self._feed.change(self, {"lines": []})


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
    def row(self, heading: str = "", tip: str = "") -> Iterator[Element]:
        """Add a row, with a heading if there is one; its cells are added inside."""
        with self._body, Element("tr") as created:
            if heading:
                with Element("th") as head:
                    text(heading)
                head._props["scope"] = "row"
                head._props["title"] = tip
            yield created

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
        text(title, tag="h3")
        created._props["aria-label"] = title
        yield created


def progress(name: str) -> LiveElement:
    """Create a bar of progress; set `value`, a text of 0 to 100, empty if it is not known."""
    options = {"name": name}
    return LiveElement(current_session().feed, "progress", tag="progress", options=options)


def row() -> Element:
    """Create a row that breaks when it is narrow; the content is added inside."""
    return Element("div").classes("row")


@contextmanager
def line(label: str) -> Iterator[Element]:
    """Create a line with a label and what is added inside."""
    with Element("div").classes("line") as created:
        text(label, "muted")
        yield created


class RequestResult:
    """The result of a request, and the command of a shell that does the same."""

    def __init__(self) -> None:
        with Element("div").classes("result") as self._element:
            self._element._props["role"] = "status"
            self._summary = text(tag="p")
            with row():
                self._command = text(tag="code")
                self._copy = copy_button(self._command, "Copy the command")
        self._element.set_visibility(False)
        self._shown: Request | None = None

    def show(self, request: Request | None) -> None:
        """Show a request; none leaves what is shown."""
        if request is None:
            return
        if self._shown is None:
            self._element.set_visibility(True)
        self._shown = request
        tone = {None: "muted", True: "", False: "bad"}[request.ok]
        self._summary.set(text=request.summary, tone=tone)
        self._command.set(text=request.command, hidden=not request.command)
        self._copy.set(hidden=not request.command)


def request_result() -> RequestResult:
    """Create the place for the result of a request."""
    return RequestResult()
