"""The panel "Cameras"."""

import numpy as np
import pytest
from mujoco.studio import messages

from mujoco_ros.viewer.link import Thumbnail
from mujoco_ros.viewer.panels.cameras import CamerasPanel
from mujoco_ros.viewer.web.page import Unseen


@pytest.fixture
def first(state):
    camera = state.layout.every_camera[0]
    return camera.namespace, camera.name


def picture(number):
    return Thumbnail(pixels=np.zeros((30, 40, 3), np.uint8), time=1.5, number=number)


def test_images_are_asked_for_only_while_the_window_is_seen(show, link, first):
    frames = show(CamerasPanel)
    assert first in link.watched
    frames.panel.on_update(messages.UpdateEvent())
    frames.panel.on_update(messages.UpdateEvent())  # no window was built in between
    assert not link.watched
    frames.build(2)
    assert first in link.watched
    frames.panel.on_unseen(Unseen())
    assert not link.watched


def test_a_camera_that_is_not_ticked_is_not_asked_for(show, link, first):
    frames = show(CamerasPanel)
    frames.use(first[1], entered=False)
    assert first not in link.watched
    frames.use(first[1], entered=True)
    assert first in link.watched


def test_each_image_is_uploaded_once_into_the_same_texture(show, link, first):
    frames = show(CamerasPanel)
    assert f"{first[1]}: no image yet" in frames.text
    for number in (1, 1, 2):
        link.pictures[first] = picture(number)
        frames.build()
    assert frames.panel.viewer == [(0, 40, 30), (1, 40, 30)]
    assert f"{first[1]} at 1.50 s" in frames.text


def test_at_the_end_no_image_is_asked_for(show, link):
    frames = show(CamerasPanel)
    frames.panel.on_exit(messages.ExitEvent())
    assert not link.watched
