"""Concave meshes: what fits through a hole of a mesh falls through it."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import coacd
import mujoco
import numpy as np
import pytest
import trimesh

from mujoco_ros.bridge.simulation_interfaces.entities.entity_models import ResourceSource
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import PoseConfig
from mujoco_ros.model.scene.assembly import assemble, rebuild
from mujoco_ros.model.scene.collisions import ConvexDecomposition
from mujoco_ros.model.scene.config import ObjectConfig, RobotConfig, SceneConfig, load_scene
from mujoco_ros.model.scene.parts import part_from_file, robot_part
from mujoco_ros.model.strict import from_dict

RADIUS_M, HOLE_M, HEIGHT_M = 0.1, 0.05, 0.04
DEFAULT = ConvexDecomposition()
COARSE = ConvexDecomposition(threshold=0.4)  # four parts of the ring, in half of the time

URDF = f"""
<robot name="arm">
  <link name="base"/>
  <joint name="lift" type="prismatic">
    <parent link="base"/> <child link="ring"/> <axis xyz="0 0 1"/>
    <origin xyz="0.3 0 0.5" rpy="0 0 0.4"/>
    <limit lower="-0.1" upper="0.1" effort="50" velocity="1"/>
  </joint>
  <link name="ring">
    INERTIAL
    <collision> <origin xyz="0 0 0.1" rpy="0.05 0 0"/> <geometry>
      <mesh filename="ring.stl" scale="0.001 0.001 0.001"/>
    </geometry> </collision>
  </link>
  <joint name="turn" type="revolute">
    <parent link="ring"/> <child link="bar"/> <axis xyz="0 0 1"/>
    <origin xyz="0 0 {1 - 0.1}"/> <limit lower="-1" upper="1" effort="50" velocity="1"/>
  </joint>
  <link name="bar">
    <inertial>
      <mass value="1"/> <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
    </inertial>
    <collision> <geometry> <box size="0.1 0.1 0.1"/> </geometry> </collision>
  </link>
