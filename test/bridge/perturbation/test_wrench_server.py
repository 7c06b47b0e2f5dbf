"""external_wrench: frames, validation and timeout."""

from collections.abc import Callable

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from perturbed_simulation import PerturbedSimulation
from sensor_msgs.msg import JointState

from mujoco_ros.model.scene.assembly import rebuild
from mujoco_ros.model.scene.parts import part_from_text

Act = Callable[..., PerturbedSimulation]
_UP = (0.0, 0.0, 4.0)
_NAN, _INF = float("nan"), float("inf")


def test_the_scene_and_every_robot_have_a_topic(perturb: Act) -> None:
    topics = {topic for topic in perturb().topics if topic.endswith("external_wrench")}
    assert topics == {"external_wrench", "left/external_wrench", "right/external_wrench"}


@pytest.mark.parametrize(
    ("topic", "frame", "body"),
    [
        ("external_wrench", "box", "box/body"),
        ("external_wrench", "lamp", "lamp"),
        ("external_wrench", "left/link", "left/link"),
        ("external_wrench", "right/finger", "right/finger"),
        ("left/external_wrench", "link", "left/link"),
        ("left/external_wrench", "left/link", "left/link"),
        ("right/external_wrench", "link", "right/link"),
        ("right/external_wrench", "box", "box/body"),
        ("left/external_wrench", "tip", "left/link"),
        ("external_wrench", "right/eye_optical_frame", "right/link"),
    ],
)
def test_bodies_sites_and_cameras_are_frames_with_their_names_in_tf(
    perturb: Act, topic: str, frame: str, body: str
) -> None:
    perturbed = perturb()
    perturbed.push(frame, _UP, topic=topic)
    perturbed.step()
    assert not perturbed.warnings
    assert np.linalg.norm(perturbed.applied(body)[:3]) == pytest.approx(4.0)


def test_a_force_is_in_the_axes_of_the_world_if_the_parameter_is_set(perturb: Act) -> None:
    perturbed = perturb()
    assert not perturbed.set({"external_wrench_axes": "world"})
    perturbed.push("left/tip", (1.0, 2.0, 3.0))
    perturbed.step()
    assert perturbed.applied("left/link")[:3] == pytest.approx([1.0, 2.0, 3.0])


def test_a_wrench_ends_after_the_timeout_in_simulated_time(perturb: Act) -> None:
    perturbed = perturb(external_wrench_timeout=0.1)
    perturbed.push("box", _UP)
    perturbed.step(200)
    dof = perturbed.simulation.model.body("box/body").dofadr[0]
    assert perturbed.simulation.data.qvel[dof + 2] == pytest.approx(4.0 / 2.0 * 0.1)
    assert not perturbed.applied("box/body").any()


@pytest.mark.parametrize("topic", ["external_wrench", "left/external_wrench"])
def test_an_unknown_frame_is_refused_with_the_valid_ones(perturb: Act, topic: str) -> None:
    perturbed = perturb()
    perturbed.push("left/lnk", _UP, topic=topic)
    (reason,) = perturbed.warnings
    assert "frame 'left/lnk' not found (did you mean 'left/link'?); there are: " in reason
    for frame in ("box", "lamp", "left/finger", "right/tip"):
        assert frame in reason
    assert "pillar" not in reason
    assert not perturbed.simulation.wrenches.acting


@pytest.mark.parametrize("frame", ["pillar", "left/base", "cursor"])
def test_a_wrench_on_a_fixed_body_is_refused(perturb: Act, frame: str) -> None:
    perturbed = perturb()
    perturbed.push(frame, _UP)
    assert f"frame '{frame}' cannot move: no joint is above it" in perturbed.warnings[0]
    assert not perturbed.simulation.wrenches.acting


@pytest.mark.parametrize("wrong", [_NAN, _INF, -_INF, 1e10])
@pytest.mark.parametrize("field", ["force", "torque"])
def test_numbers_that_are_not_finite_are_refused_and_the_active_wrench_continues(
    perturb: Act, field: str, wrong: float
) -> None:
    perturbed = perturb()
    perturbed.push("box", _UP)
    perturbed.push("box", **{field: (0.0, wrong, 0.0)})
    assert (
        f"{field} (0, {wrong:g}, 0) has a component that is not finite, or beyond 1e+09"
        in perturbed.warnings[0]
    )
    perturbed.step()
    assert perturbed.applied("box/body")[2] == pytest.approx(4.0)


def test_no_message_makes_the_state_infinite_or_nan(perturb: Act) -> None:
    perturbed, rng = perturb(), np.random.default_rng(1)
    frames = ["", "world", "box", "left/link", "nothing", "\n", "x" * 10_000]
    for _ in range(300):
        message = WrenchStamped()
        message.header.frame_id = str(rng.choice(frames))
        for vector in (message.wrench.force, message.wrench.torque):
            for axis in "xyz":
                setattr(vector, axis, float(rng.choice([0.0, 1.0, -3.0, _NAN, _INF, 1e300])))
        perturbed.endpoints.callbacks["external_wrench"](message)
        perturbed.step()
    assert np.isfinite(perturbed.simulation.data.xfrc_applied).all()
    assert not perturbed.simulation.divergences


