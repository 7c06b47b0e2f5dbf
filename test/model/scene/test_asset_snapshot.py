import struct
from pathlib import Path

import mujoco
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.asset_snapshot import restore_files, snapshot_files

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
MODEL = """
<mujoco>
  <compiler meshdir="meshes"/>
  <asset><mesh name="m" file="m.obj"/></asset>
  <worldbody><geom type="mesh" mesh="m"/></worldbody>
</mujoco>
"""


@pytest.fixture
def kept(tmp_path: Path):
    """A spec with a mesh, the mesh's file, and its snapshot."""
    mesh = tmp_path / "meshes" / "m.obj"
    mesh.parent.mkdir()
    mesh.write_text(TETRAHEDRON)
    spec = mujoco.MjSpec.from_string(MODEL)
    return spec, mesh, snapshot_files(spec, tmp_path)


def test_files_are_identified_by_their_absolute_paths(kept):
    spec, mesh, files = kept
    assert spec.meshes[0].file == str(mesh)
    assert [(file.path, file.content) for file in files] == [(str(mesh), mesh.read_bytes())]


def test_an_unchanged_file_is_left_to_the_cache_of_the_compiler(kept):
    spec, _, files = kept
    restore_files(spec, files)
    assert not spec.assets
    assert spec.compile().nmesh == 1


def test_a_changed_or_deleted_file_is_restored_from_the_snapshot(kept):
    spec, mesh, files = kept
    extent = spec.compile().mesh_vert.max()
    mesh.write_text(TETRAHEDRON.replace("v 1 0 0", "v 17 0 0"))
    restore_files(spec, files)
    assert spec.compile().mesh_vert.max() == extent
    mesh.unlink()
    restore_files(spec, files)
    assert spec.compile().mesh_vert.max() == extent


def test_a_file_that_never_existed_is_left_to_the_compiler(tmp_path: Path):
    spec = mujoco.MjSpec.from_string(MODEL)
    assert snapshot_files(spec, tmp_path) == ()
    with pytest.raises(ValueError, match=r"m\.obj"):
        spec.compile()


def test_cube_textures_are_part_of_the_snapshot(tmp_path: Path):
    spec = mujoco.MjSpec.from_string("""
    <mujoco>
      <compiler texturedir="sides"/>
      <asset><texture name="sky" type="cube" fileright="a.png" fileleft="b.png"/></asset>
    </mujoco>
    """)
    (tmp_path / "sides").mkdir()
    for name in ("a", "b"):
        (tmp_path / "sides" / f"{name}.png").write_bytes(name.encode())
    files = snapshot_files(spec, tmp_path)
    paths = [str(tmp_path / "sides" / f"{name}.png") for name in ("a", "b")]
    assert [(file.path, file.content) for file in files] == [(paths[0], b"a"), (paths[1], b"b")]
    sides = list(spec.textures[0].cubefiles)
    assert sorted(side for side in sides if side) == paths


@pytest.mark.parametrize(
    ("kind", "asset"),
    [
        ("texture", '<texture name="big" type="2d" file="big.png"/>'),
        ("height field", '<hfield name="big" file="big.png" size="1 1 1 1"/>'),
    ],
)
def test_an_image_that_decodes_to_gigabytes_is_refused(tmp_path: Path, kind: str, asset: str):
    header = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 30_000, 30_000)
    (tmp_path / "big.png").write_bytes(header)
    spec = mujoco.MjSpec.from_string(f"<mujoco><asset>{asset}</asset></mujoco>")
    with pytest.raises(UserInputError, match=rf"{kind} '.*': too large: 30000 x 30000 pixels"):
        snapshot_files(spec, tmp_path)
