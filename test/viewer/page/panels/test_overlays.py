"""The panel "Overlays" in a browser."""

import pytest
from eventually import eventually
from playwright.sync_api import expect

from mujoco_ros.viewer.message_shapes import Shape, ShapeKind
from mujoco_ros.viewer.overlays.heat_map import Heat


@pytest.fixture
def overlays(panel, served):
    """The body of the panel, and what it switches."""
    return panel("Overlays"), served[0].shared.overlays


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
    server = served[0]
    (link,) = server._scene.links.values()
    geoms = lambda: server._scene._scene(link.options).scene.ngeom  # noqa: E731
    before = geoms()
    body.get_by_role("checkbox", name="TF frames").check()
    eventually(lambda: geoms() > before + 10)


def test_joints_are_sorted_by_their_load_and_colour_the_links(overlays, state, served):
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
    header = table.get_by_role("columnheader", name="Error")
    expect(header).to_have_attribute("aria-sort", "descending")
    table.get_by_role("button", name="Error").click()
    expect(header).to_have_attribute("aria-sort", "ascending")
    expect(table.get_by_role("row").last.get_by_role("cell").first).to_have_text("elbow_joint")
    body.get_by_role("combobox", name="Heat map").select_option("tracking error")
    eventually(lambda: drawn.heat.heat is Heat.ERROR)
    shown = lambda: served[0].shared.displays.displayed_model()  # noqa: E731
    own = state.model.geom_bodyid == elbow.body
    eventually(lambda: (shown().geom_rgba[own] != state.model.geom_rgba[own]).any())


def test_contacts_are_listed_with_the_largest_force_first(overlays, state):
    body, _ = overlays
    body.locator("summary", has_text="Contacts").click()
    table = body.get_by_role("table", name="Contacts")
    expect(table.get_by_role("row").nth(2)).to_be_visible()  # at 0, the arm is in the table
    texts = table.get_by_role("row").locator("td:last-child").all_text_contents()
    forces = [float(text) for text in texts]
    assert forces == sorted(forces, reverse=True)
    assert len(forces) >= 2
    expect(table.get_by_role("columnheader").last).to_contain_text("N")
