"""external_wrench/pull: valid and invalid pulls, and their end."""

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from perturbed_simulation import PerturbedSimulation
from visualization_msgs.msg import InteractiveMarkerFeedback as Feedback

from mujoco_ros.bridge.perturbation.body_commands import HELD_S
from mujoco_ros.control.events import QueueFullError
from mujoco_ros.model.scene.assembly import rebuild
from mujoco_ros.sim.stepping.lockstep import LockstepConfig
from mujoco_ros.sim.stepping.lockstep_sources import SourceConfig
from mujoco_ros.wire.names import PULL

Act = Callable[..., PerturbedSimulation]
_AWAY = (0.5, 0.2, 1.0)
_NAN = float("nan")
_HALF_TURN_ABOUT_Z = (0.0, 0.0, 1.0, 0.0)


def publish_pull(
    perturbed: PerturbedSimulation,
    frame: str = "box",
    position: tuple[float, ...] = _AWAY,
    quat_xyzw: tuple[float, ...] = (0.0, 0.0, 0.0, 1.0),
    *,
    mouse: tuple[float, ...] | None = None,
    world: str = "world",
    **fields: Any,
) -> None:
    """Publish the goal of a frame, and process the message."""
    message = Feedback(marker_name=frame, **fields)
    message.header.frame_id = world
    at, turn = message.pose.position, message.pose.orientation
    at.x, at.y, at.z = position
    turn.x, turn.y, turn.z, turn.w = quat_xyzw
    if mouse is not None:
        message.mouse_point_valid = True
        message.mouse_point.x, message.mouse_point.y, message.mouse_point.z = mouse
    perturbed.endpoints.callbacks[PULL](message)
    perturbed.simulation.commands.drain()


def position(perturbed: PerturbedSimulation, frame: str) -> np.ndarray:
    """Return the position of a frame."""
    place, data = perturbed.wrenches.find_frame("", frame), perturbed.simulation.data
    return np.array(data.xpos[place.body] + data.xmat[place.body].reshape(3, 3) @ place.position)


def publish_repeatedly(
    perturbed: PerturbedSimulation, seconds: float, *arguments: Any, **fields: Any
) -> None:
    for _ in range(round(seconds / 0.1)):
        publish_pull(perturbed, *arguments, **fields)
        perturbed.step(100)


@pytest.mark.parametrize("event", [Feedback.KEEP_ALIVE, Feedback.POSE_UPDATE, Feedback.MOUSE_DOWN])
@pytest.mark.parametrize("world", ["world", ""])
def test_a_frame_is_pulled_to_its_goal(perturb: Act, event: int, world: str) -> None:
    perturbed = perturb()
    publish_repeatedly(perturbed, 1.0, event_type=event, world=world)
    assert position(perturbed, "box") == pytest.approx(_AWAY, abs=0.01)
    assert not perturbed.warnings


def test_a_site_of_a_robot_is_pulled_as_far_as_its_joints_allow(perturb: Act) -> None:
    perturbed = perturb()
    perturbed.step()
    goal = position(perturbed, "left/tip") + np.array([0.1, 0.0, -0.017])  # 0.3 m from the hinge
    publish_repeatedly(perturbed, 3.0, "left/tip", tuple(goal))
    assert position(perturbed, "left/tip") == pytest.approx(goal, abs=0.005)


def test_the_grabbed_point_follows_the_mouse(perturb: Act) -> None:
    perturbed = perturb()
    # Half a turn about z, so the body's point (0.1, 0, 0.1) is the one below the mouse.
    publish_pull(perturbed, position=_AWAY, quat_xyzw=_HALF_TURN_ABOUT_Z, mouse=(0.4, 0.2, 1.1))
    pull = perturbed.simulation.wrenches.pulls["box"]
    assert pull.point == pytest.approx([0.1, 0.0, 0.1])
    assert pull.position == pytest.approx([0.4, 0.2, 1.1])


def test_a_frame_is_rotated_in_place(perturb: Act) -> None:
    perturbed = perturb()
    perturbed.step()
    before = position(perturbed, "box")
    publish_repeatedly(perturbed, 1.0, quat_xyzw=_HALF_TURN_ABOUT_Z, control_name="rotate")
    assert np.abs(perturbed.simulation.data.body("box/body").xquat) == pytest.approx(
        [0, 0, 0, 1], abs=0.01
    )
    assert position(perturbed, "box") == pytest.approx(before, abs=1e-6)


