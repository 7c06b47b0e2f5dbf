"""The base class of panels."""

from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.viewer.clients import ControllerInfo
from mujoco_ros.viewer.docks import DockArea
from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.panels import panels
from mujoco_ros.viewer.panels.cameras import CamerasPanel
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.panels.widgets import child, disabled, scope, table, tabs, text


class Faulty(Panel):
    title = "Faulty"
    area = DockArea.LEFT

    def build(self) -> None:
        with (
            tabs("tabs"),
            scope("scope"),
            child("child"),
            disabled(True),
            table("table", [("first", 1.0)]),
        ):
            imgui.TableNextRow()
            raise RuntimeError("this went wrong")


def test_an_exception_in_a_window_is_shown_in_it_and_the_next_frame_is_built(show, caplog):
    frames = show(Faulty)
    frames.build(3)
    assert frames.texts == ["RuntimeError: this went wrong"]
    assert len(caplog.records) == 1


class FaultyAtFirst(Panel):
    title = "Faulty at first"
    area = DockArea.LEFT
    is_faulty = True

    def update(self) -> None:
        if self.is_faulty:
            raise RuntimeError("no update")

    def build(self) -> None:
        text("content")


def test_an_exception_in_an_update_is_shown_above_the_content_until_one_succeeds(show):
    frames = show(FaultyAtFirst)
    frames.build()
    assert frames.texts == ["RuntimeError: no update", "content"]
    frames.panel.is_faulty = False
    frames.build()
    assert frames.texts == ["content"]


class FaultyUpdate(Panel):
    title = "Faulty update"
    area = DockArea.LEFT

    def update(self) -> None:
        raise RuntimeError("no update")

    def windows(self):
        raise RuntimeError("no window")

    def build(self) -> None:
        raise AssertionError


def test_an_exception_elsewhere_in_a_panel_is_logged_once(show, caplog):
    show(FaultyUpdate).build(3)
    faults = [str(record.exc_info[1]) for record in caplog.records]
    assert faults == ["no update", "no window"]


def test_every_panel_has_a_title_of_its_own(state, clients):
    clients.controllers.known["/walk"] = ControllerInfo(name="/walk")
    shown = panels(state, clients, EntityDisplays(state))
    next(panel for panel in shown if isinstance(panel, CamerasPanel)).update()
    titles = [title for panel in shown for title, _build in panel.windows()]
    assert len(titles) == len(set(titles)) == 9
