"""Dock areas of windows on pages of different sizes."""

import pytest
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.viewer.docks import DockArea, DockLayout

TITLES = {
    DockArea.LEFT: "Simulation",
    DockArea.LEFT_BELOW: "View",
    DockArea.RIGHT: "arm",
    DockArea.RIGHT_BELOW: "Inspector",
    DockArea.BELOW: "Plots",
}


class Page:
    """A page with a window in every area.

    Attributes:
        rectangles: Of each window in the last frame: left, top, width and height.
    """

    def __init__(self):
        self.docks = DockLayout()
        self.rectangles = {}
        self.titles = TITLES

    def frames(self, width, height, count=8):
        """Build frames of a size; return the rectangle of the scene in the last."""
        imgui.GetIO().DisplaySize = imgui.Vec2(width, height)
        for _ in range(count):
            imgui.NewFrame()
            scene = self.docks.begin_frame()
            for area, title in self.titles.items():
                with self.docks.window(title, area):
                    corner, size = imgui.GetWindowPos(), imgui.GetWindowSize()
                    self.rectangles[title] = (corner.x, corner.y, size.x, size.y)
            imgui.EndFrame()
        return scene

    def uncovered(self):
        """Return what the windows leave uncovered: left, top, right and bottom [px]."""
        size = imgui.GetIO().DisplaySize
        left, top, right, bottom, _ = self.docks.uncovered
        return left * size.x, top * size.y, right * size.x, bottom * size.y


@pytest.fixture
def page(context):
    io = imgui.GetIO()
    io.ConfigFlags = int(io.ConfigFlags) | int(imgui.ConfigFlags.DockingEnable)
    return Page()


@pytest.mark.parametrize("size", [(640, 400), (1000, 640), (2560, 1440)])
def test_windows_leave_the_scene_its_share_of_a_page_of_any_size(page, size):
    assert page.frames(*size, count=2) is None, "windows are settling"
    left, top, width, height = page.frames(*size)
    assert 0.45 * size[0] < width < 0.55 * size[0]
    assert 0.6 * size[1] < height < 0.8 * size[1]
    assert left == pytest.approx(page.rectangles["Simulation"][2], abs=4.0)
    assert left + width == pytest.approx(page.rectangles["arm"][0], abs=4.0)
    assert top + height == pytest.approx(page.rectangles["Plots"][1], abs=4.0)


@pytest.mark.parametrize("size", [(640, 400), (1280, 800), (1920, 1080)])
def test_what_windows_leave_uncovered_is_the_scene(page, size):
    page.frames(*size, count=2)
    assert page.docks.uncovered == (), "windows are settling"
    left, top, width, height = page.frames(*size)
    assert page.uncovered() == pytest.approx((left, top, left + width, top + height), abs=8.0)
    assert page.docks.uncovered[4] == pytest.approx(size[0] / size[1])


def test_windows_that_are_not_docked_any_more_leave_their_area_uncovered(page):
    page.frames(1280, 800)
    docked = page.docks.window

    def window(title, area):
        if area not in (DockArea.LEFT, DockArea.LEFT_BELOW):
            return docked(title, area)
        imgui.SetNextWindowDockID(0, int(imgui.Cond.Always))
        return docked(title)

    page.docks.window = window
    page.frames(1280, 800)
    left, _, right, bottom = page.uncovered()
    assert left == 0.0
    assert right == pytest.approx(page.rectangles["arm"][0], abs=8.0)
    assert bottom == pytest.approx(page.rectangles["Plots"][1], abs=8.0)


def test_a_page_without_docked_windows_is_uncovered_below_its_menu_bar(page):
    page.frames(1280, 800)
    page.titles = {}
    page.frames(1280, 800)
    top = imgui.GetFrameHeight()
    assert page.uncovered() == pytest.approx((0.0, top, 1280.0, 800.0))


def test_what_a_page_without_height_shows_is_unknown(page):
    page.frames(1280, 800)
    page.frames(1280, 0)
    assert page.docks.uncovered == ()


def test_a_page_that_reports_its_size_late_is_laid_out_again(page):
    page.frames(1280, 720, count=500)
    _, _, width, _ = page.frames(640, 400)
    assert 0.45 * 640 < width < 0.55 * 640


def test_a_preferred_tab_is_in_front_on_every_page_until_a_click(page, monkeypatch):
    titles = {**TITLES, DockArea.RIGHT_BELOW: "Inspector"}
    visible = {}

    def frames(width, count=8):
        imgui.GetIO().DisplaySize = imgui.Vec2(width, 720)
        for _ in range(count):
            imgui.NewFrame()
            page.docks.begin_frame()
            for title in [*titles.values(), "Controller"]:
                area = next((a for a, t in titles.items() if t == title), DockArea.RIGHT_BELOW)
                with page.docks.window(title, area, closable=True) as (is_visible, _):
                    visible[title] = is_visible
            imgui.EndFrame()
        return [title for title in ("Inspector", "Controller") if visible[title]]

    assert frames(1280, count=20) == ["Inspector"]
    page.docks.prefer_tab(DockArea.RIGHT_BELOW, "Controller")
    assert frames(1280) == ["Controller"]
    assert frames(1000, count=20) == ["Controller"], "on a page of another size"
    monkeypatch.setattr(imgui, "IsMouseClicked", lambda _: True)
    frames(1000, count=1)
    monkeypatch.setattr(imgui, "IsMouseClicked", lambda _: False)
    page.docks.prefer_tab(DockArea.RIGHT_BELOW, "Inspector")
    assert frames(1000) == ["Controller"], "a click on the page was ignored"


def test_the_layout_stays_after_a_click(page, monkeypatch):
    page.frames(1280, 720)
    monkeypatch.setattr(imgui, "IsMouseClicked", lambda _: True)
    page.frames(1280, 720, count=1)
    monkeypatch.setattr(imgui, "IsMouseClicked", lambda _: False)
    before = page.rectangles["Simulation"][2]
    page.frames(1600, 720)
    assert page.rectangles["Simulation"][2] == pytest.approx(before, abs=2.0)
    page.docks.expect_page()
    page.frames(1400, 720)  # the next page reports its equal size late
    page.frames(1600, 720)
    assert page.rectangles["Simulation"][2] == pytest.approx(before, abs=2.0)
    page.frames(1000, 720)
    assert page.rectangles["Simulation"][2] < before


def test_a_click_while_windows_come_to_the_front_keeps_its_window(page, monkeypatch):
    focused: list[str] = []
    monkeypatch.setattr(imgui, "SetWindowFocus", focused.append)
    page.frames(1000, 640, count=4)
    assert focused, "windows come to the front"
    page.docks.prefer_tab(DockArea.BELOW, "Log")
    monkeypatch.setattr(imgui, "IsMouseClicked", lambda _: True)
    focused.clear()
    page.frames(1000, 640)
    assert focused == []
