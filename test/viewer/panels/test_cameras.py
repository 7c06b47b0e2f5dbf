"""The panel "Cameras"."""

import json
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from mujoco.studio import messages
from mujoco.studio.dear_imgui import dear_imgui as imgui
from panel_frames import Frames

from mujoco_ros.rendering.false_colour import depth_colours
from mujoco_ros.viewer.clients import ImageKey, ImageKind, Thumbnail
from mujoco_ros.viewer.panels.cameras import CamerasPanel
from mujoco_ros.viewer.web.page import PanelsHidden

THUMBNAIL, ENLARGED = 320, 640


@pytest.fixture
def first(state):
    camera = state.layout.every_camera[0]
    return camera.namespace, camera.name


@pytest.fixture
def colour(first):
    return ImageKey(first, ImageKind.COLOUR, THUMBNAIL)


def thumbnail(number, **others):
    pixels = np.zeros((30, 40, 3), np.uint8)
    return Thumbnail(pixels=pixels, time=1.5, number=number, **others)


def click(frames, key):
    """Click a displayed image."""
    frames.use(f"##{key.max_width} {key.camera}")


def test_images_are_subscribed_only_while_the_window_is_visible(show, clients, colour):
    frames = show(CamerasPanel)
    assert colour in clients.images.subscribed
    frames.panel.on_update(messages.UpdateEvent())
    frames.panel.on_update(messages.UpdateEvent())  # no window was built in between
    assert not clients.images.subscribed
    frames.build(2)
    assert colour in clients.images.subscribed
    frames.panel.on_panels_hidden(PanelsHidden())
    assert not clients.images.subscribed


def test_a_camera_that_is_not_selected_is_not_subscribed(show, clients, colour):
    frames = show(CamerasPanel)
    _, name = colour.camera
    frames.use(name, entered=False)
    assert colour not in clients.images.subscribed
    frames.use(name, entered=True)
    assert colour in clients.images.subscribed


def with_cameras(clients, *names):
    """Return the panel in a state with cameras of these names."""
    cameras = [SimpleNamespace(namespace="", name=name) for name in names]
    state = SimpleNamespace(layout=SimpleNamespace(every_camera=cameras))
    return CamerasPanel(state, clients.images, lambda: False)


def names_of_selected(panel):
    panel.update()
    return sorted(name for _, name in panel.selected)


def restarted(clients, panel, *names):
    """Return the panel of the next viewer, of a scene with cameras of these names."""
    panel.update()
    after = with_cameras(clients, *names)
    after.restore(json.loads(json.dumps(panel.settings())))
    assert after.settings() == panel.settings(), "as kept, before the first frame"
    return after


def test_the_choice_of_no_camera_is_kept_unless_all_cameras_are_others(context, clients):
    panel = with_cameras(clients, "a", "b", "c")
    assert names_of_selected(panel) == ["a", "b"]
    panel.selected.clear()
    assert names_of_selected(restarted(clients, panel, "a", "b", "c")) == []
    assert names_of_selected(restarted(clients, panel, "c", "d")) == []
    assert names_of_selected(restarted(clients, panel, "d", "e", "f")) == ["d", "e"]
    panel.selected = {("", "c")}
    assert names_of_selected(restarted(clients, panel, "a", "b", "c")) == ["c"]
    assert names_of_selected(restarted(clients, panel, "a", "b")) == ["a", "b"]


def test_a_scene_without_cameras_is_no_choice_of_none(context, clients):
    panel = with_cameras(clients)
    assert names_of_selected(restarted(clients, panel, "a", "b", "c")) == ["a", "b"]


def test_the_choice_of_no_camera_survives_a_spawned_camera(context, clients):
    panel = with_cameras(clients, "a", "b")
    panel.update()
    panel.selected.clear()
    cameras = panel.state.layout.every_camera
    cameras.append(SimpleNamespace(namespace="robot", name="head"))
    assert names_of_selected(panel) == []
    del cameras[:2]
    assert names_of_selected(panel) == []
    cameras[0] = SimpleNamespace(namespace="other", name="head")
    assert names_of_selected(panel) == ["head"]


def test_each_image_is_uploaded_once_into_the_same_texture(show, clients, colour):
    frames = show(CamerasPanel)
    _, name = colour.camera
    assert f"{name}: no image yet" in frames.text
    for number in (1, 1, 2):
        clients.images.newest[colour] = thumbnail(number)
        frames.build()
    assert frames.panel.viewer == [(0, 40, 30), (1, 40, 30)]
    assert f"{name} at 1.50 s" in frames.text


