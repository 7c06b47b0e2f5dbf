"""What all panels have, without a browser."""

from collections.abc import Hashable
from typing import ClassVar

import pytest
from fake_clients import FakeClients
from nicegui import ui
from nicegui.client import Client

from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.page.access import Role
from mujoco_ros.viewer.page.panel import Panel
from mujoco_ros.viewer.page.session import Session, Shared


class FailingPanel(Panel):
    """Cannot be built for some structures."""

    title, working = "Failing", "complete"
    structures: ClassVar[list[str]] = []

    def structure(self) -> Hashable:
        return self.structures[-1]

    def build(self) -> None:
        if self.structures[-1] != self.working:
            raise ValueError("no such robot")
        self._text = widgets.text()

    def refresh(self) -> None:
        self._text.set(text="there")
        self.button = widgets.button("Reset", lambda: 1 / 0)


@pytest.fixture
def panel(state):
    client = Client(ui.page("/panel"))
    with client:
        created = FailingPanel(
            Session(Shared(state, FakeClients(), lambda _seconds: None), client, Role.CONTROL)
        )
        created.mount()
        yield created
    client.delete()


def test_the_cause_of_a_failed_build_is_shown_until_it_succeeds(panel, monkeypatch):
    monkeypatch.setattr(FailingPanel, "structures", ["", "robot"])
    for _ in range(3):
        panel.tick(is_visible=True)
        assert panel._error.state["text"] == "ValueError: no such robot"
    FailingPanel.structures.append(FailingPanel.working)
    panel.tick(is_visible=True)
    assert panel._error.state["hidden"]
    assert panel._text.state["text"] == "there"


def test_an_element_of_a_refresh_shows_its_error_in_the_panel(panel, monkeypatch):
    monkeypatch.setattr(FailingPanel, "structures", [FailingPanel.working])
    panel.tick(is_visible=True)
    (listener,) = panel.button._event_listeners.values()
    panel.button._handle_event({"listener_id": listener.id, "args": None})
    assert panel._error.state["text"] == "ZeroDivisionError: division by zero"
