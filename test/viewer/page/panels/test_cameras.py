"""The panel "Cameras" in a browser."""

import numpy as np
import pytest
from eventually import eventually
from playwright.sync_api import expect

from mujoco_ros.viewer.clients import ImageKey, ImageKind, Thumbnail

THUMBNAIL, ENLARGED = 320, 640


@pytest.fixture
def keys(state):
    """The images of the first camera, by their kind and width."""
    camera = state.layout.every_camera[0]
    key = camera.namespace, camera.name
    return lambda kind=ImageKind.COLOUR, width=THUMBNAIL: ImageKey(key, kind, width)


def image(number, **others):
    return Thumbnail(pixels=np.full((30, 40, 3), 90, np.uint8), time=1.5, number=number, **others)


def loaded(cameras, name):
    """Wait until an image is there."""
    shown = cameras.get_by_role("img", name=name)
    eventually(lambda: shown.count() and shown.evaluate("each => each.naturalWidth") == 40)


def test_images_are_received_while_the_panel_is_visible_and_the_newest_is_shown(
    panel, page, clients, keys
):
    cameras = panel("Cameras")
    eventually(lambda: keys() in clients.images.subscribed)
    expect(cameras.get_by_text("wrist_camera: no image yet")).to_be_visible()
    clients.images.newest[keys()] = image(7)
    loaded(cameras, "wrist_camera")
    expect(cameras.get_by_text("wrist_camera at 1.50 s")).to_be_visible()
    address = cameras.get_by_role("img", name="wrist_camera").get_attribute("src")
    assert "number=7" in address
    clients.images.newest[keys()] = image(8)
    expect(cameras.get_by_role("img", name="wrist_camera")).to_have_attribute(
        "src", address.replace("number=7", "number=8")
    )
    cameras.get_by_role("checkbox", name="wrist_camera").uncheck()
    eventually(lambda: keys() not in clients.images.subscribed)
    cameras.get_by_role("checkbox", name="wrist_camera").check()
    eventually(lambda: keys() in clients.images.subscribed)
    panel("Simulation")
    eventually(lambda: not clients.images.subscribed)


def test_the_distance_at_the_mouse_and_the_scale_of_depth_are_shown(panel, page, clients, keys):
    values = np.full((30, 40), 1.25, np.float32)
    clients.images.newest[keys(ImageKind.DEPTH)] = image(3, values=values, limits=(0.5, 2.0))
    cameras = panel("Cameras")
    cameras.get_by_role("combobox", name="Kind of image").select_option("depth")
    eventually(lambda: keys(ImageKind.DEPTH) in clients.images.subscribed)
    loaded(cameras, "wrist_camera")
    expect(cameras.get_by_text("2.00 m")).to_be_visible()
    cameras.get_by_role("button", name="Enlarge wrist_camera").hover()
    expect(cameras.get_by_text("1.250 m")).to_be_visible()
    page.mouse.move(640, 300)
    expect(cameras.get_by_text("1.250 m")).to_be_hidden()


def test_a_click_enlarges_an_image_and_the_wall_shows_all_selected_ones(
    panel, page, clients, keys, state
):
    for width in (THUMBNAIL, ENLARGED):
        clients.images.newest[keys(width=width)] = image(width)
    cameras = panel("Cameras")
    cameras.get_by_role("button", name="Enlarge wrist_camera").click()
    scene = page.get_by_role("main", name="Scene")
    expect(scene.get_by_role("img", name="wrist_camera")).to_be_visible()
    eventually(lambda: keys(width=ENLARGED) in clients.images.subscribed)
    panel("Simulation")
    eventually(lambda: clients.images.subscribed == {keys(width=ENLARGED)})
    scene.get_by_role("button", name="Close", exact=True).click()
    expect(scene.get_by_role("img", name="wrist_camera")).to_be_hidden()
    eventually(lambda: not clients.images.subscribed)
    wall = panel("Cameras").get_by_role("button", name="Wall")
    wall.click()
    expect(wall).to_have_attribute("aria-pressed", "true")
    expect(scene.get_by_role("figure")).to_have_count(len(state.layout.every_camera))
    wall.click()
    expect(scene.get_by_role("figure")).to_have_count(0)


def test_an_image_that_is_not_received_does_not_exist(tabs, url):
    for query in ("", "?kind=sound&width=5", "?namespace=&name=x&kind=colour&width=320"):
        assert tabs.request.get(f"{url}pictures/camera{query}").status == 404
    assert tabs.request.get(f"{url}pictures/model?uri=file:///etc/passwd").status == 404
    assert tabs.request.get(f"{url}pictures/depth").headers["content-type"] == "image/png"
