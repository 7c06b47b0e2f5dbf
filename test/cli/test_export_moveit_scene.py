"""export_moveit_scene writes what MoveIt's reader of planning scenes reads."""

from dataclasses import dataclass, field
from pathlib import Path

import mujoco
import numpy as np

from mujoco_ros.cli.export_moveit_scene import main

LENGTHS = {"box": 3, "sphere": 1, "cylinder": 2, "plane": 4}


@dataclass
class Shape:
    kind: str
    numbers: list[float]
    pose: np.ndarray  # position and quaternion xyzw (7,)
    vertices: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    faces: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), dtype=int))


def read(path: Path) -> tuple[str, dict[str, tuple[np.ndarray, list[Shape]]]]:
    """Return the name and the objects, as PlanningScene::loadGeometryFromStream of MoveIt does."""
    name, rest = path.read_text().split("\n", 1)
    words = iter(rest.split())

    def numbers(count: int) -> np.ndarray:
        return np.array([float(next(words)) for _ in range(count)])

    objects = {}
    while next(words) == "*":
        found, pose = next(words), numbers(7)
        shapes = []
        for _ in range(int(next(words))):
            kind = next(words)
            if kind == "mesh":
                vertices, faces = int(next(words)), int(next(words))
                shape = Shape(kind, [], pose, numbers(3 * vertices).reshape(-1, 3))
                shape.faces = numbers(3 * faces).reshape(-1, 3).astype(int)
            else:
                shape = Shape(kind, numbers(LENGTHS[kind]).tolist(), pose)
            shape.pose = numbers(7)
            assert not numbers(4).any()  # no colour
            shapes.append(shape)
        assert next(words) == "0"  # no subframes
        objects[found] = pose, shapes
    assert not list(words)
    return name, objects


MODEL = """<mujoco model="yard"><asset>
  <mesh name="wedge" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
  <hfield name="hill" nrow="3" ncol="4" size="2 1 .5 .1"/>
</asset><worldbody>
  <geom type="plane" size="5 5 .1"/><geom type="hfield" hfield="hill" pos="9 0 0"/>
  <geom type="sphere" size=".5" contype="0" conaffinity="0"/>
  <body name="post" pos="1 2 3" euler="0 0 90">
    <geom type="capsule" fromto="0 0 0 .4 0 0" size=".1"/>
    <geom type="cylinder" size=".2 .3" pos="0 0 1"/>
    <body name="top" pos="0 0 1"><geom type="ellipsoid" size=".1 .2 .3"/></body>
  </body>
  <body name="loose" pos="0 0 2"><freejoint/><geom type="mesh" mesh="wedge"/></body>
  <body name="arm" pos="-1 0 0"><joint name="hinge"/><geom size=".1"/></body>
</worldbody><actuator><motor joint="hinge"/></actuator></mujoco>"""


def test_every_kind_of_shape_is_where_it_collides(tmp_path: Path) -> None:
    model = tmp_path / "yard.xml"
    model.write_text(MODEL)
    assert main([str(model), "-o", str(tmp_path / "yard.scene")]) == 0
    name, objects = read(tmp_path / "yard.scene")
    assert name == "yard"
    assert set(objects) == {"environment", "post", "top", "loose"}
    _, (plane, hill) = objects["environment"]
    assert (plane.kind, plane.numbers) == ("plane", [0, 0, 1, 0.01])
    assert hill.vertices.shape == (12, 3)
    np.testing.assert_allclose(hill.pose, [9, 0, 0, 0, 0, 0, 1])

    pose, (rod, *balls, drum) = objects["post"]
    np.testing.assert_allclose(pose, [1, 2, 3, 0, 0, 0.5**0.5, 0.5**0.5], atol=1e-8)
    assert (rod.kind, drum.kind) == ("cylinder", "cylinder")
    np.testing.assert_allclose(rod.numbers, [0.1, 0.4])
    np.testing.assert_allclose(drum.numbers, [0.2, 0.6])
    np.testing.assert_allclose(rod.pose[:3], [0.2, 0, 0], atol=1e-8)
    assert [ball.kind for ball in balls] == ["sphere", "sphere"]
    ends = sorted(ball.pose[:3].round(8).tolist() for ball in balls)
    np.testing.assert_allclose(ends, [[0, 0, 0], [0.4, 0, 0]], atol=1e-8)

    _, (ball,) = objects["top"]
    np.testing.assert_allclose(ball.vertices.max(axis=0), [0.1, 0.2, 0.3], rtol=1e-2)

    # MuJoCo moves the frame of a mesh into its centre: the corners in the world are the given ones.
    pose, (wedge,) = objects["loose"]
    turned = np.empty(3)
    corners = []
    for vertex in wedge.vertices:
        mujoco.mju_rotVecQuat(turned, vertex, np.roll(wedge.pose[3:], 1))
        corners.append(turned + wedge.pose[:3])
    given = [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]]
    np.testing.assert_allclose(sorted(np.round(corners, 6).tolist()), given, atol=1e-6)
    assert wedge.faces.shape == (4, 3)


def test_objects_have_the_names_of_their_frames_at_the_start_of_the_scene(tmp_path: Path) -> None:
    assert main(["arm", "-o", str(tmp_path / "arm.scene")]) == 0
    _, objects = read(tmp_path / "arm.scene")
    assert list(objects) == ["environment", "table", "box"]
    np.testing.assert_allclose(objects["box"][0], [0.35, 0.2, 0.335, 0, 0, 0, 1])


def test_a_scene_without_anything_around_the_robot_is_an_error(tmp_path: Path, capsys) -> None:
    (tmp_path / "r.xml").write_text(
        '<mujoco><worldbody><body><joint name="a"/><geom size=".1"/></body></worldbody></mujoco>'
    )
    assert main([str(tmp_path / "r.xml"), "-o", str(tmp_path / "r.scene")]) == 1
    assert "has nothing outside its robots that collides" in capsys.readouterr().err
    assert not (tmp_path / "r.scene").exists()
