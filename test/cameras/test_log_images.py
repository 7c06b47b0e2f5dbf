"""Images of the states of a log."""

import math

import mujoco
import numpy as np
import pytest

from mujoco_ros.cameras.log_images import View, film_rows, log_images, rows_between
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state_log.reader import LogSegment, StateLog
from mujoco_ros.sim.state_log.writer import RingBuffer, StateLogWriter

MODEL = """
<mujoco model="ball">
  <visual><headlight ambient="0 0 0" diffuse="0 0 0" specular="0 0 0"/></visual>
  <worldbody>
    <light name="sun" pos="0 0 5" dir="0 0 -1" type="directional" diffuse="1 1 1"/>
    <geom name="floor" type="plane" size="5 5 0.1" rgba="0.8 0.8 0.8 1"/>
    <camera name="above" pos="0 0 6"/>
    <body name="ball" pos="0 0 2">
      <freejoint/>
      <geom type="sphere" size="0.3" rgba="1 0 0 1"/>
    </body>
  </worldbody>
</mujoco>
"""
SIZE = 64, 48
ABOVE = (0.0, 0.0, 2.0, 4.0, 90.0, -89.9)
"""Pose of a free camera over the ball."""


@pytest.fixture(scope="module")
def segment(tmp_path_factory) -> LogSegment:
    """A ball that moves along x by 1 m in each row."""
    folder = tmp_path_factory.mktemp("log")
    (folder / "ball.xml").write_text(MODEL)
    simulation = Simulation(load_scene(str(folder / "ball.xml")))
    ring = RingBuffer(simulation.plant, 1)
    for number in range(2):
        simulation.data.qpos[0] = number
        simulation.data.qvel[:] = 0.0
        simulation.step()
        ring.add_step()
    ring.closed = True
    writer = StateLogWriter(folder / "ball.mjlog")
    writer.add(ring)
    writer.close()
    return StateLog.open(folder / "ball.mjlog").segments[0]


def red(image: np.ndarray) -> np.ndarray:
    """Return the columns of red pixels."""
    return np.nonzero((image[..., 0] > 60) & (image[..., 1] < 30))[1]


def test_a_free_camera_has_its_target_in_the_middle(segment):
    first, second = log_images(segment, [0, 1], View(pose=ABOVE), SIZE)
    assert first.shape == (48, 64, 3)
    assert np.mean(red(first)) == pytest.approx(31.5, abs=1.0)
    # The ball is 0.3 m wide at 4 m: f = 24 px / tan(22.5 deg) = 58 px.
    width = 2.0 * 0.3 / 4.0 * 24.0 / math.tan(math.radians(22.5))
    assert np.ptp(red(first)) == pytest.approx(width, abs=2.0)
    assert np.mean(red(second)) == pytest.approx(31.5 + 24.0 / math.tan(0.3927) / 4.0, abs=1.5)


def test_a_camera_follows_a_body_and_the_shadow_is_below_it(segment):
    beside = View(pose=(0.0, 0.0, 0.0, 5.0, 90.0, -60.0), follow="ball")
    _, image = log_images(segment, [0, 1], beside, SIZE)
    assert np.mean(red(image)) == pytest.approx(31.5, abs=1.0)
    floor = image[..., 2].astype(int)
    assert floor.min() < 40 < floor.max() - 40, "no shadow"


def test_a_camera_of_the_model_is_selected_by_its_name(segment):
    (image,) = log_images(segment, [0], View(camera="above"), SIZE)
    assert np.mean(red(image)) == pytest.approx(31.5, abs=1.0)
    for view in (View(camera="below"), View(follow="cube")):
        with pytest.raises(UserInputError, match=r"'below'.*above|'cube'.*ball"):
            view.camera_in(segment.model)


@pytest.mark.parametrize(
    "pose",
    [(0.0,) * 5, (0.0,) * 6, (0.0, 0.0, 0.0, -1.0, 0.0, 0.0), (math.nan, 0.0, 0.0, 1.0, 0.0, 0.0)],
)
def test_a_pose_that_is_none_is_rejected(pose):
    with pytest.raises(UserInputError, match="6 numbers"):
        View(pose=pose)


def test_without_a_pose_the_camera_shows_the_whole_model(segment):
    camera = View().camera_in(segment.model)
    assert camera.type == mujoco.mjtCamera.mjCAMERA_FREE
    assert camera.distance == pytest.approx(1.5 * segment.model.stat.extent)


def test_a_film_is_in_real_time_and_continues_after_a_reset():
    times = np.array([0.0, 0.1, 0.2, 0.3, 0.0, 0.1])
    assert film_rows(times, 0.1, math.inf, 20.0).tolist() == [1, 1, 2, 2, 5]
    assert film_rows(times[:4], -math.inf, 0.2, 10.0).tolist() == [0, 1, 2]
    assert film_rows(times[:1], 0.0, 0.0, 30.0).tolist() == [0]


@pytest.mark.parametrize("last", [1e9, 1e300, math.inf])
def test_a_film_of_too_many_frames_is_an_error(last):
    with pytest.raises(
        UserInputError, match="too long: at 30 frames per second, it can take 33333"
    ):
        film_rows(np.array([0.0, last]), -math.inf, math.inf, 30.0)
    assert film_rows(np.array([0.0, last]), 0.0, 1.0, 30.0).tolist() == [0]


def test_a_span_without_rows_is_an_error():
    with pytest.raises(UserInputError, match="from 2 to 3 s; its rows are from 0 to 1 s"):
        rows_between(np.array([0.0, 1.0]), 2.0, 3.0)
