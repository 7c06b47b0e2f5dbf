"""Elements whose text and state change often, and what sends the changes.

NiceGUI sends an element as a whole and renders all elements again. Elements here keep their text,
value and state in the browser; a message has only what changed since the last one.
"""

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

from nicegui import core
from nicegui.client import Client
from nicegui.element import Element

_LOG = logging.getLogger(__name__)
_MESSAGE = "live"  # name of the messages of this module
MOST_LINES = 1000  # most lines that an element keeps, and that wait for the browser
_NAMED = frozenset(("button", "choice", "copy", "field", "joystick"))
"""Kinds of elements whose ``name`` in the options is their name for screen readers."""
_PULSE_S = 0.4  # longest time between two messages, so that the page knows how old its figures are
_SILENT_S = 1.0  # a browser that has not answered for so long is silent [s]
_MUTE_S = 8.0  # and for so long, it gives its place up if another page needs it [s]
_TIMEOUT_S = 10.0  # a browser that has not answered for so long gets another message [s]


class LiveFeed:
    """Sends the changed states of the elements of a page, one message at a time.

    The next message waits until the browser has received the last one, so that a slow connection
    gets fewer messages instead of old ones.
    """

    def __init__(self, client: Client) -> None:
        """Send to a client."""
        self._client = client
        self._elements: dict[int, LiveElement] = {}
        self._changes: dict[int, dict[str, Any]] = {}
        self._sent: float | None = None  # when the first message was sent that has no answer yet
        self._last = 0.0  # when the last message was sent
        self._number = 0
        self.has_acted = False  # whether the user did something that panels do not show yet
        self._transit = 0.0  # time from a message to its answer [s]
        client.on_connect(self.send_all)

    def add(self, element: "LiveElement") -> None:
        """Add an element."""
        self._elements[element.id] = element

    def remove(self, element: "LiveElement") -> None:
        """Remove an element."""
        self._elements.pop(element.id, None)
        self._changes.pop(element.id, None)

    def change(self, element: "LiveElement", changes: Mapping[str, Any]) -> None:
        """Note changes of the state of an element for the next message."""
        self._changes.setdefault(element.id, {}).update(changes)

    def append(self, element: "LiveElement", lines: list[Any]) -> None:
        """Note what the next message adds to the lines of an element."""
        waiting = self._changes.setdefault(element.id, {}).setdefault("append", [])
        waiting.extend(lines)
        del waiting[:-MOST_LINES]  # the browser may sleep for hours

    @property
    def is_waiting(self) -> bool:
        """Whether the browser has not received the last message yet."""
        return self._sent is not None

    @property
    def age(self) -> float:
        """The age of what the browser shows [s]."""
        return self._transit if self._sent is None else time.monotonic() - self._sent

    @property
    def is_silent(self) -> bool:
        """Whether the browser has not answered for a while."""
        return self.is_waiting and self.age > _SILENT_S

    @property
    def is_mute(self) -> bool:
        """Whether the browser has not answered for so long that it is hardly there any more."""
        return self.is_waiting and self.age > _MUTE_S

    def follow_control(self) -> None:
        """Enable or disable what needs control."""
        for element in self._elements.values():
            element.follow_control()

    def send_all(self) -> None:
        """Send all states: the browser has connected, and may have missed messages."""
        self._changes = {}
        for key, element in self._elements.items():
            self._changes[key] = element.snapshot()
        self._sent = None

    async def flush(self) -> None:
        """Send what has changed, unless the browser has not received the last message yet."""
        now = time.monotonic()
        if self._sent is not None and now - self._last < _TIMEOUT_S:
            return
        is_due = self._changes or now - self._last > _PULSE_S
        if not is_due or not self._client.has_socket_connection:
            return
        changes, self._changes = self._changes, {}
        self._last = now
        if self._sent is None:
            self._sent = now
        self._number = number = self._number + 1

        def answered(*_: object) -> None:
            if number == self._number:
                self._transit, self._sent = time.monotonic() - now, None

        message = {
            "changes": [list(change) for change in changes.items()],
            "transit": self._transit,
        }
        await core.sio.emit(_MESSAGE, message, room=self._client.id, callback=answered)


class LiveElement(Element, component="static/live.js"):
    """An element with a state that only the own script of the page changes.

    `kind` is a key of ``kinds`` in live.js, `options` never change, `state` may.
    """

    def __init__(
        self,
        feed: LiveFeed,
        kind: str,
        *,
        tag: str = "span",
        options: Mapping[str, Any] | None = None,
        state: Mapping[str, Any] | None = None,
        may_act: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__()
        self.state: dict[str, Any] = dict(state or {})
        self._feed, self._may_act = feed, may_act
        self._props["kind"], self._props["root"] = kind, tag
        self._props["options"], self._props["initial"] = dict(options or {}), self.state
        if kind in _NAMED and (name := self._props["options"].get("name")):
            self._props["aria-label"] = name  # in others, an element inside has the name
        feed.add(self)

    def set(self, **changes: Any) -> None:
        """Change the state; what is equal is not sent."""
        changed = {name: v for name, v in changes.items() if self.state.get(name) != v}
        if changed:
            self.state.update(changed)
            self._feed.change(self, changed)

    def follow_control(self) -> None:
        """Follow the control of the page."""

    def snapshot(self) -> dict[str, Any]:
        """Return all that a browser needs that has connected again."""
        return dict(self.state)

    @property
    def is_ignoring_events(self) -> bool:
        """Whether it ignores what the browser sends: disabled, or a page without control."""
        return super().is_ignoring_events or bool(self.state.get("off")) or not self._may_act()

    def _handle_event(self, msg: dict[str, Any]) -> None:
        super()._handle_event(msg)
        self._feed.has_acted = True

    def _handle_delete(self) -> None:
        self._feed.remove(self)
        super()._handle_delete()
