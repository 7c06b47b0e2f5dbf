"""external_wrench/pull: what it takes and refuses, and that nothing is pulled for ever."""

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from acted import Acted
from visualization_msgs.msg import InteractiveMarkerFeedback as Feedback

from mujoco_ros.bridge.perturbation.pull_server import HELD_S, PULL
from mujoco_ros.model.scene.assembly import rebuild
from mujoco_ros.sim.command_queue import QueueFullError

Act = Callable[..., Acted]
_AWAY = (0.5, 0.2, 1.0)
_NAN = float("nan")
_HALF_TURN_ABOUT_Z = (0.0, 0.0, 1.0, 0.0)


def tell(
    acted: Acted,
    frame: str = "box",
    position: tuple[float, ...] = _AWAY,
    quat_xyzw: tuple[float, ...] = (0.0, 0.0, 0.0, 1.0),
    *,
    mouse: tuple[float, ...] | None = None,
    world: str = "world",
    **fields: Any,
) -> None:
    """Say where a frame is to be, and take it in."""
    message = Feedback(marker_name=frame, **fields)
    message.header.frame_id = world
    at, turn = message.pose.position, message.pose.orientation
    at.x, at.y, at.z = position
    turn.x, turn.y, turn.z, turn.w = quat_xyzw
    if mouse is not None:
        message.mouse_point_valid = True
        message.mouse_point.x, message.mouse_point.y, message.mouse_point.z = mouse
    acted.wires.callbacks[PULL](message)
    acted.simulation.commands.drain()


def position(acted: Acted, frame: str) -> np.ndarray:
    """Return where a frame is."""
    place, data = acted.wrenches.find_frame("", frame), acted.simulation.data
    return np.array(data.xpos[place.body] + data.xmat[place.body].reshape(3, 3) @ place.position)


def keep_on(acted: Acted, seconds: float, *arguments: Any, **fields: Any) -> None:
    for _ in range(round(seconds / 0.1)):
        tell(acted, *arguments, **fields)
        acted.step(100)


@pytest.mark.parametrize("event", [Feedback.KEEP_ALIVE, Feedback.POSE_UPDATE, Feedback.MOUSE_DOWN])
@pytest.mark.parametrize("world", ["world", ""])
def test_a_frame_is_pulled_to_its_goal(act: Act, event: int, world: str) -> None:
    acted = act()
    keep_on(acted, 1.0, event_type=event, world=world)
    assert position(acted, "box") == pytest.approx(_AWAY, abs=0.01)
    assert not acted.warnings


def test_a_site_of_a_robot_is_pulled_as_far_as_its_joints_allow(act: Act) -> None:
    acted = act()
    acted.step()
    goal = position(acted, "left/tip") + np.array([0.1, 0.0, -0.017])  # 0.3 m from the hinge
    keep_on(acted, 3.0, "left/tip", tuple(goal))
    assert position(acted, "left/tip") == pytest.approx(goal, abs=0.005)


def test_the_grabbed_point_follows_the_mouse(act: Act) -> None:
    acted = act()
    # Half a turn about z, so the body's point (0.1, 0, 0.1) is the one below the mouse.
    tell(acted, position=_AWAY, quat_xyzw=_HALF_TURN_ABOUT_Z, mouse=(0.4, 0.2, 1.1))
    pull = acted.simulation.wrenches.pulls["box"]
    assert pull.point == pytest.approx([0.1, 0.0, 0.1])
    assert pull.position == pytest.approx([0.4, 0.2, 1.1])


def test_a_frame_is_rotated_in_place(act: Act) -> None:
    acted = act()
    acted.step()
    before = position(acted, "box")
    keep_on(acted, 1.0, quat_xyzw=_HALF_TURN_ABOUT_Z, control_name="rotate")
    assert np.abs(acted.simulation.data.body("box/body").xquat) == pytest.approx(
        [0, 0, 0, 1], abs=0.01
    )
    assert position(acted, "box") == pytest.approx(before, abs=1e-6)


def test_a_pull_ends_with_the_mouse_button_or_without_further_messages(act: Act) -> None:
    acted = act()
    tell(acted)
    acted.step()
    assert acted.applied("box/body").any()
    tell(acted, event_type=Feedback.MOUSE_UP, position=(_NAN, 0.0, 0.0))
    assert not acted.simulation.wrenches.acting
    acted.wires.wait()
    for _ in range(3):
        tell(acted)
    assert [seconds for seconds, _ in acted.wires.later_calls] == [HELD_S] * 3
    for number, (_, look) in enumerate(acted.wires.later_calls[:]):
        look()
        acted.step()
        assert acted.simulation.wrenches.acting == (number < 2), "the last message counts"
    assert not acted.applied("box/body").any()


def test_a_pull_that_takes_effect_late_still_ends(act: Act) -> None:
    acted = act()
    acted.wires.callbacks[PULL](Feedback(marker_name="box"))
    with contextlib.suppress(QueueFullError):
        while True:
            acted.simulation.commands.submit(lambda: None)
    acted.wires.wait()
    assert not acted.simulation.wrenches.acting, "the physics thread has stood still meanwhile"
    acted.step()
    assert not acted.simulation.wrenches.acting
    assert not acted.wires.later_calls


@pytest.mark.parametrize(
    ("said", "fields"),
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
    act: Act, said: str, fields: dict[str, Any]
) -> None:
    acted = act()
    tell(acted, "lamp")
    tell(acted)
    before = acted.simulation.wrenches.pulls
    tell(acted, **fields)
    assert said in acted.warnings[0]
    assert acted.simulation.wrenches.pulls == before
    acted.step()
    assert acted.applied("box/body").any()


def test_diagnostics_report_the_pulled_frame_and_its_goal(act: Act) -> None:
    acted = act()
    acted.push("box", (1.0, 2.0, 3.0))
    tell(acted)
    tell(acted, "lamp", control_name="rotate")
    report = acted.wrenches.report()
    assert report.text == "wrenches act at box; pulls act at box, lamp"
    assert report.values["pull at box"] == "to 0.5 0.2 1 m"
    assert report.values["pull at lamp"] == "turned to w x y z 1 0 0 0"


def test_pulls_end_with_a_reset_or_their_body_and_resume_with_the_next_message(
    act: Act,
) -> None:
    acted = act()
    tell(acted)
    acted.reset()
    assert not acted.simulation.wrenches.acting
    tell(acted)
    tell(acted, "lamp")
    acted.change(lambda assembly: rebuild(assembly, remove=["box"]))
    tell(acted, "lamp")
    tell(acted)
    assert "frame 'box' not found" in acted.warnings[0]
    acted.step()
    assert list(acted.simulation.wrenches.pulls) == ["lamp"]
    assert acted.applied("lamp").any()
    acted.wires.wait()
    acted.step()
    assert not acted.simulation.wrenches.acting
