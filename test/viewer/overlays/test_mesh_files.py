"""Meshes that messages name."""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import trimesh

from mujoco_ros.model.file_access import FileAccess
from mujoco_ros.viewer.message_shapes import Shape, ShapeKind
from mujoco_ros.viewer.overlays import mesh_files
from mujoco_ros.viewer.overlays.mesh_files import MOST_TRIANGLES, MeshFiles

LIMIT_S = 120.0
RED = (1.0, 0.0, 0.0, 1.0)
TURNED = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def shape(uri: str, **values) -> Shape:
    values = {"position": np.zeros(3), "size": np.ones(3), "colour": RED} | values
    return Shape(kind=ShapeKind.MESH, frame="world", mesh=uri, **values)


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    trimesh.creation.box((0.2, 0.4, 0.6)).export(tmp_path / "box.stl")
    return tmp_path


@pytest.fixture
def files(folder) -> MeshFiles:
    return MeshFiles(FileAccess(lambda: [folder]))


def read(files: MeshFiles, *shapes: Shape) -> list[Shape]:
    """Return the triangles as soon as they are there."""
    until(lambda: files.triangles("/parts", shapes, 9999) or files.problems)
    return list(files.triangles("/parts", shapes, 9999))


@pytest.mark.parametrize("suffix", ["stl", "obj", "ply", "glb"])
def test_a_mesh_has_the_pose_and_the_scale_of_its_marker(folder, files, suffix):
    trimesh.creation.box((0.2, 0.4, 0.6)).export(folder / f"part.{suffix}")
    at, size = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 1.0])
    placed = shape(f"file://{folder}/part.{suffix}", position=at, axes=TURNED, size=size)
    found = read(files, placed)
    assert [it.kind for it in found] == [ShapeKind.TRIANGLE] * 12
    assert {(it.frame, it.colour) for it in found} == {("world", RED)}
    corners = [it.position + it.axes @ edge for it in found for edge in np.eye(3) * [1, 1, 0]]
    half = np.array([0.4, 0.1, 0.3])
    np.testing.assert_allclose(np.max(corners, axis=0), at + half, atol=1e-6)
    np.testing.assert_allclose(np.min(corners, axis=0), at - half, atol=1e-6)


def test_other_shapes_are_kept_and_the_same_shapes_are_the_same_object(folder, files):
    ball = Shape(kind=ShapeKind.SPHERE, frame="world", position=np.zeros(3))
    shapes = [ball, shape(f"file://{folder}/box.stl")]
    assert list(files.triangles("/parts", shapes, 9999)) == [ball], "it is not read yet"
    until(lambda: len(files.triangles("/parts", shapes, 9999)) == 13)
    assert files.triangles("/parts", shapes, 9999) is files.triangles("/parts", shapes, 9999)
    files.forget([])
    assert len(files.triangles("/parts", shapes, 9999)) == 13


def test_a_mesh_has_the_colour_of_its_file_if_its_marker_wants_it(folder, files):
    box = trimesh.creation.box((0.1, 0.1, 0.1))
    box.visual = trimesh.visual.ColorVisuals(box, face_colors=[0, 255, 0, 255])
    box.export(folder / "green.ply")
    uri = f"file://{folder}/green.ply"
    assert {it.colour for it in read(files, shape(uri, has_file_colour=True))} == {
        (0.0, 1.0, 0.0, 1.0)
    }
    assert {it.colour for it in read(files, shape(uri))} == {RED}


def test_a_mesh_with_many_triangles_is_drawn_with_fewer(folder, files, caplog):
    trimesh.creation.icosphere(4, radius=0.5).export(folder / "ball.stl")
    found = read(files, shape(f"file://{folder}/ball.stl"))
    assert MOST_TRIANGLES / 2 < len(found) <= MOST_TRIANGLES
    assert "of a marker has 5120 triangles" in caplog.text


@pytest.mark.parametrize(
    ("uri", "problem"),
    [
        ("file:///etc/hostname", "not in a folder of which clients may name files"),
        ("file://{}/missing.stl", "does not exist"),
        ("file://{}/broken.glb", "cannot be read as .glb"),
        ("file://{}/notes.txt", "is not one of .dae"),
        ("file://{}/large.stl", "is too large"),
        ("http://example.org/box.stl", "use package:// or file://"),
        ("{}/box.stl", "write package://"),
        ("package://", "lacks a package name"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_reason(folder, files, caplog, uri, problem):
    (folder / "broken.glb").write_bytes(b"glTF" * 9)
    (folder / "notes.txt").write_text("text")
    with open(folder / "large.stl", "wb") as large:
        large.truncate(mesh_files._LARGEST + 1)
    uri = uri.format(folder)
    assert read(files, shape(uri)) == []
    assert problem in files.problems[uri]
    assert caplog.text.count("is not drawn") == 1
    others = [shape(f"file://{folder}/box.stl"), shape(uri)]
    until(lambda: len(files.triangles("/parts", others, 9999)) == 12)


def test_the_number_of_files_is_limited(files, monkeypatch):
    monkeypatch.setattr(mesh_files, "_MOST_FILES", 3)
    shapes = [shape(f"file:///missing/{it}.stl") for it in range(5)]
    until(lambda: files.triangles("/parts", [*shapes], 9999) == [] and len(files.problems) == 3)
    assert len(files._meshes) == 3
