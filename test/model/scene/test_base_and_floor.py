"""The base of a URDF as the scene has it, and poses on the floor."""

import logging
from pathlib import Path

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.parts import part_from_file
from mujoco_ros.sim.simulation import Simulation

RADIUS = 0.1
CART = """<robot name="cart">
<link name="base"><inertial><mass value="4"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
  <collision><geometry><box size="0.6 0.2 0.1"/></geometry></collision></link>
""" + "".join(
    f"""<joint name="{name}" type="continuous"><parent link="base"/><child link="l_{name}"/>
<origin xyz="{x} {y} -0.05"/><axis xyz="0 1 0"/></joint><link name="l_{name}"><inertial>
<mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial><collision>
<origin rpy="1.5708 0 0"/><geometry><cylinder radius="{RADIUS}" length="0.04"/></geometry>
</collision></link>"""
    for name, x, y in (("fl", 0.2, 0.2), ("fr", 0.2, -0.2), ("bl", -0.2, 0.2), ("br", -0.2, -0.2))
) + "</robot>"  # fmt: skip
STANDING_Z = RADIUS + 0.05


@pytest.fixture
def cart(tmp_path: Path) -> Path:
    path = tmp_path / "cart.urdf"
    path.write_text(CART)
    return path


def scene_of(cart: Path, keys: str, world: str = "ground") -> str:
    path = cart.with_name("scene.yaml")
    path.write_text(
        f"world: package://mujoco_ros/urdf_mjcf/worlds/{world}.xml\n"
        f"robots: [{{name: r, model: cart.urdf, {keys}}}]\n"
    )
    return str(path)


def test_a_urdf_on_wheels_stands_on_a_floor_as_it_is(cart: Path, caplog):
    caplog.set_level(logging.INFO)
    simulation = Simulation(load_scene(str(cart)))
    message = "the base is free, because it has wheels (fl, fr, bl, br); `base: fixed` or '<file>"
    assert message in caplog.text
    for _ in range(200):
        simulation.step()
    assert simulation.data.qpos[2] == pytest.approx(STANDING_Z, abs=1e-3)
    assert simulation.model.joint("fl").id >= 0  # names have no prefix


@pytest.mark.parametrize("keys", ["base: fixed", "gravity_compensation: true"])
def test_the_scene_decides_otherwise(cart: Path, keys: str):
    model = assemble(load_scene(scene_of(cart, keys))).model
    assert mujoco.mjtJoint.mjJNT_FREE not in model.jnt_type


def test_an_argument_decides_otherwise(cart: Path):
    fixed = assemble(load_scene(f"{cart} base:=fixed")).model
    assert (fixed.nq, fixed.ngeom) == (4, 5)  # no floor
    with pytest.raises(UserInputError, match="base 'loose' not found; there are: auto, fixed, fr"):
        load_scene(f"{cart} base:=loose")


def test_a_base_that_cannot_be_freed_stays_fixed_with_the_reason(cart: Path, caplog):
    start, _, rest = CART.partition("<inertial>")
    _, _, rest = rest.partition("</inertial>")
    cart.write_text(start + rest)
    model = assemble(load_scene(str(cart))).model
    assert model.nq == 4
    assert "the base stays fixed: the base 'base' cannot be freed" in caplog.text


def test_a_robot_without_collision_shapes_stays_fixed(cart: Path, caplog):
    caplog.set_level(logging.INFO)
    cart.write_text(CART.replace("collision>", "visual>"))
    assert assemble(load_scene(str(cart))).model.nq == 4
    assert "the base is fixed, because it has no collision shapes to stand on" in caplog.text


def test_spawned_robots_follow_the_same_rule(cart: Path):
    def is_free(base: str) -> bool:
        spec = part_from_file(cart, name="c", keys={"base": base}).spec
        return any(joint.type == mujoco.mjtJoint.mjJNT_FREE for joint in spec.joints)

    assert [is_free(base) for base in ("auto", "free", "fixed")] == [True, True, False]


@pytest.mark.parametrize("world", ["ground", "plates"])
@pytest.mark.parametrize(
    ("pose", "bottom"), [("", 0.0), (", xyz: [0.3, 0.2, 0.5], rpy: [0, 3.14159, 0.4]", 0.5)]
)
def test_on_floor_sets_the_lowest_shape_on_the_floor(cart: Path, world, pose, bottom):
    scene = scene_of(cart, f"pose: {{on_floor: true{pose}}}", world)
    simulation = Simulation(load_scene(scene))
    model, data = simulation.model, simulation.data
    mujoco.mj_kinematics(model, data)
    floor = [g for g in range(model.ngeom) if model.geom_bodyid[g] == 0]
    gaps = [
        mujoco.mj_geomDistance(model, data, own, ground, 1.0, np.zeros(6))
        for own in range(model.ngeom)
        for ground in floor
        if own not in floor
    ]
    assert min(gaps) == pytest.approx(bottom, abs=1e-3 + 0.01 * (world == "plates"))


def test_a_free_urdf_without_a_pose_stands_on_the_floor_if_there_is_one(cart: Path, caplog):
    scene = scene_of(cart, "namespace: ''")
    assert Simulation(load_scene(scene)).data.qpos[2] == pytest.approx(STANDING_Z)
    assert "deep" not in caplog.text
    scene = scene_of(cart, "namespace: ''", "empty")
    assert Simulation(load_scene(scene)).data.qpos[2] == 0.0
    scene = scene_of(cart, "pose: {xyz: [0, 0, 1]}")
    assert Simulation(load_scene(scene)).data.qpos[2] == 1.0


def test_on_floor_needs_a_floor(cart: Path):
    scene = scene_of(cart, "pose: {on_floor: true}", "empty")
    with pytest.raises(UserInputError, match="'r': 'on_floor: true' needs a floor in the world"):
        assemble(load_scene(scene))


def test_a_robot_that_starts_in_the_floor_is_named_with_its_depth(cart: Path, caplog):
    Simulation(load_scene(scene_of(cart, "base: free, pose: {xyz: [0, 0, 0.05]}")))
    (message,) = [text for text in caplog.messages if "deep" in text]
    assert message.startswith("'r' starts 100 mm deep in the floor, with r/l_")
    assert "pose: {on_floor: true}" in message
    caplog.clear()
    Simulation(load_scene(scene_of(cart, "pose: {on_floor: true}")))
    assert "deep" not in caplog.text


def test_a_free_robot_without_a_floor_is_named(cart: Path, caplog):
    Simulation(load_scene(scene_of(cart, "base: free", "empty")))
    assert "robot 'r' falls: its base is free, and the scene has no floor" in caplog.text
    for keys, world in (("base: free", "ground"), ("base: fixed", "empty")):
        caplog.clear()
        Simulation(load_scene(scene_of(cart, keys, world)))
        assert "falls" not in caplog.text


def test_a_robot_of_several_free_bodies_is_named_once(tmp_path: Path, caplog):
    body = "<body><freejoint/><geom size='0.1'/></body>"
    path = tmp_path / "two.xml"
    path.write_text(f"<mujoco><worldbody>{body}{body}</worldbody></mujoco>")
    Simulation(load_scene(str(path)))
    assert caplog.text.count("falls: its base is free") == 1
