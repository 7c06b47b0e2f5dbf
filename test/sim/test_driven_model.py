"""A driven model is the model of a plant, for nodes that do not simulate it."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.controllers.runtime.robot_model import robot_model
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.controlled_joints import DrivenModel
from mujoco_ros.sim.plant import Plant

_WITHOUT_GAINS = """<mujoco>
  <worldbody>
    <body pos="0 0 1">
      <joint name="lift" axis="0 1 0" range="-1 1"/>
      <geom type="capsule" size="0.05" fromto="0 0 0 0.5 0 0" mass="2"/>
    </body>
  </worldbody>
  <actuator><motor joint="lift" ctrlrange="-3 3" ctrllimited="true"/></actuator>
  <keyframe><key qpos="0.4"/></keyframe>
</mujoco>"""


def _arrays(model: mujoco.MjModel) -> dict[str, np.ndarray]:
    named = ((name, getattr(model, name)) for name in dir(model) if not name.startswith("_"))
    return {name: value for name, value in named if isinstance(value, np.ndarray)}


@pytest.fixture(params=["arm", "handover", "walk_grasp", "a motor without a gains file"])
def scene(request, tmp_path) -> str:
    if request.param.startswith("a "):
        file = tmp_path / "lift.xml"
        file.write_text(_WITHOUT_GAINS)
        return str(file)
    return request.param


def _logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    found = [record.getMessage() for record in caplog.records]
    caplog.clear()
    return found


def test_a_driven_model_equals_the_model_of_a_plant(scene, caplog) -> None:
    plant, of_plant = Plant(assemble(load_scene(scene)), lambda _event: None), _logged(caplog)
    driven, of_driven = DrivenModel(assemble(load_scene(scene))), _logged(caplog)
    expected, found = _arrays(plant.model), _arrays(driven.model)
    assert len(expected) > 100
    different = [name for name in expected if expected[name].tobytes() != found[name].tobytes()]
    assert different == []
    assert of_driven == of_plant
    assert len(driven.layout.robots) == len(plant.layout.robots) > 0
    for index in range(len(plant.layout.robots)):
        robot, same = robot_model(driven, index), robot_model(plant, index)
        for name in ("joints", "lower", "upper", "velocity", "effort", "home", "gripper"):
            np.testing.assert_array_equal(getattr(robot, name), getattr(same, name), name)
        assert driven.controlled[index].interfaces == plant.controlled[index].interfaces


def test_the_motors_of_a_driven_model_have_gains(tmp_path) -> None:
    file = tmp_path / "lift.xml"
    file.write_text(_WITHOUT_GAINS)
    driven = DrivenModel(assemble(load_scene(str(file))))
    assert driven.drives.kp[0] > 0.0
    assert driven.model.actuator_biasprm[0, 1] == -driven.drives.kp[0]
    assert driven.start.qpos[0] == 0.4