def test_a_pull_ends_with_the_mouse_button_or_without_further_messages(perturb: Act) -> None:
    perturbed = perturb()
    publish_pull(perturbed)
    perturbed.step()
    assert perturbed.applied("box/body").any()
    publish_pull(perturbed, event_type=Feedback.MOUSE_UP, position=(_NAN, 0.0, 0.0))
    assert not perturbed.simulation.wrenches.acting
    perturbed.endpoints.wait()
    for _ in range(3):
        publish_pull(perturbed)
    assert [seconds for seconds, _ in perturbed.endpoints.later_calls] == [HELD_S] * 3
    for number, (_, callback) in enumerate(perturbed.endpoints.later_calls[:]):
        callback()
        perturbed.step()
        assert perturbed.simulation.wrenches.acting == (number < 2), "the last message counts"
    assert not perturbed.applied("box/body").any()


def test_in_lockstep_a_pull_ends_after_simulated_time_however_slow_the_client_is(
    perturb: Act,
) -> None:
    perturbed = perturb()
    source = SourceConfig(topic="joint_commands", robot="", rate=100.0)
    perturbed.lockstep.configure(LockstepConfig(sources=(source,)))
    publish_pull(perturbed)
    perturbed.endpoints.wait()
    perturbed.step(round(HELD_S / perturbed.simulation.model.opt.timestep))
    assert perturbed.simulation.wrenches.acting, "the wall time does not count"
    perturbed.step(2)
    assert not perturbed.simulation.wrenches.acting
    publish_pull(perturbed)
    perturbed.lockstep.configure(LockstepConfig())
    publish_pull(perturbed)
    perturbed.endpoints.wait()
    perturbed.run_threads()
    assert not perturbed.simulation.wrenches.acting, "the simulated time does not count"


def test_a_pull_that_takes_effect_late_still_ends(perturb: Act) -> None:
    perturbed = perturb()
    perturbed.endpoints.callbacks[PULL](Feedback(marker_name="box"))
    with contextlib.suppress(QueueFullError):
        while True:
            perturbed.simulation.commands.submit(lambda: None)
    perturbed.endpoints.wait()
    assert not perturbed.simulation.wrenches.acting, "the physics thread has stood still meanwhile"
    perturbed.step()
    assert not perturbed.simulation.wrenches.acting
    assert not perturbed.endpoints.later_calls


@pytest.mark.parametrize(
    ("reason", "fields"),
    [
        ("frame 'bux' not found (did you mean 'box'?); there are: ", {"frame": "bux"}),
        ("frame 'pillar' cannot move: no joint is above it", {"frame": "pillar"}),
        ("frame 'cursor' cannot move: no joint is above it", {"frame": "cursor"}),
        ("in frame 'box'; it must be in 'world'", {"world": "box"}),
        (
            "position (nan, 0, 0) has a coordinate that is not finite",
            {"position": (_NAN, 0.0, 0.0)},
        ),
        ("mouse_point (0, 1e+07, 0) has a coordinate", {"mouse": (0.0, 1e7, 0.0)}),
        ("must have length 1, got 0", {"quat_xyzw": (0.0, 0.0, 0.0, 0.0)}),
        ("control_name 'move_x' not found; there are: ", {"control_name": "move_x"}),
        ("event_type 3 is not supported; use KEEP_ALIVE, ", {"event_type": 3}),
    ],
)
def test_an_invalid_pull_is_refused_and_the_active_one_continues(
    perturb: Act, reason: str, fields: dict[str, Any]
) -> None:
    perturbed = perturb()
    publish_pull(perturbed, "lamp")
    publish_pull(perturbed)
    before = perturbed.simulation.wrenches.pulls
    publish_pull(perturbed, **fields)
    assert reason in perturbed.warnings[0]
    assert perturbed.simulation.wrenches.pulls == before
    perturbed.step()
    assert perturbed.applied("box/body").any()


def test_diagnostics_report_the_pulled_frame_and_its_goal(perturb: Act) -> None:
    perturbed = perturb()
    perturbed.push("box", (1.0, 2.0, 3.0))
    publish_pull(perturbed)
    publish_pull(perturbed, "lamp", control_name="rotate")
    report = perturbed.wrenches.report()
    assert report.text == "wrenches act at box; pulls act at box, lamp"
    assert report.values["pull at box"] == "to 0.5 0.2 1 m"
    assert report.values["pull at lamp"] == "turned to w x y z 1 0 0 0"


def test_pulls_end_with_a_reset_or_their_body_and_resume_with_the_next_message(
    perturb: Act,
) -> None:
    perturbed = perturb()
    publish_pull(perturbed)
    perturbed.reset()
    assert not perturbed.simulation.wrenches.acting
    publish_pull(perturbed)
    publish_pull(perturbed, "lamp")
    perturbed.change(lambda assembly: rebuild(assembly, remove=["box"]))
    publish_pull(perturbed, "lamp")
    publish_pull(perturbed)
    assert "frame 'box' not found" in perturbed.warnings[0]
    perturbed.step()
    assert list(perturbed.simulation.wrenches.pulls) == ["lamp"]
    assert perturbed.applied("lamp").any()
    perturbed.endpoints.wait()
    perturbed.step()
    assert not perturbed.simulation.wrenches.acting