def test_a_reset_ends_all_wrenches(perturb: Act) -> None:
    perturbed = perturb()
    perturbed.push("box", _UP)
    perturbed.step(10)
    perturbed.reset()
    perturbed.step(10)
    assert not perturbed.simulation.data.xfrc_applied.any()
    assert not perturbed.simulation.wrenches.acting


def test_diagnostics_report_the_active_wrenches(perturb: Act) -> None:
    perturbed = perturb()
    assert perturbed.wrenches.report().text == "no external wrench acts"
    perturbed.push("box", (1.0, 2.0, 3.0), (4.0, 5.0, 6.0))
    assert perturbed.wrenches.report().text == "wrenches act at box"
    assert perturbed.wrenches.report().values == {"wrench at box [N, Nm]": "1 2 3 4 5 6"}
    assert not perturbed.set({"external_wrench_timeout": 0.5, "external_wrench_axes": "world"})
    perturbed.push("box", (1.0, 2.0, 3.0))
    assert perturbed.wrenches.report().values == {
        "wrench at box [N, Nm]": "1 2 3 0 0 0 in world axes until 0.5 s"
    }


def test_wrenches_continue_when_an_entity_is_spawned_and_end_with_their_body(perturb: Act) -> None:
    perturbed = perturb()
    perturbed.push("box", _UP)
    perturbed.push("lamp", _UP)
    text = "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    ball = part_from_text(text, name="ball")
    perturbed.change(lambda assembly: rebuild(assembly, add=[ball]))
    perturbed.step()
    assert perturbed.applied("box/body")[2] == pytest.approx(4.0)
    perturbed.push("ball", _UP)
    perturbed.change(lambda assembly: rebuild(assembly, remove=["box"]))
    perturbed.step()
    assert set(perturbed.simulation.wrenches.listing) == {"ball", "lamp"}
    assert perturbed.applied("lamp")[2] == pytest.approx(4.0)
    perturbed.warnings.clear()
    perturbed.push("box", _UP)
    assert "frame 'box' not found" in perturbed.warnings[0]


def test_a_spawned_robot_has_a_topic_until_it_is_deleted(perturb: Act) -> None:
    perturbed = perturb()
    body = "<body name='arm'><joint name='j'/><geom size='.1'/></body>"
    text = f"<mujoco><worldbody>{body}</worldbody></mujoco>"
    robot = part_from_text(text, name="third")
    perturbed.change(lambda assembly: rebuild(assembly, add=[robot]))
    perturbed.push("arm", _UP, topic="third/external_wrench")
    perturbed.step()
    assert perturbed.applied("third/arm")[2] == pytest.approx(4.0)
    perturbed.change(lambda assembly: rebuild(assembly, remove=["third"]))
    assert "third/external_wrench" not in perturbed.topics
    assert not perturbed.simulation.wrenches.acting


def _push(
    perturbed: PerturbedSimulation, topic: str, names: list[str], efforts: list[float]
) -> None:
    perturbed.endpoints.callbacks[topic](JointState(name=names, effort=efforts))
    perturbed.run_threads()


@pytest.mark.parametrize(
    ("topic", "name"),
    [
        ("external_efforts", "left/hinge"),
        ("left/external_efforts", "hinge"),
        ("left/external_efforts", "left/hinge"),
        ("right/external_efforts", "left/hinge"),
    ],
)
def test_an_effort_acts_on_a_passive_joint(perturb: Act, topic: str, name: str) -> None:
    perturbed = perturb()
    _push(perturbed, topic, [name], [0.5])
    perturbed.step(10)
    assert not perturbed.warnings
    data, dof = perturbed.simulation.data, perturbed.simulation.model.joint("left/hinge").dofadr[0]
    assert data.qfrc_applied[dof] == 0.5
    assert data.qvel[dof] > 0.0
    report = perturbed.wrenches.report()
    assert report.text == "efforts act on left/hinge"
    assert report.values["effort on left/hinge [Nm or N]"] == "0.5"
    perturbed.reset()
    assert data.qfrc_applied[dof] == 0.0


@pytest.mark.parametrize(
    ("names", "efforts", "why"),
    [
        (["hinge"], [], "1 names and 0 efforts; each joint needs one effort"),
        ([], [], "0 names and 0 efforts"),
        (["hinge", "slide"], [1.0, _NAN], "the effort of joint 'slide' must be within"),
        (["hinge"], [_INF], "must be within ±1e+09, got inf"),
        (["hinge", "left/hinge"], [1.0, 2.0], "joint 'left/hinge' is named twice"),
        (["hinge", "hnge"], [1.0, 1.0], "there are: hinge, slide, right/hinge"),
    ],
)
def test_invalid_efforts_are_refused_as_a_whole(
    perturb: Act, names: list[str], efforts: list[float], why: str
) -> None:
    perturbed = perturb()
    _push(perturbed, "left/external_efforts", names, efforts)
    perturbed.step()
    assert why in perturbed.warnings[-1]
    assert not perturbed.simulation.data.qfrc_applied.any()
