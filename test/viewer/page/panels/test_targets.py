"""The panel "Targets" in a browser."""

import numpy as np
from eventually import eventually
from playwright.sync_api import expect


def test_targets_are_added_moved_aligned_and_removed(panel, clients, state, served):
    shown = panel("Targets")
    expect(shown.get_by_text("target/<name>/pose")).to_be_visible()
    session = served.session
    eventually(lambda: session.scene.pose)
    shown.get_by_role("button", name="Add target").click()
    eventually(lambda: len(clients.called("publish_target")) == 1, lambda: clients.calls)
    name, position, _ = clients.called("publish_target")[0]
    assert name == "target"
    np.testing.assert_allclose(position, session.scene.pose["lookat"], atol=1e-9)

    session.scene.selected = 4
    name = shown.get_by_role("textbox", name="Name of the target")
    expect(name).to_have_value("target2")
    name.fill("grasp 1")
    shown.get_by_role("button", name="Add target").click()
    region = shown.get_by_role("region", name="grasp 1", exact=True)
    expect(region).to_be_visible()
    _, position, quat = clients.called("publish_target")[1]
    np.testing.assert_allclose(position, state.data.xpos[4])
    np.testing.assert_allclose(quat, state.data.xquat[4])

    field = region.get_by_role("spinbutton", name="grasp 1 z [m]")
    field.fill("0.5")
    field.press("Enter")
    eventually(lambda: len(clients.called("publish_target")) == 3, lambda: clients.calls)
    np.testing.assert_allclose(clients.called("publish_target")[2][1], [*position[:2], 0.5])
    region.get_by_role("button", name="grasp 1 upright").click()
    eventually(lambda: len(clients.called("publish_target")) == 4, lambda: clients.calls)
    np.testing.assert_allclose(clients.called("publish_target")[3][2], [1.0, 0.0, 0.0, 0.0])

    shown.get_by_role("textbox", name="Name of the target").fill("grasp_1")
    conflict = "'grasp 1' has the topic of 'grasp_1', target/grasp_1/pose."
    expect(shown.get_by_text(conflict)).to_be_visible()
    expect(shown.get_by_role("button", name="Add target")).to_be_disabled()
    region.get_by_role("button", name="Remove grasp 1").click()
    expect(region).to_have_count(0)
    assert clients.called("remove_target") == [("grasp 1",)]