</robot>
"""
INERTIAL = """<inertial> <mass value="2"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/> </inertial>"""
WORLD = """
<mujoco>
  <worldbody>
    <body name="ball" pos="0.3 0 1.3">
      <freejoint/> <geom name="ball" type="sphere" size="0.02" friction="0.1"/>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture(scope="module")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def shared_cache(shared_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Decompose equal meshes once, because that takes a second of processor time."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared_folder))


def scene(
    folder: Path, options: Mapping[str, ConvexDecomposition], inertial: str = INERTIAL
) -> SceneConfig:
    ring = trimesh.creation.annulus(
        r_min=1e3 * HOLE_M, r_max=1e3 * RADIUS_M, height=1e3 * HEIGHT_M, sections=16
    )
    ring.export(folder / "ring.stl")
    (folder / "arm.urdf").write_text(URDF.replace("INERTIAL", inertial))
    (folder / "world.xml").write_text(WORLD)
    robot = RobotConfig(name="arm", model="arm.urdf", convex_decomposition=dict(options))
    return SceneConfig(world="world.xml", robots=(robot,), folder=folder)


def lowest_ball(config: SceneConfig) -> float:
    """Return the height of the ball after 0.6 s, with the joints locked [m]."""
    return height_of_ball(assemble(config).model)


def height_of_ball(model: mujoco.MjModel) -> float:
    data = mujoco.MjData(model)
    ball = model.body("ball").jntadr[0]
    adr, vel = model.jnt_qposadr[ball], model.jnt_dofadr[ball]
    others = np.setdiff1d(np.arange(model.nv), np.arange(vel, vel + 6))
    while data.time < 0.6:
        mujoco.mj_step(model, data)
        data.qvel[others] = 0.0
    return float(data.qpos[adr + 2])


def test_a_ball_falls_through_the_hole_of_a_decomposed_ring_only(tmp_path: Path) -> None:
    top = 0.5 + 0.1 + HEIGHT_M / 2
    assert lowest_ball(scene(tmp_path, {})) > top - 0.03  # it lies on the convex hull
    assert lowest_ball(scene(tmp_path, {"ring": DEFAULT})) < 0.4


CUP = np.array([[0, 0], [0.04, 0], [0.05, 0.1], [0.045, 0.1], [0.036, 0.01], [0, 0.01]])
"""Outline of half of a section [m]."""
RING = """
<mujoco>
  <asset><mesh name="hoop" file="ring.stl" scale="0.001 0.001 0.001"/></asset>
  <worldbody><body name="ring"><geom type="mesh" mesh="hoop"/></body></worldbody>
</mujoco>
"""
PLACE = {"xyz": (0.3, 0, 0.6)}


def object_scene(folder: Path, **keys: object) -> SceneConfig:
    """The ring as a fixed object under the ball, and a robot elsewhere."""
    config = scene(folder, {})
    (folder / "ring.xml").write_text(RING)
    ring = ObjectConfig(name="hoop", model="ring.xml", pose=PoseConfig(**PLACE), **keys)
    arm = replace(config.robots[0], pose=PoseConfig(xyz=(9, 0, 0)))
    return replace(config, robots=(arm,), objects=(ring,))


@pytest.mark.parametrize("key", [{"convex_decomposition": {"ring": COARSE}}, {"sdf": ("r*",)}])
def test_a_ball_falls_through_the_hole_of_an_object_only_with_a_key(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, key: dict[str, object]
) -> None:
    assert lowest_ball(object_scene(tmp_path)) > 0.6
    assert "object 'hoop': meshes collide as their convex hulls" in caplog.text
    assert "are solid: hoop; `convex_decomposition` or `sdf` keeps them open" in caplog.text
    caplog.clear()
    config = object_scene(tmp_path, **key)
    assert lowest_ball(config) < 0.4
    assert "hoop" not in caplog.text
    ring = assemble(config).model.body("hoop/ring")
    whole = assemble(object_scene(tmp_path)).model.body("hoop/ring")
    assert ring.mass == pytest.approx(whole.mass)
    assert ring.inertia == pytest.approx(whole.inertia)


def test_a_link_of_a_robot_collides_by_its_signed_distance_field(tmp_path: Path) -> None:
    config = scene(tmp_path, {})
    assert lowest_ball(replace(config, robots=(replace(config.robots[0], sdf=("*",)),))) < 0.4


@pytest.mark.parametrize("argument", ["convex_decomposition:=*", "sdf:=ring", ""])
def test_the_uri_of_a_spawned_object_has_both_keys(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, argument: str
) -> None:
    config = object_scene(tmp_path)
    before = assemble(replace(config, objects=()))
    caplog.clear()
    source = ResourceSource(uri=f"file://{tmp_path / 'ring.xml'} {argument}".strip(), text="")
    spawned = part_from_file(source.path(), name="new", pose=PoseConfig(**PLACE), keys=source.keys)
    after = rebuild(before, add=[spawned])
    assert (height_of_ball(after.model) < 0.4) == (argument != "")
    assert ("object 'new': meshes collide as their convex hulls" in caplog.text) != bool(argument)


@pytest.mark.parametrize(
    ("shape", "is_hollow"),
    [
        (trimesh.creation.box((0.1, 0.2, 0.3)), False),
        (trimesh.creation.icosphere(subdivisions=3, radius=0.1), False),
        (trimesh.creation.annulus(r_min=0.01, r_max=0.2, height=0.01, sections=32), True),
        (trimesh.creation.revolve(CUP), True),
    ],
    ids=["box", "ball", "plate with a small hole", "cup"],
)
def test_a_hull_that_hides_a_hole_or_a_hollow_is_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, shape: trimesh.Trimesh, is_hollow: bool
) -> None:
    config = object_scene(tmp_path)
    caplog.clear()
    shape.apply_scale(1e3).export(tmp_path / "ring.stl")
    assemble(config)
    assert ("object 'hoop': meshes collide" in caplog.text) == is_hollow


