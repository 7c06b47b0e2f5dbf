"""A policy can read images, which arrive after their request."""

import numpy as np
import pytest
from onnx_policies import write_brightness

from mujoco_ros.controllers.interface.host import Image
from mujoco_ros.controllers.interface.observation import Pose
from mujoco_ros.controllers.library.policy.terms import image_writer
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.rendering.gl import RenderingError, open_context


def image_of(depth, colour=None):
    return Image(time=0.0, depth=depth, colour=colour, matrix=np.eye(3), pose=Pose())


def image_term(value, **settings):
    return {"image": {"terms": [{"term": "image", "sensor": "front", "value": value, **settings}]}}


@pytest.mark.parametrize("axes", [[1, 2, 3], [1, 1, 2, 3], [1, 2, 3, 1], [2, 3]])
def test_the_rows_of_a_depth_image_follow_each_other(axes):
    depth = np.arange(6.0).reshape(2, 3)
    size, write = image_writer("front", "depth", axes)
    values = np.zeros(size)
    write(image_of(depth), values)
    assert values.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_channels_are_before_or_behind_the_pixels():
    colour = np.arange(2 * 4 * 3, dtype=np.uint8).reshape(2, 4, 3)
    for axes, expected in (([1, 3, 2, 4], colour.transpose(2, 0, 1)), ([1, 2, 4, 3], colour)):
        size, write = image_writer("front", "colour", axes)
        values = np.zeros(size)
        write(image_of(np.zeros((2, 4)), colour), values)
        assert values.tolist() == expected.ravel().tolist()


@pytest.mark.parametrize(
    ("value", "axes"), [("colour", [1, 8, 12]), ("depth", [1, 96]), ("depth", [1, None, 12])]
)
def test_a_shape_that_is_not_one_of_an_image_is_rejected(value, axes):
    with pytest.raises(UserInputError, match="the term image 'front' needs an input with rows and"):
        image_writer("front", value, axes)


def test_another_resolution_is_rejected():
    _, write = image_writer("front", "depth", [1, 8, 12])
    with pytest.raises(UserInputError, match="camera 'front' has 3×2 pixels, and the input 12×8"):
        write(image_of(np.zeros((2, 3))), np.zeros(96))


def test_the_network_runs_with_the_newest_image(make_policy, tmp_path):
    try:
        open_context().close()
    except RenderingError as error:
        pytest.skip(f"no OpenGL: {error}")
    write_brightness(tmp_path / "policy.onnx", [1, 1, 8, 12], 2)
    run = make_policy(
        file="policy.onnx",
        decimation=5,
        inputs=image_term("depth", clip=[0.0, 5.0]),
        actions=[{"scale": 0.0}],
    )
    run.step(1)
    assert run.actions == [], "the first run waits for the image"
    run.step(1)
    assert run.actions[0] == pytest.approx(2.0, abs=0.01)
    run.simulation.data.qpos[0] -= 0.5
    run.step(20)
    assert [it[0] for it in run.actions[:5]] == [run.actions[0][0]] * 5, "it takes 0.1 s"
    run.step(60)
    assert run.actions[-1] == pytest.approx(2.5, abs=0.05)
    assert len(run.actions) == 17, "one each 20 ms"


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (image_term("depths"), "the value of the term 'image' must be depth or colour"),
        (
            {"image": {"terms": [{"term": "command"}, *image_term("depth")["image"]["terms"]]}},
            "an image must be the only term of its input",
        ),
        (
            {"image": {"terms": [{"term": "image"}]}},
            "the term 'image' needs the name of a 'sensor'",
        ),
        (image_term("colour"), r"and 3 channels, not \[1, 1, 8, 12\]"),
    ],
)
def test_errors_name_the_term(make_policy, tmp_path, inputs, message):
    write_brightness(tmp_path / "policy.onnx", [1, 1, 8, 12], 2)
    with pytest.raises(UserInputError, match=message):
        make_policy(file="policy.onnx", inputs=inputs)
