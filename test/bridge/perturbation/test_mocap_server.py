"""mocap/<body>/pose: poses of mocap bodies."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from perturbed_simulation import PerturbedSimulation

from mujoco_ros.bridge.tf.robot_frames import plan_frames
from mujoco_ros.model.robot.description import descriptions
from mujoco_ros.model.scene.assembly import rebuild
from mujoco_ros.model.scene.parts import part_from_text

Act = Callable[..., PerturbedSimulation]
_NAN = float("nan")
_CURSOR = "mocap/cursor/pose"


def _pose(perturbed: PerturbedSimulation, body: str) -> np.ndarray:
    data, model = perturbed.simulation.data, perturbed.simulation.model
    row = model.body(body).mocapid[0]
    return np.concatenate([data.mocap_pos[row], data.mocap_quat[row]])


def test_every_mocap_body_has_a_topic(perturb: Act) -> None:
    topics = {topic for topic in perturb().topics if "mocap" in topic}
    assert topics == {_CURSOR, "left/mocap/handle/pose", "right/mocap/handle/pose"}


@pytest.mark.parametrize(
    ("topic", "body"), [(_CURSOR, "cursor/body"), ("right/mocap/handle/pose", "right/handle")]
)
def test_the_body_has_its_commanded_pose_in_the_next_step(
    perturb: Act, topic: str, body: str
) -> None:
    perturbed = perturb()
    perturbed.move(topic, (4.0, 5.0, 6.0), (0.0, 0.0, 0.6, 0.8))
    perturbed.step()
    assert not perturbed.warnings
    data = perturbed.simulation.data.body(body)
    assert data.xpos == pytest.approx([4.0, 5.0, 6.0])
    assert data.xquat == pytest.approx([0.8, 0.0, 0.0, 0.6])


def test_only_the_commanded_body_moves(perturb: Act) -> None:
    perturbed = perturb()
    before = _pose(perturbed, "left/handle")
    perturbed.move("right/mocap/handle/pose", (4.0, 5.0, 6.0))
    assert _pose(perturbed, "left/handle") == pytest.approx(before)


def test_an_empty_frame_id_means_the_world(perturb: Act) -> None:
    perturbed = perturb()
    perturbed.move(_CURSOR, (4.0, 5.0, 6.0), frame="")
    assert _pose(perturbed, "cursor/body")[:3] == pytest.approx([4.0, 5.0, 6.0])


def test_a_quaternion_is_normalized(perturb: Act) -> None:
    perturbed = perturb()
    perturbed.move(_CURSOR, (0.0, 0.0, 0.0), (0.0, 0.0, 0.72, 0.96))
    assert _pose(perturbed, "cursor/body")[3:] == pytest.approx([0.8, 0.0, 0.0, 0.6])


@pytest.mark.parametrize(
    ("reason", "position", "quat", "frame"),
    [
        ("the pose is in frame 'left/link'", (0, 0, 0), (0, 0, 0, 1), "left/link"),
        (
            "position (0, nan, 0) has a coordinate that is not finite",
            (0, _NAN, 0),
            (0, 0, 0, 1),
            "world",
        ),
        ("position (0, 0, inf) has a coordinate", (0, 0, float("inf")), (0, 0, 0, 1), "world"),
        ("not finite, or beyond 1e+06 m", (1e7, 0, 0), (0, 0, 0, 1), "world"),
        ("must have length 1, got 0", (0, 0, 0), (0, 0, 0, 0), "world"),
        ("must have length 1, got nan", (0, 0, 0), (0, _NAN, 0, 1), "world"),
        ("must have length 1, got 5", (0, 0, 0), (0, 0, 3, 4), "world"),
    ],
)
def test_an_invalid_pose_is_refused_and_moves_nothing(
    perturb: Act, reason: str, position: tuple[float, ...], quat: tuple[float, ...], frame: str
) -> None:
    perturbed = perturb()
    before = _pose(perturbed, "cursor/body")
    x, y, z = map(float, position)
    qx, qy, qz, qw = map(float, quat)
    perturbed.move(_CURSOR, (x, y, z), (qx, qy, qz, qw), frame)
    assert reason in perturbed.warnings[0]
    assert _pose(perturbed, "cursor/body") == pytest.approx(before)


def test_a_reset_restores_the_poses_of_bodies(perturb: Act) -> None:
    perturbed = perturb()
    before = _pose(perturbed, "cursor/body")
    perturbed.move(_CURSOR, (4.0, 5.0, 6.0))
    perturbed.reset()
    assert _pose(perturbed, "cursor/body") == pytest.approx(before)


def test_a_weld_drags_a_body_along(perturb: Act, tmp_path: Path) -> None:
    path = tmp_path / "drag.xml"
    path.write_text(
        """
        <mujoco>
          <option timestep="0.001"/>
          <worldbody>
            <body name="hand" mocap="true" pos="0 0 1"/>
            <body name="cup" pos="0 0 1">
              <freejoint/>
              <geom size="0.1" mass="0.1"/>
            </body>
          </worldbody>
          <equality><weld name="grasp" body1="hand" body2="cup"/></equality>
        </mujoco>
        """
    )
    perturbed = perturb(path)
    for i in range(1000):
        perturbed.move("mocap/hand/pose", (0.0005 * i, 0.0, 1.0))
        perturbed.step()
    perturbed.step(500)
    assert perturbed.simulation.data.body("cup").xpos == pytest.approx([0.5, 0.0, 1.0], abs=0.01)


def test_spawned_bodies_have_topics_and_deleted_ones_none(perturb: Act) -> None:
    perturbed = perturb()
    perturbed.move(_CURSOR, (4.0, 5.0, 6.0))
    text = "<mujoco><worldbody><body name='flag' mocap='true'/></worldbody></mujoco>"
    flag = part_from_text(text, name="flag")
    perturbed.change(lambda assembly: rebuild(assembly, add=[flag]))
    assert _pose(perturbed, "cursor/body")[:3] == pytest.approx([4.0, 5.0, 6.0])
    perturbed.move("mocap/flag/pose", (7.0, 8.0, 9.0))
    assert _pose(perturbed, "flag/flag")[:3] == pytest.approx([7.0, 8.0, 9.0])
    perturbed.change(lambda assembly: rebuild(assembly, remove=["cursor"]))
    assert _CURSOR not in perturbed.topics
    perturbed.move("mocap/flag/pose", (1.0, 2.0, 3.0))
    assert _pose(perturbed, "flag/flag")[:3] == pytest.approx([1.0, 2.0, 3.0])
    assert _pose(perturbed, "left/handle")[:3] == pytest.approx([0.0, 1.0, 1.0])


def test_bodies_of_a_world_without_a_robot_have_topics(perturb: Act, tmp_path: Path) -> None:
    path = tmp_path / "bare.xml"
    path.write_text(
        """
        <mujoco>
          <worldbody>
            <body name="a b" mocap="true"/>
            <body><joint/><geom size="0.1"/></body>
          </worldbody>
        </mujoco>
        """
    )
    assert {topic for topic in perturb(path).topics if "mocap" in topic} == {"mocap/a_b/pose"}


def test_mocap_bodies_of_objects_are_in_tf(perturb: Act) -> None:
    simulation = perturb().simulation
    described = descriptions(simulation.assembly, simulation.layout)
    plan = plan_frames(simulation.model, simulation.layout, "base", described)
    assert {"cursor", "left/handle", "right/handle"} <= {child for _, child, _, _ in plan.moving}
