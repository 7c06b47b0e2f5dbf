"""With robot_state_publisher beside the simulator, TF remains a tree."""

from xml.etree import ElementTree

import pytest

from mujoco_ros.bridge.tf.robot_frames import FramePlan, plan_frames
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.description import RobotDescription, descriptions
from mujoco_ros.model.robot.layout import lay_out
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene, shipped_scenes

INERTIA = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
INERTIAL = f'<inertial><mass value="1"/>{INERTIA}</inertial>'
ON_WORLD = f"""
<robot name="r">
  <link name="world"/><link name="base">{INERTIAL}</link><link name="tip">{INERTIAL}</link>
  <joint name="mount" type="fixed"><parent link="world"/><child link="base"/></joint>
  <joint name="hinge" type="continuous"><parent link="base"/><child link="tip"/></joint>
</robot>"""
CART = """
<mujoco>
  <worldbody>
    <body name="cart">
      <joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
      <geom size="0.1"/><site name="imu"/>
      <camera name="fixed"/><camera name="turning" mode="trackcom"/>
    </body>
  </worldbody>
  <sensor><gyro site="imu"/></sensor>
</mujoco>"""
SHELF = """
<mujoco>
  <worldbody>
    <body pos="0 0 1"><geom size="0.1"/>
      <body pos="0 0.5 0" euler="0 0 90">
        <geom size="0.1"/><camera name="board" pos="0.1 0 0"/>
      </body>
      <body name="door"><joint/><geom size="0.1"/><camera name="knob"/></body>
    </body>
  </worldbody>
</mujoco>"""
MUG = """
<mujoco>
  <worldbody>
    <body><freejoint/><geom size="0.1"/>
      <body><geom size="0.1"/><camera name="inside"/></body>
    </body>
  </worldbody>
</mujoco>"""


def plan(scene: str, mode: str) -> tuple[FramePlan, list[RobotDescription]]:
    assembly = assemble(load_scene(scene))
    layout = lay_out(assembly)
    described = descriptions(assembly, layout)
    return plan_frames(assembly.model, layout, mode, described), described


def parents(scene: str, mode: str = "base") -> dict[str, list[str]]:
    """Return every frame's parents: the simulator's, and those robot_state_publisher would add."""
    planned, described = plan(scene, mode)
    edges = [(parent, child) for parent, child, _, _ in planned.moving]
    edges += [(t.header.frame_id, t.child_frame_id) for t in planned.static]
    if mode == "base":
        for robot in described:
            for joint in ElementTree.fromstring(robot.urdf).iterfind("joint"):
                if joint.get("type") != "floating":
                    ends = (joint.find(end).get("link") for end in ("parent", "child"))
                    edges.append(tuple(robot.frame_prefix + link for link in ends))
    found: dict[str, list[str]] = {}
    for parent, child in edges:
        found.setdefault(child, []).append(parent)
    return found


def check_tree(found: dict[str, list[str]]) -> None:
    assert {child: p for child, p in found.items() if len(p) != 1} == {}
    for frame in found:
        seen = set()
        while frame != "world":
            assert frame not in seen
            seen.add(frame)
            frame = found[frame][0]


@pytest.fixture
def scene(tmp_path):
    (tmp_path / "world.urdf").write_text(ON_WORLD)
    (tmp_path / "cart.xml").write_text(CART)
    (tmp_path / "shelf.xml").write_text(SHELF)
    (tmp_path / "mug.xml").write_text(MUG)

    def write(robots: str) -> str:
        path = tmp_path / "scene.yaml"
        path.write_text(f"robots: {robots}")
        return str(path)

    return write


@pytest.mark.parametrize("mode", ["base", "all"])
@pytest.mark.parametrize("name", shipped_scenes())
def test_every_frame_of_a_shipped_scene_has_one_parent(name, mode):
    check_tree(parents(name, mode))


@pytest.mark.parametrize("mode", ["base", "all"])
@pytest.mark.parametrize(
    "robots",
    [
        "[{name: a, model: world.urdf}]",
        "[{name: a, model: world.urdf, pose: {xyz: [1, 0, 0]}}, {name: b, model: world.urdf}]",
        "[{name: a, model: cart.xml}]",
        "[{name: a, model: cart.xml}, {name: b, model: cart.xml, pose: {xyz: [1, 0, 0]}}]",
    ],
)
def test_every_frame_has_one_parent_if_the_root_link_is_not_a_body(scene, robots, mode):
    found = parents(scene(robots), mode)
    check_tree(found)
    assert any(frame.endswith(("tip", "cart")) for frame in found)


def test_the_link_world_has_the_pose_of_the_robot_in_the_scene(scene):
    path = scene(
        "[{name: a, model: world.urdf, pose: {xyz: [1, 2, 3]}}, {name: b, model: cart.xml}]"
    )
    assembly = assemble(load_scene(path))
    layout = lay_out(assembly)
    plan = plan_frames(assembly.model, layout, "base", descriptions(assembly, layout))
    (transform,) = [t.transform for t in plan.static if t.child_frame_id == "a/world"]
    assert (transform.translation.x, transform.translation.y, transform.translation.z) == (1, 2, 3)


def test_a_pose_is_refused_for_a_robot_whose_urdf_is_fixed_to_the_world(scene):
    path = scene("[{name: a, model: world.urdf, pose: {xyz: [1, 0, 0]}}]")
    assembly = assemble(load_scene(path))
    with pytest.raises(UserInputError, match="root link of its URDF is 'world'"):
        descriptions(assembly, lay_out(assembly))


def test_a_tracking_camera_has_no_static_frame(scene):
    path = scene("[{name: a, model: cart.xml}]")
    found = parents(path, "all")
    assert found["fixed_optical_frame"] == ["cart"]
    assert found["turning_optical_frame"] == ["world"]
    static = {transform.child_frame_id for transform in plan(path, "all")[0].static}
    assert "fixed_optical_frame" in static
    assert "turning_optical_frame" not in static


SIGHTS = """[{name: a, model: cart.xml,
              cameras: [{name: bow, body: cart}], lidars: [{name: mast, body: cart}]}]
objects: [{name: shelf, model: shelf.xml, pose: {xyz: [2, 0, 0]}}, {name: mug, model: mug.xml}]
cameras: [{name: high, body: world, pose: {xyz: [0, 0, 4]}}]
lidars: [{name: wall, body: world, pose: {xyz: [1, 2, 3]}}]
"""


@pytest.mark.parametrize("mode", ["base", "all"])
def test_cameras_and_lidars_of_robots_objects_and_the_world_are_in_the_tree(scene, mode):
    found = parents(scene(SIGHTS), mode)
    check_tree(found)
    assert found["bow_optical_frame"] == found["mast"] == ["cart"]
    assert found["high_optical_frame"] == found["wall"] == ["world"]
    assert found["mug/inside_optical_frame"] == ["mug"]
    assert found["shelf/board_optical_frame"] == ["world"]
    assert "shelf/knob_optical_frame" not in found  # no frame of the door is on TF


def test_a_camera_of_a_fixed_object_has_the_pose_of_its_body(scene):
    planned, _ = plan(scene(SIGHTS), "base")
    at = {t.child_frame_id: t.transform for t in planned.static}
    place = at["shelf/board_optical_frame"].translation
    assert [place.x, place.y, place.z] == pytest.approx([2.0, 0.6, 1.0])
    turn = at["high_optical_frame"].rotation  # x forward, z up: optical z is x of the world
    assert abs(turn.w - turn.x + turn.y - turn.z) == pytest.approx(2)  # 0.5 -0.5 0.5 -0.5, or minus
