"""The panel "Cameras"."""

import numpy as np
import pytest
from mujoco.studio import messages

from mujoco_ros.viewer.clients import Thumbnail
from mujoco_ros.viewer.panels.cameras import CamerasPanel
from mujoco_ros.viewer.web.page import PanelsHidden


@pytest.fixture
def first(state):
    camera = state.layout.every_camera[0]
    return camera.namespace, camera.name


def thumbnail(number):
    return Thumbnail(pixels=np.zeros((30, 40, 3), np.uint8), time=1.5, number=number)


def test_images_are_subscribed_only_while_the_window_is_visible(show, clients, first):
    frames = show(CamerasPanel)
    assert first in clients.images.subscribed
    frames.panel.on_update(messages.UpdateEvent())
    frames.panel.on_update(messages.UpdateEvent())  # no window was built in between
    assert not clients.images.subscribed
    frames.build(2)
    assert first in clients.images.subscribed
    frames.panel.on_panels_hidden(PanelsHidden())
    assert not clients.images.subscribed


def test_a_camera_that_is_not_selected_is_not_subscribed(show, clients, first):
    frames = show(CamerasPanel)
    frames.use(first[1], entered=False)
    assert first not in clients.images.subscribed
    frames.use(first[1], entered=True)
    assert first in clients.images.subscribed


def test_each_image_is_uploaded_once_into_the_same_texture(show, clients, first):
    frames = show(CamerasPanel)
    assert f"{first[1]}: no image yet" in frames.text
    for number in (1, 1, 2):
        clients.images.newest[first] = thumbnail(number)
        frames.build()
    assert frames.panel.viewer == [(0, 40, 30), (1, 40, 30)]
    assert f"{first[1]} at 1.50 s" in frames.text


def test_the_exit_ends_all_subscriptions(show, clients):
    frames = show(CamerasPanel)
    frames.panel.on_exit(messages.ExitEvent())
    assert not clients.images.subscribed
