"""The panel "World" in a browser."""

import copy
import re
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from eventually import eventually
from playwright.sync_api import expect

from mujoco_ros.sim.state.initial_state import initial_state
from mujoco_ros.viewer.clients import OfferedModel, ParameterInfo
from mujoco_ros.viewer.page.panels.world import WorldPanel
from mujoco_ros.viewer.settings_file import SettingsFile

BOX = OfferedModel(uri="package://models/box.xml", description="A wooden box")
ARM = OfferedModel(uri="package://models/arm.xml", description="A robot")
ZOO = OfferedModel(uri="package://scenes/zoo.yaml", description="Many robots")


def opened(panel, *titles):
    """Open titles of the panel."""
    world = panel("World")
    for title in titles:
        world.locator("summary", has_text=title).click()
    return world


def loaded(world):
    """Load the chosen world."""
    world.get_by_role("button", name="Load", exact=True).click()
    world.get_by_role("dialog").get_by_role("button", name="Load", exact=True).click()


def start(state):
    """Return the state of the page."""
    data = mujoco.MjData(state.model)
    mujoco.mj_kinematics(state.model, data)
    return data


def watched(served):
    """Return what the pages follow in their scenes."""
    return [link.watched for link in served.server._scene.links.values()]


def test_links_and_sensors_select_their_body_in_the_scene(panel, state, served):
    world = opened(panel, "arm (robot)", "Links")
    forearm = world.get_by_role("button", name="forearm_link", exact=True)
    forearm.click()
    expect(forearm).to_have_attribute("aria-pressed", "true")
    body = state.model.body("arm/forearm_link").id
    eventually(lambda: [each.selected for each in watched(served)] == [body])
    opened(panel, "Sensors")
    world.get_by_role("button", name="wrist_camera (camera)").click()
    body = int(state.model.camera("arm/wrist_camera").bodyid[0])
    eventually(lambda: [each.selected for each in watched(served)] == [body])
    expect(forearm).to_have_attribute("aria-pressed", "false")


def test_what_is_shown_of_an_entity_is_switched_for_all_pages(panel, served, url, state):
    world = opened(panel, "arm (robot)")
    for switch in ("Collision", "Frames", "References", "Trail"):
        world.get_by_role("checkbox", name=switch).check()
    world.get_by_role("checkbox", name="Visual").uncheck()
    displays = served.server.shared.displays
    eventually(lambda: not displays.display_of("arm").visual)
    display = displays.display_of("arm")
    assert display.collision
    assert display.frames
    assert display.references
    assert state.model.body(display.trail).id in displays.entities["arm"].bodies
    world.get_by_role("checkbox", name="Trail").uncheck()
    eventually(lambda: displays.display_of("arm").trail == "")
    displays.set("arm", frames=False)  # by another page
    expect(world.get_by_role("checkbox", name="Frames")).not_to_be_checked()


def test_the_camera_follows_an_entity_until_it_is_switched_off(panel, page, state, served):
    world = opened(panel, "box (object)")
    follow = world.get_by_role("checkbox", name="Follow")
    root = state.model.body("box/box").id
    eventually(lambda: len(watched(served)) == 1)
    follow.check()
    eventually(lambda: [each.followed for each in watched(served)] == [root])
    follow.uncheck()
    eventually(lambda: [each.followed for each in watched(served)] == [0])
    page.get_by_role("button", name="Follow", exact=True).click()  # in the scene: the robot
    arm = served.server.shared.displays.entities["arm"].root
    eventually(lambda: [each.followed for each in watched(served)] == [arm])


