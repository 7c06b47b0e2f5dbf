"""The camera images that pages show."""

import cv2
import numpy as np
import pytest
from fake_clients import FakeImages
from still_state import StillState

from mujoco_ros.viewer.camera_images import EncodedImages
from mujoco_ros.viewer.clients import ImageKey, ImageKind, Thumbnail

CAMERA = ("", "wrist_camera")
COLOUR = ImageKey(CAMERA, ImageKind.COLOUR, 320)
DEPTH = ImageKey(CAMERA, ImageKind.DEPTH, 320)
SEGMENTATION = ImageKey(CAMERA, ImageKind.SEGMENTATION, 320)


@pytest.fixture(scope="module")
def arm():
    return StillState("arm")


@pytest.fixture
def client():
    return FakeImages()


@pytest.fixture
def images(arm, client):
    return EncodedImages(arm, client)


def thumbnail(number=1, *, values=None, limits=None):
    pixels = np.zeros((2, 4, 3), np.uint8)
    pixels[:, 2:, 0] = 250
    return Thumbnail(pixels=pixels, time=1.0, number=number, values=values, limits=limits)


def test_an_image_is_received_as_long_as_one_page_shows_it(images, client):
    images.want("one", {COLOUR})
    images.want("other", {COLOUR, DEPTH})
    assert client.subscribed == {COLOUR, DEPTH}
    images.want("one", ())
    assert client.subscribed == {COLOUR, DEPTH}
    images.want("other", {DEPTH})
    assert client.subscribed == {DEPTH}


def test_an_image_is_encoded_once_and_again_when_there_is_a_newer_one(images, client):
    assert images.encoded(DEPTH) is None
    client.newest[DEPTH] = thumbnail()
    first = images.encoded(DEPTH)
    assert first.media_type == "image/png"
    decoded = cv2.imdecode(np.frombuffer(first.content, np.uint8), cv2.IMREAD_COLOR)
    np.testing.assert_array_equal(decoded[0, 3], [0, 0, 250])  # blue, green, red
    assert images.encoded(DEPTH) is first
    client.newest[DEPTH] = thumbnail(number=2)
    assert images.encoded(DEPTH) is not first
    client.newest[COLOUR] = thumbnail()
    assert images.encoded(COLOUR).media_type == "image/jpeg"


def test_the_distance_and_the_name_at_a_place_are_known(images, client, arm):
    distances = np.array([[0.5, np.inf], [1.25, 2.0]], np.float32)
    client.newest[DEPTH] = thumbnail(values=distances, limits=(0.5, 2.0))
    assert images.under(DEPTH, 0.1, 0.9) == "1.250 m"
    assert images.under(DEPTH, 0.9, 0.1) == "nothing"
    assert images.under(DEPTH, 1.7, -0.3) == "nothing", "outside, the nearest pixel counts"
    client.newest[COLOUR] = thumbnail()
    assert images.under(COLOUR, 0.5, 0.5) == ""
    client.newest[SEGMENTATION] = thumbnail(values=np.array([[0, 1]]))
    assert images.under(SEGMENTATION, 0.1, 0.5) == "nothing"
    assert images.under(SEGMENTATION, 0.9, 0.5) not in ("", "nothing")


def test_all_cameras_are_offered(images, arm):
    assert images.cameras == [(each.namespace, each.name) for each in arm.layout.every_camera]
    assert len(images.cameras) > 1
