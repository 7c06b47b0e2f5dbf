"""With robot_state_publisher beside the simulator, TF must stay a tree."""

from xml.etree import ElementTree

import pytest

from mujoco_ros.model.assembly import assemble
from mujoco_ros.model.description import descriptions
from mujoco_ros.model.errors import ModelError
from mujoco_ros.model.layout import lay_out
from mujoco_ros.model.scene import load_scene, shipped_scenes
from mujoco_ros.ros.frames import plan_frames

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


def parents(scene: str, mode: str = "base") -> dict[str, list[str]]:
    """Return every frame's parents: the simulator's, and those robot_state_publisher would add."""
    assembly = assemble(load_scene(scene))
    layout = lay_out(assembly)
    described = descriptions(assembly, layout)
    plan = plan_frames(assembly.model, layout, mode, described)
    edges = [(parent, child) for parent, child, _, _ in plan.moving]
    edges += [(t.header.frame_id, t.child_frame_id) for t in plan.static]
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
def test_every_frame_has_one_parent_where_the_root_link_is_no_body_of_the_robot(
    scene, robots, mode
):
    found = parents(scene(robots), mode)
    check_tree(found)
    assert any(frame.endswith(("tip", "cart")) for frame in found)


def test_a_link_world_stands_where_the_scene_puts_the_robot(scene):
    path = scene(
        "[{name: a, model: world.urdf, pose: {xyz: [1, 2, 3]}}, {name: b, model: cart.xml}]"
    )
    assembly = assemble(load_scene(path))
    layout = lay_out(assembly)
    plan = plan_frames(assembly.model, layout, "base", descriptions(assembly, layout))
    (transform,) = [t.transform for t in plan.static if t.child_frame_id == "a/world"]
    assert (transform.translation.x, transform.translation.y, transform.translation.z) == (1, 2, 3)


def test_the_pose_of_a_robot_whose_urdf_is_fixed_to_the_world_itself_is_refused(scene):
    path = scene("[{name: a, model: world.urdf, pose: {xyz: [1, 0, 0]}}]")
    assembly = assemble(load_scene(path))
    with pytest.raises(ModelError, match="hangs on a link 'world'"):
        descriptions(assembly, lay_out(assembly))


def test_a_camera_that_turns_by_itself_has_no_static_frame(scene):
    found = parents(scene("[{name: a, model: cart.xml}]"), "all")
    assert "fixed_optical_frame" in found
    assert "turning_optical_frame" not in found