def test_an_entity_is_placed_by_numbers(panel, clients, state):
    before = start(state).body("box/box").xpos
    world = opened(panel, "box (object)")
    place = world.get_by_role("button", name="Place")
    expect(place).to_be_disabled()
    for name, value in (("box x [m]", "1.25"), ("box yaw [deg]", "90")):
        field = world.get_by_role("spinbutton", name=name)
        field.fill(value)
        field.press("Enter")
    place.click()
    eventually(lambda: clients.called("place"), lambda: clients.calls)
    ((name, position, quat),) = clients.called("place")
    assert name == "box"
    np.testing.assert_allclose(position, [1.25, *before[1:]], atol=1e-9)
    np.testing.assert_allclose(quat, [np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)], atol=1e-9)
    expect(place).to_be_disabled()
    field = world.get_by_role("spinbutton", name="box x [m]")
    field.fill("2")
    field.press("Enter")
    world.get_by_role("button", name="Present").click()
    expect(field).to_have_value(f"{before[0]:g}")


def test_a_robot_is_reset_to_its_initial_state(panel, clients, state):
    world = opened(panel, "arm (robot)")
    world.get_by_role("button", name="Reset").click()
    eventually(lambda: clients.called("reset_entity"), lambda: clients.calls)
    ((name, values),) = clients.called("reset_entity")
    assert name == "arm"
    begin = initial_state(state.assembly, state.layout)
    address = state.model.joint("arm/elbow_joint").qposadr[0]
    assert values["elbow_joint.position"] == pytest.approx(begin.qpos[address])
    assert not [key for key in values if key.startswith("box")]


def test_an_entity_is_deleted_after_a_question_and_comes_back(panel, clients, state, served):
    served.server.shared.spawned["box"] = BOX.uri
    before = start(state).body("box/box").xpos
    world = opened(panel, "box (object)")
    world.get_by_role("button", name="Delete", exact=True).click()
    assert not clients.called("delete")
    world.get_by_role("button", name="Delete box").click()
    eventually(lambda: clients.called("delete") == [("box",)], lambda: clients.calls)
    undo = world.get_by_role("button", name="Undo: spawn box again")
    expect(world.get_by_text("delete: …")).to_be_visible()
    expect(undo).to_be_hidden()
    clients.requests[-1].complete(True)
    undo.click()
    eventually(lambda: clients.called("spawn"), lambda: clients.calls)
    ((name, uri, position),) = clients.called("spawn")
    assert (name, uri) == ("box", BOX.uri)
    np.testing.assert_allclose(position, before)
    expect(undo).to_be_hidden()


def test_a_model_is_listed_found_and_spawned_at_a_free_place(panel, clients, state):
    world = opened(panel, "Spawn")
    listing = world.get_by_role("button", name="List models")
    listing.click()
    eventually(lambda: clients.called("list_spawnables") == [()], lambda: clients.calls)
    expect(listing).to_be_disabled()
    clients.requests[-1].complete(True)
    clients.entities.spawnables = (ARM, BOX)
    spawn = world.get_by_role("button", name="Spawn", exact=True)
    expect(spawn).to_be_disabled()
    expect(world.get_by_role("button", name="arm.xml")).to_be_visible()
    world.get_by_role("textbox", name="Search models").fill("wooden")
    expect(world.get_by_role("button", name="arm.xml")).to_be_hidden()
    world.get_by_role("button", name="box.xml").click()
    name = world.get_by_role("textbox", name="Name of the new entity")
    expect(name).to_have_value("box")
    name.fill(" crate ")
    field = world.get_by_role("spinbutton", name="New x [m]")
    expect(spawn).to_be_enabled()
    spawn.click()
    eventually(lambda: clients.called("spawn"), lambda: clients.calls)
    ((name, uri, (x, y, z)),) = clients.called("spawn")
    assert (name, uri) == ("crate", BOX.uri)
    box = start(state).body("box/box").xpos
    assert max(abs(x - box[0]), abs(y - box[1]), abs(z - box[2])) > 0.15, "it is beside the box"
    clients.requests[-1].complete(True, "spawned crate_1")
    model, state.model = state.model, copy.copy(state.model)  # as with the new entity
    try:
        expect(world.get_by_text("spawn: spawned crate_1")).to_be_visible()
        expect(spawn).to_be_enabled()
    finally:
        state.model = model
    field.fill("1.5")
    field.press("Enter")
    spawn.click()
    eventually(lambda: len(clients.called("spawn")) == 2, lambda: clients.calls)
    assert clients.called("spawn")[-1][2][0] == 1.5


