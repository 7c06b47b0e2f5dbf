"""The panel "Overlays" in a browser."""

from http.client import HTTPConnection

import mujoco
import numpy as np
import pytest
from eventually import eventually
from playwright.sync_api import expect

from mujoco_ros.viewer.clients import ImageKey, ImageKind, Thumbnail
from mujoco_ros.viewer.message_shapes import Shape, ShapeKind
from mujoco_ros.viewer.overlays.heat_map import Heat


@pytest.fixture
def overlays(panel, served):
    """The body of the panel, and what it switches."""
    return panel("Overlays"), served.server.shared.overlays


def test_overlays_lengths_and_topics_are_set_for_all_pages(overlays, clients):
    body, drawn = overlays
    body.get_by_role("checkbox", name="Contact forces").check()
    eventually(lambda: drawn.shown["Contact forces"])
    drawn.set_shown("Balance", True)  # by another page
    expect(body.get_by_role("checkbox", name="Balance")).to_be_checked()
    length = body.get_by_role("spinbutton", name="Length of a force [mm/N]")
    expect(length).to_have_value("4")
    length.fill("10")
    length.press("Enter")
    eventually(lambda: drawn.scale.force == pytest.approx(0.01))
    expect(body.get_by_text("None that can be drawn.")).to_be_visible()
    clients.drawings.topics["/scan"] = "sensor_msgs/msg/LaserScan"
    scan = body.get_by_role("checkbox", name="/scan")
    scan.check()
    eventually(lambda: clients.drawings.chosen == {"/scan": True})


def test_what_is_drawn_is_sent_to_the_scene_and_problems_are_named(overlays, clients, served):
    body, _ = overlays
    shape = Shape(kind=ShapeKind.SPHERE, frame="moon", position=0.0, size=0.1)
    clients.drawings.newest["/plan"] = [shape]
    expect(body.get_by_text("Frame 'moon' is not known.")).to_be_visible()
    server = served.server
    (link,) = server._scene.links.values()
    geoms = lambda: server._scene._scene(link.options).scene.ngeom  # noqa: E731
    before = geoms()
    body.get_by_role("checkbox", name="TF frames").check()
    eventually(lambda: geoms() > before + 10)


def test_joints_are_sorted_by_their_load_and_colour_the_links(overlays, state, served, clients):
    body, drawn = overlays
    body.locator("summary", has_text="Loads of joints").click()
    table = body.get_by_role("table", name="Loads of joints")
    elbow = next(load for load in drawn.heat.loads() if load.row.name == "elbow_joint")
    expect(table.get_by_role("row")).to_have_count(len(drawn.heat.loads()) + 1)
    state.references.q[2] += 0.05
    table.get_by_role("button", name="Error").click()
    first = table.get_by_role("row").nth(1)
    expect(first.get_by_role("cell").first).to_have_text("elbow_joint")
    expect(first.get_by_role("cell").nth(3)).to_have_text("0.0500")
    expect(first.get_by_role("cell").nth(4)).to_have_text("")
    clients.diagnostics.temperatures = {("arm", "elbow_joint"): 61.2}
    expect(first.get_by_role("cell").nth(4)).to_have_text("61.2")
    header = table.get_by_role("columnheader", name="Error")
    expect(header).to_have_attribute("aria-sort", "descending")
    table.get_by_role("button", name="Error").click()
    expect(header).to_have_attribute("aria-sort", "ascending")
    expect(table.get_by_role("row").last.get_by_role("cell").first).to_have_text("elbow_joint")
    body.get_by_role("combobox", name="Heat map").select_option("tracking error")
    eventually(lambda: drawn.heat.heat is Heat.ERROR)
    shown = lambda: served.server.shared.displays.displayed_model()  # noqa: E731
    own = state.model.geom_bodyid == elbow.body
    eventually(lambda: (shown().geom_rgba[own] != state.model.geom_rgba[own]).any())


def test_images_in_the_scene_are_received_while_they_are_shown(overlays, served, state, clients):
    body, _ = overlays
    camera = state.layout.every_camera[0]
    key = ImageKey((camera.namespace, camera.name), ImageKind.COLOUR, 320)

    def answer() -> tuple[int, str | None]:
        connection = HTTPConnection("127.0.0.1", served.address.port, timeout=30.0)
        connection.request("GET", f"/pictures/scene/{camera.camera}")
        response = connection.getresponse()
        return response.status, response.getheader("content-type")

    shown = body.get_by_role("checkbox", name="Camera images")
    assert key not in clients.images.subscribed
    shown.check()
    eventually(lambda: key in clients.images.subscribed)
    assert answer()[0] == 204, "no image yet"
    pixels = np.full((30, 40, 3), 90, np.uint8)
    clients.images.newest[key] = Thumbnail(pixels=pixels, time=1.5, number=1)
    assert answer() == (200, "image/jpeg")
    shown.uncheck()
    eventually(lambda: key not in clients.images.subscribed)


def test_contacts_are_listed_with_the_largest_force_first(overlays, state):
    body, _ = overlays
    body.locator("summary", has_text="Contacts").click()
    table = body.get_by_role("table", name="Contacts")
    expect(table.get_by_role("row").nth(2)).to_be_visible()  # at 0, the arm is in the table
    rows = table.get_by_role("row").all()[1:]
    forces = [float(row.get_by_role("cell").last.text_content()) for row in rows]
    assert forces == sorted(forces, reverse=True)
    assert len(forces) >= 2
    expect(table.get_by_role("columnheader").last).to_contain_text("N")
    margins = [row.get_by_role("cell").nth(-2).text_content() for row in rows]
    assert all(text == "" or -1.0 <= float(text) <= 100.0 for text in margins)
    assert any(margins)


def test_a_box_in_the_hand_is_held_by_a_force_closure(overlays, state):
    body, _ = overlays
    model, data = state.model, state.data
    box = model.jnt_qposadr[model.body("box/box").jntadr[0]]
    data.qpos[box : box + 3] = data.site("arm/grasp").xpos
    mujoco.mju_mat2Quat(data.qpos[box + 3 : box + 7], data.site("arm/grasp").xmat)
    mujoco.mj_forward(model, data)
    body.locator("summary", has_text="Contacts").click()
    expect(body.get_by_text("box/box is held: force closure 0.")).to_be_visible()
