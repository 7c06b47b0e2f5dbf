"""Where windows are, on pages of whatever size."""

import pytest
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.viewer.docks import DockPlace, Docks

TITLES = {
    DockPlace.LEFT: "Simulation",
    DockPlace.LEFT_BELOW: "View",
    DockPlace.RIGHT: "arm",
    DockPlace.RIGHT_BELOW: "Inspector",
    DockPlace.BELOW: "Plots",
}


class Page:
    """A page with a window in every place.

    Attributes:
        rectangles: Of each window in the last frame: left, top, width and height.
    """

    def __init__(self):
        self.docks = Docks()
        self.rectangles = {}

    def frames(self, width, height, count=8):
        """Build frames of a size; return the rectangle of the scene in the last."""
        imgui.GetIO().DisplaySize = imgui.Vec2(width, height)
        for _ in range(count):
            imgui.NewFrame()
            scene = self.docks.lay_out()
            for place, title in TITLES.items():
                self.docks.place(place, title)
                imgui.Begin(title)
                self.docks.border(place)
                corner, size = imgui.GetWindowPos(), imgui.GetWindowSize()
                self.rectangles[title] = (corner.x, corner.y, size.x, size.y)
                imgui.End()
            imgui.EndFrame()
        return scene


@pytest.fixture
def page(context):
    io = imgui.GetIO()
    io.ConfigFlags = int(io.ConfigFlags) | int(imgui.ConfigFlags.DockingEnable)
    return Page()


@pytest.mark.parametrize("size", [(640, 400), (1000, 640), (2560, 1440)])
def test_windows_leave_the_scene_its_share_of_a_page_of_any_size(page, size):
    assert page.frames(*size, count=2) is None, "windows are coming"
    left, top, width, height = page.frames(*size)
    assert 0.45 * size[0] < width < 0.55 * size[0]
    assert 0.6 * size[1] < height < 0.8 * size[1]
    assert left == pytest.approx(page.rectangles["Simulation"][2], abs=4.0)
    assert left + width == pytest.approx(page.rectangles["arm"][0], abs=4.0)
    assert top + height == pytest.approx(page.rectangles["Plots"][1], abs=4.0)


def test_a_page_that_tells_its_size_late_is_laid_out_for_it_anew(page):
    page.frames(1280, 720, count=500)
    _, _, width, _ = page.frames(640, 400)
    assert 0.45 * 640 < width < 0.55 * 640


def test_a_window_that_leads_is_in_front_on_every_page_until_somebody_has_clicked(
    page, monkeypatch
):
    titles = {**TITLES, DockPlace.RIGHT_BELOW: "Inspector"}
    seen = {}

    def frames(width, count=8):
        imgui.GetIO().DisplaySize = imgui.Vec2(width, 720)
        for _ in range(count):
            imgui.NewFrame()
            page.docks.lay_out()
            for title in [*titles.values(), "Controller"]:
                place = next((p for p, t in titles.items() if t == title), DockPlace.RIGHT_BELOW)
                page.docks.place(place, title)
                seen[title], _ = imgui.Begin(title, True)
                page.docks.border(place)
                imgui.End()
            imgui.EndFrame()
        return [title for title in ("Inspector", "Controller") if seen[title]]

    assert frames(1280, count=20) == ["Inspector"]
    page.docks.lead(DockPlace.RIGHT_BELOW, "Controller")
    assert frames(1280) == ["Controller"]
    assert frames(1000, count=20) == ["Controller"], "on a page of another size"
    monkeypatch.setattr(imgui, "IsMouseClicked", lambda _: True)
    frames(1000, count=1)
    monkeypatch.setattr(imgui, "IsMouseClicked", lambda _: False)
    page.docks.lead(DockPlace.RIGHT_BELOW, "Inspector")
    assert frames(1000) == ["Controller"], "what is looked at goes away"


def test_windows_stay_where_they_are_once_somebody_has_clicked(page, monkeypatch):
    page.frames(1280, 720)
    monkeypatch.setattr(imgui, "IsMouseClicked", lambda _: True)
    page.frames(1280, 720, count=1)
    monkeypatch.setattr(imgui, "IsMouseClicked", lambda _: False)
    before = page.rectangles["Simulation"][2]
    page.frames(1600, 720)
    assert page.rectangles["Simulation"][2] == pytest.approx(before, abs=2.0)
    page.docks.expect_page()
    page.frames(1400, 720)  # the next page does not tell at once that it is as large
    page.frames(1600, 720)
    assert page.rectangles["Simulation"][2] == pytest.approx(before, abs=2.0)
    page.frames(1000, 720)
    assert page.rectangles["Simulation"][2] < before
