"""Images of a hosted controller, and the times of their delivery."""

from concurrent.futures import InvalidStateError

import numpy as np
import pytest
from sample_states import Watch, in_turn

from mujoco_ros.rendering.gl import RenderingError, open_context

WATCH = in_turn("{class: Wait, duration: 0.1}", "{class: Watch, waits: %s}")


@pytest.fixture(scope="module", autouse=True)
def _opengl() -> None:
    try:
        open_context().close()
    except RenderingError as error:
        pytest.skip(str(error))


def watch(hosted) -> Watch:
    (state,) = (s for s in hosted.supervised.machine.instances.values() if type(s) is Watch)
    return state


@pytest.mark.parametrize(("waits", "seen_at"), [("false", 0.205), ("true", 0.11)])
def test_an_image_shows_its_tick_and_is_delivered_after_a_fixed_delay(host, waits, seen_at):
    hosted, simulation = host(WATCH % waits)
    heights = {}
    for step in range(300):
        hosted.step()
        if step == 150 and waits == "false":
            check_blocking_calls(watch(hosted).image)
        heights[round(simulation.time, 6)] = simulation.sample.qpos[5]
    state = watch(hosted)
    assert state.seen_at == pytest.approx(seen_at)
    image = state.image.result()
    assert state.image.exception() is None
    assert image.time == pytest.approx(0.105)
    assert image.depth.shape == (30, 40)
    assert image.colour.shape == (30, 40, 3)
    assert np.allclose(image.pose.position, (0, 0, 2))
    # It points downwards: z of the optical frame is the world's -z, and x its x.
    assert np.allclose(np.abs(image.pose.quat_wxyz), (0, 1, 0, 0))
    # The ball of 0.1 m at (1, 0) has fallen for 105 ms by then.
    fx, cx, cy = image.matrix[0, 0], image.matrix[0, 2], image.matrix[1, 2]
    top = heights[0.105] + 0.1
    u, v = cx + fx * 1.0 / (2 - top), cy
    assert image.depth[round(v), round(u)] == pytest.approx(2 - top, abs=0.01)
    hosted.close()


def check_blocking_calls(image):
    """A state that blocks for an image gets an error instead."""
    for wait in (image.result, image.exception):
        with pytest.raises(InvalidStateError, match=r"append the future to context\.awaited"):
            wait()


def test_an_unknown_camera_is_an_error_that_lists_the_cameras(host):
    hosted, _ = host(in_turn("{class: Watch, camera: below}"))
    for _ in range(20):
        hosted.step()
    with pytest.raises(LookupError, match=r"camera 'below' not found; .*above"):
        watch(hosted).image.result()


def test_an_image_has_the_colours_and_the_angle_of_the_model_as_it_was_edited(host):
    look = "{class: Watch, waits: true}"
    hosted, simulation = host(in_turn(look, "{class: Wait, duration: 0.05}", look))
    greenest, focal = [], []
    for state, following, rgba in (("S0", "S1", (1, 0, 0, 1)), ("S2", "END", (0, 1, 0, 1))):
        simulation.model.geom_rgba[simulation.model.geom("ball").id] = rgba
        simulation.model.cam_fovy[:] = 50.0 + 10.0 * len(focal)
        while hosted.supervised.state != following:
            hosted.step()
        image = hosted.supervised.machine.instances[state].image.result()
        greenest.append((image.colour[..., 1].astype(int) - image.colour[..., 0]).max())
        focal.append(image.matrix[0, 0])
    assert greenest[0] <= 0
    assert greenest[1] > 50
    assert focal[0] / focal[1] == pytest.approx(np.tan(np.pi / 6) / np.tan(np.radians(25)))
    hosted.close()


def test_a_cancelled_request_is_not_delivered_and_a_reset_cancels(host):
    hosted, simulation = host(WATCH % "false")
    for _ in range(150):
        hosted.step()
    assert watch(hosted).image.cancel()
    for _ in range(100):
        hosted.step()
    assert hosted.supervised.state == "END"
    simulation.reset()
    for _ in range(150):
        hosted.step()
    asked = watch(hosted).image
    simulation.reset()
    assert asked.cancelled()
    for _ in range(250):
        hosted.step()
    assert watch(hosted).image.result().time == pytest.approx(0.105)
    hosted.close()
