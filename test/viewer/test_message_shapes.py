"""Triangles and simplified meshes."""

import numpy as np
import pytest

from mujoco_ros.viewer.message_shapes import printable, simplified, triangle_axes


def ball(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices and faces of a sphere of radius 1."""
    up, around = np.meshgrid(np.linspace(0.0, np.pi, rows), np.linspace(0.0, 2.0 * np.pi, rows))
    places = np.stack([np.sin(up) * np.cos(around), np.sin(up) * np.sin(around), np.cos(up)], -1)
    number = np.arange(rows * rows).reshape(rows, rows)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[:-1, 1:], number[1:, 1:]
    faces = [np.stack(it, -1).reshape(-1, 3) for it in ((a, b, c), (b, d, c))]
    return places.reshape(-1, 3), np.concatenate(faces)


def test_a_triangle_has_its_edges_and_its_normal_as_axes():
    corners = np.array([[[1.0, 0.0, 0.0], [3.0, 0.0, 0.0], [1.0, 1.0, 0.0]]])
    flat = np.zeros((1, 3, 3))
    has_area, axes = triangle_axes(np.concatenate([flat, corners, flat + np.inf]))
    assert has_area.tolist() == [False, True, False]
    np.testing.assert_array_equal(axes[0].T, [[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])


def test_a_mesh_with_few_triangles_is_kept():
    vertices, faces = ball(8)
    found = simplified(vertices, faces, len(faces))
    np.testing.assert_array_equal(found[0][found[1]], vertices[faces])


@pytest.mark.parametrize("most", [20, 300, 2000])
def test_a_mesh_with_more_keeps_its_form(most):
    vertices, faces = ball(100)
    merged, kept_faces, kept = simplified(vertices, faces, most)
    assert most / 4 < len(kept_faces) == len(kept) <= most
    corners = merged[kept_faces]
    np.testing.assert_allclose(corners.mean(axis=(0, 1)), 0.0, atol=0.2)
    radii = np.linalg.norm(corners, axis=2)
    assert radii.min() > 0.5
    assert radii.max() <= 1.0 + 1e-12
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    before = vertices[faces[kept]]
    expected = np.cross(before[:, 1] - before[:, 0], before[:, 2] - before[:, 0])
    assert (np.sum(normals * expected, axis=1) >= 0.0).mean() > 0.9, "the sides are the same"


def test_triangles_at_one_place_are_simplified_as_well():
    vertices = np.zeros((3000, 3))
    merged, faces, kept = simplified(vertices, np.arange(3000).reshape(-1, 3), 500)
    assert (len(merged), len(faces), len(kept)) == (1, 0, 0)


def test_characters_that_cannot_be_displayed_are_replaced_one_by_one():
    assert printable("Größe 1 µm") == "Größe 1 µm"
    assert printable("a\nb\x1b[0m\u202e") == "a�b�[0m�"
    assert printable("a\nb\t", keep="\n") == "a\nb�"
