"""The panel "View" in a browser."""

import pytest
from eventually import eventually
from playwright.sync_api import expect


@pytest.fixture
def view(panel, served):
    """The body of the panel, and the connection of its page, which has the scene."""
    body = panel("View")
    eventually(lambda: len(served.server._scene.links) == 1)
    (link,) = served.server._scene.links.values()
    session = served.session
    eventually(lambda: bool(session.scene.pose))
    return body, link, session


def test_flags_groups_labels_and_frames_are_set_for_this_page(view):
    body, link, session = view
    for title in ("Visual flags", "Groups", "Rendering"):
        body.locator("summary", has_text=title).click()
    body.get_by_role("checkbox", name="Contact Point").check()
    body.get_by_role("checkbox", name="geom group 3").check()
    body.get_by_role("combobox", name="Labels").select_option("Body")
    body.get_by_role("combobox", name="Frames").select_option("Site")
    expected = lambda: link.options.to_json()  # noqa: E731
    eventually(lambda: expected()["flags"]["Contact Point"])
    eventually(lambda: expected()["groups"]["geom"][3])
    eventually(lambda: (expected()["label"], expected()["frame"]) == ("Body", "Site"))
    shadow = body.get_by_role("checkbox", name="Shadow")
    shadow.uncheck()
    eventually(lambda: session.scene.options["render"]["Shadow"] is False)
    body.get_by_role("button", name="Default options").click()
    eventually(lambda: not expected()["flags"]["Contact Point"])
    expect(shadow).to_be_checked()


def test_keys_of_the_scene_change_what_the_panel_shows(view, page, state):
    body, _link, session = view
    body.locator("summary", has_text="Visual flags").click()
    page.get_by_role("application", name="3D view").focus()
    page.keyboard.press("c")
    expect(body.get_by_role("checkbox", name="Contact Point")).to_be_checked()
    page.keyboard.press("]")
    camera = state.model.camera(0).name
    expect(body.get_by_role("combobox", name="Camera")).to_have_value(camera)
    assert session.scene.camera().fixedcamid == 0


def test_cameras_and_the_followed_entity_are_chosen(view, state, served, page):
    body, link, _session = view
    body.get_by_role("combobox", name="Camera").select_option("arm/wrist_camera")
    eventually(lambda: link.watched.camera == state.model.camera("arm/wrist_camera").id)
    body.get_by_role("combobox", name="Follow").select_option("box")
    eventually(lambda: link.watched.followed == state.model.body("box/box").id)
    assert link.watched.camera == -1, "a camera of the model follows nothing"
    body.get_by_role("button", name="Reset view").click()
    eventually(lambda: link.watched.followed == 0)


def test_the_robot_is_framed_from_the_scene(view, page):
    _body, _link, session = view
    before = session.scene.pose
    page.get_by_role("button", name="Frame arm").click()
    eventually(lambda: session.scene.pose != before)
    assert session.scene.camera().distance == pytest.approx(session.scene.pose["distance"])


def test_pictures_replace_drawing_in_the_browser(view):
    body, link, session = view
    body.get_by_role("combobox", name="Drawing").select_option("as pictures of the viewer")
    eventually(lambda: link.request is not None)
    eventually(lambda: session.scene.shows_pictures)
    body.get_by_role("combobox", name="Drawing").select_option("in the browser (three.js)")
    eventually(lambda: link.request is None)
