import gzip
import struct

import cv2
import mujoco
import numpy as np
import pytest
from still_state import StillState

from mujoco_ros.viewer.scene.assets import (
    Assets,
    Surface,
    height_field,
    hull_surface,
    mesh_surface,
    packed,
)

TEXTURED = """<mujoco>
  <asset>
    <texture name="grid" type="2d" builtin="checker" width="32" height="16" rgb1="1 0 0"/>
    <texture name="box" type="cube" builtin="gradient" width="8" height="8" rgb1="0 1 0"/>
    <mesh name="first" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
    <mesh name="same" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
    <hfield name="hills" nrow="5" ncol="7" size="1 2 .5 .1"/>
  </asset>
  <worldbody><geom type="hfield" hfield="hills"/></worldbody>
</mujoco>"""


def unpacked(content: bytes) -> Surface:
    """Read a packed surface as `shapes.js` does."""
    count, corners, has_texture, is_wide = struct.unpack_from("<IIII", content)
    low, extent = np.frombuffer(content, "<f4", 6, 16).reshape(2, 3)
    vertices = np.frombuffer(content, "<u2", 6 * count, 40).reshape(count, 6)
    small = vertices.copy().view(np.int8)
    at = 40 + 12 * count
    texcoords = np.zeros((count, 2))
    if has_texture:
        texcoords = np.frombuffer(content, "<f4", 2 * count, at).reshape(count, 2)
        at += 8 * count
    index = np.frombuffer(content, "<u4" if is_wide else "<u2", corners, at)
    return Surface(
        (low + extent * vertices[:, :3] / 65535.0)[index],
        (small[:, 6:9] / 127.0)[index],
        texcoords[index],
    )


def test_meshes_arrive_as_they_are():
    state = StillState("humanoid")
    for mesh in range(0, state.model.nmesh, 7):
        for surface in (mesh_surface(state.model, mesh), hull_surface(state.model, mesh)):
            if surface is None:
                continue
            content = packed(surface)
            found = unpacked(content)
            extent = np.ptp(surface.points, axis=0).max()
            np.testing.assert_allclose(found.points, surface.points, atol=extent / 65535)
            np.testing.assert_allclose(found.normals, surface.normals, atol=0.005)
            assert struct.unpack_from("<II", content)[0] < len(surface.points)


def test_the_meshes_of_the_humanoid_take_less_than_half_a_megabyte():
    assets = Assets(StillState("humanoid").model)
    names = {name for names in assets.description["meshes"] for name in names[:1]}
    assert sum(len(assets.get(name).content) for name in names) < 500_000


def test_the_same_content_has_the_same_name_and_is_built_once():
    model = mujoco.MjModel.from_xml_string(TEXTURED)
    assets, others = Assets(model), Assets(mujoco.MjModel.from_xml_string(TEXTURED))
    first, same = assets.description["meshes"]
    assert first == same
    assert assets.description == others.description
    built = assets.get(first[0])
    others.take_from(assets)
    assert others.get(first[0]) is built
    assert assets.get("0" * 24) is None


def test_textures_are_png_files():
    model = mujoco.MjModel.from_xml_string(TEXTURED)
    assets = Assets(model)
    for index, texture in enumerate(assets.description["textures"]):
        found = assets.get(texture["name"])
        assert (found.media_type, found.encoding) == ("image/png", None)
        pixels = cv2.imdecode(np.frombuffer(found.content, np.uint8), cv2.IMREAD_COLOR)[..., ::-1]
        np.testing.assert_array_equal(pixels.ravel(), model.tex(index).data.ravel())
    assert [texture["is_cube"] for texture in assets.description["textures"]] == [False, True]


def test_a_height_field_is_closed_and_has_its_heights():
    heights = np.random.default_rng(0).random((5, 7))
    surface = height_field(heights, np.array([1.0, 2.0, 0.5, 0.1]))
    triangles = surface.points.reshape(-1, 3, 3)
    volume = np.einsum("ij,ij->i", triangles[:, 0], np.cross(triangles[:, 1], triangles[:, 2]))
    # The prism below the bilinear mean of the heights, up to how facets divide squares.
    mean = (heights[1:, 1:] + heights[:-1, 1:] + heights[1:, :-1] + heights[:-1, :-1]).mean() / 4
    assert volume.sum() / 6 == pytest.approx(2 * 4 * (0.1 + 0.5 * mean), rel=0.05)
    assert surface.points[:, 2].max() == pytest.approx(0.5 * heights.max())


def test_binary_assets_are_compressed():
    assets = Assets(mujoco.MjModel.from_xml_string(TEXTURED))
    found = assets.get(assets.description["hfields"][0])
    assert found.encoding == "gzip"
    assert len(gzip.decompress(found.content)) > len(found.content)
