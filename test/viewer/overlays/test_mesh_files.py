"""Meshes that messages name."""

import json
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import trimesh

from mujoco_ros.model.file_access import FileAccess
from mujoco_ros.process.limits import WorkerLimits
from mujoco_ros.process.worker_process import WorkerProcess
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


@pytest.fixture(scope="module")
def worker(tmp_path_factory) -> Iterator[WorkerProcess]:
    """The process, which takes a second to start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        worker = WorkerProcess(mesh_files.__name__, lambda: None, limits=mesh_files._LIMITS)
        yield worker
        worker.close()


@pytest.fixture
def folder(tmp_path) -> Path:
    trimesh.creation.box((0.2, 0.4, 0.6)).export(tmp_path / "box.stl")
    return tmp_path


@pytest.fixture
def files(folder, monkeypatch, worker) -> MeshFiles:
    files = MeshFiles(FileAccess(lambda: [folder]))
    monkeypatch.setattr(files._reader, "_worker", worker)
    return files


def draw(files: MeshFiles, shapes: Sequence[Shape], topic: str = "/parts") -> Sequence[Shape]:
    """Return the shapes of a frame."""
    files.follow([*files._expanded, topic])
    return files.triangles(topic, shapes)


def read(files: MeshFiles, *shapes: Shape) -> list[Shape]:
    """Return the triangles as soon as they are there."""
    until(lambda: draw(files, shapes) or files.problems)
    return list(draw(files, shapes))


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
    assert list(draw(files, shapes)) == [ball], "it is not read yet"
    until(lambda: len(draw(files, shapes)) == 13)
    assert draw(files, shapes) is draw(files, shapes)
    files.follow([])
    assert len(draw(files, shapes)) == 13


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
        large.truncate(mesh_files.LARGEST + 1)
    uri = uri.format(folder)
    assert read(files, shape(uri)) == []
    assert problem in files.problems[uri]
    until(lambda: "is not drawn" in caplog.text)
    assert caplog.text.count("is not drawn") == 1
    others = [shape(f"file://{folder}/box.stl"), shape(uri)]
    until(lambda: len(draw(files, others)) == 12)


def test_a_file_that_expands_beyond_the_memory_ends_its_process_alone(folder, files, monkeypatch):
    limits = WorkerLimits(processor_s=60.0, wall_s=120.0, memory_bytes=400 << 20)
    monkeypatch.setattr(
        files._reader, "_worker", WorkerProcess(mesh_files.__name__, int, limits=limits)
    )
    scene = trimesh.Scene(trimesh.creation.icosphere(3))
    (folder / "ball.glb").write_bytes(scene.export(file_type="glb"))
    _repeat_node(folder / "ball.glb", 30_000)  # 38 million triangles of a small file
    assert (folder / "ball.glb").stat().st_size < 1 << 20
    uri = f"file://{folder}/ball.glb"
    assert read(files, shape(uri)) == []
    assert "it exceeds 0.4 GiB of memory" in files.problems[uri]
    others = [shape(f"file://{folder}/box.stl")]
    until(lambda: len(draw(files, others)) == 12)
    files.close()


def _repeat_node(path: Path, times: int) -> None:
    """Have the only mesh of a GLB file drawn by many nodes."""
    content = path.read_bytes()
    (length,) = struct.unpack_from("<I", content, 12)
    tree = json.loads(content[20 : 20 + length])
    tree["nodes"] = [{"mesh": 0}] * times
    tree["scenes"] = [{"nodes": list(range(times))}]
    text = json.dumps(tree, separators=(",", ":")).encode()
    text = text.ljust(-(-len(text) // 4) * 4)
    rest = content[20 + length :]
    header = struct.pack("<4sIIII", b"glTF", 2, 20 + len(text) + len(rest), len(text), 0x4E4F534A)
    path.write_bytes(header + text + rest)


def test_a_file_that_cannot_be_read_is_tried_again(folder, files, monkeypatch, caplog):
    monkeypatch.setattr(mesh_files, "_RETRY_S", 0.0)
    later = [shape(f"file://{folder}/later.stl")]
    until(lambda: draw(files, later) == [] and files.problems)
    (folder / "box.stl").rename(folder / "later.stl")
    until(lambda: len(draw(files, later)) == 12)
    assert not files.problems
    assert caplog.text.count("is not drawn") == 1


def test_a_topic_does_not_take_the_places_of_others(folder, files, monkeypatch):
    monkeypatch.setattr(mesh_files, "_MOST_FILES", 3)
    nonsense = [shape(f"file:///missing/{it}.stl") for it in range(5)]
    until(lambda: draw(files, nonsense, "/nonsense") == [] and len(files.problems) == 4)
    assert "more than" in files.problems["file:///missing/3.stl"]
    box = [shape(f"file://{folder}/box.stl")]
    until(lambda: len(draw(files, box)) == 12)
    files.follow(["/parts"])
    assert list(files._known) == [box[0].mesh], "what no shown topic uses is dropped"
    assert not files.problems