def test_a_click_enlarges_a_thumbnail_and_another_one_closes_it(show, clients, colour):
    frames, large = show(CamerasPanel), colour._replace(max_width=ENLARGED)
    clients.images.newest[colour] = thumbnail(1)
    frames.build()
    click(frames, colour)
    assert {colour, large} <= clients.images.subscribed
    clients.images.newest[large] = thumbnail(2)
    frames.build()
    click(frames, large)
    assert frames.panel.enlarged is None
    assert large not in clients.images.subscribed


def test_escape_closes_the_enlarged_image(show, first):
    frames = show(CamerasPanel)
    frames.panel.enlarged = first
    frames.build(2)
    assert frames.panel.enlarged == first
    assert frames.panel.handle_escape()
    assert frames.panel.enlarged is None
    assert not frames.panel.handle_escape(), "Escape has its other meanings without one"


def test_depth_has_a_colour_scale_with_its_distances(show, clients, colour):
    frames = show(CamerasPanel)
    frames.use("image", entered=list(ImageKind).index(ImageKind.DEPTH))
    depth = colour._replace(kind=ImageKind.DEPTH)
    assert depth in clients.images.subscribed
    assert colour not in clients.images.subscribed
    values = np.linspace(0.5, 2.0, 1200).reshape(30, 40)
    _, limits = depth_colours(values)
    clients.images.newest[depth] = thumbnail(1, values=values, limits=limits)
    frames.build()
    assert frames.panel.viewer == [(0, 40, 30), (0, 256, 1)]
    assert "0.51 m" in frames.texts
    assert "1.99 m" in frames.texts


@pytest.mark.parametrize(
    ("kind", "limits", "value", "expected"),
    [
        (ImageKind.COLOUR, None, None, ""),
        (ImageKind.DEPTH, (0.5, 2.0), 1.25, "1.250 m"),
        (ImageKind.DEPTH, (0.5, 2.0), np.inf, "nothing"),
        (ImageKind.SEGMENTATION, None, 1, "world"),
        (ImageKind.SEGMENTATION, None, 0, "nothing"),
    ],
)
def test_the_value_under_the_mouse_is_displayed(
    show, clients, colour, monkeypatch, kind, limits, value, expected
):
    frames, shown = show(CamerasPanel), []
    frames.use("image", entered=list(ImageKind).index(kind))
    values = None if value is None else np.full((30, 40), value)
    key = colour._replace(kind=kind)
    clients.images.newest[key] = thumbnail(1, values=values, limits=limits)
    monkeypatch.setattr(imgui, "IsItemHovered", lambda *_: True)
    monkeypatch.setattr(imgui, "SetTooltip", shown.append)
    frames.build()
    assert shown == ([expected] if expected else [])


def test_the_exit_ends_all_subscriptions(show, clients):
    frames = show(CamerasPanel)
    frames.panel.on_exit(messages.ExitEvent())
    assert not clients.images.subscribed


def test_images_are_drawn_at_their_cameras_while_the_fields_of_view_are(
    state, clients, context, colour, monkeypatch
):
    mujoco.mj_forward(state.model, state.data)
    shown = {"fields": False}

    class BothHandlers(CamerasPanel):
        """The images in the scene, then the window."""

        def on_build_gui(self, event):
            self.on_build_images(event)
            super().on_build_gui(event)

    panel = BothHandlers(state, clients.images, lambda: shown["fields"])
    panel.viewer = SimpleNamespace(model=state.model, data=state.data, camera=mujoco.MjvCamera())
    panel.viewer.upload_image = lambda *_: 7
    camera = next(it for it in state.layout.every_camera if it.name == colour.camera[1])
    panel.viewer.camera.lookat[:] = state.data.cam_xpos[camera.camera]
    panel.viewer.camera.distance = 2.0
    begun = []
    begin = imgui.Begin

    def noted(title, *rest):
        begun.append(title)
        return begin(title, *rest)

    monkeypatch.setattr(imgui, "Begin", noted)
    frames = Frames(panel, monkeypatch)
    clients.images.newest[colour] = thumbnail(1)
    frames.build(3)
    assert not any("in scene" in it for it in begun)
    shown["fields"] = True
    frames.build(2)
    assert f"##in scene {colour.camera}" in begun
    begun.clear()
    panel.viewer.camera.lookat[:] += 100.0  # the camera is behind the view, or far beside it
    panel.viewer.camera.distance = 0.1
    panel.viewer.camera.azimuth = 45.0
    frames.build()
    assert not any("in scene" in it for it in begun)