def test_images_of_models_are_shown_as_soon_as_they_are_there(panel, clients, served, page):
    clients.entities.spawnables = (BOX,)
    world = opened(panel, "Spawn")
    image = world.locator(".model img")
    expect(image).to_have_count(1)
    assert image.get_attribute("src") is None
    served.server.shared.model_images.found = {BOX.uri: np.full((72, 96, 3), 200, np.uint8)}
    expect(image).to_have_attribute("src", "/pictures/model?uri=package%3A%2F%2Fmodels%2Fbox.xml")
    page.wait_for_function("document.querySelector('.model img').naturalWidth === 96")


def test_a_world_is_loaded_after_a_question(panel, clients):
    here = OfferedModel(uri="package://scenes/arm.yaml", description="This world")
    clients.entities.worlds = (ZOO, here)
    world = opened(panel, "Load world")
    load = world.get_by_role("button", name="Load", exact=True)
    expect(load).to_be_disabled()
    world.get_by_role("button", name="zoo.yaml").click()
    load.click()
    expect(world.get_by_text("zoo replaces all robots, objects and past states")).to_be_visible()
    assert not clients.called("load_world")
    world.get_by_role("dialog").get_by_role("button", name="Load", exact=True).click()
    eventually(lambda: clients.called("load_world") == [(ZOO.uri,)], lambda: clients.calls)
    clients.requests[-1].complete(True)
    world.get_by_role("button", name="Undo: load arm again").click()
    eventually(lambda: clients.called("load_world") == [(ZOO.uri,), (here.uri,)])


def test_another_world_keeps_the_list_of_worlds_with_its_undo(
    panel, clients, state, served, tmp_path, monkeypatch
):
    monkeypatch.setattr(served.server, "settings", SettingsFile(tmp_path))
    here = OfferedModel(uri="package://scenes/arm.yaml", description="This world")
    clients.entities.worlds = (ZOO, here)
    world = opened(panel, "Load world")
    world.get_by_role("button", name="zoo.yaml").click()
    loaded(world)
    eventually(lambda: clients.called("load_world"), lambda: clients.calls)
    monkeypatch.setitem(state.metadata, "scene", "zoo")
    ((_session, layout),) = served.server._layouts.values()
    eventually(lambda: layout.scene == "zoo")
    clients.requests[-1].complete(True)
    expect(world.get_by_role("button", name="Undo: load arm again")).to_be_visible()


def test_recent_worlds_are_offered_first_and_before_the_others_are_listed(panel, clients):
    here = OfferedModel(uri="package://scenes/arm.yaml", description="This world")
    clients.entities.worlds = (BOX, here, ZOO)
    world = opened(panel, "Load world")
    world.get_by_role("button", name="zoo.yaml").click()
    world.get_by_role("button", name="Load", exact=True).click()
    world.get_by_role("dialog").get_by_role("button", name="Load", exact=True).click()
    eventually(lambda: clients.called("load_world") == [(ZOO.uri,)], lambda: clients.calls)
    clients.requests[-1].complete(True)
    items = world.get_by_role("group", name="worlds")
    expect(items).to_have_text(re.compile(r"^zoo.yaml\s*recent\s*arm.yaml\s*recent\s*box.xml$"))
    clients.entities.worlds = ()
    expect(items).to_have_text(re.compile(r"^zoo.yaml\s*recent\s*arm.yaml\s*recent$"))
    expect(world.get_by_role("button", name="List worlds")).to_be_visible()


DROP = """([name, text]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([text], name));
  document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true }));
}"""


