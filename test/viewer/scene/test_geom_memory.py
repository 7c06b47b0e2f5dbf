import mujoco
import numpy as np
from still_state import StillState

from mujoco_ros.viewer.scene.geom_memory import GEOM, SceneGeoms


def test_the_rows_are_the_geoms_of_the_scene():
    state = StillState("arm")
    scene, options = mujoco.MjvScene(state.model, 500), mujoco.MjvOption()
    options.label = mujoco.mjtLabel.mjLABEL_GEOM
    geoms = SceneGeoms(scene)
    mujoco.mjv_updateScene(state.model, state.data, options, None, mujoco.MjvCamera(), 7, scene)
    assert len(geoms.rows) == scene.ngeom > 20
    for row, geom in zip(geoms.rows, scene.geoms, strict=False):
        for name in GEOM.names:
            value = getattr(geom, name)
            value = value.encode() if isinstance(value, str) else np.ravel(value)
            np.testing.assert_array_equal(np.ravel(row[name]), np.ravel(value))


def test_geoms_are_appended_until_the_scene_is_full():
    model = mujoco.MjSpec().compile()
    scene = mujoco.MjvScene(model, 3)
    geoms, added = SceneGeoms(scene), mujoco.MjvGeom()
    mujoco.mjv_initGeom(
        added, 2, np.ones(3), np.arange(3.0), np.eye(3).ravel(), np.ones(4, np.float32)
    )
    added.label = "text"
    geoms.append([added] * 5)
    assert scene.ngeom == 3
    assert [each.label for each in scene.geoms] == ["text"] * 3
    np.testing.assert_array_equal(scene.geoms[2].pos, (0.0, 1.0, 2.0))
    scene.ngeom = 1
    geoms.append_rows(geoms.rows.copy().repeat(4))
    assert scene.ngeom == 3
