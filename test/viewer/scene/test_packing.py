import time

import mujoco
import numpy as np
import pytest
from scene_frames import PageGeoms
from still_state import StillState

from mujoco_ros.viewer.overlays.shapes import arrow, solid
from mujoco_ros.viewer.scene import packing
from mujoco_ros.viewer.scene.drawn_scene import DrawnScene
from mujoco_ros.viewer.scene.entries import OverlayEntries
from mujoco_ros.viewer.scene.options import ViewOptions

EVERYTHING = {
    "flags": {"Joint": True, "Contact Point": True, "Contact Force": True, "Inertia": True},
    "label": "Body",
    "frame": "Body",
}


@pytest.fixture(scope="module")
def state() -> StillState:
    return StillState("humanoid")


def step(state: StillState, steps: int = 8) -> None:
    for _ in range(steps):
        mujoco.mj_step(state.model, state.data)
    mujoco.mj_forward(state.model, state.data)


def assert_page_shows(page: PageGeoms, scene: mujoco.MjvScene) -> None:
    """The page has each geom of a scene, as precisely as its messages are."""
    assert page.count == scene.ngeom
    for slot, geom in enumerate(scene.geoms[: scene.ngeom]):
        look = page.looks[slot]
        for name in ("objtype", "objid", "dataid", "matid", "texid", "segid", "category"):
            assert look[name] == getattr(geom, name)
        assert look["flags"] == geom.texuniform | geom.texcoord << 1 | geom.castshadow << 2
        np.testing.assert_allclose(look["rgba"] / 255.0, np.clip(geom.rgba, 0, 1), atol=0.002)
        for name in ("emission", "specular", "shininess", "reflectance"):
            assert look[name] == pytest.approx(getattr(geom, name), abs=1e-3)
        np.testing.assert_array_equal(look["texrepeat"], geom.texrepeat)
        np.testing.assert_array_equal(page.sizes[slot], geom.size)
        np.testing.assert_allclose(page.positions[slot], geom.pos, atol=2.1e-5)
        np.testing.assert_allclose(page.matrices[slot], geom.mat, atol=2e-4)
        assert page.labels.get(slot, "") == geom.label
        assert look["type"] == geom.type & 0xFF


def sections(delta: packing.GeomDelta, drawn: DrawnScene) -> bytes:
    return b"".join(delta.sections(drawn.geoms.rows, drawn.geoms.words))


def test_a_page_shows_the_scene_after_each_frame_with_all_that_comes_and_goes(state):
    options = (ViewOptions(), ViewOptions().changed(EVERYTHING))
    drawn = [DrawnScene(state.model, each) for each in options]
    page, delta = PageGeoms(), packing.GeomDelta()
    for shown in (0, 1, 1, 0, 1):
        step(state)
        drawn[shown].update(state.model, state.data, OverlayEntries())
        page.count = drawn[shown].scene.ngeom
        page.read_sections(sections(delta, drawn[shown]))
        assert_page_shows(page, drawn[shown].scene)


def test_edges_of_triangles_are_sent_as_they_are():
    model = mujoco.MjSpec().compile()
    drawn, page, delta = DrawnScene(model, ViewOptions()), PageGeoms(), packing.GeomDelta()
    edges = np.array([[1.0, 0.5, 0.0], [0.2, 2.0, 0.0], [0.0, 0.0, 1.0]])
    kind = int(mujoco.mjtGeom.mjGEOM_TRIANGLE)
    triangle = solid(kind, np.ones(3), np.array([1.0, 2.0, 3.0]), edges, (1.0, 0.0, 0.0, 1.0))
    arrows = arrow(np.zeros(3), np.ones(3), 0.1, (0.0, 1.0, 0.0, 0.5))
    entries = OverlayEntries(geoms=[triangle, *arrows])
    drawn.update(model, mujoco.MjData(model), entries)
    page.count = drawn.scene.ngeom
    page.read_sections(sections(delta, drawn))
    assert page.count == 2
    assert_page_shows(page, drawn.scene)


def test_small_motions_are_sent_once_they_add_up():
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body mocap='true'><geom size='.1'/></body></worldbody></mujoco>"
    )
    data, drawn, delta = mujoco.MjData(model), DrawnScene(model, ViewOptions()), packing.GeomDelta()
    sizes = []
    for _ in range(8):
        data.mocap_pos[0, 0] += 6e-6
        mujoco.mj_forward(model, data)
        drawn.update(model, data, OverlayEntries())
        sizes.append(len(sections(delta, drawn)))
    assert sizes[0] > 0
    assert sizes.count(0) == 6  # every fourth step is beyond the tolerance
    assert sizes[4] > 0


def test_a_frame_of_the_humanoid_is_small_and_quickly_packed(state):
    drawn, delta = DrawnScene(state.model, ViewOptions()), packing.GeomDelta()
    lengths, costs = [], []
    for _ in range(30):
        state.data.qpos[2] += 0.001  # all geoms of the robot move
        step(state, 2)
        began = time.process_time()
        drawn.update(state.model, state.data, OverlayEntries())
        lengths.append(len(sections(delta, drawn) + packing.light_section(drawn.scene)))
        costs.append(time.process_time() - began)
    assert max(lengths[1:]) <= 4_000
    assert min(costs) <= 1.5e-3


def test_a_frame_of_twenty_robots_has_at_most_60_kb():
    geoms = "".join("<geom size='.1'/>" for _ in range(20 * 95))
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody><body mocap='true'>{geoms}</body></worldbody></mujoco>"
    )
    data, drawn, delta = mujoco.MjData(model), DrawnScene(model, ViewOptions()), packing.GeomDelta()
    for _ in range(2):
        data.mocap_pos[0] += 0.1
        mujoco.mj_forward(model, data)
        drawn.update(model, data, OverlayEntries())
        length = len(sections(delta, drawn))
    assert 20 * 95 * 20 <= length <= 60_000


def test_quaternions_are_those_of_the_engine_at_all_angles():
    random = np.random.default_rng(0)
    quats = random.normal(size=(500, 4))
    quats[:8] = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]] * 2
    quats /= np.linalg.norm(quats, axis=1, keepdims=True)
    matrices = np.zeros((500, 9))
    for quat, matrix in zip(quats, matrices, strict=True):
        mujoco.mju_quat2Mat(matrix, quat)
    found = packing.quaternions(matrices.astype(np.float32))[:, [3, 0, 1, 2]]
    np.testing.assert_allclose(np.abs((found * quats).sum(axis=1)), 1.0, atol=1e-6)


def test_lights_of_the_model_are_sent_and_the_headlight_stays_with_the_page(state):
    drawn = DrawnScene(state.model, ViewOptions())
    drawn.update(state.model, state.data, OverlayEntries())
    page = PageGeoms()
    page.read_sections(packing.light_section(drawn.scene))
    head, sun = page.lights[0], page.lights[1]
    assert head["is_headlight"]
    assert not head["dir"].any()
    assert sun["castshadow"]
    assert sun["is_directional"]
    np.testing.assert_allclose(sun["dir"], state.data.light_xdir[0], atol=1e-6)
