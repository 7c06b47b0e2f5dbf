"""What panels have in common."""

from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.viewer.docks import DockPlace
from mujoco_ros.viewer.panels import panels
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.panels.widgets import Column, child, disabled, scope, table, tabs


class Faulty(Panel):
    title = "Faulty"
    place = DockPlace.LEFT

    def build(self) -> None:
        with (
            tabs("tabs"),
            scope("scope"),
            child("child"),
            disabled(True),
            table("table", [Column("first", 1.0)]),
        ):
            imgui.TableNextRow()
            raise RuntimeError("this went wrong")


def test_what_goes_wrong_in_a_window_is_shown_in_it_and_the_next_frame_is_built(show, caplog):
    frames = show(Faulty)
    frames.build(3)
    assert frames.texts == ["RuntimeError: this went wrong"]
    assert len(caplog.records) == 1


class Unfit(Panel):
    title = "Unfit"
    place = DockPlace.LEFT

    def update(self) -> None:
        raise RuntimeError("no news")

    def windows(self):
        raise RuntimeError("no window")

    def build(self) -> None:
        raise AssertionError


def test_what_goes_wrong_elsewhere_in_a_panel_is_logged_once(show, caplog):
    show(Unfit).build(3)
    faults = [str(record.exc_info[1]) for record in caplog.records]
    assert faults == ["no news", "no window"]


def test_every_panel_has_a_title_of_its_own(state, link):
    titles = [title for panel in panels(state, link) for title, _build in panel.windows()]
    assert len(titles) == len(set(titles)) == 6