def test_a_cup_is_not_replaced_by_a_thicker_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    between = np.linspace(0, 1, 5, endpoint=False)[:, None]
    outline = [a + between * (b - a) for a, b in pairwise(CUP)]
    cup = trimesh.creation.revolve(np.concatenate([*outline, CUP[-1:]]), sections=200)
    config = object_scene(tmp_path, convex_decomposition={"ring": DEFAULT})
    cup.export(tmp_path / "ring.stl")
    (tmp_path / "ring.xml").write_text(RING.replace("0.001", "1"))
    wholes: list[trimesh.Trimesh] = []
    run = coacd.run_coacd

    def run_without_cuts(mesh: coacd.Mesh, **options: object) -> list[list[np.ndarray]]:
        ((vertices, faces),) = run(mesh, **{**options, "threshold": 1.0})
        wholes.append(trimesh.Trimesh(vertices, faces))
        return [[vertices, faces]]

    monkeypatch.setattr("coacd.run_coacd", run_without_cuts)
    assemble(config)
    assert wholes[0].volume == pytest.approx(cup.convex_hull.volume, rel=1e-3)


def test_a_model_file_takes_the_keys_as_arguments(tmp_path: Path) -> None:
    scene(tmp_path, {})
    config = load_scene(f"{tmp_path / 'arm.urdf'} convex_decomposition:=r* sdf:=bar")
    assert config.robots[0].convex_decomposition == {"r*": DEFAULT}
    assert config.robots[0].sdf == ("bar",)
    with pytest.raises(UserInputError, match=r"sdf: 'bar' has no collision mesh; .* have: ring"):
        assemble(config)


@pytest.mark.parametrize("inertial", [INERTIAL, ""], ids=["inertial", "mass of the mesh"])
def test_mass_and_inertia_stay_the_same(tmp_path: Path, inertial: str) -> None:
    whole = assemble(scene(tmp_path, {}, inertial)).model.body("arm/ring")
    parts = assemble(scene(tmp_path, {"*": DEFAULT}, inertial)).model.body("arm/ring")
    assert whole.mass > 0.5
    for name in ("mass", "inertia", "ipos", "iquat"):
        assert np.array_equal(getattr(parts, name), getattr(whole, name)), name


def test_the_parts_fill_the_ring_and_share_its_contact_settings(tmp_path: Path) -> None:
    spec = robot_part(
        config := scene(tmp_path, {"ring": DEFAULT}), config.robots[0], prefix=""
    ).spec
    model = spec.compile()
    ring = [g for g in range(model.ngeom) if model.body(model.geom_bodyid[g]).name == "ring"]
    assert len(ring) >= 6
    assert {int(model.geom_contype[g]) for g in ring} == {1}
    assert {int(model.geom_group[g]) for g in ring} == {3}
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    corners = []
    for geom in ring:
        mesh = model.geom_dataid[geom]
        first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        vertices = model.mesh_vert[first : first + count]
        corners.append(data.geom_xpos[geom] + vertices @ data.geom_xmat[geom].reshape(3, 3).T)
    hulls = [trimesh.convex.convex_hull(part) for part in corners]
    area = 8 * np.sin(np.pi / 8) * (RADIUS_M**2 - HOLE_M**2)  # of 16-gons
    assert sum(hull.volume for hull in hulls) == pytest.approx(area * HEIGHT_M, rel=0.1)
    centre = np.concatenate(corners).min(axis=0) + np.ptp(np.concatenate(corners), axis=0) / 2
    assert centre == pytest.approx([0.3, 0, 0.6], abs=2e-3)


