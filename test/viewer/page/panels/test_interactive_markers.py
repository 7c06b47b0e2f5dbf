"""The panel "Interactive markers" in a browser."""

import numpy as np
import pytest
from eventually import eventually
from playwright.sync_api import expect

from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.marker_descriptions import (
    InteractionMode,
    InteractiveMarkerInfo,
    MarkerControl,
    MarkerKey,
    MarkerMenuEntry,
    MarkerServerInfo,
)

GOAL = MarkerKey("/planner", "goal")
CONTROLS = (
    MarkerControl(name="along", mode=InteractionMode.MOVE_AXIS),
    MarkerControl(name="press", description="Plan <b>", mode=InteractionMode.BUTTON),
    MarkerControl(name="menu", mode=InteractionMode.MENU),
)
MENU = (
    MarkerMenuEntry(number=1, title="Grasp", entries=(MarkerMenuEntry(number=2, title="top"),)),
    MarkerMenuEntry(number=3, title="rviz", is_selectable=False),
)


def served_by(*controls: MarkerControl, frame: str = "world") -> MarkerServerInfo:
    marker = InteractiveMarkerInfo(
        name="goal",
        description="where to go",
        frame=frame,
        pose=Pose(position=np.array([0.1, 0.2, 0.3])),
        initial_quat=Pose().quat_wxyz,
        controls=controls,
        menu=MENU,
    )
    return MarkerServerInfo(markers={"goal": marker}, problems=("one is refused",))


@pytest.fixture
def shown(panel, clients):
    clients.markers.known["/planner"] = served_by(*CONTROLS)
    shown = panel("Interactive markers")
    shown.get_by_role("combobox", name="Marker").select_option("/planner: goal")
    expect(shown.get_by_role("region", name="goal")).to_be_visible()
    return shown


def test_a_selected_marker_is_moved_pressed_and_its_menu_used(shown, clients):
    expect(shown.get_by_text("/planner: one is refused")).to_be_visible()
    expect(shown.get_by_text("where to go")).to_be_visible()
    expect(shown.get_by_role("spinbutton", name="y [m]")).to_have_value("0.2")
    field = shown.get_by_role("spinbutton", name="x [m]")
    for name in ("x [m]", "y [m]"):
        field = shown.get_by_role("spinbutton", name=name)
        field.fill("0.7")
        field.press("Enter")
    eventually(lambda: len(clients.called("place_marker")) == 2, lambda: clients.calls)
    (key, control, first), (_, _, second) = clients.called("place_marker")
    assert (key, control) == (GOAL, "along")
    np.testing.assert_allclose(first.position, [0.7, 0.2, 0.3], atol=1e-9)
    np.testing.assert_allclose(second.position, [0.1, 0.2, 0.3], atol=1e-9)

    shown.get_by_role("button", name="Plan <b>").click()
    shown.get_by_text("Grasp").click()
    shown.get_by_role("button", name="top").click()
    expect(shown.get_by_role("button", name="rviz")).to_be_disabled()
    eventually(lambda: clients.called("select_entry"))
    assert clients.called("click_marker") == [(GOAL, "press")]
    assert clients.called("select_entry") == [(GOAL, "menu", 2)]


def test_a_dragged_handle_moves_the_marker(shown, page, clients, served):
    scene = served.session.scene
    eventually(lambda: scene.pose)
    ((_number, link),) = served.server._scene.links.items()
    scene.set_camera(lookat=[0.1, 0.2, 0.3], distance=2.0, azimuth=90.0, elevation=-20.0)
    eventually(lambda: scene.pose["distance"] == 2.0 and b"goal" in link._sent["handles"])
    page.evaluate("() => new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(f)))")
    box = page.get_by_role("application", name="3D view").bounding_box()
    # The x axis, 70 px long, points to the right.
    page.mouse.move(box["x"] + box["width"] / 2 + 70, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 + 130, box["y"] + box["height"] / 2, steps=3)
    eventually(lambda: clients.called("drag_marker"), lambda: clients.calls)
    page.mouse.up()
    eventually(lambda: clients.called("release_marker") == [()], lambda: clients.calls)
    key, control, pose = clients.called("drag_marker")[-1]
    assert (key, control) == (GOAL, "along")
    assert pose.position[0] > 0.15
    np.testing.assert_allclose(pose.position[1:], [0.2, 0.3], atol=1e-4)


def test_what_cannot_be_moved_or_placed_says_so(shown, page, clients):
    clients.markers.known["/planner"] = served_by(CONTROLS[1], frame="moon")
    expect(shown.get_by_text("Frame 'moon' is not known.")).to_be_visible()
    expect(shown.get_by_role("spinbutton", name="x [m]")).to_be_disabled()
    clients.markers.known.clear()
    expect(page.get_by_role("tab", name="Interactive markers")).to_be_hidden()
