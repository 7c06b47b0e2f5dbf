"""mocap/<body>/pose: bodies that go where they are put."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from acted import Acted

from mujoco_ros.bridge.tf.frame_plan import plan_frames
from mujoco_ros.model.robot.description import descriptions
from mujoco_ros.model.scene.assembly import rebuild
from mujoco_ros.model.scene.parts import part_from_text

Act = Callable[..., Acted]
_NAN = float("nan")
_CURSOR = "mocap/cursor/pose"


def _pose(acted: Acted, body: str) -> np.ndarray:
    data, model = acted.simulation.data, acted.simulation.model
    row = model.body(body).mocapid[0]
    return np.concatenate([data.mocap_pos[row], data.mocap_quat[row]])


def test_every_mocap_body_has_a_topic(act: Act) -> None:
    topics = {topic for topic in act().topics if "mocap" in topic}
    assert topics == {_CURSOR, "left/mocap/handle/pose", "right/mocap/handle/pose"}


@pytest.mark.parametrize(
    ("topic", "body"), [(_CURSOR, "cursor/body"), ("right/mocap/handle/pose", "right/handle")]
)
def test_the_body_has_its_commanded_pose_in_the_next_step(act: Act, topic: str, body: str) -> None:
    acted = act()
    acted.move(topic, (4.0, 5.0, 6.0), (0.0, 0.0, 0.6, 0.8))
    acted.step()
    assert not acted.warnings
    data = acted.simulation.data.body(body)
    assert data.xpos == pytest.approx([4.0, 5.0, 6.0])
    assert data.xquat == pytest.approx([0.8, 0.0, 0.0, 0.6])


def test_only_the_commanded_body_moves(act: Act) -> None:
    acted = act()
    before = _pose(acted, "left/handle")
    acted.move("right/mocap/handle/pose", (4.0, 5.0, 6.0))
    assert _pose(acted, "left/handle") == pytest.approx(before)


def test_an_empty_frame_id_means_the_world(act: Act) -> None:
    acted = act()
    acted.move(_CURSOR, (4.0, 5.0, 6.0), frame="")
    assert _pose(acted, "cursor/body")[:3] == pytest.approx([4.0, 5.0, 6.0])


def test_a_quaternion_is_normalized(act: Act) -> None:
    acted = act()
    acted.move(_CURSOR, (0.0, 0.0, 0.0), (0.0, 0.0, 0.72, 0.96))
    assert _pose(acted, "cursor/body")[3:] == pytest.approx([0.8, 0.0, 0.0, 0.6])


@pytest.mark.parametrize(
    ("said", "position", "quat", "frame"),
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
    act: Act, said: str, position: tuple[float, ...], quat: tuple[float, ...], frame: str
) -> None:
    acted = act()
    before = _pose(acted, "cursor/body")
    x, y, z = map(float, position)
    qx, qy, qz, qw = map(float, quat)
    acted.move(_CURSOR, (x, y, z), (qx, qy, qz, qw), frame)
    assert said in acted.warnings[0]
    assert _pose(acted, "cursor/body") == pytest.approx(before)


def test_a_reset_restores_the_poses_of_bodies(act: Act) -> None:
    acted = act()
    before = _pose(acted, "cursor/body")
    acted.move(_CURSOR, (4.0, 5.0, 6.0))
    acted.reset()
    assert _pose(acted, "cursor/body") == pytest.approx(before)


def test_a_weld_drags_a_body_along(act: Act, tmp_path: Path) -> None:
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
    acted = act(path)
    for i in range(1000):
        acted.move("mocap/hand/pose", (0.0005 * i, 0.0, 1.0))
        acted.step()
    acted.step(500)
    assert acted.simulation.data.body("cup").xpos == pytest.approx([0.5, 0.0, 1.0], abs=0.01)


def test_spawned_bodies_have_topics_and_deleted_ones_none(act: Act) -> None:
    acted = act()
    acted.move(_CURSOR, (4.0, 5.0, 6.0))
    text = "<mujoco><worldbody><body name='flag' mocap='true'/></worldbody></mujoco>"
    flag = part_from_text(text, name="flag")
    acted.change(lambda assembly: rebuild(assembly, add=[flag]))
    assert _pose(acted, "cursor/body")[:3] == pytest.approx([4.0, 5.0, 6.0])
    acted.move("mocap/flag/pose", (7.0, 8.0, 9.0))
    assert _pose(acted, "flag/flag")[:3] == pytest.approx([7.0, 8.0, 9.0])
    acted.change(lambda assembly: rebuild(assembly, remove=["cursor"]))
    assert _CURSOR not in acted.topics
    acted.move("mocap/flag/pose", (1.0, 2.0, 3.0))
    assert _pose(acted, "flag/flag")[:3] == pytest.approx([1.0, 2.0, 3.0])
    assert _pose(acted, "left/handle")[:3] == pytest.approx([0.0, 1.0, 1.0])


def test_bodies_of_a_world_without_a_robot_have_topics(act: Act, tmp_path: Path) -> None:
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
    assert {topic for topic in act(path).topics if "mocap" in topic} == {"mocap/a_b/pose"}


def test_mocap_bodies_of_objects_are_in_tf(act: Act) -> None:
    simulation = act().simulation
    described = descriptions(simulation.assembly, simulation.layout)
    plan = plan_frames(simulation.model, simulation.layout, "base", described)
    assert {"cursor", "left/handle", "right/handle"} <= {child for _, child, _, _ in plan.moving}