def test_the_parts_of_several_meshes_have_the_poses_of_theirs(tmp_path: Path) -> None:
    config = scene(tmp_path, {"*": DEFAULT})
    text = (tmp_path / "arm.urdf").read_text()
    ring = '<geometry> <mesh filename="ring.stl" scale="0.001 0.001 0.001"/> </geometry>'
    more = f'<collision> <origin xyz="0 2 0"/> {ring} </collision>'
    text = text.replace(
        '<collision> <geometry> <box size="0.1 0.1 0.1"/>',
        f"{more} <collision> <geometry> <box size='0.1 0.1 0.1'/>",
    )
    text = text.replace(
        '<link name="ring">', f'<link name="ring"> <visual> {ring} </visual> {more}'
    )
    (tmp_path / "arm.urdf").write_text(text)
    model = robot_part(config, config.robots[0], prefix="").spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    centres: dict[tuple[str, int], list[np.ndarray]] = {}
    for geom in np.flatnonzero(
        (model.geom_type == mujoco.mjtGeom.mjGEOM_MESH) & (model.geom_contype > 0)
    ):
        body = model.body(model.geom_bodyid[geom])
        place = data.body(body.name).xmat.reshape(3, 3).T @ (
            data.geom_xpos[geom] - data.body(body.name).xpos
        )
        centres.setdefault((body.name, round(place[1] / 2)), []).append(place)
    assert {key: len(found) >= 6 for key, found in centres.items()} == {
        ("ring", 0): True,
        ("ring", 1): True,
        ("bar", 1): True,
    }
    for (_, row), found in centres.items():
        middle = np.min(found, axis=0) / 2 + np.max(found, axis=0) / 2
        assert middle[:2] == pytest.approx([0, 2 * row], abs=0.02)


def test_the_second_start_takes_the_parts_of_the_first(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    config = scene(tmp_path, {"ring": COARSE})
    with caplog.at_level(logging.INFO):
        first = assemble(config).model
    assert "robot 'arm': mesh 'ring' (1 of 1): convex decomposition of" in caplog.text
    assert "convex parts, after" in caplog.text
    (file,) = (tmp_path / "cache/mujoco_ros/convex_parts").iterdir()
    with monkeypatch.context() as without_computation:
        without_computation.setattr("coacd.run_coacd", None)
        assert np.array_equal(assemble(config).model.mesh_vert, first.mesh_vert)

    file.write_bytes(file.read_bytes()[:-100])
    assert np.array_equal(assemble(config).model.mesh_vert, first.mesh_vert)
    assert "cannot be read, and is made again" in caplog.text


def test_the_number_of_parts_is_limited(tmp_path: Path) -> None:
    limited = ConvexDecomposition(threshold=COARSE.threshold, max_parts=3)
    few = assemble(scene(tmp_path, {"*": DEFAULT, "ring": limited})).model
    assert few.nmesh == assemble(scene(tmp_path, {})).model.nmesh + 3


def test_a_link_without_collision_mesh_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserInputError, match=r"'bar' has no collision mesh; these .* have: ring"):
        assemble(scene(tmp_path, {"bar": DEFAULT}))
    with pytest.raises(
        UserInputError, match=r"link with a collision mesh 'rong' .*there are: ring"
    ):
        assemble(scene(tmp_path, {"rong": DEFAULT}))


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("<contact><pair geom1='hoop' geom2='bar'/></contact>", "a contact pair .* 'hoop'"),
        (
            "<sensor><contact name='felt' geom1='hoop' data='found'/></sensor>",
            "sensor 'felt' names 'hoop'",
        ),
    ],
)
def test_a_mesh_with_references_is_not_replaced(
    tmp_path: Path, reference: str, message: str
) -> None:
    config = scene(tmp_path, {"ring": DEFAULT})
    urdf = tmp_path / "arm.urdf"
    text = urdf.read_text().replace("<collision> <origin", '<collision name="hoop"> <origin')
    text = text.replace("<collision> <geometry>", '<collision name="bar"> <geometry>')
    urdf.write_text(text.replace("</robot>", f"<mujoco>{reference}</mujoco></robot>"))
    with pytest.raises(UserInputError, match=message):
        assemble(config)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 0.001}, "'threshold' must be from 0.01 to 1, got 0.001"),
        ({"threshold": float("nan")}, "threshold"),
        ({"max_parts": 0}, "'max_parts' must be at least 1, got 0"),
        ({"parts": 3}, "parts"),
    ],
)
def test_wrong_settings_are_errors(options: dict, message: str) -> None:
    with pytest.raises(UserInputError, match=message):
        from_dict(ConvexDecomposition, options, "here")