def test_a_dropped_or_chosen_file_is_offered_and_loaded_as_text(panel, page, clients):
    page.evaluate(DROP, ["bench.xml", "<mujoco/>"])
    world = page.get_by_role("tabpanel", name="World", exact=True)
    item = world.get_by_role("button", name="bench.xml")
    expect(item).to_have_attribute("aria-pressed", "true")
    loaded(world)
    eventually(lambda: clients.called("load_world") == [("bench.xml", "<mujoco/>")])
    clients.requests[-1].complete(True)
    with page.expect_file_chooser() as chooser:
        world.get_by_role("button", name="Choose a file").click()
    scene = {"name": "zoo.yaml", "mimeType": "text/plain", "buffer": b"robots: []"}
    chooser.value.set_files([scene])
    expect(world.get_by_role("button", name="zoo.yaml")).to_have_attribute("aria-pressed", "true")
    loaded(world)
    eventually(lambda: clients.called("load_world")[1:] == [("zoo.yaml", "robots: []")])
    clients.requests[-1].complete(True)
    expect(world.get_by_role("group", name="worlds")).not_to_contain_text("recent")


def test_a_compiled_model_is_stored_where_the_operator_allows_it(page, clients, tmp_path):
    page.evaluate(DROP, ["arm.mjb", "model"])
    world = page.get_by_role("tabpanel", name="World", exact=True)
    expect(world.get_by_role("status")).to_contain_text("the parameter 'client_folders' names one")
    clients.parameters.known["client_folders"] = ParameterInfo(value=(str(tmp_path),))
    page.evaluate(DROP, ["arm.mjb", "model"])
    expect(world.get_by_role("button", name=re.compile("arm_.*mjb"))).to_be_visible()
    loaded(world)
    (stored,) = tmp_path.rglob("*.mjb")
    eventually(lambda: clients.called("load_world") == [(stored.as_uri(),)], lambda: clients.calls)


def test_a_page_without_control_refuses_files(tabs, url, page, read_only_page):
    read_only_page.evaluate(DROP, ["bench.xml", "<mujoco/>"])
    expect(read_only_page.get_by_text("This page is read-only")).to_be_visible()
    page_id = read_only_page.evaluate("window.clientId")
    number = read_only_page.locator(".file-drop").get_attribute("id").removeprefix("c")
    address = f"{url}_nicegui/client/{page_id}/upload/{number}"
    file = {"name": "bench.xml", "mimeType": "text/xml", "buffer": b"<mujoco/>"}
    assert read_only_page.request.post(address, multipart={"file": file}).status == 403


def test_the_settings_keep_recent_worlds_without_what_is_no_uri():
    session = SimpleNamespace(shared=SimpleNamespace(recent_worlds=["a"]))
    displays = SimpleNamespace(settings=dict, restore=lambda settings: None)
    panel = SimpleNamespace(session=session, _displays=displays)
    WorldPanel.restore(panel, {"recent_worlds": ["b", 3, "a"]})
    assert WorldPanel.settings(panel) == {"recent_worlds": ["a", "b"]}
    WorldPanel.restore(panel, {"recent_worlds": [f"w{at}" for at in range(20)]})
    assert session.shared.recent_worlds == ["a", "b", *(f"w{at}" for at in range(6))]


def test_the_services_are_discovered_when_the_simulator_responds(page, clients):
    eventually(lambda: clients.called("prepare") == [()])
    clients.simulation.status = ""
    expect(page.get_by_role("region", name="Bar").get_by_text("no response")).to_be_visible()
    clients.simulation.status = "playing"
    eventually(lambda: clients.called("prepare") == [(), ()])


def test_a_replay_has_the_tree_alone(panel, clients):
    clients.parameters.known["at_end"] = ParameterInfo(value="pause")
    world = opened(panel, "box (object)")
    expect(world.get_by_role("checkbox", name="Visual")).to_be_visible()
    for name in ("Place", "Reset", "Delete"):
        expect(world.get_by_role("button", name=name, exact=True)).to_have_count(0)
    expect(world.locator("summary", has_text="Spawn")).to_have_count(0)
